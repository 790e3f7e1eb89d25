"""What the matches of a game are counted into: totals of bots, outcomes of pairs, and outcomes of deals.

Everything that a leaderboard says is computed from these counts, so the order of matches does not matter, and a run of
a million matches takes some tens of megabytes.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from operator import add, itemgetter
from struct import pack, unpack
from typing import NamedTuple, TypeVar

from harness.core.errors import StoreError
from harness.core.records import GameRecord, shares_ahead
from harness.ratings.statistics import Interval, mean_interval, share_interval

MAX_CACHED_SEATINGS = 30_000
"""The cache of seatings is emptied when it has this many."""
MAX_OPEN_DEALS = 64
"""Deals that may still get matches. In schedule order a deal is complete when the next one begins; matches that are
added as they end are slightly out of order."""

AHEAD, TIED, BEHIND = range(3)
"""The outcomes of a pair of bots, seen from the first: positions in the counts of the pair."""
_BOT_BITS = 20
"""Bits for the number of a bot in the key of a pair."""
_DIGIT_BITS, _DIGIT_BYTES = 32, 4
"""The outcome of a deal is a number with two digits a pair: how often the first bot was ahead, and behind. So adding a
match is one addition."""


@lru_cache(maxsize=100_000)
def pair_outcomes(ranks: tuple[int, ...]) -> tuple[tuple[int, int, float], ...]:
    """Return each pair of seats with 1 if the first finished ahead, 0 if behind, 1/2 for a tie."""
    return tuple(
        (one, other, 0.5 + 0.5 * ((ranks[one] < ranks[other]) - (ranks[one] > ranks[other])))
        for one, other in combinations(range(len(ranks)), 2)
    )


class PairCounts:
    """How often each bot finished ahead of, level with and behind each other bot, by table size. Bots are numbered."""

    __slots__ = ("counts", "luck", "slots")

    def __init__(self) -> None:
        self.slots: dict[int, int] = {}
        """Table size and two bots, the lower number first, as one integer -> position of their three counts."""
        self.counts = array("d")
        self.luck: dict[int, float] = {}
        """The same position -> how many results of the first bot are due to luck; empty unless results are adjusted."""

    def slot(self, players: int, one: int, other: int) -> int:
        """Return the position of the counts of two bots, the lower number first, at tables of this size."""
        key = (players << _BOT_BITS | one) << _BOT_BITS | other
        found = self.slots.get(key)
        if found is None:
            found = self.slots[key] = len(self.counts)
            self.counts.extend((0.0, 0.0, 0.0))
        return found

    def as_played(self) -> Iterator[tuple[int, int, int, float, float, float]]:
        """Return for each pair that met: table size, both bots, and how often the first was ahead, level, behind."""
        mask, counts = (1 << _BOT_BITS) - 1, iter(self.counts)
        for key, ahead, tied, behind in zip(self.slots, counts, counts, counts, strict=True):
            yield key >> 2 * _BOT_BITS, key >> _BOT_BITS & mask, key & mask, ahead, tied, behind

    def __iter__(self) -> Iterator[tuple[int, int, int, float, float, float]]:
        """Return the same, without luck if results are adjusted."""
        for at, (players, one, other, ahead, tied, behind) in zip(self.slots.values(), self.as_played(), strict=True):
            luck = self.luck.get(at, 0.0)
            yield players, one, other, ahead - luck, tied, behind + luck

    def shares_ahead(self, bots: int) -> list[float | None]:
        """Return the share of opponents that each bot finished ahead of, as counted; None if it had none."""
        # Every match counts once, whatever the size of the table. Fractions, so that no rounding error decides a digit.
        shares, matches = [Fraction(0)] * bots, [Fraction(0)] * bots
        for players, one, other, ahead, tied, behind in self.as_played():
            for bot, wins in ((one, ahead), (other, behind)):
                shares[bot] += Fraction(wins + tied / 2) / (players - 1)
                matches[bot] += Fraction(ahead + tied + behind) / (players - 1)
        return [float(won / met) if met else None for won, met in zip(shares, matches, strict=True)]

    def add_match(self, bots: Sequence[int], ranks: Sequence[int], times: int = 1) -> None:
        """Add a result of these bots, in order of seats, that came up `times` times."""
        players = len(bots)
        for (one, its), (other, others) in combinations(sorted(zip(bots, ranks, strict=True)), 2):
            result = TIED if its == others else AHEAD if its < others else BEHIND
            self.counts[self.slot(players, one, other) + result] += times

    def finished_ahead(self) -> dict[tuple[int, int], tuple[float, int]]:
        """Return for each bot and each opponent that it met how often it was ahead, and their matches.

        A tie is one half.
        """
        found: dict[tuple[int, int], tuple[float, int]] = {}
        for _, one, other, ahead, tied, behind in self.as_played():
            for pair, wins in (((one, other), ahead), ((other, one), behind)):
                share, met = found.get(pair, (0.0, 0))
                found[pair] = share + wins + tied / 2, met + round(ahead + tied + behind)
        return found


@dataclass(slots=True)
class BotTotals:
    """The totals of one bot."""

    bot: str
    number: int
    """Bots are numbered in the order of their first match."""
    matches: int = 0
    wins: float = 0.0
    """A win shared by two counts one half."""
    rank_sum: int = 0
    decisions: int = 0
    time: float = 0.0
    faults: int = 0
    """Matches in which it failed."""
    disqualified: int = 0
    """Matches that it lost without playing, because it had failed too often."""


class SeatSums:
    """The results of one seat at tables of one size, over deals."""

    __slots__ = ("ahead", "counts", "deals", "matches", "score", "wins")

    def __init__(self) -> None:
        self.deals = 0
        self.matches = self.wins = self.counts = 0.0
        """`counts` is the sum over deals of the squared number of matches."""
        self.score = [0.0, 0.0, 0.0]
        """Sums over deals: of the total, of the total times the number of matches, and of the squared total."""
        self.ahead = [0.0, 0.0, 0.0]

    def add_deal(self, matches: float, score: float, ahead: float, wins: float) -> None:
        """Add the totals of the seat in one deal."""
        self.deals += 1
        self.matches += matches
        self.wins += wins
        self.counts += matches * matches
        for sums, total in ((self.score, score), (self.ahead, ahead)):
            sums[:] = sums[0] + total, sums[1] + total * matches, sums[2] + total * total

    @property
    def mean_score(self) -> Interval:
        """The mean score, with its interval over deals."""
        return mean_interval(self.score[0] / self.matches, self._variance(self.score), self.deals - 1)

    @property
    def share_ahead(self) -> Interval:
        """The share of the table that the seat finishes ahead of, with its interval over deals."""
        return share_interval(self.ahead[0] / self.matches, self._variance(self.ahead), self.deals - 1)

    def _variance(self, sums: Sequence[float]) -> float:
        """Return the variance of a ratio estimate (total divided by matches), with deals as clusters."""
        # A ratio, because deals differ in their number of matches: a run that was stopped, a bot that joined late.
        if self.deals < 2:
            return 0.0
        value = sums[0] / self.matches
        # The squared residuals of all deals, from sums alone; rounding may make them negative.
        squares = max(0.0, sums[2] - 2 * value * sums[1] + value**2 * self.counts)
        return squares * self.deals / (self.deals - 1) / self.matches**2


# Deals. The deal is the sampling unit, not the match: the matches of a deal share its cards, so a deal that suits a bot
# suits it in every seating, and errors computed from single matches would be too small. Deals played by the same tables
# with the same number of matches form a stratum: they differ by luck only, so their variance is the variance of luck.


class TableMatches(NamedTuple):
    """The bots of a table, in order of number, and how many matches of a deal they played."""

    bots: tuple[int, ...]
    matches: int


class Stratum:
    """The deals that the same tables played, each with the same number of matches."""

    __slots__ = ("bots", "deals", "outcomes", "score_squares", "score_sums", "tables")

    def __init__(self, tables: Sequence[TableMatches]) -> None:
        self.tables = tuple(tables)
        self.bots = tuple(sorted({bot for bots, _ in tables for bot in bots}))
        """The bots of all tables, in order of number."""
        self.deals = 0
        self.outcomes: dict[bytes, int] = {}
        """Distinct outcomes of a deal, as packed by `OpenDeal`, and how many deals had them."""
        bots = len(self.bots)
        self.score_sums, self.score_squares = [0.0] * bots, [0.0] * bots
        """For each bot the sum over deals of its total score, and of the square."""

    def results(self) -> Iterator[tuple[tuple[float, ...], int]]:
        """Return each distinct outcome and its number of deals.

        An outcome has for each pair of each table how often the first was ahead and behind, then, if results are
        luck-adjusted, for each bot of each table what luck gave to it.
        """
        pairs = sum(len(bots) * (len(bots) - 1) for bots, _ in self.tables)
        seats = sum(len(bots) for bots, _ in self.tables)
        for packed, deals in self.outcomes.items():
            luck = len(packed) > pairs * _DIGIT_BYTES
            yield unpack(f"<{pairs}I{seats if luck else 0}d", packed), deals


class OpenDeal:
    """A deal that may still get matches."""

    __slots__ = ("luck", "scores", "seats", "tables")

    def __init__(self, bots: Sequence[int] = ()) -> None:
        self.tables: dict[tuple[int, ...], list[int]] = {}
        """The bots of a table, in order of number -> number of matches, and the sum of their outcomes."""
        self.luck: dict[tuple[int, ...], list[float]] = {}
        """The same bots -> what luck gave to each, in shares of the table; empty unless results are adjusted."""
        self.scores: dict[int, float] = dict.fromkeys(bots, 0.0)
        self.seats: dict[int, list[list[float]]] = {}
        """Number of players -> for each seat the sums of matches, scores, shares ahead and wins."""

    @property
    def kind(self) -> tuple[TableMatches, ...]:
        """Which tables have played it so far."""
        return tuple(sorted([TableMatches(bots, matches) for bots, (matches, _) in self.tables.items()]))

    def outcome(self) -> bytes:
        """Return the outcome of each pair of each table, and the luck of each bot if results are adjusted."""
        tables = sorted(self.tables)
        counts = [
            self.tables[bots][1].to_bytes(len(bots) * (len(bots) - 1) * _DIGIT_BYTES, "little") for bots in tables
        ]
        luck = [value for bots in tables for value in self.luck.get(bots, ())]
        return b"".join([*counts, pack(f"<{len(luck)}d", *luck)])


Counts = TypeVar("Counts", Stratum, SeatSums)


class DealCounts:
    """The outcomes of all deals, and the results of each seat."""

    __slots__ = ("_open", "_seats", "_strata")

    def __init__(self) -> None:
        self._open: dict[int, OpenDeal] = {}
        self._strata: dict[tuple[TableMatches, ...], Stratum] = {}
        self._seats: dict[tuple[int, int], SeatSums] = {}

    def deal(self, seed: int) -> OpenDeal:
        """Return the deal with this seed, to which a match is to be added."""
        found = self._open.get(seed)
        if found is None:
            if len(self._open) >= MAX_OPEN_DEALS:
                # The first that was opened: in schedule order it has all of its matches.
                oldest = self._open.pop(next(iter(self._open)))
                _add_deal(self._strata, oldest)
                _add_seats(self._seats, oldest)
            found = self._open[seed] = OpenDeal()
        return found

    def strata(self) -> list[Stratum]:
        """Return all deals, in strata."""
        # Open deals count as they are, although more matches may come: a table is shown while a run is played.
        found = dict(self._strata)
        for deal in self._open.values():
            kind = deal.kind
            if kind in found:  # a copy, because the deal may get more matches
                found[kind] = _copy(found[kind])
            _add_deal(found, deal)
        return list(found.values())

    def seat_sums(self) -> dict[tuple[int, int], SeatSums]:
        """Return the results of each seat, by number of players and seat."""
        found = {key: _copy(sums) for key, sums in self._seats.items()}
        for deal in self._open.values():
            _add_seats(found, deal)
        return dict(sorted(found.items()))


def _copy(counts: Counts) -> Counts:
    copy = object.__new__(type(counts))
    for name in counts.__slots__:
        value = getattr(counts, name)
        setattr(copy, name, value.copy() if isinstance(value, list | dict) else value)
    return copy


def _add_deal(strata: dict[tuple[TableMatches, ...], Stratum], deal: OpenDeal) -> None:
    kind = deal.kind
    stratum = strata.get(kind)
    if stratum is None:
        stratum = strata[kind] = Stratum(kind)
    # Outcomes repeat: counting distinct ones makes a fit over a million deals one over some thousand.
    outcome = deal.outcome()
    stratum.deals += 1
    stratum.outcomes[outcome] = stratum.outcomes.get(outcome, 0) + 1
    for place, bot in enumerate(stratum.bots):
        score = deal.scores[bot]
        stratum.score_sums[place] += score
        stratum.score_squares[place] += score * score


def _add_seats(into: dict[tuple[int, int], SeatSums], deal: OpenDeal) -> None:
    for players, places in deal.seats.items():
        for seat, (matches, score, ahead, wins) in enumerate(places):
            sums = into.get((players, seat))
            if sums is None:
                sums = into[players, seat] = SeatSums()
            sums.add_deal(matches, score, ahead, wins)


# The matches of one game.


@lru_cache(maxsize=100_000)
def _pattern(ranks: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
    """Return the outcome of each pair of bots with these ranks, and what they add to the outcome of the deal."""
    results, outcome = [], 0
    for place, (one, other) in enumerate(combinations(ranks, 2)):
        result = TIED if one == other else AHEAD if one < other else BEHIND
        results.append(result)
        if result != TIED:
            outcome += 1 << _DIGIT_BITS * (2 * place + (result == BEHIND))
    return tuple(results), outcome


@lru_cache(maxsize=100_000)
def _seat_results(ranks: tuple[int, ...]) -> tuple[tuple[float, float], ...]:
    """Return for each seat its share of the table and its part of the win."""
    win = 1 / max(1, ranks.count(1))
    return tuple((share, win * (rank == 1)) for share, rank in zip(shares_ahead(ranks), ranks, strict=True))


class _Seating:
    """The bots at a table, in order of seats."""

    __slots__ = ("bots", "pick", "rated", "slots", "totals")

    def __init__(self, totals: list[BotTotals], pairs: PairCounts) -> None:
        self.totals = totals
        self.bots = tuple(sorted([one.number for one in totals]))
        """Their numbers, in order."""
        self.rated = len(set(self.bots)) == len(self.bots) > 1
        """Not if a bot meets itself, or has no opponent."""
        self.slots: list[int] = []
        """Positions of the counts of each pair, in the order of numbers."""
        if self.rated:
            places = sorted(range(len(totals)), key=lambda seat: totals[seat].number)
            self.pick: Callable[[tuple[int, ...]], tuple[int, ...]] = itemgetter(*places)
            """Returns the values of seats in the order of the bots' numbers."""
            self.slots = [pairs.slot(len(totals), one, other) for one, other in combinations(self.bots, 2)]


