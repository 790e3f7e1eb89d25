"""Gauntlet: each candidate plays the same tables of the field, with the same seats and deals."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import fsum, isfinite, sqrt
from typing import NamedTuple

from harness.core.errors import UsageError
from harness.core.plan import DuplicateSet, Format, GamePlan, Outcome, Plan, Rounds
from harness.core.records import GameRecord
from harness.core.rng import Chance
from harness.core.table import Column, Table, columns
from harness.formats.round_robin import TABLES, GrowingTables, check_bots, grown
from harness.ratings.statistics import LEVEL, Interval, PooledVariance, holm, mean_interval, share_interval, student_cdf

# Differences between candidates, deal by deal: they had the same seats at the same tables with the same deals.
#
# A candidate's value is its result in one duplicate set: one deal at one table, in every seat. Each set has its own
# deal, so sets are independent. The tables of the field are the same for all candidates and repeat in every deal, so
# the difference between tables is not luck: variances are computed within tables that were played more than once.


class PairedSpread(NamedTuple):
    """A sum of values from independent sets, with its variance."""

    sets: int
    total: float
    variance: float
    """Variance of the total."""
    freedom: float
    """Degrees of freedom of the variance; 0 if the variance is unknown."""

    def interval(self, matches: int, doubt: float = 0.0) -> Interval:
        """Return the mean per match with its interval.

        Each set has `matches` matches; `doubt` is added to the variance of the total.
        """
        count = self.sets * matches
        return mean_interval(self.total / count, (self.variance + doubt) / count**2, self.freedom)


def spread_within(values: Sequence[float], tables: Sequence[int]) -> PairedSpread:
    """Return the sum of the values of all sets, with its variance within tables.

    Tables that were played once form one group. Its variance includes the differences between these tables, so the
    interval can only get wider.
    """
    groups: dict[int, list[float]] = {}
    for table, value in zip(tables, values, strict=True):
        groups.setdefault(table, []).append(value)
    single = [group[0] for group in groups.values() if len(group) == 1]
    strata = [group for group in groups.values() if len(group) > 1]
    if len(single) > 1 or not strata:
        strata.append(single)
    elif single:
        # A group of one has no variance: it joins the smallest other group.
        min(strata, key=len).extend(single)
    pooled = PooledVariance()
    for group in strata:
        if (size := len(group)) > 1:
            middle = fsum(group) / size
            pooled.add(fsum((value - middle) ** 2 for value in group) * size / (size - 1), size - 1)
    return PairedSpread(len(values), fsum(values), pooled.variance, pooled.freedom)


@dataclass(frozen=True, slots=True)
class CandidateLine:
    """One candidate against the whole field, or against one opponent."""

    bot: str
    matches: int
    ahead: Interval
    score: Interval


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The difference between two candidates, deal by deal."""

    better: str
    worse: str
    ahead: Interval
    score: Interval
    significant: bool
    """In at most 5 of 100 runs any such claim about two candidates is false."""
    worth: float | None
    """Factor by which more matches would have been needed if the candidates had played different deals."""


