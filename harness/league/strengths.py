"""Bradley-Terry strengths of a league's bots, fitted to counts of pairs, with sandwich standard errors."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import erf, exp, log, sqrt
from operator import itemgetter, mul
from typing import Any, NamedTuple

from harness.ratings.beat_rate import Matrix, inverse_of, matvec, sandwich

# Bradley-Terry strengths of up to some thousand bots: the maximum of the likelihood of all pairs that met.
#
# A bot that is stronger by x finishes ahead of the other with probability 1 / (1 + exp(-x)). The pairs are a sparse
# graph, and Newton's steps are solved on it by conjugate gradients, which takes time in proportion to the pairs and
# needs no matrix. The fit starts from zero, so that the same counts give the same strengths.


PRIOR_SPREAD = 3.0
"""Standard deviation of strengths in the first fit: wide, so that it hardly matters, and finite, so that a bot that
has won everything has a finite strength."""
_MAX_STEPS, _MAX_LOGITS = 60, 2.0
_MAX_CG_ITERATIONS, _COARSE_TOLERANCE, _FINE_TOLERANCE = 300, 0.1, 1e-3
"""The equations of a step are solved only as exactly as the step itself is good."""

Vector = list[float]
RowGetter = Callable[[list[Any]], Sequence[Any]]


class PairGraph(NamedTuple):
    """The pairs that met: bots are numbered, and for each bot its opponents are in order."""

    getters: list[RowGetter]
    """For each bot, a function that returns the values of its opponents, given those of all bots."""
    weights: list[array[float]]
    """For each opponent, how much they met: a match counts 1 for a bot, shared among the others at the table."""
    gained: Vector
    """For each bot, the sum of the shares of the table that it finished ahead of."""


class Optimum(NamedTuple):
    """The strengths with the largest likelihood, and the curvature there."""

    graph: PairGraph
    values: Vector
    prior_curvature: float
    """Curvature that the prior adds for each bot."""
    curvatures: list[Vector]
    """For each bot and each opponent: weight * chance * (1 - chance)."""
    sums: Vector
    """For each bot, the sum over its opponents, without the prior."""


def row_getter(row: Sequence[int]) -> RowGetter:
    """Return a function that picks the elements of a row from a vector."""
    # itemgetter is the fastest way in plain Python, and this is the inner loop of a fit.
    if len(row) > 1:
        return itemgetter(*row)
    return lambda vector: [vector[bot] for bot in row]


def find_optimum(graph: PairGraph, prior: float, start: Vector, close: float) -> Optimum:
    """Return the most likely strengths, given a prior with this standard deviation around zero.

    Newton's method from `start`; it converges quadratically, so when a step is shorter than `close` the error that is
    left is about its square.
    """
    values, prior_curvature, tolerance = start, 1 / prior**2, _COARSE_TOLERANCE
    for _ in range(_MAX_STEPS):
        slope, at = _derivatives(graph, values, prior_curvature)
        step = _solve_step(at, slope, tolerance)
        longest = max(map(abs, step), default=0.0)
        # Limited, because far from the optimum Newton's method overshoots where one bot has won nearly all.
        values = [value + max(-_MAX_LOGITS, min(_MAX_LOGITS, by)) for value, by in zip(values, step, strict=True)]
        if longest < close:
            break
        tolerance = max(_FINE_TOLERANCE, min(_COARSE_TOLERANCE, longest / 10))
    return at._replace(values=values)


def _derivatives(graph: PairGraph, values: Vector, prior_curvature: float) -> tuple[Vector, Optimum]:
    """Return gradient and curvature of the log-likelihood."""
    odds = [exp(value) for value in values]
    slope: Vector = []
    curvatures: list[Vector] = []
    for value, mine, pick, weights, gained in zip(values, odds, *graph, strict=True):
        chances = [mine / (mine + its) for its in pick(odds)]
        expected = list(map(mul, weights, chances))
        slope.append(gained - sum(expected) - prior_curvature * value)
        curvatures.append([part - part * chance for part, chance in zip(expected, chances, strict=True)])
    return slope, Optimum(graph, values, prior_curvature, curvatures, [sum(row) for row in curvatures])


def _solve_step(at: Optimum, gradient: Vector, tolerance: float) -> Vector:
    """Return Newton's step for a gradient, by conjugate gradients with the diagonal as preconditioner."""
    diagonal = [total + at.prior_curvature for total in at.sums]
    solution = [0.0] * len(gradient)
    residual = gradient
    scaled = [one / by for one, by in zip(residual, diagonal, strict=True)]
    direction = scaled
    size = sum(map(mul, residual, scaled))
    target = size * tolerance * tolerance
    for _ in range(_MAX_CG_ITERATIONS):
        if size <= target or size < 1e-30:
            break
        image = [
            by * one - sum(map(mul, row, pick(direction)))
            for by, one, row, pick in zip(diagonal, direction, at.curvatures, at.graph.getters, strict=True)
        ]
        length = size / sum(map(mul, direction, image))
        solution = [one + length * by for one, by in zip(solution, direction, strict=True)]
        residual = [one - length * by for one, by in zip(residual, image, strict=True)]
        scaled = [one / by for one, by in zip(residual, diagonal, strict=True)]
        before, size = size, sum(map(mul, residual, scaled))
        direction = [one + size / before * by for one, by in zip(scaled, direction, strict=True)]
    return solution


