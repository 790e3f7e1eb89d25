"""Luck that a test chooses: named draws are replaced, all others stay as the seed has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from harness import Chance

T = TypeVar("T")


class RiggedChance(Chance):
    """A Chance whose draws of given names are set by the test, e.g. `{("dice", 0, 1): (0, 0, 0)}`.

    For `dice` the value is the faces, for `pick` the number, for `shuffled` the whole order.
    """

    __slots__ = ("rigged",)

    def __init__(self, rigged: Mapping[tuple[str | int, ...], Any], seed: int = 1) -> None:
        super().__init__(seed)
        self.rigged = dict(rigged)

    def pick(self, n: int, *where: str | int) -> int:
        if where in self.rigged:
            chosen: int = self.rigged[where]
            assert 0 <= chosen < n, f"{where} is rigged to {chosen}, but there are only {n}"
            return chosen
        return super().pick(n, *where)

    def dice(self, count: int, sides: int, *where: str | int) -> tuple[int, ...]:
        if where in self.rigged:
            faces = tuple(self.rigged[where])
            assert len(faces) >= count, f"{where} is rigged with {len(faces)} dice, {count} are rolled"
            return faces[:count]
        return super().dice(count, sides, *where)

    def shuffled(self, items: Iterable[T], *where: str | int) -> list[T]:
        items = list(items)
        if where in self.rigged:
            order: list[T] = list(self.rigged[where])
            assert sorted(map(repr, order)) == sorted(map(repr, items)), f"{where} is rigged with other items"
            return order
        return super().shuffled(items, *where)
