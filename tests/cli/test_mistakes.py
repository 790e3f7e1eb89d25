"""Type wrong things: one clear sentence, the nearest match, exit code 2, no traceback."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import harness
from harness.core.errors import UsageError
from tests.support.cli import arena

BASE = ("tournament", "--game", "el-paso", "--deals", 1)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("tournamnet",), "Did you mean 'tournament'?"),
        (("league", "sow"), "There is no command 'sow'. Did you mean 'show'? 'main league --help' lists them."),
        (("tournament", "--tables", "5"), "the format round-robin (gauntlet, ladder too): --format round-rob"),
        (("tournament", "--format", "ladder", "--tables=5"), "--format ladder:tables=5"),
        (("tournament", "--edition", "nl"), "It is an option of el-paso: --option edition=nl"),
        (("tournament", "--goof", "nl"), "Did you mean '--goal'?"),
        (("tournament", "--game", "el-pasa"), "Unknown game 'el-pasa'. Did you mean 'el-paso'?"),
        (("bench", "--game", "chess"), "Unknown game 'chess'. Choose from: "),
        (("bots", "--game", "el-pazo"), "Did you mean 'el-paso'?"),
        ((*BASE, "--bot", "randon"), "Unknown bot 'randon'. Did you mean 'random'?"),
        ((*BASE, "--bot", "skittish:star=2"), "Did you mean 'stars'?"),
        ((*BASE, "--bot", "skittish:stars=nine"), "it takes a whole number from 1 to 5"),
        ((*BASE, "--bot", "random", "--bot", "random"), "random is entered twice"),
        ((*BASE, "--bot", "random"), "needs at least 2 bots"),
        (("tournament", "--game", "x-pasch", "--bot", "outlaw"), "0 entered. outlaw does not play it."),
        ((*BASE, "--bot", "nowhere.py"), "There is no file nowhere.py"),
        ((*BASE, "--option", "editon=nl"), "Unknown option of El Paso 'editon'. Did you mean 'edition'?"),
        ((*BASE, "--option", "edition=xx"), "Choose from: bg, de, nl"),
        ((*BASE, "--option", "edition"), "write --option key=value"),
        ((*BASE, "--option", "components=missing.toml"), "cannot read missing.toml"),
        ((*BASE, "--players", 1), "El Paso is for 2 to 5 players, not 1."),
        ((*BASE, "--players", 6), "El Paso is for 2 to 5 players, not 6."),
        (("bench", "--costs", "--bot", "random"), "--costs measures the costs for any bot; leave out --bot"),
        (("bench", "--against", "chess", "--bot", "random"), "A comparison plays with random bots on one core"),
        (("bench", "--idle", "--bot", "random"), "--idle simulates runs of games; leave out other measurements"),
        (("bench", "--shares", "--against", "chess"), "--shares measures parts of arena"),
        (("bench", "--against", "gnugo"), "'gnugo' is not one of 'catanatron'"),
        (("bench", "--game", "el-paso", "--players", 9), "El Paso is for 2 to 5 players, not 9."),
        (("tournament", "--deals", 0), "0 is not in the range 1<=x"),
        (("tournament", "--deals", "many"), "'many' is not a valid integer"),
        (("tournament", "--move-time", -1), "not in the range x>=0"),
        (("tournament", "--name", "../up"), "cannot be the name of a folder"),
        (("tournament", "-f", "papyrus"), "Unknown table format 'papyrus'"),
        (("tournament", "--resume", "nowhere"), "There is no run 'nowhere'."),
        (("tournament", "--resume", "nowhere", "--seed", 3), "leave out --seed."),
        (("leaderboard", "x" * 400), "This is too long for a file name: "),
        ((*BASE, "--bot", "x" * 400), "This is too long for a file name: x"),
        (("leaderboard", "nowhere"), "There is no run 'nowhere'."),
        (("verify", "nowhere"), "There is no run 'nowhere'."),
        (("replay", "nowhere", "1"), "There is no run 'nowhere'."),
    ],
)  # fmt: skip
def test_invalid_arguments_get_one_error_sentence(args, said):
    assert said in " ".join(arena(*args, code=2).stderr.split())


CHOOSE = "    games = ('el-paso',)\n    def choose(self, view, actions): return actions[0]\n"
BOT = f"import harness\nclass Mine(harness.Bot):\n{CHOOSE}"
READS = f"from pathlib import Path\nTABLE = Path(__file__).with_name('table.txt').read_text()\n{BOT}"


@pytest.mark.parametrize(
    ("files", "bot", "said"),
    [
        ({"mine.py": f"import harness\nimport nosuchlib\n{BOT}"}, "mine.py",
         "mine.py cannot be loaded: ModuleNotFoundError: No module named 'nosuchlib' (mine.py, line 2)."),
        ({"mine.py": BOT + "\0"}, "mine.py", "mine.py cannot be loaded: syntax error: source code string cannot"),
        ({"mine.py": READS, "table.txt": "1"}, "mine.py", "No such file or directory: 'table.txt' (mine.py, line 2). "
         "table.txt is next to it; isolated, it sees only files that it declares: files = ('table.txt',)."),
        ({"mine.py": BOT}, "ismcts:guide=mine.py", "mine.py is a file, and guide names an installed bot."),
        ({}, "ismcts:guide=founder",
         "ismcts:guide=founder does not play El Paso: founder, which it consults, plays only x-pasch."),
        ({"mine/__init__.py": "", "mine/bot.py": BOT}, "mine",
         "mine is a package, and its __init__.py defines and imports no bot: import the class there"),
        ({}, f"cmd:{sys.executable} -S no_such_bot.py", "There is no file no_such_bot.py here."),
    ],
    ids=["no-such-module", "null-byte", "undeclared-file", "guide-is-a-file", "guide-of-another-game", "empty-package",
         "no-such-program"],
)  # fmt: skip
def test_the_error_names_what_the_author_has_to_change(files, bot, said):
    for name, text in files.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    isolate = "on" if "table.txt" in files else "off"
    assert said in " ".join(arena(*BASE, "--bot", "random", "--bot", bot, "--isolate", isolate, code=2).stderr.split())


def test_a_name_with_a_null_byte_is_refused():
    for bots, results in ((["random", "a\0.py"], "r"), (["random", "cmd:ls \0"], "r"), (["random", "diehard"], "r\0")):
        with pytest.raises(UsageError, match=r"null byte|cannot be the name"):
            harness.tournament(games=["el-paso"], bots=bots, deals=1, results=results)


def test_a_game_of_a_bot_that_is_not_played_is_mentioned():
    Path("mine.py").write_text(BOT.replace("'el-paso',", "'el-paso', 'gnadenlos'"))
    bots = ("--bot", "mine.py", "--bot", "random", "--deals", 1, "--workers", 0)
    said = " ".join(arena("tournament", *bots).stderr.split())
    assert "Gnadenlos! is not played: it needs 3 bots, and only mine and random play it." in said
    assert "is not played" not in arena("tournament", *bots, "--game", "el-paso", "--name", "one").stderr
    refused = " ".join(arena("tournament", "--bot", "mine.py", code=2).stderr.split())
    assert "No game has enough bots to play it. El Paso is not played: it needs 2 bots, and only mine pl" in refused


def test_unsuitable_folders_and_unknown_matches_are_refused():
    arena(*BASE, "--name", "a")
    assert "already holds a run" in arena(*BASE, "--name", "a", code=2).stderr
    Path("results/thesis").mkdir()
    Path("results/thesis/draft.txt").write_text("precious")
    assert "is not a run folder" in arena(*BASE, "--name", "thesis", code=2).stderr
    assert "has no run.json" in arena("leaderboard", "results/thesis", code=2).stderr
    Path("file").write_text("")
    assert "Cannot write to" in arena(*BASE, "--results", "file/below", code=2).stderr
    assert "Unknown match" in arena("replay", "a", "el-paso-9.9.9", code=2).stderr
    assert "has seats 0 to" in arena("replay", "a", "0", "--seat", 9, code=2).stderr
    assert "Unknown game of this run" in arena("leaderboard", "a", "--game", "chess", code=2).stderr


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "not = [toml", "are not TOML"),
        ("rate = 4", "rate = 0", "Expected `int` >= 1 - at `$.towns[0].rate`"),
        ("values = [1, 2, 3, 4, 5, 6, 7, 8]", "values = [1, 1, 3, 4, 5, 6, 7, 8]",
         "two raid cards of one site have the same value - at `$.cards`"),
        ("values = [1, 2, 3, 4, 5, 6, 7, 8]", "values = [1, 2]", "length >= 5 - at `$.cards.values`"),
        ("bank      = [1, 2, 3, 4, 4, 5]\n", "", "missing required field `bank`"),
        ("hotel     = [1, 2, 3, 4, 4, 5]", "hotel = []", "length >= 1 - at `$.tiles.hotel`"),
        ("hotel     = [1, 2, 3, 4, 4, 5]", "hotel = [-1]", "Expected `int` >= 1"),
        ('"star", "star", ', "", "at least one star in 6 die faces - at `$.dice`"),
        ('sites = ["bank", "saloon", "gold_mine",', 'sites = ["bank", "bank", "gold_mine",',
         "a site twice - at `$.towns[0]`"),
        ('name = "Deadwood"', 'nmae = "Deadwood"', "unknown field `nmae`"),
        ("[editions.nl]", "[editions.fr]", "editions"),
    ],
)  # fmt: skip
def test_components_that_break_the_game_are_refused(tmp_path, old, new, said):
    from harness import read_data_file

    text = read_data_file("engines.el_paso", "el_paso.toml")
    assert old in text
    file = tmp_path / "bad.toml"
    file.write_text(text.replace(old, new, 1) if old else new)
    assert said in " ".join(arena(*BASE, "--option", f"components={file}", code=2).stderr.split())


def test_components_without_towns_are_refused(tmp_path):
    import re

    from harness import read_data_file

    text = re.sub(r"\[\[towns\]\]\n(\w+ = .*\n)+", "", read_data_file("engines.el_paso", "el_paso.toml"))
    file = tmp_path / "bad.toml"
    file.write_text("towns = []\n" + text)
    assert "length >= 1 - at `$.towns`" in arena(*BASE, "--option", f"components={file}", code=2).stderr


SLIP = """
from harness import Bot

class Slip(Bot):
    games = ("el-paso", "x-pash")
    def choose(self, view, actions):
        return actions[0]
"""


def test_an_unknown_game_of_a_bot_is_reported_with_the_nearest_name(tmp_path):
    (tmp_path / "slip.py").write_text(SLIP)
    slip, said = f"{tmp_path / 'slip.py'}", "slip says that it plays 'x-pash', which is not installed. Did you mean"
    entered = ("tournament", "--game", "el-paso", "--bot", slip, "--bot", "random", "--deals", "1", "--workers", "0")
    assert arena(*entered, "--name", "a").stderr.count(f"Warning: {said} 'x-pasch'?") == 1
    assert said in arena(*entered, "--name", "b", "--strict", code=2).stderr
    assert said in arena("tournament", "--game", "x-pasch", "--bot", slip, "--bot", "founder", code=2).stderr
    assert "It says that it plays 'x-pash'" in arena("check", slip, "--matches", "1", code=1).stdout
