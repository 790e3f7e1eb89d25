"""A game whose shares of luck and skill are known: skill, the deal or the seat decides each deal, or none of them."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import ClassVar

from harness import NOBODY, Action, Bot, Chance, Event, Game, Option, State, View

STRENGTHS = 4


@dataclass(frozen=True, eq=False, slots=True)
class Say(Action):
    """Name a strength."""

    kind: ClassVar[str] = "say"


class KnownView(View, frozen=True):
    pass


class KnownState(State[KnownView]):
    __slots__ = ("said",)

    def __init__(self, game, players, chance, log):
        self.game, self.players, self.chance, self.log = game, players, chance, log
        self.said, self.ending = (), ""
        self.seat, self.phase, self.legal = 0, "say", game.actions

    def clone(self):
        new = copy(self)
        new.log = None
        return new

    def view(self, seat):
        return KnownView(seat, self.seat, self.phase)

    def decider(self):
        """Return what decides this deal: skill, deal, seat or, as a draw that depends on who plays, chaos."""
        drawn, settings = self.chance.pick(100, "decider"), self.game.settings
        for what in ("skill", "deal", "seat"):
            drawn -= settings[what]
            if drawn < 0:
                return what
        return "chaos"

    def scores(self):
        if len(self.said) < self.players:
            return (0,) * self.players
        what = self.decider()
        if what == "skill":
            return self.said
        if what == "seat":
            return tuple(range(self.players))
        where = ("deal",) if what == "deal" else ("chaos", *self.said)
        return tuple(self.chance.shuffled(range(self.players), *where))

    def step(self, action):
        self.said += (action.code,)
        if self.log is not None:
            self.log.append(Event("said", {"seat": self.seat, "strength": action.code}))
        self.seat += 1
        if self.seat == self.players:
            self.seat, self.phase, self.legal, self.ending = NOBODY, "over", (), self.decider()


class Known(Game[KnownView]):
    name = "known"
    title = "Known"
    version = "1"
    min_players = 2
    max_players = 4
    options = tuple(Option(what, 0, "percent of deals", kind="int") for what in ("skill", "deal", "seat"))
    view_type = KnownView
    rule_events: ClassVar = {
        "KN-1": "said",
        "KN-2": lambda kind, data: kind == "said" and data["strength"] == 0,
        "KN-3": "never",
    }

    def __init__(self, settings, files):
        super().__init__(settings, files)
        table = []
        for number in range(STRENGTHS):
            self.add(table, Say, f"say {number}")
        self.actions = tuple(table)

    def new(self, players, chance, log=None):
        self.check_chance(chance)
        return KnownState(self, players, chance, log)

    def imagine(self, view, rng):
        return KnownState(self, 2, Chance(rng.getrandbits(40)), None)

    def render(self, view, names=()):
        return "?"

    def rules_text(self):
        return "- KN-1 Each player says a strength.\n- KN-2 Zero is a strength.\n- KN-3 No.\n- KN-4 The best wins.\n"


def bot(strength):
    """Return a bot class that always says this strength."""

    class OfStrength(Bot):
        name = f"strength-{strength}"
        games = ("known",)

        def choose(self, view, actions):
            return actions[strength]

    return OfStrength


BOTS = [bot(strength) for strength in range(STRENGTHS)]
