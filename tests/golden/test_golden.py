"""A recorded playthrough of every game and variant must come out the same, word for word."""

from __future__ import annotations

import pytest

from tests.golden.make import HERE, path_of, playthrough, story, story_path
from tests.support.games import label, variants


@pytest.mark.parametrize("game", variants(), ids=label)
def test_the_game_matches_its_golden_playthrough(game):
    path = path_of(game)
    assert path.exists(), (
        f"{label(game)} has no golden playthrough: run python -m tests.golden.make and read what it wrote"
    )
    for number, (old, new) in enumerate(
        zip(path.read_text(encoding="utf-8").splitlines(), playthrough(game).splitlines(), strict=True), 1
    ):
        assert new == old, (
            f"{path.name}, line {number}: if the change is meant, bump the game's version and make it anew"
        )


@pytest.mark.parametrize("game", variants(), ids=label)
def test_the_story_of_a_match_is_its_golden_story(game):
    told = story(game)
    assert told == story_path(game).read_text(encoding="utf-8")
    # Headings name the seats once; after them every player is called by name.
    assert "seat " not in told.split("\n", 1 + game.min_players)[-1].lower()


def test_every_golden_file_belongs_to_a_game():
    for suffix, others in (("jsonl", {"bots"}), ("txt", set())):
        assert {path.stem for path in HERE.glob(f"*.{suffix}")} == {label(game) for game in variants()} | others
