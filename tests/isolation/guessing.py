"""A game of luck for bots with a memory: everybody guesses a hidden number, and is shown it when it is too late."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from harness import NOBODY, SEAT_NAMES, Action, Chance, Event, Game, State, Value, View

NUMBERS = 4


@dataclass(frozen=True, eq=False, slots=True)
class Guess(Action):
    """It is this number."""

    kind: ClassVar[str] = "guess"
    number: int


class GuessView(View, frozen=True):
    """What everybody sees."""

    label: int
    """By which the deal can be recognised."""
    shown: int
    """The number; -1 until everybody has guessed."""


class GuessState(State[GuessView]):
    """Everybody guesses once, then everybody is asked once more, for nothing."""

    __slots__ = ("asked", "guesses", "label", "number")
    game: Guessing

    def __init__(self, game: Guessing, players: int, chance: Chance, log: list[Event] | None) -> None:
        self.game, self.players, self.chance, self.log = game, players, chance, log
        self.phase, self.ending, self.asked = "guess", "", 0
        self.guesses: tuple[int, ...] = ()
        self.label = chance.derive("label") % 2**40
        [self.number] = chance.dice(1, NUMBERS, "number")
        self.seat, self.legal = 0, game.actions

    def step(self, action: Action) -> None:
        """A guess, or an answer that does not count."""
        assert isinstance(action, Guess)
        self.asked += 1
        if len(self.guesses) < self.players:
            self.guesses += (action.number,)
        if self.asked == 2 * self.players:
            self.seat, self.phase, self.legal, self.ending = NOBODY, "over", (), "finished"
        else:
            self.seat = self.asked % self.players

    def clone(self) -> GuessState:
        """An independent copy."""
        new = copy(self)
        new.log = None
        return new

    def view(self, seat: int) -> GuessView:
        """The label, and later the number."""
        shown = self.number if len(self.guesses) == self.players else -1
        return GuessView(seat, self.seat, self.phase, self.label, shown)

    def scores(self) -> tuple[int, ...]:
        """A point for who has guessed right."""
        return tuple(int(guess == self.number) for guess in self.guesses)


class Guessing(Game[GuessView]):
    """Guess a number."""

    name, title, version = "guessing", "Guessing", "1"
    min_players, max_players = 2, 6
    view_type = GuessView

    def __init__(self, settings: Mapping[str, Value], files: Mapping[str, str]) -> None:
        super().__init__(settings, files)
        table: list[Action] = []
        for number in range(NUMBERS):
            self.add(table, Guess, f"number {number}", number)
        self.actions = tuple(table)

    def new(self, players: int, chance: Chance, log: list[Event] | None = None) -> GuessState:
        """A fresh state."""
        return GuessState(self, players, chance, log)

    def imagine(self, view: GuessView, rng: Random) -> GuessState:
        """Nobody needs it here."""
        raise NotImplementedError

    def render(self, view: GuessView, names: Sequence[str] = SEAT_NAMES) -> str:
        """The view in words."""
        return f"deal {view.label}: {view.shown}"
