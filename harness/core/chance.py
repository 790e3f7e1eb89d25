"""Named luck streams: a draw is a function of the match seed and of what it is for, never of what was drawn before.

`chance.dice(5, 6, "dice", town, round)` gives the same five dice whatever the bots did on the way there.
The numbers come from keyed BLAKE2b over the parts of the name joined by "/", so that they can be
checked in any language: see docs/luck.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from random import Random
from typing import TypeVar

T = TypeVar("T")
Part = str | int

_BLOCK_BITS = 512
_SPARE_BITS = 64  # more bits than the draw needs: the bias of reducing them stays below 2**-64
_PLENTY = _BLOCK_BITS - _SPARE_BITS
"""Bits that a draw may need before it could run short of one number."""


class Chance:
    """All the luck of one match."""

    __slots__ = ("_key", "seed")

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._key = seed.to_bytes(16, "big")

    def __repr__(self) -> str:
        return f"Chance({self.seed})"

    def __reduce__(self) -> tuple[type[Chance], tuple[int]]:
        return Chance, (self.seed,)

    def number(self, *where: Part) -> int:
        """A 512-bit number that belongs to this name."""
        name = "/".join(map(str, where)).encode()
        return int.from_bytes(blake2b(name, key=self._key).digest(), "big")

    def pick(self, n: int, *where: Part) -> int:
        """A number from 0 to n - 1."""
        return self.number(*where) % n

    def dice(self, count: int, sides: int, *where: Part) -> tuple[int, ...]:
        """`count` numbers from 0 to sides - 1; the first ones are the same for any count."""
        if count * sides.bit_length() > _PLENTY:
            return tuple(self._digits((sides for _ in range(count)), where))
        rest = self.number(*where)
        rolled = []
        for _ in range(count):  # the same digits, without counting bits: this is on the hot path
            rest, face = divmod(rest, sides)
            rolled.append(face)
        return tuple(rolled)

    def shuffled(self, items: Iterable[T], *where: Part) -> list[T]:
        """The items in an order that belongs to this name."""
        order = list(items)
        size = len(order)
        if size * size.bit_length() > _PLENTY:
            for i, j in zip(range(size - 1, 0, -1), self._digits(range(size, 1, -1), where), strict=True):
                order[i], order[j] = order[j], order[i]
            return order
        rest = self.number(*where)
        for i in range(size - 1, 0, -1):  # likewise
            rest, j = divmod(rest, i + 1)
            order[i], order[j] = order[j], order[i]
        return order

    def _digits(self, bases: Iterable[int], where: tuple[Part, ...]) -> Iterator[int]:
        """The digits of this name's number in these bases, lowest first; further numbers where it has not enough."""
        rest, bits, block = self.number(*where), _BLOCK_BITS, 0
        for base in bases:
            size = base.bit_length()
            if bits < _SPARE_BITS + size:
                block += 1
                rest, bits = self.number(*where, "block", block), _BLOCK_BITS
            rest, digit = divmod(rest, base)
            bits -= size
            yield digit

    def derive(self, *where: Part) -> int:
        """A 48-bit seed of its own (48 bits survive any JSON reader)."""
        return self.number(*where) & 0xFFFF_FFFF_FFFF

    def rng(self, *where: Part) -> Random:
        """A generator of its own, for a bot or a stand-in: luck of the game never comes from one."""
        return Random(self.derive(*where))
