"""A learned guess of how a match will end: for each seat the share of the table that it will finish ahead of.

It is a sum of small trees. A tree asks four questions of a row of features, the same ones whatever the answers, and has
a number for each of the sixteen ways to answer: quick without numpy, and a few kilobytes as JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec.structs import replace

from harness.core.errors import StoreError, UsageError
from harness.core.game import Game, State
from harness.core.records import Value, ranks_of, shares_ahead
from harness.core.rng import Chance
from harness.core.tree_ensemble import DEPTH, IS_COMPILED, TreeEnsemble


class Tree(msgspec.Struct, frozen=True, array_like=True):
    """Which features are asked about, above what the answer is yes, and what each way to answer adds."""

    features: tuple[int, ...]
    thresholds: tuple[float, ...]
    leaves: tuple[float, ...]


class TrainingInfo(msgspec.Struct, frozen=True):
    """What a value function was learned from, so that it can be learned again."""

    bots: tuple[str, ...]
    players: tuple[int, ...]
    matches: int
    seed: int
    explained: float
    """How much of what was not expected before the match it explained in matches kept apart: 0 is nothing, 1 all."""


class ValueFunction(msgspec.Struct, frozen=True):
    """Trees for one game, with what they were learned from."""

    game: str
    rules: str
    options: dict[str, Value]
    features: int
    """How many numbers a row has, the share that was expected beforehand among them."""
    phases: tuple[str, ...]
    """The choices after which luck matters, as far as it can see: it need not be asked about other luck."""
    lesson: TrainingInfo
    trees: tuple[Tree, ...]

    @property
    def digest(self) -> str:
        """What it is, in twelve digits."""
        return blake2b(msgspec.json.encode(self), digest_size=6).hexdigest()

    def mismatch(self, game: Game[Any]) -> str:
        """Why it may take less luck out of this game than it could, in a sentence; "" if it was made for it."""
        if (self.game, self.rules) != (game.name, game.version):
            return f"It was learned for version {self.rules} of the rules of {self.game}."
        other = [f"{name}={value}" for name, value in game.settings.items() if self.options.get(name) != value]
        return f"It was learned with other options than {', '.join(other)}." if other else ""

    def with_validation(self, explained: float, phases: Sequence[str]) -> ValueFunction:
        """The same, with how much it was found to explain, and after which choices."""
        return replace(self, phases=tuple(phases), lesson=replace(self.lesson, explained=round(explained, 4)))


class Valuer:
    """A value function at work: what each seat may expect of a state."""

    def __init__(self, function: ValueFunction) -> None:
        self.function = function
        self._sum = _compiled_sum(function.trees) if IS_COMPILED else _generated_sum(function.trees)

    def shares(self, state: State[Any], expected: Sequence[float]) -> Sequence[float]:
        """For each seat the share of the others that it will finish ahead of, if so much was expected beforehand."""
        if not state.legal:
            return shares_ahead(ranks_of(state.scores()))
        guesses = [self.guess([*row, share]) for row, share in zip(feature_rows(state), expected, strict=True)]
        shift = 0.5 - sum(guesses) / len(guesses)  # all together finish ahead of half of the table
        return [guess + shift for guess in guesses]

    def guess(self, row: Sequence[float]) -> float:
        """What the trees make of a row of features, whose last one is the share that was expected."""
        return min(1.0, max(0.0, row[-1] + self._sum(row if isinstance(row, list) else list(row))))


def _compiled_sum(trees: Sequence[Tree]) -> Callable[[list[float]], float]:
    """The sum of the trees, by a loop that is compiled."""
    return TreeEnsemble(
        [feature for tree in trees for feature in tree.features],
        [float(threshold) for tree in trees for threshold in tree.thresholds],
        [float(leaf) for tree in trees for leaf in tree.leaves],
    ).total


def _generated_sum(trees: Sequence[Tree]) -> Callable[[list[float]], float]:
    """The sum of the trees as a function of a row. They are asked hundreds of thousands of times, and as an expression
    they answer four times as fast as in a loop. There is nothing in it but numbers that were read as numbers."""
    asked = sorted({feature for tree in trees for feature in tree.features})
    lines = ["def total(row):", *[f" x{feature} = row[{feature}]" for feature in asked], " total = 0.0"]
    lines += [f" total += {_branch(tree, DEPTH - 1, 0)}" for tree in trees]
    found: dict[str, Any] = {}
    exec("\n".join([*lines, " return total"]), found)  # noqa: S102 - see above
    total: Callable[[list[float]], float] = found["total"]
    return total


def _branch(tree: Tree, level: int, leaf: int) -> str:
    """The tree from this question on, given the answers to those after it: the first question is asked last."""
    if level < 0:
        return repr(float(tree.leaves[leaf]))
    yes, no = _branch(tree, level - 1, leaf | 1 << level), _branch(tree, level - 1, leaf)
    return f"({yes} if x{tree.features[level]} > {float(tree.thresholds[level])!r} else {no})"


def feature_rows(state: State[Any]) -> list[list[float]]:
    """How each seat stands, as the game tells it in numbers."""
    return state.game.features([state.view(seat) for seat in range(state.players)], state.scores())


def read_value_function(data: str | bytes, where: str) -> ValueFunction:
    """The value function in this JSON; `where` is for those who have to mend it."""
    try:
        return msgspec.json.decode(data, type=ValueFunction)
    except msgspec.DecodeError as error:
        raise StoreError(f"{where} is no value function: {error}. Learn it again: arena learn-values.") from error


def value_function_of(game: Game[Any], given: Mapping[str, ValueFunction]) -> ValueFunction:
    """The value function for this game: the one that was given, or the one that the game brings."""
    again = f"arena learn-values {game.name} --out {game.name}.json, then --values {game.name}.json"
    function = given.get(game.name)
    if function is None:
        data = game.value_data()
        if not data:
            raise UsageError(
                f"{game.title} brings no value function, and without one luck cannot be told from skill. "
                f"Learn one: {again}."
            )
        function = read_value_function(data, f"What {game.title} brings")
    width = 1 + len(feature_rows(game.new(game.min_players, Chance(0)))[0])
    if function.game != game.name or function.features != width:
        raise UsageError(
            f"The value function {function.digest} of {function.game} takes {function.features} numbers a seat, "
            f"{game.title} as it is installed has {width}. Learn it again: {again}."
        )
    return function


@cache
def valuer_of(game: Game[Any], data: str = "") -> Valuer:
    """A value function at work: the one that the game brings, or that in `data`, as `arena learn-values` wrote it.

    `valuer_of(game).shares(state, [0.5] * players)` is the share of the others that each seat can expect to finish
    ahead of.
    """
    given = {game.name: read_value_function(data, "What was given")} if data else {}
    return Valuer(value_function_of(game, given))
