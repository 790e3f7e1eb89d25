"""docs/bots.md: the bots that it shows are fit, play, and do what the page says of them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import harness
from harness.conformance.bot_check import check_bot
from harness.plugins.registry import load
from tests.docs.pages import DOCS, blocks

PAGE = DOCS / "bots.md"
EXAMPLES = DOCS / "examples" / "bots"
BOTS = {"follower.py": "el-paso", "one_ply.py": "x-pasch", "network.py": "el-paso"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The examples, and the weights that the training makes."""
    pytest.importorskip("numpy", reason="a bot of the page needs it: pip install numpy")
    folder = tmp_path_factory.mktemp("examples")
    for file in EXAMPLES.glob("*.py"):
        shutil.copy(file, folder)
    subprocess.run([sys.executable, "train.py"], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("file", BOTS)
def test_a_bot_of_the_page_is_fit_and_plays(file, folder):
    game = BOTS[file]
    entrants = load().entrants([str(folder / file)])
    check_bot(entrants[0], [load().game(game).configure()]).demand()
    players = load().game(game).min_players
    match = harness.play_match(game, [str(folder / file), *["random"] * (players - 1)], seed=1)
    assert match.faults == ()


def test_the_model_learns_when_rivals_leave(folder):
    """What it has collected at the end of a match is what happened in it."""
    [entrant] = load().entrants([str(folder / "follower.py")])
    made = []

    class Watched(entrant.bot):
        def finish(self, record):
            made.append(self.left_at)

    match = harness.play_match("el-paso", [Watched, "skittish", "diehard"], seed=3)
    left = [(turn.seat, turn.view.stars) for turn in match.positions() if turn.chosen.kind == "leave"]
    for seat, stars in enumerate(made[0]):
        happened = [each for who, each in left if who == seat]
        assert stars == happened[: len(stars)]
        assert len(stars) >= len(happened) - 1  # what comes after its own last decision is never told
    assert made[0][1]


def test_the_search_bot_chooses_by_the_outcome_of_its_actions(folder):
    """With its eyes shut it takes the first action; so what it chooses comes from the worlds it has tried."""
    [entrant] = load().entrants([str(folder / "one_ply.py")])

    class Blind(entrant.bot):
        name = "blind"

        def worth(self, view):
            return 0.0

    seeing = harness.play_match("x-pasch", [entrant.bot, "founder", "raider"], seed=1)
    blind = harness.play_match("x-pasch", [Blind, "founder", "raider"], seed=1)
    assert all(turn.chosen is turn.legal[0] for turn in blind.positions(0))
    assert seeing.scores[0] > blind.scores[0]


def test_the_network_bot_plays_with_the_weights_beside_it(folder, tmp_path):
    """Other weights beside the same file are another bot, and play otherwise."""
    import numpy as np

    for file in ("network.py", "features.py"):
        shutil.copy(folder / file, tmp_path)
    with np.load(folder / "weights.npz") as kept:
        np.savez(tmp_path / "weights.npz", hidden=kept["hidden"], out=-kept["out"])
    trained, reversed_ = load().entrants([f"one={folder / 'network.py'}", f"other={tmp_path / 'network.py'}"])
    assert trained.version != reversed_.version
    scores = [
        harness.play_match("el-paso", [str(place / "network.py"), "skittish"], seed=1).scores[0]
        for place in (folder, tmp_path)
    ]
    assert scores[0] > scores[1]


def test_the_lines_for_pytorch_work(folder, tmp_path):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    [block] = [block.text for block in blocks(PAGE) if block.language == "py"]
    weights = torch.nn.Sequential(torch.nn.Linear(9, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)).state_dict()
    torch.save(weights, tmp_path / "weights.pt")
    names = {"Path": Path, "__file__": str(tmp_path / "bot.py")}
    exec(block, names)  # noqa: S102 - the code is our own page's
    said = re.search(r"`(NET\(.*?\) > 0)`", PAGE.read_text(encoding="utf-8"))
    view = harness.play_match("el-paso", ["random", "random"], seed=1).view(0)
    sys.path.insert(0, str(folder))
    try:
        from features import features
    finally:
        sys.path.remove(str(folder))
    with torch.inference_mode():
        assert bool(eval(said[1], {**names, "features": features, "view": view})) in (True, False)  # noqa: S307


def test_commands_that_the_page_names_exist():
    """What it tells to type is there, with the options that it names."""
    from click import Context

    from harness.cli.main import main
    from harness.plugins.features import COMMANDS

    page = PAGE.read_text(encoding="utf-8")
    typed = re.findall(r"^(?:\$ |    )(arena [^\n]+)|`(arena [^`]+)`", page, re.MULTILINE)
    for line in filter(None, (word for pair in typed for word in pair)):
        _, command, *words = line.split()
        assert command in COMMANDS, line
        known = {each for param in main.get_command(Context(main), command).params for each in param.opts}
        assert [word for word in words if word.startswith("--") and word not in known] == [], line
