"""What one seat may know in Gnadenlos! (GN-41)."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from engines.gnadenlos.actions import MAX_BID_IOUS, MAX_STOLEN_IOUS
from engines.gnadenlos.bags import debt_in, debt_of, minus
from engines.gnadenlos.cards import COLOURS, Adventurer, EventCard, Iou
from harness import PerSeat, Seat, View, words

# Bounds that hold for any components file; `Gnadenlos.view_bounds` narrows those with a title.
MAX_CARDS = 100
MAX_IOUS = 640
MAX_EVENTS = 60

Phase = Annotated[str, words("lay", "steal", "fame", "bid", "pay", "hire", "last fame", "over")]
"""Lay an adventurer (GN-13), steal IOUs (GN-17), buy fame (GN-22), name a bid (GN-25) and pay it, choose an adventurer
(GN-28), buy the last fame (GN-38), or the game is over."""
Field = Annotated[int, Meta(ge=0, le=99, title="field")]
"""A field of the road of fame."""
Gold = Annotated[int, Meta(ge=0, le=999, title="gold")]
"""Gold."""
Sum = Annotated[int, Meta(ge=0, le=MAX_BID_IOUS * 99, title="sum")]
"""The sum of a bid."""
CardCount = Annotated[int, Meta(ge=0, le=MAX_CARDS, title="adventurers")]
"""A number of adventurers."""
Cards = Annotated[tuple[Adventurer, ...], Meta(max_length=MAX_CARDS, title="adventurers")]
"""Adventurers that can be seen."""
KnownCards = Annotated[tuple[Adventurer | None, ...], Meta(max_length=MAX_CARDS, title="adventurers")]
"""Adventurers as far as the table knows them."""
Offers = Annotated[tuple[Adventurer, ...], Meta(max_length=len(COLOURS) - 1)]
"""Adventurers that can be hired."""
Pair = Annotated[tuple[Adventurer, ...], Meta(max_length=2)]
"""Two adventurers, or none when they have been taken."""
Events = Annotated[tuple[EventCard, ...], Meta(max_length=MAX_EVENTS, title="event cards")]
"""Event cards."""
Ious = Annotated[tuple[Iou, ...], Meta(max_length=MAX_IOUS, title="IOUs")]
"""IOUs that can be seen."""
BidIous = Annotated[tuple[Iou, ...], Meta(max_length=MAX_BID_IOUS)]
"""The IOUs of a bid."""
KnownIous = Annotated[tuple[Iou | None, ...], Meta(max_length=MAX_IOUS, title="IOUs")]
"""IOUs as far as the table knows them."""
MarketPlace = Annotated[int, Meta(ge=0, lt=MAX_IOUS, title="place")]
"""A place of the market."""


class Theft(Struct, frozen=True):
    """A high noon while its thieves are asked whether they steal: all of this is public (GN-17)."""

    shown: PerSeat[Adventurer | None]
    """The adventurer that each seat has laid, now turned up; None without one. Those that will go are still there."""
    thieves: tuple[Seat, ...]
    """The seats with the highest value, in the order in which they are asked."""
    answers: Annotated[tuple[bool, ...], Meta(max_length=len(COLOURS))] = ()
    """Whether they steal, as far as they have answered."""
    gaps: Annotated[tuple[MarketPlace, ...], Meta(max_length=len(COLOURS))] = ()
    """The places of the market, ascending, that they have emptied; they are filled when all have answered."""

    @property
    def each(self) -> int:
        """How many IOUs a thief takes who steals."""
        return MAX_STOLEN_IOUS if len(self.thieves) == 1 else 1


class GnadenlosView(View, frozen=True):
    """One seat's knowledge. None stands for a card that the table cannot see."""

    phase: Phase
    """The kind of choice that is due."""
    number: Annotated[int, Meta(ge=0, le=400)]
    """Number of the turn, from 1; 0 while the pairs of the experienced variant are auctioned."""
    start: Seat
    """The start player, who holds the revolver."""
    cause: Annotated[str, words("", "vultures", "undertaker", "goal")]
    """Why the game is ending: "vultures", "undertaker" or "goal"; "" before that."""
    queue: tuple[Seat, ...]
    """Seats whose turn comes after this one in the same phase, in order."""
    fame: PerSeat[Field]
    """The field of each hat; 0 when it has left the road."""
    gold: PerSeat[Gold]
    """The gold of each seat."""
    vultures: PerSeat[Annotated[int, Meta(ge=0, le=99, title="vultures")]]
    """The vultures of each seat."""
    undertaker: Annotated[int, Meta(ge=0, le=99, title="undertaker")]
    """Steps the undertaker has made."""
    event: EventCard | None
    """The event that is being carried out: adventurers are laid for it, or thieves are asked."""
    events_seen: Events
    """The cards turned since the event pile was last shuffled, the one being played included."""
    laid: PerSeat[bool]
    """Who has laid an adventurer face down for the event; it still counts to the hand."""
    my_laid: Adventurer | None
    """The adventurer this seat has laid face down."""
    theft: Theft | None
    """The state of a high noon while its thieves are asked."""
    crew: Cards
    """This seat's own adventurers."""
    crews: PerSeat[KnownCards]
    """What is public of each seat's adventurers: the known ones, then None for each secret one."""
    offers: Offers
    """Turned-up adventurers that were not chosen yet."""
    pairs: Annotated[tuple[Pair, ...], Meta(max_length=len(COLOURS))]
    """The pairs of the experienced variant's auction; a pair that was taken is empty."""
    pile: CardCount
    """How many adventurers the pile holds."""
    discard: Cards
    """The discarded adventurers."""
    unseen_adventurers: Cards
    """Adventurers that have never been turned up: the secret ones in hands and, until it runs out, the first pile."""
    announced: Sum | None
    """The sum the seat on turn has just bid, while it chooses the IOUs for it."""
    bids: PerSeat[BidIous | None]
    """The IOUs each seat has bid in this hiring; () if it could not bid, None if it has not bid yet."""
    hand: Ious
    """This seat's own IOUs."""
    hands: PerSeat[KnownIous]
    """What is public of each seat's IOUs: the known ones, then None for each secret one."""
    market: KnownIous
    """The market place by place, without a theft's gaps; None for a set-up IOU that no seat has seen."""
    unseen_ious: Ious
    """The set-up IOUs that have not been shown to all: those behind the Nones of `hands` and `market`."""

    @property
    def players(self) -> int:
        """How many sit at the table."""
        return len(self.gold)

    @property
    def my_gold(self) -> int:
        """This seat's gold."""
        return self.gold[self.seat]

    @property
    def my_fame(self) -> int:
        """The field of this seat's hat."""
        return self.fame[self.seat]

    @property
    def totals(self) -> tuple[int | None, ...]:
        """The sum of each seat's bid; None without one."""
        return tuple([debt_of(ious) if ious else None for ious in self.bids])

    @property
    def secret_ious(self) -> Ious:
        """The IOUs that this seat cannot place: the unseen ones less those it has stolen itself."""
        shown = [iou for iou in self.hands[self.seat] if iou is not None]
        return minus(self.unseen_ious, minus(self.hand, shown))

    @property
    def secret_adventurers(self) -> Cards:
        """The never seen adventurers that this seat cannot place: the unseen ones less its own."""
        shown = [card for card in self.crews[self.seat] if card is not None]
        return minus(self.unseen_adventurers, minus(self.crew, shown))

    def debt(self, seat: int) -> int:
        """Return what this seat is known to owe in the market."""
        return debt_in(self.market, seat)
