"""Beat rates (how often a bot finishes ahead) with errors over deals, and significant differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import erf, exp, fsum, inf, log, sqrt
from operator import mul
from statistics import NormalDist

from harness.ratings.evidence import DealKind, Evidence, Interval, holm, mean_interval, student_cdf, wilson_interval

# Linear algebra for fits: symmetric positive definite matrices of up to some hundred rows.


Matrix = list[list[float]]


def matvec(matrix: Matrix, vector: Sequence[float]) -> list[float]:
    """Return the product of a matrix and a vector."""
    return [sum(map(mul, row, vector)) for row in matrix]


def inverse_of(matrix: Matrix) -> Matrix:
    """Return the inverse of a symmetric positive definite matrix, by its Cholesky factor."""
    size = len(matrix)
    factor: Matrix = []
    for i, given in enumerate(matrix):
        row: list[float] = []
        for j, other in enumerate(factor):
            row.append((given[j] - sum(map(mul, row, other))) / other[j])
        row.append((given[i] - sum(map(mul, row, row))) ** 0.5)
        factor.append(row)
    # The columns of the factor's inverse, each from its diagonal down.
    columns: Matrix = []
    for j in range(size):
        column = [1 / factor[j][j]]
        for i in range(j + 1, size):
            row = factor[i]
            column.append(-sum(map(mul, row[j:i], column)) / row[i])
        columns.append(column)
    inverse = [[0.0] * size for _ in range(size)]
    for i in range(size):
        for j in range(i, size):
            inverse[i][j] = inverse[j][i] = sum(map(mul, columns[i][j - i :], columns[j]))
    return inverse


def sandwich(outer: Matrix, inner: Matrix) -> Matrix:
    """Return outer * inner * outer for symmetric matrices: the form of a sandwich covariance."""
    half = [matvec(inner, row) for row in outer]
    return [matvec(outer, row) for row in half]


# The beat rate (column `ahead`): the share of the others that a bot finishes ahead of, corrected for its opponents.
#
# A bot with strong opponents finishes ahead of fewer. So each bot gets a worth, by least squares: the result of a pair
# at a table (1 ahead, 0 behind, 1/2 for a tie) is expected to be 1/2 plus the difference of the two worths (Massey's
# method in sports). The beat rate is 1/2 plus the worth relative to the mean of the others. If all bots met equally
# often it is exactly the share that was counted.
#
# The fit depends only on the sum of each bot's margins (share of the table finished ahead of, minus one half), so its
# errors are those of such sums. The sampling unit is the deal. Deals of a stratum (played by the same tables) differ
# by luck only, so their variance about their mean is the error. That some tables have stronger opponents than others
# is no luck and does not count. Deals that are the only ones of their kind are compared with the fit instead.


ADAPTIVE_SEATING_INFLATION = 1.15**2
"""Factor on variances if results decide which bots meet: winners meet winners there, so indirect results agree with
direct ones too well. By simulation; see docs/ratings.md."""
_ZERO_TOLERANCE = 1e-9
_MIN_RESIDUAL_SHARE = 0.05
"""Deals that determine more than all but this share of their fitted values (by leverage) are left out of errors."""


@dataclass(slots=True)
class PooledVariance:
    """A sum of estimated variances, with its approximate degrees of freedom (Satterthwaite)."""

    variance: float = 0.0
    max_freedom: float = 0.0
    """The degrees of freedom of all parts together; the sum cannot have more."""
    _squares: float = 0.0

    def add(self, variance: float, freedom: float, parts: float = 0.0) -> None:
        """Add a variance with its degrees of freedom; `parts`, if given, is what it adds to the maximum."""
        self.variance += variance
        self.max_freedom += parts or freedom
        # With + 2 here and - 2 below, because the square of an estimated variance is too large on average: for a
        # normal sample its expectation is (1 + 2 / freedom) times the square of the true variance.
        self._squares += variance**2 / (freedom + 2)

    @property
    def freedom(self) -> float:
        """The degrees of freedom of the sum; 0 if there are too few deals."""
        if self.max_freedom < 1 - 1e-9:
            return 0.0
        if not self._squares:
            return self.max_freedom
        return max(1.0, min(self.max_freedom, self.variance**2 / self._squares - 2))


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two beat rates, with its standard error and degrees of freedom."""

    value: float
    error: float
    freedom: float

    @property
    def cdf(self) -> float:
        """Student's probability of a smaller difference if there were none in truth."""
        if not self.error:
            return 0.5
        return student_cdf(self.value / self.error, self.freedom)


