"""A game so small that all its luck can be gone through: three cards, a coin, two seats with a choice each."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

from harness import NOBODY, SEAT_NAMES, Action, Chance, Game, GameRecord, State, View, ranks_of

DECKS, COINS, ORDERS = range(6), range(2), range(2)
"""The numbers that a scripted luck may give: orders of three cards, sides of a coin, orders of two cards."""


@dataclass(frozen=True, eq=False, slots=True)
class Yes(Action):
    kind: ClassVar[str] = "yes"


@dataclass(frozen=True, eq=False, slots=True)
class No(Action):
    kind: ClassVar[str] = "no"


class TopCardView(View, frozen=True):
    mine: int
    coin: int
    drawn: int
    bet: bool


class TopCardState(State[TopCardView]):
    """Seat 0 has a card that it alone sees and may bet on a coin; then seat 1 may take the top card."""

    __slots__ = ("bet", "card", "coin", "drawn", "pile")

    def __init__(self, game, players, chance, log):
        self.game, self.players, self.chance, self.log = game, players, chance, log
        self.card, *pile = chance.shuffled(range(3), "deck")
        self.pile, self.coin, self.drawn, self.bet, self.ending = tuple(pile), NOBODY, NOBODY, False, ""
        self.seat, self.phase, self.legal = 0, "bet", game.actions

    def clone(self):
        new = copy(self)
        new.log = None
        return new

    def unseen(self):
        return len(self.pile)

    def redealt(self, chance):
        new = self.clone()
        new.chance, new.pile = chance, tuple(chance.shuffled(self.pile, "unseen"))
        return new

    def view(self, seat):
        mine = self.card if seat == 0 else NOBODY
        return TopCardView(seat, self.seat, self.phase, mine, self.coin, self.drawn, self.bet)

    def scores(self):
        won = (1 if self.coin else -1) if self.bet else 0
        return 2 * (self.card + won), 2 * self.drawn if self.drawn != NOBODY else 1

    def step(self, action):
        if self.phase == "bet":
            self.bet, self.coin = isinstance(action, Yes), self.chance.pick(2, "coin")
            self.seat, self.phase = 1, "take"
            return
        if isinstance(action, Yes):
            self.drawn, self.pile = self.pile[0], self.pile[1:]
        self.seat, self.phase, self.legal, self.ending = NOBODY, "over", (), "finished"


class PeekingState(TopCardState):
    """A bad engine: it deals anew what seat 0 has seen, and may have acted upon."""

    __slots__ = ()

    def redealt(self, chance):
        new = self.clone()
        new.chance = chance
        new.card, *pile = chance.shuffled((self.card, *self.pile), "unseen")
        new.pile = tuple(pile)
        return new


class TopCard(Game[TopCardView]):
    name = "top-card"
    title = "Top card"
    version = "1"
    min_players = max_players = 2
    view_type = TopCardView
    state: ClassVar[type[TopCardState]] = TopCardState

    def __init__(self, settings, files):
        super().__init__(settings, files)
        table = []
        self.add(table, Yes, "yes")
        self.add(table, No, "no")
        self.actions = tuple(table)

    def new(self, players, chance, log=None):
        return self.state(self, players, chance, log)

    def imagine(self, view, rng):
        raise NotImplementedError

    def render(self, view, names=SEAT_NAMES):
        return ""


class BadTopCard(TopCard):
    name = "bad-top-card"
    state = PeekingState


def play(game, seed):
    """A match: seat 0 bets on its highest card, seat 1 takes a card after heads. Its record."""
    state, actions = game.new(2, Chance(seed)), []
    while state.legal:
        wanted = state.view(0).mine == 2 if state.phase == "bet" else state.coin == 1
        actions.append(game.actions[0 if wanted else 1])
        state.step(actions[-1])
    scores = state.scores()
    return GameRecord(
        f"top-{seed}", seed, "top", game.name, game.version, {}, seed, ("a", "b"), scores, ranks_of(scores),
        state.ending, tuple(action.code for action in actions), (1, 1),
    )  # fmt: skip


class Script:
    """All luck of the game, actual and alternative, each once: patched in for `Chance.number`."""

    def __init__(self, monkeypatch, unseen=ORDERS):
        self.luck = {}
        self.unseen = unseen
        monkeypatch.setattr(Chance, "number_for", lambda _, where: self.luck.get(where, 0))

    def all(self):
        """Goes through every combination with one alternative for each moment."""
        names = {
            ("deck",): DECKS, ("coin",): COINS, (0, 0, "deck"): DECKS, (1, 0, "unseen"): self.unseen,
            (1, 0, "coin"): COINS, (2, 0, "unseen"): self.unseen,
        }  # fmt: skip
        for numbers in product(*names.values()):
            self.luck = dict(zip(names, numbers, strict=True))
            yield
