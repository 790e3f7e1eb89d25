"""Skill: TrueSkill's model fitted to all matches at once, with errors over deals.

The model is that of the `trueskill` package: skills have a normal prior, a bot's performance in a match is its skill
plus normal noise, and two bots tie if their performances differ by less than a margin. The package updates its beliefs
match by match, so the order of matches decides close places. Bots do not change during a run, so here all matches are
fitted together: `mu` is the mode of the posterior, found by Newton's method on counts of pairs. A table of K seats has
K (K - 1) / 2 pairs, each with a weight of 2 / K, because they are not independent. The log-posterior is concave, so
the fit converges from anywhere, even for a bot that has won everything.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import erfc, exp, fsum, pi, sqrt
from operator import add, itemgetter, mul, neg, sub
from statistics import NormalDist
from typing import Any, Final, NamedTuple

import trueskill  # type: ignore[import-untyped]  # here and not in our settings: authors' checkers read this too

from harness.core.records import GameRecord
from harness.ratings.counts import AHEAD, BEHIND, TIED, PairCounts, Stratum, TableMatches, luck_of_pair
from harness.ratings.statistics import Matrix, PooledVariance, inverse_of, student_cdf, transformed

# The constants of the package, with the types that it does not publish.
MU: Final[float] = trueskill.MU
SIGMA: Final[float] = trueskill.SIGMA
BETA: Final[float] = trueskill.BETA
DELTA: Final[float] = trueskill.DELTA
DRAW_PROBABILITY: Final[float] = trueskill.DRAW_PROBABILITY
SPREAD: Final = sqrt(2) * BETA
"""Standard deviation of the difference of two performances of equal bots."""
DRAW_PRIOR_PAIRS = 10
"""Weight, in pairs, of the package's draw probability; the records determine the rest."""
_ROOT_HALF: Final = sqrt(0.5)
_DENSITY_AT_0: Final = 1 / sqrt(2 * pi)
_TWICE_DENSITY: Final = 2 * _DENSITY_AT_0
_FAR_TAIL: Final = -30.0  # beyond this density and tail underflow, and their ratio needs its asymptote


def draw_margin(probability: float) -> float:
    """Return how close two performances must be to count as a draw, for a given probability of draws."""
    return NormalDist().inv_cdf((probability + 1) / 2) * sqrt(2) * BETA


def chance_ahead(gap: float) -> float:
    """Return the probability that a bot finishes ahead of one whose skill is lower by `gap`; a tie is one half."""
    return 0.5 * erfc(-gap / SPREAD * _ROOT_HALF)


def win_derivatives(x: float) -> tuple[float, float]:
    """Return the first derivative of log Phi(x), and minus the second."""
    if x < _FAR_TAIL:
        return -x - 1 / x, 1 - 1 / (x * x)
    slope = _TWICE_DENSITY * exp(-0.5 * x * x) / erfc(-x * _ROOT_HALF)
    return slope, slope * (slope + x)


def tie_derivatives(x: float, edge: float) -> tuple[float, float]:
    """Return the first derivative of log(Phi(edge - x) - Phi(-edge - x)), and minus the second."""
    size = abs(x)
    high, low = edge - size, -edge - size
    within = 0.5 * (erfc(-high * _ROOT_HALF) - erfc(-low * _ROOT_HALF))
    if within < 1e-300:  # a very unlikely draw: all probability is at the edge
        return (high if x >= 0 else -high), 1.0
    at_high, at_low = _DENSITY_AT_0 * exp(-0.5 * high * high), _DENSITY_AT_0 * exp(-0.5 * low * low)
    slope = (at_low - at_high) / within
    return (slope if x >= 0 else -slope), slope * slope + (high * at_high - low * at_low) / within


# The fit.


_MAX_STEPS, _MAX_STEP = 100, 2 * SPREAD
_CONVERGED = 1e-9
"""Newton's method stops when no skill moves by more than this."""
_MAX_CG_ITERATIONS, _COARSE, _FINE = 200, 0.02, 1e-8
"""The equations of a step are solved only as exactly as the step itself is good."""
Vector = list[float]


