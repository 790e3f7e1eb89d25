"""Writes the golden playthroughs and stories: `python -m tests.golden.make` after a change that is meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from harness import Game
from harness.core.records import GameRecord, MatchSpec
from harness.match.referee import play
from harness.match.replay import narrate_match, stream
from tests.support.games import REGISTRY, label, variants

HERE = Path(__file__).parent


def path_of(game: Game[Any]) -> Path:
    return HERE / f"{label(game)}.jsonl"


def story_path(game: Game[Any]) -> Path:
    return HERE / f"{label(game)}.txt"


def played(game: Game[Any]) -> GameRecord:
    """One match of random bots with the fewest players the game allows."""
    players = game.min_players
    [bot] = REGISTRY.entrants(["random"])
    spec = MatchSpec("golden", 0, "golden", game.name, dict(game.settings), 2026, ("random",) * players)
    return play(spec, game, [bot] * players)


def playthrough(game: Game[Any]) -> str:
    """The match as replay lines."""
    return "".join(msgspec.json.encode(line).decode() + "\n" for line in stream(game, played(game)))


def story(game: Game[Any]) -> str:
    """The same match in words, with the table of seat 0 at each of its decisions; each player has another name."""
    record = replace(played(game), seats=("ann", "bob", "cleo", "dan", "eve")[: game.min_players])
    return "".join(line + "\n" for line in narrate_match(game, record, 0))


if __name__ == "__main__":
    for game in variants():
        path_of(game).write_text(playthrough(game), encoding="utf-8")
        story_path(game).write_text(story(game), encoding="utf-8")
