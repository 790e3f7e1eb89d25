"""Leagues at the command line: what people type, and what they are told when something is wrong."""

from __future__ import annotations

import errno
import json
import os
import sys
from pathlib import Path

import pytest

from harness.league.folder import LeagueFolder
from harness.league.members import Membership
from harness.league.skills import Skill
from harness.league.standings import LeagueRow, leader_sentences
from harness.ratings.statistics import Interval
from tests.league.support import PROGRAM, recorded, records, started, write_bot
from tests.support.cli import arena
from tests.support.waiting import PATIENCE, wait_for


@pytest.fixture
def autumn():
    arena("league", "init", "autumn", "--game", "el-paso", "--seed", 3)
    arena("league", "add", "outlaw", "diehard", "skittish", "random", "-L", "autumn")
    return Path("autumn")


def play(folder, matches=12):
    return arena("league", "run", "--matches", matches, "--workers", 0, "-q", "-L", folder).stdout


def standing(folder, *args):
    return json.loads(arena("league", "show", "-f", "json", *args, "-L", folder).stdout)["el-paso"]


def test_a_league_is_created_joined_played_and_shown(autumn):
    assert "outlaw@1" in play(autumn)
    rows = standing(autumn)
    assert rows[0]["bot"] == "outlaw@1"
    assert {row["bot"] for row in rows} == {"outlaw@1", "diehard@1", "skittish@1", "random@1"}
    assert all(row["skill low"] <= row["skill"] <= row["skill high"] and row["matches"] == 12 for row in rows)
    assert json.loads((autumn / "standings.json").read_text())["el-paso"] == standing(autumn, "--all")


def test_a_league_says_what_failed_why_and_where_output_is(autumn):
    Path("clumsy.py").write_text(
        "from harness import Bot\nclass Clumsy(Bot):\n    games = ('el-paso',)\n"
        "    def choose(self, view, actions):\n        print('hm')\n        return {}[len(actions)]\n"
    )
    arena("league", "add", "clumsy.py", "-L", autumn)
    said = arena("league", "run", "--matches", 6, "--workers", 0, "-L", autumn).stderr
    assert said.count("What clumsy_1 printed is in autumn/eras/1/logs.") == 1
    assert "clumsy@1: KeyError at clumsy.py:6, " in said
    bot, _, match, _ = said.partition("once fixed:   arena ask ")[2].partition("\n")[0].split()
    assert "KeyError" in arena("ask", bot, "autumn/eras/1", match, "--fault", code=1).stdout
    assert match in arena("matches", "autumn/eras/1", "--faults").stdout


def test_a_place_needs_twenty_matches_and_one_sentence_says_which_bot_leads(autumn):
    play(autumn, 12)
    assert {row["place"] for row in standing(autumn)} == {None}
    shown = arena("league", "show", "-L", autumn).stdout
    assert "No bot leads yet: fewer than two have played 20 matches." in shown
    assert "Without a place: provisional, fewer than 20 matches." in shown
    play(autumn, 12)
    rows = standing(autumn)
    assert [row["place"] for row in rows] == [1, 2, 3, 4]
    assert [row["skill"] for row in rows] == sorted((row["skill"] for row in rows), reverse=True)
    shown = arena("league", "show", "-L", autumn).stdout
    assert "outlaw@1 leads; " in shown
    assert "provisional" not in shown and "rating" not in shown


def test_a_bot_without_a_place_may_have_a_higher_skill_than_the_leader():
    def row(name, skill, matches):
        return LeagueRow(name, Skill(Interval(skill, skill - 2, skill + 2), 0.5, matches), "plays")

    rows = [row("diehard@1", 28.8, 40), row("random@1", 20.0, 40), row("outlaw@1", 36.0, 18), row("skittish@1", 9.0, 1)]
    assert leader_sentences(rows) == [
        "diehard@1 leads; its interval is above those of all other bots with a place.",
        "outlaw@1 has a higher skill after 18 matches, and no place yet.",
    ]


