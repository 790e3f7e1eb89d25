"""How often a bot finishes ahead, with errors over deals and significant differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import erf, exp, fsum, inf, log, sqrt
from operator import mul
from statistics import NormalDist

from harness.ratings.evidence import LEVEL, DealKind, Evidence, Interval, cdf, mean_of, share_of

# The little linear algebra that fits need: symmetric positive definite matrices of up to some hundred rows.


Matrix = list[list[float]]


def times(matrix: Matrix, vector: Sequence[float]) -> list[float]:
    """The product of a matrix and a vector."""
    return [sum(map(mul, row, vector)) for row in matrix]


def inverted(matrix: Matrix) -> Matrix:
    """The inverse of a symmetric positive definite matrix, through its Cholesky factor."""
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


def sandwiched(outer: Matrix, inner: Matrix) -> Matrix:
    """outer * inner * outer, for symmetric matrices."""
    half = [times(inner, row) for row in outer]
    return [times(outer, row) for row in half]


# `ahead`: the share of the others that a bot finishes ahead of, corrected for whom it met, with its errors.
#
# Whoever meets strong opponents finishes ahead of fewer. So each bot gets a worth, and the worths are such that the
# differences between them come as near as can be to what was seen: a result of a pair at a table (1 ahead, 0 behind,
# 1/2 level) is expected to be 1/2 plus the difference of the two worths (least squares; in sport it is known as
# Massey's method). `ahead` is 1/2 plus how much the worth is above that of the others on average. Where everybody met
# everybody equally often it is exactly the share that was counted.
#
# The fit needs, for each bot, only the sum of its shares above one half. So the errors are those of such sums: deals
# that were played by the same tables are alike but for luck, and their spread about their own mean is the error. That
# some tables have stronger opponents than others is no luck and does not count. Deals that are alone of their kind
# have nothing to be compared with but the fit.


SEATED = 1.15**2
"""By how much the variances of runs are larger in which results decide who meets whom: winners meet winners, so what
goes through others agrees with what was seen directly. By simulation; see docs/ratings.md."""
_NOUGHT = 1e-9
_FREE = 0.05
"""A deal that explains more than all but this share of its own margin says nothing about errors."""


@dataclass(slots=True)
class Spread:
    """A variance that is a sum of variances, each from so many deals, and the degrees of freedom that this comes to."""

    variance: float = 0.0
    most: float = 0.0
    """The degrees of freedom of all parts together: no sum has more."""
    _squares: float = 0.0

    def add(self, variance: float, freedom: float, parts: float = 0.0) -> None:
        """Takes in a part with so many degrees of freedom, of which it may cost others some (`parts` of its own)."""
        self.variance += variance
        self.most += parts or freedom
        # Satterthwaite's rule, with + 2 here and - 2 below: a variance of few deals is not known itself, and without
        # them the squares of such variances would seem too large on average.
        self._squares += variance**2 / (freedom + 2)

    @property
    def freedom(self) -> float:
        """The degrees of freedom of the sum; 0 if nothing can be said."""
        if self.most < 1 - 1e-9:
            return 0.0
        if not self._squares:
            return self.most
        return max(1.0, min(self.most, self.variance**2 / self._squares - 2))


@dataclass(frozen=True, slots=True)
class Difference:
    """How far one bot is ahead of another, with the standard error and its degrees of freedom."""

    value: float
    error: float
    freedom: float

    @property
    def chance(self) -> float:
        """Student's one-sided chance of a value below this one, if there were no difference."""
        if not self.error:
            return 0.5
        return cdf(self.value / self.error, self.freedom)


@dataclass(frozen=True, slots=True)
class AheadFit:
    """What the fit found for each bot by number."""

    values: list[float]
    covariance: Matrix
    freedom: list[float]
    """Degrees of freedom of each bot's error; 0 where there is none to be had."""
    deals: list[int]
    matches: list[int]
    scores: list[Interval | None]
    part: list[int]
    """The number of the part of the field that a bot belongs to. Parts never met, not even through others."""

    def interval(self, bot: int) -> Interval | None:
        """The share of the others that it finishes ahead of; None for a bot that met nobody."""
        if not self.matches[bot]:
            return None
        variance = self.covariance[bot][bot] if self.freedom[bot] else inf
        return share_of(self.values[bot], variance, self.freedom[bot], self.matches[bot])

    def difference(self, one: int, other: int) -> Difference | None:
        """How far one is ahead of another; None if they never met, not even through others, or no error is known."""
        freedom = min(self.freedom[one], self.freedom[other])
        if self.part[one] != self.part[other] or not freedom:
            return None
        cov = self.covariance
        variance = cov[one][one] + cov[other][other] - 2 * cov[one][other]
        fewest = min(self.deals[one], self.deals[other])
        return _difference(self.values[one] - self.values[other], variance, freedom, fewest)


