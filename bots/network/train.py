"""Train the network of a game: python -m bots.network.train GAME

First it learns what an expert does at tables of all kinds of players. Then it plays itself, and the expert says what it
would have done there (dataset aggregation): so it also learns what to do where only its own mistakes lead. Needs numpy.
"""

from __future__ import annotations

import argparse
import sys
import time
from base64 import b64encode
from collections.abc import Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from bots.network.integers import DESCRIBE, PLAYERS, Network, Scorer, Trained, file_of
from harness import Action, Bot, Chance, Game, State, View, bot_named, encoding_of, ranks_of, step_match

EXPERTS = {"el-paso": "outlaw", "gnadenlos": "broker", "x-pasch": "tycoon"}
"""Whom to imitate."""
OTHERS = {
    "el-paso": ("diehard", "skittish", "random"),
    "gnadenlos": ("miser", "debtor", "random"),
    "x-pasch": ("hustler", "founder", "raider", "random"),
}
"""Who else sits at the tables."""
RIVALS = {game: ((EXPERTS[game],), OTHERS[game][:-1]) for game in EXPERTS}
TESTS = 60
"""Matches in which each round is tried against experts, and as many against the others."""
SLIPS = (0.0, 0.0, 0.0, 0.05, 0.2)
"""Rates of random actions. Each seat of a match draws one of them."""

HIDDEN = 64
MAX_THRESHOLDS = 12
"""Thresholds of a number at most: one with more values is divided into parts that are equally frequent."""
RARE = 0.0005
"""A threshold that is reached less often than this, or missed, has no weights."""
SCALE = 64
"""A weight of 1 as a whole number: weights are stored as single bytes."""
LARGEST = 127 / SCALE
START = (2 / 60) ** 0.5 / 2
"""Standard deviation of weights at the beginning: half of He's rule for sixty inputs."""
BATCH = 512
KEPT_APART = 20
"""Every n-th match is used to measure agreement with the expert, not to learn."""
SEED_BITS = 48

Floats = NDArray[np.float32]
Bits = NDArray[np.uint8]


class Decision(NamedTuple):
    """A position and its legal actions as numbers, and the action that the expert takes."""

    view: list[float]
    kinds: list[str]
    numbers: list[list[int]]
    wanted: int


class Round(NamedTuple):
    """A network after a round of training, and how good it is."""

    trained: Trained
    decisions: int
    """How many it has learned from."""
    minutes: float
    """Of processor time."""
    loss: float
    agreement: float
    """With the expert, in matches that were kept apart."""
    ahead_of_expert: float
    """The share of experts that it finishes ahead of."""
    ahead_of_others: float

    @property
    def figures(self) -> str:
        """A line of the learning curve."""
        return (
            f"loss {self.loss:.3f}, agrees {self.agreement:.1%}, ahead of experts {self.ahead_of_expert:.1%}, "
            f"of others {self.ahead_of_others:.1%}"
        )


class Table:
    """Seats for bots of one game, which are created once and started for each match."""

    def __init__(self, game: Game[Any]) -> None:
        self.game = game
        self._seated: dict[tuple[str, int, int], Bot] = {}

    def bot(self, name: str, seat: int, players: int, seed: int) -> Bot:
        """Return a started bot."""
        key = (name, seat, players)
        if key not in self._seated:
            cls = bot_named(name)
            defaults = {option.name: option.default for option in cls.options}
            self._seated[key] = cls().seated(self.game, seat, players, 0, defaults)
        bot = self._seated[key]
        bot.__dict__["rng"] = Random(seed)
        bot.start()
        return bot


def lessons(game: Game[Any], matches: range, seed: int, network: Network | None) -> Iterator[list[Decision]]:
    """Yield the decisions of each match, with what the expert takes. With a network, it plays most of the seats."""
    table, luck, expert, sizes = Table(game), Chance(seed), EXPERTS[game.name], list(sizes_of(game))
    describe = DESCRIBE[game.name]
    for number in matches:
        players = sizes[number % len(sizes)]
        rng = luck.rng("lesson", game.name, number)
        state: State[Any] = game.new(players, Chance(luck.derive("match", game.name, number)))
        state.log = None
        encoding = encoding_of(game, players)
        advisers = [table.bot(expert, seat, players, number) for seat in range(players)]
        student = Scorer(network, game, players) if network else None
        players_at = [seat_of(rng, game.name, table, seat, players, student) for seat in range(players)]
        slips = [rng.choice(SLIPS) for _ in range(players)]
        found = []
        while state.legal:
            seat, legal = state.seat, state.legal
            if len(legal) == 1:
                state.step(legal[0])
                continue
            view = state.view(seat)
            advisers[seat].start()  # without the plan for another position
            wanted = advisers[seat].choose(view, legal)
            numbers = describe(game, view, legal)
            found.append(
                Decision([*encoding.encode(view), players], [a.kind for a in legal], numbers, legal.index(wanted))
            )
            if rng.random() < slips[seat]:
                state.step(rng.choice(legal))
            else:
                player = players_at[seat]
                state.step(wanted if player is None else chosen(player, view, legal))
        yield found


