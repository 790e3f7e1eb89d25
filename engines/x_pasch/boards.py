"""Boards as immutable counts: one tuple for each company, with the members of each seat."""

from __future__ import annotations

from typing import TypeVar

from harness import NOBODY

T = TypeVar("T")


def leader(board: tuple[int, ...]) -> int:
    """The one seat with most members; NOBODY if there is a tie (XP-5)."""
    most = max(board)
    return board.index(most) if board.count(most) == 1 else NOBODY


def replaced(values: tuple[T, ...], at: int, value: T) -> tuple[T, ...]:
    """The values with one of them replaced."""
    return (*values[:at], value, *values[at + 1 :])


def lowest_alone(euros: tuple[int, ...]) -> int:
    """The one seat with fewest euros; NOBODY if there is a tie (XP-7)."""
    fewest = min(euros)
    return euros.index(fewest) if euros.count(fewest) == 1 else NOBODY
