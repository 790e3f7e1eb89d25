"""Sorted tuples of values: put one in, take one out."""

# mypyc compiles this module: functions of typed values only; structs are in interpreted modules (core/compiled.py).

from __future__ import annotations

from typing import Final, TypeVar

T = TypeVar("T")

Values = tuple[int, ...]
BySite = tuple[Values, ...]
NOTHING: Final[BySite] = ((),) * 6
"""No cards or tiles at any site."""


def put(values: Values, value: int) -> Values:
    """Return the values with one more, sorted."""
    size = len(values)
    if size == 0:
        return (value,)
    if size == 1:
        other = values[0]
        return (value, other) if value < other else (other, value)
    more = list(values)
    more.append(value)
    more.sort()
    return tuple(more)


def drop(values: Values, value: int) -> Values:
    """Return the values with one fewer."""
    size = len(values)
    if size == 1 and values[0] == value:
        return ()
    if size == 2:
        first, second = values
        if first == value:
            return (second,)
        if second == value:
            return (first,)
    fewer = list(values)
    fewer.remove(value)
    return tuple(fewer)


def replaced(values: tuple[T, ...], seat: int, value: T) -> tuple[T, ...]:
    """Return the values with another one for this seat."""
    if len(values) == 4:  # written out for four seats: called several times in a round
        first, second, third, fourth = values
        if seat == 0:
            return value, second, third, fourth
        if seat == 1:
            return first, value, third, fourth
        return (first, second, value, fourth) if seat == 2 else (first, second, third, value)
    after = list(values)
    after[seat] = value
    return tuple(after)


def at_site(by_site: BySite, site: int, values: Values) -> BySite:
    """Return the same with other values at one site."""
    first, second, third, fourth, fifth, sixth = by_site  # written out: called twice for each card
    if site < 3:
        if site == 0:
            return values, second, third, fourth, fifth, sixth
        if site == 1:
            return first, values, third, fourth, fifth, sixth
        return first, second, values, fourth, fifth, sixth
    if site == 3:
        return first, second, third, values, fifth, sixth
    if site == 4:
        return first, second, third, fourth, values, sixth
    return first, second, third, fourth, fifth, values


def how_many(by_site: BySite) -> int:
    """Return the number of cards or tiles of all sites."""
    count = 0
    for values in by_site:
        count += len(values)
    return count


def merge(pool: BySite, more: BySite) -> BySite:
    """Return what is in the bag or the box when these tiles are put into it."""
    merged = list(pool)
    for site, values in enumerate(more):
        if values:
            merged[site] = tuple(sorted(pool[site] + values))
    return tuple(merged)


def minus(by_site: BySite, fewer: BySite) -> BySite:
    """Return what is left of the tiles when some are taken away."""
    rest: list[Values] = []
    for site, values in enumerate(by_site):
        for value in fewer[site]:
            values = drop(values, value)
        rest.append(values)
    return tuple(rest)
