"""Leagues that somebody has tampered with, and moments at which things go wrong."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

import harness
from harness.core.records import with_sum
from harness.league import runner
from harness.league.bots import add_bots
from harness.league.folder import LeagueFolder
from harness.league.journal import BotRetired
from harness.plugins.trust import untrusted_reason
from tests.league.support import PROGRAM, recorded, records, write_bot
from tests.support.cli import arena
from tests.support.forgery import bent

NOBODY = 65534


@pytest.fixture
def autumn():
    arena("league", "init", "autumn", "--game", "el-paso", "--seed", 3)
    arena("league", "add", "outlaw", "diehard", "skittish", "random", "-L", "autumn")
    play("autumn", 20)
    return Path("autumn")


def play(folder, matches=12):
    return arena("league", "run", "--matches", matches, "--workers", 0, "-L", folder)


def verified(folder, code=0):
    return arena("league", "verify", "-L", folder, code=code).stdout


def games(folder, era=1):
    return folder / "eras" / str(era) / "games.jsonl"


def entries(folder, what):
    return [entry for entry in LeagueFolder.open(folder).journal.entries if entry.what == what]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_the_copy_of_an_untrusted_bot_is_untrusted_in_every_command(autumn):
    Path("theirs").mkdir()
    file = write_bot("theirs/evil")
    text = file.read_text().replace('"theirs/evil"', '"evil"')
    pwned = Path("pwned").absolute()
    file.write_text(
        f"from pathlib import Path\ntry:\n    Path({str(pwned)!r}).touch()\nexcept OSError:\n    pass\n" + text
    )
    for place in (Path("theirs"), file):
        os.chown(place, NOBODY, NOBODY)
    arena("league", "add", file, "-L", autumn)
    [copy] = (autumn / "bots").rglob("evil.py")
    assert untrusted_reason([copy])
    play(autumn, 8)
    arena("check", copy)
    assert "is an era of a league" in arena("tournament", "--resume", autumn / "eras" / "1", code=2).stderr
    assert "is an era of a league" in arena("tournament", autumn / "eras" / "1", code=2).stderr
    assert not pwned.exists()


def test_a_bot_that_joins_while_entrants_are_restored_plays_too(autumn, monkeypatch):
    late, again = write_bot("late"), runner.restore_entrant
    write_bot("first")
    arena("league", "add", "first.py", "-L", autumn)

    def slowly(folder, member, registry):
        if member.entry.bot == "first" and late.exists():
            add_bots(LeagueFolder.open(folder), [str(late)], registry)
            late.unlink()
        return again(folder, member, registry)

    monkeypatch.setattr(runner, "restore_entrant", slowly)
    play(autumn, 30)
    assert not entries(autumn, "void")
    assert any("late@1" in record.seats for record in records(autumn).values())


def test_invalid_arguments_of_the_league_api_do_not_change_the_journal(autumn):
    before = (autumn / "journal.jsonl").read_bytes()
    with pytest.raises(harness.UsageError, match="Invalid journal entry"):
        harness.open_league(autumn).ban("outlaw@1", reason=None)
    with pytest.raises(harness.UsageError, match="is not a bot"):
        harness.open_league(autumn).add(3)
    for wrong in ({"matches": -3}, {"matches": "3"}, {"seconds": 0}):
        with pytest.raises(harness.UsageError, match="must be a positive number"):
            harness.open_league(autumn).run(**wrong)
    with pytest.raises(harness.UsageError, match="at least 1"):
        harness.open_league(autumn).verify(0)
    assert (autumn / "journal.jsonl").read_bytes() == before


def test_a_league_continues_after_an_interrupt_while_an_era_is_created(autumn, monkeypatch):
    settings = autumn / "arena.toml"
    text = settings.read_text()
    settings.write_text(text + "move-time = 2\n")

    def killed(*_args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(runner, "create_era", killed)
        arena("league", "run", "--matches", 4, "--workers", 0, "-L", autumn, code=1)
    settings.write_text(text)
    play(autumn, 6)
    infos = [harness.open_run(autumn / "eras" / str(era)).info for era in (1, 3)]
    assert infos[0].finished and not infos[1].finished
    assert "no problems" in verified(autumn)


def test_a_program_that_was_changed_rests_and_all_other_bots_continue(autumn, monkeypatch):
    Path("prog.py").write_text(PROGRAM)
    arena("league", "add", f"prog=cmd:{sys.executable} prog.py", "-L", autumn)
    again, changed = runner.choose_executor, []

    def choose(*args):
        if not changed:
            changed.append(Path("prog.py").write_text(PROGRAM + "# changed\n"))
        return again(*args)

    monkeypatch.setattr(runner, "choose_executor", choose)
    told = play(autumn, 8).stderr
    assert "prog@1 rests" in told
    assert recorded(autumn) == 28


def test_a_game_added_later_is_played_by_all_bots_that_support_it():
    arena("league", "init", "autumn", "--game", "el-paso", "--players", 3)
    arena("league", "add", "outlaw", "random", "flat-mc", "-L", "autumn")
    settings = Path("autumn/arena.toml")
    settings.write_text(settings.read_text().replace('["el-paso"]', '["el-paso", "gnadenlos"]'))
    arena("league", "add", "broker", "-L", "autumn")
    membership = LeagueFolder.open(Path("autumn")).membership
    assert set(membership.playing("gnadenlos")) == {"random@1", "flat-mc@1", "broker@1"}


def test_deleted_records_are_played_again_with_the_same_results(autumn):
    whole = records(autumn)
    lines = games(autumn).read_bytes().splitlines(keepends=True)
    games(autumn).write_bytes(b"".join(lines[:2] + lines[5:]))
    assert "is missing" in verified(autumn, code=1)
    play(autumn, 3)
    assert records(autumn) == whole
    assert "no problems" in verified(autumn)


def test_verify_finds_duplicate_records(autumn):
    first = games(autumn).read_bytes().splitlines(keepends=True)[0]
    copied = json.loads(first) | {"index": 20}
    copied.pop("sum")
    with games(autumn).open("ab") as file:
        file.write(with_sum(json.dumps(copied, separators=(",", ":")).encode()) + b"\n")
    assert "el-paso-1.1.1 was recorded 2 times." in verified(autumn, code=1)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda info: info["limits"].update(move_time=3.0), "and the journal have different limits"),
        (
            lambda info: info["plan"]["games"][0].update(players=3),
            "and the journal have different games, rules, options or seats",
        ),
        (
            lambda info: info["entrants"][0].update(digest="sha256:0"),
            "and the journal differ in digest, team or author of outlaw@1",
        ),
        (lambda info: info.update(finished="2026-01-01"), "says that the era is finished"),
    ],
)
def test_verify_finds_a_run_json_that_differs_from_the_journal(autumn, change, told):
    path = autumn / "eras" / "1" / "run.json"
    info = json.loads(path.read_text())
    change(info)
    path.write_text(json.dumps(info))
    assert told in verified(autumn, code=1)


def test_verify_finds_a_journal_with_another_game(autumn):
    path = autumn / "journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(bent(line, b'"name":"el-paso"', b'"name":"other"') for line in lines))
    assert "and the journal have different games, rules, options or seats" in verified(autumn, code=1)


def test_verify_finds_a_truncated_era_and_an_unknown_era_folder(autumn):
    (autumn / "arena.toml").write_text('games = ["el-paso"]\nmove-time = 2\nseed = 3\n')
    play(autumn, 4)
    lines = games(autumn).read_bytes().splitlines(keepends=True)
    games(autumn).write_bytes(b"".join(lines[:-4]))
    (autumn / "eras" / "9").mkdir()
    told = verified(autumn, code=1)
    assert "does not contain the records with which its era ended" in told
    assert "is not an era of the journal" in told


def test_a_bot_retired_between_two_runs_still_plays_its_open_matches(autumn):
    arena("league", "add", write_bot("xx"), "-L", autumn)
    play(autumn, 3)
    arena("league", "retire", "xx", "-L", autumn)
    play(autumn, 12)
    assert not entries(autumn, "void")


def test_a_file_added_to_a_bots_copy_is_detected_and_league_add_restores_the_copy(autumn):
    file = write_bot("b1")
    arena("league", "add", file, "-L", autumn)
    [copy] = (autumn / "bots").iterdir()
    copy.chmod(0o755)
    (copy / "more.py").write_text("")
    assert "b1@1 rests" in play(autumn, 4).stderr
    assert "b1@1 is restored and plays again." in arena("league", "add", file, "-L", autumn).stdout
    assert not (copy / "more.py").exists()
    play(autumn, 20)
    assert any("b1@1" in record.seats for record in records(autumn).values())


def test_a_league_is_not_created_from_a_config_file_with_an_unknown_bot():
    Path("event.toml").write_text('games = ["el-paso"]\nbots = ["outlw"]\n')
    assert "outlw" in arena("league", "init", "autumn", "--from", "event.toml", code=2).stderr
    assert not Path("autumn").exists()


def test_all_bots_can_retire_during_a_run_and_the_standings_are_still_written(autumn, monkeypatch):
    counted = []

    def leave(record):
        counted.append(record)
        if len(counted) == 3:
            for bot in ("outlaw", "diehard", "skittish", "random"):
                LeagueFolder.open(autumn).add_decision(BotRetired, bot)

    seen = runner.LeagueScheduler.add_result
    monkeypatch.setattr(
        runner.LeagueScheduler, "add_result", lambda self, record: (leave(record), seen(self, record))[1]
    )
    told = arena("league", "run", "--matches", 60, "--workers", 0, "-L", autumn).stderr
    assert "Too few bots: el-paso needs 4 bots and has 0." in told
    rows = json.loads((autumn / "standings.json").read_text())["el-paso"]
    assert {row["state"] for row in rows} == {"retired"}
    assert rows[0]["matches"] == recorded(autumn)


def test_records_deleted_from_before_a_ban_are_played_again_with_the_same_results(autumn):
    arena("league", "add", write_bot("cheat"), "-L", autumn)
    play(autumn, 20)
    arena("league", "ban", "cheat", "-L", autumn)
    play(autumn, 20)
    whole = records(autumn)
    lines = games(autumn).read_bytes().splitlines(keepends=True)
    games(autumn).write_bytes(b"".join(lines[:9] + lines[12:]))
    play(autumn, 3)
    assert records(autumn) == whole
    play(autumn, 8)
    assert "no problems" in verified(autumn)


def test_a_line_of_the_journal_that_is_too_deep_is_refused():
    arena("league", "init", "deep", "--game", "el-paso")
    arena("league", "add", "random", "-L", "deep")
    path = Path("deep/journal.jsonl")
    path.write_bytes(
        bent(path.read_bytes().rstrip(b"\n"), b'"what"', b'"x":' + b"[" * 100_000 + b"]" * 100_000 + b',"what"')
    )
    assert "Invalid journal entry in" in arena("league", "verify", "-L", "deep", code=2).stderr