# Standard errors: a sandwich estimate (Huber, 1967), because the pairs of one match are not independent, so the inverse
# Hessian alone would be too small.
#
# The Hessian (the bread) says how strengths respond to shares of the table that are off by chance, and the matches say
# how large these deviations are (the meat). For few bots the response is computed exactly. For many, a strength
# responds to a bot's own deviations, to those of its opponents, one by one, and to what bots of similar strength have
# in common, block by block: bots that meet only their neighbours are well compared with them, and less well with the
# top.


MAX_EXACT_BOTS = 120
"""Up to this many bots all covariances are computed: the matrix takes time with the third power of the bots."""
BLOCK_COUNT = 48
"""Blocks of bots of similar strength, if there are more bots."""
_ITERATIONS, _FEW_ITERATIONS = 8, 3


class StandardErrors(NamedTuple):
    """Squared standard errors, one for each bot."""

    value: Vector
    """Of the strength, relative to the mean of the field."""
    ahead: Vector
    """Of the share of the field that it finishes ahead of, in log-odds times slope."""
    own: Vector
    """Quasi-variance of the strength: those of two bots add up to the variance of their difference."""


def standard_errors(at: Optimum, variances: Vector, field: Sequence[int], slopes: list[Vector]) -> StandardErrors:
    """Return the squared standard errors of the bots in `field`, given the variance of each bot's sum of shares.

    `slopes` has, for each bot of the field, the derivative of its chance against each bot of the field; 0 for itself.
    """
    few = len(at.values) <= MAX_EXACT_BOTS
    parts = _covariance_parts(at, variances, _ITERATIONS if few else _FEW_ITERATIONS)
    return (_exact_errors if few else _block_errors)(at, parts, field, slopes)


def _covariance_parts(at: Optimum, variances: Vector, iterations: int) -> Vector:
    """Return parts such that curvature times the sum of two bots' parts is the covariance of their shares.

    What a bot gains at a table the others lose, so its variance is made up of covariances with its opponents.
    """
    parts = [0.5 * one / total for one, total in zip(variances, at.sums, strict=True)]
    for _ in range(iterations):
        parts = [
            max(0.0, part + 0.5 * (one / total - part - sum(map(mul, row, pick(parts))) / total))
            for part, one, total, row, pick in zip(
                parts, variances, at.sums, at.curvatures, at.graph.getters, strict=True
            )
        ]
    return parts


