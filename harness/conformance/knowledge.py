"""Two laws about what a seat knows: events tell it nothing that its view hides, and what it imagines fits what it saw.

Both compare the match with imagined worlds, a sample of them: they may miss a bug in one trial and find it in another,
and the same trial always ends alike. What is imagined is doubted only at odds of one in ten billion (`_SURE`). An event
is doubted after eight worlds in a row (`_TOLD_APART`), which is weaker: a game in which a seat is told something that
neither its view nor the state keeps, while other things stay hidden, may be blamed for it once in hundreds of trials.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import comb, log
from random import Random
from typing import Any

from harness.conformance.fingerprint import Fact, attributes, contents, facts, varying
from harness.conformance.trial import Trial
from harness.conformance.worlds import choices_of, follow, take_step, watch
from harness.core.action import Action
from harness.core.chance import Chance
from harness.core.errors import ConformanceError
from harness.core.game import State
from harness.core.types import Event
from harness.core.view import View

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
    """What the events tell a seat, each piece by a name: `hand 2.cards` is in the second event `hand`."""
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
    """`hands[2]` of `hands[2][0].suit`."""
    return "".join(re.findall(r"^\w+|(?<=\w)[\[.]\w+\]?", place)[:2])


class _Tally:
    """How many states have each fact."""

    def __init__(self, states: Iterable[set[Fact]]) -> None:
        self.counts: Counter[Fact] = Counter()
        self.states = 0
        for found in states:
            self.add(found)

    def add(self, found: set[Fact]) -> None:
        """Counts one more."""
        self.counts.update(found)
        self.states += 1


def _doubt(fact: Fact, imagined: _Tally, fitting: _Tally) -> int:
    """How many imagined states have a fact that none has that fits, or lack one that all of those have."""
    count = fitting.counts[fact]
    if not count:
        return imagined.counts[fact]
    return imagined.states - imagined.counts[fact] if count == fitting.states else 0


def _surprise(odd: int, imagined: int, fitting: int) -> float:
    """How unlikely it is, as a logarithm, that by chance all the odd ones are among the imagined (Fisher's test)."""
    return log(comb(imagined + fitting, odd)) - log(comb(imagined, odd)) if odd else 0.0
