"""The leaderboard of a game: places, skills with intervals, and significant differences; and of several games."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import inf, sqrt

from harness.core.errors import StoreError
from harness.core.plan import Design, ResultTracker, RunningClaims
from harness.core.records import GameRecord
from harness.ratings.counts import BotTotals, GameCounts, Stratum, by_game
from harness.ratings.skill import SIGMA, Difference, LiveFit, SkillFit, fitted_prior_sd, min_p_value, skills_with_errors
from harness.ratings.statistics import (
    LEVEL,
    Interval,
    Pair,
    PooledVariance,
    holm,
    mean_interval,
    place_ranges,
    share_interval,
    sign_flip_p_value,
)

MAX_NAMED_BOTS = 4
"""Bots of a group that a note names."""
FIRST_END_SHARE = 0.8
"""Share of the error of all claims that is spent when a run ends for the first time; extensions share the rest."""

MIN_DECISIVE_SHARE = 0.6
"""Two bots are tested by the signs of deals if at least this share of deals is won by one of them; by enumeration."""

Claims = Collection[tuple[str, str]]
"""Pairs of bots, the better one first."""


def claim_level(end: int) -> float:
    """Return the confidence level of the claims when a run ends for the first, second, ... time.

    A run may be extended because nothing was significant yet, so each end is a further chance of a false claim. The
    shares of the error add up to one: 0.8, 0.1, 0.033, 0.017, ...
    """
    return 1 - (1 - LEVEL) * (FIRST_END_SHARE if end == 1 else (1 - FIRST_END_SHARE) / (end * (end - 1)))


@dataclass(frozen=True, slots=True)
class Standing:
    """One line of a leaderboard."""

    bot: str
    totals: BotTotals
    place: int
    """1, 2, 3, ... in the order of the table."""
    best: int | None
    """The best and the worst place that is not ruled out by a significant difference; None if that is not known, or if
    the order is the format's own."""
    worst: int | None
    skill: Interval
    """TrueSkill's mu, fitted to all matches."""
    sigma: float | None
    """Standard error of the skill, relative to the mean of the field; None if it is not known."""
    beats: float | None
    """The share of opponents that it finished ahead of, as counted; None if it had none."""
    score: Interval | None

    @property
    def failed_always(self) -> bool:
        """Whether the bot failed in every match, or lost it without playing."""
        return self.totals.faults + self.totals.disqualified >= self.totals.matches


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The bots of one game, best first, with all claims about them."""

    title: str
    counts: GameCounts = field(compare=False)
    standings: list[Standing]
    notes: list[str]
    """Remarks for the reader, in sentences."""
    significant_pairs: frozenset[tuple[str, str]]
    """All pairs (better, worse) with a significant difference."""
    fit: SkillFit = field(compare=False, repr=False)
    design: Design = "fixed"
    """What results decided: with "seated" the table is in the order of the format's own result, and claims are about
    common tables only; with "anytime" claims come from tests that hold whenever a run stops. Both have no intervals:
    results that decide what is played bias them."""
    claims_made: bool = True
    """Whether differences were tested. Nothing is claimed about an unfinished run."""
    by_format: bool = False
    """Whether the order is that of the format's own result, not of skill."""
    end: int = 1
    """How often the run has ended; 0 while it is played."""
    enough_deals: bool = True
    """Whether any difference could be significant, however clear the results are."""
    names_winner: bool = True
    """Whether the first of the table is the winner. Not in a gauntlet, which is about differences between its
    candidates, deal by deal."""

    @property
    def has_ranges(self) -> bool:
        """Whether the range of places of any bot is worth showing."""
        return bool(self.significant_pairs) and not self.by_format and self.names_winner


