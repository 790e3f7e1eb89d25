"""The sampling units of a comparison: which matches make up one observation, and the value that they have."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any, Literal, get_args

from msgspec import Struct

from harness.core.errors import UsageError
from harness.core.game import Game, State
from harness.core.plan import GamePlan, Plan
from harness.core.records import GameRecord, MatchSpec, Value, shares_ahead
from harness.core.rng import Chance
from harness.core.value_function import ValueFunction, Valuer
from harness.luck.adjustment import ALTERNATIVE_DRAWS, ExpectedShares, chance_events

Way = Literal["auto", "pairs", "own-deals", "gauntlet"]
"""How the matches are laid out: see docs/ratings.md."""
Unit = Literal["match", "pair", "turns"]
"""A sampling unit: one match with a separate deal; a deal played twice with the seats of the two bots exchanged; or a
deal played twice, each time by one of the two bots without the other (common random numbers)."""

WAYS: tuple[Way, ...] = get_args(Way)
MAX_MATCHES = 6000
MARGIN = 0.03


class ComparisonSpec(Struct, frozen=True):
    """Which two bots are compared, at which table, and when to stop."""

    one: str
    other: str
    game: str
    settings: dict[str, Value]
    company: tuple[str, ...] = ()
    """The other bots at the table."""
    seed: int = 1
    most: int = MAX_MATCHES
    """Maximum number of matches."""
    margin: float = MARGIN
    """Two bots count as equal if the share of matches in which one finishes ahead is this close to one half."""
    way: Way = "auto"
    thorough: bool = False
    """Whether to play all matches even when the answer is known, for a narrower interval."""
    luck: str = ""
    """Digest of the value function that results are luck-adjusted with; empty if they count as played."""

    @classmethod
    def from_plan(cls, game: GamePlan, plan: Plan) -> ComparisonSpec:
        """Return what a plan of the format `compare` asks about one of its games."""
        if len(plan.candidates) != 2:
            raise UsageError(f"A comparison is about two bots, not {len(plan.candidates)}.", fix="candidates")
        one, other = plan.candidates
        for name in plan.candidates:
            if name not in game.entrants:
                raise UsageError(f"{name} does not play {game.name}, so there is nothing to compare.")
        [way] = [each for each in WAYS if each == plan.settings["way"]]
        return cls(
            one=one,
            other=other,
            game=game.name,
            settings=game.settings,
            company=tuple(name for name in game.entrants if name not in plan.candidates),
            seed=plan.seed,
            most=plan.deals,
            margin=plan.number("margin"),
            way=way,
            thorough=bool(plan.settings["thorough"]),
            luck=value_functions(plan).get(game.name, ""),
        )

    @property
    def seats(self) -> int:
        """The number of seats at the table."""
        return len(self.company) + (1 if self.way == "gauntlet" else 2)

    @property
    def where(self) -> str:
        """The other bots at the table, in words: an answer is about tables with them."""
        others = ", ".join(self.company[:-1]) + " and " * (len(self.company) > 1) + "".join(self.company[-1:])
        if self.way == "gauntlet":
            return f"against {others}"
        return f"at a table with {others}" if others else "at a table of two"

    @property
    def stretch(self) -> float:
        """The width of the range of values relative to 0 to 1: more than 1 if results are luck-adjusted."""
        return ADJUSTED_RANGE if self.luck else 1.0

    def as_share(self, value: float) -> float:
        """Return a value from 0 to 1 as a share of matches; luck-adjusted ones may be below 0 or above 1."""
        return 0.5 + (value - 0.5) * self.stretch


def unit_size(unit: Unit) -> int:
    """Return the number of matches of a sampling unit."""
    return 1 if unit == "match" else 2


def value_functions(plan: Plan) -> dict[str, str]:
    """Return, by game, the digest of the value function that a comparison adjusts luck with; {} if it does not."""
    listed = [entry.partition(":") for entry in str(plan.settings.get("luck", "")).split()]
    return {game: digest for game, _, digest in listed}


# The matches of a unit, and the value of their records.
#
# A value lies between 0 and 1, and its expectation is one half if neither bot is better. The sequential test needs
# nothing else, so units of different kinds may follow each other.


PairScore = Callable[[GameRecord, str, str], float]
"""From 0 to 1: how far the first bot finished ahead of the second in a match."""


def pair_score(record: GameRecord, one: str, other: str) -> float:
    """Return 1 if the first bot finished ahead of the second, 0 if behind, one half for a tie."""
    return _ahead(record, record.seats.index(one), record.seats.index(other))


def _ahead(record: GameRecord, seat: int, other: int) -> float:
    return 0.5 + 0.5 * ((record.ranks[seat] < record.ranks[other]) - (record.ranks[seat] > record.ranks[other]))


def table_share(record: GameRecord, name: str) -> float:
    """Return the share of the others at the table that a bot finished ahead of; a tie counts one half."""
    return shares_ahead(record.ranks)[record.seats.index(name)]


def unit_values(
    spec: ComparisonSpec, unit: Unit, records: Sequence[GameRecord], score: PairScore = pair_score
) -> list[float]:
    """Return a value for each match of a unit; their mean is the value of the unit.

    `score` may be replaced by a function with the same expectation and less variance. It must lie between 0 and 1,
    depend on the match alone, and treat both bots alike.
    """
    if unit != "turns":
        return [score(record, spec.one, spec.other) for record in records]
    first, second = records
    return [table_share(first, spec.one), 1 - table_share(second, spec.other)]


def unit_matches(spec: ComparisonSpec, unit: Unit, number: int, first: int) -> Iterator[MatchSpec]:
    """Return the matches of the unit with this number; `first` is the index of its first match within the game."""
    rng = Chance(spec.seed)
    one, other = spec.one, spec.other
    table = [one, *spec.company] if unit == "turns" else [one, other, *spec.company]
    # The seating is drawn independently for each unit, with equal probabilities. So units are independent of each
    # other, and stopping after some of them does not bias the next: the test relies on that.
    seats = tuple(rng.shuffled(table, "seating", spec.game, number))
    exchanged = tuple([{one: other, other: one}.get(name, name) for name in seats])
    name = f"{spec.game}-{number}"
    for turn, seating in enumerate((seats, exchanged)[: unit_size(unit)], 1):
        yield MatchSpec(
            id=f"{name}.{turn}",
            index=first + turn - 1,
            set=name,
            game=spec.game,
            options=spec.settings,
            seed=rng.derive("deal", spec.game, number),
            seats=seating,
            round=number,
            table=1,
        )


# The pilot of a comparison: is it better to share deals, or to play a separate deal in each match?
#
# If the cards decide, the bot with the good cards wins, and the other bot wins when the two exchange seats on the same
# deal. Such a pair of matches is split, and says more than two matches with different deals: the negative correlation
# reduces the variance (common random numbers). If a deal suits one bot's way of playing, that bot wins in either seat,
# and the second match only repeats the first. So a comparison starts with some matches with separate deals (enough to
# decide clear cases) and some pairs. If more pairs were split than won twice by the same bot it continues with pairs,
# otherwise with single matches. The criterion is exact: the log-wealth of a bet on values y between -1 and 1 grows by
# about (mean y)^2 / (2 mean y^2) a value, and this is larger for pairs, match for match, if and only if the product of
# the two results of a pair is negative on average.
#
# The matches of the pilot count like all others. Units of both kinds have the same expectation, and the next kind
# depends only on earlier results: so the wealth stays a martingale, and the test stays valid.


PILOT_MATCHES = 16
PILOT_PAIRS = 24


class PilotResult(Struct, frozen=True):
    """The results of the pilot's pairs."""

    split: int
    """Pairs in which each bot finished ahead once."""
    twice: int
    """Pairs in which the same bot did both times."""
    chosen: Unit


