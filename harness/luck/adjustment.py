"""Luck-adjusted results: subtract from each result what the luck of the match contributed, as a control variate."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations, repeat
from math import fsum
from multiprocessing import get_context
from operator import add
from typing import Any, NamedTuple

from harness.core.game import Game, State
from harness.core.records import GameRecord, shares_ahead
from harness.core.rng import Chance, Part
from harness.core.value_function import ValueFunction, Valuer
from harness.match.replay import Replay
from harness.ratings.counts import pair_outcomes

# The control variate: the effect of a match's luck on each seat.
#
# At each chance event the match is taken back to the moment before, and the same action is applied with other luck,
# several times. The value function's estimate of the actual outcome, minus the mean of its estimates of the
# alternatives, is the luck of that event. Actual and alternative outcomes have the same distribution, so this
# difference has expectation zero for any value function: subtracting it does not bias a result. A good value function
# makes results vary less, and a bad one makes them vary more; neither changes what is estimated.
#
# This is AIVAT without its terms for known strategies (Burch, Schmid, Moravcik, Morrill, Bowling, 2018), also known
# as an advantage sum.


ALTERNATIVE_DRAWS = 12
"""Number of times that each chance event is drawn again; their mean stands for all possible outcomes."""
DEAL = "deal"
"""The phase before the first choice."""


class RecordedChance(Chance):
    """The random numbers of a match as they were, with a list of the names that were drawn."""

    __slots__ = ("fresh", "past")

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.past: set[tuple[Part, ...]] = set()
        self.fresh: list[tuple[Part, ...]] = []
        """Names that were drawn since the last call of `mark_past`."""

    def number_for(self, where: tuple[Part, ...]) -> int:
        """Return the number with this name, and note that it was drawn."""
        self.fresh.append(where)
        return super().number_for(where)

    def mark_past(self) -> None:
        """Move what was drawn so far to the past."""
        self.past.update(self.fresh)
        self.fresh.clear()


class AlternativeChance(Chance):
    """Other random numbers, except for names that were drawn in the past of the match."""

    __slots__ = ("_name", "_recorded")

    def __init__(self, seed: int, recorded: RecordedChance, *name: Part) -> None:
        super().__init__(seed)
        self._recorded, self._name = recorded, name

    def number_for(self, where: tuple[Part, ...]) -> int:
        """Return the recorded number if it was drawn in the past, otherwise another one."""
        if where in self._recorded.past:
            return Chance.number_for(self._recorded, where)
        return super().number_for(self._name + where)


class ChanceEvent(NamedTuple):
    """A point of a match at which luck was drawn."""

    phase: str
    """The kind of choice before the event; DEAL at the start."""
    actual: State[Any]
    """The state after it."""
    alternatives: Sequence[State[Any]]
    """The alternatives with other luck."""


def chance_events(
    game: Game[Any], record: GameRecord, alternatives: int = ALTERNATIVE_DRAWS, phases: Container[str] | None = None
) -> Iterator[ChanceEvent]:
    """Return the chance events of a recorded match, the deal first. Use each one before asking for the next.

    With `phases`, return only those after such choices. Whether an event belongs to them is known before its luck is
    drawn (a step is the same up to its first draw), so the selection does not bias the adjustment.
    """
    recorded = RecordedChance(record.seed)
    seed = Chance(record.seed).derive("luck taken out", record.id)
    replay = Replay(game, record, recorded)
    state, players = replay.state, len(record.seats)
    state.log = None
    if phases is None or DEAL in phases:
        deals = [game.new(players, AlternativeChance(seed, recorded, 0, n)) for n in range(alternatives)]
        yield ChanceEvent(DEAL, state, deals)
    recorded.mark_past()
    number = 0
    while not replay.over:
        if phases is not None and state.phase not in phases:
            replay.step()
            recorded.mark_past()
            continue
        before, unseen, action = state.clone(), state.unseen(), replay.next_action()
        replay.step()
        # Either numbers were drawn, or a card was turned over whose place had been drawn earlier.
        if recorded.fresh or state.unseen() != unseen:
            number += 1
            others = [before.redealt(AlternativeChance(seed, recorded, number, n)) for n in range(alternatives)]
            for other in others:
                other.step(action)
            yield ChanceEvent(before.phase, state, others)
            recorded.mark_past()
    replay.check_end()


def luck_by_phase(
    game: Game[Any],
    record: GameRecord,
    evaluator: Valuer,
    expected: Sequence[float],
    alternatives: int = ALTERNATIVE_DRAWS,
    phases: Container[str] | None = None,
) -> dict[str, list[float]]:
    """Return what luck gave to each seat of a match, in shares of the table, by the kind of choice before it.

    Each figure has expectation zero. With `phases`, return only these. `expected` is the share that each seat was
    expected to finish ahead of before the match.
    """
    total: dict[str, list[float]] = {}
    for phase, actual, others in chance_events(game, record, alternatives, phases):
        estimates = [evaluator.shares(other, expected) for other in others]
        both = zip(evaluator.shares(actual, expected), *estimates, strict=True)
        luck = [here - fsum(there) / len(there) for here, *there in both]
        total[phase] = list(map(add, total[phase], luck)) if phase in total else luck
    return total


# The expected result of each seat before a match, from the results of its bots in other deals.
#
# A value function that takes all bots for equal would count it as luck that the better bot wins. The expectation comes
# from earlier deals only, never from the deal in question, so it is fixed before the luck that it helps to measure is
# drawn: otherwise the adjustment would be biased.


PRIOR_MEETINGS = 4.0
"""Each pair starts with this many imaginary matches, with the result that their other matches suggest (shrinkage)."""
TRANSFER = 0.75
"""The part of the difference between two bots' results against all others that carries over to the two of them."""