@dataclass(frozen=True, slots=True)
class BeatRateFit:
    """The fitted beat rates, by number of bot."""

    values: list[float]
    covariance: Matrix
    freedom: list[float]
    """Degrees of freedom of each bot's error; 0 if no error can be estimated."""
    deals: list[int]
    matches: list[int]
    scores: list[Interval | None]
    part: list[int]
    """For each bot the number of its connected component. Components never met, not even indirectly."""

    def interval(self, bot: int) -> Interval | None:
        """Return the beat rate of a bot with its interval; None for a bot without opponents."""
        if not self.matches[bot]:
            return None
        variance = self.covariance[bot][bot] if self.freedom[bot] else inf
        return wilson_interval(self.values[bot], variance, self.freedom[bot], self.matches[bot])

    def difference(self, one: int, other: int) -> Difference | None:
        """Return the difference of two bots; None if they never met, not even indirectly, or if no error is known."""
        freedom = min(self.freedom[one], self.freedom[other])
        if self.part[one] != self.part[other] or not freedom:
            return None
        cov = self.covariance
        variance = cov[one][one] + cov[other][other] - 2 * cov[one][other]
        fewest = min(self.deals[one], self.deals[other])
        return _difference(self.values[one] - self.values[other], variance, freedom, fewest)


def _difference(value: float, variance: float, freedom: float, deals: int) -> Difference:
    value = value if abs(value) > _ZERO_TOLERANCE else 0.0
    # If a few deals all agree, their variance is too small: n deals never count for more than n / 2 standard errors.
    return Difference(value, max(sqrt(max(0.0, variance)), 2 * abs(value) / deals), freedom)


class _Stratum:
    """The deals of one kind: their number, and sums of differences from the first of them (for exact variances)."""

    __slots__ = ("first", "kind", "n", "products", "squares", "sums")

    def __init__(self, kind: DealKind, first: Sequence[float]) -> None:
        self.kind, self.n, self.first = kind, 1, first
        self.sums = [0.0] * len(first)
        self.products: Matrix = []
        self.squares: list[float] = []

    def add(self, values: Sequence[float]) -> None:
        if self.n == 1:
            size = len(self.kind.bots)
            self.products, self.squares = [[0.0] * size for _ in range(size)], [0.0] * size
        self.n += 1
        moved = [value - start for value, start in zip(values, self.first, strict=True)]
        self.sums = [total + value for total, value in zip(self.sums, moved, strict=True)]
        margins = moved[1::2]
        for row, one in zip(self.products, margins, strict=True):
            if one:
                row[:] = [value + one * other for value, other in zip(row, margins, strict=True)]
        self.squares = [total + value * value for total, value in zip(self.squares, moved[::2], strict=True)]


def beat_rates(evidence: Evidence, bots: int) -> list[float]:
    """Return the beat rate of each bot without errors, which is fast: for the order of the table."""
    margins = [0.0] * bots
    for _, kind, values in evidence.deals():
        for bot, margin in zip(kind.bots, values[1::2], strict=True):
            margins[bot] += margin
    return beat_rates_of(evidence, margins)


def beat_rates_of(evidence: Evidence, margins: Sequence[float]) -> list[float]:
    """Return the beat rates for these sums of margins, if bots met as they did here."""
    part = _parts(evidence, len(margins))
    inverse = inverse_of(_laplacian(evidence, part))
    return _shares(matvec(inverse, margins), part)


def _strata(evidence: Evidence) -> Iterator[_Stratum]:
    """Return the deals of each kind together: first kinds with several deals, then single deals."""
    kinds = evidence.kind_counts()
    strata: dict[int, _Stratum] = {}
    for number, kind, values in evidence.deals():
        if kinds[number] > 1:
            stratum = strata.get(number)
            if stratum is None:
                strata[number] = _Stratum(kind, values)
            else:
                stratum.add(values)
    yield from strata.values()
    for number, kind, values in evidence.deals():
        if kinds[number] == 1:
            yield _Stratum(kind, values)


def head_to_head(evidence: Evidence) -> dict[tuple[int, int], Difference]:
    """Return for each pair the difference of their shares of the table, at tables where both sit only.

    If results decide which bots meet, this is what can be tested: a table is a fair test of the bots that sit there,
    however it was seated; indirect comparisons are not.
    """
    found: dict[tuple[int, int], list[tuple[_Stratum, int, int]]] = {}
    for stratum in _strata(evidence):
        if len(stratum.kind.tables) == 1:
            for one, other in combinations(range(len(stratum.kind.bots)), 2):
                pair = stratum.kind.bots[one], stratum.kind.bots[other]
                found.setdefault(pair, []).append((stratum, one, other))
    return {pair: seen for pair, meetings in found.items() if (seen := _direct(meetings))}