@dataclass(slots=True)
class GameCounts:
    """The counts of one game. A match in which a bot meets itself, or has no opponent, counts only in its totals."""

    totals: dict[str, BotTotals] = field(default_factory=dict)
    matches: int = 0
    pairs: PairCounts = field(default_factory=PairCounts)
    deals: DealCounts = field(default_factory=DealCounts)
    _seatings: dict[tuple[str, ...], _Seating] = field(default_factory=dict, repr=False, compare=False)

    def add(self, record: GameRecord, shares: Sequence[float] | None = None) -> None:
        """Add a match; `shares`, one for each seat, are the luck-adjusted shares of opponents finished ahead of."""
        seats, ranks, scores, decisions = record.seats, record.ranks, record.scores, record.decisions
        if not len(seats) == len(ranks) == len(scores) == len(decisions):
            raise StoreError(f"The record {record.id} does not have a rank, a score and decisions for each seat.")
        self.matches += 1
        seating = self._seatings.get(seats) or self._make_seating(seats)
        totals = seating.totals
        deal = self._add_pairs(seating, record) if seating.rated else OpenDeal(seating.bots)
        if record.time:
            for one, spent in zip(totals, record.time, strict=False):
                one.time += spent
        if record.faults:
            failed = {fault.seat for fault in record.failures}
            out = {fault.seat for fault in record.faults if fault.kind == "disqualified"}
            for seat, one in enumerate(totals):
                one.faults += seat in failed
                one.disqualified += seat in out
        places, sums = deal.seats.get(len(seats)), deal.scores
        if places is None:
            places = deal.seats[len(seats)] = [[0.0] * 4 for _ in seats]
        results = _seat_results(ranks)
        # One loop for bots and deal: this is the inner loop of everything that reads a run.
        rows = zip(totals, places, ranks, scores, decisions, results, strict=True)
        for one, place, rank, score, made, (share, win) in rows:
            one.matches += 1
            one.rank_sum += rank
            one.decisions += made
            place[0] += 1
            place[1] += score
            if share:
                place[2] += share
            if win:
                one.wins += win
                place[3] += win
            sums[one.number] += score
        if shares is not None and seating.rated:
            self._add_luck(seating, deal, [share - mine for (share, _), mine in zip(results, shares, strict=True)])

    def _add_pairs(self, seating: _Seating, record: GameRecord) -> OpenDeal:
        """Count the outcome of each pair; return the deal, to which the match is to be added."""
        bots, counts = seating.bots, self.pairs.counts
        results, outcome = _pattern(seating.pick(record.ranks))
        for at in map(add, seating.slots, results):
            counts[at] += 1
        deal = self.deals.deal(record.seed)
        entry = deal.tables.get(bots)
        if entry is None:
            entry = deal.tables[bots] = [0, 0]
            deal.scores = dict.fromkeys(bots, 0.0) | deal.scores
        entry[0] += 1
        entry[1] += outcome
        return deal

    def _add_luck(self, seating: _Seating, deal: OpenDeal, luck: Sequence[float]) -> None:
        """Add what luck gave to each seat, to be taken out of results."""
        bots = seating.bots
        by_bot = dict(zip([one.number for one in seating.totals], luck, strict=True))
        had = deal.luck.get(bots, [0.0] * len(bots))
        deal.luck[bots] = [value + by_bot[bot] for value, bot in zip(had, bots, strict=True)]
        for at, (one, other) in zip(seating.slots, combinations(bots, 2), strict=True):
            given = luck_of_pair(by_bot[one], by_bot[other], len(bots))
            self.pairs.luck[at] = self.pairs.luck.get(at, 0.0) + given

    def _make_seating(self, seats: tuple[str, ...]) -> _Seating:
        """Return the bots at these seats, and cache it, because the same bots meet many times."""
        if len(self._seatings) >= MAX_CACHED_SEATINGS:
            self._seatings.clear()
        totals = []
        for name in seats:
            one = self.totals.get(name)
            if one is None:
                one = self.totals[name] = BotTotals(name, len(self.totals))
            totals.append(one)
        seating = self._seatings[seats] = _Seating(totals, self.pairs)
        return seating

    def copy_without_deals(self) -> GameCounts:
        """Return a copy with the same totals and pairs, to which matches can be added; it costs microseconds."""
        copy = GameCounts({bot: replace(one) for bot, one in self.totals.items()}, self.matches)
        copy.pairs.slots, copy.pairs.counts = self.pairs.slots.copy(), self.pairs.counts[:]
        return copy

    def clear_cache(self) -> None:
        """Empty the cache of seatings, which is needed when `totals` were replaced."""
        self._seatings = {}


