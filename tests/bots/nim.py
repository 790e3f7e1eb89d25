"""Nim with one pile: take one to three stones, whoever takes the last one wins. Nothing is hidden, all is solved.

With two players a pile that four divides is lost for whoever must take from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from harness import NOBODY, SEAT_NAMES, Action, Chance, Event, Game, Option, State, View

MOST = 3


class NimView(View, frozen=True):
    """The pile, and who has taken the last stone."""

    pile: int
    players: int
    winner: int


class NimState(State[NimView]):
    """The pile."""

    __slots__ = ("pile", "winner")

    def __init__(self, game: Game[NimView], chance: Chance, view: NimView) -> None:
        self.game, self.players, self.chance, self.log = game, view.players, chance, None
        self.pile, self.seat, self.winner = view.pile, view.turn, view.winner
        self._settle()

    def _settle(self) -> None:
        self.legal = self.game.actions[: self.pile]
        self.phase, self.ending = ("take", "") if self.pile else ("over", "finished")

    def step(self, action: Action) -> None:
        self.pile -= action.code + 1
        if self.pile:
            self.seat = (self.seat + 1) % self.players
        else:
            self.seat, self.winner = NOBODY, self.seat
        self._settle()

    def clone(self) -> NimState:
        return NimState(self.game, self.chance, self.view(0))

    def view(self, seat: int) -> NimView:
        return NimView(seat, self.seat, self.phase, self.pile, self.players, self.winner)

    def scores(self) -> tuple[int, ...]:
        return tuple(int(seat == self.winner) for seat in range(self.players))


class Nim(Game[NimView]):
    """One pile of stones."""

    name, title, version = "nim", "Nim", "1"
    min_players, max_players = 2, 6
    options = (Option("pile", 10, "stones at the start", kind="int", minimum=1),)
    view_type = NimView

    def __init__(self, settings: Mapping[str, str | int | bool], files: Mapping[str, str]) -> None:
        super().__init__(settings, files)
        table: list[Action] = []
        for stones in range(1, MOST + 1):
            self.add(table, Action, f"take {stones}")
        self.actions = tuple(table)

    def new(self, players: int, chance: Chance, log: list[Event] | None = None) -> NimState:
        return NimState(self, chance, NimView(0, 0, "take", int(self.settings["pile"]), players, NOBODY))

    def imagine(self, view: NimView, rng: Random) -> NimState:
        return NimState(self, Chance(rng.getrandbits(48)), view)

    def render(self, view: NimView, names: Sequence[str] = SEAT_NAMES) -> str:
        return f"{view.pile} stones"
