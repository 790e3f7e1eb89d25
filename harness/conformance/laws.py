"""The laws of an engine, one function each. They take a Trial and raise ConformanceError."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable, Sequence
from math import isfinite
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import msgspec

from harness.conformance.information import (
    Policy,
    RecordingChance,
    Trial,
    at_random,
    events_tell_no_more_than_views,
    fingerprint,
    imagined_states_fit_what_was_seen,
)
from harness.core.action import View, action_fields
from harness.core.errors import ConformanceError, IllegalAction
from harness.core.game import NOBODY, Game, State
from harness.core.records import Event
from harness.core.rng import Chance


def _check(sound: object, complaint: str) -> None:
    if not sound:
        raise ConformanceError(complaint)


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


def states_pickle(trial: Trial) -> None:
    """A state survives pickling at every choice."""
    for number, state in enumerate(trial.play(trial.new())):
        if number % 5 == 0 or not state.legal:
            restored = pickle.loads(pickle.dumps(state))  # noqa: S301 - our own bytes
            _check(fingerprint(restored) == fingerprint(state), f"A pickled state differs in phase {state.phase!r}.")


def views_are_values(trial: Trial) -> None:
    """Views are frozen, hashable, equal when made twice, survive JSON, and making one changes nothing."""
    game = trial.game
    for state in trial.play(trial.new()):
        before = fingerprint(state)
        for seat in range(trial.players):
            view = state.view(seat)
            _check(isinstance(view, game.view_type), f"A view is a {type(view).__name__}, not the game's view type.")
            told = (view.seat, view.turn, view.phase)
            _check(told == (seat, state.seat, state.phase), f"A view for seat {seat} says seat, turn, phase {told}.")
            _check(view == state.view(seat) and hash(view) == hash(state.view(seat)), "Two views of one state differ.")
            again = game.view_from_json(game.view_to_json(view))
            _check(
                again == view, f"A view is changed by JSON in phase {state.phase!r}: {_difference_text(view, again)}."
            )
        _check(fingerprint(state) == before, "Making a view has changed the state.")


def imagined_states_fit_the_view(trial: Trial) -> None:
    """`imagine(view).view(seat) == view` for every seat at every choice; the one on turn has the same choices."""
    rng = trial.rng()
    for number, state in enumerate(trial.play(trial.new())):
        for seat in range(trial.players):
            view = state.view(seat)
            imagined = trial.game.imagine(view, rng)
            seen = imagined.view(seat)
            _check(seen == view, f"Choice {number}, seat {seat}, {state.phase!r}: {_difference_text(view, seen)}.")
            if seat == state.seat:
                _check(imagined.legal == state.legal, f"Choice {number}: the imagined state has another legal list.")
            _check(imagined.ending == state.ending, f"Choice {number}: the imagined state ends otherwise.")


def imagined_states_vary(trial: Trial) -> None:
    """What a seat cannot know differs between imaginings, luck to come included; they can be played to the end."""
    rng = trial.rng()
    state = trial.new()
    view = state.view(state.seat)
    imagined = [trial.game.imagine(view, rng) for _ in range(20)]
    _check(
        len({fingerprint(one) for one in imagined}) > 1, "Imagining a view twenty times gives one and the same state."
    )
    for one in imagined[:3]:
        for _ in trial.play(one):
            pass
        _check(one.ending, "An imagined game has no ending.")


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


def the_same_deal_plays_the_same(trial: Trial) -> None:
    """The same seed and actions lead to the same result, with and without a log."""
    log: list[Event] = []
    results = []
    for state in (trial.new(), trial.new(log), trial.new()):
        for _ in trial.play(state):
            pass
        results.append(fingerprint(state))
    _check(len(set(results)) == 1, "The same deal with the same actions gave different games.")


def luck_is_drawn_once_for_each_name(trial: Trial) -> None:
    """No name of luck is drawn twice in a match: both would have the same result. Names include round and seat."""
    luck = RecordingChance(trial.seed)
    drawn: dict[str, int] = {}
    for number, state in enumerate(trial.play(trial.game.new(trial.players, luck))):
        for name in luck.drain_names():
            when = f"before choice {number}" if number else "at the deal"
            _check(
                name not in drawn,
                f"The luck {name!r} is drawn {when}, in phase {state.phase!r}, and was drawn before choice "
                f"{drawn.get(name)}: it has the same result again. Put into its name what differs.",
            )
            drawn[name] = number


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


def views_can_be_read(trial: Trial) -> None:
    """Every phase renders as text for every seat."""
    seen = set()
    for state in trial.play(trial.new()):
        if state.phase not in seen:
            seen.add(state.phase)
            for seat in range(trial.players):
                _check(trial.game.render(state.view(seat)).strip(), f"Phase {state.phase!r} renders as nothing.")


LAWS: tuple[Callable[[Trial], None], ...] = (
    actions_are_a_fixed_table,
    legal_lists_are_sound,
    illegal_actions_change_nothing,
    clones_are_independent,
    states_pickle,
    views_are_values,
    imagined_states_fit_the_view,
    imagined_states_vary,
    views_do_not_reach_the_state,
    the_same_deal_plays_the_same,
    luck_is_drawn_once_for_each_name,
    redealt_states_look_the_same,
    features_are_numbers,
    events_are_data,
    events_tell_no_more_than_views,
    imagined_states_fit_what_was_seen,
    games_end_with_scores,
    views_can_be_read,
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
        f"{name} is {getattr(one, name)} in the view, {getattr(other, name)} in the other"
        for name in fields
        if getattr(one, name) != getattr(other, name, None)
    )