def _exact_errors(at: Optimum, parts: Vector, field: Sequence[int], slopes: list[Vector]) -> StandardErrors:
    size = len(at.values)
    met = [pick(list(range(size))) for pick in at.graph.getters]
    hessian: Matrix = [[0.0] * size for _ in range(size)]
    variances: Matrix = [[0.0] * size for _ in range(size)]
    for bot, (row, others) in enumerate(zip(at.curvatures, met, strict=True)):
        for one, other in zip(row, others, strict=True):
            shared = one * (parts[bot] + parts[other])
            hessian[bot][other], variances[bot][other] = -one, -shared
            variances[bot][bot] += shared
        hessian[bot][bot] = at.sums[bot] + at.prior_curvature
        variances[bot][bot] += at.prior_curvature
    inverse = inverse_of(hessian)
    covariance = sandwich(inverse, variances)
    inner = [[covariance[one][other] for other in field] for one in field]
    count = len(field)
    whole = sum([sum(row) for row in inner]) / count**2
    value, ahead = [], []
    for place, (row, slope) in enumerate(zip(inner, slopes, strict=True)):
        value.append(row[place] - 2 * sum(row) / count + whole)
        contrast = [-one for one in slope]
        contrast[place] = sum(slope)
        ahead.append(sum(map(mul, contrast, matvec(inner, contrast))))
    own = _quasi_variances(at, met, covariance)
    return StandardErrors(value, ahead, [own[bot] for bot in field])


def _quasi_variances(at: Optimum, met: Sequence[Sequence[int]], covariance: Matrix) -> Vector:
    """Return quasi-variances: those of two bots that met add up to about the variance of their difference."""
    # Firth and de Menezes (2004). One figure for each bot is enough to compare any two of them.
    own = [covariance[bot][bot] for bot in range(len(met))]
    apart = [
        [covariance[bot][bot] + covariance[other][other] - 2 * covariance[bot][other] for other in others]
        for bot, others in enumerate(met)
    ]
    for _ in range(5 * _ITERATIONS):
        own = [
            0.5 * one
            + 0.5
            * max(0.0, sum([w * (gap - own[other]) for w, gap, other in zip(row, gaps, others, strict=True)]) / total)
            for one, row, gaps, others, total in zip(own, at.curvatures, apart, met, at.sums, strict=True)
        ]
    return own


def _block_errors(at: Optimum, parts: Vector, field: Sequence[int], slopes: list[Vector]) -> StandardErrors:
    size, count = len(at.values), BLOCK_COUNT
    block = [0] * size
    for place, bot in enumerate(sorted(range(size), key=at.values.__getitem__)):
        block[bot] = place * count // size
    members = [block.count(number) for number in range(count)]
    usual = [0.0] * count
    for number, part in zip(block, parts, strict=True):
        usual[number] += part / members[number]
    # Curvature and covariance of each bot with each block, and of blocks with blocks.
    reach: Matrix = []
    shared: Matrix = []
    variances: Vector = []
    hessian: Matrix = [[0.0] * count for _ in range(count)]
    common: Matrix = [[0.0] * count for _ in range(count)]
    for mine, row, pick, part, total in zip(block, at.curvatures, at.graph.getters, parts, at.sums, strict=True):
        near = [0.0] * count
        for one, number in zip(row, pick(block), strict=True):
            near[number] += one
        pull = [one * (part + its) for one, its in zip(near, usual, strict=True)]
        reach.append(near)
        shared.append(pull)
        variances.append(sum(pull))
        for whole, single in ((hessian[mine], near), (common[mine], pull)):
            whole[:] = [a - b for a, b in zip(whole, single, strict=True)]
        hessian[mine][mine] += total + at.prior_curvature
        common[mine][mine] += variances[-1] + at.prior_curvature
    inverse = inverse_of(hessian)
    covariance = sandwich(inverse, common)
    diagonal = [total + at.prior_curvature for total in at.sums]
    alone = [(one + at.prior_curvature) / by**2 for one, by in zip(variances, diagonal, strict=True)]
    value, ahead, own = [], [], []
    mean = [0.0] * count
    for bot in field:
        mean[block[bot]] += 1 / len(field)
    places = [block[bot] for bot in field]
    for bot, slope in zip(field, slopes, strict=True):
        by = diagonal[bot]
        row = at.curvatures[bot]
        from_met = sum(map(mul, map(mul, row, row), at.graph.getters[bot](alone))) / by**2
        local = alone[bot] + from_met
        own.append(local)
        # The covariance of this bot's deviations with those of the blocks, and so with the blocks' strengths.
        gone = [-one for one in shared[bot]]
        gone[block[bot]] += variances[bot]
        tied = matvec(inverse, gone)
        follow = [one / by for one in reach[bot]]
        contrast = [one - other for one, other in zip(follow, mean, strict=True)]
        value.append(_with_blocks(local, contrast, covariance, tied, 1 / by))
        steep = sum(slope)
        contrast = [steep * one for one in follow]
        for one, number in zip(slope, places, strict=True):
            contrast[number] -= one
        ahead.append(_with_blocks(steep * steep * local, contrast, covariance, tied, steep / by))
    return StandardErrors(value, ahead, own)