def luck_of_pair(one: float, other: float, players: int) -> float:
    """Return how many results of a pair are due to luck, if luck gave these shares of the table to the two bots.

    Summed over the opponents at a table, this is the luck of a bot times the number of opponents.
    """
    return (one - other) * (players - 1) / players


CACHED_FIELDS: Mapping[type, Sequence[str]] = {
    GameCounts: ("totals", "matches", "pairs", "deals"),
    BotTotals: BotTotals.__slots__,
    PairCounts: PairCounts.__slots__,
    DealCounts: DealCounts.__slots__,
    Stratum: Stratum.__slots__,
    TableMatches: TableMatches._fields,
    OpenDeal: OpenDeal.__slots__,
    SeatSums: SeatSums.__slots__,
}
"""The classes that counts consist of, and the fields of each that a cache must store."""


def by_game(record: GameRecord) -> str:
    """Return the game: the default key of counts."""
    return record.game


def by_players(record: GameRecord) -> str:
    """Return game and number of players, for separate leaderboards."""
    return f"{record.game}, {len(record.seats)} players"


def by_option(record: GameRecord) -> str:
    """Return game and options, for separate leaderboards."""
    settings = ", ".join(f"{name}={value}" for name, value in sorted(record.options.items()) if value != "")
    return f"{record.game}, {settings}" if settings else record.game
