"""Writes the golden playthroughs: `python -m tests.golden.make` after a change of rules that is meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from harness import Game
from harness.core.records import MatchSpec
from harness.match.referee import play
from harness.match.replay import stream
from tests.support.games import REGISTRY, label, variants

HERE = Path(__file__).parent


def path_of(game: Game[Any]) -> Path:
    return HERE / f"{label(game)}.jsonl"


def playthrough(game: Game[Any]) -> str:
    """One match of random bots with the fewest players the game allows, as replay lines."""
    players = game.min_players
    [bot] = REGISTRY.entrants(["random"])
    spec = MatchSpec("golden", 0, "golden", game.name, dict(game.settings), 2026, ("random",) * players)
    record = play(spec, game, [bot] * players)
    return "".join(msgspec.json.encode(line).decode() + "\n" for line in stream(game, record))


if __name__ == "__main__":
    for game in variants():
        path_of(game).write_text(playthrough(game), encoding="utf-8")
