"""Laws about hidden information: what a seat may know, and which states it must be able to imagine."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from math import comb, log
from random import Random
from typing import Any

from harness.core.action import Action, View
from harness.core.compiled import attribute_names
from harness.core.errors import ConformanceError
from harness.core.game import Game, State
from harness.core.records import Event
from harness.core.rng import Chance, Part

# A trial is one play of a game under which the laws are checked.


Policy = Callable[[Any, Sequence[Action], Random], Action]


def at_random(_view: object, legal: Sequence[Action], rng: Random) -> Action:
    """Return any legal action."""
    return legal[int(rng.random() * len(legal))]


@dataclass(frozen=True, slots=True)
class Trial:
    """A game, a number of players, a deal, and who chooses. Random play misses what only thrift leads to:
    try other policies too."""

    game: Game[Any]
    players: int
    seed: int = 1
    policy: Policy = at_random
    most_decisions: int = 20_000

    def new(self, log: list[Event] | None = None) -> State[Any]:
        """Return the state at the first choice."""
        return self.game.new(self.players, Chance(self.seed), log)

    def rng(self) -> Random:
        """Return the generator behind the policy."""
        return Random(self.seed)

    def play(self, state: State[Any]) -> Iterator[State[Any]]:
        """Play on; yields the state at each choice, before it is made, and once more when the game is over."""
        from harness.core.errors import ConformanceError

        rng = self.rng()
        for _ in range(self.most_decisions):
            yield state
            if not state.legal:
                return
            state.step(self.policy(state.view(state.seat), state.legal, rng))
        raise ConformanceError(f"{self} has not ended after {self.most_decisions} choices.")


def check_game(game: Game[Any], seeds: Sequence[int] = (1, 2, 3), policy: Policy = at_random) -> None:
    """Every law at every player count; raises ConformanceError at the first one that is broken."""
    from harness.conformance.laws import LAWS

    for players in range(game.min_players, game.max_players + 1):
        for seed in seeds:
            for law in LAWS:
                law(Trial(game, players, seed, policy))


# Worlds that a seat may be in: the choices of a match as one seat saw them, and imagined states that follow them.


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
        """Return the names drawn since it was last asked."""
        names, self._names = self._names, []
        return names


@dataclass(frozen=True, slots=True)
class Step:
    """A choice and what came of it, as one seat saw it."""

    after: State[Any]
    events: list[Event]
    view: View

    def looks_like(self, other: Step) -> bool:
        """Return whether the seat cannot tell the two apart."""
        return self.events == other.events and self.view == other.view


def take_step(state: State[Any], action: Action, seat: int, luck: Chance) -> Step:
    """Return what this seat sees of an action with this luck; the state stays as it is."""
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
    """Return a choice of a match as a seat saw it; `seed` is for luck that might have come instead."""
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
    """Return the imagined state after choices that look to the seat as those of its history did; None if it cannot go
    so.

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
    """Return every choice of a match: the state before it, and what was chosen."""
    choices, rng, state = [], trial.rng(), trial.new()
    while state.legal:
        action = trial.policy(state.view(state.seat), state.legal, rng)
        choices.append((state.clone(), action))
        state.step(action)
    return choices


# A text of everything in a state: two states are the same if and only if their fingerprints are.


def fingerprint(state: State[Any]) -> str:
    """Everything in the state as text; its caches and who listens to it are left out."""
    parts = ", ".join(f"{name}={text}" for name, text in attributes(state).items())
    return f"{type(state).__name__}({parts})"


def attributes(state: State[Any]) -> dict[str, str]:
    """Return the attributes of a state as texts, by name; its caches and who listens to it are left out."""
    left_out = {"log", *state.caches}
    found = {name: _text(value) for name, value in _parts(state) if name not in left_out}
    if not {"seat", "phase", "legal"} <= found.keys():  # then two states would be the same, whatever is in them
        raise TypeError(f"What is in a {type(state).__name__} cannot be seen: it has neither __slots__ nor a __dict__.")
    return found


Fact = tuple[str, str]
"""A place in a state and what is there: `("hands[2]", "17")`."""


def facts(state: State[Any], names: Collection[str]) -> set[Fact]:
    """Return what is where in these attributes of a state: what each place holds, and for collections also all that
    they contain."""
    found: set[Fact] = set()
    for name in names:
        _collect(getattr(state, name), name, found)
    return found


