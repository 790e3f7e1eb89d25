"""Which bids a hand can form: asked at every bid, so a sum is a bit. Nothing is kept: hands are secret (GN-41)."""

# mypyc compiles this module: plain classes with typed attributes, because it silently loses what makes structs and
# dataclasses frozen, and reads typed attributes like fields of a C struct.

from __future__ import annotations

from typing import Final

from engines.gnadenlos.actions import Bid, Pay
from engines.gnadenlos.cards import Iou

COLOUR_COUNT: Final = 4  # as in COLOURS
BYTE: Final = 8
"""Sums are looked up this many at a time."""


class Kind:
    """IOUs of one value and colour."""

    __slots__ = ("number", "value")

    def __init__(self, value: int, number: int) -> None:
        self.value = value
        self.number = number
        """From 1. The numbers of a bid's IOUs are the digits of its place in `Bids._pays`."""


class Bids:
    """Finds the sums and the ways to pay them, among the bids of one set of components."""

    def __init__(self, bids: dict[int, Bid], pays: dict[tuple[Iou, ...], Pay]) -> None:
        # Byte n of a sum's bits -> the bids of the sums from 8 * n on whose bits are set.
        self._bids: list[list[tuple[Bid, ...]]] = [
            [tuple([bids[total] for total in _bits(8 * byte, bits) if total in bids]) for bits in range(1 << BYTE)]
            for byte in range(max(bids) // BYTE + 1)
        ]
        single = [ious[0] for ious in pays if len(ious) == 1]
        self._kinds: list[Kind] = [Kind(0, 0)] * (COLOUR_COUNT * (single[-1].value + 1))
        for number, (value, colour) in enumerate(single, start=1):
            self._kinds[COLOUR_COUNT * value + colour] = Kind(value, number)
        self._base = len(single) + 1
        self._pays: list[Pay] = [next(iter(pays.values()))] * self._base**3
        """Most places stand for no bid and are not read. Compiled, a list is far faster than a dict."""
        for ious, pay in pays.items():
            place = 0
            for value, colour in ious:
                place = place * self._base + self._kinds[COLOUR_COUNT * value + colour].number
            self._pays[place] = pay

    def sums(self, hand: tuple[Iou, ...], taken: tuple[int, ...]) -> tuple[Bid, ...]:
        """Return the sums that one to three IOUs of a hand can form, ascending, without those that are taken."""
        one = two = three = 0  # bit n: this many IOUs can form the sum n
        for value, _ in hand:
            # In this order, so that an IOU is not added to a sum that contains it already.
            three |= two << value
            two |= one << value
            one |= 1 << value
        formed = one | two | three
        for total in taken:
            if total >= 0 and formed >> total & 1:
                formed ^= 1 << total
        legal: tuple[Bid, ...] = ()
        for bids in self._bids:
            legal += bids[formed & (1 << BYTE) - 1]
            formed >>= BYTE
        return legal

    def ways(self, hand: tuple[Iou, ...], total: int) -> tuple[Pay, ...]:
        """Return the ways to form a sum from a sorted hand, fewest IOUs first."""
        pays, base = self._pays, self._base
        kinds, copies = self._kinds_up_to(hand, total)
        end = len(kinds)
        one: list[Pay] = []
        two: list[Pay] = []
        three: list[Pay] = []
        for a in range(end):
            first = kinds[a]
            left = total - first.value
            if left == 0:
                one.append(pays[first.number])
            # Kinds are sorted: combinations in ascending order, a kind again only while there are copies of it.
            for b in range(a if copies[a] > 1 else a + 1, end):
                second = kinds[b]
                rest = left - second.value
                place = first.number * base + second.number
                if rest == 0:
                    two.append(pays[place])
                if rest >= second.value:
                    for c in range(b if copies[b] > (2 if a == b else 1) else b + 1, end):
                        third = kinds[c]
                        if third.value > rest:
                            break
                        if third.value == rest:
                            three.append(pays[place * base + third.number])
                elif rest < 0:
                    break
        one += two
        one += three
        return tuple(one)

    def _kinds_up_to(self, hand: tuple[Iou, ...], most: int) -> tuple[list[Kind], list[int]]:
        """Return the different IOUs of a sorted hand up to this value, and how many of each there are."""
        kinds: list[Kind] = []
        copies: list[int] = []
        end = 0
        for value, colour in hand:
            kind = self._kinds[COLOUR_COUNT * value + colour]
            if end and kind is kinds[end - 1]:
                copies[end - 1] = copies[end - 1] + 1  # compiled, `+=` on an item is slower
                continue
            if value > most:
                break
            kinds.append(kind)
            copies.append(1)
            end += 1
        return kinds, copies


def _bits(first: int, bits: int) -> list[int]:
    return [first + bit for bit in range(BYTE) if bits >> bit & 1]
