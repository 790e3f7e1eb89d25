"""Named luck streams: a draw is a function of the match seed and of its name, never of earlier draws.

`chance.dice(5, 6, "dice", town, round)` gives the same five dice whatever the bots did before. The numbers come from
keyed BLAKE2b over the parts of the name joined by "/", so that they can be checked in any language: see docs/luck.md.

mypyc compiles this module. `number_for` takes its name as one tuple, because passing *args along costs a new tuple at
each call. Large numbers are divided by numbers below 2**30, which is fast because Python's have digits of 30 bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from random import Random
from typing import Final, TypeVar

from mypy_extensions import i64, mypyc_attr

T = TypeVar("T")
Part = str | int

_BLOCK_BITS: Final = 512
_SPARE_BITS: Final = 64  # more bits than the draw needs: the bias of reducing them stays below 2**-64
_MAX_DRAW_BITS: Final = 512 - 64
"""Bits that a draw can use before one number may not be enough."""
_SMALL_BITS: Final = 30
"""Divisions by numbers below this size are fast: a draw splits off as many digits at once as fit."""

_number: Final = int.from_bytes
_cuts: Final[dict[int, list[tuple[int, int, int]]]] = {}
"""Number of items -> how to split a number for their order: see `_cuts_for`."""
_powers: Final[dict[int, int]] = {}
"""Number of sides -> the number of results of as many dice as are split off at once."""
_encoded: Final[dict[tuple[Part, ...], bytes]] = {}
"""Names as they are hashed: the same ones recur in each match."""
_MAX_ENCODED: Final = 5000


@mypyc_attr(allow_interpreted_subclasses=True)
class Chance:
    """All luck of one match. A subclass with a different source of luck overrides `number_for`."""

    __slots__ = ("_new_hash", "seed")

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._new_hash = blake2b(key=seed.to_bytes(16, "big")).copy

    def __repr__(self) -> str:
        return f"Chance({self.seed})"

    def __reduce__(self) -> tuple[type[Chance], tuple[int]]:
        return Chance, (self.seed,)

    def number(self, *where: Part) -> int:
        """Return the 512-bit number that belongs to this name."""
        return self.number_for(where)

    def number_for(self, where: tuple[Part, ...]) -> int:
        """Return the number of a name given as a tuple; all luck comes from here."""
        name = _encoded.get(where)
        if name is None:
            if len(_encoded) >= _MAX_ENCODED:
                _encoded.clear()
            # In decimal, whatever the type of a whole number: 1 and True are one key.
            name = "/".join([part if isinstance(part, str) else f"{part:d}" for part in where]).encode()
            _encoded[where] = name
        hashed = self._new_hash()
        hashed.update(name)
        return _number(hashed.digest(), "big")

    def pick(self, n: int, *where: Part) -> int:
        """Return a number from 0 to n - 1."""
        return self.number_for(where) % n

    def dice(self, count: int, sides: int, *where: Part) -> tuple[int, ...]:
        """Return `count` numbers from 0 to sides - 1; the first ones are the same for any count."""
        if count * sides.bit_length() > _MAX_DRAW_BITS or sides >= 1 << _SMALL_BITS:
            return tuple(self._digits([sides] * count, where))
        rest = self.number_for(where)  # the same digits as `_digits`, without counting bits: this is on the hot path
        at_once = _SMALL_BITS // sides.bit_length()
        cut = _powers.get(sides) or _powers.setdefault(sides, sides**at_once)
        base: i64 = sides
        rolled: list[int] = []
        while count > 0:
            low: i64 = rest % cut
            some = min(at_once, count)
            count -= some
            if count:
                rest //= cut
            for _ in range(some):
                rolled.append(low % base)
                low //= base
        return tuple(rolled)

    def shuffled(self, items: Iterable[T], *where: Part) -> list[T]:
        """Return the items in an order that belongs to this name."""
        order = list(items)
        size = len(order)
        if size * size.bit_length() > _MAX_DRAW_BITS:
            for i, j in zip(range(size - 1, 0, -1), self._digits(range(size, 1, -1), where), strict=True):
                order[i], order[j] = order[j], order[i]
            return order
        rest = self.number_for(where)
        for last, first, cut in _cuts.get(size) or _cuts_for(size):  # avoids counting bits, too
            low: i64 = rest % cut
            if first > 1:
                rest //= cut
            for i in range(last, first - 1, -1):
                j = low % (i + 1)
                low //= i + 1
                order[i], order[j] = order[j], order[i]
        return order

    def _digits(self, bases: Iterable[int], where: tuple[Part, ...]) -> Iterator[int]:
        """Yield the digits of this name's number in these bases, lowest first, with further numbers when one is used
        up."""
        # Each digit uses up its bits. A new number is drawn while spare bits are left, which keep the bias small.
        rest, bits, block = self.number_for(where), _BLOCK_BITS, 0
        for base in bases:
            size = base.bit_length()
            if bits < _SPARE_BITS + size:
                block += 1
                rest, bits = self.number_for((*where, "block", block)), _BLOCK_BITS
            rest, digit = divmod(rest, base)
            bits -= size
            yield digit

    def derive(self, *where: Part) -> int:
        """Return a 48-bit seed (48 bits survive any JSON reader)."""
        return self.number_for(where) & 0xFFFF_FFFF_FFFF

    def rng(self, *where: Part) -> Random:
        """Return a seeded generator for a bot or its stand-in: luck of the game never comes from one."""
        return Random(self.derive(*where))


def _cuts_for(size: int) -> list[tuple[int, int, int]]:
    """Return which positions of an order are drawn from one small number: first and last position, and the product of
    their bases, by which the large number is reduced."""
    cuts: list[tuple[int, int, int]] = []
    last = size - 1
    while last > 0:
        cut, first = last + 1, last
        # As many positions as fit: one division of the large number then serves all of them.
        while first > 1 and cut * first < 1 << _SMALL_BITS:
            cut *= first
            first -= 1
        cuts.append((last, first, cut))
        last = first - 1
    _cuts[size] = cuts
    return cuts
