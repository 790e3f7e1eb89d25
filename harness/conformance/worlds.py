"""Worlds that a seat may be in: the choices of a match as one seat saw them, and imagined states that follow them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from harness.conformance.trial import Trial
from harness.core.action import Action
from harness.core.chance import Chance, Part
from harness.core.game import State
from harness.core.types import Event
from harness.core.view import View

_REDRAWN = 8
"""How often luck is drawn anew to find out what it decides about."""


class NotedLuck(Chance):
    """Luck that notes the names it is drawn by; those for which `other` says so come from another deal."""

    __slots__ = ("_another", "_names", "_other")

    def __init__(self, seed: int, other: Callable[[str], bool] | None = None, another: Chance | None = None) -> None:
        super().__init__(seed)
        self._names: list[str] = []
        self._other, self._another = other, another

    def number_for(self, where: tuple[Part, ...]) -> int:
        """As of any luck."""
        name = "/".join(map(str, where))
        self._names.append(name)
        if self._other is not None and self._another is not None and self._other(name):
            return self._another.number_for(where)
        return super().number_for(where)

    def take_names(self) -> list[str]:
        """The names drawn since it was last asked."""
        names, self._names = self._names, []
        return names


@dataclass(frozen=True, slots=True)
class Step:
    """A choice and what came of it, as one seat saw it."""

    after: State[Any]
    events: list[Event]
    view: View

    def looks_like(self, other: Step) -> bool:
        """Whether the seat cannot tell the two apart."""
        return self.events == other.events and self.view == other.view


def take_step(state: State[Any], action: Action, seat: int, luck: Chance) -> Step:
    """What this seat sees of an action with this luck; the state stays as it is."""
    after, log = state.clone(), list[Event]()
    after.chance, after.log = luck, log
    after.step(action)
    after.log = None
    return Step(after, [event for event in log if event.to is None or seat in event.to], after.view(seat))


@dataclass(frozen=True, slots=True)
class SeenChoice:
    """A choice of a match that one seat has watched, or made."""

    own: bool
    """Whether it was the seat's own."""
    action: Action
    step: Step
    open_luck: frozenset[str]
    """The luck that the seat saw something of: drawn otherwise, it would have seen something else."""
    otherwise: list[State[Any]]
    """States that might have come of it by other luck, as far as the seat would have noticed."""


def watch(state: State[Any], action: Action, seat: int, seed: int) -> SeenChoice:
    """A choice of a match as a seat saw it; `seed` is for luck that might have come instead."""
    luck = NotedLuck(state.chance.seed)
    step = take_step(state, action, seat, luck)
    seen, otherwise = set(), []
    for name in set(luck.take_names()):
        for turn in range(_REDRAWN):
            redrawn = NotedLuck(state.chance.seed, name.__eq__, Chance(seed + turn))
            other = take_step(state, action, seat, redrawn)
            if not other.looks_like(step):
                seen.add(name)
                otherwise.append(other.after)
    return SeenChoice(state.seat == seat, action, step, frozenset(seen), otherwise)


def follow(world: State[Any], history: Sequence[SeenChoice], seat: int, rng: Random) -> State[Any] | None:
    """The imagined state after choices that look to the seat as those of its history did; None if it cannot go so.

    What others chose may be hidden: any choice of theirs will do that the seat cannot tell from the real one.
    """
    for seen in history:
        luck = NotedLuck(rng.getrandbits(48), seen.open_luck.__contains__, seen.step.after.chance)
        tried = [seen.action] if seen.own else [rng.choice(world.legal), seen.action]
        steps = (take_step(world, action, seat, luck) for action in tried if action in world.legal)
        fitting = next((step for step in steps if step.looks_like(seen.step)), None)
        if fitting is None:
            return None
        world = fitting.after
    return world


def choices_of(trial: Trial) -> list[tuple[State[Any], Action]]:
    """Every choice of a match: the state before it, and what was chosen."""
    choices, rng, state = [], trial.rng(), trial.new()
    while state.legal:
        action = trial.policy(state.view(state.seat), state.legal, rng)
        choices.append((state.clone(), action))
        state.step(action)
    return choices
