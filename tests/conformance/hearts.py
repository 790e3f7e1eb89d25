"""A small game of tricks for the laws to be tried on: sound as it is, and broken in one way by each of BUGS.

Each round everybody gets three of twelve cards, passes one face down to the next seat, and plays the rest with the duty
to follow suit. Card c has suit c // 4. A trick is worth what the round's die shows.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

from harness import NOBODY, SEAT_NAMES, Action, Chance, Event, Game, Option, State, Value, View

CARDS, HAND, ROUNDS = 12, 3, 2
Cards = tuple[int, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Pass(Action):
    kind: ClassVar[str] = "pass"
    card: int
    more: object = None


@dataclass(frozen=True, eq=False, slots=True)
class Play(Action):
    kind: ClassVar[str] = "play"
    card: int


class HeartsView(View, frozen=True):
    round: int
    die: int
    hand: Cards
    passed: int
    """The card that this seat passes, while others still choose; -1 else."""
    given: Cards
    """Cards that this seat passed to the next one, who still holds them."""
    sizes: tuple[int, ...]
    waiting: tuple[bool, ...]
    """Who has chosen a card to pass, while others still choose."""
    trick: tuple[tuple[int, int], ...]
    played: Cards
    voids: tuple[tuple[int, int], ...]
    """Seat and suit: it did not follow, so it has none."""
    points: tuple[int, ...]


class HeartsState(State[HeartsView]):
    __slots__ = ("die", "given", "hands", "passes", "played", "points", "round", "stock", "trick", "voids")
    game: Hearts

    forgets = frozenset({"given"})  # what the others passed is left out of imagined states

    def __init__(self, game: Hearts, players: int, chance: Chance, log: list[Event] | None) -> None:
        self.game, self.players, self.chance, self.log = game, players, chance, log
        self.ending, self.round, self.points = "", 0, (0,) * players
        self._deal()

    def log_event(self, kind: str, to: tuple[int, ...] | None = None, **data: object) -> None:
        if self.log is not None:
            self.log.append(Event(kind, data, to=to))

    def broken(self, bug: str) -> bool:
        return self.game.settings["bug"] == bug

    def _deal(self) -> None:
        self.round += 1
        where = ("deck",) if self.broken("luck omits the round") else ("deck", self.round)
        deck = self.chance.shuffled(range(CARDS), *where)
        if self.broken("luck of its own"):
            random.shuffle(deck)
        self.hands: Any = tuple(tuple(sorted(deck[HAND * s : HAND * s + HAND])) for s in range(self.players))
        self.stock: Cards = tuple(deck[HAND * self.players :])
        self.die = 1 + self.chance.pick(6, "die", *(() if self.broken("die omits the round") else (self.round,)))
        self.passes: Cards = (-1,) * self.players
        self.given: tuple[Cards, ...] = ((),) * self.players
        self.trick: tuple[tuple[int, int], ...] = ()
        self.played: Cards = ()
        self.voids: tuple[tuple[int, int], ...] = ()
        self.phase = "pass"
        self.log_event("round", round=self.round, die=self.die)
        for seat, hand in enumerate(self.hands):
            self.log_event("hand", None if self.broken("hand told to all") else (seat,), seat=seat, cards=list(hand))
        if self.broken("clones share"):
            self.hands = list(self.hands)
        self._ask(0)

    def _ask(self, seat: int) -> None:
        self.seat, hand = seat, self.hands[seat]
        if self.phase == "play" and self.trick:
            suit = self.trick[0][1] // 4
            hand = [card for card in hand if card // 4 == suit] or hand
        self.legal = tuple(self.game.verbs[self.phase][card] for card in hand)
        if self.broken("legal twice") and self.phase == "play":
            self.legal += self.legal[:1]

    def apply(self, action: Action) -> None:
        if self.broken("illegal is played") and isinstance(action, Action):
            self.step(action)
        else:
            super().apply(action)

    def step(self, action: Action) -> None:
        if isinstance(action, Pass):
            self._pass(action.card)
        elif isinstance(action, Play):
            self._play(action.card)

    def _set_hand(self, seat: int, hand: Cards) -> None:
        if self.broken("clones share"):
            self.hands[seat] = hand
        else:
            self.hands = (*self.hands[:seat], hand, *self.hands[seat + 1 :])

    def _pass(self, card: int) -> None:
        self.passes = (*self.passes[: self.seat], card, *self.passes[self.seat + 1 :])
        more = {"card": card} if self.broken("pass told to all") else {}
        self.log_event("chosen", seat=self.seat, **more)
        if self.seat + 1 < self.players:
            self._ask(self.seat + 1)
            return
        for seat, gift in enumerate(self.passes):
            self._set_hand(seat, tuple(c for c in self.hands[seat] if c != gift))
        for seat, gift in enumerate(self.passes):
            to = (seat + 1) % self.players
            self._set_hand(to, tuple(sorted((*self.hands[to], gift))))
            self.log_event("gift", (seat, to), seat=seat, card=gift)
        self.given = tuple((gift,) for gift in self.passes)
        self.passes, self.phase = (-1,) * self.players, "play"
        self._ask(0)

    def _play(self, card: int) -> None:
        seat = self.seat
        self._set_hand(seat, tuple(c for c in self.hands[seat] if c != card))
        if self.trick and card // 4 != self.trick[0][1] // 4:
            self.voids = tuple(sorted({*self.voids, (seat, self.trick[0][1] // 4)}))
        self.played = tuple(sorted((*self.played, card)))
        self.trick = (*self.trick, (seat, card))
        self.given = tuple(tuple(c for c in cards if c != card) for cards in self.given)
        self.log_event("play", seat=seat, card={card} if self.broken("events are no data") else card)
        if len(self.trick) < self.players:
            self._ask((seat + 1) % self.players)
            return
        winner = max((c, s) for s, c in self.trick if c // 4 == self.trick[0][1] // 4)[1]
        self.points = tuple(points + self.die * (s == winner) for s, points in enumerate(self.points))
        self.trick = ()
        more = {"under": self.stock[0]} if self.broken("stock told to all") and self.stock else {}
        self.log_event("trick", seat=winner, **more)
        if self.hands[winner]:
            self._ask(winner)
        elif self.round < ROUNDS:
            self._deal()
        else:
            self.seat, self.phase, self.legal = NOBODY, "over", ()
            self.ending = "" if self.broken("no ending") else "finished"

    def clone(self) -> HeartsState:
        new = copy(self)
        new.log = None
        return new

    def view(self, seat: int) -> HeartsView:
        sizes = tuple(len(hand) for hand in self.hands)
        waiting = tuple(card >= 0 for card in self.passes)
        hand: Any = list(self.hands[seat]) if self.broken("mutable view") else self.hands[seat]
        return HeartsView(
            seat, self.seat, self.phase, self.round, self.die, hand, self.passes[seat], self._passed_cards(seat), sizes,
            waiting, self.trick, self.played, () if self.broken("forgets voids") else self.voids, self.points,
        )  # fmt: skip

    def _passed_cards(self, seat: int) -> Cards:
        return () if self.broken("forgets its gift") else self.given[seat]

    def redealt(self, chance: Chance) -> HeartsState:
        new = super().redealt(chance)
        if self.broken("deals hands anew"):
            new.hands = (*new.hands[1:], new.hands[0])
        return new

    def scores(self) -> tuple[int, ...]:
        return self.points


class Hearts(Game[HeartsView]):
    name, title, version = "hearts", "Hearts", "1"
    min_players, max_players = 2, 4
    options = (Option("bug", "", "what is wrong with it"),)
    view_type = HeartsView

    def __init__(self, settings: Mapping[str, Value], files: Mapping[str, str]) -> None:
        super().__init__(settings, files)
        table: list[Action] = []
        more = object() if settings["bug"] == "fields are no data" else None
        self.verbs: dict[str, tuple[Action, ...]] = {
            "pass": tuple(self.add(table, Pass, f"pass {card}", card, more) for card in range(CARDS)),
            "play": tuple(self.add(table, Play, f"play {card}", card) for card in range(CARDS)),
        }
        self.actions = tuple(table)

    def new(self, players: int, chance: Chance, log: list[Event] | None = None) -> HeartsState:
        return HeartsState(self, players, chance, log)

    def imagine(self, view: HeartsView, rng: Random) -> HeartsState:
        players = len(view.points)
        state = HeartsState(self, players, Chance(rng.getrandbits(48)), None)
        state.seat, state.phase, state.round, state.die = view.turn, view.phase, view.round, view.die
        state.trick, state.played, state.voids, state.points = view.trick, view.played, view.voids, view.points
        state.ending = "finished" if view.phase == "over" else ""
        hands, stock = self._dealt(view, rng)
        state.hands, state.stock = hands, stock
        if state.broken("clones share"):
            state.hands = list(hands)
        state.passes = tuple(
            view.passed if seat == view.seat else rng.choice(hands[seat]) if chosen else -1
            for seat, chosen in enumerate(view.waiting)
        )
        state.given = tuple(view.given if seat == view.seat else () for seat in range(players))
        if state.broken("imagines other points"):
            state.points = (0,) * players
        if view.turn == NOBODY:
            state.legal = ()
        else:
            state._ask(view.turn)
        return state

    def _dealt(self, view: HeartsView, rng: Random) -> tuple[tuple[Cards, ...], Cards]:
        """Hands and stock that fit what the seat knows, all equally likely."""
        unseen = [card for card in range(CARDS) if card not in (*view.hand, *view.played, *view.given)]
        following = (view.seat + 1) % len(view.points)
        for _ in range(10_000):
            rng.shuffle(unseen)
            rest, hands = list(unseen), []
            for seat, size in enumerate(view.sizes):
                gift = view.given if seat == following else ()
                drawn = [rest.pop() for _ in range(size - len(gift))] if seat != view.seat else []
                hands.append(view.hand if seat == view.seat else tuple(sorted((*gift, *drawn))))
            if not any(card // 4 == suit for seat, suit in view.voids for card in hands[seat]):
                return tuple(hands), tuple(rest)
        raise RuntimeError(f"No deal fits {view}.")

    def features(self, views: Sequence[HeartsView], scores: Sequence[int]) -> list[list[float]]:
        rows = super().features(views, scores)
        return rows[:1] if self.settings["bug"] == "features of one seat" else rows

    def render(self, view: HeartsView, names: Sequence[str] = SEAT_NAMES) -> str:
        return f"Round {view.round}, your hand: {view.hand}"
