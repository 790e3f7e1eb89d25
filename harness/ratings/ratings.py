"""The ratings of a game: TrueSkill, and sums for each deal as evidence, taken in match by match.

Intervals respect that a deal is one piece of luck. Memory hardly grows with the run (a number for each deal): past
MOST_DEALS the sums of neighbouring deals are put together. A block of two deals is as independent of the next block
as one deal is of another, only fewer of them are left - still hundreds.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from harness.core.errors import StoreError
from harness.core.types import GameRecord
from harness.ratings.skill_update import DRAW_PROBABILITY, MU, SIGMA, draw_margin, order, rate

MOST_DEALS = 512
K = TypeVar("K")

MATCHES, SCORE, AHEAD, CHOSEN = range(4)
"""Where a bot's sums of a deal stand: matches, scores, shares of the table finished ahead of, stages won."""
OVERALL = "overall"

MOST_SPELT = 8
"""Up to so many tied bots every order of them is spelt out: no bundled game seats more. Their number doubles with each
bot; beyond it a stage among tied bots is a `WideStage`."""

DRAW_PAIRS = 10
"""The draw probability starts as if it had been seen in this many pairs; from there the records say what it is."""


class WideStage(NamedTuple):
    """ "Who is the best?" among `others` and any `left` of those `tied`: bits for bots, as in the key of a stage."""

    others: int
    tied: int
    left: int


Stage = int | WideStage


class DealSums:
    """The sums of one deal, or of neighbouring deals put together."""

    __slots__ = ("bots", "seats", "stages")

    def __init__(self) -> None:
        self.bots: dict[int, list[float]] = {}
        self.seats: dict[tuple[int, int], list[float]] = {}
        """(players, seat) -> matches, scores, shares ahead, wins"""
        self.stages: dict[Stage, float] = {}
        """A stage is "who is the best of these?"; the key has a bit for each bot left. See plackett_luce.py."""

    def absorb(self, other: DealSums) -> None:
        """Takes in the sums of another deal."""
        _absorb(self.bots, other.bots)
        _absorb(self.seats, other.seats)
        for key, count in other.stages.items():
            self.stages[key] = self.stages.get(key, 0.0) + count


def _absorb(mine: dict[K, list[float]], theirs: dict[K, list[float]]) -> None:
    for key, sums in theirs.items():
        mine[key] = [a + b for a, b in zip(mine[key], sums, strict=True)] if key in mine else sums


class Evidence:
    """The sums of all deals, and how often each bot finished ahead of each other."""

    __slots__ = ("_numbers", "_shift", "ahead", "deals", "met")

    def __init__(self) -> None:
        self.deals: list[DealSums] = []
        self.ahead: dict[tuple[int, int], float] = {}
        self.met: dict[tuple[int, int], int] = {}
        self._numbers: dict[int, int] = {}
        self._shift = 0

    def deal(self, seed: int) -> DealSums:
        """The sums of the deal with this seed."""
        number = self._numbers.setdefault(seed, len(self._numbers))
        if number >> self._shift >= len(self.deals):
            if len(self.deals) == MOST_DEALS:
                self._halve()
            if number >> self._shift == len(self.deals):
                self.deals.append(DealSums())
        return self.deals[number >> self._shift]

    def _halve(self) -> None:
        for left, right in zip(self.deals[::2], self.deals[1::2], strict=True):
            left.absorb(right)
        self.deals = self.deals[::2]
        self._shift += 1

    def add(
        self,
        seed: int,
        bots: Sequence[int],
        ranks: tuple[int, ...],
        scores: Sequence[int],
        adjusted: Sequence[float] | None = None,
    ) -> None:
        """Takes in a match of different bots, given by number; `adjusted` are shares of the table without luck."""
        deal, players = self.deal(seed), len(bots)
        shares, winners = shares_ahead(ranks), ranks.count(1)
        for seat, bot in enumerate(bots):
            sums = deal.bots.get(bot)
            if sums is None:
                sums = deal.bots[bot] = [0.0] * 4
            sums[MATCHES] += 1
            sums[SCORE] += scores[seat]
            sums[AHEAD] += (adjusted or shares)[seat]
            place = deal.seats.get((players, seat))
            if place is None:
                place = deal.seats[players, seat] = [0.0] * 4
            place[0] += 1
            place[1] += scores[seat]
            place[2] += shares[seat]
            if ranks[seat] == 1:
                place[3] += 1 / winners
        self._add_stages(deal, bots, ranks)
        ahead, met = self.ahead, self.met
        for left, right, share in pairs(ranks):
            key = bots[left], bots[right]
            met[key] = met.get(key, 0) + 1
            ahead[key] = ahead.get(key, 0.0) + share

    def have_met(self, one: int, other: int) -> bool:
        """Whether these two have ever sat at one table."""
        return (one, other) in self.met or (other, one) in self.met

    def _add_stages(self, deal: DealSums, bots: Sequence[int], ranks: tuple[int, ...]) -> None:
        """Best of all, best of the rest, ...; tied bots count as every order of them, with equal weights."""
        stages, sums = deal.stages, deal.bots
        seats, ties = order(ranks)
        left = 0
        for bot in bots:
            left |= 1 << bot
        if not any(ties):
            for seat in seats[:-1]:
                stages[left] = stages.get(left, 0.0) + 1
                sums[bots[seat]][CHOSEN] += 1
                left ^= 1 << bots[seat]
            return
        for rank in sorted(set(ranks)):
            tied = [bot for bot, its in zip(bots, ranks, strict=True) if its == rank]
            if len(tied) > MOST_SPELT:
                left = _add_wide(stages, sums, left, tied)
                continue
            for gone in range(len(tied)):
                ways = list(combinations(tied, gone))
                for way in ways:
                    rest = left
                    for bot in way:
                        rest ^= 1 << bot
                    if rest & (rest - 1):  # the last bot alone is no choice
                        stages[rest] = stages.get(rest, 0.0) + 1 / len(ways)
                        for bot in set(tied) - set(way):
                            sums[bot][CHOSEN] += 1 / len(ways) / (len(tied) - gone)
            for bot in tied:
                left ^= 1 << bot

    def finished_ahead(self, one: int, other: int) -> tuple[float, int]:
        """How often one bot finished ahead of another (a tie is half of one), and how often they met."""
        met = self.met.get((one, other), 0) + self.met.get((other, one), 0)
        return self.ahead.get((one, other), 0.0) + self.met.get((other, one), 0) - self.ahead.get(
            (other, one), 0.0
        ), met