class PairedResults:
    """Compares candidates by their matches against the same field."""

    def __init__(self, candidates: Sequence[str], seats: int) -> None:
        self.candidates, self.seats = list(candidates), seats
        self._pending: dict[int, dict[str, _SetSums]] = {}
        self._numbers: dict[frozenset[str], int] = {}
        self._tables = array("l")
        """Number of the table of each set that all candidates have played."""
        self._ahead = {name: array("d") for name in candidates}
        self._scores = {name: array("d") for name in candidates}
        self._against: dict[tuple[str, str], tuple[array[int], array[float], array[float]]] = {}

    @property
    def sets(self) -> int:
        """The number of sets, one deal at one table each, that all candidates have played."""
        return len(self._tables)

    def add(self, record: GameRecord) -> None:
        """Add a match; its set counts as soon as all candidates have played it in every seat."""
        seats = [seat for seat, name in enumerate(record.seats) if name in self._ahead]
        if len(seats) != 1:
            return  # not a match of a gauntlet
        deal = self._pending.setdefault(record.seed, {})
        sums = deal.setdefault(record.seats[seats[0]], _SetSums())
        sums.add(record, seats[0])
        if len(deal) == len(self.candidates) and all(one.matches == self.seats for one in deal.values()):
            self._take(self._pending.pop(record.seed))

    def _take(self, deal: dict[str, _SetSums]) -> None:
        table = self._numbers.setdefault(frozenset(next(iter(deal.values())).against), len(self._numbers))
        self._tables.append(table)
        for name, sums in deal.items():
            self._ahead[name].append(sums.ahead / (self.seats - 1))
            self._scores[name].append(sums.score)
            for other, (ahead, score) in sums.against.items():
                key = name, other
                if key not in self._against:
                    self._against[key] = array("l"), array("d"), array("d")
                tables, aheads, scores = self._against[key]
                tables.append(table)
                aheads.append(ahead)
                scores.append(score)

    def lines(self) -> list[CandidateLine]:
        """Return the result of each candidate against the field, best first."""
        lines = [self._line(name, self._tables, self._ahead[name], self._scores[name]) for name in self.candidates]
        return sorted(lines, key=lambda line: -line.ahead.value)

    def against(self, candidate: str) -> list[CandidateLine]:
        """Return a candidate's results against each opponent, the hardest first; `score` is the mean difference."""
        lines = [self._line(other, *sums) for (name, other), sums in self._against.items() if name == candidate]
        return sorted(lines, key=lambda line: (line.ahead.value, line.bot))

    def _line(self, bot: str, tables: Sequence[int], ahead: Sequence[float], score: Sequence[float]) -> CandidateLine:
        matches, spread = len(tables) * self.seats, spread_within(ahead, tables)
        share = spread.total / matches
        # Add one imaginary win and one loss: without them a bot that won every match would have an interval of width 0.
        variance_ahead = (spread.variance + share**2 + (1 - share) ** 2) / matches**2
        return CandidateLine(
            bot,
            matches,
            share_interval(share, variance_ahead, spread.freedom),
            spread_within(score, tables).interval(self.seats),
        )

    def differences(self) -> list[PairedDifference]:
        """Return the difference of each pair of candidates, the better one first, in the order of `lines`."""
        order = [line.bot for line in self.lines()]
        pairs = list(combinations(order, 2))
        spreads = [spread_within(_less(self._ahead[one], self._ahead[other]), self._tables) for one, other in pairs]
        claimed = holm([self._p_value(spread) for spread in spreads])
        return [
            PairedDifference(
                one,
                other,
                spread.interval(self.seats, self._widened(spread)),
                spread_within(_less(self._scores[one], self._scores[other]), self._tables).interval(self.seats),
                significant,
                self._worth(one, other, spread),
            )
            for (one, other), spread, significant in zip(pairs, spreads, claimed, strict=True)
        ]

    def _widened(self, spread: PairedSpread) -> float:
        """Return the variance added by two imaginary matches, in each of which one candidate is half a table better.

        Without them, candidates with the same difference in every deal would have an interval of width 0.
        """
        value = spread.total / (spread.sets * self.seats)
        return (0.5 - value) ** 2 + (0.5 + value) ** 2

    def _p_value(self, spread: PairedSpread) -> float:
        """Return how often luck alone makes a difference at least this large."""
        if not spread.freedom:
            return 1.0
        return 2 * student_cdf(-abs(spread.total) / sqrt(spread.variance + self._widened(spread)), spread.freedom)

    def _worth(self, one: str, other: str, spread: PairedSpread) -> float | None:
        if not spread.variance:
            return None
        alone = [spread_within(self._ahead[name], self._tables).variance for name in (one, other)]
        return sum(alone) / spread.variance


class _SetSums:
    """The sums of one candidate's results in a duplicate set."""

    __slots__ = ("against", "ahead", "matches", "score")

    def __init__(self) -> None:
        self.matches, self.ahead, self.score = 0, 0.0, 0.0
        self.against: dict[str, tuple[float, float]] = {}

    def add(self, record: GameRecord, seat: int) -> None:
        rank, score = record.ranks[seat], record.scores[seat]
        self.matches += 1
        self.score += score
        for place, name in enumerate(record.seats):
            if place == seat:
                continue
            won = 0.5 + 0.5 * ((rank < record.ranks[place]) - (rank > record.ranks[place]))
            self.ahead += won
            ahead, more = self.against.get(name, (0.0, 0.0))
            self.against[name] = ahead + won, more + score - record.scores[place]


def _less(one: Iterable[float], other: Iterable[float]) -> list[float]:
    return [mine - theirs for mine, theirs in zip(one, other, strict=True)]


# Tables of a gauntlet: each candidate against the field, and the differences between candidates.