def varying(states: Sequence[State[Any]]) -> set[str]:
    """Return the attributes in which these states differ, except luck, what only follows from the rest, and what the
    rules let seats forget."""
    one, *others = states
    return {
        name
        for name, value in _substance(one)
        if name not in one.forgets and any(getattr(other, name) != value for other in others)
    }


def _collect(value: object, path: str, found: set[Fact]) -> str:
    inside = None if hasattr(value, "_fields") else _inside(value, path)  # a named tuple is a thing, as a card
    if inside is None:
        text = _text(value)
        found.add((path, text))
    else:
        texts = [_collect(each, place, found) for place, each in inside]
        found.update((path, each) for each in texts)
        text = f"[{', '.join(texts)}]"
    return text


def contents(thing: object, path: str = "") -> dict[str, str]:
    """Return each place in a state, or in the data of an event, with all the plain values that it holds, in no
    order."""
    found: dict[str, str] = {}
    if isinstance(thing, State):
        for name, value in _substance(thing):
            _gather(value, name, found)
    else:
        _gather(thing, path, found)
    return found


def _gather(value: object, path: str, found: dict[str, str]) -> list[str]:
    inside = _inside(value, path)
    if inside is None:
        texts = [_text(value)]
    else:
        texts = sorted(text for place, each in inside for text in _gather(each, place, found))
    found[path] = " ".join(texts)
    return texts


def _substance(state: State[Any]) -> list[tuple[str, object]]:
    left_out = {"log", "chance", "game", "legal", *state.caches}
    return [(name, value) for name, value in _parts(state) if name not in left_out]


def _inside(value: object, path: str) -> list[tuple[str, object]] | None:
    """Return what is inside of a value, place by place; None for what has no inside."""
    match value:
        case None | bool() | int() | float() | str() | bytes() | Enum() | Action() | Game() | Chance():
            return None
        case tuple() | list():
            return [(f"{path}[{place}]", each) for place, each in enumerate(value)]
        case set() | frozenset():
            return [(f"{path}[{place}]", each) for place, each in enumerate(sorted(value, key=_text))]
        case dict():
            return [(f"{path}.{key}", each) for key, each in value.items()]
    return [(f"{path}.{name}", part) for name, part in _parts(value) if not name.startswith("__")]


def _parts(thing: object) -> Iterable[tuple[str, object]]:
    return [(name, getattr(thing, name)) for name in attribute_names(thing)]


def _text(value: object) -> str:
    match value:
        case Action():
            return f"#{value.code}"
        case Game() | Chance():
            return repr(value)
        case Enum():
            return repr(value.value)
        case None | bool() | int() | float() | str() | bytes():
            return repr(value)
        case tuple() | list():
            return f"[{', '.join(map(_text, value))}]"
        case set() | frozenset():
            return f"{{{', '.join(sorted(map(_text, value)))}}}"
        case dict():
            return f"{{{', '.join(sorted(f'{_text(k)}: {_text(v)}' for k, v in value.items()))}}}"
    inner = ", ".join(f"{name}={_text(part)}" for name, part in _parts(value) if not name.startswith("__"))
    return f"{type(value).__name__}({inner})"


# Two laws about what a seat knows: events tell it nothing that its view hides, and what it imagines fits what it saw.
#
# Both compare the match with imagined worlds, a sample of them: they may miss a bug in one trial and find it in
# another, and the same trial always ends alike. What is imagined is doubted only at odds of one in ten billion
# (`_SURE`). An event is doubted after eight worlds in a row (`_TOLD_APART`), which is weaker: a game in which a seat
# is told something that neither its view nor the state keeps, while other things stay hidden, may be blamed for it
# once in hundreds of trials.


_DEALS = 12
_OF_EACH_KIND = 3
_TRIES = 3
_TOLD_APART = 8
_WINDOWS = 10
_LENGTHS = (0, 0, 1, 3)
"""How many more choices before the last one a seat is followed over."""
_FEWEST = 20
_MOST_WORLDS = 2000
_PATIENCE = 200
_OFTEN = 0.2
"""A fact that fewer imagined states have is too rare to say that it should not be there."""
_SURE = 23.0
"""How unlikely, as a logarithm, it must be that worlds which fit the history lack by chance what imagined ones have."""


