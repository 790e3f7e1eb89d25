"""Python-chess's loop: random moves until the board says that the game is over."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from random import Random

import chess


def prepare(_workload: str) -> Callable[[int], int]:
    """Chess; both sides see all of the board, so nothing is asked for."""

    def match(seed: int) -> int:
        random, choices = Random(seed).random, 0
        board = chess.Board()
        while not board.is_game_over():
            legal = list(board.legal_moves)
            choices += len(legal) > 1
            board.push(legal[int(random() * len(legal))])
        return choices

    return match


def versions() -> dict[str, str]:
    """Of what is measured."""
    return {"chess": version("chess")}
