"""Laws about hidden information: the knowledge of a seat, and the states that it must be able to imagine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from math import comb, log
from random import Random
from typing import Any

from harness.core.action import Action, View
from harness.core.compiled import attribute_names
from harness.core.errors import ConformanceError
from harness.core.game import Game, State
from harness.core.records import Event
from harness.core.rng import Chance, Part

# Trials: one play of a game in which the laws are checked


Policy = Callable[[Any, Sequence[Action], Random], Action]
MIN_CHOICES = 60


def at_random(_view: object, legal: Sequence[Action], rng: Random) -> Action:
    """Return any legal action."""
    return legal[int(rng.random() * len(legal))]


@dataclass(frozen=True, slots=True)
class Trial:
    """A game, a number of players, a deal, and a policy that chooses. Random play never reaches some situations:
    try other policies, too."""

    game: Game[Any]
    players: int
    seed: int = 1
    policy: Policy = at_random
    max_decisions: int = 20_000

    def new(self, log: list[Event] | None = None) -> State[Any]:
        """Return the state at the first choice."""
        return self.game.new(self.players, Chance(self.seed), log)

    def rng(self) -> Random:
        """Return the generator behind the policy."""
        return Random(self.seed)

    def play(self, state: State[Any]) -> Iterator[State[Any]]:
        """Play on; yield the state at each choice, before it is made, and at the end of the game."""
        rng = self.rng()
        for _ in range(self.max_decisions):
            yield state
            if not state.legal:
                return
            state.step(self.policy(state.view(state.seat), state.legal, rng))
        raise ConformanceError(f"{self} has not ended after {self.max_decisions} choices.")

    def deals(self) -> Iterator[Trial]:
        """Yield this trial and further ones with other deals, until they have `MIN_CHOICES` choices: a match of a tiny
        game has too few to show much."""
        yield self
        luck = Chance(self.seed)
        for number in range(1, -(-MIN_CHOICES // max(1, count_choices(self)))):
            yield replace(self, seed=luck.derive("deal", number))


@lru_cache(maxsize=100)  # every law needs it for the same trials
def count_choices(trial: Trial) -> int:
    """Return the number of choices in the match of a trial."""
    return sum(1 for state in trial.play(trial.new()) if state.legal)


# Worlds that a seat may be in: the choices of a match as one seat saw them, and imagined states that fit them


_REDRAWS = 24
"""How often a draw is replaced to find out what depends on it."""


class RecordingChance(Chance):
    """Luck that records the names of its draws; names for which `other` is true are drawn from another deal."""

    __slots__ = ("_another", "_names", "_other")

    def __init__(self, seed: int, other: Callable[[str], bool] | None = None, another: Chance | None = None) -> None:
        super().__init__(seed)
        self._names: list[str] = []
        self._other, self._another = other, another

    def number_for(self, where: tuple[Part, ...]) -> int:
        """Record the name and return its number."""
        name = "/".join(map(str, where))
        self._names.append(name)
        if self._other is not None and self._another is not None and self._other(name):
            return self._another.number_for(where)
        return super().number_for(where)

    def drain_names(self) -> list[str]:
        """Return the names drawn since the last call."""
        names, self._names = self._names, []
        return names


@dataclass(frozen=True, slots=True)
class Step:
    """A choice and its effect, as one seat saw it."""

    after: State[Any]
    events: list[Event]
    view: View

    def looks_like(self, other: Step) -> bool:
        """Return whether the seat cannot distinguish the two."""
        return self.events == other.events and self.view == other.view


def take_step(state: State[Any], action: Action, seat: int, luck: Chance) -> Step:
    """Return what this seat sees of an action with this luck; the state is not changed."""
    after, log = state.clone(), list[Event]()
    after.chance, after.log = luck, log
    after.step(action)
    after.log = None
    return Step(after, [event for event in log if event.to is None or seat in event.to], after.view(seat))


@dataclass(frozen=True, slots=True)
class SeenChoice:
    """A choice of a match that one seat saw or made."""

    own: bool
    """Whether it was the seat's own."""
    action: Action
    step: Step
    open_luck: frozenset[str]
    """Names of the draws that the seat saw an effect of: with other results it would have seen something else."""
    otherwise: list[State[Any]]
    """States after other results of these draws."""