def _direct(meetings: Sequence[tuple[_Stratum, int, int]]) -> Difference | None:
    deals = matches = 0
    total, spread = 0.0, PooledVariance()
    for stratum, one, other in meetings:
        deals += stratum.n
        matches += stratum.n * stratum.kind.tables[0][1]
        total += stratum.sums[2 * one + 1] - stratum.sums[2 * other + 1]
        total += stratum.n * (stratum.first[2 * one + 1] - stratum.first[2 * other + 1])
    for stratum, one, other in meetings:
        n = stratum.n
        if n > 1:
            products = stratum.products
            squares = products[one][one] + products[other][other] - 2 * products[one][other]
            moved = stratum.sums[2 * one + 1] - stratum.sums[2 * other + 1]
            spread.add(max(0.0, squares - moved**2 / n) * n / (n - 1), n - 1)
        elif deals > 1:
            free = 1 - 1 / deals
            mean = total / matches * stratum.kind.tables[0][1]
            left = stratum.first[2 * one + 1] - stratum.first[2 * other + 1] - mean
            spread.add(left**2 / free, 1, free)
    if not spread.freedom:
        return None
    return _difference(total / matches, spread.variance / matches**2, spread.freedom, deals)


def fit_beat_rates(evidence: Evidence, bots: int, seated: bool = False) -> BeatRateFit:
    """Return beat rates and mean scores of all bots, with errors; `seated`: results decide which bots meet."""
    margins, scores, matches, deals = [0.0] * bots, [0.0] * bots, [0] * bots, [0] * bots
    for stratum in _strata(evidence):
        n = stratum.n
        for place, bot in enumerate(stratum.kind.bots):
            scores[bot] += n * stratum.first[2 * place] + stratum.sums[2 * place]
            margins[bot] += n * stratum.first[2 * place + 1] + stratum.sums[2 * place + 1]
            deals[bot] += n
        for table, count in stratum.kind.tables:
            for bot in table:
                matches[bot] += n * count
    part = _parts(evidence, bots)
    inverse = inverse_of(_laplacian(evidence, part))
    worth = matvec(inverse, margins)
    errors, means = _Errors(bots), _MeanScores(scores, matches, deals)
    for stratum in _strata(evidence):
        if stratum.n > 1:
            errors.add_alike(stratum)
        else:
            errors.add_single(stratum, worth, inverse)
        means.add(stratum)
    covariance = sandwich(inverse, errors.of_margins)
    scale = [sqrt(ADAPTIVE_SEATING_INFLATION) * one if seated else one for one in _scales(part)]
    for bot, row in enumerate(covariance):
        covariance[bot] = [scale[bot] * scale[other] * value for other, value in enumerate(row)]
    freedom = [spread.freedom for spread in errors.spreads]
    return BeatRateFit(_shares(worth, part), covariance, freedom, deals, matches, means.intervals(), part)


class _Errors:
    """The covariance of the sums of margins, added kind by kind."""

    def __init__(self, bots: int) -> None:
        self.of_margins: Matrix = [[0.0] * bots for _ in range(bots)]
        self.spreads = [PooledVariance() for _ in range(bots)]

    def add_alike(self, stratum: _Stratum) -> None:
        n, bots = stratum.n, stratum.kind.bots
        sums, factor = stratum.sums[1::2], stratum.n / (stratum.n - 1)
        for place, bot in enumerate(bots):
            row, products, mine = self.of_margins[bot], stratum.products[place], sums[place] / n
            for other, product, total in zip(bots, products, sums, strict=True):
                row[other] += factor * (product - mine * total)
            self.spreads[bot].add(factor * max(0.0, products[place] - mine * sums[place]), n - 1)

    def add_single(self, stratum: _Stratum, worth: Sequence[float], inverse: Matrix) -> None:
        bots = stratum.kind.bots
        left = dict(zip(bots, stratum.first[1::2], strict=True))
        pull = 0.0
        for table, count in stratum.kind.tables:
            size = len(table)
            weight = count * size / (size - 1)
            middle = sum([worth[bot] for bot in table]) / size
            for bot in table:
                left[bot] -= weight * (worth[bot] - middle)
            pull += weight * (
                sum([inverse[bot][bot] for bot in table])
                - sum([inverse[bot][other] for bot in table for other in table]) / size
            )
        # One minus the leverage: residuals are too small by this factor, because the deal took part in the fit.
        free = 1 - pull / (len(bots) - 1)
        if free < _MIN_RESIDUAL_SHARE:
            return
        residuals = [left[bot] / free for bot in bots]
        for bot, mine in zip(bots, residuals, strict=True):
            row = self.of_margins[bot]
            for other, its in zip(bots, residuals, strict=True):
                row[other] += mine * its
            self.spreads[bot].add(mine * mine, 1, free)


