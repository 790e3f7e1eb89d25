"""Type wrong things: one clear sentence, the nearest match, exit code 2, no traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import arena

BASE = ("tournament", "--game", "el-paso", "--deals", 1)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("tournamnet",), "Did you mean 'tournament'?"),
        (("tournament", "--game", "el-pasa"), "Unknown game 'el-pasa'. Did you mean 'el-paso'?"),
        (("bench", "--game", "chess"), "Unknown game 'chess'. Choose from: "),
        (("bots", "--game", "el-pazo"), "Did you mean 'el-paso'?"),
        ((*BASE, "--bot", "randon"), "Unknown bot 'randon'. Did you mean 'random'?"),
        ((*BASE, "--bot", "skittish:star=2"), "Did you mean 'stars'?"),
        ((*BASE, "--bot", "skittish:stars=nine"), "it takes a whole number from 1 to 5"),
        ((*BASE, "--bot", "random", "--bot", "random"), "random is entered twice"),
        ((*BASE, "--bot", "random"), "needs at least 2 bots"),
        ((*BASE, "--bot", "nowhere.py"), "There is no file nowhere.py"),
        ((*BASE, "--option", "editon=nl"), "Unknown option of El Paso 'editon'. Did you mean 'edition'?"),
        ((*BASE, "--option", "edition=xx"), "Choose from: bg, de, nl"),
        ((*BASE, "--option", "edition"), "write --option key=value"),
        ((*BASE, "--option", "components=missing.toml"), "cannot read missing.toml"),
        ((*BASE, "--players", 1), "El Paso is for 2 to 5 players, not 1."),
        ((*BASE, "--players", 6), "El Paso is for 2 to 5 players, not 6."),
        (("bench", "--costs", "--bot", "random"), "--costs measures what the games ask of any bot; leave out --bot"),
        (("bench", "--against", "chess", "--bot", "random"), "A comparison plays with random bots on one core"),
        (("bench", "--idle", "--bot", "random"), "--idle simulates runs of games; leave out what else is measured"),
        (("bench", "--shares", "--against", "chess"), "--shares takes arenas apart"),
        (("bench", "--against", "gnugo"), "'gnugo' is not one of 'catanatron'"),
        (("bench", "--game", "el-paso", "--players", 9), "El Paso is for 2 to 5 players, not 9."),
        (("tournament", "--deals", 0), "0 is not in the range 1<=x"),
        (("tournament", "--deals", "many"), "'many' is not a valid integer"),
        (("tournament", "--move-time", -1), "not in the range x>=0"),
        (("tournament", "--name", "../up"), "cannot be the name of a folder"),
        (("tournament", "-f", "papyrus"), "Unknown table format 'papyrus'"),
        (("tournament", "--resume", "nowhere"), "There is no run 'nowhere'."),
        (("tournament", "--resume", "nowhere", "--seed", 3), "leave out --seed."),
        (("leaderboard", "nowhere"), "There is no run 'nowhere'."),
        (("verify", "nowhere"), "There is no run 'nowhere'."),
        (("replay", "nowhere", "1"), "There is no run 'nowhere'."),
    ],
)  # fmt: skip
def test_invalid_arguments_get_one_error_sentence(args, said):
    assert said in " ".join(arena(*args, code=2).stderr.split())


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
        ("rate = 4", "rate = 0", "rate"),
        ("values = [1, 2, 3, 4, 5, 6, 7, 8]", "values = [1, 1, 3, 4, 5, 6, 7, 8]", "two raid cards of one site"),
        ("values = [1, 2, 3, 4, 5, 6, 7, 8]", "values = [1, 2]", "at least 5 raid cards"),
        ("bank      = [1, 2, 3, 4, 4, 5]\n", "", "missing required field `bank`"),
        ("hotel     = [1, 2, 3, 4, 4, 5]", "hotel = []", "a site has no tiles"),
        ("hotel     = [1, 2, 3, 4, 4, 5]", "hotel = [-1]", "Expected `int` >= 1"),
        ('"star", "star", ', "", "no die face is a star"),
        ('sites = ["bank", "saloon", "gold_mine",', 'sites = ["bank", "bank", "gold_mine",', "a site twice"),
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
    assert "there are no towns" in arena(*BASE, "--option", f"components={file}", code=2).stderr


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