class PairGraph:
    """The pairs that met, with how often the first bot was ahead, level and behind, each weighted by 2 / K."""

    def __init__(self, pairs: Iterable[tuple[int, int, int, float, float, float]], bots: int) -> None:
        # Leagues have half a million pairs: columns of numbers, because objects for each would take most of the memory.
        places: dict[int, int] = {}
        counts = array("d")
        met = ties = 0.0
        for players, one, other, ahead, tied, behind in pairs:
            # A match of K bots has K(K-1)/2 pairs, but far less information than as many matches of two: with this
            # weight it counts as K-1 of them, whatever the size of the table.
            weight = 2 / players
            met += ahead + tied + behind
            ties += tied
            if ahead < 0 or behind < 0:  # counts that were adjusted for luck may be negative
                ahead, behind = max(0.0, ahead), max(0.0, behind)
            at = places.setdefault(one * bots + other, len(counts))
            more = array("d", (weight * ahead, weight * tied, weight * behind))
            counts[at : at + 3] = array("d", map(add, counts[at : at + 3], more)) if at < len(counts) else more
        self.bots, keys, numbers = bots, sorted(places), list(range(bots))
        pick = _getter([places[key] // 3 for key in keys])
        self.counts = tuple(array("d", pick(counts[outcome::3])) for outcome in (AHEAD, TIED, BEHIND))
        """How often the first bot of each pair was ahead, level and behind: three columns."""
        firsts, seconds = self.pairs = [numbers[key // bots] for key in keys], [numbers[key % bots] for key in keys]
        """The first and the second bot of each pair: two columns."""
        # The share of ties is estimated, not fixed at that of the package: games differ in how often bots tie. The
        # prior keeps the margin positive in a game without ties.
        probability = (ties + DRAW_PRIOR_PAIRS * DRAW_PROBABILITY) / (met + DRAW_PRIOR_PAIRS)
        self.edge = draw_margin(probability) / SPREAD
        opponents: list[list[int]] = [[] for _ in range(bots)]
        sides: list[list[int]] = [[] for _ in range(bots)]
        for number, (one, other) in enumerate(zip(firsts, seconds, strict=True)):
            opponents[one].append(other)
            opponents[other].append(one)
            sides[one].append(number)
            sides[other].append(number + len(keys))
        # For each bot functions that pick the values of its opponents, and of its pairs with the sign of its side; and
        # functions that pick the values of the first and of the second bot of each pair. itemgetter is the fastest way
        # in plain Python, and this is the inner loop of a fit.
        self.opponents, self.sides = list(map(_getter, opponents)), list(map(_getter, sides))
        self.firsts, self.seconds = _getter(firsts), _getter(seconds)

    def parts(self) -> list[int]:
        """Return for each bot the lowest number in its connected component (union-find)."""
        part = list(range(self.bots))

        def root(bot: int) -> int:
            while part[bot] != bot:
                part[bot] = part[part[bot]]
                bot = part[bot]
            return bot

        for one, other in zip(*self.pairs, strict=True):
            low, high = sorted((root(one), root(other)))
            part[high] = low
        return [root(bot) for bot in range(self.bots)]


def _getter(row: Sequence[int]) -> Callable[[Sequence[Any]], Sequence[Any]]:
    if len(row) > 1:
        return itemgetter(*row)
    return lambda values: [values[at] for at in row]


class Mode(NamedTuple):
    """The mode of the posterior, and the curvature of the log-posterior there."""

    graph: PairGraph
    mu: Vector
    curvatures: Vector
    """For each pair, minus the second derivative of its log-likelihood."""
    prior: float
    """The same for the prior of each bot."""

    def hessian(self) -> Matrix:
        """Return the matrix of minus the second derivatives."""
        size = len(self.mu)
        matrix = [[0.0] * size for _ in range(size)]
        for one, other, curvature in zip(*self.graph.pairs, self.curvatures, strict=True):
            matrix[one][one] += curvature
            matrix[other][other] += curvature
            matrix[one][other] -= curvature
            matrix[other][one] -= curvature
        for bot in range(size):
            matrix[bot][bot] += self.prior
        return matrix


def fit_skills(
    graph: PairGraph, start: Sequence[float] | None = None, prior_sd: float = SIGMA, converged: float = _CONVERGED
) -> Mode:
    """Return the most likely skills; `start` is where to look first, such as an earlier fit.

    The fit ends with the first step shorter than `converged`; the error that is left is about its square.
    """
    mu, prior, tolerance = list(start or ()), 1 / prior_sd**2, _COARSE
    mu += [MU] * (graph.bots - len(mu))
    gradient, curvatures = _derivatives(graph, mu, prior)
    for _ in range(_MAX_STEPS):
        step = _newton_step(graph, curvatures, prior, gradient, tolerance)
        longest = max(map(abs, step), default=0.0)
        if longest < converged:  # the curvatures hardly change any more
            return Mode(graph, list(map(add, mu, step)), curvatures, prior)
        # Far from the mode the quadratic approximation fails: a full step may end where all densities underflow.
        scale = min(1.0, _MAX_STEP / longest) if longest else 1.0
        before = fsum(map(mul, gradient, step))
        while True:
            moved = [value + scale * by for value, by in zip(mu, step, strict=True)]
            gradient, curvatures = _derivatives(graph, moved, prior)
            # The log-posterior is concave: if it falls at the end of the step faster than it rose at the beginning,
            # the step was far too long.
            if fsum(map(mul, gradient, step)) >= -before or scale < 1e-6:
                break
            scale /= 2
        mu = moved
        # Newton's method converges quadratically at the end only if the equations are solved ever more exactly.
        tolerance = max(_FINE, min(_COARSE, longest / SPREAD / 10))
    return Mode(graph, mu, curvatures, prior)


def _derivatives(graph: PairGraph, mu: Vector, prior: float) -> tuple[Vector, Vector]:
    """Return the gradient of the log-posterior by bot, and the curvature of each pair."""
    edge, scaled = graph.edge, [value / SPREAD for value in mu]
    slopes: Vector = []
    curvatures: Vector = []
    add_slope, add_curvature = slopes.append, curvatures.append
    gaps = map(sub, graph.firsts(scaled), graph.seconds(scaled))
    for gap, ahead, tied, behind in zip(gaps, *graph.counts, strict=True):
        slope = curvature = 0.0
        x, y = gap - edge, -gap - edge
        if ahead:
            # `win_derivatives` in line: this is the inner loop of a fit.
            if x < _FAR_TAIL:
                first, second = win_derivatives(x)
            else:
                first = _TWICE_DENSITY * exp(-0.5 * x * x) / erfc(-x * _ROOT_HALF)
                second = first * (first + x)
            slope, curvature = ahead * first, ahead * second
        if behind:
            if y < _FAR_TAIL:
                first, second = win_derivatives(y)
            else:
                first = _TWICE_DENSITY * exp(-0.5 * y * y) / erfc(-y * _ROOT_HALF)
                second = first * (first + y)
            slope -= behind * first
            curvature += behind * second
        if tied:
            first, second = tie_derivatives(gap, edge)
            slope += tied * first
            curvature += tied * second
        add_slope(slope / SPREAD)
        add_curvature(curvature / SPREAD**2)
    # The same pairs seen from the second bot, whose slopes have the other sign: `graph.sides` picks from both halves.
    slopes += list(map(neg, slopes))
    gradient = [fsum(pick(slopes)) - prior * (value - MU) for pick, value in zip(graph.sides, mu, strict=True)]
    return gradient, curvatures


def _newton_step(graph: PairGraph, curvatures: Vector, prior: float, gradient: Vector, tolerance: float) -> Vector:
    """Return Newton's step, by conjugate gradients: pairs are a sparse graph, so this needs no matrix."""
    both = curvatures + curvatures
    rows = [pick(both) for pick in graph.sides]
    diagonal = [sum(row) + prior for row in rows]
    solution = [0.0] * len(gradient)
    residual = gradient
    scaled = [one / by for one, by in zip(residual, diagonal, strict=True)]
    direction = scaled
    size = fsum(map(mul, residual, scaled))
    target = max(1e-30, size * tolerance * tolerance)
    for _ in range(_MAX_CG_ITERATIONS):
        if size <= target:
            break
        image = [
            by * one - sum(map(mul, row, pick(direction)))
            for by, one, row, pick in zip(diagonal, direction, rows, graph.opponents, strict=True)
        ]
        length = size / fsum(map(mul, direction, image))
        solution = [one + length * by for one, by in zip(solution, direction, strict=True)]
        residual = [one - length * by for one, by in zip(residual, image, strict=True)]
        scaled = [one / by for one, by in zip(residual, diagonal, strict=True)]
        before, size = size, fsum(map(mul, residual, scaled))
        direction = [one + size / before * by for one, by in zip(scaled, direction, strict=True)]
    return solution


PRIOR_STEPS, MIN_PRIOR_SD = 10, 0.5


def fitted_prior_sd(pairs: PairCounts, bots: int) -> float:
    """Return the standard deviation of skills that the results suggest, at most that of the package.

    Where results decide which bots meet, a bot that only lost to the best has hardly been tested: with the wide prior
    of the package such a bot could be anything. The spread of the field is estimated by expectation maximisation.
    """
    graph, sd = PairGraph(pairs, bots), SIGMA
    mu: Vector | None = None
    for _ in range(PRIOR_STEPS):
        mode = fit_skills(graph, mu, sd)
        mu, inverse = mode.mu, inverse_of(mode.hessian())
        # The expected square of a skill is the square of its estimate and the variance of that estimate.
        variance = fsum((value - MU) ** 2 + inverse[bot][bot] for bot, value in enumerate(mu)) / max(1, bots)
        sd = min(SIGMA, max(MIN_PRIOR_SD, sqrt(variance)))
    return sd


# Errors. The gradient of a deal's log-likelihood, times the inverse Hessian, is how far that deal moved the skills. So
# the variance of such gradients between the deals of a stratum is the variance of skills (a sandwich estimate, Huber
# 1967). Deals that are the only ones of their kind are compared with the fit instead. Skills are relative to their
# mean: the prior alone determines the mean, and its error would be in all of them.


MIN_SHOWN_DEALS = 6
"""With fewer deals their variance says little, so the variance that the model expects counts if it is larger."""
_MIN_RESIDUAL_SHARE = 0.05
"""Deals that determine more than all but this share of their fitted values (by leverage) are left out of errors."""
_MODEL_FREEDOM = 1e6
"""Degrees of freedom of a variance that the model gives: it is not estimated."""


def min_p_value(deals: int) -> float:
    """Return the smallest p-value that this number of deals can give.

    Without a difference every deal is as likely to favour one bot as the other, so n deals all favour the same one in 2
    of 2^n cases: nothing that they show can be less likely.
    """
    return 2.0 ** (1 - min(deals, 1000))


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of the chances of two bots, with its standard error and degrees of freedom."""

    value: float
    error: float
    freedom: float
    deals: int
    """Deals of the bot that has fewer."""

    @property
    def p_value(self) -> float:
        """How likely a difference of this size, in either direction, would be if there were none in truth."""
        if not self.error:
            return 1.0
        return max(2 * student_cdf(-abs(self.value) / self.error, self.freedom), min_p_value(self.deals))


@dataclass(frozen=True, slots=True)
class SkillFit:
    """The skills of all bots, by number, with their errors over deals."""

    mu: Vector
    sigma: Vector
    """Standard error of each skill, relative to the mean of the field; 0 if no error can be estimated."""
    chances: Vector
    """The fitted chance of each bot to finish ahead of another one, averaged over its component."""
    covariance: Matrix
    """Of these chances. Two bots differ in skill if they differ in chance, and the chance is the better scale for a
    test: the error of a skill grows with its distance from the others (Hauck and Donner, 1977)."""
    model: Matrix
    """The covariance that the model expects if all matches are independent."""
    freedom: list[float]
    """Degrees of freedom of each bot's error; 0 if no error can be estimated."""
    deals: list[int]
    part: list[int]
    """For each bot the number of its connected component. Components never met, not even indirectly."""

    def chance_variance(self, bot: int) -> float:
        """Return the variance of a bot's chance."""
        return self._larger(self.covariance[bot][bot], self.model[bot][bot], self.deals[bot])

    def difference(self, one: int, other: int) -> Difference | None:
        """Return the difference of two bots; None if they never met, not even indirectly, or if no error is known."""
        freedom, deals = min(self.freedom[one], self.freedom[other]), min(self.deals[one], self.deals[other])
        if self.part[one] != self.part[other] or not freedom:
            return None
        shown, expected = (
            max(0.0, matrix[one][one] + matrix[other][other] - 2 * matrix[one][other])
            for matrix in (self.covariance, self.model)
        )
        value = self.chances[one] - self.chances[other]
        return Difference(value, sqrt(self._larger(shown, expected, deals)), freedom, deals)

    @staticmethod
    def _larger(shown: float, expected: float, deals: int) -> float:
        return shown if deals >= MIN_SHOWN_DEALS else max(shown, expected)


def skills_with_errors(pairs: PairCounts, strata: Iterable[Stratum], bots: int, prior_sd: float = SIGMA) -> SkillFit:
    """Return the skills of all bots with their errors over deals, which come in strata."""
    graph = PairGraph(pairs, bots)
    mode = fit_skills(graph, prior_sd=prior_sd)
    part = graph.parts()
    inverse = inverse_of(mode.hessian())
    scores = _Scores(mode, inverse)
    counts = [0] * bots
    for stratum in strata:
        scores.add(stratum)
        for bot in stratum.bots:
            counts[bot] += stratum.deals
    scores.add_shutouts()
    covariance = transformed(inverse, scores.covariance)
    chances, slopes = _chances(mode.mu, part), _chance_slopes(mode.mu, part)
    freedom = [pooled.freedom for pooled in scores.pooled]
    found = SkillFit(
        mode.mu,
        [0.0] * bots,
        chances,
        transformed(slopes, covariance),
        transformed(slopes, inverse),
        freedom,
        counts,
        part,
    )
    for bot, (shown, expected) in enumerate(
        zip(centred_variances(covariance, part), centred_variances(inverse, part), strict=True)
    ):
        found.sigma[bot] = sqrt(found._larger(shown, expected, counts[bot])) if freedom[bot] else 0.0
    return found


def _chances(mu: Vector, part: Sequence[int]) -> Vector:
    """Return the mean chance of each bot to finish ahead of another one of its component."""
    chances = []
    for bot, mine in enumerate(mu):
        others = [its for other, its in enumerate(mu) if other != bot and part[other] == part[bot]]
        chances.append(fsum([chance_ahead(mine - its) for its in others]) / len(others) if others else 0.5)
    return chances


def _chance_slopes(mu: Vector, part: Sequence[int]) -> Matrix:
    """Return the derivatives of these chances by the skills of all bots."""
    slopes: Matrix = []
    for bot, mine in enumerate(mu):
        weight = _DENSITY_AT_0 / SPREAD / max(1, part.count(part[bot]) - 1)
        row = [
            -weight * exp(-0.5 * ((mine - its) / SPREAD) ** 2) if other != bot and part[other] == part[bot] else 0.0
            for other, its in enumerate(mu)
        ]
        row[bot] = -fsum(row)
        slopes.append(row)
    return slopes


def centred_variances(matrix: Matrix, part: Sequence[int]) -> Vector:
    """Return the variances of values relative to the mean of their component, given their covariance."""
    members: dict[int, list[int]] = {}
    for bot, number in enumerate(part):
        members.setdefault(number, []).append(bot)
    means = [
        fsum([row[other] for other in members[number]]) / len(members[number])
        for row, number in zip(matrix, part, strict=True)
    ]
    whole = {number: fsum([means[bot] for bot in bots]) / len(bots) for number, bots in members.items()}
    return [max(0.0, row[bot] - 2 * means[bot] + whole[part[bot]]) for bot, row in enumerate(matrix)]


class _Scores:
    """The covariance of the sum of all deals' gradients, added stratum by stratum."""

    def __init__(self, mode: Mode, inverse: Matrix) -> None:
        self.mode, self.inverse = mode, inverse
        bots = len(mode.mu)
        self.covariance: Matrix = [[0.0] * bots for _ in range(bots)]
        self.pooled = [PooledVariance() for _ in range(bots)]

    def add(self, stratum: Stratum) -> None:
        """Add the deals of one kind."""
        bots, n = stratum.bots, stratum.deals
        gradient = _DealGradient(self.mode, stratum.tables, bots)
        size = len(bots)
        if n == 1:
            self._add_single(stratum, gradient)
            return
        sums = [0.0] * size
        products = [[0.0] * size for _ in range(size)]
        # Relative to the first deal, so that equal deals have a variance of exactly 0.
        first: Vector | None = None
        for outcome, deals in stratum.results():
            values = gradient(outcome)
            first = first or values
            moved = [value - start for value, start in zip(values, first, strict=True)]
            for place, value in enumerate(moved):
                if value:
                    sums[place] += deals * value
                    row, times = products[place], deals * value
                    row[:] = [had + times * other for had, other in zip(row, moved, strict=True)]
        # The sum of n deals has n times the variance of one, and that is estimated with n - 1 in the denominator.
        factor = n / (n - 1)
        for place, bot in enumerate(bots):
            row, mine = self.covariance[bot], sums[place] / n
            for other, product, total in zip(bots, products[place], sums, strict=True):
                row[other] += factor * (product - mine * total)
            self.pooled[bot].add(factor * max(0.0, products[place][place] - mine * sums[place]), n - 1)

    def add_shutouts(self) -> None:
        """Add the variance that the model expects of pairs of which one bot has won every match.

        Deals without a single other result show no variance, although the next deal may have one.
        """
        graph = self.mode.graph
        columns = (*graph.pairs, *graph.counts, self.mode.curvatures)
        for one, other, ahead, tied, behind, curvature in zip(*columns, strict=True):
            if tied or (ahead and behind):
                continue
            for bot, against in ((one, other), (other, one)):
                self.covariance[bot][bot] += curvature
                self.covariance[bot][against] -= curvature
                self.pooled[bot].add(curvature, _MODEL_FREEDOM)
        # The prior is evidence, too: as if it were one more observation of each bot, with the variance it states.
        for bot in range(graph.bots):
            self.covariance[bot][bot] += self.mode.prior

    def _add_single(self, stratum: Stratum, gradient: _DealGradient) -> None:
        # One minus the leverage: the gradient is too small by this factor, because the deal took part in the fit.
        free = 1 - gradient.leverage(self.inverse) / max(1, len(stratum.bots) - 1)
        if free < _MIN_RESIDUAL_SHARE:
            return
        ((outcome, _),) = stratum.results()
        values = [value / free for value in gradient(outcome)]
        for bot, mine in zip(stratum.bots, values, strict=True):
            row = self.covariance[bot]
            for other, its in zip(stratum.bots, values, strict=True):
                row[other] += mine * its
            self.pooled[bot].add(mine * mine, 1, free)


class _DealGradient:
    """Computes the gradient of the log-likelihood of a deal from its outcome, for deals of one kind."""

    def __init__(self, mode: Mode, tables: Sequence[TableMatches], bots: Sequence[int]) -> None:
        place, edge = {bot: at for at, bot in enumerate(bots)}, mode.graph.edge
        self.size = len(bots)
        self.terms: list[tuple[int, int, float, float, float]] = []
        """For each pair: the places of both bots, the slope of a win, of a loss, and of all matches being ties."""
        self.pairs: list[tuple[int, int, float]] = []
        """For each pair: both bots, and the curvature that is expected of its matches."""
        self.luck: list[tuple[int, int, float]] = []
        """For each pair: where the luck of both bots stands, and the slope of one result that is due to luck."""
        seats = 0
        for table, matches in tables:
            weight = 2 / len(table) / SPREAD
            for (a, one), (b, other) in combinations(enumerate(table), 2):
                gap = (mode.mu[one] - mode.mu[other]) / SPREAD
                win, loss = win_derivatives(gap - edge)[0], -win_derivatives(-gap - edge)[0]
                tie = tie_derivatives(gap, edge)[0]
                # Relative to ties: what is added for a win and for a loss instead of a tie.
                self.terms.append(
                    (place[one], place[other], weight * (win - tie), weight * (loss - tie), weight * matches * tie)
                )
                chance = 0.5 * erfc(-gap * _ROOT_HALF)
                curvature = win_derivatives(gap)[1] * chance + win_derivatives(-gap)[1] * (1 - chance)
                self.pairs.append((one, other, weight / SPREAD * matches * curvature))
                self.luck.append((seats + a, seats + b, luck_of_pair(1, 0, len(table)) * weight * (win - loss)))
            seats += len(table)

    def __call__(self, outcome: Sequence[float]) -> Vector:
        """Return the gradient by bot, for an outcome as `Stratum.results` returns it."""
        found = [0.0] * self.size
        at = 0
        for one, other, win, loss, ties in self.terms:
            slope = outcome[at] * win + outcome[at + 1] * loss + ties
            found[one] += slope
            found[other] -= slope
            at += 2
        if at < len(outcome):
            for (one, other, _, _, _), (a, b, slope) in zip(self.terms, self.luck, strict=True):
                given = (outcome[at + a] - outcome[at + b]) * slope
                found[one] -= given
                found[other] += given
        return found

    def leverage(self, inverse: Matrix) -> float:
        """Return how many of the fitted values the deal determines."""
        return fsum(
            curvature * (inverse[one][one] + inverse[other][other] - 2 * inverse[one][other])
            for one, other, curvature in self.pairs
        )


# Standings while a run is played.


_LIVE_CONVERGED = 1e-3
"""The last step of a live fit may be this long. Newton's method squares the error, so the skills are exact to 1e-6."""
_PRIOR_GROWTH = 1.1
"""The spread of the field is estimated again when there are this many times as many results."""


class LiveFit:
    """Fits the skills of one game again and again while matches are added, without errors over deals.

    Each fit starts from the last one, so it takes milliseconds.
    """

    __slots__ = ("fitted_prior", "met", "mu", "prior_sd")

    def __init__(self, fitted_prior: bool = False) -> None:
        """`fitted_prior` where results decide which bots meet; as in `leaderboard`."""
        self.fitted_prior = fitted_prior
        self.mu: Vector = []
        self.prior_sd, self.met = SIGMA, 0.0

    def fit(self, pairs: PairCounts, bots: int) -> SkillFit:
        """Return the skills for these counts; bots keep their numbers from one call to the next."""
        met = sum(pairs.counts)
        if self.fitted_prior and met >= _PRIOR_GROWTH * self.met:
            self.prior_sd, self.met = fitted_prior_sd(pairs, bots), met
        graph = PairGraph(pairs, bots)
        self.mu = fit_skills(graph, self.mu, self.prior_sd, _LIVE_CONVERGED).mu
        part = graph.parts()
        # Without errors nothing is claimed, so no matrix is needed; the rows are one list, which is only read.
        unknown = [[0.0] * bots] * bots
        return SkillFit(
            self.mu, [0.0] * bots, _chances(self.mu, part), unknown, unknown, [0.0] * bots, [0] * bots, part
        )


# What the package itself gives, for readers who want exactly that.


def sequential_skills(records: Iterable[GameRecord]) -> dict[str, tuple[float, float]]:
    """Return (mu, sigma) of each bot, by the `trueskill` package with its default settings, best first.

    The order of matches matters: pass them in schedule order. A match in which a bot meets itself does not count.
    """
    package = trueskill.TrueSkill()
    found: dict[str, trueskill.Rating] = {}
    for record in records:
        seats = record.seats
        beliefs = [found.setdefault(name, package.create_rating()) for name in seats]
        if len(set(seats)) == len(seats) > 1:
            rated = package.rate([(belief,) for belief in beliefs], record.ranks)
            found.update({name: belief for name, (belief,) in zip(seats, rated, strict=True)})
    order_ = sorted(found, key=lambda name: (-round(package.expose(found[name]), 9), name))
    return {name: (found[name].mu, found[name].sigma) for name in order_}