def watch(state: State[Any], action: Action, seat: int, seed: int) -> SeenChoice:
    """Return a choice of a match as a seat saw it; `seed` is for alternative luck."""
    luck = RecordingChance(state.chance.seed)
    step = take_step(state, action, seat, luck)
    seen, otherwise = set(), []
    for name in sorted(set(luck.drain_names())):
        redrawn = [RecordingChance(state.chance.seed, name.__eq__, Chance(seed + turn)) for turn in range(_REDRAWS)]
        others = [take_step(state, action, seat, other) for other in redrawn]
        if not all(other.looks_like(step) for other in others):
            seen.add(name)
            otherwise += [other.after for other in others]
    return SeenChoice(state.seat == seat, action, step, frozenset(seen), otherwise)


def follow(world: State[Any], history: Sequence[SeenChoice], seat: int, rng: Random) -> State[Any] | None:
    """Return the imagined state after choices that look to the seat like those of its history; None if there are none.

    Choices of other seats may be hidden: any choice that the seat cannot distinguish from the real one is accepted.
    """
    for seen in history:
        luck = RecordingChance(rng.getrandbits(48), seen.open_luck.__contains__, seen.step.after.chance)
        tried = [seen.action] if seen.own else [rng.choice(world.legal), seen.action]
        steps = (take_step(world, action, seat, luck) for action in tried if action in world.legal)
        fitting = next((step for step in steps if step.looks_like(seen.step)), None)
        if fitting is None:
            return None
        world = fitting.after
    return world


def choices_of(trial: Trial) -> list[tuple[State[Any], Action]]:
    """Return every choice of a match: the state before it, and what was chosen."""
    choices, rng, state = [], trial.rng(), trial.new()
    while state.legal:
        action = trial.policy(state.view(state.seat), state.legal, rng)
        choices.append((state.clone(), action))
        state.step(action)
    return choices


# Fingerprints: two states are equal if and only if their fingerprints are


def fingerprint(state: State[Any]) -> str:
    """Return everything in the state as text, without its caches and its log."""
    parts = ", ".join(f"{name}={text}" for name, text in attributes(state).items())
    return f"{type(state).__name__}({parts})"


def attributes(state: State[Any]) -> dict[str, str]:
    """Return the attributes of a state as texts, by name, without its caches and its log."""
    left_out = {"log", *state.caches}
    found = {name: as_text(value) for name, value in _parts(state) if name not in left_out}
    if not {"seat", "phase", "legal"} <= found.keys():  # otherwise all states would be equal
        raise TypeError(f"What is in a {type(state).__name__} cannot be seen: it has neither __slots__ nor a __dict__.")
    return found


Fact = tuple[str, str]
"""A place in a state and what is there: `("hands[2]", "17")`."""


def facts(state: State[Any], names: Collection[str]) -> set[Fact]:
    """Return the facts in these attributes of a state: what each place holds, and for collections all their items."""
    found: set[Fact] = set()
    for name in names:
        _collect(getattr(state, name), name, found)
    return found


def varying_attributes(states: Sequence[State[Any]]) -> set[str]:
    """Return the attributes in which these states differ, without luck, derived values and what seats may forget."""
    one, *others = states
    return {
        name
        for name, value in state_parts(one)
        if name not in one.forgets and any(getattr(other, name) != value for other in others)
    }


def _collect(value: object, path: str, found: set[Fact]) -> str:
    inside = (
        None if hasattr(value, "_fields") else items_inside(value, path)
    )  # a named tuple is one value, such as a card
    if inside is None:
        text = as_text(value)
        found.add((path, text))
    else:
        texts = [_collect(each, place, found) for place, each in inside]
        found.update((path, each) for each in texts)
        text = f"[{', '.join(texts)}]"
    return text