def _add_wide(stages: dict[Stage, float], sums: dict[int, list[float]], left: int, tied: Sequence[int]) -> int:
    """The stages of many tied bots: each of them is as likely as another to be chosen; returns who is left."""
    bits = sum(1 << bot for bot in tied)
    others = left ^ bits
    for remaining in range(len(tied), 0 if others else 1, -1):
        stage = left if remaining == len(tied) else WideStage(others, bits, remaining)
        stages[stage] = stages.get(stage, 0.0) + 1
        for bot in tied:
            sums[bot][CHOSEN] += 1 / len(tied)
    return others


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


@dataclass(slots=True)
class BotRating:
    """One bot's line of a leaderboard."""

    bot: str
    number: int
    """Bots are numbered in the order of their first match; `Evidence` knows them by number."""
    mu: float = MU
    sigma: float = SIGMA
    matches: int = 0
    wins: float = 0.0
    rank_sum: int = 0
    score_sum: int = 0
    decisions: int = 0
    time: float = 0.0
    faults: int = 0
    """Matches in which it failed."""
    disqualified: int = 0
    """Matches that it lost without playing, because it had failed too often before."""

    @property
    def rating(self) -> float:
        """A rating that the bot is very probably worth: mu - 3 sigma."""
        return self.mu - 3 * self.sigma