MAX_PAIRS = 66
"""Maximum of pairs in the text table, enough for twelve candidates; above it, each candidate is compared with the next
and with the best one."""
FIELD = "ahead: share of the table finished ahead of."
WITHIN = f"± is a {LEVEL:.0%} interval over deals."
OPPONENTS = (
    "ahead: how often the candidate finished ahead of the opponent; score by: by how much it scored more. "
    "Hardest first."
)
PAIRED = (
    "Differences are taken deal by deal: same deals, same places, same tables. "
    "ahead by: points of `ahead`. significant: in at most 5 of 100 runs any of these claims is false. "
    "pairing: how many times as many matches it would have taken with separate deals."
)


def outcome(results: PairedResults, sets: int) -> Outcome:
    """Return the outcome of a gauntlet of `sets` sets; only sets that all candidates have played count."""
    done = results.sets
    still_open = "" if done == sets else f"{done:,} of {sets:,} deals at a table have been played by every candidate."
    if not done:
        return Outcome(open=still_open)
    lines = results.lines()
    if len(lines) == 1:
        [line] = lines
        note = f"{line.bot} finishes ahead of {_percent(line.ahead)} of the table."
        more = _lines(f"{line.bot} against each", "opponent", "score by", results.against(line.bot), OPPONENTS)
    else:
        pairs = results.differences()
        note, more = _verdict(pairs, len(lines)), _differences(pairs, lines)
    table = _lines("against the field", "candidate", "mean score", lines, f"{FIELD} {WITHIN}")
    return Outcome((), "" if still_open else note, (table, more), open=still_open)


def _lines(title: str, who: str, score: str, lines: Sequence[CandidateLine], legend: str) -> Table:
    """Return a table with a line for each candidate, or for each opponent of one, for which `score` is a difference."""
    sign = "+" if who == "opponent" else ""
    rows = [(line.bot, line.matches, _percent(line.ahead), _text(line.score, sign)) for line in lines]
    data = [
        {who: line.bot, "matches": line.matches, **_fields("ahead", line.ahead, 4),
         **_fields(score, line.score, 2)}
        for line in lines
    ]  # fmt: skip
    head = [*columns("auto", who, "matches"), *columns("number", "ahead", score)]
    return Table(title, head, rows, data, legend=legend)


def _differences(pairs: Sequence[PairedDifference], lines: Sequence[CandidateLine]) -> Table:
    shown = pairs
    notes: list[str] = []
    if len(pairs) > MAX_PAIRS:
        order = [line.bot for line in lines]
        after = dict(pairwise(order))
        shown = [pair for pair in pairs if pair.better == order[0] or after[pair.better] == pair.worse]
        notes = [f"{len(shown)} of {len(pairs)} pairs: each with the best and with the next. The JSON has all."]
    rows: list[Sequence[object]] = [
        (
            pair.better,
            pair.worse,
            _percent(pair.ahead, "+"),
            _text(pair.score, "+"),
            "yes" if pair.significant else "no",
            f"{pair.worth:.1f}x" if pair.worth else None,
        )
        for pair in shown
    ]
    data: list[Mapping[str, object]] = [
        {
            "candidate": pair.better,
            "other": pair.worse,
            **_fields("ahead by", pair.ahead, 4),
            **_fields("score by", pair.score, 2),
            "significant": pair.significant,
            "pairing": round(pair.worth, 3) if pair.worth else None,
        }
        for pair in pairs
    ]
    numbers = columns("number", "ahead by", "score by")
    head: list[Column | str] = ["candidate", "other", *numbers, "significant", Column("pairing", "number")]
    return Table("differences between candidates", head, rows, data, keys=2, notes=notes, legend=PAIRED)


def _verdict(pairs: Sequence[PairedDifference], candidates: int) -> str:
    """Return a sentence about the best candidate and those that it is significantly better than."""
    best = pairs[0].better
    beaten = [pair.worse for pair in pairs if pair.better == best and pair.significant]
    if len(beaten) == candidates - 1:
        if candidates == 2:
            more = _percent(pairs[0].ahead)
            better = f"{best} does significantly better against this field than {beaten[0]}"
            return f"{better}: it finishes ahead of {more} more of the table."
        return f"{best} does significantly better against this field than every other candidate."
    if not any(pair.significant for pair in pairs):
        return "No difference between candidates is significant."
    if not beaten:
        return f"{best} leads, but not significantly."
    return f"{best} leads; it does significantly better than {', '.join(beaten)}."


def _fields(name: str, interval: Interval, digits: int) -> dict[str, float | None]:
    parts = ((name, interval.value), (f"{name} low", interval.low), (f"{name} high", interval.high))
    return {key: round(part, digits) if isfinite(part) else None for key, part in parts}