def test_a_new_version_keeps_author_and_team_unless_others_are_given(autumn):
    file = write_bot("sprinter", stars=3)
    arena("league", "add", file, "--team", "red", "--author", "Ann", "-L", autumn)
    write_bot("sprinter", 2, stars=2)
    arena("league", "add", file, "--author", "Ann", "-L", autumn)
    write_bot("sprinter", 3, stars=1)
    arena("league", "add", file, "--team", "blue", "--author", "Ann", "-L", autumn)
    versions = LeagueFolder.open(autumn).membership.versions("sprinter")
    assert [(one.entry.team, one.entry.author) for one in versions] == [("red", "Ann"), ("red", "Ann"), ("blue", "Ann")]


def test_adding_a_changed_bot_creates_a_new_version_and_keeps_the_old_one_as_an_opponent(autumn):
    file = write_bot("sprinter", stars=3)
    arena("league", "add", file, "--team", "red", "-L", autumn)
    assert "has not changed: it is identical to sprinter@1" in arena("league", "add", file, "-L", autumn, code=2).stderr
    write_bot("sprinter", 2, stars=2)
    assert "sprinter@2 joins." in arena("league", "add", file, "--team", "red", "-L", autumn).stdout
    file.unlink()  # the league keeps its own copies
    play(autumn, 60)
    assert {"sprinter@2"} == {row["bot"] for row in standing(autumn) if "sprinter" in row["bot"]}
    states = {row["bot"]: row["state"] for row in standing(autumn, "--all")}
    assert states["sprinter@1"] == "opponent" and states["sprinter@2"] == "plays"
    told = arena("league", "history", "sprinter", "-L", autumn).stdout
    assert "sprinter@2 decides differently from sprinter@1" in told and "leave instead of stay" in told
    as_data = json.loads(arena("league", "history", "sprinter", "--json", "-L", autumn).stdout)
    assert [row["version"] for row in as_data["versions"]["el-paso"]] == ["sprinter@2", "sprinter@1"]
    assert "sure" not in as_data["versions"]["el-paso"][0] and "skill low" in as_data["versions"]["el-paso"][0]
    [found] = as_data["differences"]
    differ, total = found["by_phase"]["answer"]
    assert 0 < differ < total <= found["asked"]


def test_matches_of_retired_bots_count_and_matches_of_banned_bots_do_not(autumn):
    arena("league", "add", write_bot("b1"), write_bot("b2"), "-L", autumn)
    play(autumn, 25)
    arena("league", "retire", "b1", "-L", autumn)
    arena("league", "ban", "b2", "--reason", "peeks", "-L", autumn)
    play(autumn, 25)  # the round that was being played is finished with those who sat in it
    played = [record for name, record in records(autumn).items()]
    late = [record for record in played if record.index >= 32]
    assert late and not any("b1@1" in record.seats or "b2@1" in record.seats for record in late)
    rows = {row["bot"]: row for row in standing(autumn, "--all")}
    assert rows["b1@1"]["state"] == "retired" and rows["b1@1"]["matches"]
    assert "b2@1" not in rows
    counted = [record for record in played if "b2@1" not in record.seats]
    assert rows["b1@1"]["matches"] == sum("b1@1" in record.seats for record in counted)
    arena("league", "readmit", "b2", "-L", autumn)
    assert "b2@1" in {row["bot"] for row in standing(autumn)}
    assert "no problems" in arena("league", "verify", "-L", autumn).stdout


def test_another_move_time_starts_a_new_era_with_its_own_table(autumn):
    play(autumn)
    file = autumn / "arena.toml"
    file.write_text(file.read_text() + "move-time = 2\n")
    done = arena("league", "run", "--matches", 8, "--workers", 0, "-L", autumn)
    assert "Era 2 begins: move time is 2 instead of 10." in done.stderr
    assert (recorded(autumn, 1), recorded(autumn, 2)) == (12, 8)
    assert {row["matches"] for row in standing(autumn)} == {8}
    assert {row["matches"] for row in standing(autumn, "--era", 1)} == {12}
    assert {row["matches"] for row in standing(autumn, "--across")} == {20}
    file.write_text(file.read_text() + "players = 3\n")
    arena("league", "run", "--matches", 8, "--workers", 0, "-q", "-L", autumn)
    assert "No earlier era has the same rules" in arena("league", "show", "--across", "-L", autumn, code=2).stderr
    assert "no problems" in arena("league", "verify", "-L", autumn).stdout