def _difference(value: float, variance: float, freedom: float, deals: int) -> Difference:
    value = value if abs(value) > _NOUGHT else 0.0
    # If a few deals all say the same, their spread says too little: n deals are never more than n / 2 errors.
    return Difference(value, max(sqrt(max(0.0, variance)), 2 * abs(value) / deals), freedom)


class _Stratum:
    """Deals of one kind: their number, and sums of what they differ from the first of them."""

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


def worths(evidence: Evidence, bots: int) -> list[float]:
    """The `ahead` of each bot without errors: the order of the table, cheaply."""
    margins = [0.0] * bots
    for _, kind, values in evidence.deals():
        for bot, margin in zip(kind.bots, values[1::2], strict=True):
            margins[bot] += margin
    return solved(evidence, margins)


def solved(evidence: Evidence, margins: Sequence[float]) -> list[float]:
    """The `ahead` that such sums of shares above one half mean, for those who met as they did here."""
    part = _parts(evidence, len(margins))
    inverse = inverted(_laplacian(evidence, part))
    return _shares(times(inverse, margins), part)


def _strata(evidence: Evidence) -> Iterator[_Stratum]:
    """The deals of each kind together: first the kinds of which there are several deals, then all others."""
    kinds = evidence.kinds()
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
    """For each pair by how much the one's shares are above the other's at tables where both sit, and nowhere else.

    Where results decide who meets whom this is what can be tested: a table that has been seated is a fair trial of
    those who sit there, whatever seated it; what goes through others is not.
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
    total, spread = 0.0, Spread()
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


def fit_ahead(evidence: Evidence, bots: int, seated: bool = False) -> AheadFit:
    """`ahead` and the mean score of bots 0 .. bots - 1, with their errors; `seated`: by results."""
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
    inverse = inverted(_laplacian(evidence, part))
    worth = times(inverse, margins)
    errors, means = _Errors(bots), _MeanScores(scores, matches, deals)
    for stratum in _strata(evidence):
        if stratum.n > 1:
            errors.add_alike(stratum)
        else:
            errors.add_single(stratum, worth, inverse)
        means.add(stratum)
    covariance = sandwiched(inverse, errors.of_margins)
    scale = [sqrt(SEATED) * one if seated else one for one in _scales(part)]
    for bot, row in enumerate(covariance):
        covariance[bot] = [scale[bot] * scale[other] * value for other, value in enumerate(row)]
    freedom = [spread.freedom for spread in errors.spreads]
    return AheadFit(_shares(worth, part), covariance, freedom, deals, matches, means.intervals(), part)


class _Errors:
    """The covariance of the sums of margins, put together kind by kind."""

    def __init__(self, bots: int) -> None:
        self.of_margins: Matrix = [[0.0] * bots for _ in range(bots)]
        self.spreads = [Spread() for _ in range(bots)]

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
        # How much of its own margin a deal explains, having had its say in the fit: what is left is too small by that.
        free = 1 - pull / (len(bots) - 1)
        if free < _FREE:
            return
        residuals = [left[bot] / free for bot in bots]
        for bot, mine in zip(bots, residuals, strict=True):
            row = self.of_margins[bot]
            for other, its in zip(bots, residuals, strict=True):
                row[other] += mine * its
            self.spreads[bot].add(mine * mine, 1, free)


class _MeanScores:
    """The mean scores with their errors, put together kind by kind."""

    def __init__(self, scores: Sequence[float], matches: Sequence[int], deals: Sequence[int]) -> None:
        self.matches, self.deals = matches, deals
        self.means = [total / count if count else 0.0 for total, count in zip(scores, matches, strict=True)]
        self.spreads = [Spread() for _ in scores]

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
            mean_of(value, spread.variance / count**2, spread.freedom) if count else None
            for value, spread, count in zip(self.means, self.spreads, self.matches, strict=True)
        ]


def _laplacian(evidence: Evidence, part: Sequence[int]) -> Matrix:
    """Who met whom, how often, with what weight; and what makes it invertible without changing any difference."""
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
    """For each bot the lowest number among those that it is connected with."""
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
    """Worths are counted from the mean of all, `ahead` from the mean of the others."""
    sizes = {number: part.count(number) for number in set(part)}
    return [sizes[number] / (sizes[number] - 1) if sizes[number] > 1 else 0.0 for number in part]


def _shares(worth: Sequence[float], part: Sequence[int]) -> list[float]:
    return [0.5 + scale * value for scale, value in zip(_scales(part), worth, strict=True)]


# How sure it is that a bot is better than the one below it in the table, so that 90% is right in 90 of 100 cases.
#
# The two are neighbours because they were sorted by what they did, luck included. So a test that looks at these two
# alone would be too sure. What helps is to know how much the bots of the field differ in truth: if they hardly do,
# the one above was mostly lucky. That is estimated from the field itself (empirical Bayes): true values are taken to
# be spread normally about one half, with a spread that is weighed by how well it explains all values that were seen.


SPREADS = tuple(0.005 * 1.3**step for step in range(18))
"""The true spreads of a field that are thought of: from half a point to as far apart as bots can be, all in the same
proportion."""
_SLICES = 8


def sureness(fit: AheadFit) -> Callable[[Difference], float]:
    """A function that says how likely a difference is to be above 0 in truth, in the light of the whole field."""
    likely = _spreads(fit)

    def better(seen: Difference) -> float:
        above = total = 0.0
        variances = [seen.error**2 * scale for scale in _t_scales(round(seen.freedom, 1))]
        for spread, weight in likely:
            true = 2 * spread * spread
            for variance in variances:
                both = true + variance
                fits = weight * exp(-0.5 * seen.value**2 / both) / sqrt(both)
                total += fits
                above += fits * _below(seen.value * sqrt(true / (both * variance)) if variance else seen.value * 1e9)
        return above / total if total else 0.5

    return better


def _spreads(fit: AheadFit) -> list[tuple[float, float]]:
    """Each spread of SPREADS with its weight, given what all bots did."""
    known = [
        ((value - 0.5) ** 2, fit.covariance[bot][bot])
        for bot, value in enumerate(fit.values)
        if fit.freedom[bot] and fit.matches[bot]
    ]
    # The values are measured from their common mean, so there is one fewer of them than there are bots.
    parts = len(set(fit.part))
    share = max(0, len(known) - parts) / len(known) if known else 0.0
    logs = []
    for spread in SPREADS:
        variances = [spread * spread + variance for _, variance in known]
        fits = sum([-0.5 * (seen / both + log(both)) for (seen, _), both in zip(known, variances, strict=True)])
        logs.append(share * fits)
    best = max(logs)
    return [(spread, exp(one - best)) for spread, one in zip(SPREADS, logs, strict=True)]


@lru_cache(maxsize=1024)
def _t_scales(freedom: float) -> tuple[float, ...]:
    """How many times its estimate a variance may be, each as likely as another (Wilson and Hilferty's quantiles)."""
    spread = 2 / (9 * freedom)
    cubes = [1 - spread + NormalDist().inv_cdf((step + 0.5) / _SLICES) * sqrt(spread) for step in range(_SLICES)]
    return tuple(1 / max(0.2, cube) ** 3 for cube in cubes)


def _below(z: float) -> float:
    return 0.5 * (1 + erf(z * sqrt(0.5)))


# Which bots of a table are told apart: claims about all pairs together that are wrong in at most 5 of 100 runs.


Pair = tuple[int, int]


def told_apart(differences: Mapping[Pair, Difference]) -> set[Pair]:
    """The pairs (better, worse) that may all be claimed at once."""
    doubts: list[tuple[float, Pair]] = []
    for (one, other), seen in differences.items():
        chance = seen.chance
        doubts.append((2 * min(chance, 1 - chance), (one, other) if chance > 0.5 else (other, one)))
    return holm(doubts)


def holm(doubts: Iterable[tuple[float, Pair]]) -> set[Pair]:
    """Of claims, each with the chance that luck alone would look as convincing, those that may be made together.

    Holm's procedure: the surest claim is tested against all pairs, the next against the pairs left, until one fails.
    With equal bots the chance that any is claimed to be better is then at most 1 - LEVEL, however many there are.
    """
    ordered = sorted(doubts)
    claims = set()
    for place, (doubt, pair) in enumerate(ordered):
        if doubt > (1 - LEVEL) / (len(ordered) - place):
            break
        claims.add(pair)
    return claims


def compact_letters(table: Sequence[int], better: set[Pair]) -> dict[int, tuple[str, ...]]:
    """For each bot of a table (by number, first to last) its letters: who is not told apart shares at least one.

    A compact letter display as statisticians print it, by a greedy cover: each pair that is not told apart and shares
    no letter yet gets one, together with all that fit in. That takes a power of the number of bots at most.
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
    return {bot: tuple(letters_of(n) for n, group in enumerate(groups) if bot in group) for bot in table}


def letters_of(number: int) -> str:
    """`a` ... `z`, `aa`, `ab`, ...: the name of a group."""
    name = ""
    while number >= 0:
        number, letter = divmod(number, 26)
        name = chr(ord("a") + letter) + name
        number -= 1
    return name


def reaches(bots: int, better: set[Pair]) -> list[tuple[int, int]]:
    """The best and the worst place that each bot may truly have, given what is told apart."""
    above, below = [0] * bots, [0] * bots
    for best, worst in better:
        above[worst] += 1
        below[best] += 1
    return [(1 + above[bot], bots - below[bot]) for bot in range(bots)]