@dataclass(slots=True)
class Ratings:
    """Ratings of one game, or of several together. The same records in the same order give the same ratings.

    A bot does not learn between the matches of a run, so skills do not drift: TrueSkill's tau is 0. A match in which a
    bot meets itself, or nobody, is counted but says nothing about who is better: it is not rated.
    """

    lines: dict[str, BotRating] = field(default_factory=dict)
    evidence: Evidence = field(default_factory=Evidence)
    matches: int = 0
    pairs: int = 0
    """Neighbours in the final order of a match, for the draw probability."""
    ties: int = 0

    def add(self, record: GameRecord, adjusted: Sequence[float] | None = None) -> None:
        """Takes in one match; `adjusted` are the shares of the table that its seats finished ahead of, without luck."""
        seats, ranks = record.seats, record.ranks
        if not len(seats) == len(ranks) == len(record.scores) == len(record.decisions):
            raise StoreError(
                f"The record {record.id} does not have a rank, a score and decisions for each of its seats."
            )
        self.matches += 1
        lines = [self.lines.get(name) or self._new(name) for name in seats]
        winners = ranks.count(1)
        for seat, line in enumerate(lines):
            line.matches += 1
            line.rank_sum += ranks[seat]
            line.score_sum += record.scores[seat]
            line.decisions += record.decisions[seat]
            if ranks[seat] == 1:
                line.wins += 1 / winners
        if record.time:
            for line, spent in zip(lines, record.time, strict=False):
                line.time += spent
        if record.faults:
            failed = {fault.seat for fault in record.failures}
            out = {fault.seat for fault in record.faults if fault.kind == "disqualified"}
            for seat, line in enumerate(lines):
                line.faults += seat in failed
                line.disqualified += seat in out
        if len(set(seats)) == len(seats) > 1:
            self._rate(lines, record, adjusted)

    def _rate(self, lines: list[BotRating], record: GameRecord, adjusted: Sequence[float] | None) -> None:
        ranks = record.ranks
        margin = draw_margin(self.draw_probability)
        rated = rate([(line.mu, line.sigma) for line in lines], ranks, margin)
        for line, (mu, sigma) in zip(lines, rated, strict=True):
            line.mu, line.sigma = mu, sigma
        ties = order(ranks)[1]
        self.pairs += len(ties)
        self.ties += sum(ties)
        self.evidence.add(record.seed, [line.number for line in lines], ranks, record.scores, adjusted)

    def _new(self, name: str) -> BotRating:
        line = self.lines[name] = BotRating(name, len(self.lines))
        return line

    @property
    def draw_probability(self) -> float:
        """How often neighbours tied so far."""
        return (self.ties + DRAW_PAIRS * DRAW_PROBABILITY) / (self.pairs + DRAW_PAIRS)

    def standing(self) -> list[BotRating]:
        """The lines, best rating first."""
        return sorted(self.lines.values(), key=lambda line: (-line.rating, line.bot))


def by_game(record: GameRecord) -> str:
    """Ratings for each game: what a match counts for, as a rule."""
    return record.game


def by_players(record: GameRecord) -> str:
    """Ratings for each number of players."""
    return f"{record.game}, {len(record.seats)} players"


def by_option(record: GameRecord) -> str:
    """Ratings for each setting of a game's options."""
    settings = ", ".join(f"{name}={value}" for name, value in sorted(record.options.items()) if value != "")
    return f"{record.game}, {settings}" if settings else record.game


class RatingSet:
    """Ratings for each game, and over all once there are two. Feed it matches as they end, or all at once."""

    def __init__(self, by: Callable[[GameRecord], str] = by_game) -> None:
        self._by = by
        self._ratings: dict[str, Ratings] = {}
        self._overall: Ratings | None = None

    def add(self, record: GameRecord, adjusted: Sequence[float] | None = None) -> None:
        """Takes in one match, perhaps with its shares without luck."""
        name = self._by(record)
        ratings = self._ratings.get(name)
        if ratings is None:
            if len(self._ratings) == 1:  # so far the only game is all there is
                self._overall = deepcopy(next(iter(self._ratings.values())))
            ratings = self._ratings[name] = Ratings()
        ratings.add(record, adjusted)
        if self._overall is not None:
            self._overall.add(record, adjusted)

    def rated(self) -> dict[str, Ratings]:
        """The ratings in the order of their names, and those over all last."""
        rated = dict(sorted(self._ratings.items()))
        return rated if self._overall is None else {**rated, OVERALL: self._overall}


def rate_records(
    records: Iterable[GameRecord],
    by: Callable[[GameRecord], str] = by_game,
    adjusted: Mapping[str, Sequence[float]] | None = None,
) -> dict[str, Ratings]:
    """Ratings for each game (or what else `by` tells apart), and over all if there are several.

    `adjusted` has the shares of matches without luck, by their ids (luck_adjustment.py).
    """
    rating_set = RatingSet(by)
    for record in in_schedule_order(records):
        rating_set.add(record, adjusted[record.id] if adjusted else None)
    return rating_set.rated()


def in_schedule_order(records: Iterable[GameRecord]) -> Generator[GameRecord, None, None]:
    """The records in the order in which they are rated: that of the schedule, whatever the order they ended in.

    They come nearly in order, so only those that are early wait in memory, and without their actions.
    """
    waiting: dict[int, GameRecord] = {}
    due = 0
    for record in records:
        if record.index < due or record.index in waiting:
            raise StoreError(
                f"The record {record.id} has place {record.index} of the schedule, and so has another one: a match is "
                f"rated once, and only together with its own run. 'arena verify' says which records are not the run's."
            )
        if record.index > due:
            waiting[record.index] = replace(record, actions=())
            continue
        yield record
        due += 1
        while due in waiting:
            yield waiting.pop(due)
            due += 1
    for index in sorted(waiting):
        yield waiting[index]