def chosen(player: Bot | Scorer, view: View, legal: Sequence[Action]) -> Action:
    """Return what a bot or the network chooses."""
    return player.best(view, legal) if isinstance(player, Scorer) else player.choose(view, legal)


def seat_of(
    rng: Random, game: str, table: Table, seat: int, players: int, student: Scorer | None
) -> Bot | Scorer | None:
    """Return who plays a seat: None for the expert."""
    drawn = rng.random()
    if student is not None and drawn < 0.6:
        return student
    if drawn < 0.8:
        return None
    return table.bot(rng.choice(OTHERS[game]), seat, players, rng.getrandbits(SEED_BITS))


def sizes_of(game: Game[Any]) -> range:
    """Return the sizes of tables."""
    return range(game.min_players, game.max_players + 1)


class Inputs:
    """Which questions are asked of the numbers: the thresholds of each."""

    def __init__(self, game: Game[Any], decisions: Sequence[Decision]) -> None:
        labels = [number.label for number in encoding_of(game, game.max_players).numbers]
        self.labels = [*labels, PLAYERS]
        self._places = {
            players: [self.labels.index(number.label) for number in encoding_of(game, players).numbers]
            for players in sizes_of(game)
        }
        self.view = [_thresholds(column) for column in self.view_array([each.view for each in decisions]).T]
        rows: dict[str, list[list[int]]] = {}
        for each in decisions:
            for kind, numbers in zip(each.kinds, each.numbers, strict=True):
                rows.setdefault(kind, []).append(numbers)
        self.actions = {kind: [_thresholds(column) for column in _array(rows[kind]).T] for kind in sorted(rows)}
        self.kinds = {kind: place for place, kind in enumerate(self.actions)}

    def view_array(self, views: Sequence[list[float]]) -> NDArray[np.int16]:
        """Return the numbers of views at tables of any size, each where it is at the largest table."""
        found = np.zeros((len(views), len(self.labels)), np.int16)
        for players, places in self._places.items():
            these = [at for at, view in enumerate(views) if view[-1] == players]
            if these:
                found[np.ix_(these, [*places, len(self.labels) - 1])] = _array([views[at] for at in these])
        return found

    def bits(self, thresholds: Sequence[Sequence[int]], numbers: NDArray[np.int16], always: int) -> Bits:
        """Return for each threshold whether it is reached, after a number of questions that are always answered yes."""
        columns = [place for place, given in enumerate(thresholds) for _ in given]
        least = np.array([threshold for given in thresholds for threshold in given], np.int16)
        reached = numbers[:, columns] >= least if columns else np.zeros((len(numbers), 0), bool)
        return np.packbits(np.hstack([np.ones((len(numbers), always), bool), reached]), axis=1)


def _array(rows: Sequence[Sequence[float]]) -> NDArray[np.int16]:
    return np.clip(np.array(rows, np.int64).reshape(len(rows), -1), -32768, 32767).astype(np.int16)


def _thresholds(column: NDArray[np.int16]) -> list[int]:
    values = np.unique(column)[1:]
    if len(values) > MAX_THRESHOLDS:
        parts = np.linspace(0, 1, MAX_THRESHOLDS + 2)[1:-1]
        values = np.setdiff1d(np.quantile(column, parts, method="nearest"), column.min())
    reached = [float((column >= value).mean()) for value in values]
    return [int(value) for value, share in zip(values, reached, strict=True) if RARE <= share <= 1 - RARE]