def test_a_bot_whose_copy_was_edited_rests_until_the_copy_is_restored(autumn):
    arena("league", "add", write_bot("b1"), "-L", autumn)
    play(autumn)
    [kept] = (autumn / "bots").rglob("b1.py")
    text = kept.read_text()
    kept.chmod(0o644)
    kept.write_text(text.replace("3", "1"))
    told = arena("league", "run", "--matches", 12, "--workers", 0, "-L", autumn).stderr
    assert "Warning: b1@1 rests: its files in" in told and "were edited; put them back" in told
    assert "b1@1 cannot play" in arena("league", "verify", "-L", autumn, code=1).stdout
    kept.write_text(text)
    play(autumn)
    assert Membership.after_entries(LeagueFolder.open(autumn).journal.entries).standing("b1@1") == "plays"
    assert recorded(autumn) == 36


def test_a_bot_whose_files_are_gone_rests_and_the_reason_is_printed(autumn):
    arena("league", "add", write_bot("b1"), "-L", autumn)
    [kept] = (autumn / "bots").iterdir()
    kept.rename("elsewhere")
    told = arena("league", "run", "--matches", 8, "--workers", 0, "-L", autumn).stderr
    assert "b1@1 rests: its files are gone" in told
    assert recorded(autumn) == 8


def test_mistakes_give_an_error_message_and_change_no_file(autumn):
    play(autumn)
    before = {path: path.read_bytes() for path in autumn.rglob("*") if path.is_file()}
    file = autumn / "arena.toml"
    text = file.read_text()
    for wrong, told in (
        ("playrs = 3\n", "arena.toml, line 4, column 1: Unknown key 'playrs'. Did you mean 'players'?"),
        ("players = \n", "arena.toml, line 4, column 11: this is not TOML"),
        ("deals = 3\n", "line 4, column 1: The config file of a league cannot have deals"),
        ("players = 9\n", "El Paso is for 2 to 5 players, not 9"),
    ):
        file.write_text(text + wrong)
        assert told in arena("league", "run", "--matches", 1, "-L", autumn, code=2).stderr
    file.write_text(text)
    assert "Unknown bot 'outlw'" in arena("league", "add", "outlw", "-L", autumn, code=2).stderr
    assert "--as NAME" in arena("league", "add", "skittish:stars=3", "-L", autumn, code=2).stderr
    assert "There is no file" in arena("league", "add", "no.py", "-L", autumn, code=2).stderr
    assert "plays none of the games" in arena("league", "add", "tycoon", "-L", autumn, code=2).stderr
    assert "Unknown bot of this league 'nobody'" in arena("league", "retire", "nobody", "-L", autumn, code=2).stderr
    assert "Unknown version of outlaw" in arena("league", "ban", "outlaw@2", "-L", autumn, code=2).stderr
    assert "neither retired nor banned" in arena("league", "readmit", "outlaw", "-L", autumn, code=2).stderr
    assert "There is no era 7" in arena("league", "show", "--era", 7, "-L", autumn, code=2).stderr
    assert "is not a league" in arena("league", "show", "-L", ".", code=2).stderr
    assert "already contains a league" in arena("league", "init", autumn, code=2).stderr
    assert {path: path.read_bytes() for path in autumn.rglob("*") if path.is_file()} == before


def test_a_league_without_enough_bots_says_how_many_it_needs():
    arena("league", "init", "small", "--game", "el-paso")
    arena("league", "add", "outlaw", "-L", "small")
    told = arena("league", "run", "--matches", 4, "--workers", 0, "-L", "small", code=2).stderr
    assert "el-paso needs 4 bots and has 1" in told
    assert "Nothing has been played" in arena("league", "show", "-L", "small", code=2).stderr


