"""The table of all actions of a configured game."""

# mypyc compiles this module: plain classes with typed attributes, because it silently loses what makes structs and
# dataclasses frozen, and reads typed attributes like fields of a C struct.

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

from engines.gnadenlos.actions import (
    MAX_BID_IOUS,
    MAX_FAME_GOLD,
    MAX_STOLEN_IOUS,
    Bid,
    Buy,
    Hire,
    Lay,
    Pay,
    Steal,
    TakePair,
)  # fmt: skip
from engines.gnadenlos.cards import COLOURS, Iou, ious_text
from harness import Action

if TYPE_CHECKING:
    from engines.gnadenlos.game import Gnadenlos


class GnadenlosActions:
    """All actions of a configured game in the order of their codes, with look-ups for the rules."""

    def __init__(self, game: Gnadenlos) -> None:
        table: list[Action] = []
        self.buy = tuple(
            game.add(table, Buy, f"buy {gold} fame" if gold else "buy no fame", gold)
            for gold in range(MAX_FAME_GOLD + 1)
        )
        self.buys = tuple(self.buy[: gold + 1] for gold in range(MAX_FAME_GOLD + 1))
        """The legal purchases of a player who can spend at most this much."""
        kinds = list(dict.fromkeys(game.adventurers))
        self.lay = {card: game.add(table, Lay, f"lay {card}", card) for card in kinds}
        self.hire = {card: game.add(table, Hire, f"hire {card}", card) for card in kinds}
        ways = _all_bids(game.ious, game.figures.ious.counts)
        self.bid = {
            total: game.add(table, Bid, f"bid {total}", total)
            for total in sorted({sum(iou.value for iou in ious) for ious in ways})
        }
        self.pay = {
            ious: game.add(table, Pay, f"pay {ious_text(ious)}", ious, sum(iou.value for iou in ious)) for ious in ways
        }
        self.take_pair = tuple(
            game.add(table, TakePair, f"take pair {number + 1}", number)
            for number in range(len(COLOURS) if game.experienced else 0)
        )
        self.steal = tuple(
            game.add(table, Steal, f"steal {'nothing' if not ious else '1 IOU' if ious == 1 else f'{ious} IOUs'}", ious)
            for ious in range(MAX_STOLEN_IOUS + 1)
        )
        self.all = tuple(table)


def _all_bids(kinds: tuple[Iou, ...], counts: dict[int, int]) -> list[tuple[Iou, ...]]:
    return [
        ious
        for count in range(1, MAX_BID_IOUS + 1)
        for ious in combinations_with_replacement(kinds, count)
        if all(ious.count(iou) <= counts[iou.value] for iou in ious)
    ]
