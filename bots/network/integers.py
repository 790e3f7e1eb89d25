"""A network in whole numbers: every Python on every machine adds up the same scores.

It has one hidden layer. Each input is a question, whether a number of the view or of an action is at least so much, and
adds a row of weights to the hidden layer if it is. The hidden units are lanes of one long integer: to add a row is one
addition of Python, which is exact, and nearly as quick as numpy for layers of this size.
"""

from __future__ import annotations

from base64 import b64decode
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from operator import mul
from pathlib import Path
from struct import Struct
from typing import Any

import msgspec

from bots.network import el_paso, gnadenlos, x_pasch
from harness import Action, Game, View, encoding_of

Describe = Callable[[Any, Any, Sequence[Action]], list[list[int]]]
DESCRIBE: Mapping[str, Describe] = {
    "el-paso": el_paso.describe,
    "gnadenlos": gnadenlos.describe,
    "x-pasch": x_pasch.describe,
}
"""For each game, what its actions are about."""
ALIKE = {"take pair": "hire"}
"""Kinds of actions that occur in a variant only, for which no network was trained -> a kind with the same numbers."""
PLAYERS = "players"
"""The label of the number of players, which an encoding need not have."""
LANE = 32
"""Bits of a hidden unit: a sum of some hundred rows of single bytes stays far below."""


class Trained(msgspec.Struct, frozen=True):
    """A network as it is stored."""

    game: str
    lesson: str
    """The command that made it."""
    hidden: int
    """The number of hidden units."""
    view: dict[str, tuple[int, ...]]
    """Label of a number of the view -> the thresholds it is compared with, ascending."""
    actions: dict[str, tuple[tuple[int, ...], ...]]
    """Kind of an action -> the same for each of its numbers."""
    weights: str
    """A row of bytes for each threshold, first those of the view, then for each kind one that is always there and those
    of its numbers; then the bias of the hidden units, and the weights of their sum. In base64."""


class Rows(dict[float, int]):
    """What a number adds to the hidden layer, by its value; computed when it first comes up."""

    def __init__(self, thresholds: Sequence[int], rows: Sequence[int]) -> None:
        super().__init__()
        self.thresholds, self.sums = thresholds, [0]
        for row in rows:
            self.sums.append(self.sums[-1] + row)

    def __missing__(self, value: float) -> int:
        """Return the sum of the rows whose threshold the value reaches."""
        added = self[value] = self.sums[bisect_right(self.thresholds, value)]
        return added


class Network:
    """The rows of a trained network, packed."""

    def __init__(self, trained: Trained) -> None:
        hidden = trained.hidden
        self.describe = DESCRIBE[trained.game]
        self.signs = sum([1 << (LANE * unit + LANE - 1) for unit in range(hidden)])
        self.lanes = Struct(f"<{hidden}i").unpack
        self.size = LANE // 8 * hidden
        data = b64decode(trained.weights)
        values = [byte - 256 if byte > 127 else byte for byte in data]
        rows = iter([values[at : at + hidden] for at in range(0, len(values), hidden)])

        def packed() -> int:
            return sum([weight << (LANE * unit) for unit, weight in enumerate(next(rows))])

        self.view = {name: Rows(given, [packed() for _ in given]) for name, given in trained.view.items()}
        self.actions = {
            kind: (packed(), [Rows(given, [packed() for _ in given]) for given in numbers])
            for kind, numbers in trained.actions.items()
        }
        self.bias = packed()
        self.out = next(rows)


class Scorer:
    """A network at a table of one size."""

    def __init__(self, network: Network, game: Game[Any], players: int) -> None:
        self.network, self.game, self.players = network, game, players
        self._encoding = encoding_of(game, players)
        nothing = Rows((), ())
        labels = [number.label for number in self._encoding.numbers]
        self._inputs = [network.view.get(label, nothing) for label in [*labels, PLAYERS]]

    def scores(self, view: View, actions: Sequence[Action]) -> list[int]:
        """Return the score of each action."""
        network = self.network
        base = network.bias
        for rows, value in zip(self._inputs, [*self._encoding.encode(view), self.players], strict=True):
            if row := rows[value]:
                base += row
        scores = []
        for action, numbers in zip(actions, network.describe(self.game, view, actions), strict=True):
            always, inputs = network.actions[ALIKE.get(action.kind, action.kind)]
            total = base + always
            for rows, value in zip(inputs, numbers, strict=True):
                if row := rows[value]:
                    total += row
            # As in two's complement: lanes that borrowed from their neighbour give it back.
            units = network.lanes(((total + network.signs) ^ network.signs).to_bytes(network.size, "little"))
            scores.append(sum(map(mul, network.out, [unit if unit > 0 else 0 for unit in units])))
        return scores

    def best(self, view: View, actions: Sequence[Action]) -> Action:
        """Return the action with the highest score, the first of equal ones."""
        scores = self.scores(view, actions)
        return actions[scores.index(max(scores))]


@cache
def scorer_of(game: Game[Any], players: int) -> Scorer:
    """Return the trained network of a game at a table of this size."""
    return Scorer(network_of(game.name), game, players)


@cache
def network_of(game: str) -> Network:
    """Return the trained network of a game."""
    return Network(read(game))


def file_of(game: str) -> Path:
    """Return where the network of a game is stored."""
    return Path(__file__).with_name(f"{game}.json")


def read(game: str) -> Trained:
    """Return the trained network of a game as it is stored."""
    return msgspec.json.decode(file_of(game).read_bytes(), type=Trained)
