"""The laws of an engine, one function each. They take a Trial and raise ConformanceError."""

from __future__ import annotations

import copy
import gc
import pickle
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import wraps
from itertools import combinations
from math import isfinite
from random import Random
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import msgspec

from harness.adapters.encoding import check_encoding
from harness.adapters.fields import check_view
from harness.conformance.coincidence import imagined_states_are_possible, seats_learn_no_more_than_views_show
from harness.conformance.information import (
    Policy,
    RecordingChance,
    Trial,
    at_random,
    count_choices,
    fingerprint,
    imagined_states_fit_what_was_seen,
    state_parts,
)
from harness.core.action import View, action_fields
from harness.core.errors import ConformanceError, IllegalAction
from harness.core.game import NOBODY, SEAT_NAMES, Game, State
from harness.core.records import Event
from harness.core.rng import Chance

_IMAGINED_A_MATCH, _MAX_IMAGINED = 300, 8
_PLAYS = 12
"""How often a deal is played to see what of its luck depends on play."""


def _check(sound: object, complaint: str) -> None:
    if not sound:
        raise ConformanceError(complaint)


def _in_enough_deals(law: Callable[[Trial], None]) -> Callable[[Trial], None]:
    """Return a law that is checked in several matches if a match has few choices."""

    @wraps(law)
    def check(trial: Trial) -> None:
        for each in trial.deals():
            law(each)

    return check


def actions_are_a_fixed_table(trial: Trial) -> None:
    """Codes are positions, texts are unique, copies and pickles give the same object, and fields are data."""
    actions = trial.game.actions
    _check(actions, "The game has no actions.")
    for code, action in enumerate(actions):
        _check(action.code == code, f"Action {action!r} stands at {code} but has the code {action.code}.")
        _check(action.text and action.kind, f"Action {code} has no text or no kind.")
        _check(copy.deepcopy(action) is action, f"A copy of {action} is another object.")
        try:
            msgspec.json.encode(action_fields(action))
        except (TypeError, ValueError) as error:
            raise ConformanceError(f"Action {action!r} has a field that is not JSON: {error}.") from error
    texts = [action.text for action in actions]
    _check(len(set(texts)) == len(texts), f"Two actions have the same text: {_first_repeated(texts)}.")
    restored = pickle.loads(pickle.dumps(actions))  # noqa: S301 - our own bytes
    _check(
        all(a is b for a, b in zip(actions, restored, strict=True)), "A pickled action comes back as another object."
    )


@_in_enough_deals
def legal_lists_are_sound(trial: Trial) -> None:
    """Never empty before the end, no action twice, all from the table, the same list for the same state."""
    for state in trial.play(trial.new()):
        if state.seat == NOBODY:
            _check(not state.legal, "The game is over, but actions are legal.")
            continue
        _check(0 <= state.seat < trial.players, f"It is the turn of seat {state.seat}, which does not exist.")
        _check(
            state.legal and not state.ending, f"No action is legal in phase {state.phase!r}, but the game is not over."
        )
        _check(isinstance(state.legal, tuple), "The legal list is not a tuple.")
        for name in ("legal", "phase", "seat"):  # compiled callers read them where they are kept
            plain = not isinstance(getattr(type(state), name, None), property)
            _check(plain, f"{name} is worked out by a property: keep it in an attribute, which step sets.")
        _check(len(set(state.legal)) == len(state.legal), f"An action is legal twice: {_first_repeated(state.legal)}.")
        table = trial.game.actions
        _check(all(table[a.code] is a for a in state.legal), "A legal action is not the one of the game's table.")
        _check(state.clone().legal == state.legal, "A clone has another legal list, or another order.")


