"""Skills of the bots of a league: the fit of runs, with errors for many bots that all played different deals."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import fsum, sqrt
from operator import mul
from statistics import NormalDist
from typing import Any

from harness.ratings.counts import AHEAD, BEHIND, TIED, PairCounts, pair_outcomes
from harness.ratings.skill import (
    MIN_PRIOR_SD,
    MU,
    SIGMA,
    SPREAD,
    Mode,
    PairGraph,
    centred_variances,
    chance_ahead,
    fit_skills,
)
from harness.ratings.statistics import Interval, inverse_of, mean_interval, transformed

MIN_KNOWN_MATCHES = 20
"""Bots with fewer matches are provisional: they have no place."""
MATCHMAKING_INFLATION = 1.2
"""Factor on variances, because the pairings depend on results. Found by simulation: docs/league-ratings.md."""
SHRINKAGE_MATCHES = 12
"""After this many matches a bot's dispersion is estimated half from its own results, half from those of all bots."""
BLENDED_MATCHES = 10
"""After this many matches a pair's chance is estimated half from its results, half from the skills of the two."""
MAX_EXACT_BOTS = 200
"""Up to this many bots all covariances are computed: the matrix takes time with the third power of the bots."""
SHARE_UNIT = 120
"""Shares of the table are counted in units of 1/120: whole numbers for up to seven seats, so that the order of matches
does not matter, not even by rounding."""
MAX_ERROR_SHARE = 0.01
"""If errors are at most this share of the variance of skills, the prior does not matter."""
CLOSE = 0.01
"""Length of the last step of a fit, in points of skill; the error that is left is below 0.0001."""


@dataclass(frozen=True, slots=True)
class Skill:
    """The skill of a bot, and what it was fitted to."""

    interval: Interval
    """TrueSkill's mu with its 95% interval, relative to the mean of the league."""
    beats: float
    """The share of opponents that it finished ahead of; a tie is one half."""
    matches: int

    @property
    def known(self) -> bool:
        """Whether it has played enough matches for a place in the table."""
        return self.matches >= MIN_KNOWN_MATCHES


@lru_cache(maxsize=100_000)
def _results(ranks: tuple[int, ...]) -> tuple[list[tuple[int, int, int]], list[int]]:
    """Return each pair of seats with the outcome of the first, and the share of each seat."""
    found = [
        (one, other, AHEAD if won > 0.5 else BEHIND if won < 0.5 else TIED) for one, other, won in pair_outcomes(ranks)
    ]
    halves = [sum([(mine < its) + (mine <= its) for its in ranks]) - 1 for mine in ranks]
    return found, [round(SHARE_UNIT * half / (2 * len(ranks) - 2)) for half in halves]


class LeagueCounts:
    """Counts of the matches of one game; `fit` makes skills of them."""

    def __init__(self) -> None:
        self.pairs = PairCounts()
        self.numbers: dict[str, int] = {}
        self._sums: list[list[int]] = []
        """For each bot: its matches, the sum of its shares of the table, and the sum of their squares."""

    def add_match(self, seats: Sequence[str], ranks: Sequence[int]) -> None:
        """Add one match; rank 1 is the best, equal ranks are ties. A match of a bot with itself does not count."""
        players, numbers = len(seats), self.numbers
        if len(set(seats)) < players or players < 2:
            return
        for name in seats:
            if name not in numbers:
                numbers[name] = len(numbers)
                self._sums.append([0, 0, 0])
        bots = [numbers[name] for name in seats]
        pairs, shares = _results(tuple(ranks))
        for bot, share in zip(bots, shares, strict=True):
            sums = self._sums[bot]
            sums[0] += 1
            sums[1] += share
            sums[2] += share * share
        slot, counts = self.pairs.slot, self.pairs.counts
        for a, b, outcome in pairs:
            one, other = bots[a], bots[b]
            if one < other:
                counts[slot(players, one, other) + outcome] += 1
            else:
                counts[slot(players, other, one) + BEHIND - outcome] += 1

    def fit(self, start: Mapping[str, float] | None = None) -> dict[str, Skill]:
        """Return the skills of all bots that have played, by name; `start` has those of an earlier fit."""
        if not self.numbers:
            return {}
        names = sorted(self.numbers)
        sums = [self._sums[self.numbers[name]] for name in names]
        mode = self.mode(start)
        variances = _variances(mode, sums)
        found = {}
        for name, mu, variance, (matches, shares, _) in zip(names, mode.mu, variances, sums, strict=True):
            skill = mean_interval(mu, MATCHMAKING_INFLATION * variance, matches + SHRINKAGE_MATCHES)
            # Rounded, so that rounding errors do not decide between bots with equal results.
            rounded = Interval(*[round(value, 6) for value in skill])
            found[name] = Skill(rounded, shares / SHARE_UNIT / matches, matches)
        return found

    def mode(self, start: Mapping[str, float] | None = None) -> Mode:
        """Return the most likely skills, in order of names."""
        begin = []
        for name in sorted(self.numbers):
            matches, shares, _ = self._sums[self.numbers[name]]
            share = (shares / SHARE_UNIT + 0.5) / (matches + 1)
            begin.append(MU + SPREAD * NormalDist().inv_cdf(share) if start is None else start.get(name, MU))
        mode = fit_skills(PairGraph(self._by_name(), len(begin)), begin, converged=CLOSE)
        sd = _field_sd(mode)
        mode = mode if sd is None else fit_skills(mode.graph, mode.mu, sd, CLOSE)
        # The prior alone determines the mean, too weakly for equations that are solved only roughly.
        shift = MU - fsum(mode.mu) / max(1, len(mode.mu))
        return mode._replace(mu=[value + shift for value in mode.mu])

    def _by_name(self) -> Iterator[tuple[int, int, int, float, float, float]]:
        """Return the counts of pairs with bots numbered by name: by first match, rounding would depend on the order."""
        places = [0] * len(self.numbers)
        for place, name in enumerate(sorted(self.numbers)):
            places[self.numbers[name]] = place
        for players, a, b, ahead, tied, behind in self.pairs:
            one, other = places[a], places[b]
            yield (players, one, other, ahead, tied, behind) if one < other else (
                players, other, one, behind, tied, ahead
            )  # fmt: skip

    def state(self) -> object:
        """Return everything as lists, numbers, strings and bytes, for the cache."""
        keys = array("q", self.pairs.slots)
        return [list(self.numbers), [list(sums) for sums in self._sums], keys.tobytes(), self.pairs.counts.tobytes()]

    def restore(self, state: Any) -> None:
        """Restore what `state()` returned."""
        names, sums, keys, counts = state
        self.numbers, self._sums = {name: number for number, name in enumerate(names)}, [list(one) for one in sums]
        found = array("q")
        found.frombytes(keys)
        self.pairs = PairCounts()
        self.pairs.slots = {key: 3 * place for place, key in enumerate(found)}
        self.pairs.counts.frombytes(counts)


