"""Sorted tuples of values: put one in, take one out."""

from __future__ import annotations

from bisect import bisect_right

from engines.el_paso.view import BySite, Values


def put(values: Values, value: int) -> Values:
    """The values with one more, sorted."""
    at = bisect_right(values, value)
    return (*values[:at], value, *values[at:])


def drop(values: Values, value: int) -> Values:
    """The values with one fewer."""
    at = values.index(value)
    return values[:at] + values[at + 1 :]


def at_site(by_site: BySite, site: int, values: Values) -> BySite:
    """The same with other values at one site."""
    return (*by_site[:site], values, *by_site[site + 1 :])


def merge(pool: list[Values], more: BySite | list[Values]) -> None:
    """Put tiles into the bag or the box."""
    for site, values in enumerate(more):
        if values:
            pool[site] = tuple(sorted(pool[site] + values))


def minus(by_site: BySite, fewer: BySite) -> BySite:
    """What is left of the tiles when some are taken away."""
    rest = []
    for values, gone in zip(by_site, fewer, strict=True):
        for value in gone:
            values = drop(values, value)
        rest.append(values)
    return tuple(rest)