def leaderboard(
    counts: GameCounts,
    title: str = "",
    *,
    design: Design = "fixed",
    anytime: Claims = (),
    order: Sequence[str] = (),
    end: int = 1,
    level: float | None = None,
    live: LiveFit | None = None,
) -> Leaderboard:
    """Return the leaderboard for these counts.

    `anytime` has the claims of a run with that design, `order` the bots in the order of the format's own result, if it
    has one. `end` says how often the run has ended; 0: it has not, so nothing is claimed. `runs.standings.boards_of`
    finds all that out for a run. With `live` this takes milliseconds, but there are no intervals and no mean scores.
    """
    bots = len(counts.totals)
    if live is None:
        prior_sd = fitted_prior_sd(counts.pairs, bots) if design == "seated" else SIGMA
        strata = counts.deals.strata()
        fit = skills_with_errors(counts.pairs, strata, bots, prior_sd)
    else:
        strata, fit = [], live.fit(counts.pairs, bots)
    beats = counts.pairs.shares_ahead(bots)
    totals = in_order(counts, fit.mu)
    if order:
        place = {name: at for at, name in enumerate(order)}
        totals.sort(key=lambda one: place.get(one.bot, len(place)))
    better: set[Pair] = set()
    enough_deals = True
    if design == "anytime":
        better = {(counts.totals[one].number, counts.totals[other].number) for one, other in anytime}
    elif end:
        tests = _head_to_head(strata) if design == "seated" else _differences(counts, fit, strata)
        level = claim_level(end) if level is None else level
        claimed = holm([p_value for _, p_value in tests], level)
        if design == "fixed":
            enough_deals = bool(tests) and min_p_value(sorted(fit.deals)[-2]) <= (1 - LEVEL) / len(tests)
        better = {pair for (pair, _), claim in zip(tests, claimed, strict=True) if claim}
    known = bool(end) or design == "anytime"
    reach: Sequence[tuple[int | None, int | None]] = [(None, None)] * bots
    if known and not order:
        reach = place_ranges(bots, better)
    scores = _mean_scores(strata, bots) if live is None else [None] * bots
    standings = []
    for place_, one in enumerate(totals, 1):
        number = one.number
        # Without degrees of freedom there is no interval: it would say what cannot be claimed.
        freedom = fit.freedom[number] if design == "fixed" and enough_deals else 0
        skill = mean_interval(fit.mu[number], fit.sigma[number] ** 2, freedom)
        score = scores[number]
        if design != "fixed":
            score = score and Interval(score.value, -inf, inf)
        standings.append(
            Standing(
                one.bot,
                one,
                place_,
                *reach[number],
                skill=Interval(*[round(value, 6) for value in skill]),
                sigma=fit.sigma[number] or None,
                beats=beats[number],
                score=score,
            )
        )
    names = {one.number: one.bot for one in totals}
    return Leaderboard(
        title,
        counts,
        standings,
        _notes(standings, fit),
        frozenset((names[one], names[other]) for one, other in better),
        fit,
        design,
        known,
        bool(order),
        end,
        enough_deals,
    )


def in_order(counts: GameCounts, mu: Sequence[float]) -> list[BotTotals]:
    """Return the totals in order of skill."""
    # Rounded, so that rounding errors do not decide between bots with equal results.
    return sorted(counts.totals.values(), key=lambda one: (-round(mu[one.number], 6), one.bot))


def _differences(counts: GameCounts, fit: SkillFit, strata: Sequence[Stratum]) -> list[tuple[Pair, float]]:
    """Return each pair that met, the better bot first, with the p-value of their difference.

    Pairs that never met are not claimed, so they are not tested either: that would make the thresholds stricter.
    """
    found = []
    for pair in sorted({(one, other) for _, one, other, *_ in counts.pairs}):
        seen = fit.difference(*pair)
        if seen is not None:
            found.append((pair if seen.value > 0 else pair[::-1], seen.p_value))
    if len(fit.mu) == 2 and found:
        # Where whole deals are won, Student's test would be wrong in 7% of runs of 8 deals.
        ((pair, p_value),) = found
        ((_, wins),) = _net_wins(strata).items()
        if sum(map(bool, wins)) >= MIN_DECISIVE_SHARE * len(wins):
            found = [(pair, max(p_value, sign_flip_p_value(wins)))]
    return found


def _head_to_head(strata: Sequence[Stratum]) -> list[tuple[Pair, float]]:
    """Return each pair that met, the better bot first, with the p-value of their results against each other.

    If results decide which bots meet, this is what can be tested: a table is a fair test of the bots that sit there,
    however it was seated; indirect comparisons are not.
    """
    wins = _net_wins(strata)
    return [(pair if sum(more) > 0 else pair[::-1], sign_flip_p_value(more)) for pair, more in sorted(wins.items())]


def _net_wins(strata: Sequence[Stratum]) -> dict[Pair, list[int]]:
    """Return for each pair that shared a table, deal by deal, how often the first was ahead minus how often behind."""
    wins: dict[Pair, list[int]] = {}
    for stratum in strata:
        if len(stratum.tables) == 1:
            for outcome, count in stratum.results():
                for at, pair in enumerate(combinations(stratum.bots, 2)):
                    wins.setdefault(pair, []).extend([int(outcome[2 * at] - outcome[2 * at + 1])] * count)
    return wins