def events_tell_no_more_than_views(trial: Trial) -> None:
    """What an event tells a seat about something that is still hidden, its view tells as well: nothing leaks."""
    _check_deals(trial)
    rng = trial.rng()
    tried: Counter[tuple[str, str]] = Counter()
    for number, (state, action) in enumerate(choices_of(trial)):
        kind = state.phase, action.kind
        tried[kind] += 1
        if tried[kind] <= _OF_EACH_KIND:
            for seat in range(trial.players):
                _check_step(trial, state, action, seat, number, rng)


def _check_step(trial: Trial, state: State[Any], action: Action, seat: int, number: int, rng: Random) -> None:
    """Of worlds that look the same to the seat before and after an action, some have the same events, however much is
    hidden; if not, it is told what is hidden. What was told and is gone (dice that are rolled again) is no secret."""
    real = take_step(state, action, seat, state.chance)
    apart = 0
    for tries in range(_TOLD_APART * 2):
        if tries - apart >= _TRIES:
            return
        world = trial.game.imagine(state.view(seat), rng)
        other = take_step(world, action, seat, state.chance) if action in world.legal else None
        if other is None or other.view != real.view:
            continue
        if other.events == real.events or not _unlike(state, world) <= _unlike(real.after, other.after):
            return
        apart += 1
        if apart == _TOLD_APART:
            told = next(event for event in real.events if event not in other.events)
            raise ConformanceError(
                f"Choice {number}, {action}: seat {seat} is told {told.kind} {told.data}, by which it can tell states "
                f"apart that its view does not tell apart. Tell it to those who may know (Event(..., to=...)), or "
                f"put it into their views."
            )


def _unlike(one: State[Any], other: State[Any]) -> set[str]:
    left, right = attributes(one), attributes(other)
    return {name for name in left if name != "chance" and left[name] != right.get(name)}


def _check_deals(trial: Trial) -> None:
    """No event of the deal tells a seat, deal after deal, what a part of the state holds that it imagines otherwise."""
    rng = trial.rng()
    suspects: list[dict[tuple[str, str], set[str]]] = [{} for _ in range(trial.players)]
    hidden: Counter[tuple[int, str]] = Counter()
    for number in range(_DEALS):
        dealt: list[Event] = []
        state = trial.game.new(trial.players, Chance(trial.seed * _DEALS + number), dealt)
        holds = contents(state)
        for seat, pairs in enumerate(suspects):
            imagined = contents(trial.game.imagine(state.view(seat), rng))
            hidden.update((seat, place) for place, held in holds.items() if imagined.get(place) != held)
            told = _told(dealt, seat)
            if number == 0:
                pairs |= {(what, place): set() for what in told for place in holds if told[what] == holds[place]}
            for what, place in list(pairs):
                if what in told and told[what] == holds.get(place):
                    pairs[what, place].add(told[what])
                else:
                    del pairs[what, place]
    for seat, pairs in enumerate(suspects):
        for (what, place), values in sorted(pairs.items(), key=lambda pair: len(pair[0][1])):  # a whole hand first
            if hidden[seat, place] > _DEALS / 2 and len(values) > _DEALS / 4:
                raise ConformanceError(
                    f"At the deal seat {seat} is told {what}, which is what {place} of the state holds in every deal; "
                    f"but its view hides that, and imagine deals otherwise. Tell it to those who may know "
                    f"(Event(..., to=...)), or put it into their views."
                )


def _told(events: Sequence[Event], seat: int) -> dict[str, str]:
    """Return what the events tell a seat, each piece by a name: `hand 2.cards` is in the second event `hand`."""
    told: dict[str, str] = {}
    seen: Counter[str] = Counter()
    for event in events:
        if event.to is None or seat in event.to:
            seen[event.kind] += 1
            told |= contents(event.data, f"{event.kind} {seen[event.kind]}")
    return told