def _with_blocks(local: float, contrast: Vector, covariance: Matrix, tied: Vector, scale: float) -> float:
    """Return a bot's own variance plus that of the distances to the blocks and twice their covariance."""
    # The blocks are an approximation, and their covariance may be too negative: never fall below half.
    blocks: float = sum(map(mul, contrast, matvec(covariance, contrast)))
    common: float = sum(map(mul, contrast, tied))
    return max(0.5 * local, local + blocks + 2 * scale * common)


# Strengths from counts of pairs, for leagues of many bots and very many matches.
#
# A match counts once for each bot, shared among the others at its table, and each pair is a result of the Bradley-Terry
# model. Matches are not kept: each pair that met has four sums, all of them whole numbers, so the order in which
# matches are added does not matter, not even by rounding.


SHARE_UNIT = 60
"""Shares are counted in units of 1/60, so that they are whole numbers at tables of up to seven."""
CANDIDATE_SPREADS = tuple(0.02 * 1.25**step for step in range(23))
"""Standard deviations that the true strengths of a field may have, in a geometric series."""
SHRINKAGE_MATCHES = 12.0
"""After this many matches a bot's variance is estimated half from its own results, half from those of all bots."""
MATCHMAKING_INFLATION = 1.15
"""Factor on variances, because the pairings depend on results. Found by simulation: docs/league-ratings.md."""
MODEL_ERROR = 0.004
"""Standard error of a share of one half that no number of matches removes: real games follow the model only roughly."""
MAX_LIKELIHOOD_DROP_NATS = 2.0
"""A spread whose log-likelihood is this much below the best is ruled out: 95%."""
_Z = 1.959964
_ROUGH_STEP, _CLOSE_STEP = 0.05, 1e-4
"""Length of the last step of a fit; the error that is left is about its square."""
_BOT_RADIX, _SLOT_RADIX = 1 << 20, 1 << 32
"""Radixes to pack two numbers into one: above the number of bots, and above the number of sums."""


class FieldSpread(NamedTuple):
    """How far apart the strengths of a field are."""

    prior: float = PRIOR_SPREAD
    """The standard deviation of the prior that strengths were fitted with."""
    spreads: tuple[tuple[float, float], ...] = ((PRIOR_SPREAD, 1.0),)
    """Possible true standard deviations, each with its weight."""


@dataclass(frozen=True, slots=True)
class Strength:
    """How strong a bot is, and how well that is known."""

    value: float
    """In log-odds, relative to the mean of the field: stronger by 1 finishes ahead in 73%, by 2 in 88%."""
    error: float
    """Standard error of the value."""
    ahead: float
    """The share of its opponents that it finishes ahead of if it meets all others of the field equally often."""
    low: float
    high: float
    """95% interval of that share."""
    matches: int
    own: float | None = field(default=None, repr=False)
    """Standard error for comparisons: without what bots that met each other have in common."""
    field_spread: FieldSpread = field(default=FieldSpread(), repr=False, compare=False)
    """Spread of the field that it was fitted in."""