def _text(interval: Interval, sign: str = "", scale: int = 1) -> str:
    reach = f" ± {scale * interval.reach:.1f}" if isfinite(interval.high) else ""
    return f"{scale * interval.value:{sign}.1f}{reach}"


def _percent(share: Interval, sign: str = "") -> str:
    return f"{_text(share, sign, 100)}%"


# The schedule: each candidate plays at the same tables of the field, in the same seats, with the same deals.


PLACE = "\0"
"""Placeholder for the candidate while the seating of a table is drawn; no bot can have this name."""


def rounds(game: GamePlan, plan: Plan, luck: Chance) -> Rounds:
    """Play one deal at a time, without using results; for an extended plan, only the deals added last."""
    candidates = sides(game, plan)[1]
    for deal, tables in _tables(game, plan).new(luck):
        played: list[DuplicateSet] = []
        for number, table in enumerate(tables, 1):
            _seat(played, game, luck, (deal, number), table, candidates)
        yield played
    return Outcome()


def _seat(
    played: list[DuplicateSet],
    game: GamePlan,
    luck: Chance,
    place: tuple[int, int],
    table: Sequence[str],
    candidates: Sequence[str],
    before: int = 0,
) -> None:
    """Append the sets of these candidates at one table to `played`.

    `place` is the deal and the number of the table in it; `before` is the number of sets the deal already has.
    """
    seating = game.seating([PLACE, *table], luck, *place)
    for candidate in candidates:
        bots = tuple(candidate if name == PLACE else name for name in seating)
        played.append(DuplicateSet(place[0], before + len(played) + 1, place, bots))


def late(game: GamePlan, plan: Plan, luck: Chance) -> Rounds:
    """Play the earlier deals: late candidates at the old tables, and all candidates at the tables of late bots."""
    tables, candidates = _tables(game, plan), sides(game, plan)[1]
    came = [name for name in candidates if name in plan.candidates[plan.before[-1].candidates :]]
    if tables.newcomers or came:
        there = len(candidates) - len(came)
        for deal, (old, new) in enumerate(tables.late(luck), 1):
            played: list[DuplicateSet] = []
            for number, table in enumerate([*old, *new], 1):
                who = came if number <= len(old) else candidates
                _seat(played, game, luck, (deal, number), table, who, len(old) * there)
            yield played
    return Outcome()


class GauntletTracker:
    """Computes the results of a gauntlet from the sets that all candidates have played."""

    def __init__(self, game: GamePlan, plan: Plan) -> None:
        self._results = PairedResults(sides(game, plan)[1], game.players)
        self._sets = _tables(game, plan).count()

    def add(self, record: GameRecord) -> None:
        """Add a match."""
        self._results.add(record)

    def outcome(self) -> Outcome:
        """Return the results of each candidate against the field, and the differences between candidates."""
        return outcome(self._results, self._sets)


def sides(game: GamePlan, plan: Plan) -> tuple[list[str], list[str]]:
    """Return the field and the candidates of one game, in the order of entry."""
    field = [name for name in game.entrants if name not in plan.candidates]
    return field, [name for name in game.entrants if name in plan.candidates]


def count(game: GamePlan, plan: Plan) -> int:
    """Return the number of matches: each candidate plays each deal at every table of the field in all rotations."""
    return len(sides(game, plan)[1]) * _tables(game, plan).count() * game.players


def _tables(game: GamePlan, plan: Plan) -> GrowingTables:
    return GrowingTables(game, plan, game.players - 1, _field)


def _field(game: GamePlan, plan: Plan) -> list[str]:
    return sides(game, plan)[0]


def check(game: GamePlan, plan: Plan) -> None:
    """Raise UsageError if there is no candidate, or if the field is too small or too large."""
    field, candidates = sides(game, plan)
    if not plan.candidates:
        raise UsageError("A gauntlet needs one or more candidates.", fix="candidates")
    if not candidates:
        raise UsageError(f"None of the candidates ({', '.join(plan.candidates)}) plays {game.name}.")
    if len(field) < game.players - 1:
        raise UsageError(
            f"A gauntlet of {game.name} at tables of {game.players} needs {game.players - 1} other bots besides the "
            f"candidates; there are {len(field)}. Enter more bots, or play it with fewer at a table."
        )
    check_bots(len(field), game.players - 1)


GAUNTLET = Format(
    "gauntlet",
    "each candidate plays the same tables of the field, in the same places with the same deals",
    rounds,
    count,
    adaptive=False,
    check=check,
    options=(TABLES,),
    candidates=True,
    track=GauntletTracker,
    extend=lambda plan, asked: grown(plan, asked, _field, 1),
    late=late,
)