class _MeanScores:
    """The mean scores with their errors, added kind by kind."""

    def __init__(self, scores: Sequence[float], matches: Sequence[int], deals: Sequence[int]) -> None:
        self.matches, self.deals = matches, deals
        self.means = [total / count if count else 0.0 for total, count in zip(scores, matches, strict=True)]
        self.spreads = [PooledVariance() for _ in scores]

    def add(self, stratum: _Stratum) -> None:
        n, bots = stratum.n, stratum.kind.bots
        if n > 1:
            for place, bot in enumerate(bots):
                squares = stratum.squares[place] - stratum.sums[2 * place] ** 2 / n
                self.spreads[bot].add(max(0.0, squares) * n / (n - 1), n - 1)
            return
        counts = dict.fromkeys(bots, 0)
        for table, count in stratum.kind.tables:
            for bot in table:
                counts[bot] += count
        for place, bot in enumerate(bots):
            if self.deals[bot] > 1:
                free = 1 - 1 / self.deals[bot]
                left = stratum.first[2 * place] - counts[bot] * self.means[bot]
                self.spreads[bot].add(left**2 / free, 1, free)

    def intervals(self) -> list[Interval | None]:
        return [
            mean_interval(value, spread.variance / count**2, spread.freedom) if count else None
            for value, spread, count in zip(self.means, self.spreads, self.matches, strict=True)
        ]


def _laplacian(evidence: Evidence, part: Sequence[int]) -> Matrix:
    """Return the weighted Laplacian of the graph of meetings, made invertible without changing any difference."""
    bots = len(part)
    matrix = [[0.0] * bots for _ in range(bots)]
    for (one, other), (_, _, weight) in evidence.meetings.items():
        matrix[one][one] += weight
        matrix[other][other] += weight
        matrix[one][other] -= weight
        matrix[other][one] -= weight
    met = [row[bot] for bot, row in enumerate(matrix)]
    level = fsum(met) / bots**2 if any(met) else 1.0
    for bot, row in enumerate(matrix):
        for other in range(bots):
            if part[bot] == part[other]:
                row[other] += level
    return matrix


def _parts(evidence: Evidence, bots: int) -> list[int]:
    """Return for each bot the lowest number in its connected component (union-find)."""
    part = list(range(bots))

    def root(bot: int) -> int:
        while part[bot] != bot:
            part[bot] = part[part[bot]]
            bot = part[bot]
        return bot

    for one, other in evidence.meetings:
        low, high = sorted((root(one), root(other)))
        part[high] = low
    return [root(bot) for bot in range(bots)]


def _scales(part: Sequence[int]) -> list[float]:
    """Return factors for beat rates: worths are relative to the mean of all bots, beat rates to that of the others."""
    sizes = {number: part.count(number) for number in set(part)}
    return [sizes[number] / (sizes[number] - 1) if sizes[number] > 1 else 0.0 for number in part]


def _shares(worth: Sequence[float], part: Sequence[int]) -> list[float]:
    return [0.5 + scale * value for scale, value in zip(_scales(part), worth, strict=True)]


# The probability that a bot is better than the next one of the table, calibrated: 90% is right in 90 of 100 cases.
#
# The two are neighbours because they were sorted by their results, including luck, so a test of these two alone would
# be too confident. It helps to know how much the bots of the field really differ: if they hardly do, the upper one was
# mostly lucky. That is estimated from the field itself (empirical Bayes): true beat rates have a normal prior about one
# half, and its standard deviation is weighed by the likelihood of all observed beat rates.


CANDIDATE_SPREADS = tuple(0.005 * 1.3**step for step in range(18))
"""Standard deviations that the true beat rates of a field may have, in a geometric series."""
_VARIANCE_QUANTILES = 8