def prob_better(one: Strength, other: Strength) -> float:
    """Return the probability that one bot is stronger than another, calibrated: 90% is right in 90 of 100 cases."""
    value = one.value - other.value
    variance = sum([(each.error if each.own is None else each.own) ** 2 for each in (one, other)])
    field_spread = one.field_spread
    # Remove the prior of the fit, and use the possible true spreads as priors instead: one wide prior would overrate
    # the difference of two bots of a league of equals.
    precision = 1 / variance - 1 / (2 * field_spread.prior**2)
    if precision <= 0:
        return 0.5
    value, variance = value / (variance * precision), 1 / precision
    above = total = 0.0
    for spread, weight in field_spread.spreads:
        true = 2 * spread * spread
        both = true + variance
        fits = weight * exp(-0.5 * value**2 / both) / sqrt(both)
        total += fits
        above += fits * 0.5 * (1 + erf(value * sqrt(true / (both * variance) / 2)))
    return above / total if total else float(value > 0)


@lru_cache(maxsize=100_000)
def _pair_results(ranks: tuple[int, ...]) -> tuple[list[tuple[int, int, int]], list[int]]:
    """Return each pair of seats with the first one's half-wins, and the half-wins of each seat. A tie is one half."""
    seats = range(len(ranks))
    pairs = [(a, b, (ranks[a] < ranks[b]) + (ranks[a] <= ranks[b])) for a in seats for b in seats if a < b]
    halves = [sum([(mine < its) + (mine <= its) for its in ranks]) - 1 for mine in ranks]
    return pairs, halves


