"""A learned prediction of how a match will end: for each seat the share of the table that it will finish ahead of.

It is a sum of small trees. A tree makes four comparisons, always the same ones, and has a number for each of the
sixteen combinations of results: fast without numpy, and a few kilobytes as JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from math import fsum
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from harness.core.action import View
from harness.core.errors import StoreError, UsageError
from harness.core.game import Game, State
from harness.core.records import Value, ranks_of, shares_ahead
from harness.core.rng import Chance
from harness.core.tree_ensemble import DEPTH, IS_COMPILED, TreeEnsemble


class Tree(msgspec.Struct, frozen=True, array_like=True):
    """The features that are compared, the thresholds, and what each combination of results adds."""

    features: Annotated[tuple[Annotated[int, Meta(ge=0)], ...], Meta(min_length=DEPTH, max_length=DEPTH)]
    thresholds: Annotated[tuple[float, ...], Meta(min_length=DEPTH, max_length=DEPTH)]
    leaves: Annotated[tuple[float, ...], Meta(min_length=1 << DEPTH, max_length=1 << DEPTH)]


class TrainingInfo(msgspec.Struct, frozen=True):
    """The training data of a value function, so that it can be learned again."""

    bots: tuple[str, ...]
    players: tuple[int, ...]
    matches: int
    seed: int
    explained: float
    """Share of the variance that it explains in matches kept for validation: 0 is nothing, 1 is all. What was expected
    before the match does not count."""


class ValueFunction(msgspec.Struct, frozen=True):
    """Trees for one game, with what they were learned from."""

    game: str
    rules: str
    options: dict[str, Value]
    features: int
    """Length of a row, including the share that was expected before the match."""
    phases: tuple[str, ...]
    """Phases after which luck matters. After other choices no alternative luck needs to be evaluated."""
    lesson: TrainingInfo
    trees: tuple[Tree, ...]

    @property
    def digest(self) -> str:
        """Twelve hex digits that identify it."""
        return blake2b(msgspec.json.encode(self), digest_size=6).hexdigest()

    def mismatch(self, game: Game[Any]) -> str:
        """Return why it may remove less luck from this game than it could, in a sentence; "" if it was made for it."""
        if (self.game, self.rules) != (game.name, game.version):
            return f"It was learned for version {self.rules} of the rules of {self.game}."
        other = [f"{name}={value}" for name, value in game.settings.items() if self.options.get(name) != value]
        return f"It was learned with other options than {', '.join(other)}." if other else ""

    def with_validation(self, explained: float, phases: Sequence[str]) -> ValueFunction:
        """Return a copy with how much it explains and the phases that matter, as measured."""
        return replace(self, phases=tuple(phases), lesson=replace(self.lesson, explained=round(explained, 4)))


class Valuer:
    """Evaluates a value function: the expected result of each seat in a state."""

    def __init__(self, function: ValueFunction) -> None:
        self.function = function
        self._sum = _compiled_sum(function.trees) if IS_COMPILED else _generated_sum(function.trees)

    def shares(
        self, state: State[Any], expected: Sequence[float], views: Sequence[View] | None = None
    ) -> Sequence[float]:
        """Return the share of the others that each seat will finish ahead of, given what was expected before the match.
        A caller that has the views of all seats can pass them."""
        # At the end nothing is to be predicted.
        if not state.legal:
            return shares_ahead(ranks_of(state.scores()))
        guesses = [self.guess([*row, share]) for row, share in zip(feature_rows(state, views), expected, strict=True)]
        shift = 0.5 - fsum(guesses) / len(guesses)  # the shares of all seats average one half
        return [guess + shift for guess in guesses]

    def guess(self, row: Sequence[float]) -> float:
        """Return the prediction for a row of features; the last one is the share that was expected."""
        return min(1.0, max(0.0, row[-1] + self._sum(row if isinstance(row, list) else list(row))))


def _compiled_sum(trees: Sequence[Tree]) -> Callable[[list[float]], float]:
    """Return the sum of the trees as a method of a compiled class."""
    return TreeEnsemble(
        [feature for tree in trees for feature in tree.features],
        [float(threshold) for tree in trees for threshold in tree.thresholds],
        [float(leaf) for tree in trees for leaf in tree.leaves],
    ).total


def _generated_sum(trees: Sequence[Tree]) -> Callable[[list[float]], float]:
    """Return the sum of the trees as a generated Python function."""
    asked = sorted({feature for tree in trees for feature in tree.features})
    lines = ["def total(row):", *[f" x{feature} = row[{feature}]" for feature in asked], " total = 0.0"]
    lines += [f" total += {_branch(tree, DEPTH - 1, 0)}" for tree in trees]
    found: dict[str, Any] = {}
    # Searches call it hundreds of thousands of times, and one expression is four times as fast as a loop. The text
    # holds only numbers that were decoded as numbers, so a file cannot inject code.
    exec("\n".join([*lines, " return total"]), found)  # noqa: S102 - see above
    total: Callable[[list[float]], float] = found["total"]
    return total


def _branch(tree: Tree, level: int, leaf: int) -> str:
    """Return the tree from this comparison on as an expression; `leaf` has the results of later ones as bits."""
    if level < 0:
        return repr(float(tree.leaves[leaf]))
    yes, no = _branch(tree, level - 1, leaf | 1 << level), _branch(tree, level - 1, leaf)
    return f"({yes} if x{tree.features[level]} > {float(tree.thresholds[level])!r} else {no})"


def feature_rows(state: State[Any], views: Sequence[View] | None = None) -> list[list[float]]:
    """Return a row of features for each seat."""
    return state.game.features(views or [state.view(seat) for seat in range(state.players)], state.scores())


def read_value_function(data: str | bytes, where: str) -> ValueFunction:
    """Return the value function in this JSON; `where` names its origin in errors."""
    try:
        function = msgspec.json.decode(data, type=ValueFunction)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise StoreError(f"{where} is not a value function: {error}. Learn it again: arena learn-values.") from error
    if any(max(tree.features) >= function.features for tree in function.trees):
        raise StoreError(f"{where} is not a value function: a tree compares a feature that is not there.")
    return function


def value_function_of(game: Game[Any], given: Mapping[str, ValueFunction]) -> ValueFunction:
    """Return the value function for this game: the given one, or the one that comes with the game."""
    function = given.get(game.name)
    if function is None:
        data = game.value_data()
        if not data:
            raise UsageError(
                f"{game.title} has no value function, and without one luck and skill cannot be separated.",
                fix="learn-values",
                game=game.name,
            )
        function = read_value_function(data, f"The value data of {game.title}")
    # Another version of the rules is accepted, and `mismatch` says so; the number of features must fit.
    width = 1 + len(feature_rows(game.new(game.min_players, Chance(0)))[0])
    if function.game != game.name or function.features != width:
        raise UsageError(
            f"The value function {function.digest} of {function.game} takes {function.features} numbers for each seat, "
            f"{game.title} as it is installed has {width}. Learn it again.",
            fix="learn-values",
            game=game.name,
        )
    return function


@cache
def valuer_of(game: Game[Any], data: str = "") -> Valuer:
    """Return the evaluator of a value function: that of the game, or `data` as `arena learn-values` wrote it.

    `valuer_of(game).shares(state, [0.5] * players)` is the share of the others that each seat can expect to finish
    ahead of.
    """
    given = {game.name: read_value_function(data, "What was given")} if data else {}
    return Valuer(value_function_of(game, given))
