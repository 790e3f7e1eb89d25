"""Which bids a hand can form: worked out with bits, for it is asked at every bid."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from engines.gnadenlos.actions import MOST_IOUS, Bid, Pay
from engines.gnadenlos.cards import COLOURS, Iou


class Bids:
    """Finds the sums and the ways to pay them, for the IOUs of one set of components.

    A number counts the cards of a hand: each IOU has its own few bits in it, topped by a guard bit that is
    cleared when more are taken away than there are.
    """

    def __init__(self, bids: Iterable[Bid], pays: Iterable[Pay], counts: dict[int, int]) -> None:
        self._bids = [(bid.total, bid) for bid in bids]
        width = max(MOST_IOUS, *counts.values()).bit_length() + 1
        kinds = [Iou(value, colour) for value in counts for colour in range(len(COLOURS))]
        self._unit = {iou: 1 << width * n for n, iou in enumerate(kinds)}
        self._guards = sum(unit << width - 1 for unit in self._unit.values())
        self._colours = [
            sum(unit * ((1 << width) - 1) for iou, unit in self._unit.items() if iou.colour == colour)
            for colour in range(len(COLOURS))
        ]
        """The bits of each colour."""
        needs = [(sum(self._unit[iou] for iou in pay.ious), pay) for pay in pays]
        self._ways = {
            held: _by_total((need, pay) for need, pay in needs if all(held[colour] for _, colour in pay.ious))
            for held in product((False, True), repeat=len(COLOURS))
        }
        """Which colours are in hand -> sum -> what is needed for each way to pay it."""

    def sums(self, hand: tuple[Iou, ...], taken: tuple[int, ...]) -> tuple[Bid, ...]:
        """The sums that one to three IOUs of a hand can form, ascending, without those that are taken."""
        one = two = three = 0  # bit n: this many IOUs can form the sum n
        for value, _ in hand:
            three |= two << value
            two |= one << value
            one |= 1 << value
        formed = one | two | three
        return tuple([bid for total, bid in self._bids if formed >> total & 1 and total not in taken])

    def ways(self, hand: tuple[Iou, ...], total: int) -> tuple[Pay, ...]:
        """The ways to form a sum from a hand, fewest IOUs first."""
        cards = sum(map(self._unit.__getitem__, hand))
        colours = tuple([cards & bits > 0 for bits in self._colours])
        guards = self._guards
        cards += guards
        return tuple([pay for need, pay in self._ways[colours].get(total, ()) if cards - need & guards == guards])


def _by_total(needs: Iterable[tuple[int, Pay]]) -> dict[int, list[tuple[int, Pay]]]:
    grouped: dict[int, list[tuple[int, Pay]]] = {}
    for need, pay in needs:
        grouped.setdefault(pay.total, []).append((need, pay))
    return grouped
