"""Take out of each result what luck contributed."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import combinations, repeat
from math import isfinite
from multiprocessing import get_context
from typing import Any, Protocol

from harness.core.game import Game, State
from harness.core.records import GameRecord, shares_ahead
from harness.core.rng import Chance, Part
from harness.core.value_function import ValueFunction, Valuer
from harness.match.replay import Replay
from harness.ratings.evidence import pairs
from harness.ratings.leaderboard import Leaderboard

# Luck taken out of results: what a match gave to each seat, less what its luck gave.
#
# Wherever luck was drawn, the match is taken back to the moment before, and the same action is carried out with other
# luck, several times. What a value function makes of the actual outcome, less what it makes of the others on average,
# is the luck of that moment. Actual and other outcomes are drawn alike, so this difference is nought on average,
# whatever the value function: taking it out moves no mean. A good value function makes results vary less, and that is
# all it does. (Burch, Schmid, Moravcik, Morrill, Bowling: AIVAT, 2018, without its part for known strategies.)


ALTERNATIVES = 12
"""How often each piece of luck is drawn anew: the mean of so many stands for all that could have been."""


DEAL = "deal"
"""The phase before the first choice."""


class Judge(Protocol):
    """Who guesses how a match will end, from a state of the game alone: never from the luck behind it."""

    def shares(self, state: State[Any], expected: Sequence[float]) -> Sequence[float]:
        """For each seat the share of the others that it will finish ahead of, if so much was expected beforehand."""


class PlayedLuck(Chance):
    """The luck of a match as it was; it notes the names that it is drawn by."""

    __slots__ = ("fresh", "past")

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.past: set[tuple[Part, ...]] = set()
        self.fresh: list[tuple[Part, ...]] = []
        """What was drawn since `settle`."""

    def number_for(self, where: tuple[Part, ...]) -> int:
        """As of any luck."""
        self.fresh.append(where)
        return super().number_for(where)

    def settle(self) -> None:
        """What was drawn so far is the past from now on."""
        self.past.update(self.fresh)
        self.fresh.clear()


class OtherLuck(Chance):
    """Luck that might have come instead: other numbers, but for names that were drawn in the past."""

    __slots__ = ("_name", "_played")

    def __init__(self, seed: int, played: PlayedLuck, *name: Part) -> None:
        super().__init__(seed)
        self._played, self._name = played, name

    def number_for(self, where: tuple[Part, ...]) -> int:
        """A number of its own, or that of the past."""
        if where in self._played.past:
            return Chance.number_for(self._played, where)
        return super().number_for(self._name + where)


class LuckyMoment:
    """A moment of a match at which luck was drawn: the state that came of it, and states that might have come."""

    __slots__ = ("actual", "others", "phase")

    def __init__(self, phase: str, actual: State[Any], others: Sequence[State[Any]]) -> None:
        self.phase = phase
        """What had been chosen; DEAL at the beginning."""
        self.actual, self.others = actual, others

    def worth(self, judge: Judge, expected: Sequence[float]) -> list[float]:
        """What the luck was worth to each seat: nought on average."""
        guesses = [judge.shares(other, expected) for other in self.others]
        actual = judge.shares(self.actual, expected)
        return [here - sum(there) / len(there) for here, *there in zip(actual, *guesses, strict=True)]


def moments(
    game: Game[Any], record: GameRecord, alternatives: int = ALTERNATIVES, phases: Container[str] | None = None
) -> Iterator[LuckyMoment]:
    """The moments of a recorded match at which luck was drawn, the deal first; look at each before the next.

    With `phases`, only those after such choices. Whether a moment is one is settled before its luck: a step is the same
    up to its first draw, whatever is drawn.
    """
    luck = PlayedLuck(record.seed)
    seed = Chance(record.seed).derive("luck taken out", record.id)
    replay = Replay(game, record, luck)
    state, players = replay.state, len(record.seats)
    state.log = None
    if phases is None or DEAL in phases:
        yield LuckyMoment(DEAL, state, [game.new(players, OtherLuck(seed, luck, 0, n)) for n in range(alternatives)])
    luck.settle()
    number = 0
    while not replay.over:
        if phases is not None and state.phase not in phases:
            replay.step()
            luck.settle()
            continue
        before, unseen, action = state.clone(), state.unseen(), replay.next_action()
        replay.step()
        if luck.fresh or state.unseen() != unseen:
            number += 1
            others = [before.redealt(OtherLuck(seed, luck, number, n)) for n in range(alternatives)]
            for other in others:
                other.step(action)
            yield LuckyMoment(before.phase, state, others)
            luck.settle()
    replay.check_end()


def luck_of(
    game: Game[Any],
    record: GameRecord,
    judge: Judge,
    expected: Sequence[float],
    alternatives: int = ALTERNATIVES,
    phases: Container[str] | None = None,
) -> dict[str, list[float]]:
    """What luck gave to each seat of a match, in shares of the table, by what had been chosen before it: all of it is
    nought on average. With `phases`, only that after such choices."""
    total: dict[str, list[float]] = {}
    for moment in moments(game, record, alternatives, phases):
        worth = moment.worth(judge, expected)
        so_far = total.get(moment.phase)
        total[moment.phase] = [a + b for a, b in zip(so_far, worth, strict=True)] if so_far else worth
    return total


# What each seat of a match could be expected to do before it began, from how its bots fared in earlier deals.
#
# A value function that takes all bots for equal would call it luck that the better one wins. What is expected comes
# from earlier deals alone, never from the deal in question: so it is fixed before the luck that it helps to judge is
# drawn.


DOUBT = 4.0
"""A pair starts as if it had met so often already, with the result that their other matches suggest."""
PULL = 0.75
"""How far a difference of two bots against everybody carries over to the two of them."""

Sums = dict[tuple[str, str], list[float]]
"""Two bots -> how often they met, and how often the first one finished ahead."""
EVERYBODY = ""


class Expectations:
    """Feed it matches in the order of the schedule, and ask before each."""

    def __init__(self) -> None:
        self._sums: Sums = {}
        self._deals: dict[int, Sums] = {}

    def shares(self, seed: int, seats: Sequence[str]) -> list[float]:
        """For each seat the share of the others that it should finish ahead of, as far as other deals tell."""
        deal = self._deals.get(seed, {})
        levels = [self._share(deal, bot, EVERYBODY, 0.5) for bot in seats]
        totals = [0.0] * len(seats)
        for one, other in combinations(range(len(seats)), 2):
            suggested = min(1.0, max(0.0, 0.5 + PULL * (levels[one] - levels[other])))
            share = self._share(deal, seats[one], seats[other], suggested)
            totals[one] += share
            totals[other] += 1 - share
        return [total / max(1, len(seats) - 1) for total in totals]

    def _share(self, deal: Sums, one: str, other: str, suggested: float) -> float:
        if one == other:
            return 0.5
        met, ahead = self._sums.get((one, other), (0.0, 0.0))
        met_here, ahead_here = deal.get((one, other), (0.0, 0.0))
        return (ahead - ahead_here + DOUBT * suggested) / (met - met_here + DOUBT)

    def add(self, seed: int, seats: Sequence[str], ranks: tuple[int, ...]) -> None:
        """Takes in a match of this deal."""
        deal = self._deals.setdefault(seed, {})
        for left, right, share in pairs(ranks):
            one, other = seats[left], seats[right]
            if one != other:
                for key, ahead in (
                    ((one, other), share),
                    ((other, one), 1 - share),
                    ((one, EVERYBODY), share),
                    ((other, EVERYBODY), 1 - share),
                ):
                    for sums in (self._sums, deal):
                        both = sums.setdefault(key, [0.0, 0.0])
                        both[0] += 1
                        both[1] += ahead

    def before(self, record: GameRecord) -> list[float]:
        """What could be expected of the seats of this match, which is then taken in."""
        shares = self.shares(record.seed, record.seats)
        self.add(record.seed, record.seats, record.ranks)
        return shares


# Luck taken out of all matches of a run, and the leaderboards that come of it.


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
    doubts = {name: function.mismatch(games[name]) for name, function in functions.items()}
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