def _mean_scores(strata: Sequence[Stratum], bots: int) -> list[Interval | None]:
    """Return the mean score of each bot with its interval over deals, by number."""
    sums, matches, deals = [0.0] * bots, [0] * bots, [0] * bots
    for stratum in strata:
        for place, bot in enumerate(stratum.bots):
            sums[bot] += stratum.score_sums[place]
            deals[bot] += stratum.deals
        for table, count in stratum.tables:
            for bot in table:
                matches[bot] += count * stratum.deals
    means = [total / count if count else 0.0 for total, count in zip(sums, matches, strict=True)]
    pooled = [PooledVariance() for _ in means]
    for stratum in strata:
        n = stratum.deals
        played = dict.fromkeys(stratum.bots, 0)
        for table, count in stratum.tables:
            for bot in table:
                played[bot] += count
        for place, bot in enumerate(stratum.bots):
            total = stratum.score_sums[place]
            if n > 1:
                squares = max(0.0, stratum.score_squares[place] - total**2 / n)
                pooled[bot].add(squares * n / (n - 1), n - 1)
            elif deals[bot] > 1:  # the only deal of its kind is compared with the mean of all
                free = 1 - 1 / deals[bot]
                pooled[bot].add((total - played[bot] * means[bot]) ** 2 / free, 1, free)
    return [
        mean_interval(value, spread.variance / count**2, spread.freedom) if count else None
        for value, spread, count in zip(means, pooled, matches, strict=True)
    ]


def _notes(standings: Sequence[Standing], fit: SkillFit) -> list[str]:
    notes = []
    parts: dict[int, list[str]] = {}
    for one in standings:
        parts.setdefault(fit.part[one.totals.number], []).append(one.bot)
    if len(parts) > 1:
        groups = "; ".join(_named(part) for part in parts.values())
        notes.append(
            f"These groups of bots never met, not even through others: {groups}. The order between them means nothing."
        )
    notes += [
        f"{one.bot} was disqualified and lost {one.totals.disqualified:,} of its {one.totals.matches:,} matches "
        "without playing. They count as last places, but not as faults."
        for one in standings
        if one.totals.disqualified
    ]
    return notes


def _named(part: Sequence[str]) -> str:
    more = len(part) - MAX_NAMED_BOTS
    return ", ".join(part) if more <= 0 else f"{', '.join(part[:MAX_NAMED_BOTS])} and {more} more"


# The counts of a run by game, or by another key, and their leaderboards.


class CountsByGame:
    """Counts for each game, or for each value of the key `by`. Add matches as they end, or all at once."""

    def __init__(
        self,
        by: Callable[[GameRecord], str] = by_game,
        *,
        design: Design = "fixed",
        anytime: Mapping[str, RunningClaims] | None = None,
        trackers: Mapping[str, ResultTracker] | None = None,
        names_winner: bool = True,
    ) -> None:
        """`anytime` has the tests by game, if results also decide when to stop; `trackers` the results of the format.

        `runs.standings.counts_of` makes one for a run.
        """
        self._by, self.design, self._names_winner = by, design, names_winner
        self._anytime, self._trackers = anytime or {}, trackers or {}
        self._counts: dict[str, GameCounts] = {}

    def add(self, record: GameRecord, shares: Sequence[float] | None = None) -> None:
        """Add a match; `shares` as in `GameCounts.add`."""
        name = self._by(record)
        counts = self._counts.get(name)
        if counts is None:
            counts = self._counts[name] = GameCounts()
        counts.add(record, shares)
        for followers in (self._anytime, self._trackers):
            if name in followers:
                followers[name].add(record)

    @property
    def cacheable(self) -> bool:
        """Whether `state` is complete, so that it can be cached: tests and trackers are not part of it."""
        return not self._anytime and not self._trackers

    def state(self) -> dict[str, GameCounts]:
        """Return what was added so far; objects of the classes in `CACHED_FIELDS`."""
        return self._counts

    def restore(self, state: dict[str, GameCounts]) -> None:
        """Continue from what `state` returned."""
        self._counts = state
        for counts in state.values():
            counts.clear_cache()

    def of_game(self, name: str) -> GameCounts | None:
        """Return the counts of one game, if it was played."""
        return self._counts.get(name)

    def counts(self) -> dict[str, GameCounts]:
        """Return the counts, sorted by name."""
        return dict(sorted(self._counts.items()))

    def _order(self, name: str) -> Sequence[str]:
        """Return the bots in the order of the format's own result; nothing if records do not fit the format."""
        try:
            return self._trackers[name].outcome().standing if name in self._trackers else ()
        except StoreError:
            return ()

    def boards(self, end: int = 1) -> list[Leaderboard]:
        """Return their leaderboards; `end` as in `leaderboard`."""
        boards = [
            leaderboard(
                counts,
                name,
                design=self.design,
                anytime=self._anytime[name].claims(LEVEL) if name in self._anytime else (),
                order=self._order(name),
                end=end,
            )
            for name, counts in self.counts().items()
        ]
        return [replace(board, names_winner=self._names_winner) for board in boards]


