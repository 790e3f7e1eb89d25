"""The actions of the game and the table of all of them.

A bid is two choices: first its sum (`Bid`), then which IOUs make it up (`Pay`). The sum decides who hires, so a
bot, a search or a person settles that among a dozen sums, and then chooses among the few ways to pay it;
whole bids as single actions would make lists of fifty and more, and IOU by IOU the sum, which is the
point of a bid, would nowhere be chosen. Nobody acts in between, so nothing leaks.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, ClassVar

from engines.gnadenlos.cards import COLOURS, Adventurer, Iou, ious_text
from harness import Action

if TYPE_CHECKING:
    from engines.gnadenlos.components import Components
    from engines.gnadenlos.game import Gnadenlos

MOST_FAME = 5
"""Gold that can be spent on fame in a turn (GN-22)."""
MOST_LAST_FAME = 3
"""Gold that can be spent on fame after the end (GN-38)."""
MOST_IOUS = 3
"""IOUs in a bid (GN-25)."""
MOST_STOLEN = 2
"""IOUs that a thief may take who is alone in front; one each if there are several (GN-17)."""


@dataclass(frozen=True, eq=False, slots=True)
class Lay(Action):
    """Lay an adventurer face down for the event (GN-13)."""

    kind: ClassVar[str] = "lay"

    adventurer: Adventurer
    """One of this seat's own."""


@dataclass(frozen=True, eq=False, slots=True)
class Steal(Action):
    """Take so many IOUs from the market: all that a thief may take, or none (GN-17)."""

    kind: ClassVar[str] = "steal"

    ious: int
    """How many; 0 leaves them where they are."""


@dataclass(frozen=True, eq=False, slots=True)
class Buy(Action):
    """Pay this much gold for as many fields (GN-22, GN-38)."""

    kind: ClassVar[str] = "buy"

    gold: int
    """How much; 0 buys nothing."""


@dataclass(frozen=True, eq=False, slots=True)
class Bid(Action):
    """Name the sum of a bid (GN-25, GN-26)."""

    kind: ClassVar[str] = "bid"

    total: int
    """The sum."""


@dataclass(frozen=True, eq=False, slots=True)
class Pay(Action):
    """Lay the IOUs that make up the sum just named (GN-25)."""

    kind: ClassVar[str] = "pay"

    ious: tuple[Iou, ...]
    """In the order in which they would go to the market (GN-29)."""
    total: int
    """Their sum."""


@dataclass(frozen=True, eq=False, slots=True)
class Hire(Action):
    """Choose one of the turned-up adventurers (GN-28)."""

    kind: ClassVar[str] = "hire"

    adventurer: Adventurer
    """One of those on offer."""


@dataclass(frozen=True, eq=False, slots=True)
class TakePair(Action):
    """Choose one of the turned-up pairs, before the first turn of the experienced variant (GN-9)."""

    kind: ClassVar[str] = "take pair"

    pair: int
    """Its place in the view's `pairs`."""


class GnadenlosActions:
    """All actions of a configured game in the order of their codes, with look-ups for the rules."""

    def __init__(self, game: Gnadenlos, figures: Components, pairs: bool) -> None:
        table: list[Action] = []
        self.buy = tuple(
            game.add(table, Buy, f"buy {gold} fame" if gold else "buy no fame", gold) for gold in range(MOST_FAME + 1)
        )
        self.buys = tuple(self.buy[: gold + 1] for gold in range(MOST_FAME + 1))
        """The legal purchases of a player who can spend at most this much."""
        kinds = sorted({Adventurer(*row) for row in figures.adventurers.skills})
        self.lay = {card: game.add(table, Lay, f"lay {card}", card) for card in kinds}
        self.hire = {card: game.add(table, Hire, f"hire {card}", card) for card in kinds}
        ways = _all_bids(figures.ious.counts)
        self.bid = {
            total: game.add(table, Bid, f"bid {total}", total)
            for total in sorted({sum(iou.value for iou in ious) for ious in ways})
        }
        self.pay = {
            ious: game.add(table, Pay, f"pay {ious_text(ious)}", ious, sum(iou.value for iou in ious)) for ious in ways
        }
        self.take_pair = tuple(
            game.add(table, TakePair, f"take pair {number + 1}", number)
            for number in range(len(COLOURS) if pairs else 0)
        )
        self.steal = tuple(
            game.add(table, Steal, f"steal {'nothing' if not ious else '1 IOU' if ious == 1 else f'{ious} IOUs'}", ious)
            for ious in range(MOST_STOLEN + 1)
        )
        self.all = tuple(table)


def _all_bids(counts: dict[int, int]) -> list[tuple[Iou, ...]]:
    kinds = sorted(Iou(value, colour) for value in counts for colour in range(len(COLOURS)))
    return [
        ious
        for count in range(1, MOST_IOUS + 1)
        for ious in combinations_with_replacement(kinds, count)
        if all(ious.count(iou) <= counts[iou.value] for iou in ious)
    ]