def imagined_states_fit_what_was_seen(trial: Trial) -> None:
    """What a seat must know from what it saw and did, if only it remembers, holds in the states that it imagines."""
    choices = choices_of(trial)
    rng = trial.rng()
    kinds: dict[tuple[str, str], list[int]] = {}
    for number, (state, action) in enumerate(choices[:-1]):  # after the last one there is nothing to imagine
        kinds.setdefault((state.phase, action.kind), []).append(number)
    for window in range(_WINDOWS if kinds else 0):
        last = rng.choice(list(kinds.values())[window % len(kinds)])
        first = max(0, last - rng.choice(_LENGTHS))
        actor = choices[last][0].seat
        seat = actor if window // len(kinds) % 2 else (actor + rng.randrange(1, trial.players)) % trial.players
        _check_window(trial, choices[first : last + 1], first, seat, rng)


def _check_window(trial: Trial, choices: list[tuple[State[Any], Action]], first: int, seat: int, rng: Random) -> None:
    """Compares the states that a seat imagines after these choices with those it could have imagined before them and
    that, played on, looked the same to it."""

    def imagine(view: View) -> State[Any]:
        return trial.game.imagine(view, rng)

    history = [watch(state, action, seat, rng.getrandbits(48)) for state, action in choices]
    # Luck of which the seat saw a part is the real luck in all worlds, the part that it did not see included. So it
    # may come in the last choice only, and what it decides about proves nothing.
    begin = max((place + 1 for place, seen in enumerate(history[:-1]) if seen.open_luck), default=0)
    before, history = choices[begin][0].view(seat), history[begin:]
    after = history[-1].step
    sample = [imagine(after.view) for _ in range(_FEWEST)]
    # An attribute that is the same in all imagined states is known to the seat, or book-keeping.
    hidden = varying(sample)
    real = facts(after.after, hidden)
    moved = {_part(place) for other in history[-1].otherwise for place, _ in real ^ facts(other, hidden)}
    imagined = _Tally(facts(state, hidden) for state in sample)
    fitting = _Tally([real])
    suspects = {fact for fact in {*imagined.counts, *fitting.counts} if _part(fact[0]) not in moved}
    surest = 0.0
    for tries in range(1, _MOST_WORLDS + 1):
        if tries % _PATIENCE == 0 and surest * _MOST_WORLDS < _SURE * tries:
            return  # too few worlds fit to become sure
        world = follow(imagine(before), history, seat, rng)
        if world is None:
            continue
        fitting.add(facts(world, hidden))
        if imagined.states < fitting.states:
            imagined.add(facts(imagine(after.view), hidden))
        suspects = {fact for fact in suspects if _doubt(fact, imagined, fitting) >= _OFTEN * imagined.states}
        if not suspects:
            return
        fact = max(suspects, key=lambda each: _doubt(each, imagined, fitting))
        doubt = _doubt(fact, imagined, fitting)
        surest = _surprise(doubt, imagined.states, fitting.states)
        if surest > _SURE:
            place, text = fact
            often = f"leaves {text} out of {place}" if fitting.counts[fact] else f"puts {text} into {place}"
            raise ConformanceError(
                f"What seat {seat} saw from choice {first + begin} to {first + len(choices) - 1} rules out that, after "
                f"it, imagine {often}: so are {doubt} of {imagined.states} imagined states, and none of "
                f"{fitting.states} that fit. The view must tell what a seat knows from play, and imagine heed it."
            )


def _part(place: str) -> str:
    """Return `hands[2]` of `hands[2][0].suit`."""
    return "".join(re.findall(r"^\w+|(?<=\w)[\[.]\w+\]?", place)[:2])


class _Tally:
    """How many states have each fact."""

    def __init__(self, states: Iterable[set[Fact]]) -> None:
        self.counts: Counter[Fact] = Counter()
        self.states = 0
        for found in states:
            self.add(found)

    def add(self, found: set[Fact]) -> None:
        """Count one more."""
        self.counts.update(found)
        self.states += 1


def _doubt(fact: Fact, imagined: _Tally, fitting: _Tally) -> int:
    """Return how many imagined states have a fact that none has that fits, or lack one that all of those have."""
    count = fitting.counts[fact]
    if not count:
        return imagined.counts[fact]
    return imagined.states - imagined.counts[fact] if count == fitting.states else 0


def _surprise(odd: int, imagined: int, fitting: int) -> float:
    """Return how unlikely it is, as a logarithm, that by chance all the odd ones are among the imagined (Fisher's
    test)."""
    return log(comb(imagined + fitting, odd)) - log(comb(imagined, odd)) if odd else 0.0
