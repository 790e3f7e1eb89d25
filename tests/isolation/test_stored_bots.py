"""Bots that the folder of a run or a league names never run in Arena's process, unless the user types that."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

import harness
from harness.cli.main import main
from harness.core.errors import UsageError
from harness.core.records import with_sum
from harness.isolation.entrants import files_of_command
from harness.league.bots import check_unchanged, restore_entrant
from harness.league.folder import LeagueFolder
from harness.league.members import Member
from harness.plugins.trust import mark_untrusted, untrusted_reason
from harness.runs.setup import installed
from tests.support.cli import arena

MARKS = """
import os
from contextlib import suppress
from pathlib import Path
from harness import Bot

def mark(what):
    with suppress(OSError):  # a sandbox refuses it
        Path({folder!r}, f"{{what}}-{version}").write_text(str(os.getpid()))

mark("loaded")

class Marks(Bot):
    name = "marks"
    games = ("el-paso",)
    def choose(self, view, actions):
        mark("played")
        return actions[{choice}]
"""
READS = """
from harness import Bot, bot_named
import beside

GUIDE = bot_named("outlaw")

class Reads(Bot):
    name = "reads"
    files = ("weights.txt",)

    def choose(self, view, actions):
        return actions[beside.FIRST]
"""
GAME = ("--game", "el-paso", "--deals", 2, "--seed", 5, "--players", 2)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "marks").mkdir()
    return tmp_path


def write_marking_bot(folder: Path, version: int = 1, choice: int = 0) -> Path:
    path = folder / "marking.py"
    path.write_text(MARKS.format(folder=str(folder / "marks"), version=version, choice=choice))
    return path


def marks(folder: Path) -> set[str]:
    """What bots have marked; the next call has only what comes after this one."""
    found = {path.name for path in (folder / "marks").iterdir()}
    for path in (folder / "marks").iterdir():
        path.unlink()
    return found


def half_played(here: Path) -> Path:
    """A run with a bot in a file that belongs to this user, of which half of the records are there."""
    bot = write_marking_bot(here)
    arena("tournament", *GAME, "--bot", bot.name, "--bot", "random", "--workers", 0, "--name", "sent")
    assert marks(here) == {"loaded-1", "played-1"}  # this user typed its name
    run = here / "results" / "sent"
    lines = (run / "games.jsonl").read_bytes().splitlines(keepends=True)
    (run / "games.jsonl").write_bytes(b"".join(lines[:2]))
    return run


@pytest.mark.parametrize("workers", [0, 1])
def test_a_resumed_run_sandboxes_the_files_that_its_run_json_names(here, workers):
    half_played(here)
    said = arena("tournament", "--resume", "sent", "--workers", workers).stderr
    assert marks(here) == set()
    assert "Sandboxed: marks (named by run.json)" in " ".join(said.split())


def test_a_link_out_of_the_folder_of_a_bot_that_run_json_names_is_refused(here):
    half_played(here)
    (here / "private").mkdir()
    (here / "private" / "key.py").write_text("SECRET = 1\n")
    (here / "sent").mkdir()
    (here / "sent" / "key.py").symlink_to(here / "private" / "key.py")
    (here / "sent" / "marking.py").write_text("import key\n" + (here / "marking.py").read_text())
    run_json = here / "results" / "sent" / "run.json"
    run_json.write_text(run_json.read_text().replace("marking.py", "sent/marking.py"))
    for isolate in ("auto", "off"):
        said = arena("tournament", "--resume", "sent", "--workers", 0, "--isolate", isolate, code=2).stderr
        assert "a link leads out of the folder of an untrusted bot" in " ".join(said.split())
    assert marks(here) == set()


def test_a_resumed_run_plays_in_arenas_process_if_that_is_typed(here):
    half_played(here)
    arena("tournament", "--resume", "sent", "--workers", 0, "--isolate=off")
    assert marks(here) == {"loaded-1", "played-1"}


def test_a_run_that_is_played_once_more_sandboxes_the_files_that_it_names(here):
    half_played(here)
    arena("tournament", "results/sent", "--workers", 0, "--name", "again")
    assert marks(here) == set()
    arena("tournament", "results/sent", "--save", "again.toml")
    assert marks(here) == set()
    harness.tournament(request=harness.open_run("sent").request(), workers=0, name="python", quiet=True)
    assert marks(here) == set()


def test_a_run_resumed_from_python_sandboxes_the_files_that_its_run_json_names(here):
    half_played(here)
    harness.tournament(resume="sent", workers=0, quiet=True)
    assert marks(here) == set()


def test_a_match_of_a_person_that_is_continued_sandboxes_the_bots_of_its_folder(here):
    write_marking_bot(here)
    for args in (["el-paso", "--bot", "marking.py", "--name", "mine"], ["--resume", "mine"]):
        played = CliRunner().invoke(main, ["play", *args], input="1!\nquit\n")
        assert played.exit_code == 0 and "Your match is saved" in played.output, played.output
        assert ("loaded-1" in marks(here)) == ("--bot" in args)


# Leagues


@pytest.fixture
def league(here):
    """A league with two versions of a bot in a file that belongs to this user, and three installed bots."""
    arena("league", "init", "autumn", "--game", "el-paso", "--players", 2)
    for version in (1, 2):
        write_marking_bot(here, version, choice=-version + 1)
        arena("league", "add", "marking.py", "--author", "Ada", "--league", "autumn")
    assert marks(here) == {"loaded-1", "loaded-2"}  # this user typed its name
    arena("league", "add", "random", "outlaw", "--league", "autumn")
    arena("league", "run", "--matches", 16, "--workers", 0, "-q", "--league", "autumn")
    return here / "autumn"


def test_a_league_sandboxes_the_bots_that_it_stores(here, league):
    assert marks(here) == set()
    records = (league / "eras/1/games.jsonl").read_text()
    assert "marks@1" in records and '"faults":[{' not in records
    arena("league", "run", "--matches", 8, "--workers", 0, "-q", "--league", league, "--isolate=off")
    assert {"loaded-1", "played-1"} <= marks(here)


def test_verifying_a_league_runs_no_bot(here, league):
    done = arena("league", "verify", "--league", league)
    assert "16 replayed: no problems" in done.stdout
    harness.open_league(league).verify()
    assert marks(here) == set()


def test_the_history_of_a_bot_asks_it_in_a_sandbox(here, league):
    said = arena("league", "history", "marks", "--league", league).stdout
    assert "marks@2 decides differently from marks@1" in said and "It failed" not in said
    harness.open_league(league).differences("marks")
    assert marks(here) == set()
    arena("league", "history", "marks", "--league", league, "--isolate=off")
    assert marks(here) == {"loaded-2", "played-2"}


def test_verification_reports_an_edited_bot_without_running_it(here, league):
    [stored] = [path for path in (league / "bots").rglob("marking.py") if "{what}-1" in path.read_text()]
    stored.write_text(stored.read_text() + "\nmark('edited')\n")
    assert "marks@1 cannot play: its files in" in arena("league", "verify", "--league", league, code=1).stdout
    assert marks(here) == set()


def test_verification_compares_the_digest_of_stored_files_and_data_with_the_journal(here):
    bot = here / "reads.py"
    bot.write_text(READS)
    (here / "beside.py").write_text("FIRST = 0\n")
    (here / "weights.txt").write_text("1 2 3")
    arena("league", "init", "autumn", "--game", "el-paso")
    arena("league", "add", "reads.py", "outlaw", "--league", "autumn")
    assert ", outlaw sha256:" in (here / "autumn/journal.jsonl").read_text()
    assert "no problems" in arena("league", "verify", "--league", "autumn").stdout
    journal = (here / "autumn/journal.jsonl").read_bytes().splitlines(keepends=True)
    joined = json.loads(journal[0])
    # The folder of another bot with the name of this one: its own digest shows that it is not what joined.
    (here / "weights.txt").write_text("4 5 6")
    arena("league", "init", "other", "--game", "el-paso")
    arena("league", "add", "reads.py", "--league", "other")
    [store] = [path for path in (here / "other/bots").iterdir() if path.is_dir()]
    shutil.copytree(store, here / "autumn/bots" / store.name)
    del joined["sum"]
    forged = with_sum(json.dumps({**joined, "snapshot": store.name}).encode()) + b"\n"
    (here / "autumn/journal.jsonl").write_bytes(b"".join([forged, *journal[1:]]))
    assert "reads@1 cannot play: its code has changed" in arena("league", "verify", "-L", "autumn", code=1).stdout


def test_a_stored_bot_is_entered_from_the_journal_without_a_process(here, monkeypatch):
    write_marking_bot(here)
    arena("league", "init", "autumn", "--game", "el-paso")
    arena("league", "add", "marking.py", "--league", "autumn")
    monkeypatch.setattr("harness.isolation.entrants.bots_in", lambda *_: pytest.fail("a process was started"))
    opened = LeagueFolder.open(here / "autumn")
    [member] = opened.membership.members.values()
    assert restore_entrant(opened.folder, member, installed()).plays("el-paso")
    # Nothing in a journal is trusted, so what it says about a bot is checked as if the bot had said it.
    forged = replace(member.entry, described=replace(member.entry.described, games=("\x1b[2J",)))
    with pytest.raises(UsageError, match="cannot be entered"):
        restore_entrant(opened.folder, Member(forged), installed())


def test_a_journal_cannot_name_a_file_outside_the_store(here):
    write_marking_bot(here)
    arena("league", "init", "autumn", "--game", "el-paso")
    arena("league", "add", "marking.py", "--league", "autumn")
    opened = LeagueFolder.open(here / "autumn")
    [member] = opened.membership.members.values()
    outside = [{"spec": "../x.py::y"}, {"spec": f"{here}/marking.py::marks"}, {"snapshot": ""}]
    for change in outside:
        forged = Member(replace(member.entry, **change))
        for check in (check_unchanged, restore_entrant):
            with pytest.raises(UsageError, match="is not in the league's copy of the bot"):
                check(opened.folder, forged, installed())


def test_the_files_of_a_program_are_read_up_to_a_limit_in_all(here, monkeypatch):
    (here / "a.sh").write_text("x" * 60)
    (here / "b.sh").write_text("x" * 30)
    (here / "a.sh.files").write_text("# nothing\n")
    assert files_of_command("sh a.sh b.sh").digest()
    monkeypatch.setattr("harness.plugins.snapshots.MAX_TEXT_BYTES", 5)
    with pytest.raises(UsageError, match=r"a\.sh\.files: it has more than 5 bytes"):
        files_of_command("sh a.sh").digest()
    (here / "a.sh.files").unlink()
    monkeypatch.setattr("harness.plugins.snapshots.MAX_TOTAL_BYTES", 100)
    with pytest.raises(UsageError, match=r"a\.sh: it has more than 10 bytes"):  # the word a second time
        files_of_command("sh b.sh a.sh a.sh").digest()


def test_the_mark_of_untrusted_files_does_not_lead_to_another_file(here):
    (here / "copy").mkdir()
    (here / "copy/bot.py").touch()
    (here / "key").write_text("secret")
    mark = here / "copy.stranger"
    mark.symlink_to(here / "key")
    assert untrusted_reason([here / "copy/bot.py"]) == "a mark says so"
    mark_untrusted(here / "copy", "named by event.toml")
    assert (here / "key").read_text() == "secret"
    assert untrusted_reason([here / "copy/bot.py"]) == "named by event.toml"
    mark.write_text("x" * 2000)
    assert untrusted_reason([here / "copy/bot.py"]) == "a mark says so"


def test_bots_that_a_config_file_names_stay_untrusted_in_a_league(here):
    write_marking_bot(here)
    (here / "event.toml").write_text('games = ["el-paso"]\nbots = ["marking.py", "random"]\n')
    arena("league", "init", "autumn", "--from", "event.toml")
    assert marks(here) == set()
    assert "named by event.toml" in (here / "autumn/journal.jsonl").read_text()


LEAKS = """
import json, sys
print(*(open(name).read() for name in sys.argv[1:]), file=sys.stderr, flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    answers = {"hello": {"type": "hello", "protocol": 1}, "choose": {"type": "choice"}}
    answer = answers.get(asked["type"], {"type": "ready"}) | {"id": asked.get("id")}
    print(json.dumps(answer | ({"code": asked["legal"][0]} if "legal" in asked else {})), flush=True)
"""


def test_run_json_cannot_have_a_program_read_other_files_of_the_user(here):
    Path("leaks.py").write_text(LEAKS)
    Path("data.txt").write_text("its own")
    Path("key.txt").write_text("a secret")
    Path("key.txt").chmod(0o600)
    program = f"cmd:{sys.executable} -S leaks.py data.txt"
    arena("tournament", *GAME[:2], "--bot", f"x={program}", "--bot", "random", "--deals", 1, "--name", "a",
          "--workers", 0, "-q")  # fmt: skip
    info = Path("results/a/run.json")
    info.write_text(info.read_text().replace("data.txt", "key.txt"))
    for command in ("tournament results/a --name b --workers 0 -q", "league init l --from results/a"):
        assert "cannot be played once more: the bot x is version" in arena(*command.split(), code=2).stderr
    assert not any("a secret" in path.read_text(errors="replace") for path in here.rglob("*.*") if path.parent != here)
