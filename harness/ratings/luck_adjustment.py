"""Luck taken out of all matches of a run, and the leaderboards that come of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import repeat
from math import isfinite
from multiprocessing import get_context
from typing import Any

from harness.core.game import Game
from harness.core.types import GameRecord
from harness.ratings.evidence import shares_ahead
from harness.ratings.expectations import EVERYBODY, Expectations
from harness.ratings.leaderboard import Leaderboard
from harness.ratings.luck import luck_of
from harness.ratings.value_function import ValueFunction, Valuer

FIRST_TRUST = 0.8
"""How much of the luck that a value function sees is taken out before there is anything to go by."""
TRUST_WEIGHT = 2.0
"""How firmly: as if so much of it had been seen, in squares of shares."""
BOT_WEIGHT = 1.0
"""The same for one bot, before it is thought to be unlike the others."""
MOST_TRUST = 1.5
"""A value function that sees too little luck is not taken at more than this."""
FEW = 64
"""So many matches are done in this process: others take a moment to start."""
A_TASK = 8
"""Matches that a worker is given at a time."""


Luck = Mapping[str, Sequence[float]]
"""Phase -> what luck gave to each seat after such choices."""
Kind = tuple[str, str]
"""A phase, and a bot or EVERYBODY."""


class Trust:
    """How much of the luck that a value function sees should be taken out, as far as other, earlier deals tell.

    If it sees more luck than there was, taking out a part is better, and nothing is best if it is no good at all. What
    it sees may be better after one kind of choice than after another, and for one bot than for another: who always wins
    has no luck. Since the parts are fixed before the deal in question, taking them out moves no mean either.
    """

    def __init__(self) -> None:
        self._sums: dict[Kind, list[float]] = {}
        self._deals: dict[int, dict[Kind, list[float]]] = {}

    def part(self, seed: int, phase: str, bot: str) -> float:
        """How much of what this bot's luck seems to be after such a choice: 0 is nothing, 1 all of it."""
        usual = self._part(seed, (phase, EVERYBODY), FIRST_TRUST, TRUST_WEIGHT)
        return self._part(seed, (phase, bot), usual, BOT_WEIGHT)

    def _part(self, seed: int, kind: Kind, otherwise: float, weight: float) -> float:
        with_result, squares = self._sums.get(kind, (0.0, 0.0))
        here = self._deals.get(seed, {}).get(kind, (0.0, 0.0))
        part = (with_result - here[0] + weight * otherwise) / (squares - here[1] + weight)
        return min(MOST_TRUST, max(0.0, part))

    def luck(self, record: GameRecord, luck: Luck) -> list[float]:
        """What should be taken out of each seat's result of a match."""
        return [
            sum([self.part(record.seed, phase, bot) * given[seat] for phase, given in luck.items()])
            for seat, bot in enumerate(record.seats)
        ]

    def add(self, record: GameRecord, luck: Luck, surprise: Sequence[float]) -> None:
        """Takes in a match: the luck that was seen, and each seat's result less what was expected."""
        deal = self._deals.setdefault(record.seed, {})
        for phase, given in luck.items():
            for seat, bot in enumerate(record.seats):
                with_result, squares = given[seat] * surprise[seat], given[seat] ** 2
                for sums in (self._sums, deal):
                    for kind in ((phase, EVERYBODY), (phase, bot)):
                        both = sums.setdefault(kind, [0.0, 0.0])
                        both[0] += with_result
                        both[1] += squares


@dataclass(frozen=True, slots=True)
class LuckAdjustment:
    """The results of matches without their luck."""

    shares: Mapping[str, Sequence[float]]
    """Match -> for each seat the share of the others that it finished ahead of, less its luck."""
    functions: Mapping[str, ValueFunction]
    """Game -> by what its luck was judged."""
    doubts: Mapping[str, str] = field(default_factory=dict)
    """Game -> why its value function may take out less than it could."""