def state_parts(state: State[Any]) -> list[tuple[str, object]]:
    """Return the attributes of a state, without luck, derived values and its log."""
    left_out = {"log", "chance", "game", "legal", *state.caches}
    return [(name, value) for name, value in _parts(state) if name not in left_out]


def items_inside(value: object, path: str) -> list[tuple[str, object]] | None:
    """Return the items of a value with their places; None if it has none."""
    match value:
        case None | bool() | int() | float() | str() | bytes() | Enum() | Action() | Game() | Chance():
            return None
        case tuple() | list():
            return [(f"{path}[{place}]", each) for place, each in enumerate(value)]
        case set() | frozenset():
            return [(f"{path}[{place}]", each) for place, each in enumerate(sorted(value, key=as_text))]
        case dict():
            return [(f"{path}.{key}", each) for key, each in value.items()]
    return [(f"{path}.{name}", part) for name, part in _parts(value) if not name.startswith("__")]


def _parts(thing: object) -> Iterable[tuple[str, object]]:
    return [(name, getattr(thing, name)) for name in attribute_names(thing)]


PLAIN = frozenset({type(None), bool, int, float, str, bytes})


def as_text(value: object) -> str:
    """Return a value as text; equal values have the same text."""
    if type(value) in PLAIN:  # nearly all values: the checks below take several times as long
        return repr(value)
    match value:
        case tuple() | list():
            return f"[{', '.join([as_text(each) for each in value])}]"
        case Action():
            return f"#{value.code}"
        case Enum():
            return repr(value.value)
        case None | bool() | int() | float() | str() | bytes() | Game() | Chance():
            return repr(value)
        case set() | frozenset():
            return f"{{{', '.join(sorted(map(as_text, value)))}}}"
        case dict():
            return f"{{{', '.join(sorted(f'{as_text(k)}: {as_text(v)}' for k, v in value.items()))}}}"
    inner = ", ".join(f"{name}={as_text(part)}" for name, part in _parts(value) if not name.startswith("__"))
    return f"{type(value).__name__}({inner})"


# A law about what a seat knows: what it imagines fits what it saw.
#
# It compares the match with imagined worlds, a sample of them: it may miss a bug in one trial and find it in another,
# but the same trial always has the same result. An imagined state is rejected only at odds of one in ten billion
# (`_MIN_LOG_ODDS`).


_WINDOWS = 10
_WINDOW_LENGTHS = (0, 0, 1, 3)
"""Numbers of choices before the last one that a seat's history has."""
_MIN_SAMPLES = 20
_MAX_WORLDS = 2000
_CHECK_EVERY_WORLDS = 200
_MIN_SHARE = 0.2
"""Minimum share of imagined states with a fact: a rarer one may be missing elsewhere by chance."""
_MIN_LOG_ODDS = 23.0
"""Log odds against the difference between imagined states and fitting worlds being chance."""
_MAX_SHOWN_EVENTS = 3


def imagined_states_fit_what_was_seen(trial: Trial) -> None:
    """What a seat can deduce from what it saw and did holds in the states that it imagines."""
    choices = choices_of(trial)
    rng = trial.rng()
    kinds: dict[tuple[str, str], list[int]] = {}
    for number, (state, action) in enumerate(choices[:-1]):  # after the last one there is nothing to imagine
        kinds.setdefault((state.phase, action.kind), []).append(number)
    for window in range(_WINDOWS if kinds else 0):
        last = rng.choice(list(kinds.values())[window % len(kinds)])
        first = max(0, last - rng.choice(_WINDOW_LENGTHS))
        actor = choices[last][0].seat
        seat = actor if window // len(kinds) % 2 else (actor + rng.randrange(1, trial.players)) % trial.players
        _check_window(trial, choices[first : last + 1], first, seat, rng)


