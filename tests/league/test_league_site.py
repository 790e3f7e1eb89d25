"""What is published of a league: its table, without those who are banned, and no seed of an era that goes on."""

from __future__ import annotations

import json
from pathlib import Path

import harness
from tests.league.support import write_bot
from tests.support.cli import arena


def test_the_published_site_of_a_league_has_its_table_but_no_banned_bots_or_seeds():
    arena("league", "init", "autumn", "--game", "el-paso", "--seed", 98765432123456789)
    arena("league", "add", "outlaw", "diehard", "skittish", "random", write_bot("cheat"), "-L", "autumn")
    arena("league", "run", "--matches", 40, "--workers", 0, "-q", "-L", "autumn")
    arena("league", "ban", "cheat", "-L", "autumn")
    arena("league", "publish", "--to", "site", "-L", "autumn")
    told = {row["bot"] for row in json.loads(Path("site/standings.json").read_text())["el-paso"]}
    assert told == {"outlaw@1", "diehard@1", "skittish@1", "random@1"}
    assert 'href="league.html"' in Path("site/index.html").read_text()
    page = Path("site/league.html").read_text()
    assert "outlaw@1" in page and "matches do not count" in page and "is banned" in page
    assert "No bot leads yet: fewer than two have played 20 matches." in page and "Skill is TrueSkill" in page
    seeds = [str(harness.open_run("autumn/eras/1").info.plan.seed), "98765432123456789"]
    for path in Path("site").rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert not any(seed.encode() in data for seed in seeds), path
            if path.suffix == ".csv" or path.parent.name == "bots":
                assert b"cheat@1" not in data, path


def test_the_python_api_of_a_league_offers_what_the_commands_do():
    league = harness.new_league("autumn", games=("el-paso",), players=3, seed=5)
    assert league.add("outlaw", "diehard", "random", team="red") == ("outlaw@1", "diehard@1", "random@1")
    done = league.run(matches=9, workers=0, quiet=True)
    assert done.played == 9
    file = write_bot("sprinter")
    league.add(str(file), name="dash")
    league.run(matches=30, workers=0, quiet=True)
    league.retire("random", "enough")
    rows = league.standings()["el-paso"].rows
    assert {row["bot"] for row in rows} == {"outlaw@1", "diehard@1", "dash@1"}
    assert {row["bot"] for row in league.standings(everybody=True)["el-paso"].rows} >= {"random@1"}
    assert league.bots == ("outlaw@1", "diehard@1", "random@1", "dash@1")
    league.ban("dash")
    league.readmit("dash")
    assert [entry.what for entry in league.journal][-3:] == ["retired", "banned", "readmitted"]
    assert league.history("dash")["dash, el-paso"].rows[0]["version"] == "dash@1"
    found = harness.open_league("autumn").verify()
    assert not found.problems and found.records == found.replayed == 39


def test_a_bot_class_without_a_file_cannot_join_and_the_error_says_why():
    class Typed(harness.Bot):
        games = ("el-paso",)

        def choose(self, view, actions):
            return actions[0]

    league = harness.new_league("autumn", games=("el-paso",))
    try:
        league.add(Typed)
    except harness.UsageError as error:
        assert "put it into a .py file" in str(error)
    else:
        raise AssertionError("it joined")
    assert league.bots == ()
