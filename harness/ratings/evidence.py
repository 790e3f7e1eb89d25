"""What the matches of a game say, deal by deal: kept so that any claim can be made from it.

A deal is one piece of luck, so claims compare deals with deals. Deals of which the same tables played the same number
of matches are alike: their spread is luck and nothing else. What a deal said is a few numbers for each of its bots, in
arrays: a run of a million matches takes some tens of megabytes.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from harness.ratings.intervals import Interval, mean_of, share_of
from harness.ratings.stages import Stages

OPEN_DEALS = 64
"""Deals that may still get matches. In schedule order a deal is complete when the next begins; matches that are rated
as they end come a little out of order."""


class DealKind(NamedTuple):
    """Which tables played how many matches of a deal."""

    bots: tuple[int, ...]
    tables: tuple[tuple[tuple[int, ...], int], ...]

    @property
    def packed(self) -> bytes:
        """The same in few bytes: there may be as many kinds as deals."""
        return array("I", [part for table, count in self.tables for part in (len(table), count, *table)]).tobytes()


@lru_cache(maxsize=10_000)
def unpacked(packed: bytes) -> DealKind:
    """The kind of deal that was packed into these bytes."""
    numbers = array("I")
    numbers.frombytes(packed)
    tables, at = [], 0
    while at < len(numbers):
        end = at + 2 + numbers[at]
        tables.append((tuple(numbers[at + 2 : end]), numbers[at + 1]))
        at = end
    bots = tables[0][0] if len(tables) == 1 else tuple(sorted({bot for table, _ in tables for bot in table}))
    return DealKind(bots, tuple(tables))


class SeatSums:
    """What one seat at tables of one size did, over deals."""

    __slots__ = ("ahead", "counts", "deals", "matches", "score", "wins")

    def __init__(self) -> None:
        self.deals = 0
        self.matches = self.wins = self.counts = 0.0
        """`counts` is the sum of the squares of the matches of each deal."""
        self.score = [0.0, 0.0, 0.0]
        """The sum, its products with the matches of each deal, and its squares."""
        self.ahead = [0.0, 0.0, 0.0]

    def add(self, matches: float, score: float, ahead: float, wins: float) -> None:
        """Takes in what the seat did in one deal."""
        self.deals += 1
        self.matches += matches
        self.wins += wins
        self.counts += matches * matches
        for sums, total in ((self.score, score), (self.ahead, ahead)):
            sums[:] = sums[0] + total, sums[1] + total * matches, sums[2] + total * total

    @property
    def mean_score(self) -> Interval:
        """Its mean score; the deals are what differs by luck."""
        return mean_of(self.score[0] / self.matches, self._variance(self.score), self.deals - 1)

    @property
    def share_ahead(self) -> Interval:
        """The share of the table that it finishes ahead of."""
        return share_of(self.ahead[0] / self.matches, self._variance(self.ahead), self.deals - 1, self.matches)

    def _variance(self, sums: Sequence[float]) -> float:
        if self.deals < 2:
            return 0.0
        value = sums[0] / self.matches
        squares = max(0.0, sums[2] - 2 * value * sums[1] + value**2 * self.counts)
        return squares * self.deals / (self.deals - 1) / self.matches**2


class OpenDeal:
    """A deal that may still get matches."""

    __slots__ = ("bots", "seats", "tables")

    def __init__(self) -> None:
        self.bots: dict[int, list[float]] = {}
        """Bot -> scores, and by how much its shares ahead are above one half."""
        self.seats: dict[int, list[list[float]]] = {}
        """Players -> for each seat matches, scores, shares ahead, wins."""
        self.tables: dict[tuple[int, ...], int] = {}

    @property
    def kind(self) -> DealKind:
        """Which tables have played it."""
        if len(self.tables) == 1:
            ((table, count),) = self.tables.items()
            return DealKind(table, ((table, count),))
        return DealKind(tuple(sorted(self.bots)), tuple(sorted(self.tables.items())))

    def values(self, bots: Iterable[int]) -> list[float]:
        """Scores and margins of these bots, one after the other."""
        return [value for bot in bots for value in self.bots[bot]]


class Evidence:
    """What all deals say, how often each bot finished ahead of each other, and who was best of whom."""

    __slots__ = ("_kinds", "_names", "_open", "_seats", "_values", "_which", "meetings", "stages")

    def __init__(self) -> None:
        self.meetings: dict[tuple[int, int], list[float]] = {}
        """(one, other) -> matches, in how many of them the one finished ahead, and their weight: at a table of K each
        of a bot's opponents has a weight of 1 / (K - 1)."""
        self.stages = Stages()
        self._open: dict[int, OpenDeal] = {}
        self._kinds: list[bytes] = []
        self._names: dict[bytes, int] = {}
        self._which = array("l")
        self._values = array("d")
        self._seats: dict[tuple[int, int], SeatSums] = {}

    def add(
        self,
        seed: int,
        bots: Sequence[int],
        ranks: tuple[int, ...],
        scores: Sequence[int],
        shares: Sequence[float] | None = None,
    ) -> None:
        """Takes in a match of different bots, given by number; `shares` stand in for the shares ahead of the ranks."""
        deal = self._open.get(seed)
        if deal is None:
            if len(self._open) >= OPEN_DEALS:
                self._close(self._open.pop(next(iter(self._open))))
            deal = self._open[seed] = OpenDeal()
        players = len(bots)
        its, places = deal.bots, deal.seats.get(players)
        if places is None:
            places = deal.seats[players] = [[0.0] * 4 for _ in bots]
        results = seat_results(ranks) if shares is None else _adjusted(seat_results(ranks), shares)
        for bot, place, score, (margin, ahead, win) in zip(bots, places, scores, results, strict=True):
            sums = its.get(bot)
            if sums is None:
                its[bot] = [score, margin]
            else:
                sums[0] += score
                sums[1] += margin
            place[0] += 1
            place[1] += score
            place[2] += ahead
            if win:
                place[3] += win
        table = tuple(sorted(bots))
        deal.tables[table] = deal.tables.get(table, 0) + 1
        self.stages.add(bots, ranks)
        meetings, weight = self.meetings, 1 / (players - 1)
        for left, right, share in pairs(ranks):
            key = bots[left], bots[right]
            met = meetings.get(key)
            if met is None:
                meetings[key] = [1, share, weight]
            else:
                met[0] += 1
                met[1] += share
                met[2] += weight

    def _close(self, deal: OpenDeal) -> None:
        kind = deal.kind
        self._which.append(self._number(kind))
        self._values.extend(deal.values(kind.bots))
        _add_seats(self._seats, deal)

    def _number(self, kind: DealKind) -> int:
        packed = kind.packed
        number = self._names.get(packed)
        if number is None:
            number = self._names[packed] = len(self._kinds)
            self._kinds.append(packed)
        return number

    def deals(self) -> Iterator[tuple[int, DealKind, Sequence[float]]]:
        """Each deal: the number of its kind, the kind, and for each of its bots the sum of the scores and that of the
        shares above one half."""
        at, values, kinds = 0, self._values, self._kinds
        for number in self._which:
            kind = unpacked(kinds[number])
            end = at + 2 * len(kind.bots)
            yield number, kind, values[at:end]
            at = end
        for deal in self._open.values():
            kind = deal.kind
            yield self._number(kind), kind, deal.values(kind.bots)

    def kinds(self) -> Counter[int]:
        """How many deals there are of each kind, by its number."""
        found = Counter(self._which)
        found.update(self._number(deal.kind) for deal in self._open.values())
        return found

    def deal_count(self) -> int:
        """How many deals there are."""
        return len(self._which) + len(self._open)

    def seats(self) -> dict[tuple[int, int], SeatSums]:
        """What each seat did: (players, seat) -> its sums."""
        found: dict[tuple[int, int], SeatSums] = {}
        for key, sums in self._seats.items():
            found[key] = copy = SeatSums()
            for name in SeatSums.__slots__:
                value = getattr(sums, name)
                setattr(copy, name, list(value) if isinstance(value, list) else value)
        for deal in self._open.values():
            _add_seats(found, deal)
        return dict(sorted(found.items()))

    def have_met(self, one: int, other: int) -> bool:
        """Whether these two have ever sat at one table."""
        return (one, other) in self.meetings or (other, one) in self.meetings

    def finished_ahead(self, one: int, other: int) -> tuple[float, int]:
        """How often one bot finished ahead of another (a tie is half of one), and how often they met."""
        met, ahead, _ = self.meetings.get((one, other), (0, 0.0, 0.0))
        against, behind, _ = self.meetings.get((other, one), (0, 0.0, 0.0))
        return ahead + against - behind, int(met + against)