def prob_better(fit: BeatRateFit) -> Callable[[Difference], float]:
    """Return a function that gives the posterior probability that a difference is positive."""
    spreads = _weighted_spreads(fit)

    def better(seen: Difference) -> float:
        above = total = 0.0
        variances = [seen.error**2 * scale for scale in _t_scales(round(seen.freedom, 1))]
        for spread, weight in spreads:
            true = 2 * spread * spread
            for variance in variances:
                both = true + variance
                fits = weight * exp(-0.5 * seen.value**2 / both) / sqrt(both)
                total += fits
                above += fits * _below(seen.value * sqrt(true / (both * variance)) if variance else seen.value * 1e9)
        return above / total if total else 0.5

    return better


def _weighted_spreads(fit: BeatRateFit) -> list[tuple[float, float]]:
    """Return each candidate spread with its likelihood, given the beat rates of all bots."""
    known = [
        ((value - 0.5) ** 2, fit.covariance[bot][bot])
        for bot, value in enumerate(fit.values)
        if fit.freedom[bot] and fit.matches[bot]
    ]
    # Beat rates are relative to their common mean, so each component has one fewer degree of freedom than bots.
    parts = len(set(fit.part))
    share = max(0, len(known) - parts) / len(known) if known else 0.0
    logs = []
    for spread in CANDIDATE_SPREADS:
        variances = [spread * spread + variance for _, variance in known]
        fits = sum([-0.5 * (seen / both + log(both)) for (seen, _), both in zip(known, variances, strict=True)])
        logs.append(share * fits)
    best = max(logs)
    return [(spread, exp(one - best)) for spread, one in zip(CANDIDATE_SPREADS, logs, strict=True)]


@lru_cache(maxsize=1024)
def _t_scales(freedom: float) -> tuple[float, ...]:
    """Return quantiles of true variance / estimated variance, equally likely (Wilson and Hilferty's approximation)."""
    spread = 2 / (9 * freedom)
    normal, count = NormalDist(), _VARIANCE_QUANTILES
    cubes = [1 - spread + normal.inv_cdf((step + 0.5) / count) * sqrt(spread) for step in range(count)]
    return tuple(1 / max(0.2, cube) ** 3 for cube in cubes)


def _below(z: float) -> float:
    return 0.5 * (1 + erf(z * sqrt(0.5)))


# Significant differences: claims about all pairs of a table together, wrong in at most 5 of 100 runs.


Pair = tuple[int, int]


def significant_pairs(differences: Mapping[Pair, Difference]) -> set[Pair]:
    """Return the pairs (better, worse) that may all be claimed together, by Holm's procedure.

    Pass only pairs that met: others cannot be claimed, and would make the thresholds stricter.
    """
    cdfs = [difference.cdf for difference in differences.values()]
    claimed = holm([2 * min(cdf, 1 - cdf) for cdf in cdfs])
    return {
        pair if cdf > 0.5 else pair[::-1] for pair, cdf, claim in zip(differences, cdfs, claimed, strict=True) if claim
    }


def compact_letters(table: Sequence[int], better: set[Pair]) -> dict[int, tuple[str, ...]]:
    """Return the letters of each bot of a table: two bots share one if they do not differ significantly.

    A compact letter display, by a greedy cover: each such pair that shares no letter yet gets one, together with all
    other bots that fit. This takes polynomial time; the smallest cover would take exponential time.
    """
    apart = better | {(worse, best) for best, worse in better}
    groups: list[list[int]] = []
    covered: set[Pair] = set()
    for place, one in enumerate(table):
        joined = False
        for other in table[place + 1 :]:
            if (one, other) in apart or (one, other) in covered:
                joined = joined or (one, other) in covered
                continue
            group = [one, other]
            group += [more for more in table if more not in group and not any((more, its) in apart for its in group)]
            groups.append(group)
            covered.update((a, b) for a in group for b in group if a != b)
            joined = True
        if not joined and not any(one in group for group in groups):
            groups.append([one])
    rank = {bot: place for place, bot in enumerate(table)}
    groups.sort(key=lambda group: sorted(rank[bot] for bot in group))
    return {bot: tuple(group_letter(n) for n, group in enumerate(groups) if bot in group) for bot in table}


def group_letter(number: int) -> str:
    """Return the name of a group: `a` ... `z`, `aa`, `ab`, ..."""
    name = ""
    while number >= 0:
        number, letter = divmod(number, 26)
        name = chr(ord("a") + letter) + name
        number -= 1
    return name


def place_ranges(bots: int, better: set[Pair]) -> list[tuple[int, int]]:
    """Return the best and the worst place that each bot may have in truth, given the significant differences."""
    above, below = [0] * bots, [0] * bots
    for best, worst in better:
        above[worst] += 1
        below[best] += 1
    return [(1 + above[bot], bots - below[bot]) for bot in range(bots)]