ALL_BOTS = ""


class SumsByDeal:
    """Two sums for each key, such as a pair of bots. What is used to judge a deal leaves that deal out."""

    def __init__(self) -> None:
        self._deals: dict[int | None, dict[tuple[str, str], list[float]]] = {None: {}}
        """Seed of a deal, or None for all deals -> the sums."""

    def add(self, seed: int, key: tuple[str, str], first: float, second: float) -> None:
        """Add to the sums of a key in one deal."""
        for deal in (None, seed):
            both = self._deals.setdefault(deal, {}).setdefault(key, [0.0, 0.0])
            both[0] += first
            both[1] += second

    def of_other_deals(self, seed: int, key: tuple[str, str]) -> tuple[float, float]:
        """Return the sums of a key over all deals but this."""
        first, second = self._deals[None].get(key, (0.0, 0.0))
        first_here, second_here = self._deals.get(seed, {}).get(key, (0.0, 0.0))
        return first - first_here, second - second_here


class ExpectedShares:
    """Expected results, from matches added in schedule order."""

    def __init__(self) -> None:
        self._results = SumsByDeal()
        """Two bots, or a bot and ALL_BOTS -> number of matches, and in how many of them the first finished ahead."""

    def shares(self, seed: int, seats: Sequence[str]) -> list[float]:
        """Return the share of the others that each seat is expected to finish ahead of, by other deals than this."""
        levels = [self._shrunk_share(seed, bot, ALL_BOTS, 0.5) for bot in seats]
        totals = [0.0] * len(seats)
        for one, other in combinations(range(len(seats)), 2):
            suggested = min(1.0, max(0.0, 0.5 + TRANSFER * (levels[one] - levels[other])))
            share = self._shrunk_share(seed, seats[one], seats[other], suggested)
            totals[one] += share
            totals[other] += 1 - share
        return [total / max(1, len(seats) - 1) for total in totals]

    def _shrunk_share(self, seed: int, one: str, other: str, prior: float) -> float:
        if one == other:
            return 0.5
        met, ahead = self._results.of_other_deals(seed, (one, other))
        return (ahead + PRIOR_MEETINGS * prior) / (met + PRIOR_MEETINGS)

    def add_match(self, seed: int, seats: Sequence[str], ranks: tuple[int, ...]) -> None:
        """Add the result of a match of this deal."""
        for left, right, share in pair_outcomes(ranks):
            one, other = seats[left], seats[right]
            if one != other:
                for bot, opponent, ahead in ((one, other, share), (other, one, 1 - share)):
                    self._results.add(seed, (bot, opponent), 1, ahead)
                    self._results.add(seed, (bot, ALL_BOTS), 1, ahead)

    def expect_then_add(self, record: GameRecord) -> list[float]:
        """Return the expected shares of the seats of a match, then add its result."""
        shares = self.shares(record.seed, record.seats)
        self.add_match(record.seed, record.seats, record.ranks)
        return shares


# The adjustment of all matches of a run, and the leaderboards that result from it.


PRIOR_COEFFICIENT = 0.8
"""The coefficient of the control variate before any data."""
PRIOR_WEIGHT = 2.0
"""Weight of that prior, as a sum of squared luck in shares of the table."""
BOT_PRIOR_WEIGHT = 1.0
"""The same for a single bot, whose prior is the coefficient of all bots."""
MAX_COEFFICIENT = 1.5
"""Limits what a noisy estimate can do if the value function sees too little luck."""
MIN_POOL_MATCHES = 64
"""Fewer matches are adjusted in this process, because starting workers takes longer."""
CHUNK_MATCHES = 8
"""Matches that are sent to a worker at a time."""