def _add_seats(into: dict[tuple[int, int], SeatSums], deal: OpenDeal) -> None:
    for players, places in deal.seats.items():
        for seat, (matches, score, ahead, wins) in enumerate(places):
            sums = into.get((players, seat))
            if sums is None:
                sums = into[players, seat] = SeatSums()
            sums.add(matches, score, ahead, wins)


SeatResult = tuple[float, float, float]
"""Of a seat in a match: its share ahead above one half, that share itself, and its part of the win."""


@lru_cache(maxsize=100_000)
def seat_results(ranks: tuple[int, ...]) -> tuple[SeatResult, ...]:
    """What each seat got."""
    win = 1 / max(1, ranks.count(1))
    return tuple(
        (share - 0.5, share, win if rank == 1 else 0.0) for share, rank in zip(shares_ahead(ranks), ranks, strict=True)
    )


def _adjusted(results: Iterable[SeatResult], shares: Sequence[float]) -> list[SeatResult]:
    """The same with other shares for what is said about `ahead`."""
    return [(share - 0.5, ahead, win) for (_, ahead, win), share in zip(results, shares, strict=True)]


@lru_cache(maxsize=100_000)
def shares_ahead(ranks: tuple[int, ...]) -> tuple[float, ...]:
    """For each seat the share of the other seats that it finished ahead of; a tie is half of one."""
    others = max(1, len(ranks) - 1)
    return tuple((sum(rank > mine for rank in ranks) + 0.5 * (ranks.count(mine) - 1)) / others for mine in ranks)


@lru_cache(maxsize=100_000)
def pairs(ranks: tuple[int, ...]) -> tuple[tuple[int, int, float], ...]:
    """Each pair of seats, with 1 if the first of them finished ahead, 0 if behind, 1/2 for a tie."""
    return tuple(
        (one, other, 0.5 + 0.5 * ((ranks[one] < ranks[other]) - (ranks[one] > ranks[other])))
        for one, other in combinations(range(len(ranks)), 2)
    )
