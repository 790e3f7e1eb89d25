"""How strong the bots of one game are, from counts of pairs alone: for leagues of many bots and very many matches.

A match counts once for each bot, shared among the others at its table, and each pair is a result of Bradley and
Terry's model. Matches are not kept: of each pair that met there are four sums, all of them whole numbers, so it does
not matter in which order matches come.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import erf, exp, log, sqrt
from operator import mul
from typing import Any, NamedTuple

from harness.ratings.strength_errors import doubts
from harness.ratings.strength_fit import PRIOR, PairGraph, Peak, Taker, Vector, peak, taker

UNIT = 60
"""Shares are counted in parts of this, so that those of tables of up to seven are whole numbers."""
SPREADS = tuple(0.02 * 1.25**step for step in range(23))
"""The true spreads of strengths in a field that are thought of, all in the same proportion."""
STEADY = 12.0
"""After how many matches a bot's own luck says as much about how large it is as that of all others."""
SEATED = 1.15
"""By how much variances are larger because results decide who meets whom. By simulation; see docs/league-ratings.md."""
MODEL = 0.004
"""The error of a share of one half that no number of matches takes away: differences add up nearly as in the model."""
RULED_OUT = 2.0
"""By how much the logarithm of a likelihood must be below the best, for 95%."""
_Z = 1.959964
_ROUGHLY, _CLOSELY = 0.05, 1e-4
"""The last step of a fit is no longer than this, and what is left is the square of it."""
_FIRST, _SLOTS = 1 << 20, 1 << 32
"""More than there are bots, and more than sums of pairs."""


class Crowd(NamedTuple):
    """How far apart the bots of a field are."""

    prior: float = PRIOR
    """The spread that strengths were fitted with."""
    spreads: tuple[tuple[float, float], ...] = ((PRIOR, 1.0),)
    """How far apart they may truly be, each spread with its weight."""


@dataclass(frozen=True, slots=True)
class Strength:
    """How strong a bot is, and how well that is known."""

    value: float
    """In log-odds, the field's mean being 0: one that is stronger by 1 finishes ahead in 73%, by 2 in 88%."""
    error: float
    """One standard error of the value."""
    ahead: float
    """The share of its opponents that it finishes ahead of if it meets all others of the field equally often."""
    low: float
    high: float
    """Between these the true share lies, in 95 of 100 cases."""
    matches: int
    own: float | None = field(default=None, repr=False)
    """The error that counts in comparisons: without what is common to bots that met each other."""
    crowd: Crowd = field(default=Crowd(), repr=False, compare=False)
    """Those it was fitted among."""


def chance_better(one: Strength, other: Strength) -> float:
    """How sure it is that one is the stronger, so that 90% is right in 90 of 100 cases."""
    value = one.value - other.value
    variance = sum([(each.error if each.own is None else each.own) ** 2 for each in (one, other)])
    crowd = one.crowd
    # What the matches say without the prior that the strengths were fitted with; that one is put in its place below.
    told = 1 / variance - 1 / (2 * crowd.prior**2)
    if told <= 0:
        return 0.5
    value, variance = value / (variance * told), 1 / told
    above = total = 0.0
    for spread, weight in crowd.spreads:
        true = 2 * spread * spread
        both = true + variance
        fits = weight * exp(-0.5 * value**2 / both) / sqrt(both)
        total += fits
        above += fits * 0.5 * (1 + erf(value * sqrt(true / (both * variance) / 2)))
    return above / total if total else float(value > 0)


@lru_cache(maxsize=100_000)
def _seen(ranks: tuple[int, ...]) -> tuple[list[tuple[int, int, int]], list[int]]:
    """Each pair of seats with the first one's halves of a win, and the halves of each seat together."""
    seats = range(len(ranks))
    pairs = [(a, b, (ranks[a] < ranks[b]) + (ranks[a] <= ranks[b])) for a in seats for b in seats if a < b]
    halves = [sum([(mine < its) + (mine <= its) for its in ranks]) - 1 for mine in ranks]
    return pairs, halves