def take_luck_out(
    records: Iterable[GameRecord],
    games: Mapping[str, Game[Any]],
    functions: Mapping[str, ValueFunction],
    workers: int = 1,
    step: Callable[[], None] = lambda: None,
) -> LuckAdjustment:
    """The results of these matches without their luck, whatever the number of workers; `step` is called for each."""
    ordered = sorted(records, key=lambda record: record.index)
    expectations = {name: Expectations() for name in games}
    expected = [expectations[record.game].before(record) for record in ordered]
    trust = {name: Trust() for name in games}
    shares = {}
    for record, before, luck in zip(
        ordered, expected, _all_luck(ordered, expected, games, functions, workers), strict=True
    ):
        played, judge = shares_ahead(record.ranks), trust[record.game]
        taken = judge.luck(record, luck)
        shares[record.id] = tuple([share - mine for share, mine in zip(played, taken, strict=True)])
        judge.add(record, luck, [share - was for share, was in zip(played, before, strict=True)])
        step()
    doubts = {name: function.doubts(games[name]) for name, function in functions.items()}
    return LuckAdjustment(shares, functions, {name: doubt for name, doubt in doubts.items() if doubt})


def _all_luck(
    records: Sequence[GameRecord],
    expected: Sequence[Sequence[float]],
    games: Mapping[str, Game[Any]],
    functions: Mapping[str, ValueFunction],
    workers: int,
) -> Iterator[Luck]:
    """What luck gave to the seats of each match, in the order of the records."""
    if workers < 2 or len(records) < FEW:
        yield from map(_luck, records, expected, repeat(_Judges(games, functions)))
        return
    pool = ProcessPoolExecutor(workers, get_context("fork"), _start_worker, (games, functions))
    try:
        yield from pool.map(_luck_in_worker, records, expected, chunksize=A_TASK)
    finally:
        pool.shutdown(cancel_futures=True)


class _Judges:
    """The games and who judges their luck, made ready once for each process."""

    def __init__(self, games: Mapping[str, Game[Any]], functions: Mapping[str, ValueFunction]) -> None:
        self.games = games
        self.valuers = {name: Valuer(function) for name, function in functions.items()}


_here: list[_Judges] = []


def _start_worker(games: Mapping[str, Game[Any]], functions: Mapping[str, ValueFunction]) -> None:
    _here[:] = [_Judges(games, functions)]


def _luck_in_worker(record: GameRecord, expected: Sequence[float]) -> Luck:
    return _luck(record, expected, _here[0])


def _luck(record: GameRecord, expected: Sequence[float], judges: _Judges) -> Luck:
    valuer = judges.valuers[record.game]
    return luck_of(judges.games[record.game], record, valuer, expected, phases=valuer.function.phases)


def noted(
    plain: Sequence[Leaderboard], adjusted: Sequence[Leaderboard], adjustment: LuckAdjustment, games: Mapping[str, str]
) -> list[Leaderboard]:
    """The adjusted leaderboards with a note that says so and what it was worth; `games` are theirs, by title."""
    return [
        replace(board, notes=[*board.notes, _note(saving(before, board), adjustment, games[board.title])])
        for before, board in zip(plain, adjusted, strict=True)
    ]


def saving(plain: Leaderboard, adjusted: Leaderboard) -> float | None:
    """How many times as many matches would have given the adjusted intervals of `ahead` without adjustment."""
    reaches = [
        (before.ahead.reach, after.ahead.reach)
        for before, after in zip(
            sorted(plain.standings, key=lambda one: one.line.bot),
            sorted(adjusted.standings, key=lambda one: one.line.bot),
            strict=True,
        )
        if before.ahead and after.ahead and isfinite(before.ahead.reach) and after.ahead.reach
    ]
    squares = sum([after**2 for _, after in reaches])
    return sum([before**2 for before, _ in reaches]) / squares if squares else None


def _note(times: float | None, adjustment: LuckAdjustment, game: str) -> str:
    functions = adjustment.functions
    judged = [
        f"{function.digest} for {name}, learned from {function.lesson.matches:,} other matches"
        for name, function in functions.items()
        if game in ("", name)
    ]
    note = (
        "Luck-adjusted: `ahead`, its interval and who is told apart by it are without what luck gave; everything else "
        f"is as played. Value function {'; '.join(judged)}."
    )
    if times is not None:
        note += (
            f" The intervals are as narrow as those of {times:.2f} times as many matches."
            if times > 1
            else f" It did not pay here: the intervals are those of {times:.2f} times as many matches."
        )
    return " ".join([note, *[doubt for name, doubt in adjustment.doubts.items() if game in ("", name)]])
