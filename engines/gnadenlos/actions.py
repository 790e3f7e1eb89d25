"""The actions of the game.

A bid is two choices: first its sum (`Bid`), then which IOUs make it up (`Pay`). The sum decides who hires, so a
bot, a search or a person settles that among a dozen sums, and then chooses among the few ways to pay it;
whole bids as single actions would make lists of fifty and more, and IOU by IOU the sum, which is the
point of a bid, would never be chosen as such. No one acts in between, so nothing leaks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from engines.gnadenlos.cards import Adventurer, Iou
from harness import Action

MAX_FAME_GOLD: Final = 5
"""Gold that can be spent on fame in a turn (GN-22)."""
MAX_LAST_FAME_GOLD: Final = 3
"""Gold that can be spent on fame after the end (GN-38)."""
MAX_BID_IOUS: Final = 3
"""IOUs in a bid (GN-25)."""
MAX_STOLEN_IOUS: Final = 2
"""IOUs that a thief may take who is alone in front; one each if there are several (GN-17)."""


@dataclass(frozen=True, eq=False, slots=True)
class Lay(Action):
    """Lay an adventurer face down for the event (GN-13)."""

    kind: ClassVar[str] = "lay"

    adventurer: Adventurer
    """One of this seat's own."""


@dataclass(frozen=True, eq=False, slots=True)
class Steal(Action):
    """Take this many IOUs from the market: all that a thief may take, or none (GN-17)."""

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