# Several games together: the places of each bot in each game, and an order of the bots that play all games.
#
# Points and skills of different games cannot be added; chances can. So the measure is the mean of a bot's fitted
# chances to finish ahead of another bot of the field, every game with the same weight however many matches it had.
# Only bots that play every game have one.


@dataclass(frozen=True, slots=True)
class OverallLine:
    """One bot over several games."""

    bot: str
    places: dict[str, int]
    """Game -> its place; without the games that it does not play."""
    place: int | None
    """Among the bots that play every game; None for the others."""
    best: int | None
    """The best and the worst of these places that is not ruled out by a significant difference."""
    worst: int | None
    chance: Interval | None
    """The mean of its fitted chances; None unless it plays every game."""
    faults: int
    matches: int


@dataclass(frozen=True, slots=True)
class Overall:
    """The bots of a run with several games: first those that play all games, in order, then the others by name."""

    games: list[str]
    lines: list[OverallLine]
    notes: list[str]
    significant_pairs: frozenset[tuple[str, str]] = frozenset()


def overall(boards: Sequence[Leaderboard]) -> Overall:
    """Return one order from the leaderboards of several games."""
    places = {
        name: {board.title: one.place for board in boards for one in board.standings if one.bot == name}
        for name in sorted({one.bot for board in boards for one in board.standings})
    }
    everywhere = [bot for bot, known in places.items() if len(known) == len(boards)]
    ranked = everywhere if len(everywhere) > 1 else []  # one bot alone is not an order
    fixed = all(board.design == "fixed" for board in boards)
    chances = {bot: _mean_chance(boards, bot, fixed) for bot in ranked}
    ranked.sort(key=lambda bot: (-round(chances[bot].value, 9), bot))
    end = min(board.end for board in boards)
    better = _better(boards, ranked, end) if fixed and end else set()
    reach = place_ranges(len(ranked), better)
    others = [bot for bot in places if bot not in chances]
    lines = []
    for at, bot in enumerate([*ranked, *others]):
        best, worst = reach[at] if bot in chances else (None, None)
        played = [board.counts.totals[bot] for board in boards if bot in board.counts.totals]
        lines.append(
            OverallLine(
                bot,
                places[bot],
                place=at + 1 if bot in chances else None,
                best=best,
                worst=worst,
                chance=chances.get(bot),
                faults=sum(one.faults for one in played),
                matches=sum(one.matches for one in played),
            )
        )
    return Overall(
        [board.title for board in boards],
        lines,
        _overall_notes(ranked, others, everywhere, len(boards)),
        frozenset((ranked[one], ranked[other]) for one, other in better),
    )


def _mean_chance(boards: Sequence[Leaderboard], bot: str, fixed: bool) -> Interval:
    """Return the mean over games with its interval; games are independent, so their variances add up."""
    pooled = PooledVariance()
    value, known = 0.0, fixed
    for board in boards:
        number = board.counts.totals[bot].number
        value += board.fit.chances[number] / len(boards)
        freedom = board.fit.freedom[number]
        known = known and freedom > 0
        pooled.add(board.fit.chance_variance(number) / len(boards) ** 2, freedom)
    return share_interval(value, pooled.variance, pooled.freedom) if known else Interval(value, -inf, inf)


def _better(boards: Sequence[Leaderboard], ranked: Sequence[str], end: int) -> set[Pair]:
    """Return the significantly different pairs (better, worse), by place, of those that met in every game."""
    tests: list[tuple[Pair, float]] = []
    met = [board.counts.pairs.finished_ahead() for board in boards]
    for (one, left), (other, right) in combinations(enumerate(ranked), 2):
        pooled, mean, deals = PooledVariance(), 0.0, 0
        for board, pairs in zip(boards, met, strict=True):
            numbers = board.counts.totals[left].number, board.counts.totals[right].number
            seen = board.fit.difference(*numbers) if numbers in pairs else None
            if seen is None:
                break
            pooled.add((seen.error / len(boards)) ** 2, seen.freedom)
            mean += seen.value / len(boards)
            deals += seen.deals
        else:
            test = Difference(mean, sqrt(pooled.variance), pooled.freedom, deals)
            tests.append(((one, other) if mean > 0 else (other, one), test.p_value))
    claimed = holm([p_value for _, p_value in tests], claim_level(end))
    return {pair for (pair, _), claim in zip(tests, claimed, strict=True) if claim}


def _overall_notes(ranked: Sequence[str], others: Sequence[str], everywhere: Sequence[str], games: int) -> list[str]:
    if not ranked:
        who = f"Only {everywhere[0]} plays" if everywhere else "No bot plays"
        return [f"{who} all {games} games, so there is no order over all of them."]
    if not others:
        return []
    does = "does" if len(others) == 1 else "do"
    return [f"Only bots that play all {games} games have a place; {_named(others)} {does} not."]