class Strengths:
    """Counts of the matches of one game; `fit` makes strengths of them."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._numbers: dict[str, int] = {}
        self._matches: list[int] = []
        self._squares: list[float] = []
        """Sum of the squared shares of each bot."""
        self._thin: list[float] = []
        """Sum over each bot's matches of the weight that one opponent had."""
        self._slots: dict[int, int] = {}
        """Each pair that met, by the numbers of its bots -> position of its sums."""
        self._sums = array("d")
        """Four sums for each pair: how much they met, what the first gained of it, and the share of either then."""

    def add_match(self, seats: Sequence[str], ranks: Sequence[int]) -> None:
        """Add one match; rank 1 is the best, equal ranks are ties. A match of a bot with itself does not count."""
        numbers = [self._numbers[name] if name in self._numbers else self._add_bot(name) for name in seats]
        others = len(numbers) - 1
        if len(set(numbers)) <= others or others < 1:
            return
        pairs, halves = _pair_results(tuple(ranks))
        part, fine = SHARE_UNIT / others, SHARE_UNIT * SHARE_UNIT / (others * others)
        for number, half in zip(numbers, halves, strict=True):
            self._matches[number] += 1
            self._squares[number] += half * half * fine
            self._thin[number] += part
        slots, sums = self._slots, self._sums
        for a, b, half in pairs:
            one, other, first, second = numbers[a], numbers[b], halves[a], halves[b]
            if one > other:
                one, other, first, second, half = other, one, second, first, 2 - half
            slot = slots.get(one * _BOT_RADIX + other)
            if slot is None:
                slot = slots[one * _BOT_RADIX + other] = len(sums)
                sums.extend((0.0, 0.0, 0.0, 0.0))
            sums[slot] += part
            sums[slot + 1] += half * part
            sums[slot + 2] += first * fine
            sums[slot + 3] += second * fine

    def _add_bot(self, name: str) -> int:
        self._names.append(name)
        self._matches.append(0)
        self._squares.append(0.0)
        self._thin.append(0.0)
        number = self._numbers[name] = len(self._names) - 1
        return number

    def fit(self, among: Collection[str] | None = None) -> dict[str, Strength]:
        """Return the strengths of all bots that have played, by name.

        With `among`, return those of these bots only: they are the field that a bot is compared with, but all matches
        count.
        """
        order = sorted(name for name in self._names if self._matches[self._numbers[name]])
        wanted = set(order if among is None else among)
        chosen = [place for place, name in enumerate(order) if name in wanted]
        if not chosen:
            return {}
        graph, gains = self._graph(order)
        matches = [self._matches[self._numbers[name]] for name in order]
        # Empirical Bayes: fit once with a wide prior to estimate the spread of this league, then with that spread.
        free = find_optimum(graph, PRIOR_SPREAD, [0.0] * len(order), _ROUGH_STEP)
        variances = self._share_variances(order, free, gains)
        errors = [one / total**2 for one, total in zip(variances, free.sums, strict=True)]
        spreads = _possible_spreads(free.values, errors)
        field_spread, start = FieldSpread(spreads[-1][0], spreads), free.values
        del free
        at = find_optimum(graph, field_spread.prior, start, _CLOSE_STEP)
        variances = self._share_variances(order, at, gains)
        return _strengths(order, chosen, at, variances, matches, field_spread)

    def _graph(self, order: Sequence[str]) -> tuple[PairGraph, list[array[float]]]:
        """Return the pairs that met, in order of names, and for each bot its shares when it met each opponent."""
        # By name, not by first match: sums of floats depend on the order of their terms.
        places = [0] * len(self._names)
        for place, name in enumerate(order):
            places[self._numbers[name]] = place
        rows: list[list[int]] = [[] for _ in order]
        for key, slot in self._slots.items():
            one, other = places[key // _BOT_RADIX], places[key % _BOT_RADIX]
            rows[one].append(other * _SLOT_RADIX + slot)
            rows[other].append(one * _SLOT_RADIX + slot + 1)  # odd: the pair's first bot is the other one
        bots, sums = list(range(len(order))), self._sums
        getters, weights, gains, gained = [], [], [], []
        for row in rows:
            row.sort()
            getters.append(row_getter([bots[code // _SLOT_RADIX] for code in row]))
            slots = [code % _SLOT_RADIX for code in row]
            weights.append(array("d", [sums[slot & -2] / SHARE_UNIT for slot in slots]))
            gains.append(array("d", [sums[slot + 2] for slot in slots]))
            halves = sum([2 * sums[slot - 1] - sums[slot] if slot & 1 else sums[slot + 1] for slot in slots])
            gained.append(halves / (2 * SHARE_UNIT))
        return PairGraph(getters, weights, gained), gains

    def _share_variances(self, order: Sequence[str], at: Optimum, gains: Sequence[array[float]]) -> Vector:
        """Return the variance of each bot's sum of shares: the squared deviations from the fit, shrunk to the mean.

        Bots differ in how much they vary, so each needs an own variance; after few matches that is noise, so it is
        shrunk towards the variance that the field has relative to the model (empirical Bayes).
        """
        seen, expected, thins = [], [], []
        odds = [exp(value) for value in at.values]
        for mine, name, pick, weights, gain, curvature in zip(
            odds, order, at.graph.getters, at.graph.weights, gains, at.sums, strict=True
        ):
            number = self._numbers[name]
            matches = self._matches[number]
            chances = [mine / (mine + its) for its in pick(odds)]
            thin = self._thin[number] / SHARE_UNIT / matches
            mean = sum(map(mul, weights, chances)) / matches
            square = mean - curvature / matches
            # Which opponents sat at the same table is not kept: assume the middle between alike and independent.
            alike = thin * square + (1 - thin) * (mean * mean + 0.5 * (square - mean * mean))
            with_each = sum(map(mul, chances, gain)) / (2 * SHARE_UNIT * SHARE_UNIT)
            off = self._squares[number] / (4 * SHARE_UNIT * SHARE_UNIT) - 2 * with_each + matches * alike
            seen.append(max(0.0, off) * (matches / (matches - 1) if matches > 1 else 1.0))
            expected.append(thin * curvature)
            thins.append(thin)
        dispersion = sum(seen) / sum(expected)
        return [
            alone * (off + dispersion * SHRINKAGE_MATCHES * thin / 4) / (alone + SHRINKAGE_MATCHES * thin / 4)
            for off, alone, thin in zip(seen, expected, thins, strict=True)
        ]

    def state(self) -> object:
        """Return everything as lists, numbers, strings and bytes, for the cache."""
        keys = array("q", self._slots)
        return [list(self._names), list(self._matches), list(self._squares), list(self._thin), keys.tobytes(),
                self._sums.tobytes()]  # fmt: skip

    def restore(self, state: Any) -> None:
        """Restore what `state()` returned."""
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
    at: Optimum,
    variances: Vector,
    matches: Sequence[int],
    field_spread: FieldSpread,
) -> dict[str, Strength]:
    values = [at.values[bot] for bot in chosen]
    middle = sum(values) / len(values)
    odds = [exp(value) for value in values]
    others = max(1, len(chosen) - 1)
    chances = [[mine / (mine + its) for its in odds] for mine in odds]
    slopes = [[chance * (1 - chance) / others for chance in row] for row in chances]
    for place, row in enumerate(slopes):
        row[place] = 0.0
    found = standard_errors(at, variances, chosen, slopes)
    table: dict[str, Strength] = {}
    for place, bot in enumerate(chosen):
        played, steep = matches[bot], sum(slopes[place])
        if not steep:
            ahead, low, high = 0.5, 0.0, 1.0
        else:
            ahead = (sum(chances[place]) - 0.5) / others
            model = 4 * ahead * (1 - ahead) * MODEL_ERROR**2
            reach = _student_quantile(played) * sqrt(MATCHMAKING_INFLATION * found.ahead[place] + model) / steep
            # The interval is made in log-odds and turned into shares, so it stays between 0 and 1.
            reach = min(reach, 50.0)
            low, high = (_share_ahead(odds[place] * exp(by), odds, place) for by in (-reach, reach))
        table[order[bot]] = Strength(
            values[place] - middle, sqrt(MATCHMAKING_INFLATION * found.value[place]), ahead, low, high, played,
            sqrt(found.own[place]), field_spread,
        )  # fmt: skip
    return table


def _share_ahead(mine: float, odds: Sequence[float], place: int) -> float:
    """Return the share of the others that a bot with these odds finishes ahead of."""
    return (sum([mine / (mine + its) for its in odds]) - mine / (mine + odds[place])) / (len(odds) - 1)


def _student_quantile(matches: int) -> float:
    """Return about Student's 97.5% quantile (Cornish-Fisher) for a variance from `matches`, shrunk to the mean."""
    freedom = matches + SHRINKAGE_MATCHES
    return _Z + (_Z**3 + _Z) / (4 * freedom)


def _possible_spreads(values: Sequence[float], variances: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """Return the possible true spreads with their likelihoods, up to the largest that is not ruled out.

    Those below the best are all kept: the prior of the fit is the largest, so strengths are rather too far apart than
    too close.
    """
    share = (len(values) - 1) / len(values)
    logs = []
    for spread in CANDIDATE_SPREADS:
        fits = 0.0
        for value, variance in zip(values, variances, strict=True):
            both = spread * spread + variance
            fits -= 0.5 * (value * value / both + log(both))
        logs.append(share * fits)
    best = max(logs)
    last = max(place for place, one in enumerate(logs) if one > best - MAX_LIKELIHOOD_DROP_NATS)
    return tuple([(spread, exp(one - best)) for spread, one in zip(CANDIDATE_SPREADS[: last + 1], logs, strict=False)])