def _field_sd(mode: Mode) -> float | None:
    """Return the standard deviation of skills that the results suggest, rather too large than too small.

    Where results decide which bots meet, lucky bots meet lucky bots, and the wide prior of the package would let them
    make each other look strong. None if there are enough matches that the prior does not matter.
    """
    bots, both = len(mode.mu), mode.curvatures * 2
    error = fsum([1 / (sum(pick(both)) + mode.prior) for pick in mode.graph.sides]) / max(1, bots)
    seen = fsum([(value - MU) ** 2 for value in mode.mu]) / max(1, bots)
    variance = seen * (1 + 2 * sqrt(2 / max(1, bots))) - error
    variance = min(SIGMA**2, max(MIN_PRIOR_SD**2, variance))
    return sqrt(variance) if error > MAX_ERROR_SHARE * variance else None


# Errors: a sandwich estimate. The inverse Hessian would be the variance if the model were true and the pairs of a table
# were independent. Neither is: the pairs of a table say less than as many single matches (that is what the weight of
# 2 / K is for, which is on the safe side), and some bots have more luck than the model expects. The matches of a bot
# show by how much: the variance of its share of the table, compared with that of its pairs.


def _variances(mode: Mode, sums: Sequence[Sequence[int]]) -> list[float]:
    """Return the variance of each skill, relative to the mean of the field."""
    graph, factors = mode.graph, _dispersions(mode, sums)
    spread = [
        curvature * 0.5 * (factors[one] + factors[other])
        for one, other, curvature in zip(*graph.pairs, mode.curvatures, strict=True)
    ]
    if graph.bots <= MAX_EXACT_BOTS:
        covariance = transformed(inverse_of(mode.hessian()), mode._replace(curvatures=spread).hessian())
        return centred_variances(covariance, graph.parts())
    return _sparse_variances(mode, spread)


def _sparse_variances(mode: Mode, spread: list[float]) -> list[float]:
    """Return about the same for many bots: a bot's own variance, and what comes from its opponents."""
    graph, curvatures, spreads = mode.graph, mode.curvatures * 2, spread * 2
    rows = [pick(curvatures) for pick in graph.sides]
    diagonal = [sum(row) + mode.prior for row in rows]
    own = [(sum(pick(spreads)) + mode.prior) / by**2 for pick, by in zip(graph.sides, diagonal, strict=True)]
    return [
        mine + sum(map(mul, map(mul, row, row), pick(own))) / by**2
        for mine, row, pick, by in zip(own, rows, graph.opponents, diagonal, strict=True)
    ]


def _dispersions(mode: Mode, sums: Sequence[Sequence[int]]) -> list[float]:
    """Return for each bot the variance of its results relative to the Hessian, shrunk towards that of all bots."""
    graph, mu = mode.graph, mode.mu
    met = [ahead + tied + behind for ahead, tied, behind in zip(*graph.counts, strict=True)]
    share = fsum(met) / max(1, sum([matches for matches, _, _ in sums]))  # (K - 1) / K, on average
    others = share / (1 - share)
    blend = 2 / (others + 1) * BLENDED_MATCHES
    chances, variances = [], []
    for one, other, ahead, tied, count in zip(*graph.pairs, *graph.counts[:2], met, strict=True):
        chance = chance_ahead(mu[one] - mu[other])
        variances.append(count * chance * (1 - chance) - 0.25 * tied)
        # What was seen of the pair counts too: a bot that is first or last by turns has even chances against all.
        chances.append((ahead + 0.5 * tied + blend * chance) / (count + blend))
    met, variances, chances = met + met, variances + variances, chances + [1 - chance for chance in chances]
    seen, expected = [], []
    for pick, (matches, _, squares) in zip(graph.sides, sums, strict=True):
        counts, mine = pick(met), pick(chances)
        total, gains = sum(counts), list(map(mul, counts, mine))
        mean = sum(gains) / total
        between = sum(map(mul, gains, mine)) / total - mean * mean
        # Which opponents sat at the same table is not kept: assume the middle between alike and independent.
        off = squares / SHARE_UNIT**2 - matches * (mean * mean + 0.5 * (1 + 1 / others) * between)
        seen.append(2 * share * max(0.0, off) * matches / max(1, matches - 1))
        expected.append(matches * max(1e-6, sum(pick(variances)) / total))
    usual = SHRINKAGE_MATCHES * fsum(seen) / fsum(expected)
    return [
        (off * matches / alone + usual) / (matches + SHRINKAGE_MATCHES)
        for off, alone, (matches, _, _) in zip(seen, expected, sums, strict=True)
    ]