@_in_enough_deals
def illegal_actions_change_nothing(trial: Trial) -> None:
    """Applying anything that is not legal raises IllegalAction and leaves the state as it was."""
    table = trial.game.actions
    for number, state in enumerate(trial.play(trial.new())):
        legal = set(state.legal)
        # A few of the table each time, others at the next choice: all of them at every choice would take minutes.
        others = [action for action in table[number % 7 :: 7] if action not in legal][:3]
        before = fingerprint(state)
        for other in (*others, None, "nonsense"):
            try:
                state.apply(other)  # type: ignore[arg-type]  # wrong on purpose
            except IllegalAction:
                _check(fingerprint(state) == before, f"The refused action {other} has changed the state.")
            else:
                raise ConformanceError(f"{other} is not legal in phase {state.phase!r}, but was applied.")


@_in_enough_deals
def clones_are_independent(trial: Trial) -> None:
    """Later steps of a state leave all earlier clones as they were, and clones play on with the same results."""
    kept: list[tuple[State[Any], str]] = []
    codes: list[int] = []
    rng = trial.rng()
    state = trial.new()
    while state.legal:
        clone = state.clone()
        kept.append((clone, fingerprint(state)))
        _check(fingerprint(clone) == kept[-1][1], f"A clone differs from its state in phase {state.phase!r}.")
        action = trial.policy(state.view(state.seat), state.legal, rng)
        codes.append(action.code)
        state.step(action)
    for number, (clone, before) in enumerate(kept):
        _check(fingerprint(clone) == before, f"The clone made at choice {number} was changed by later play.")
    # From the middle: an early clone shares hardly anything with its state, a late one has hardly anything to play.
    half = len(kept) // 2
    twin = kept[half][0]
    for code in codes[half:]:
        twin.apply(trial.game.actions[code])
    _check(twin.scores() == state.scores(), "A clone played on with the same actions ends with other scores.")


@_in_enough_deals
def states_pickle(trial: Trial) -> None:
    """A state survives pickling at every choice."""
    for number, state in enumerate(trial.play(trial.new())):
        if number % 5 == 0 or not state.legal:
            restored = pickle.loads(pickle.dumps(state))  # noqa: S301 - our own bytes
            _check(fingerprint(restored) == fingerprint(state), f"A pickled state differs in phase {state.phase!r}.")


@_in_enough_deals
def views_are_values(trial: Trial) -> None:
    """Views are frozen, hashable, equal when made twice, survive JSON, and making one changes nothing."""
    game = trial.game
    for state in trial.play(trial.new()):
        before = fingerprint(state)
        for seat in range(trial.players):
            view = state.view(seat)
            _check(isinstance(view, game.view_type), f"A view is a {type(view).__name__}, not the game's view type.")
            shown = (view.seat, view.turn, view.phase)
            _check(shown == (seat, state.seat, state.phase), f"A view for seat {seat} says seat, turn, phase {shown}.")
            _check(view == state.view(seat) and hash(view) == hash(state.view(seat)), "Two views of one state differ.")
            again = game.view_from_json(game.view_to_json(view))
            _check(
                again == view, f"A view is changed by JSON in phase {state.phase!r}: {_difference_text(view, again)}."
            )
        _check(fingerprint(state) == before, "Making a view has changed the state.")


@_in_enough_deals
def declared_bounds_hold(trial: Trial) -> None:
    """Fields of views, scores and the number of choices stay within what the game declares, if it does."""
    game, players = trial.game, trial.players
    low, high = game.score_bounds(players) if _declares(game, "score_bounds") else (None, None)
    number = -1
    for number, state in enumerate(trial.play(trial.new())):
        for seat in range(players):
            try:
                check_view(game, players, state.view(seat))
                check_encoding(game, players, state.view(seat))
            except ConformanceError as error:
                raise ConformanceError(f"Choice {number}, seat {seat}, {state.phase!r}: {error}") from error
        for score in state.scores():
            _check(
                low is None or high is None or low <= score <= high,
                f"Choice {number}: the score {score} is not between {low} and {high}, as score_bounds() says.",
            )
    if _declares(game, "max_decisions"):
        longest = game.max_decisions(players)
        _check(number <= longest, f"The match had {number} choices, and max_decisions() says {longest}.")