Luck = Mapping[str, Sequence[float]]
"""Phase -> the effect of luck on each seat after such choices."""


class ControlCoefficients:
    """The coefficient of the control variate: which part of the luck that a value function sees to subtract.

    The variance is smallest for the coefficient of the regression of results on luck. A value function that exaggerates
    has one below 1, a useless one has 0. It may differ between kinds of choices, and between bots: a bot that always
    wins has no luck. The estimates are shrunk (from all bots, then from one bot) and come from other deals than the one
    that is adjusted, so they do not bias its result either.
    """

    def __init__(self) -> None:
        self._sums = SumsByDeal()
        """Phase, and a bot or ALL_BOTS -> sum of luck times result, and sum of squared luck."""

    def coefficient(self, seed: int, phase: str, bot: str) -> float:
        """Return the coefficient for a bot's luck after such a choice: 0 subtracts nothing, 1 all of it."""
        common = self._slope(seed, (phase, ALL_BOTS), PRIOR_COEFFICIENT, PRIOR_WEIGHT)
        return self._slope(seed, (phase, bot), common, BOT_PRIOR_WEIGHT)

    def _slope(self, seed: int, key: tuple[str, str], prior: float, weight: float) -> float:
        products, squares = self._sums.of_other_deals(seed, key)
        return min(MAX_COEFFICIENT, max(0.0, (products + weight * prior) / (squares + weight)))

    def adjustment(self, record: GameRecord, luck: Luck) -> list[float]:
        """Return what to subtract from each seat's result of a match."""
        return [
            fsum([self.coefficient(record.seed, phase, bot) * given[seat] for phase, given in luck.items()])
            for seat, bot in enumerate(record.seats)
        ]

    def add_match(self, record: GameRecord, luck: Luck, surprise: Sequence[float]) -> None:
        """Add a match: its luck, and each seat's result minus what was expected."""
        for phase, given in luck.items():
            for seat, bot in enumerate(record.seats):
                for each in (ALL_BOTS, bot):
                    self._sums.add(record.seed, (phase, each), given[seat] * surprise[seat], given[seat] ** 2)


Judges = Mapping[str, tuple[Game[Any], Valuer]]
"""Game by name, with the evaluator of its states."""
_in_worker: dict[str, tuple[Game[Any], Valuer]] = {}
"""The judges of a worker process, set when it starts."""


def adjust_results(
    records: Iterable[GameRecord],
    games: Mapping[str, Game[Any]],
    functions: Mapping[str, ValueFunction],
    workers: int = 1,
) -> dict[str, Sequence[float]]:
    """Return for each match and seat the share of the others that it finished ahead of, minus its luck.

    They are the same for any number of workers.
    """
    ordered = sorted(records, key=lambda record: record.index)
    expected_shares = {name: ExpectedShares() for name in games}
    expected = [expected_shares[record.game].expect_then_add(record) for record in ordered]
    coefficients = {name: ControlCoefficients() for name in games}
    judges = {name: (games[name], Valuer(function)) for name, function in functions.items()}
    shares: dict[str, Sequence[float]] = {}
    from harness.runs.reader import followed  # shell completion loads this module, and must not wait for runs

    matches = followed(ordered, "luck taken out of matches", lambda: len(ordered))
    for record, before, luck in zip(matches, expected, _luck_of_all(ordered, expected, judges, workers), strict=True):
        played, control = shares_ahead(record.ranks), coefficients[record.game]
        adjustment = control.adjustment(record, luck)
        shares[record.id] = tuple([share - mine for share, mine in zip(played, adjustment, strict=True)])
        control.add_match(record, luck, [share - was for share, was in zip(played, before, strict=True)])
    return shares


def _luck_of_all(
    records: Sequence[GameRecord], expected: Sequence[Sequence[float]], judges: Judges, workers: int
) -> Iterator[Luck]:
    """Return the luck of each match, in the order of the records."""
    if workers < 2 or len(records) < MIN_POOL_MATCHES:
        yield from map(_luck_of, records, expected, repeat(judges))
        return
    pool = ProcessPoolExecutor(workers, get_context("fork"), _in_worker.update, (judges,))
    try:
        yield from pool.map(_luck_of, records, expected, chunksize=CHUNK_MATCHES)
    finally:
        pool.shutdown(cancel_futures=True)


def _luck_of(record: GameRecord, expected: Sequence[float], judges: Judges = _in_worker) -> Luck:
    game, valuer = judges[record.game]
    return luck_by_phase(game, record, valuer, expected, phases=valuer.function.phases)
