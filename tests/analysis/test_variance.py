"""The shares of variance are those of simulated results whose shares are known, and the intervals contain them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import inf, sqrt
from random import Random
from statistics import fmean, stdev

import pytest

from harness.analysis.run import _design
from harness.analysis.variance import Play, mean_over_deals, variance_shares

SOURCES = ("bots", "deals", "seats", "rest")


@dataclass(frozen=True)
class Known:
    """A game with known shares. `spreads` are the standard deviations of what each source adds to a result."""

    spreads: tuple[float, float, float, float]
    kinds: tuple[float, float, float, float] | None = None
    """Shares of the deals that one source alone decides; None if all sources count in every deal."""
    players: int = 3
    bots: int = 4
    matches: int = 300
    ties: float = 0.0
    """Share of the matches that end in a tie of all seats."""
    two_valued: bool = False

    def truth(self):
        """Return the variance of results, and the share of each source."""
        squares = [spread**2 for spread in self.spreads]
        bots, deals, seats, rest = self.kinds or (1.0, 1.0, 1.0, 1.0)
        total = sum(kind * square for kind, square in zip((bots, deals, seats, rest), squares, strict=True))
        of_deals = deals * squares[1] + seats * squares[2] - seats**2 * squares[2]
        held = [bots**2 * squares[0], of_deals, seats**2 * squares[2]]
        found = [(1 - self.ties) * one / total for one in held]  # two matches of which neither is a tie, against one
        return (1 - self.ties) * total, (*found, 1 - sum(found))

    def plays(self, rng):
        """Return the results of the design that `arena analyse` plays, and whether its tables are drawn."""
        field = [str(number) for number in range(self.bots)]
        design = _design(None, field, self.players, self.matches, rng.getrandbits(40), "")
        draw = (lambda: rng.choice((-1.0, 1.0))) if self.two_valued else (lambda: rng.gauss(0, 1))
        seats = range(self.players)
        scale = sqrt(self.players / (self.players - 1))  # a draw that was centred among the seats has less variance
        spreads = [self.spreads[0], self.spreads[1] * scale, self.spreads[2], self.spreads[3] * scale]
        middle = (self.players - 1) / 2
        of_seat = [(at - middle) / sqrt((self.players**2 - 1) / 12) for at in seats]
        skills = [scale * value / stdev(range(self.bots)) for value in range(self.bots)]
        found, at_deal = [], -1
        for number, table in enumerate(design.plays):
            deal = number // design.plays_of_deal
            if deal != at_deal:
                at_deal, of_deal = deal, centred([draw() for _ in seats])
                weights = spreads
                if self.kinds:
                    kind = rng.choices(range(4), self.kinds)[0]
                    weights = [spread * (at == kind) for at, spread in enumerate(spreads)]
            skill = centred([skills[int(name)] for name in design.tables[table]])
            results = [[0.0] * self.players for _ in seats]
            for turn in seats:
                noise = centred([draw() for _ in seats])
                tie = rng.random() < self.ties
                for member in seats:
                    seat = (member + turn) % self.players
                    parts = (skill[member], of_deal[seat], of_seat[seat], noise[member])
                    results[member][seat] = 0.0 if tie else sum(a * b for a, b in zip(weights, parts, strict=True))
            found.append(Play(deal, table, results))
        return found, design.drawn

    def analyses(self, seed, number):
        rng = Random(f"{self} {seed}")
        return [variance_shares(*self.plays(rng)) for _ in range(number)]


def centred(values):
    mean = fmean(values)
    return [value - mean for value in values]


HEAVY = (0.5, 0.2, 0.2, 0.1)
EVEN = (1.0, 1.0, 1.0, 1.0)
GAMES = {
    "single deals decide": Known(EVEN, HEAVY, players=2, two_valued=True),
    "single deals decide, more matches": Known(EVEN, HEAVY, players=2, matches=1_000, two_valued=True),
    "single deals decide, four players, many bots": Known(EVEN, (0.4, 0.2, 0.2, 0.2), 4, 12, 1_200),
    "single deals decide, seats do not": Known(EVEN, (0.3, 0.4, 0.0, 0.3), players=2, two_valued=True),
    "a few deals decide": Known((0.7, 3.0, 0.3, 1.0), (0.5, 0.05, 0.0, 0.45), players=2, matches=1_000),
    "weak deals": Known((0.5, 0.2, 0.1, 0.8)),
    "weak deals, four players, many bots": Known((0.5, 0.3, 0.1, 0.8), None, 4, 12, 1_200),
    "strong seats": Known((0.2, 0.2, 0.7, 0.6), players=2),
    "two bots": Known((0.5, 0.4, 0.2, 0.7), players=2, bots=2),
    "ties": Known((0.5, 0.5, 0.2, 0.6), bots=5, matches=900, ties=0.3),
    "only chance": Known((0.0, 0.0, 0.0, 1.0), players=2, matches=600),
}


RARE = "a few deals decide"
"""Too few deals show how much the deals differ: docs/analyse.md says so."""
ANALYSES = 30
LONG_ANALYSES = 400
LARGE = [name for name in GAMES if "many bots" in name]


@cache
def analyses(name, number):
    return GAMES[name].analyses("published", number)


def contained(name, number):
    """Return for each source the share of analyses whose interval contains the true share."""
    _, truth = GAMES[name].truth()
    return {
        source: fmean(
            getattr(one, source).low - 1e-9 <= share <= getattr(one, source).high + 1e-9
            for one in analyses(name, number)
        )
        for source, share in zip(SOURCES, truth, strict=True)
    }


@pytest.mark.parametrize("name", [name for name in GAMES if name not in LARGE])
def test_estimated_variances_are_right_on_average(name):
    found = analyses(name, ANALYSES)
    total, truth = GAMES[name].truth()
    for source, share in zip(("variance", *SOURCES), (1.0, *truth), strict=True):
        # Shares are ratios of unbiased estimates.
        values = [one.variance if source == "variance" else getattr(one, source).value * one.variance for one in found]
        assert abs(fmean(values) - share * total) < 4 * stdev(values) / sqrt(ANALYSES) + 1e-9, source


def test_intervals_contain_the_true_shares():
    """A short form: all games together, because so few analyses of one of them say little."""
    found = [contained(name, ANALYSES) for name in GAMES if name not in (RARE, *LARGE)]
    by_source = {source: fmean(each[source] for each in found) for source in SOURCES}
    assert min(by_source.values()) > 0.91, by_source
    assert 0.93 < fmean(by_source.values()) < 0.98, by_source


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_intervals_contain_the_true_shares_of_each_game(name):
    found = contained(name, LONG_ANALYSES)
    if name == RARE:
        assert 0.82 < min(found.values()) < 0.91, found
    else:
        assert min(found.values()) > 0.95 - 3.5 * sqrt(0.95 * 0.05 / LONG_ANALYSES), found


def test_the_four_shares_add_up_to_one():
    found = analyses("weak deals", ANALYSES)[0]
    assert sum(getattr(found, source).value for source in SOURCES) == pytest.approx(1)


def test_results_that_are_all_ties_have_no_variance():
    assert variance_shares(*Known((0.0, 0.0, 0.0, 0.0)).plays(Random(1))).bots == (0, 0, 0)


def test_a_game_of_which_a_design_shows_nothing_else_has_shares_without_doubt():
    [found] = Known((1.0, 0.0, 0.0, 0.0), players=2, bots=2).analyses(1, 1)
    assert (found.bots, found.rest.value) == (pytest.approx((1, 1, 1)), pytest.approx(0, abs=1e-9))


def test_the_interval_of_a_mean_counts_deals_not_matches():
    """A hundred plays of one deal say no more about deals than one play."""
    rng = Random(1)
    deals = [rng.gauss(0, 1) for _ in range(10)]
    once = mean_over_deals(deals, range(10))
    often = mean_over_deals(
        [value for value in deals for _ in range(100)], [at for at in range(10) for _ in range(100)]
    )
    assert often.value == pytest.approx(once.value)
    assert often.high - often.low == pytest.approx(once.high - once.low)
    assert once.high - once.low == pytest.approx(2 * 2.262 * stdev(deals) / sqrt(10), rel=1e-3)


def test_the_interval_of_a_mean_at_drawn_tables_counts_tables_too():
    rng = Random(1)
    tables = [rng.gauss(0, 1) for _ in range(10)]
    values, deals = tables * 30, [deal for deal in range(30) for _ in tables]
    sampled, fixed = mean_over_deals(values, deals, [*range(10)] * 30), mean_over_deals(values, deals)
    assert sampled.high - sampled.low == pytest.approx(2 * 2.262 * stdev(tables) / sqrt(10), rel=0.02)
    assert fixed.high - fixed.low < 1e-9


def test_two_deals_say_nothing_about_the_differences_between_deals():
    assert mean_over_deals([1.0, 2.0], [0, 1]).high == inf