class Lessons:
    """Decisions as bits: those of the view, and for each kind of action those of its actions."""

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs
        self._views: list[Bits] = []
        self._actions: list[list[Bits]] = [[] for _ in inputs.kinds]
        self._sizes: list[NDArray[np.int64]] = []
        self._kinds: list[NDArray[np.int8]] = []
        self._wanted: list[NDArray[np.int64]] = []

    def add(self, decisions: Sequence[Decision]) -> None:
        """Add decisions; those with a kind of action that was never seen before are left out."""
        inputs = self.inputs
        decisions = [each for each in decisions if set(each.kinds) <= inputs.kinds.keys()]
        views = inputs.view_array([each.view for each in decisions])
        self._views.append(inputs.bits(inputs.view, views, 0))
        for kind, place in inputs.kinds.items():
            rows = [
                numbers
                for each in decisions
                for name, numbers in zip(each.kinds, each.numbers, strict=True)
                if name == kind
            ]
            if rows:
                self._actions[place].append(inputs.bits(inputs.actions[kind], _array(rows), 1))
        self._sizes.append(np.array([len(each.kinds) for each in decisions]))
        self._kinds.append(np.array([inputs.kinds[kind] for each in decisions for kind in each.kinds], np.int8))
        self._wanted.append(np.array([each.wanted for each in decisions]))

    def close(self) -> None:
        """Prepare for batches."""
        self.views = np.concatenate(self._views)
        self.actions = [np.concatenate(rows) for rows in self._actions]
        self.sizes, self.kinds = np.concatenate(self._sizes), np.concatenate(self._kinds)
        self.wanted = np.concatenate(self._wanted)
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)])
        self.places = np.zeros(len(self.kinds), np.int64)
        for kind in range(len(self.actions)):
            mine = self.kinds == kind
            self.places[mine] = np.arange(mine.sum())


class Learner:
    """The weights as fractions, and how they learn: by Adam, from the difference to what the expert takes."""

    def __init__(self, inputs: Inputs, seed: int, hidden: int = HIDDEN) -> None:
        rng = np.random.default_rng(seed)
        self.inputs, self.hidden = inputs, hidden
        self.width = sum(map(len, inputs.view))
        self.widths = [1 + sum(map(len, given)) for given in inputs.actions.values()]

        def start(rows: int) -> Floats:
            return rng.normal(0, START, (rows, hidden)).astype(np.float32)

        self.view, self.actions = start(self.width), [start(width) for width in self.widths]
        self.bias = np.zeros(hidden, np.float32)
        self.out = (rng.normal(size=hidden) * (1 / hidden) ** 0.5).astype(np.float32)
        self._moments = [[np.zeros_like(each), np.zeros_like(each)] for each in self.weights()]
        self._steps = 0

    def weights(self) -> list[Floats]:
        """Return all weights."""
        return [self.view, *self.actions, self.bias, self.out]

    def forward(self, lessons: Lessons, chosen: NDArray[np.int64]) -> tuple[Any, ...]:
        """Return the scores of all actions of these decisions, and what they were computed from."""
        sizes = lessons.sizes[chosen]
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        flat = np.repeat(lessons.starts[chosen] - starts, sizes) + np.arange(sizes.sum())
        view = np.unpackbits(lessons.views[chosen], axis=1, count=self.width).astype(np.float32)
        sums = np.repeat(view @ self.view + self.bias, sizes, axis=0)
        parts = []
        kinds, places = lessons.kinds[flat], lessons.places[flat]
        for kind, (weights, width) in enumerate(zip(self.actions, self.widths, strict=True)):
            rows = np.flatnonzero(kinds == kind)
            if len(rows):
                packed = lessons.actions[kind][places[rows]]
                numbers = np.unpackbits(packed, axis=1, count=width).astype(np.float32)
                sums[rows] += numbers @ weights
                parts.append((kind, rows, numbers))
        units = np.maximum(sums, 0)
        return units @ self.out, sizes, starts, view, parts, units

    def step(self, lessons: Lessons, chosen: NDArray[np.int64], rate: float) -> float:
        """Learn from these decisions; return the loss before."""
        scores, sizes, starts, view, parts, units = self.forward(lessons, chosen)
        scores -= np.repeat(np.maximum.reduceat(scores, starts), sizes)
        chances = np.exp(scores)
        chances /= np.repeat(np.add.reduceat(chances, starts), sizes)
        wanted = starts + lessons.wanted[chosen]
        loss = float(-np.log(chances[wanted] + 1e-9).mean())
        chances[wanted] -= 1
        slopes = (chances / len(chosen)).astype(np.float32)
        below = slopes[:, None] * self.out * (units > 0)
        found = [np.zeros_like(each) for each in self.weights()]
        summed = np.add.reduceat(below, starts)
        found[0] = view.T @ summed
        for kind, rows, numbers in parts:
            found[1 + kind] = numbers.T @ below[rows]
        found[-2], found[-1] = summed.sum(0), units.T @ slopes
        self._adam(found, rate)
        return loss

    def _adam(self, found: Sequence[Floats], rate: float) -> None:
        self._steps += 1
        scale = rate * (1 - 0.999**self._steps) ** 0.5 / (1 - 0.9**self._steps)
        for weights, slope, (mean, square) in zip(self.weights(), found, self._moments, strict=True):
            mean += 0.1 * (slope - mean)
            square += 0.001 * (slope * slope - square)
            weights -= scale * mean / (np.sqrt(square) + 1e-8)
            np.clip(weights, -LARGEST, LARGEST, out=weights)

    def agreement(self, lessons: Lessons) -> float:
        """Return how often the highest score is that of the expert's action."""
        agreed = 0
        for at in range(0, len(lessons.sizes), BATCH):
            chosen = np.arange(at, min(at + BATCH, len(lessons.sizes)))
            scores, sizes, starts, *_ = self.forward(lessons, chosen)
            best = np.repeat(np.maximum.reduceat(scores, starts), sizes)
            agreed += int((scores[starts + lessons.wanted[chosen]] >= best[starts]).sum())
        return agreed / len(lessons.sizes)

    def stored(self, game: str, lesson: str) -> Trained:
        """Return the network in whole numbers."""
        rows = np.concatenate([self.view, *self.actions, self.bias[None], self.out[None]])
        whole = np.clip(np.round(rows * SCALE), -127, 127).astype(np.int8)
        view = {label: tuple(given) for label, given in zip(self.inputs.labels, self.inputs.view, strict=True) if given}
        actions = {kind: tuple(map(tuple, given)) for kind, given in self.inputs.actions.items()}
        return Trained(game, lesson, self.hidden, view, actions, b64encode(whole.tobytes()).decode())