def _declares(game: Game[Any], method: str) -> bool:
    return getattr(type(game), method) is not getattr(Game, method)


@_in_enough_deals
def imagined_states_fit_the_view(trial: Trial) -> None:
    """`imagine(view).view(seat) == view` for every seat at every choice; the one on turn has the same choices."""
    rng = trial.rng()
    # Several states for the seat on turn in short matches: a legal list may depend on something rare.
    often = min(_MAX_IMAGINED, max(1, _IMAGINED_A_MATCH // max(1, count_choices(trial))))
    for number, state in enumerate(trial.play(trial.new())):
        for seat in (*range(trial.players), *(state.seat,) * (often if state.legal else 0)):
            view = state.view(seat)
            imagined = trial.game.imagine(view, rng)
            seen = imagined.view(seat)
            _check(seen == view, f"Choice {number}, seat {seat}, {state.phase!r}: {_difference_text(view, seen)}.")
            if seat == state.seat and imagined.legal != state.legal:
                one, other = (", ".join(action.text for action in each.legal) for each in (state, imagined))
                raise ConformanceError(
                    f"Choice {number}, with Chance({trial.seed}): the legal list of seat {seat} is {one}, and {other} "
                    f"in a state that imagine makes of its view. Either the legal list reveals to seat {seat} what its "
                    f"view hides, or imagine makes an impossible state. It must follow from what the view shows."
                )
            _check(imagined.ending == state.ending, f"Choice {number}: the imagined state has a different ending.")


def imagined_states_can_be_played(trial: Trial) -> None:
    """Imagined states can be played to the end, and their luck to come differs."""
    rng = trial.rng()
    state = trial.new()
    imagined = [trial.game.imagine(state.view(state.seat), rng) for _ in range(3)]
    _check(
        len({fingerprint(one) for one in imagined}) > 1, "Imagining a view three times gives one and the same state."
    )
    for one in imagined:
        for _ in trial.play(one):
            pass
        _check(one.ending, "An imagined game has no ending.")


@_in_enough_deals
def views_do_not_reach_the_state(trial: Trial) -> None:
    """Following every reference from a view finds no state, no luck and no game."""
    for number, state in enumerate(trial.play(trial.new())):
        if number % 10 == 0:
            for seat in range(trial.players):
                _walk(state.view(seat))


def _walk(view: View) -> None:
    seen: set[int] = set()
    rest: list[Any] = [view]
    while rest:
        thing = rest.pop()
        if id(thing) in seen or isinstance(thing, type | ModuleType | FunctionType | BuiltinFunctionType):
            continue
        seen.add(id(thing))
        _check(not isinstance(thing, State | Chance | Game), f"A {type(thing).__name__} can be reached from a view.")
        _check(not isinstance(thing, list | dict | set | bytearray), f"A view holds a mutable {type(thing).__name__}.")
        # The collector's references, not attributes: a closure or a C object can hide what no attribute shows.
        rest.extend(gc.get_referents(thing))


@_in_enough_deals
def the_same_deal_plays_the_same(trial: Trial) -> None:
    """The same seed and actions lead to the same result, with and without a log."""
    log: list[Event] = []
    results = []
    for state in (trial.new(), trial.new(log), trial.new()):
        for _ in trial.play(state):
            pass
        results.append(fingerprint(state))
    _check(len(set(results)) == 1, "The same deal with the same actions gave different games.")


@_in_enough_deals
def luck_is_drawn_once_for_each_name(trial: Trial) -> None:
    """No name of luck is drawn twice in a match: both would have the same result. Names include round and seat."""
    luck = RecordingChance(trial.seed)
    drawn: dict[str, str] = {}
    for number, state in enumerate(trial.play(trial.game.new(trial.players, luck))):
        for name in luck.drain_names():
            when = f"before choice {number}" if number else "at the deal"
            _check(
                name not in drawn,
                f"The luck {name!r} is drawn {when}, in phase {state.phase!r}, but it was already drawn "
                f"{drawn.get(name)}, so both draws have the same result. Give each draw its own name: add the round or "
                f"the seat, for example.",
            )
            drawn[name] = when


def luck_does_not_depend_on_play(trial: Trial) -> None:
    """However one deal is played, luck that is drawn equally often is drawn under the same names."""
    plays: list[dict[str, Counter[str]]] = []
    for play in range(_PLAYS):
        luck, rng = RecordingChance(trial.seed), Random(play)
        state = trial.game.new(trial.players, luck)
        for name, value in state_parts(state):
            _check(
                not isinstance(value, Random),
                f"{name} of the state is a generator of random numbers: what it gives depends on how often it was "
                f"asked before. Draw luck by name from self.chance.",
            )
        luck.drain_names()
        while state.legal:
            state.step(at_random(None, state.legal, rng))
        drawn: dict[str, Counter[str]] = defaultdict(Counter)
        for name in luck.drain_names():
            drawn[re.sub(r"-?\d+", "#", name)][name] += 1
        plays.append(drawn)
    for kind in set.intersection(*map(set, plays)):
        names = [play[kind] for play in plays]
        numbers = {each.total() for each in names}
        shared = [(one & other).total() / one.total() for one, other in combinations(names, 2)]
        if len(numbers) == 1 and 2 * sum(shared) < len(shared):
            one, other = (next(iter(one - other)) for one, other in ((names[0], names[1]), (names[1], names[0])))
            raise ConformanceError(
                f"The luck {kind.split('/')[0]!r} is drawn {numbers.pop()} times, however the deal is played, but most "
                f"of its names depend on play, such as {one!r} and {other!r}: the same deal gives other results to "
                f"other tables. Name luck by what it is for (a round, a seat), not by what was chosen or counted."
            )


@_in_enough_deals
def events_are_data(trial: Trial) -> None:
    """Events have JSON-ready data and name existing seats; something is logged for every match."""
    log: list[Event] = []
    for _ in trial.play(trial.new(log)):
        pass
    _check(log, "Nothing was logged in a whole match.")
    for event in log:
        try:
            again = msgspec.json.decode(msgspec.json.encode(event.data))
        except (TypeError, ValueError) as error:
            raise ConformanceError(f"Event {event.kind} has data that is not JSON: {error}.") from error
        _check(again == event.data, f"Event {event.kind} is changed by JSON: {event.data} becomes {again}.")
        _check(
            event.to is None or set(event.to) <= set(range(trial.players)), f"Event {event.kind} is sent to {event.to}."
        )


@_in_enough_deals
def games_end_with_scores(trial: Trial) -> None:
    """At the end no seat is on turn, there is a reason, and each seat has an integer score."""
    state = trial.new()
    for _ in trial.play(state):
        _check(isinstance(state.scores(), tuple), f"Scores are a {type(state.scores()).__name__}, not a tuple.")
        _check(len(state.scores()) == trial.players, "There is not one score for each seat.")
    _check(
        state.seat == NOBODY and state.ending, f"The game is over, with seat {state.seat} on turn, {state.ending!r}."
    )
    _check(all(isinstance(score, int) for score in state.scores()), f"Scores are not whole numbers: {state.scores()}.")


@_in_enough_deals
def redealt_states_look_the_same(trial: Trial) -> None:
    """Different future luck shows in no seat's view, and does not change the choices and the number of unseen cards."""
    luck = Chance(trial.seed)
    for number, state in enumerate(trial.play(trial.new())):
        before = fingerprint(state)
        other = state.redealt(Chance(luck.derive("redealt", number)))
        _check(other is not state and fingerprint(state) == before, "Dealing again has changed the state itself.")
        _check(other.legal == state.legal, f"Choice {number}: a state that was dealt again has another legal list.")
        _check(
            other.unseen() == state.unseen(),
            f"Choice {number}: {state.unseen()} cards were unseen, and {other.unseen()} after dealing again.",
        )
        for seat in range(trial.players):
            seen = other.view(seat)
            _check(
                seen == state.view(seat),
                f"Choice {number}, seat {seat}: after dealing again {_difference_text(state.view(seat), seen)}.",
            )


@_in_enough_deals
def features_are_numbers(trial: Trial) -> None:
    """There is a row of finite numbers for each seat at every choice, all of one length."""
    lengths: set[int] = set()
    for number, state in enumerate(trial.play(trial.new())):
        if not state.legal:
            continue
        rows = trial.game.features([state.view(seat) for seat in range(trial.players)], state.scores())
        _check(len(rows) == trial.players, f"Choice {number}: there are features for {len(rows)} of the seats.")
        lengths.update(map(len, rows))
        _check(len(lengths) == 1, f"Choice {number}: rows of features have {sorted(lengths)} numbers.")
        _check(all(isfinite(value) for row in rows for value in row), f"Choice {number}: a feature is not finite.")


@_in_enough_deals
def views_and_events_can_be_read(trial: Trial) -> None:
    """Every phase renders as text for every seat, and texts call the players by the names that they are given."""
    seen: set[str] = set()
    names = [f"player-{chr(ord('a') + seat)}" for seat in range(trial.players)]
    log: list[Event] = []
    for state in trial.play(trial.new(log)):
        if state.phase not in seen:
            seen.add(state.phase)
            for seat in range(trial.players):
                view = state.view(seat)
                _check(trial.game.render(view).strip(), f"Phase {state.phase!r} renders as nothing.")
                _check_named(trial.game.render(view, names), f"Phase {state.phase!r} renders")
    for kind, event in {event.kind: event for event in log}.items():
        _check_named(trial.game.event_text(event, names), f"The text of the event {kind!r} is")


def _check_named(text: str, what: str) -> None:
    numbered = [name for name in SEAT_NAMES if re.search(rf"\b{name}\b", text, re.IGNORECASE)]
    _check(not numbered, f"{what} with {', '.join(numbered)}, although the players have names:\n{text}")


LAWS: tuple[Callable[[Trial], None], ...] = (
    actions_are_a_fixed_table,
    legal_lists_are_sound,
    illegal_actions_change_nothing,
    clones_are_independent,
    states_pickle,
    views_are_values,
    declared_bounds_hold,
    imagined_states_fit_the_view,
    imagined_states_can_be_played,
    views_do_not_reach_the_state,
    the_same_deal_plays_the_same,
    luck_is_drawn_once_for_each_name,
    luck_does_not_depend_on_play,
    redealt_states_look_the_same,
    features_are_numbers,
    events_are_data,
    imagined_states_fit_what_was_seen,
    imagined_states_are_possible,
    seats_learn_no_more_than_views_show,
    games_end_with_scores,
    views_and_events_can_be_read,
)


def check_game(game: Game[Any], seeds: Sequence[int] = (1, 2, 3), policy: Policy = at_random) -> None:
    """Check every law at every player count; raise ConformanceError at the first one that is broken."""
    for players in range(game.min_players, game.max_players + 1):
        for seed in seeds:
            for law in LAWS:
                law(Trial(game, players, seed, policy))


def _first_repeated(things: Any) -> object:
    things = list(things)
    return next((thing for thing in things if things.count(thing) > 1), None)


def _difference_text(one: View, other: View) -> str:
    fields = one.__struct_fields__
    return "; ".join(
        f"{name} is {getattr(one, name)} in the view, {getattr(other, name)} in the view of the imagined state. If the "
        f"seat may know it, let imagine keep to it; if not, remove it from the view"
        for name in fields
        if getattr(one, name) != getattr(other, name, None)
    )
