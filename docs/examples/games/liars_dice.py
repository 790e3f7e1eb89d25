"""Liar's dice, a whole game for arena in one file: docs/add-a-game.md goes through it.

Everybody rolls two dice under a cup. In turn they bid how many dice of a face lie under all cups together, each bid
higher than the last, until a player calls "liar". If the bid was true the caller loses the round, otherwise the bidder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from random import Random
from typing import Annotated, ClassVar

from msgspec import Meta

from harness import (
    NOBODY,
    SEAT_NAMES,
    Action,
    Chance,
    Event,
    Game,
    Option,
    PerSeat,
    Seat,
    State,
    Value,
    View,
    hookimpl,
    words,
)

CUP = 2
MAX_PLAYERS = 6
MAX_ROUNDS = 100
Face = Annotated[int, Meta(ge=1, le=6)]
Dice = Annotated[tuple[Face, ...], Meta(min_length=CUP, max_length=CUP)]


@dataclass(frozen=True, eq=False, slots=True)
class Bid(Action):
    """There are at least this many dice of this face."""

    kind: ClassVar[str] = "bid"
    count: int
    face: int


@dataclass(frozen=True, eq=False, slots=True)
class Call(Action):
    """That is a lie."""

    kind: ClassVar[str] = "call"


class DiceView(View, frozen=True):
    """What one seat may know."""

    phase: Annotated[str, words("bid", "over")]
    round: Annotated[int, Meta(ge=1, le=MAX_ROUNDS, title="rounds")]
    dice: Dice
    """Under this seat's own cup."""
    bid: Annotated[int, Meta(ge=-1, lt=CUP * MAX_PLAYERS * 6)]
    """The code of the highest bid; -1 before the first."""
    bidder: Seat
    points: PerSeat[Annotated[int, Meta(ge=0, le=MAX_ROUNDS, title="rounds")]]


class DiceState(State[DiceView]):
    """One play: all cups, the bid on the table, and the points so far."""

    __slots__ = ("bid", "bidder", "cups", "points", "round")
    game: LiarsDice

    def __init__(self, game: LiarsDice, players: int, chance: Chance, log: list[Event] | None) -> None:
        self.game, self.players, self.chance, self.log = game, players, chance, log
        self.phase, self.ending = "bid", ""
        self.round, self.points = 0, (0,) * players
        self._roll(first=0)

    def step(self, action: Action) -> None:
        """A bid, or the call that ends the round."""
        if self.log is not None:
            self.log.append(Event(action.kind, {"seat": self.seat, "says": action.text}))
        if isinstance(action, Bid):
            self.bid, self.bidder = action.code, self.seat
            self._ask((self.seat + 1) % self.players)
        else:
            self._show()

    def _roll(self, first: int) -> None:
        self.round += 1
        self.bid, self.bidder = -1, NOBODY
        # Named luck: these dice belong to this round and seat, whatever happened before.
        self.cups = tuple(self._cup(seat) for seat in range(self.players))
        if self.log is not None:
            for seat, dice in enumerate(self.cups):
                self.log.append(Event("roll", {"round": self.round, "dice": list(dice)}, to=(seat,)))
        self._ask(first)

    def _cup(self, seat: int) -> Dice:
        return tuple(sorted(face + 1 for face in self.chance.dice(CUP, 6, "cup", self.round, seat)))

    def _ask(self, seat: int) -> None:
        self.seat, self.legal = seat, self.game.after(self.bid, self.players)

    def _show(self) -> None:
        bid = self.game.bids[self.bid]
        true = sum(cup.count(bid.face) for cup in self.cups) >= bid.count
        loser = self.seat if true else self.bidder
        self.points = tuple(points + (seat != loser) for seat, points in enumerate(self.points))
        if self.log is not None:
            self.log.append(Event("cups", {"cups": [list(cup) for cup in self.cups], "loser": loser}))
        if self.round < int(self.game.settings["rounds"]):
            self._roll(first=loser)
        else:
            self.seat, self.phase, self.legal, self.ending = NOBODY, "over", (), "finished"

    def clone(self) -> DiceState:
        """An independent copy: everything in a state is immutable, so references will do."""
        new = copy(self)
        new.log = None
        return new

    def view(self, seat: int) -> DiceView:
        """What this seat may know: its own cup alone."""
        return DiceView(seat, self.seat, self.phase, self.round, self.cups[seat], self.bid, self.bidder, self.points)

    def scores(self) -> tuple[int, ...]:
        """A point for each round that a seat did not lose."""
        return self.points


class LiarsDice(Game[DiceView]):
    """Bid on the dice under all cups, and call the liar."""

    name, title, version = "liars-dice", "Liar's dice", "1"
    min_players, max_players = 2, MAX_PLAYERS
    options = (Option("rounds", 6, "how many rounds are played", kind="int", minimum=1, maximum=MAX_ROUNDS),)
    view_type = DiceView

    def __init__(self, settings: Mapping[str, Value], files: Mapping[str, str]) -> None:
        super().__init__(settings, files)
        table: list[Action] = []
        highest = CUP * self.max_players
        self.bids = [
            self.add(table, Bid, f"{count} x {face}", count, face)
            for count in range(1, highest + 1)
            for face in range(1, 7)
        ]
        self.call = self.add(table, Call, "liar!")
        self.actions = tuple(table)

    def after(self, bid: int, players: int) -> tuple[Action, ...]:
        """What may be said after a bid: anything higher that the dice at this table could make true, or a call."""
        higher = tuple(self.bids[bid + 1 : 6 * CUP * players])
        return higher if bid < 0 else (*higher, self.call)

    def new(self, players: int, chance: Chance, log: list[Event] | None = None) -> DiceState:
        """A fresh state with its first dice under the cups."""
        return DiceState(self, players, chance, log)

    def imagine(self, view: DiceView, rng: Random) -> DiceState:
        """A state that this view cannot tell from the real one: other cups and the luck to come are anybody's guess."""
        state = DiceState(self, len(view.points), Chance(rng.getrandbits(48)), None)
        cups = [tuple(sorted(rng.choices(range(1, 7), k=CUP))) for _ in view.points]
        cups[view.seat] = view.dice
        state.cups, state.round, state.points = tuple(cups), view.round, view.points
        state.bid, state.bidder, state.phase = view.bid, view.bidder, view.phase
        state._ask(view.turn)
        if view.phase == "over":
            state.legal, state.ending = (), "finished"
        return state

    def view_bounds(self, players: int) -> Mapping[str, int]:
        """The bounds with a title, as narrow as the options make them."""
        return {"rounds": int(self.settings["rounds"])}

    def score_bounds(self, players: int) -> tuple[int, int]:
        """At most a point for each round."""
        return 0, int(self.settings["rounds"])

    def max_decisions(self, players: int) -> int:
        """Every bid of every round, and the call."""
        return int(self.settings["rounds"]) * (6 * CUP * players + 1)

    def render(self, view: DiceView, names: Sequence[str] = SEAT_NAMES) -> str:
        """The table as this seat sees it."""
        bid = f"{names[view.bidder]} says {self.bids[view.bid].text}" if view.bid >= 0 else "nobody has bid yet"
        dice = " ".join(map(str, view.dice))
        points = ", ".join(f"{names[seat]}: {points}" for seat, points in enumerate(view.points))
        return f"Round {view.round}: {bid}.\nUnder your cup: {dice}\nPoints: {points}"


@hookimpl
def arena_games() -> list[type[LiarsDice]]:
    """What this plugin offers."""
    return [LiarsDice]