class Pilot:
    """Chooses the next unit for a way of playing."""

    def __init__(self, way: Way) -> None:
        self.result: PilotResult | None = None
        self._products: list[float] = []
        self._units = 0
        self._always: Unit | None = _ALWAYS.get(way)

    @property
    def unit(self) -> Unit:
        """The next unit."""
        if self._always:
            return self._always
        if self.result:
            return self.result.chosen
        return "match" if self._units < PILOT_MATCHES else "pair"

    @property
    def units_left(self) -> int | None:
        """The number of units before the kind of unit can change; None if it will not change."""
        if self._always or self.result:
            return None
        return (PILOT_MATCHES if self._units < PILOT_MATCHES else PILOT_MATCHES + PILOT_PAIRS) - self._units

    def add_unit(self, results: Sequence[float]) -> None:
        """Add the results of the unit that was the next, one for each match."""
        if self._always or self.result:
            return
        if self.unit == "pair":
            first, second = results
            self._products.append((2 * first - 1) * (2 * second - 1))
        self._units += 1
        if len(self._products) == PILOT_PAIRS:
            self.result = PilotResult(
                split=sum(product < 0 for product in self._products),
                twice=sum(product > 0 for product in self._products),
                chosen="pair" if sum(self._products) < 0 else "match",
            )


_ALWAYS: dict[Way, Unit] = {"pairs": "pair", "own-deals": "match", "gauntlet": "turns"}


