"""Sorted tuples of values: put one in, take one out."""

# mypyc compiles this module: functions of typed values only; structs are in interpreted modules (core/compiled.py).

from __future__ import annotations

Values = tuple[int, ...]
BySite = tuple[Values, ...]


def put(values: Values, value: int) -> Values:
    """Return the values with one more, sorted."""
    more = list(values)
    more.append(value)
    more.sort()
    return tuple(more)


def drop(values: Values, value: int) -> Values:
    """Return the values with one fewer."""
    fewer = list(values)
    fewer.remove(value)
    return tuple(fewer)


def replaced(values: Values, seat: int, value: int) -> Values:
    """Return the values with another one for this seat."""
    after = list(values)
    after[seat] = value
    return tuple(after)


def at_site(by_site: BySite, site: int, values: Values) -> BySite:
    """Return the same with other values at one site."""
    after = list(by_site)
    after[site] = values
    return tuple(after)


def how_many(by_site: BySite) -> int:
    """Return the number of cards or tiles of all sites."""
    count = 0
    for values in by_site:
        count += len(values)
    return count


def merge(pool: list[Values], more: BySite | list[Values]) -> None:
    """Put tiles into the bag or the box."""
    for site, values in enumerate(more):
        if values:
            pool[site] = tuple(sorted(pool[site] + values))


def minus(by_site: BySite, fewer: BySite) -> BySite:
    """Return what is left of the tiles when some are taken away."""
    rest = []
    for site, values in enumerate(by_site):
        for value in fewer[site]:
            values = drop(values, value)
        rest.append(values)
    return tuple(rest)
