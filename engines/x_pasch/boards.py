"""Boards as immutable counts: one tuple for each company, with the members of each seat."""

# mypyc compiles this module: functions of typed values only; structs are in interpreted modules (core/compiled.py).

from __future__ import annotations

from typing import TypeVar

from harness import NOBODY

T = TypeVar("T")


def leader(board: tuple[int, ...]) -> int:
    """Return the one seat with most members; `NOBODY` if there is a tie (XP-5)."""
    most, alone = board[0], 0
    for seat in range(1, len(board)):
        members = board[seat]
        if members > most:
            most, alone = members, seat
        elif members == most:
            alone = NOBODY
    return alone


def place_of(company: int, table: tuple[int, ...]) -> int:
    """Return where a company lies that is on the table."""
    at = 0
    while table[at] != company:
        at += 1
    return at


def replaced(values: tuple[T, ...], at: int, value: T) -> tuple[T, ...]:
    """Return the values with one of them replaced."""
    if len(values) == 4:  # written out for four seats: called several times at every decision
        first, second, third, fourth = values
        if at == 0:
            return value, second, third, fourth
        if at == 1:
            return first, value, third, fourth
        return (first, second, value, fourth) if at == 2 else (first, second, third, value)
    changed = list(values)
    changed[at] = value
    return tuple(changed)


def lowest_alone(euros: tuple[int, ...]) -> int:
    """Return the one seat with fewest euros; `NOBODY` if there is a tie (XP-7)."""
    fewest = min(euros)
    return euros.index(fewest) if euros.count(fewest) == 1 else NOBODY