# Luck-adjusted results of two bots, as values from 0 to 1.
#
# The test needs values between known bounds, and a plain control variate could carry a result anywhere. So the
# adjustment is bounded: each chance event counts for at most MAX_EVENT_LUCK either way, and the more was subtracted
# already, the smaller the weight of the next event, so that the sum stays within MAX_LUCK. The weight of an event is
# fixed before the event is drawn, so each term still has expectation zero (a martingale transform), and for two equal
# bots the expectation stays one half. This holds only if the evaluator knows no more than the seats know together (a
# `Valuer` does not): if it saw the next card of a pile, the weight of an event would depend on later events.


MAX_EVENT_LUCK = 0.15
"""Estimates after a chance event are clipped to this distance from the estimate before it."""
MAX_LUCK = 0.4
"""Maximum total adjustment of a match, where winning and losing differ by 1."""
ADJUSTED_RANGE = 1 + 2 * MAX_LUCK
"""Width of the range of adjusted results; scaled back to 0 to 1 for the test."""
VALUE_STEPS = 200
"""Values are rounded to this many steps, because the test is fast if there are few distinct values."""


def bounded_score(
    game: Game[Any],
    record: GameRecord,
    evaluator: Valuer,
    expected: Sequence[float],
    pair: tuple[int, int],
    coefficient: float = 1.0,
    alternatives: int = ALTERNATIVE_DRAWS,
    phases: Container[str] | None = None,
) -> float:
    """Return a luck-adjusted value from 0 to 1 for two seats of a match; its expectation is one half for equal bots.

    `expected` and the `coefficient` of the adjustment must be fixed before the match, or come from other deals.
    """
    one, other = pair
    subtracted, before = 0.0, clip(0.5 + _regression_slope(len(expected)) * (expected[one] - expected[other]))
    for event in chance_events(game, record, alternatives, phases):
        low, high = before - MAX_EVENT_LUCK, before + MAX_EVENT_LUCK
        estimate = _chance_ahead(event.actual, evaluator, expected, pair)
        others = [clip(_chance_ahead(state, evaluator, expected, pair), low, high) for state in event.alternatives]
        luck = coefficient * (clip(estimate, low, high) - sum(others) / len(others))
        subtracted += luck * min(1.0, (MAX_LUCK - abs(subtracted)) / (2 * MAX_EVENT_LUCK))
        before = estimate
    steps, rest = divmod((_ahead(record, one, other) - subtracted + MAX_LUCK) / ADJUSTED_RANGE * VALUE_STEPS, 1.0)
    # Rounded up or down at random, so that the expectation does not change.
    up = Chance(record.seed).rng("grain", record.id).random() < rest
    return min(1.0, (steps + up) / VALUE_STEPS)


def _chance_ahead(state: State[Any], evaluator: Valuer, expected: Sequence[float], pair: tuple[int, int]) -> float:
    """Return the estimated probability that the first seat of the pair will finish ahead of the second."""
    shares = evaluator.shares(state, expected)
    difference = shares[pair[0]] - shares[pair[1]]
    if not state.legal:  # the match is over, so the order of the two seats is known
        return 0.5 + 0.5 * ((difference > 0) - (difference < 0))
    return clip(0.5 + _regression_slope(len(shares)) * difference)


def _regression_slope(players: int) -> float:
    """Return the slope of "finished ahead" on the difference of two table shares, over all orders of the seats."""
    return (players - 1) / players


def clip(value: float, low: float = 0.0, high: float = 1.0) -> float:
    """Return the value, or the limit that it is beyond."""
    return min(high, max(low, value))


class LuckAdjuster:
    """Luck-adjusted scores for the matches of one game in a run."""

    def __init__(self, game: Game[Any], function: ValueFunction) -> None:
        self.game, self.function = game, function
        self._valuer = Valuer(function)
        self._cache: dict[tuple[str, str, tuple[int, ...], tuple[float, ...]], float] = {}

    def pair_score(self) -> PairScore:
        """Return a function that scores the matches of a comparison.

        It must get each match once and in schedule order: what it expects of a match comes from earlier deals only.
        """
        expected_shares = ExpectedShares()

        def score(record: GameRecord, one: str, other: str) -> float:
            expected = expected_shares.expect_then_add(record)
            # Cached, because a run is judged while it is played and again for its verdict.
            key = (record.id, one, record.ranks, tuple(expected))
            if key not in self._cache:
                seats = record.seats.index(one), record.seats.index(other)
                phases = self.function.phases
                self._cache[key] = bounded_score(self.game, record, self._valuer, expected, seats, phases=phases)
            return self._cache[key]

        return score
