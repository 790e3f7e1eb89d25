"""Which bids a hand can form: asked at every bid, so a sum is a bit. Nothing is kept: hands are secret (GN-41)."""

# mypyc compiles this module: plain classes with typed attributes, because it silently loses what makes structs and
# dataclasses frozen, and reads typed attributes like fields of a C struct.

from __future__ import annotations

from typing import Final

from engines.gnadenlos.actions import Bid, Pay
from engines.gnadenlos.cards import Iou

VALUE: Final = 8
"""What one gold more adds to the number of an IOU: more than there are colours."""
BASE: Final = 1024
"""Above the number of any IOU, of which none promises more than 99. The numbers of a bid's IOUs make up its key."""


class Bids:
    """Finds the sums and the ways to pay them, among the bids of one set of components."""

    def __init__(self, bids: dict[int, Bid], pays: dict[tuple[Iou, ...], Pay]) -> None:
        self._pays: dict[int, Pay] = {_key(ious): pay for ious, pay in pays.items()}
        self._totals: list[int] = list(bids)
        self._bids: list[Bid] = list(bids.values())

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
        return tuple([self._bids[i] for i, total in enumerate(self._totals) if formed >> total & 1])

    def ways(self, hand: tuple[Iou, ...], total: int) -> tuple[Pay, ...]:
        """Return the ways to form a sum from a sorted hand, fewest IOUs first."""
        pays = self._pays
        numbers, values, copies = _numbers_up_to(hand, total)
        end = len(numbers)
        one: list[Pay] = []
        two: list[Pay] = []
        three: list[Pay] = []
        for a in range(end):
            left = total - values[a]
            if left == 0:
                one.append(pays[numbers[a]])
            # Kinds are sorted: combinations in ascending order, a kind again only while there are copies of it.
            for b in range(a if copies[a] > 1 else a + 1, end):
                value = values[b]
                rest = left - value
                if rest == 0:
                    two.append(pays[numbers[a] * BASE + numbers[b]])
                if rest >= value:
                    for c in range(b if copies[b] > (2 if a == b else 1) else b + 1, end):
                        if values[c] > rest:
                            break
                        if values[c] == rest:
                            three.append(pays[(numbers[a] * BASE + numbers[b]) * BASE + numbers[c]])
                elif rest < 0:
                    break
        one += two
        one += three
        return tuple(one)


def _key(ious: tuple[Iou, ...]) -> int:
    key = 0
    for value, colour in ious:
        key = key * BASE + _number(value, colour)
    return key


def _number(value: int, colour: int) -> int:
    return VALUE * value + colour + 1


def _numbers_up_to(hand: tuple[Iou, ...], most: int) -> tuple[list[int], list[int], list[int]]:
    """Return the different IOUs of a sorted hand up to this value, as numbers, their values, and how many of each there
    are."""
    numbers: list[int] = []
    values: list[int] = []
    copies: list[int] = []
    last = 0
    for value, colour in hand:
        number = _number(value, colour)
        if number == last:
            copies[-1] += 1
            continue
        if value > most:
            break
        numbers.append(number)
        values.append(value)
        copies.append(1)
        last = number
    return numbers, values, copies