def _check_window(trial: Trial, choices: list[tuple[State[Any], Action]], first: int, seat: int, rng: Random) -> None:
    """Compares the states that a seat imagines after these choices with states that it could have imagined before them
    and that, when played on, looked the same to it."""

    def imagine(view: View) -> State[Any]:
        return trial.game.imagine(view, rng)

    history = [watch(state, action, seat, rng.getrandbits(48)) for state, action in choices]
    # Luck that the seat saw a part of is the real luck in all worlds, including the part that it did not see, which
    # must not be taken for knowledge. So the history may have such luck only in its last choice, and attributes that
    # depend on it are not compared.
    begin = max((place + 1 for place, seen in enumerate(history[:-1]) if seen.open_luck), default=0)
    before, history = choices[begin][0].view(seat), history[begin:]
    after = history[-1].step
    sample = [imagine(after.view) for _ in range(_MIN_SAMPLES)]
    # An attribute that is equal in all imagined states is known to the seat, or derived.
    hidden = varying_attributes(sample) - varying_attributes([after.after, *history[-1].otherwise])
    imagined = _Tally(facts(state, hidden) for state in sample)
    fitting = _Tally([facts(after.after, hidden)])
    suspects = {*imagined.counts, *fitting.counts}
    surest = 0.0
    for tries in range(1, _MAX_WORLDS + 1):
        if tries % _CHECK_EVERY_WORLDS == 0 and surest * _MAX_WORLDS < _MIN_LOG_ODDS * tries:
            return  # too few worlds fit to reach the odds
        world = follow(imagine(before), history, seat, rng)
        if world is None:
            continue
        fitting.add(facts(world, hidden))
        if imagined.states < fitting.states:
            imagined.add(facts(imagine(after.view), hidden))
        suspects = {
            fact for fact in suspects if _count_violations(fact, imagined, fitting) >= _MIN_SHARE * imagined.states
        }
        if not suspects:
            return
        # By name among equals: the order of a set differs between processes.
        fact = max(suspects, key=lambda each: (_count_violations(each, imagined, fitting), each))
        doubt = _count_violations(fact, imagined, fitting)
        surest = _log_odds(doubt, imagined.states, fitting.states)
        if surest > _MIN_LOG_ODDS:
            place, text = fact
            known, deals = ("has", "leaves it out") if fitting.counts[fact] else ("does not have", "puts it there")
            start, end = first + begin, first + len(choices) - 1
            seen = history[-1].step.events[:_MAX_SHOWN_EVENTS]
            events = "; ".join(f"{event.kind} {event.data}" for event in seen)
            last = f"The events that it saw last: {events}. " if events else ""
            raise ConformanceError(
                f"Choice {end} ({choices[-1][1]} by seat {choices[-1][0].seat}): from what seat {seat} saw "
                f"{f'since choice {start}' if start < end else 'then'} it knows that {place} {known} {text}, but "
                f"imagine {deals} in {doubt} of {imagined.states} states, and none of {fitting.states} that fit is "
                f"like that. {last}Put what a seat knows from play into its view, and let imagine keep to it; or hide "
                f"it."
            )


class _Tally:
    """Counts the states that have each fact."""

    def __init__(self, states: Iterable[set[Fact]]) -> None:
        self.counts: Counter[Fact] = Counter()
        self.states = 0
        for found in states:
            self.add(found)

    def add(self, found: set[Fact]) -> None:
        """Count one more."""
        self.counts.update(found)
        self.states += 1


def _count_violations(fact: Fact, imagined: _Tally, fitting: _Tally) -> int:
    """Return how many imagined states have a fact that no fitting world has, or lack one that all of them have."""
    count = fitting.counts[fact]
    if not count:
        return imagined.counts[fact]
    return imagined.states - imagined.counts[fact] if count == fitting.states else 0


def _log_odds(odd: int, imagined: int, fitting: int) -> float:
    """Return how unlikely it is, as a logarithm, that by chance all the odd ones are among the imagined (Fisher's
    test)."""
    return log(comb(imagined + fitting, odd)) - log(comb(imagined, odd)) if odd else 0.0
