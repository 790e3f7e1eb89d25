"""What the pages tell newcomers to do works, and prints what they say."""

from __future__ import annotations

import re

import pytest

from harness.new_package.files import bot_contents
from harness.plugins.registry import load
from tests.docs.fresh import Fresh
from tests.docs.pages import DOCS, EXAMPLE, blocks, follow, lay_out, matches


@pytest.fixture
def fresh(tmp_path):
    return Fresh(tmp_path / "newcomer")


def check(page, fresh):
    """Does what a page says; returns how many commands there were."""
    done = 0
    for command, shown, printed in follow(DOCS / page, fresh):
        assert matches(shown, printed), f"$ {command}\n\n" + "\n".join(printed)
        done += 1
    return done


def test_the_tutorial_does_what_it_says(fresh):
    assert check("tutorial.md", fresh) >= 8


def test_writing_bots_does_what_it_says(fresh):
    pytest.importorskip("numpy", reason="the page installs numpy, which is taken from here")
    assert check("bots.md", fresh) >= 6


def test_the_tutorial_shows_the_bot_that_new_bot_makes():
    made = bot_contents("sprinter", load().game("el-paso"), "python", "")["sprinter_bot.py"]
    shown = [block.text for block in blocks(DOCS / "tutorial.md") if block.language == "python"]
    assert shown
    assert all(text in made for text in shown)


def test_adding_a_game_does_what_it_says(fresh):
    lay_out(fresh)
    assert check("add-a-game.md", fresh) >= 4


def test_adding_a_game_shows_the_example_as_it_is():
    shown = [block.text for block in blocks(DOCS / "add-a-game.md") if block.language == "python" and not block.path]
    example = EXAMPLE.read_text()
    assert len(shown) >= 4
    for text in shown:
        for part in text.split("    ...\n"):
            assert part.strip("\n") in example, part


@pytest.mark.parametrize("page", ["tutorial.md", "bots.md", "add-a-game.md"])
def test_links_lead_to_existing_files(page):
    targets = re.findall(r"\]\(([^)#:]+)\)", (DOCS / page).read_text())
    assert targets
    missing = [target for target in targets if not (DOCS / target).exists()]
    assert not missing


def test_output_that_differs_from_the_page_is_detected():
    printed = ["a  1.5%   better", "", "b  2"]
    assert matches(["a  77%  better", "b 3"], printed)
    assert matches(["a 1% better", "..."], printed)
    assert matches(["...", "b 9"], printed)
    assert not matches(["a 1% worse", "b 2"], printed)
    assert not matches(["a 1% better"], printed)
    assert not matches(["b 2", "a 1% better"], printed)