def test_a_journal_that_was_edited_is_refused_with_its_line(autumn):
    journal = autumn / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b"outlaw", b"outlow", 1))
    told = arena("league", "show", "-L", autumn, code=2).stderr
    assert "Invalid journal entry in autumn/journal.jsonl, line 1: the line was edited" in told


def test_verify_finds_a_missing_record(autumn):
    play(autumn)
    games = autumn / "eras" / "1" / "games.jsonl"
    lines = games.read_bytes().splitlines(keepends=True)
    games.write_bytes(b"".join(lines[1:]))
    told = arena("league", "verify", "-L", autumn, code=1).stdout
    assert "el-paso-1.1.1 is missing" in told


def test_a_league_is_created_from_the_config_file_of_a_run():
    Path("event.toml").write_text(
        'games = ["el-paso"]\nplayers = 3\nmove-time = 4\ndeals = 9\n[[bots]]\nbot = "outlaw"\nteam = "red"\n'
        '[[bots]]\nname = "hasty"\nbot = "skittish:stars=2"\n[[bots]]\nbot = "random"\n'
    )
    arena("league", "init", "autumn", "--from", "event.toml")
    play("autumn", 6)
    assert {row["bot"]: row["team"] for row in standing("autumn")} == {
        "outlaw@1": "red", "hasty@1": "", "random@1": "",
    }  # fmt: skip


def test_a_program_joins_and_plays(autumn, monkeypatch):
    Path("bot.py").write_text(PROGRAM)
    arena("league", "add", f"prog=cmd:{sys.executable} bot.py", "-L", autumn)
    folder = Path("elsewhere")
    folder.mkdir()
    monkeypatch.chdir(folder)  # where it is, is kept
    play("../autumn", 12)
    rows = {row["bot"]: row for row in standing("../autumn")}
    assert rows["prog@1"]["matches"]
    assert not any(record.faults for record in records(Path("../autumn")).values())


def test_a_second_league_run_is_refused_but_bots_can_join_during_a_run(autumn):
    with started(autumn, "--workers", 1) as runner:
        wait_for(lambda: recorded(autumn) > 3 or runner.poll() is not None, "a league that plays")
        told = arena("league", "run", "--matches", 4, "--workers", 0, "-L", autumn, code=2).stderr
        assert "Only one arena league run works at a time" in told
        arena("league", "add", write_bot("late"), "-L", autumn)
        wait_for(
            lambda: b"late@1" in (autumn / "eras/1/games.jsonl").read_bytes() or runner.poll() is not None,
            "the newcomer",
        )
        runner.send_signal(2)
        _, err = runner.communicate(timeout=PATIENCE)
    assert runner.returncode == 0, err.decode()
    assert b"late@1 plays from now on." in err
    assert "no problems" in arena("league", "verify", "-L", autumn).stdout


def full_disk(monkeypatch, name):
    """Nothing more can be written to the file of this name."""
    write = os.write

    def refused(descriptor, data):
        if Path(f"/proc/self/fd/{descriptor}").readlink().name == name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, data)

    monkeypatch.setattr("harness.runs.store.os.write", refused)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="files cannot be told apart here")
@pytest.mark.parametrize(("name", "command"), [("journal.jsonl", "add"), ("games.jsonl", "run")])
def test_a_full_disk_gives_an_error_message_and_loses_nothing(autumn, monkeypatch, name, command):
    play(autumn)
    before = (autumn / "journal.jsonl").read_bytes(), records(autumn)
    typed = ["add", write_bot("b1")] if command == "add" else ["run", "--matches", 4, "--workers", 0]
    with monkeypatch.context() as patch:
        full_disk(patch, name)
        told = arena("league", *typed, "-L", autumn, code=2).stderr
    assert "No space left on device" in told
    assert ((autumn / "journal.jsonl").read_bytes(), records(autumn)) == before
    arena("league", *typed, "-L", autumn)
    assert "no problems" in arena("league", "verify", "-L", autumn).stdout