class Strengths:
    """What the matches of one game say about how strong its bots are."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._numbers: dict[str, int] = {}
        self._matches: list[int] = []
        self._squares: list[float] = []
        """Of each bot's shares."""
        self._thin: list[float] = []
        """The part of a match that each opponent was."""
        self._slots: dict[int, int] = {}
        """Each pair that met, by its bots' numbers, and where its sums are."""
        self._sums = array("d")
        """Four for each pair: how much they met, what the first gained of it, and either's share when they met."""

    def add(self, seats: Sequence[str], ranks: Sequence[int]) -> None:
        """Takes in one match; rank 1 is the best, equal ranks are ties. A match of a bot with itself tells nothing."""
        numbers = [self._numbers[name] if name in self._numbers else self._new(name) for name in seats]
        others = len(numbers) - 1
        if len(set(numbers)) <= others or others < 1:
            return
        pairs, halves = _seen(tuple(ranks))
        part, fine = UNIT / others, UNIT * UNIT / (others * others)
        for number, half in zip(numbers, halves, strict=True):
            self._matches[number] += 1
            self._squares[number] += half * half * fine
            self._thin[number] += part
        slots, sums = self._slots, self._sums
        for a, b, half in pairs:
            one, other, first, second = numbers[a], numbers[b], halves[a], halves[b]
            if one > other:
                one, other, first, second, half = other, one, second, first, 2 - half
            slot = slots.get(one * _FIRST + other)
            if slot is None:
                slot = slots[one * _FIRST + other] = len(sums)
                sums.extend((0.0, 0.0, 0.0, 0.0))
            sums[slot] += part
            sums[slot + 1] += half * part
            sums[slot + 2] += first * fine
            sums[slot + 3] += second * fine

    def _new(self, name: str) -> int:
        self._names.append(name)
        self._matches.append(0)
        self._squares.append(0.0)
        self._thin.append(0.0)
        number = self._numbers[name] = len(self._names) - 1
        return number

    def fit(self, among: Collection[str] | None = None) -> dict[str, Strength]:
        """The strengths of all bots that have matches, by name, or of those `among` them that are asked for: then these
        are the field that a bot is compared with, and all matches count nevertheless."""
        order = sorted(name for name in self._names if self._matches[self._numbers[name]])
        wanted = set(order if among is None else among)
        chosen = [place for place, name in enumerate(order) if name in wanted]
        if not chosen:
            return {}
        graph, gains = self._graph(order)
        matches = [self._matches[self._numbers[name]] for name in order]
        # Once with hardly a prior, to see how far apart the bots of this league are, and then with that for a prior.
        free = peak(graph, PRIOR, [0.0] * len(order), _ROUGHLY)
        luck = self._luck(order, free, graph, gains)
        spreads = _spreads(free.values, [one / total**2 for one, total in zip(luck, free.sums, strict=True)])
        crowd, start = Crowd(spreads[-1][0], spreads), free.values
        del free
        at = peak(graph, crowd.prior, start, _CLOSELY)
        luck = self._luck(order, at, graph, gains)
        return _strengths(order, chosen, at, graph.takers, luck, matches, crowd)

    def _graph(self, order: Sequence[str]) -> tuple[PairGraph, list[array[float]]]:
        """Who met whom, in order of names, and for each the sums of its own shares when they met."""
        places = [0] * len(self._names)
        for place, name in enumerate(order):
            places[self._numbers[name]] = place
        rows: list[list[int]] = [[] for _ in order]
        for key, slot in self._slots.items():
            one, other = places[key // _FIRST], places[key % _FIRST]
            rows[one].append(other * _SLOTS + slot)
            rows[other].append(one * _SLOTS + slot + 1)  # odd: the sums are those of the other first
        bots, sums = list(range(len(order))), self._sums
        takers, weights, gains, gained = [], [], [], []
        for row in rows:
            row.sort()
            takers.append(taker([bots[code // _SLOTS] for code in row]))
            slots = [code % _SLOTS for code in row]
            weights.append(array("d", [sums[slot & -2] / UNIT for slot in slots]))
            gains.append(array("d", [sums[slot + 2] for slot in slots]))
            halves = sum([2 * sums[slot - 1] - sums[slot] if slot & 1 else sums[slot + 1] for slot in slots])
            gained.append(halves / (2 * UNIT))
        return PairGraph(takers, weights, gained), gains

    def _luck(self, order: Sequence[str], at: Peak, graph: PairGraph, gains: Sequence[array[float]]) -> Vector:
        """The variance of each bot's sum of shares: what its shares were off by, steadied by what others' were."""
        seen, expected, thins = [], [], []
        odds = [exp(value) for value in at.values]
        for mine, name, take, weights, gain, bend in zip(
            odds, order, graph.takers, graph.weights, gains, at.sums, strict=True
        ):
            number = self._numbers[name]
            matches = self._matches[number]
            chances = [mine / (mine + its) for its in take(odds)]
            thin = self._thin[number] / UNIT / matches
            mean = sum(map(mul, weights, chances)) / matches
            square = mean - bend / matches
            # Whether those at one table were alike is not kept: half of what would be if they all were.
            alike = thin * square + (1 - thin) * (mean * mean + 0.5 * (square - mean * mean))
            with_each = sum(map(mul, chances, gain)) / (2 * UNIT * UNIT)
            off = self._squares[number] / (4 * UNIT * UNIT) - 2 * with_each + matches * alike
            seen.append(max(0.0, off) * (matches / (matches - 1) if matches > 1 else 1.0))
            expected.append(thin * bend)
            thins.append(thin)
        usual = sum(seen) / sum(expected)
        return [
            alone * (off + usual * STEADY * thin / 4) / (alone + STEADY * thin / 4)
            for off, alone, thin in zip(seen, expected, thins, strict=True)
        ]

    def state(self) -> object:
        """All of it, in lists, numbers, strings and bytes."""
        keys = array("q", self._slots)
        return [list(self._names), list(self._matches), list(self._squares), list(self._thin), keys.tobytes(),
                self._sums.tobytes()]  # fmt: skip

    def restore(self, state: Any) -> None:
        """Puts it back to where `state` was taken."""
        names, matches, squares, thin, keys, sums = state
        self._names, self._matches, self._squares, self._thin = list(names), list(matches), list(squares), list(thin)
        self._numbers = {name: number for number, name in enumerate(self._names)}
        found = array("q")
        found.frombytes(keys)
        self._slots = {key: 4 * place for place, key in enumerate(found)}
        self._sums = array("d")
        self._sums.frombytes(sums)


def _strengths(
    order: Sequence[str],
    chosen: Sequence[int],
    at: Peak,
    takers: list[Taker],
    luck: Vector,
    matches: Sequence[int],
    crowd: Crowd,
) -> dict[str, Strength]:
    values = [at.values[bot] for bot in chosen]
    middle = sum(values) / len(values)
    odds = [exp(value) for value in values]
    others = max(1, len(chosen) - 1)
    chances = [[mine / (mine + its) for its in odds] for mine in odds]
    slopes = [[chance * (1 - chance) / others for chance in row] for row in chances]
    for place, row in enumerate(slopes):
        row[place] = 0.0
    found = doubts(at, takers, luck, chosen, slopes)
    table: dict[str, Strength] = {}
    for place, bot in enumerate(chosen):
        played, steep = matches[bot], sum(slopes[place])
        if not steep:
            ahead, low, high = 0.5, 0.0, 1.0
        else:
            ahead = (sum(chances[place]) - 0.5) / others
            model = 4 * ahead * (1 - ahead) * MODEL**2
            reach = _t(played) * sqrt(SEATED * found.ahead[place] + model) / steep
            low, high = (_share(odds[place] * exp(by), odds, place) for by in (-min(reach, 50.0), min(reach, 50.0)))
        table[order[bot]] = Strength(
            values[place] - middle, sqrt(SEATED * found.value[place]), ahead, low, high, played,
            sqrt(found.own[place]), crowd,
        )  # fmt: skip
    return table


def _share(mine: float, odds: Sequence[float], place: int) -> float:
    """The share of the others that a bot with these odds finishes ahead of."""
    return (sum([mine / (mine + its) for its in odds]) - mine / (mine + odds[place])) / (len(odds) - 1)


def _t(matches: int) -> float:
    """Student's quantile for 95%, nearly, for an error from so many matches steadied by those of others."""
    freedom = matches + STEADY
    return _Z + (_Z**3 + _Z) / (4 * freedom)


def _spreads(values: Sequence[float], variances: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """How far apart bots may truly be: each spread of SPREADS with its weight, given the strengths that were seen, up
    to the largest that is not ruled out."""
    share = (len(values) - 1) / len(values)
    logs = []
    for spread in SPREADS:
        fits = 0.0
        for value, variance in zip(values, variances, strict=True):
            both = spread * spread + variance
            fits -= 0.5 * (value * value / both + log(both))
        logs.append(share * fits)
    best = max(logs)
    last = max(place for place, one in enumerate(logs) if one > best - RULED_OUT)
    return tuple([(spread, exp(one - best)) for spread, one in zip(SPREADS[: last + 1], logs, strict=False)])
