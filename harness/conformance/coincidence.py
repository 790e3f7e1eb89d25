"""Two laws that compare real states with imagined ones over many deals: imagined states are possible, and seats learn
no more than their views show.

A view fits the real state and every state that `imagine` makes of it. If the view shows all that the seat knows, then
nothing distinguishes the real state: a claim such as "cards[0] is 3" or "the event's card is cards[0]" that holds in
one of the two states, and not in the other, holds in the real one with probability 1/2. So the chance that a claim
holds `MIN_ONE_SIDED` times in one kind of state only, and never in the other kind only, is 1 in 10^10 for each claim.
Nothing else is a threshold: how often states coincide by chance does not matter, in tiny games as in large ones.

`imagine` may be inexact. It need not know how likely each state is, only which states are possible: a claim that holds
now and then on both sides is never reported.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from random import Random
from typing import Any, NamedTuple

from harness.conformance.information import (
    PLAIN,
    Trial,
    as_text,
    at_random,
    choices_of,
    count_choices,
    items_inside,
    state_parts,
)
from harness.core.action import Action, View, action_fields
from harness.core.errors import ConformanceError
from harness.core.game import State
from harness.core.records import Event
from harness.core.rng import Chance

MIN_ONE_SIDED = 36
MIN_DEALS, MAX_DEALS = 60, 1000
_PLACES_A_SURVEY = 20_000
"""Places of a state times deals: small games get more deals, because more of what they deal coincides by chance."""
_CHOICES_A_SURVEY = 6_000
"""Choices of a match times matches."""
_MANY_DEALS = 400
"""With fewer deals hardly any two values coincide often, so they are not counted."""
_LOOK_EVERY = 100
"""Deals after which the counts are judged."""
_SITUATIONS = 5
"""Situations of a match of a large game from which steps are compared."""
_MAX_JOINT_VALUES = 2
"""More values hardly ever recur, so counting their coincidences is useless."""

Texts = tuple[str, ...]
"""Plain values, sorted: a multiset."""


def imagined_states_are_possible(trial: Trial) -> None:
    """Whatever is the same in all real states (numbers of things, values, multisets, orders, owners) is the same in
    imagined states, and hidden facts differ between two of them."""
    complaint = _survey(trial).of_imagine
    if complaint:
        raise ConformanceError(complaint)


def seats_learn_no_more_than_views_show(trial: Trial) -> None:
    """Events, their order and legal lists reveal nothing that the seat's view hides; views reveal nothing that the
    events of the deal keep from a seat."""
    complaint = _survey(trial).of_leaks
    if complaint:
        raise ConformanceError(complaint)


# The survey: real states of many deals, each compared with imagined ones


class _Findings(NamedTuple):
    of_imagine: str
    of_leaks: str


class _Moment(NamedTuple):
    """A real state just after a step, or after the deal, as one seat sees it."""

    state: State[Any]
    seat: int
    events: list[Event]
    """Of this step, including those that the seat does not get."""
    kind: str
    """Moments of one kind are counted together: at most one in each deal, because what is hidden in a deal is the same
    for all of them."""
    actor: int
    """The seat that chose the step; -1 at the deal."""
    action: Action | None
    seed: int
    number: int
    """Number of choices made before."""

    def relative(self, place: str) -> str:
        """Return `hands[actor]` for `hands[2]`: what one seat learns of another one, whichever seats they are."""
        place = place.replace(f"[{self.seat}]", "[viewer]")
        return place.replace(f"[{self.actor}]", "[actor]") if self.actor >= 0 else place


@lru_cache(maxsize=1)  # both laws need it, one after the other
def _survey(trial: Trial) -> _Findings:
    rng = trial.rng()
    first = trial.new()
    places = len(_describe(_attributes(first), first.players))
    deals = min(MAX_DEALS, max(MIN_DEALS, _PLACES_A_SURVEY // places))
    small = deals >= _MANY_DEALS
    matches = _CHOICES_A_SURVEY // max(1, count_choices(trial))
    of_imagine, of_leaks = _Tally(), _Tally()
    earlier: dict[int, dict[Texts, set[str]]] = {}
    for deal in range(deals):
        for moment in _deal_moments(trial, deal, small):
            _compare(trial, moment, rng, of_imagine, of_leaks, small)
            shown = _places_by_content(moment.state.view(moment.seat))
            _compare_views(moment, shown, earlier.get(moment.seat, shown), of_leaks)
            earlier[moment.seat] = shown
        if deal < (matches if small else 1):
            for moment in _step_moments(trial, deal, rng) if small else _world_moments(trial, rng):
                _compare(trial, moment, rng, of_imagine, of_leaks, small)
        if (deal + 1) % _LOOK_EVERY == 0 or deal + 1 == deals:
            found = _complaint_about_imagine(of_imagine)
            # States that are wrong anyway differ from the real ones in what an event shows, too.
            leak = "" if found else _complaint_about_leak(of_leaks)
            if found or leak:
                return _Findings(found, leak)
    return _Findings("", "")


def _deal_moments(trial: Trial, deal: int, small: bool) -> Iterator[_Moment]:
    """Yield the deal as each seat sees it; as three of them do if the states of the game are large."""
    log: list[Event] = []
    seed = Chance(trial.seed).derive("survey", deal)
    state = trial.game.new(trial.players, Chance(seed), log)
    for seat in range(trial.players) if small else sorted({0, 1, trial.players - 1}):
        yield _Moment(state, seat, log[:], f"deal, seat {seat}", -1, None, seed, 0)


def _step_moments(trial: Trial, deal: int, rng: Random) -> Iterator[_Moment]:
    """Play a match; yield a step of each phase as the seat that chose sees it, and one as another seat sees it."""
    log: list[Event] = []
    seed = Chance(trial.seed).derive("survey", deal)
    state = trial.game.new(trial.players, Chance(seed), log)
    # Moments of one kind may have in common only what the seat knows: so not the action, which may be hidden.
    kinds: dict[str, list[_Moment]] = {}
    for number in range(1, trial.max_decisions):
        phase, seat = state.phase, (state.seat + rng.randrange(trial.players)) % trial.players
        kind = f"{phase}, its own step" if seat == state.seat else f"{phase}, the step of another seat"
        moment = _step(state, seat, rng, kind, seed, number)
        state = moment.state
        if not state.legal:  # nothing that is learned now can be used
            break
        kinds.setdefault(kind, []).append(moment)
    for kind in sorted(kinds):
        yield rng.choice(kinds[kind])


def _world_moments(trial: Trial, rng: Random) -> Iterator[_Moment]:
    """Yield steps from a few situations of one match: in each of them, many worlds that a seat imagines take a step."""
    situations: dict[Texts, list[tuple[int, State[Any]]]] = {}
    for number, (state, action) in enumerate(choices_of(trial)):
        after = state.clone()
        after.log = []
        after.step(action)
        what = (state.phase, action.kind, *(event.kind for event in after.log))
        situations.setdefault(what, []).append((number, state))
    for what in rng.sample(sorted(situations), min(len(situations), _SITUATIONS)):
        number, state = rng.choice(situations[what])
        seat = (state.seat + rng.randrange(trial.players)) % trial.players
        view = state.view(seat)
        for _ in range(MIN_DEALS):
            moment = _step(trial.game.imagine(view, rng), seat, rng, f"choice {number}", trial.seed, number + 1)
            if moment.state.legal:
                yield moment


def _step(state: State[Any], seat: int, rng: Random, kind: str, seed: int, number: int) -> _Moment:
    """Return a step as a seat sees it. It is taken at random, whatever the policy of the trial: from other play a seat
    may learn what is hidden, and imagine need not know it."""
    action, log, after = at_random(None, state.legal, rng), list[Event](), state.clone()
    after.log = log
    after.step(action)
    return _Moment(after, seat, log, kind, state.seat, action, seed, number)


def _compare(trial: Trial, moment: _Moment, rng: Random, of_imagine: _Tally, of_leaks: _Tally, small: bool) -> None:
    view = moment.state.view(moment.seat)
    states = [moment.state, *(trial.game.imagine(view, rng) for _ in range(2))]
    parts = [_attributes(state) for state in states]
    hidden = sorted(name for name, value in parts[0].items() if any(value != each.get(name) for each in parts[1:]))
    known = {name: _plain_values(value) for name, value in parts[0].items() if name not in hidden}
    real, one, other = (
        _describe({name: each[name] for name in hidden if name in each}, trial.players) for each in parts
    )
    differing = [
        each._replace(place=moment.relative(each.place)) for each in _find_differences(real, one, hidden, known)
    ]
    of_imagine.count(moment, differing)
    fields = {f"{name} of its view": _plain_values(getattr(view, name)) for name in view.__struct_fields__}
    outer = [each for each in differing if each.place.count("[") < 2]
    of_imagine.count(moment, _joint(fields, outer, small))
    # Two imagined states agree as often with each other as one of them with the real one.
    same = ("the same",)
    agreeing = [
        _Difference(
            moment.relative(place), same if texts == real.get(place) else None, same if texts == drawn else None
        )
        for place, texts in one.items()
        if ((drawn := other.get(place)) == texts) != (texts == real.get(place))
    ]
    of_imagine.count(moment, agreeing, seen=_AGREE)
    # Counted separately by what the seat saw happen: an event of one kind of step may show what that of another does
    # not.
    happened = [event.kind for event in moment.events if _sees(event, moment.seat)]
    if moment.action is not None and moment.actor == moment.seat:
        happened.append(moment.action.kind)
    moment = moment._replace(kind=", ".join([moment.kind, *happened]))
    of_leaks.count(moment, _joint(_observations(moment), differing, small))


def _compare_views(
    moment: _Moment, shown: dict[Texts, set[str]], elsewhere: dict[Texts, set[str]], of_leaks: _Tally
) -> None:
    """Count where the view shows what an event of the deal keeps from the seat, compared with its view of another
    deal."""
    known = set(_visible_data(moment.events, moment.seat).values())
    kept = {
        what: texts
        for what, texts in _data([event for event in moment.events if not _sees(event, moment.seat)]).items()
        if texts and texts not in known
    }
    if not kept:
        return
    for what, texts in kept.items():
        here, by_chance = shown.get(texts, set()), elsewhere.get(texts, set())
        differences = [_Difference(place, _YES, None) for place in here - by_chance]
        differences += [_Difference(place, None, _YES) for place in by_chance - here]
        of_leaks.count(moment, differences, seen=what, value=_SHOWN)


# Claims about states, and how often they hold on one side only


_AGREE = "agree"
_SHOWN = "shown"
_EQUAL, _AMONG = "equal", "among"


class _Claim(NamedTuple):
    """Something about a state, or about what a seat sees and a state."""

    kind: str
    seen: str
    value: object
    place: str
    holds: object


class _Difference(NamedTuple):
    """A place with different contents in the real and in the imagined state; None: a claim that is false there."""

    place: str
    real: Texts | None
    imagined: Texts | None


class _Tally:
    """Counts claims that hold in the real state only, and in the imagined one only."""

    def __init__(self) -> None:
        self.real: dict[_Claim, int] = {}
        self.imagined: dict[_Claim, int] = {}
        self.example: dict[_Claim, _Moment] = {}

    def count(
        self, moment: _Moment, differences: Sequence[_Difference | _Joint], seen: str = "", value: object = None
    ) -> None:
        """Count a claim for each side of each difference."""
        kind = moment.kind
        for each in differences:
            if isinstance(each, _Joint):
                seen, value = each.seen, each.value
            for side, holds in ((self.real, each.real), (self.imagined, each.imagined)):
                if holds is not None:
                    # A plain tuple that equals the claim: making a claim takes five times as long, and there are many.
                    claim: Any = (kind, seen, value, each.place, holds)
                    before = side.get(claim, 0)
                    side[claim] = before + 1
                    if not before and claim not in self.example:
                        self.example[claim] = moment

    def one_sided(self) -> tuple[_Claim, int, bool] | None:
        """Return the claim that held most often on one side and never on the other, how often, and whether it held in
        real states; None if there is none."""
        found = [
            (often, _Claim(*claim), side is self.real)
            for side, other in ((self.real, self.imagined), (self.imagined, self.real))
            for claim, often in side.items()
            # A view that shows less than chance would is correct: in many games no two seats have the same card.
            if often >= MIN_ONE_SIDED and claim not in other and not (claim[2] == _SHOWN and side is self.imagined)
        ]
        best = min(found, key=_order, default=None)
        return None if best is None else (best[1], best[0], best[2])


def _order(found: tuple[int, _Claim, bool]) -> tuple[object, ...]:
    """Return a key by which the claim comes first that is easiest to understand."""
    often, claim, in_real = found
    relation = {None: 0, _EQUAL: 1, _SHOWN: 1, _AMONG: 2}.get(claim.value if isinstance(claim.value, str) else None, 3)
    if isinstance(claim.value, tuple):
        relation = 3
    whole = " + " in claim.place or (relation == 3 and isinstance(claim.holds, tuple) and len(claim.holds) > 1)
    return relation, whole, claim.seen == _AGREE, in_real == (relation == 0), -often, len(claim.place), str(claim)


class _Joint(NamedTuple):
    """Something that a seat sees, with what a place holds in the real and in the imagined state."""

    place: str
    real: object
    imagined: object
    seen: str
    value: object


def _joint(seen: Mapping[str, Texts], differing: Sequence[_Difference], small: bool) -> list[_Joint]:
    joint = []
    short = [each for each in differing if max(len(each.real or ()), len(each.imagined or ())) <= _MAX_JOINT_VALUES]
    held: dict[object, list[_Difference]] = {}
    for each in differing:
        for side in (each.real, each.imagined):
            for texts in {side, *(side if side and each.place.count("[") < 2 else ())}:
                held.setdefault(texts, []).append(each)
    for what, value in seen.items():
        for place, real, imagined in held.get(value, ()) if value else ():
            joint.append(_Joint(place, real == value or None, imagined == value or None, what, _EQUAL))
        for place, real, imagined in held.get(value[0], ()) if len(value) == 1 else ():
            inside = [value[0] in (side or ()) for side in (real, imagined)]
            if inside[0] != inside[1]:
                joint.append(_Joint(place, inside[0] or None, inside[1] or None, what, _AMONG))
        if small and len(value) <= _MAX_JOINT_VALUES:
            joint += [_Joint(place, real, imagined, what, value) for place, real, imagined in short]
    return joint


# What is in a state, and what a seat sees


Places = dict[str, Texts]
"""What each place of a state holds, in no order, and what can be said of it: numbers of items, orders, comparisons."""


def _find_differences(real: Places, imagined: Places, hidden: list[str], known: Places) -> list[_Difference]:
    """Return what holds in one of two states only."""
    found = [
        _Difference(place, real.get(place), imagined.get(place))
        for place in {**real, **imagined}
        if real.get(place) != imagined.get(place)
    ]
    for names in {*combinations(hidden, 2), tuple(hidden)}:  # cards that change places are the same ones in all
        sides = [tuple(sorted(text for name in names for text in side.get(name, ()))) for side in (real, imagined)]
        if len(names) > 1 and sides[0] != sides[1]:
            found.append(_Difference(" + ".join(names), *sides))
    for name in hidden:
        for second in (*hidden[hidden.index(name) :], *known):
            sides = [
                _whether_shared(side.get(name, ()), known.get(second) or side.get(second, ()), name == second)
                for side in (real, imagined)
            ]
            if sides[0] != sides[1]:
                what = f"{name} has a value twice" if second == name else f"{name} and {second} have a value in common"
                found.append(_Difference(f"whether {what}", *sides))
    return found + [
        _Difference(f"{each.place} than in the other state", *sizes)
        for each in found
        if each.place.startswith(_NUMBER) and (sizes := _sizes(each))
    ]


def _whether_shared(one: Texts, other: Texts, same: bool) -> Texts:
    if min(len(one), len(other)) < 2:
        return ()
    shared = len(set(one)) < len(one) if same else not set(one).isdisjoint(other)
    return _YES if shared else _NO


_NUMBER = "number of items in "


def _sizes(each: _Difference) -> tuple[Texts | None, Texts | None] | None:
    if each.real is None or each.imagined is None:
        return None
    larger = int(each.real[0]) > int(each.imagined[0])
    return (("larger",), None) if larger else (None, ("larger",))


def _attributes(state: State[Any]) -> dict[str, object]:
    return {name: value for name, value in state_parts(state) if name not in state.forgets}


def _describe(attributes: Mapping[str, object], players: int) -> Places:
    places: Places = {}
    for name, value in attributes.items():
        _gather(value, name, places)
        if isinstance(value, tuple | list) and len(value) == players:
            for (i, left), (j, right) in combinations(enumerate(value), 2):
                _compare_items(f"{name}[{i}] compared to {name}[{j}]", left, right, places)
    return places


def _places_by_content(view: View) -> dict[Texts, set[str]]:
    places: Places = {}
    for name in view.__struct_fields__:
        _gather(getattr(view, name), name, places)
    found: dict[Texts, set[str]] = {}
    for place, texts in places.items():
        found.setdefault(texts, set()).add(place)
    return found


def _gather(value: object, path: str, places: Places) -> Texts:
    """Add what each place in a value holds, and return all its plain values, sorted."""
    # A named tuple is one value, such as a card.
    inside = None if type(value) in PLAIN or hasattr(value, "_fields") else items_inside(value, path)
    if inside is None:
        texts: Texts = (as_text(value),)
        if "[" in path:
            places[f"{_everywhere(path)} is {texts[0]} somewhere"] = _YES
    else:
        gathered: list[str] = []
        for place, each in inside:
            gathered += _gather(each, place, places)
        gathered.sort()
        texts = tuple(gathered)
        places[f"{_NUMBER}{path}"] = (str(len(inside)),)
        if len(inside) > 1:
            numbers = [each for _, each in inside if isinstance(each, int)]
            if len(numbers) == len(inside):
                places[f"whether {path} is in ascending order"] = _YES if numbers == sorted(numbers) else _NO
    places[path] = texts
    return texts


def _plain_values(value: object) -> Texts:
    """Return the same as `_gather`, which takes several times as long because it also finds the places."""
    found: list[str] = []
    rest: list[object] = [value]
    while rest:
        each = rest.pop()
        if type(each) in PLAIN:
            found.append(repr(each))
        elif type(each) is tuple or type(each) is list:
            rest += each
        else:
            inside = None if hasattr(each, "_fields") else items_inside(each, "")
            if inside is None:
                found.append(as_text(each))
            else:
                rest += [item for _, item in inside]
    return tuple(sorted(found))


_YES, _NO = ("yes",), ("no",)


@lru_cache(maxsize=4096)
def _everywhere(path: str) -> str:
    return "whether " + re.sub(r"\[\d+\]", "[...]", path)


def _compare_items(what: str, left: Any, right: Any, places: Places) -> None:
    try:
        places[what] = ("less" if left < right else "more" if left > right else "equal",)
        if isinstance(left, tuple | list):
            places[f"the sum of {what}"] = (
                "less" if sum(left) < sum(right) else "more" if sum(left) > sum(right) else "equal",
            )
    except TypeError:
        return


def _observations(moment: _Moment) -> Places:
    """Return what a seat sees at this moment besides its view, by a name."""
    seen = _visible_data(moment.events, moment.seat)
    kinds = tuple(event.kind for event in moment.events if _sees(event, moment.seat))
    if len(kinds) > 1:
        seen["the order of events"] = (", ".join(kinds),)
    if moment.state.seat == moment.seat:
        seen["the legal list"] = (", ".join(action.text for action in moment.state.legal),)
    if moment.action is not None and moment.actor == moment.seat:
        seen |= {f"its own action's {name}": (as_text(value),) for name, value in action_fields(moment.action).items()}
    return seen


def _visible_data(events: Sequence[Event], seat: int) -> Places:
    return _data([event for event in events if _sees(event, seat)])


def _sees(event: Event, seat: int) -> bool:
    return event.to is None or seat in event.to


def _data(events: Sequence[Event]) -> Places:
    """Return the data of events, each piece by a name: `hand 2.cards` is in the second event `hand`."""
    data: Places = {}
    number: Counter[str] = Counter()
    for event in events:
        number[event.kind] += 1
        places: Places = {}
        _gather(event.data, f"{event.kind} {number[event.kind]}", places)
        data |= {
            f"the event {place}": texts for place, texts in places.items() if not place.startswith(("whether", _NUMBER))
        }
    return data


# Sentences


_SHOW_OR_HIDE = "Hide it (Event(..., to=...)), or show it in the view of the seat and let imagine keep to it."


def _complaint_about_imagine(tally: _Tally) -> str:
    found = tally.one_sided()
    if found is None:
        return ""
    claim, often, in_real = found
    moment = tally.example[claim]
    place, seat = _concrete(claim.place, moment), moment.seat
    if claim.seen == _AGREE:
        return (
            f"{_when(moment)}: imagine always deals the same {place} for a view. Two states imagined from one "
            f"view of seat {seat} agreed there {often} times while the real state differed. Deal what is hidden by rng."
        )
    if claim.value in (_EQUAL, _AMONG):
        what = f"{place} {'equals' if claim.value == _EQUAL else 'contains'} {claim.seen}"
    else:
        what = _sentence(place, claim.holds)
        if claim.seen:
            what += f" while {claim.seen} is {_shown(claim.value)}"
    wrong = "leaves out possible states" if in_real else "makes impossible states"
    return (
        f"{_when(moment)}: imagine {wrong} of the view of seat {seat}. {_only(what, often, in_real)}. What the rules "
        f"fix (numbers of things, values, orders, owners) and what the seat knew before must hold in imagined states; "
        f"the rest is dealt by rng."
    )


def _complaint_about_leak(tally: _Tally) -> str:
    found = tally.one_sided()
    if found is None:
        return ""
    claim, often, in_real = found
    moment = tally.example[claim]
    place, seat = _concrete(claim.place, moment), moment.seat
    if claim.value == _SHOWN:
        return (
            f"{_when(moment)}: the view of seat {seat} shows in {place} what {claim.seen} holds, and this event is not "
            f"sent to seat {seat}. That was so in {often} deals in which it cannot be chance. Hide it in the view, or "
            f"send the event to every seat that may know it."
        )
    if claim.value in (_EQUAL, _AMONG):
        what = f"it {'equals' if claim.value == _EQUAL else 'contains'} {claim.seen}"
    else:
        what = f"{_sentence(place, claim.holds)} while {claim.seen} is {_shown(claim.value)}"
    return (
        f"{_when(moment)}: seat {seat} learns something about {place} that its view hides. "
        f"{_only(what, often, in_real)}.{_example(claim.seen, moment)} {_SHOW_OR_HIDE}"
    )


def _only(what: str, often: int, in_real: bool) -> str:
    sides = ("the real state", "the imagined one") if in_real else ("the imagined state", "the real one")
    return f"{what[0].upper()}{what[1:]}: {often} times only in {sides[0]}, and never only in {sides[1]}"


def _sentence(place: str, holds: object) -> str:
    if place.startswith("whether "):
        return (
            place.removeprefix("whether ") if holds == _YES else f"it is not so that {place.removeprefix('whether ')}"
        )
    return f"{place} is {_shown(holds)}"


def _when(moment: _Moment) -> str:
    where = (
        "At the deal"
        if moment.number == 0
        else f"After choice {moment.number - 1} ({moment.action} by seat {moment.actor})"
    )
    return f"{where}, with Chance({moment.seed})"


def _concrete(place: str, moment: _Moment) -> str:
    return place.replace("[viewer]", f"[{moment.seat}]").replace("[actor]", f"[{moment.actor}]")


def _shown(value: object) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _example(seen: str, moment: _Moment) -> str:
    """Return the event that was seen, as a sentence; "" if it was not an event."""
    named = re.match(r"the event (.+?) (\d+)(\.|$)", seen)
    if not named:
        return ""
    events = [event for event in moment.events if event.kind == named[1] and _sees(event, moment.seat)]
    event = events[int(named[2]) - 1]
    return f" The event was {event.kind} {event.data}, to {'all' if event.to is None else event.to}."
