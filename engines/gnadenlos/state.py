"""One play of Gnadenlos!: what is on the table, and the sequence of a turn."""

# mypyc compiles this module. `mypyc_attr` keeps methods overridable for plain Python subclasses. Structs and
# dataclasses are in other modules: mypyc silently loses what makes them frozen.

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mypy_extensions import mypyc_attr

from engines.gnadenlos import events, hiring, market, payday, setup
from engines.gnadenlos.bags import put
from engines.gnadenlos.cards import Adventurer, EventCard
from engines.gnadenlos.choices import choices
from engines.gnadenlos.view import Cards, GnadenlosView, Ious, KnownCards, KnownIous, Theft
from harness import NOBODY, Action, Chance, Event, State

if TYPE_CHECKING:
    from engines.gnadenlos.game import Gnadenlos

MAX_TURNS: Final = 400
"""A game of more turns is stopped (GN-40)."""
MAX_CREW_TO_HIRE: Final = 2
"""Hiring takes place when the start player holds no more adventurers than this (GN-23)."""

VIEW: Final = GnadenlosView
"""Compiled code reads constants faster than imported names."""
GOAL: Final = "goal"
TRUNCATED: Final = "truncated"


@mypyc_attr(allow_interpreted_subclasses=True)
class GnadenlosState(State[GnadenlosView]):
    """Everything on the table, hidden or not, in immutable values: a view or a clone just refers to them."""

    __slots__ = (
        "announced", "bids", "cause", "crews", "discard", "event", "event_pile", "event_shuffles", "events_seen",
        "fame", "gold", "hands", "has_laid", "known_crews", "known_hands", "known_market", "laid", "market", "number",
        "offers", "pairs", "pile", "queue", "reshuffles", "rules", "start", "theft", "totals", "undertaker",
        "unseen_adventurers", "unseen_ious", "vultures",
    )  # fmt: skip

    # They only number the shuffles, for the names of luck: imagined states count again.
    forgets = frozenset({"event_shuffles", "reshuffles"})

    rules: Gnadenlos
    """The same as `game`, with its concrete type: mypyc then reads its attributes directly."""

    number: int
    start: int
    cause: str
    queue: tuple[int, ...]
    fame: tuple[int, ...]
    gold: tuple[int, ...]
    vultures: tuple[int, ...]
    undertaker: int
    event: EventCard | None
    event_pile: tuple[EventCard, ...]
    """The cards still to come, top card first."""
    event_shuffles: int
    events_seen: tuple[EventCard, ...]
    laid: tuple[Adventurer | None, ...]
    has_laid: tuple[bool, ...]
    theft: Theft | None
    crews: tuple[Cards, ...]
    """Each seat's adventurers, sorted; one that is laid stays among them until the event is over."""
    known_crews: tuple[KnownCards, ...]
    """What is public of them."""
    offers: Cards
    pairs: tuple[Cards, ...]
    pile: Cards
    """The pile of adventurers, top card first."""
    reshuffles: int
    discard: Cards
    unseen_adventurers: Cards
    announced: int | None
    bids: tuple[Ious | None, ...]
    totals: tuple[int, ...]
    """The sum of each seat's bid; NO_BID without one."""
    hands: tuple[Ious, ...]
    """Each seat's IOUs, sorted; those in a bid are not among them."""
    known_hands: tuple[KnownIous, ...]
    """What is public of them; the same tuple object as in `hands` if all is public."""
    market: Ious
    known_market: KnownIous
    unseen_ious: Ious

    def __init__(self, game: Gnadenlos, players: int, chance: Chance, log: list[Event] | None = None) -> None:
        """Create an empty table: `set_up`, `imagine` and `clone` fill it."""
        self.game = self.rules = game
        self.players, self.chance, self.log = players, chance, log

    def set_up(self) -> GnadenlosState:
        """Return the state, dealt, at its first choice."""
        self.ending = self.cause = ""
        setup.lay_out(self)
        if self.rules.experienced:
            setup.turn_up_pairs(self)
            self._auction()
        else:
            setup.deal(self)
            self._turn()
        return self

    def clone(self) -> GnadenlosState:
        """Return an independent copy."""
        # Written out, because search clones a lot. All values are immutable and shared.
        new = GnadenlosState(self.rules, self.players, self.chance)
        new.seat, new.phase, new.legal, new.ending = self.seat, self.phase, self.legal, self.ending
        new.number, new.start, new.cause, new.queue = self.number, self.start, self.cause, self.queue
        new.fame, new.gold, new.vultures, new.undertaker = self.fame, self.gold, self.vultures, self.undertaker
        new.event, new.event_pile, new.events_seen = self.event, self.event_pile, self.events_seen
        new.event_shuffles, new.laid, new.has_laid = self.event_shuffles, self.laid, self.has_laid
        new.theft = self.theft
        new.crews, new.known_crews, new.offers, new.pairs = self.crews, self.known_crews, self.offers, self.pairs
        new.pile, new.reshuffles, new.discard = self.pile, self.reshuffles, self.discard
        new.unseen_adventurers, new.unseen_ious = self.unseen_adventurers, self.unseen_ious
        new.announced, new.bids, new.totals = self.announced, self.bids, self.totals
        new.hands, new.known_hands = self.hands, self.known_hands
        new.market, new.known_market = self.market, self.known_market
        return new

    def view(self, seat: int) -> GnadenlosView:
        """Return what this seat may know now (GN-41)."""
        return VIEW(
            seat, self.seat, self.phase, self.number, self.start, self.cause, self.queue, self.fame, self.gold,
            self.vultures, self.undertaker, self.event, self.events_seen, self.has_laid,
            self.laid[seat], self.theft, self.crews[seat], self.known_crews, self.offers, self.pairs, len(self.pile),
            self.discard, self.unseen_adventurers, self.announced, self.bids, self.hands[seat], self.known_hands,
            self.known_market, self.unseen_ious,
        )  # fmt: skip

    def scores(self) -> tuple[int, ...]:
        """GN-39: 1000 for each field and 1 for each gold; nothing for a player who has lost."""
        lost, fame, gold = self.rules.vultures_to_lose, self.fame, self.gold
        return tuple(
            [0 if vultures >= lost else 1000 * fame[seat] + gold[seat] for seat, vultures in enumerate(self.vultures)]
        )

    def unseen(self) -> int:
        """Return cards in the two piles."""
        return len(self.pile) + len(self.event_pile)

    def redealt(self, chance: Chance) -> GnadenlosState:
        """Return a copy with different future luck; the piles, and the IOUs of the market that no seat has seen, are in
        a different order."""
        new = self.clone()
        new.chance = chance
        new.pile = tuple(chance.shuffled(self.pile, "unseen", "adventurers"))
        new.event_pile = tuple(chance.shuffled(self.event_pile, "unseen", "events"))
        places = [place for place, known in enumerate(self.known_market) if known is None]
        if places:
            market = list(self.market)
            for place, iou in zip(
                places, chance.shuffled([market[at] for at in places], "unseen", "market"), strict=True
            ):
                market[place] = iou
            new.market = tuple(market)
        return new

    def from_start(self) -> tuple[int, ...]:
        """Return all seats clockwise from the start player."""
        return self.rules.orders[self.players][self.start]

    def step(self, action: Action) -> None:
        """Carry out a legal action and advance to the next choice."""
        move: Any = action  # each phase has one kind of action
        phase = self.phase
        if phase == "lay":
            self._lay(move.adventurer)
        elif phase == "bid":
            self.announced = move.total
            self._ask("pay", self.seat)
        elif phase == "pay":
            hiring.bid(self, move.ious, move.total)
            self._next_bid()
        elif phase == "hire":
            if self.pairs:
                hiring.take_pair(self, move.pair)
            else:
                hiring.hire(self, move.adventurer)
            self._next_hire()
        elif phase == "steal":
            self._steal(move.ious)
        else:
            self._buy(move.gold)

    def _ask(self, phase: str, seat: int) -> None:
        self.phase, self.seat = phase, seat
        self.legal = choices(self)

    def _ask_next(self, phase: str) -> None:
        """Put the first of the queue on turn."""
        seat = self.queue[0]
        self.queue = self.queue[1:]
        self._ask(phase, seat)

    def _turn(self) -> None:
        """Begin the start player's turn with the event (GN-10 to GN-13)."""
        if self.number == MAX_TURNS:
            self._over(TRUNCATED)
            return
        self.number += 1
        if self.log is not None:
            self.log.append(Event("turn", {"number": self.number, "start": self.start}))
        owners = tuple([seat for seat in self.from_start() if self.crews[seat]])
        if len(owners) < 2:
            if self.log is not None:
                self.log.append(Event("no event", {}))
            self._ask("fame", self.start)
            return
        events.turn_card(self)
        if self.cause:
            self._close()
        else:
            self.queue = owners
            self._ask_next("lay")

    def _lay(self, adventurer: Adventurer) -> None:
        self.laid = put(self.laid, self.seat, adventurer)
        self.has_laid = put(self.has_laid, self.seat, True)
        if self.log is not None:
            self.log.append(Event("laid", {"seat": self.seat}))
        if self.queue:
            self._ask_next("lay")
            return
        events.carry_out(self)
        if self.theft is not None:
            self.queue = self.theft.thieves
            self._ask_next("steal")
        else:
            self._end_event()

    def _steal(self, ious: int) -> None:
        """Record a thief's answer (GN-17); after the last one, continue the high noon."""
        market.steal(self, ious)
        if self.queue:
            self._ask_next("steal")
        else:
            events.end_high_noon(self)
            self._end_event()

    def _end_event(self) -> None:
        if any(field >= self.rules.goal for field in self.fame):
            self.cause = GOAL
            self._close()
        else:
            self._ask("fame", self.start)

    def _buy(self, gold: int) -> None:
        """Buy fame (GN-22 in a turn, GN-38 after the end)."""
        seat = self.seat
        if gold:
            self.gold = put(self.gold, seat, self.gold[seat] - gold)
            self.fame = put(self.fame, seat, self.fame[seat] + gold)
        if self.log is not None:
            now = {"gold": self.gold[seat], "field": self.fame[seat]}
            self.log.append(Event("fame", {"seat": seat, "paid": gold, **now}))
        if self.cause:
            self._next_last_fame()
        elif self.fame[seat] >= self.rules.goal:
            self.cause = GOAL
            self._close()
        else:
            self._hiring()

    def _hiring(self) -> None:
        if len(self.crews[self.start]) > MAX_CREW_TO_HIRE or not hiring.turn_up(self):
            if self.log is not None:
                self.log.append(Event("no hiring", {}))
            self._end_turn()
        else:
            self._auction()

    def _auction(self) -> None:
        self.queue = self.from_start()
        self._next_bid()

    def _next_bid(self) -> None:
        """Ask the next player who can form a new sum; others show their IOUs and bid nothing (GN-25 to GN-27)."""
        while self.queue:
            self._ask_next("bid")
            if self.legal:
                return
            hiring.show_hand(self, self.seat)
        self.queue = hiring.ranking(self)[: len(self.pairs or self.offers)]
        self._next_hire()

    def _next_hire(self) -> None:
        if self.queue:
            self._ask_next("hire")
            return
        hiring.settle(self)
        if self.number:
            self._end_turn()
        else:  # GN-9: no payday before the first turn
            self._turn()

    def _end_turn(self) -> None:
        """Hold paydays while the market is full (GN-31, GN-35); then pass the revolver on."""
        # Several paydays may follow each other: each empties the market only in part.
        full = self.players * self.rules.columns
        held = 0
        while len(self.market) >= full and not self.cause:
            held += 1
            payday.hold(self, held)
        if self.cause:
            self._close()
        else:
            self.start = (self.start + 1) % self.players
            self._turn()

    def _close(self) -> None:
        """Begin the end of the game: perhaps a last payday (GN-37), then the last purchases (GN-38)."""
        if self.log is not None:
            self.log.append(Event("ending", {"cause": self.cause}))
        if self.cause != payday.VULTURES:
            payday.hold(self, payday.LAST)
        lost = self.rules.vultures_to_lose
        self.queue = tuple([seat for seat in self.from_start() if self.vultures[seat] < lost])
        self._next_last_fame()

    def _next_last_fame(self) -> None:
        if self.queue:
            self._ask_next("last fame")
        else:
            self._over(self.cause)

    def _over(self, ending: str) -> None:
        self.seat, self.phase, self.legal, self.ending = NOBODY, "over", (), ending
        if self.log is not None:
            self.log.append(Event("over", {"ending": ending, "scores": list(self.scores())}))