def share_ahead(game: Game[Any], network: Network, rivals: Sequence[str], matches: int, seed: int) -> float:
    """Return which share of these rivals the network finishes ahead of, at tables of all sizes and in all seats."""
    table, luck, sizes, total = Table(game), Chance(seed), list(sizes_of(game)), 0.0
    for number in range(matches):
        players = sizes[number % len(sizes)]
        rng, own = luck.rng("test", game.name, number), number // len(sizes) % players
        state: State[Any] = game.new(players, Chance(luck.derive("test match", game.name, number)))
        state.log = None
        bots: list[Bot | Scorer] = [table.bot(rng.choice(rivals), seat, players, number) for seat in range(players)]
        bots[own] = Scorer(network, game, players)
        while state.legal:
            legal = state.legal
            state.step(legal[0] if len(legal) == 1 else chosen(bots[state.seat], state.view(state.seat), legal))
        ranks = ranks_of(state.scores())
        twice = sum([(rank > ranks[own]) + (rank >= ranks[own]) for rank in ranks]) - 1  # a tie is a half
        total += twice / (players - 1) / 2
    return total / matches


def rounds(game: Game[Any], matches: int, epochs: int, rate: float, seed: int) -> Iterator[Round]:
    """Yield the network after each round of this number of matches; it learns from all matches so far."""
    begun, network, rng = time.process_time(), None, np.random.default_rng(seed)
    for done in count():
        numbers = range(done * matches, (done + 1) * matches)
        played = list(lessons(game, numbers, seed, network))
        if not done:
            inputs = Inputs(game, [each for match in played for each in match])
            learner, learned, apart = Learner(inputs, seed), Lessons(inputs), Lessons(inputs)
        for place, part in enumerate((apart, learned)):
            part.add([each for number, match in zip(numbers, played, strict=True)
                      if bool(number % KEPT_APART) == bool(place) for each in match])  # fmt: skip
            part.close()
        del played
        loss, total, steps = 0.0, len(learned.sizes), epochs * (len(learned.sizes) // BATCH)
        orders = [rng.permutation(total)[: total // BATCH * BATCH].reshape(-1, BATCH) for _ in range(epochs)]
        for step, chosen in enumerate(np.concatenate(orders)):
            loss += learner.step(learned, chosen, rate * (1 - step / steps)) / steps
        lesson = f"{game.name} --rounds {done + 1} --matches {matches} --epochs {epochs} --rate {rate} --seed {seed}"
        trained = learner.stored(game.name, f"python -m bots.network.train {lesson}")
        network = Network(trained)
        ahead = [share_ahead(game, network, rivals, TESTS, seed + 1) for rivals in RIVALS[game.name]]
        agreed = learner.agreement(apart)
        yield Round(trained, total, (time.process_time() - begun) / 60, loss, agreed, *ahead)


def main() -> None:
    """Train the network of a game and store it where the bot reads it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("game", choices=sorted(EXPERTS))
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--matches", type=int, default=250)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--rate", type=float, default=0.002)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="Where to write it. Default: where the bot reads it.")
    given = parser.parse_args()
    game = step_match(given.game, [EXPERTS[given.game]] * 3).game
    found = rounds(game, given.matches, given.epochs, given.rate, given.seed)
    for number, done in enumerate(islice(found, given.rounds), start=1):
        (given.out or file_of(given.game)).write_bytes(msgspec.json.encode(done.trained) + b"\n")
        sys.stdout.write(f"round {number}, {done.decisions:,} decisions, {done.minutes:.2f} minutes: {done.figures}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
