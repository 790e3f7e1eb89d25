"""A run folder may come from anywhere: no file in it makes a command write elsewhere, wait, or fill the memory."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from time import process_time

import pytest
from click.testing import CliRunner

from harness.cli.main import main
from harness.core.files import Folder
from harness.core.records import with_sum
from harness.plugins.trust import UNTRUSTED_SUFFIX, mark_untrusted
from harness.serve.live_run import LiveRun, place_of
from tests.support.cli import arena
from tests.support.forgery import edit_info
from tests.support.games import REGISTRY

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such pipes here")

MAX_CPU_S = 2.0
"""A sentence comes within a second; twice that on a machine that is busy."""
VICTIM = b"a precious file\n"
FILES = ("run.json", "games.jsonl", "notes.jsonl", "leaderboard.md", "leaderboard.csv", "leaderboard.json")
WRITTEN = ("lock", "run.json.part", "leaderboard.md.part", "games.jsonl.part", "signature.json")
"""Names that may not exist yet."""
READING = (
    "leaderboard a", "matches a", "replay a 0 --all", "verify a", "tournament results/a --dry-run",
    "ask random a 0 --seat 0 --decision 0", "export a --to csv",
)  # fmt: skip
WRITING = (
    "tournament --resume a --workers 0 -q", "tournament --resume a --deals 2 --workers 0 -q", "sign a --key key.pem",
)  # fmt: skip


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    home = tmp_path_factory.mktemp("played")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        arena("tournament", "--game", "el-paso", "--bot", "random", "--bot", "skittish", "--deals", 1, "--workers", 0,
              "--name", "a", "--seed", 1, "-q")  # fmt: skip
        arena("sign", "--new-key", "--key", "key.pem")
        for command in (*READING, *WRITING):  # loads what they need, so that no attack is blamed for it
            CliRunner().invoke(main, command.split())
        shutil.rmtree("results")
        arena("tournament", "--game", "el-paso", "--bot", "random", "--bot", "skittish", "--deals", 1, "--workers", 0,
              "--name", "a", "--seed", 1, "-q")  # fmt: skip
    return home


@pytest.fixture
def run(played, tmp_path, monkeypatch):
    shutil.copytree(played, tmp_path, dirs_exist_ok=True)
    (tmp_path / "outside").mkdir()
    monkeypatch.chdir(tmp_path)
    return Path("results/a")


def serve(folder):
    place = place_of(folder)
    if place is not None:
        live = LiveRun(place, REGISTRY)
        live.read_updates()
        live.matches(0)


def attempt(*commands):
    """Runs commands; each ends soon, with a sentence."""
    said = []
    for command in commands:
        began = process_time()
        if command == "serve":
            serve(Path("results/a"))
        else:
            result = CliRunner().invoke(main, command.split())
            error = result.exception
            assert error is None or isinstance(error, SystemExit), f"{command}: {error!r}"
            assert result.exit_code in (0, 1, 2), command
            assert result.stderr.count("Error: ") <= 1
            said.append(result.output)
        assert process_time() - began < MAX_CPU_S, command
    return said


@pytest.mark.parametrize("name", [*FILES, *WRITTEN])
def test_no_command_writes_through_a_symbolic_link(run, name):
    victim = Path("outside/victim")
    if (run / name).exists():
        (run / name).rename(victim)
    else:
        victim.write_bytes(VICTIM)
    before = victim.read_bytes()
    (run / name).symlink_to(victim.resolve())
    attempt(*READING, "serve", *WRITING)
    assert victim.read_bytes() == before
    assert [path.name for path in Path("outside").iterdir()] == ["victim"]


def test_nothing_is_written_into_a_linked_folder(run):
    for name in ("logs", "report", "export"):
        (run / name).symlink_to(Path("outside").resolve())
    attempt(*WRITING, "export a --to csv")
    assert not any(Path("outside").iterdir())


@pytest.mark.parametrize("name", ["games.jsonl", "lock"])
def test_no_command_appends_to_a_file_with_another_name_elsewhere(run, name):
    victim = Path("outside/victim")
    if (run / name).exists():
        (run / name).rename(victim)
    else:
        victim.write_bytes(VICTIM)
    before = victim.read_bytes()
    os.link(victim, run / name)
    said = attempt(*WRITING)
    assert victim.read_bytes() == before
    assert "another name elsewhere (a hard link)" in said[0] + said[1]


def test_pages_replace_links_and_leave_their_targets(run):
    victim = Path("outside/victim")
    victim.write_bytes(VICTIM)
    arena("publish", "a", "--to", "site")
    arena("report", "a")
    files = [path for path in Path("site").rglob("*") if path.is_file()]
    for path in (*files, run / "report.html"):
        path.unlink()
        path.symlink_to(victim.resolve())
    for command in ("publish a --to site", "report a"):
        CliRunner().invoke(main, command.split())
    (run / "run.json").unlink()
    os.mkfifo(run / "run.json")
    attempt("publish a --to site", "report a")
    assert victim.read_bytes() == VICTIM
    shutil.rmtree("site")
    Path("site").mkdir()
    Path("site/runs").symlink_to(Path("outside").resolve())
    attempt("publish a --to site")
    assert [path.name for path in Path("outside").iterdir()] == ["victim"]


@pytest.mark.parametrize("name", [*FILES, "lock", "signature.json"])
def test_no_command_waits_for_a_pipe(run, name):
    (run / name).unlink(missing_ok=True)
    os.mkfifo(run / name)
    attempt(*READING, "serve", *WRITING)


@pytest.mark.parametrize("name", ["run.json", "games.jsonl", "notes.jsonl", "leaderboard.json", "signature.json"])
def test_devices_and_large_files_are_not_read(run, name):
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to("/dev/zero")
    attempt(*READING, "serve", *WRITING)
    (run / name).unlink(missing_ok=True)
    with (run / name).open("wb") as file:
        file.truncate(40 << 30)  # takes no space
    attempt(*READING, "serve", *WRITING)


LEAGUE = (
    "league show -L l", "league verify -L l", "league history random -L l --no-decisions", "league add outlaw -L l",
    "league run -L l --matches 2 --workers 0 --quiet", "league retire random -L l",
)  # fmt: skip


@pytest.fixture
def league(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("outside").mkdir()
    arena("league", "init", "l", "--game", "el-paso", "--seed", 17, "--players", 2)
    arena("league", "add", "random", "skittish", "-L", "l")
    arena("league", "run", "--matches", 4, "--workers", 0, "--quiet", "-L", "l")
    return Path("l")


def test_no_command_of_a_league_leaves_its_folder_or_waits(league):
    made = sorted(path.relative_to(league) for path in league.rglob("*"))
    assert {"journal.jsonl", "eras", "eras/1/games.jsonl"} <= {str(path) for path in made}
    victim = Path("outside/victim")
    for name in (*made, Path("lock"), Path("journal.jsonl.part"), Path("bots")):
        shutil.copytree(league, "copy", symlinks=True)
        place = league / name
        if place.is_dir():
            place.rename(victim)
        elif place.exists():
            shutil.copyfile(place, victim)
            place.unlink()
        else:
            victim.write_bytes(VICTIM)
        before = contents(victim)
        place.symlink_to(victim.resolve())
        attempt(*LEAGUE)
        assert contents(victim) == before, name
        if place.is_symlink():
            place.unlink()
            os.mkfifo(place)
            attempt(*LEAGUE)
        for folder in (league, victim):
            shutil.rmtree(folder) if folder.is_dir() else folder.unlink()
        Path("copy").rename(league)


def contents(path):
    files = path.rglob("*") if path.is_dir() else [path]
    return {str(file): file.read_bytes() for file in files if file.is_file()}


def with_record(run, **change):
    """Changes the first record."""
    path = run / "games.jsonl"
    first, *others = path.read_bytes().splitlines(keepends=True)
    record = json.loads(first)
    record.pop("sum")
    line = json.dumps(record | change, separators=(",", ":")).encode()
    path.write_bytes(with_sum(line) + b"\n" + b"".join(others))


MANY = 100_000


def at_seats(count):
    by_seat = {"scores": [0] * count, "ranks": [1] * count, "decisions": [0] * count}
    return {"seats": ["random"] * count, **by_seat, "time": [], "slowest": [], "cpu": []}


@pytest.mark.parametrize(
    "change",
    [
        {"time": [1e308, 1e308]}, {"slowest": [1e308, 1e308]}, {"cpu": [1e308, 1e308]}, {"index": 2**62},
        {"scores": [2**62, -(2**62)]}, {"round": 2**62}, {"table": 2**62}, {"seed": 2**400}, {"actions": [0] * MANY},
        {"decisions": [2**62, 2**62]}, {"ranks": [1, 10**400]}, {"ranks": [1, -(10**400)]}, {"seed": -1}, at_seats(9),
        at_seats(MANY),
    ],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_enormous_figures_of_a_record_are_reported_at_once(run, change):
    with_record(run, **change)
    attempt(*READING, "serve", *WRITING[:2])


@pytest.mark.parametrize(
    "change",
    [
        lambda info: info["plan"].update(deals=2**40),
        lambda info: info["plan"].update(deals=2**80),
        lambda info: info["plan"]["games"][0].update(players=MANY),
        lambda info: info["plan"]["games"][0].update(players=MANY, entrants=[f"b{n}" for n in range(MANY)]),
        lambda info: info["plan"].update(games=info["plan"]["games"] * MANY),
        lambda info: info["plan"].update(seed=2**400),
        lambda info: info["plan"].update(settings={"tables": 2**62}),
        lambda info: info.update(entrants=info["entrants"] * 20_000),
        lambda info: info["limits"].update(move_time=1e308, memory=2**62, threads=2**62),
        lambda info: info.update(ends=["x"] * MANY),
    ],
    ids=["deals", "many-deals", "players", "bots", "games", "seed", "tables", "entrants", "limits", "ends"],
)
def test_enormous_figures_of_run_json_are_reported_at_once(run, change):
    def changed(info):
        change(info)
        return info

    edit_info(run, changed)
    attempt(*[command for command in READING if "dry-run" not in command], "serve")


def test_a_file_of_damaged_lines_is_one_sentence(run):
    (run / "games.jsonl").write_bytes(b"\n" * 500_000)
    assert "has more than 1,000 damaged lines" in attempt(*READING)[3]


def test_a_billion_deals_can_be_planned(run):
    edit_info(run, lambda info: {**info, "finished": "", "plan": {**info["plan"], "deals": 10**9}})
    assert "20000 or more of the schedule are missing" in attempt("verify a")[0]


def test_the_mark_of_untrusted_files_replaces_a_link(tmp_path):
    (tmp_path / "victim").write_bytes(VICTIM)
    (tmp_path / f"copy{UNTRUSTED_SUFFIX}").symlink_to(tmp_path / "victim")
    mark_untrusted(tmp_path / "copy", "it was downloaded")
    assert (tmp_path / "victim").read_bytes() == VICTIM
    assert (tmp_path / f"copy{UNTRUSTED_SUFFIX}").read_text() == "it was downloaded\n"


@pytest.mark.parametrize("name", ["../x", "a/../../x", "a/./x", "", ".", "..", "a\0b", "link/x"])
def test_no_name_leads_out_of_a_folder(tmp_path, name):
    (tmp_path / "in").mkdir()
    (tmp_path / "x").write_bytes(VICTIM)
    (tmp_path / "in" / "link").symlink_to(tmp_path)
    folder = Folder(tmp_path / "in")
    for act in (folder.read, folder.stat, lambda name: folder.write(name, b""), folder.remove, folder.open_to_append):
        with pytest.raises(OSError, match=r".") as found:
            act(name)
        assert found.value.strerror
    assert (tmp_path / "x").read_bytes() == VICTIM


def swapped(monkeypatch, place, replacement):
    """Puts something else in the place of a file, right after its status was read and before it is opened."""
    real = os.stat

    def stat(name, *args, **options):
        found = real(name, *args, **options)
        if name == place.name and "dir_fd" in options:
            monkeypatch.undo()
            replacement.replace(place)
        return found

    monkeypatch.setattr(os, "stat", stat)


@pytest.mark.parametrize("kind", ["link", "pipe", "hard link"])
def test_a_file_that_is_replaced_between_the_check_and_opening_it_is_not_written_to(tmp_path, monkeypatch, kind):
    victim, run = tmp_path / "victim", tmp_path / "run"
    run.mkdir()
    victim.write_bytes(VICTIM)
    (run / "games.jsonl").write_bytes(b"{}\n")
    other = run / "other"
    {"link": other.symlink_to, "pipe": lambda _: os.mkfifo(other), "hard link": other.hardlink_to}[kind](victim)
    swapped(monkeypatch, run / "games.jsonl", other)
    with pytest.raises(OSError, match=r"it is a link|not a regular file|another name|Too many levels|No such device"):
        os.close(Folder(run).open_to_append("games.jsonl"))
    assert victim.read_bytes() == VICTIM


def test_a_folder_that_is_replaced_by_a_link_while_it_is_used_is_left(tmp_path, monkeypatch):
    run, outside = tmp_path / "run", tmp_path / "outside"
    (run / "logs").mkdir(parents=True)
    outside.mkdir()
    real = os.open

    def opened(path, flags, *args, **options):
        descriptor = real(path, flags, *args, **options)
        if path == "logs":  # it is open: from now on its name leads elsewhere
            (run / "logs").rename(run / "moved")
            (run / "logs").symlink_to(outside)
        return descriptor

    monkeypatch.setattr(os, "open", opened)
    Folder(run).write("logs/bot.log", b"text")
    assert (run / "moved/bot.log").read_bytes() == b"text"
    assert not any(outside.iterdir())
    with pytest.raises(OSError, match="it is a link"):
        Folder(run).write("logs/bot.log", b"text")
