"""Is one bot better than another? A test that stops as soon as the answer is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from math import ceil, inf, log10, sqrt
from statistics import NormalDist
from typing import Any, Literal, Protocol, get_args

from msgspec import Struct

from harness.core.errors import UsageError
from harness.core.game import Game, State
from harness.core.plan import GamePlan, Plan
from harness.core.records import GameRecord, MatchSpec, Value
from harness.core.rng import Chance
from harness.core.value_function import ValueFunction, Valuer
from harness.luck.adjustment import ALTERNATIVES, Expectations, Judge, moments
from harness.ratings.anytime import CAREFUL_PURSES, WIDE_PURSES, Bets, enough, enough_on_one_side
from harness.ratings.evidence import LEVEL

# What sharing deals is worth: the spread of a difference over duplicate sets, against as many unrelated matches.


class Gain(Struct, frozen=True):
    """The variance of a duplicate set's mean, as it was and as it would be if each match had a deal of its own."""

    shared: float
    unshared: float

    @property
    def saved(self) -> float | None:
        """The share of the matches that shared deals save; below 0 they cost some. None where nothing varies."""
        return 1 - self.shared / self.unshared if self.unshared else None


class SetSpread:
    """Takes in one value for each match of a set, in the order in which sets seat the bots."""

    def __init__(self, matches: int) -> None:
        self.sets = 0
        self._means = [0.0, 0.0]
        self._turns = [[0.0, 0.0] for _ in range(matches)]

    def add(self, values: Sequence[float]) -> None:
        """The values of one set."""
        self.sets += 1
        for sums, value in zip(self._turns, values, strict=True):
            _note(sums, value)
        _note(self._means, sum(values) / len(values))

    @property
    def mean(self) -> float:
        """The mean over all sets."""
        return self._means[0] / self.sets

    @property
    def variance(self) -> float:
        """The variance of a set's mean."""
        return _variance(self._means, self.sets)

    def gain(self) -> Gain:
        """What sharing deals changed.

        Matches with deals of their own would be independent: the variance of their mean is the mean of the variances
        of each seating, divided by their number. What the set's variance differs from that is the deal's doing.
        """
        unshared = sum(_variance(sums, self.sets) for sums in self._turns) / len(self._turns) ** 2
        return Gain(self.variance, unshared)


def _note(sums: list[float], value: float) -> None:
    sums[0] += value
    sums[1] += value * value


def _variance(sums: Sequence[float], count: int) -> float:
    if count < 2:
        return 0.0
    return max(0.0, sums[1] - sums[0] ** 2 / count) / (count - 1)


# One result of two bots without its luck, as a value from 0 to 1: for tests that need bounded values.
#
# A test that bets (betting.py) needs values between known bounds, and luck that is taken out could carry a result
# anywhere. So it is taken out with care: each piece of luck counts for no more than STEP either way, and the more was
# taken out already, the less of the next is, so that all together stays within REACH. What is left of a piece is
# fixed before the piece is drawn, so each is nought on average as before, and of two equal bots the mean stays one
# half. This takes a judge who knows no more than the seats together do (a `Valuer` does not): one who saw the next
# card of a pile would fix what is left of a piece by what comes after it.


STEP = 0.15
"""A guess after a piece of luck is taken as no farther than this from the guess before it."""
REACH = 0.4
"""The most that is taken out of a match, of the difference of 1 between winning and losing."""
STRETCH = 1 + 2 * REACH
"""How much wider what may come out is than the difference between winning and losing."""
GRAINS = 200
"""Values are rounded to so many steps: a test of few different values is quick."""


def bounded_value(
    game: Game[Any],
    record: GameRecord,
    judge: Judge,
    expected: Sequence[float],
    pair: tuple[int, int],
    part: float = 1.0,
    alternatives: int = ALTERNATIVES,
    phases: Container[str] | None = None,
) -> float:
    """Whether the first of these two seats finished ahead of the other, less its luck: 0 to 1, one half for equals.

    `expected` and the `part` of the luck that is taken out must be fixed before the match, or come from other deals.
    """
    one, other = pair
    taken, before = 0.0, _clip(0.5 + _weight(len(expected)) * (expected[one] - expected[other]))
    for moment in moments(game, record, alternatives, phases):
        low, high = before - STEP, before + STEP
        guess = _ahead(moment.actual, judge, expected, pair)
        others = [_clip(_ahead(state, judge, expected, pair), low, high) for state in moment.others]
        luck = part * (_clip(guess, low, high) - sum(others) / len(others))
        taken += luck * min(1.0, (REACH - abs(taken)) / (2 * STEP))
        before = guess
    ahead = 0.5 + 0.5 * ((record.ranks[one] < record.ranks[other]) - (record.ranks[one] > record.ranks[other]))
    return _grained((ahead - taken + REACH) / STRETCH, record)


def _ahead(state: State[Any], judge: Judge, expected: Sequence[float], pair: tuple[int, int]) -> float:
    """The chance that the first of the pair will finish ahead of the other, as far as their shares tell."""
    shares = judge.shares(state, expected)
    difference = shares[pair[0]] - shares[pair[1]]
    if not state.legal:
        return 0.5 + 0.5 * ((difference > 0) - (difference < 0))
    return _clip(0.5 + _weight(len(shares)) * difference)


def _weight(players: int) -> float:
    """What a difference of two shares says about the two: the regression over all orders of so many seats."""
    return (players - 1) / players


def _clip(value: float, low: float = 0.0, high: float = 1.0) -> float:
    return min(high, max(low, value))


def _grained(value: float, record: GameRecord) -> float:
    """The value rounded up or down by luck of its own, so that the mean stays as it is."""
    whole, rest = divmod(value * GRAINS, 1.0)
    up = Chance(record.seed).rng("grain", record.id).random() < rest
    return min(1.0, (whole + up) / GRAINS)


# Is one bot better than another at a game? Who is asked about, at which table, in which way, and for how long.


Way = Literal["auto", "pairs", "own-deals", "gauntlet"]
"""How the matches are laid out: see docs/ratings.md."""
Unit = Literal["match", "pair", "turns"]
"""What gives one value: a match with a deal of its own, a deal in which the two exchange seats, or a deal that each of
them plays in the other's absence."""
Answer = Literal["better", "worse", "equal", "unknown"]

WAYS: tuple[Way, ...] = get_args(Way)
MOST_MATCHES = 6000
MARGIN = 0.03


class Question(Struct, frozen=True):
    """Who is compared with whom, at which table."""

    one: str
    other: str
    game: str
    settings: dict[str, Value]
    company: tuple[str, ...] = ()
    """Who else sits at the table."""
    seed: int = 1
    most: int = MOST_MATCHES
    """Matches after which to give up."""
    margin: float = MARGIN
    """A share of finishing ahead this near to one half is no difference worth looking for."""
    way: Way = "auto"
    indifference: float = 0.0
    """If not 0: asks only whether there is a difference of at least this, with bounds for both errors."""
    thorough: bool = False
    """Whether to play on to the last match once the answer is known, for a narrower interval."""
    luck: str = ""
    """The value function by which luck is taken out of results, as its digest; empty if they count as played."""

    @classmethod
    def of(cls, game: GamePlan, plan: Plan) -> Question:
        """What a plan of the format `compare` asks about one of its games."""
        if len(plan.candidates) != 2:
            raise UsageError("A comparison is about two bots; name them with --candidate, once for each.")
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
            indifference=plan.number("indifference"),
            thorough=bool(plan.settings["thorough"]),
            luck=value_functions(plan).get(game.name, ""),
        )

    @property
    def seats(self) -> int:
        """How many sit at the table."""
        return len(self.company) + (1 if self.way == "gauntlet" else 2)

    @property
    def within(self) -> float:
        """How near to one half the two count as equal."""
        return self.indifference or self.margin

    @property
    def stretch(self) -> float:
        """How much wider values may lie than from losing to winning: 1 if results count as played."""
        return STRETCH if self.luck else 1.0

    def as_share(self, value: float) -> float:
        """A value from 0 to 1 as a share of finishing ahead, which may be less than none or more than all where luck
        was taken out."""
        return 0.5 + (value - 0.5) * STRETCH if self.luck else value

    def size(self, unit: Unit) -> int:
        """Matches of such a unit."""
        return 1 if unit == "match" else 2


def value_functions(plan: Plan) -> dict[str, str]:
    """Game -> digest of the value function by which a comparison takes luck out; {} if results count as played."""
    listed = [entry.partition(":") for entry in str(plan.settings.get("luck", "")).split()]
    return {game: digest for game, _, digest in listed}


# When is the answer of a comparison known? Two rules, for two questions.


_STEPS = 12
"""Halvings in the search for a mean: it errs on the side of fewer units at once."""
_THIRDS = 30
"""Steps in the search for the lowest value of a convex function, each to two thirds of what was left."""
Sums = tuple[int, float, float]
"""How many units, their distances from one half, and the squares of these."""


class AnswerRule(Protocol):
    """Takes in values, and says what they answer."""

    def add(self, unit: Unit, share: float) -> None:
        """One more unit has this value, as a share of finishing ahead."""

    def answer(self) -> Answer:
        """What is known by now."""

    def answerable(self, unit: Unit, count: int) -> bool:
        """Whether so many more of these units could bring an answer; said too often is allowed, too rarely is not."""


class BettingRule:
    """Plays until one half is refuted, or everything outside of the margin: see betting.py.

    "Better" and "worse" have 2.5% each. "Equal" refutes two things, that the one is better by more than the margin and
    that it is worse by more, of which one at most is true: so each of them may have all 5%. That all answers together
    are wrong in at most 5% holds whatever the truth: who refutes one half from above refutes the margin all the more.
    """

    def __init__(self, bets: Bets, question: Question) -> None:
        self._bets = bets
        self._margin = question.margin / question.stretch
        self._needed = enough(LEVEL)
        self._for_equal = enough_on_one_side(LEVEL)

    def add(self, unit: Unit, share: float) -> None:
        """Nothing to do: the bets have it."""

    def answer(self) -> Answer:
        """What is known by now."""
        bets, margin = self._bets, self._margin
        if bets.above(0.5) >= self._needed:
            return "better"
        if bets.below(0.5) >= self._needed:
            return "worse"
        if bets.above(0.5 - margin) >= self._for_equal and bets.below(0.5 + margin) >= self._for_equal:
            return "equal"
        return "unknown"

    def answerable(self, _unit: Unit, count: int) -> bool:
        """Whether so many more units could bring an answer, if all went one way or all were level."""
        bets, margin = self._bets, self._margin
        won, lost = bets.followed_by(1.0, count), bets.followed_by(0.0, count)
        if won.above(0.5) >= self._needed or lost.below(0.5) >= self._needed:
            return True
        low, high, needed = 0.5 - margin, 0.5 + margin, self._for_equal
        if not margin or won.above(low) < needed or lost.below(high) < needed:
            return False
        # Wealth grows most, for a given mean of what comes, if every unit brings that mean (logarithms are concave). So
        # the lowest mean that still refutes all that is below the margin is the best that can be done for both sides.
        too_low, enough_above = 0.0, 1.0
        for _ in range(_STEPS):
            mean = (too_low + enough_above) / 2
            reached = bets.followed_by(mean, count).above(low) >= needed
            too_low, enough_above = (too_low, mean) if reached else (mean, enough_above)
        return bets.followed_by(too_low, count).below(high) >= needed


class IndifferenceRule:
    """Is there a difference of at least so much, or none? A generalised sequential probability ratio test.

    Two tests of Wald's go on side by side: that the mean is one half against one half plus the indifference, and
    against one half minus it. The first to accept its difference says "better" or "worse"; "equal" is said when both
    have accepted one half. Likelihoods are those of a normal distribution whose variance is what it was, for each kind
    of unit by itself, about one half and with one imaginary unit won: so a lucky start does not look like certainty.
    """

    def __init__(self, indifference: float, stretch: float = 1.0) -> None:
        self._least = indifference
        self._farthest = 0.5 * stretch
        """How far from one half a unit may be."""
        self._accept, self._refuse = enough(LEVEL), -enough_on_one_side(LEVEL)
        self._sums: dict[Unit, Sums] = {}

    def add(self, unit: Unit, share: float) -> None:
        """One more unit has this value."""
        count, total, squares = self._sums.get(unit, (0, 0.0, 0.0))
        self._sums[unit] = count + 1, total + (share - 0.5), squares + (share - 0.5) ** 2

    def _ratio(self, side: int, sums: Sums) -> float:
        """The logarithm of how much more likely a difference to this side is than none, by units of one kind."""
        count, total, squares = sums
        variance = (squares + 0.25) / (count + 1)
        return self._least * (side * total - count * self._least / 2) / variance

    def answer(self) -> Answer:
        """What is known by now."""
        above, below = (sum(self._ratio(side, sums) for sums in self._sums.values()) for side in (1, -1))
        if above >= self._accept:
            return "better"
        if below >= self._accept:
            return "worse"
        return "equal" if max(above, below) <= self._refuse else "unknown"

    def answerable(self, unit: Unit, count: int) -> bool:
        """Whether so many more units could bring an answer, if all of them went the best way for it."""
        sums = self._sums.get(unit, (0, 0.0, 0.0))
        rest = [others for kind, others in self._sums.items() if kind != unit]
        for side in (1, -1):
            further = self._followed(sums, side * self._best(sums, side, count), count)
            if sum(self._ratio(side, each) for each in [*rest, further]) >= self._accept:
                return True
        return self._may_be_equal(sums, rest, count)

    def _may_be_equal(self, sums: Sums, rest: Sequence[Sums], count: int) -> bool:
        """Whether so many more units, all of the same value, could bring both ratios down."""
        # Both together depend on the number of units and on their variance only: at best it does not grow.
        level = self._followed(sums, 0.0, count)
        if sum(self._ratio(side, each) for side in (1, -1) for each in [*rest, level]) > 2 * self._refuse:
            return False
        # What a ratio lacks is, times the variance, a convex function of that value: so the larger of both is, too.
        number, total, squares = self._followed(sums, 0.0, count)
        lacking = [
            (sum(self._ratio(side, each) for each in rest) - self._refuse) / (self._least * (number + 1))
            for side in (1, -1)
        ]

        def worse(away: float) -> float:
            least = squares + 0.25 + count * away**2
            most = squares + count * (2 * self._farthest) ** 2  # for where it would not be convex
            return max(
                side * (total + count * away) - number * self._least / 2 + lack * (least if lack > 0 else most)
                for side, lack in zip((1, -1), lacking, strict=True)
            )

        low, high = -self._farthest, self._farthest
        for _ in range(_THIRDS):
            first, second = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, second) if worse(first) <= worse(second) else (first, high)
        return worse((low + high) / 2) <= 1e-6 * number

    def _best(self, sums: Sums, side: int, count: int) -> float:
        """How far to this side of one half so many units bring the greatest ratio: farther off they vary more."""
        number, total, squares = sums
        lead = side * total - (number + count) * self._least / 2
        return min(self._farthest, (sqrt(lead**2 + count * (squares + 0.25)) - lead) / count)

    @staticmethod
    def _followed(sums: Sums, away: float, count: int) -> Sums:
        number, total, squares = sums
        return number + count, total + count * away, squares + count * away**2


def rule_for(question: Question, bets: Bets) -> AnswerRule:
    """The rule that answers a question."""
    if question.indifference:
        return IndifferenceRule(question.indifference, question.stretch)
    return BettingRule(bets, question)


# What gives one value in a comparison: its matches, and the value that their records have.
#
# The value lies between 0 and 1, and is one half on average if neither bot is better. That is all that a test of it
# needs, so units of different kinds may follow each other.


Duel = Callable[[GameRecord, str, str], float]
"""From 0 to 1: how far the first bot finished ahead of the second in a match."""
Share = Callable[[GameRecord, str], float]
"""From 0 to 1: the share of the table that a bot finished ahead of."""


def duel(record: GameRecord, one: str, other: str) -> float:
    """1 if the one finished ahead of the other, 0 if behind, one half if level."""
    return 0.5 + 0.5 * _sign(record.ranks[record.seats.index(other)] - record.ranks[record.seats.index(one)])


def share(record: GameRecord, name: str) -> float:
    """The share of the others at the table that a bot finished ahead of; who is level counts half."""
    seat = record.seats.index(name)
    rank, others = record.ranks[seat], [*record.ranks[:seat], *record.ranks[seat + 1 :]]
    return sum([0.5 + 0.5 * _sign(other - rank) for other in others]) / len(others)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def results_of(
    question: Question, unit: Unit, records: Sequence[GameRecord], duel: Duel = duel, share: Share = share
) -> list[float]:
    """A value for each match of a unit; the mean of them is the unit's.

    `duel` and `share` judge a single match: by its ranks, or by something that has the same mean and less luck in it.
    Each must lie between 0 and 1, be settled by the match alone, and treat both bots alike.
    """
    if unit != "turns":
        return [duel(record, question.one, question.other) for record in records]
    first, second = records
    return [share(first, question.one), 1 - share(second, question.other)]


def matches_of(question: Question, unit: Unit, number: int, first: int) -> Iterator[MatchSpec]:
    """The matches of a unit. `first` is the place of its first match in the schedule, if there is but this game.

    Who sits where is drawn anew for each unit, every order being as likely as any other: so units do not depend on each
    other, and which of them were seen tells nothing of those to come, as the test wants it.
    """
    luck = Chance(question.seed)
    name = f"{question.game}-{number}"
    for turn, seats in enumerate(_seatings(question, unit, luck, number), 1):
        yield MatchSpec(
            id=f"{name}.{turn}",
            index=first + turn - 1,
            set=name,
            game=question.game,
            options=question.settings,
            seed=luck.derive("deal", question.game, number),
            seats=seats,
            round=number,
            table=1,
        )


def _seatings(question: Question, unit: Unit, luck: Chance, number: int) -> Iterator[tuple[str, ...]]:
    one, other = question.one, question.other
    table = [one, *question.company] if unit == "turns" else [one, other, *question.company]
    seats = tuple(luck.shuffled(table, "seating", question.game, number))
    changed = tuple([{one: other, other: one}.get(name, name) for name in seats])
    yield seats
    if unit != "match":
        yield changed


# Which way to play: the pilot of a comparison.
#
# If the cards decide, whoever has the good ones wins, and when the two bots exchange seats on the same deal the other
# one does: a pair of such matches is split, and says more than two matches with different deals. If a deal suits one
# bot's way of playing, it wins in either seat, and the second match only repeats the first. So a comparison begins
# with some matches that have deals of their own (enough to settle clear cases) and some pairs; if more of the pairs
# were split than were won twice by the same bot, it goes on with pairs, else with matches of their own. To be exact:
# bets on values y between -1 and 1 grow by (mean y)^2 / (2 mean y^2) each, and that is larger for pairs, match for
# match, if and only if the product of both results of a pair is negative on average.
#
# All of this is fixed beforehand, and all of it counts: units of both kinds have the same mean, and which kind comes
# next depends on nothing but what was seen before. A bet that was fair stays fair.


PILOT_MATCHES = 16
PILOT_PAIRS = 24


class PilotResult(Struct, frozen=True):
    """What the pilot's pairs have shown."""

    split: int
    """Pairs in which each bot finished ahead once."""
    twice: int
    """Pairs in which the same bot did both times."""
    chosen: Unit

    @property
    def pairs(self) -> bool:
        """Whether exchanged pairs go on."""
        return self.chosen == "pair"


class Pilot:
    """Says which unit is the next, in a given way of playing."""

    def __init__(self, way: Way) -> None:
        self.result: PilotResult | None = None
        self._seen: list[float] = []
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
    def alike(self) -> int | None:
        """How many units of this kind come at least before another could; None if no other will."""
        if self._always or self.result:
            return None
        return (PILOT_MATCHES if self._units < PILOT_MATCHES else PILOT_MATCHES + PILOT_PAIRS) - self._units

    def add(self, results: Sequence[float]) -> None:
        """A unit of the kind that was the next has been played, with these results, match for match."""
        if self._always or self.result:
            return
        if self.unit == "pair":
            first, second = results
            self._seen.append((2 * first - 1) * (2 * second - 1))
        self._units += 1
        if len(self._seen) == PILOT_PAIRS:
            self.result = PilotResult(
                split=sum(product < 0 for product in self._seen),
                twice=sum(product > 0 for product in self._seen),
                chosen="pair" if sum(self._seen) < 0 else "match",
            )


_ALWAYS: dict[Way, Unit] = {"pairs": "pair", "own-deals": "match", "gauntlet": "turns"}


# Is one bot better than another at a game? Looks at one unit after the other until it knows.


POWER = 0.8


class Verdict(Struct, frozen=True):
    """What was found."""

    question: Question
    answer: Answer
    """Of the one, compared with the other; "equal" is within the margin, "unknown" is not settled by the last match."""
    matches: int
    units: dict[Unit, int]
    """How many of each kind were played."""
    ahead: float
    """How often the one finished ahead of the other; a tie is half of one. In a gauntlet, where they do not meet: one
    half, and half of the difference of their shares."""
    low: float
    high: float
    shares: tuple[float, float] | None
    """In a gauntlet: the share of the others at the table that each of the two finished ahead of."""
    pilot: PilotResult | None
    """What decided the way, if that was left open and has been decided."""
    fixed_size: int | None
    """Matches that a test of fixed size needs to find a difference of this size, with a chance of POWER."""
    ahead_gain: Gain | None
    score_gain: Gain | None
    """What sharing deals did to the variance of finishing ahead, and of the difference of scores; None where the two
    did not meet on shared deals."""
    faults: dict[str, int]
    """Matches with a fault, by bot."""
    as_played: float | None = None
    """Where luck was taken out: how often the one finished ahead with it."""
    luck_saved: float | None = None
    """Where luck was taken out: the share of the matches that this saved, by the variances of a unit with and without
    it; below 0 it cost some."""

    @property
    def elo(self) -> float | None:
        """The share as a difference in Elo points; None where it has no end, and where the two do not meet."""
        met = self.question.way != "gauntlet"
        return 400 * log10(self.ahead / (1 - self.ahead)) if met and 0 < self.ahead < 1 else None

    @property
    def sentence(self) -> str:
        """The answer in words."""
        question = self.question
        one, other, within = question.one, question.other, question.within
        played = f"{self.matches:,} match{'es' if self.matches != 1 else ''}"
        unknown = f"{one} and {other} are not told apart by {played}; --most allows more."
        if question.way == "gauntlet":
            field = f"against {', '.join(question.company)}"
            return {
                "better": f"{one} does better than {other} {field}.",
                "worse": f"{one} does worse than {other} {field}.",
                "equal": f"{one} and {other} do equally well {field}, give or take {2 * within:.1%} of the table.",
                "unknown": unknown,
            }[self.answer]
        return {
            "better": f"{one} is better than {other}.",
            "worse": f"{one} is worse than {other}.",
            "equal": f"{one} and {other} are equal, give or take {within:.1%} of the matches.",
            "unknown": unknown,
        }[self.answer]


class SequentialTest:
    """The answer to a question, from the units that were played so far.

    It may be looked at after every unit, and whether to go on may depend on whatever was seen: see betting.py. So a
    comparison that was stopped, or has come to its last match, can be continued, by more of the same sequence.
    """

    def __init__(self, question: Question, duel: Duel = duel) -> None:
        """`duel` says who finished ahead in a match; it is shown each of them once."""
        self.question = question
        self._duel = duel
        self.answer: Answer = "unknown"
        self.faults = Counter[str]()
        self.units = Counter[Unit]()
        self.matches = 0
        self._pilot = Pilot(question.way)
        self._bets = Bets(WIDE_PURSES if question.luck else CAREFUL_PURSES)
        self._rule = rule_for(question, self._bets)
        self._total = 0.0
        self._shares = [0.0, 0.0]
        self._ahead: dict[Unit, SetSpread] = {}
        self._points: dict[Unit, SetSpread] = {}
        self._played: dict[Unit, SetSpread] = {}
        """With luck, where it was taken out."""

    @property
    def played(self) -> int:
        """How many units it has seen."""
        return self.units.total()

    @property
    def unit(self) -> Unit:
        """What is to be played next."""
        return self._pilot.unit

    @property
    def over(self) -> bool:
        """Whether nothing further is wanted."""
        known = self.answer != "unknown" and not self.question.thorough
        return known or self.room < 1

    @property
    def room(self) -> int:
        """How many units there may still be, if all are like the next."""
        return (self.question.most - self.matches) // self.question.size(self.unit)

    def add(self, records: Sequence[GameRecord]) -> None:
        """One more unit, its matches in the order of the schedule."""
        question, unit = self.question, self.unit
        values = results_of(question, unit, records, self._duel)
        results = [question.as_share(value) for value in values]
        for record in records:
            self.faults.update({record.seats[fault.seat] for fault in record.failures})
        self._ahead.setdefault(unit, SetSpread(len(results))).add(results)
        if question.luck:
            self._played.setdefault(unit, SetSpread(len(results))).add(results_of(question, unit, records))
        if unit == "turns":
            self._shares[0] += share(records[0], question.one)
            self._shares[1] += share(records[1], question.other)
        else:
            points = [_points(record, question.one) - _points(record, question.other) for record in records]
            self._points.setdefault(unit, SetSpread(len(results))).add(points)
        self.units[unit] += 1
        self.matches += len(records)
        self._total += sum(results)
        self._bets.add(sum(values) / len(values))
        self._rule.add(unit, sum(results) / len(results))
        self._pilot.add(results)
        if self.answer == "unknown":
            self.answer = self._rule.answer()

    def least(self, most: int) -> int:
        """Units like the next one that can be played at once, in up to `most` matches: before the last of them no
        answer can be known.

        So all workers are busy, and yet no match is played that the answer does not need.
        """
        most = max(1, min(most // self.question.size(self.unit), self.room, self._pilot.alike or most))
        if self.question.thorough:
            return most
        none, some = 0, 1
        while some < most and not self._rule.answerable(self.unit, some):
            none, some = some, 2 * some
        some = min(some, most)
        while some - none > 1:
            middle = (none + some) // 2
            none, some = (none, middle) if self._rule.answerable(self.unit, middle) else (middle, some)
        return some

    def verdict(self) -> Verdict:
        """What has been found so far; there must be a unit."""
        low, high = (_clipped(self.question.as_share(bound)) for bound in self._bets.interval(LEVEL))
        ahead, turns = _clipped(self._total / self.matches), self.units["turns"]
        return Verdict(
            question=self.question,
            answer=self.answer,
            matches=self.matches,
            units=dict(self.units),
            ahead=ahead,
            low=min(low, ahead),  # pairs and single matches weigh differently in the interval than they do here
            high=max(high, ahead),
            shares=(self._shares[0] / turns, self._shares[1] / turns) if turns else None,
            pilot=self._pilot.result,
            fixed_size=self._fixed_size(ahead - 0.5),
            ahead_gain=self._ahead["pair"].gain() if "pair" in self._ahead else None,
            score_gain=self._points["pair"].gain() if "pair" in self._points else None,
            faults=dict(self.faults),
            as_played=self._as_played(),
            luck_saved=self._luck_saved(),
        )

    def _as_played(self) -> float | None:
        total = sum([spread.mean * spread.sets * self.question.size(unit) for unit, spread in self._played.items()])
        return total / self.matches if self._played else None

    def _luck_saved(self) -> float | None:
        """By the units that there are most of."""
        unit = self._usual
        played = self._played[unit].variance if unit in self._played and self._played[unit].sets > 1 else 0.0
        return 1 - self._ahead[unit].variance / played if played else None

    @property
    def _usual(self) -> Unit:
        """The unit that there is most of."""
        return max(self._ahead, key=lambda each: self._ahead[each].sets)

    def _fixed_size(self, difference: float) -> int | None:
        """The usual formula: ((z of the level + z of the power) * deviation / difference) squared."""
        unit = self._usual
        spread = self._ahead[unit]
        if not difference or spread.sets < 2:
            return None
        normal = NormalDist()
        reach = normal.inv_cdf((1 + LEVEL) / 2) + normal.inv_cdf(POWER)
        return self.question.size(unit) * max(2, ceil(reach**2 * spread.variance / difference**2))


def _points(record: GameRecord, name: str) -> float:
    return float(record.scores[record.seats.index(name)])


def _clipped(share: float) -> float:
    return min(1.0, max(0.0, share))


# How many matches a comparison will take, told before it begins: formulas that a test holds against simulations.


DIFFERENCES = (0.05, 0.1)
VARIANCE = 0.25
"""Of finishing ahead in a match without ties, between bots that are nearly equal."""
EQUAL, DIFFERENT = 12.0, 9.5
"""Matches, times the square of what is to be told apart, over the variance: what bets need on average."""
EQUAL_BY_BOUNDS = 9.7
"""The same for bounds, which are told beforehand what to tell apart."""


def matches_if_equal(question: Question) -> float:
    """The mean number of matches until equal bots are called so; there is no end to it with a margin of 0."""
    needed = EQUAL_BY_BOUNDS if question.indifference else EQUAL
    return needed * VARIANCE / question.within**2 if question.within else inf


def matches_if_ahead(question: Question, difference: float) -> float:
    """The mean number of matches until a bot is called better whose share of finishing ahead is above one half by so
    much, which must be more than what makes no difference."""
    least = question.indifference
    if least:
        return enough(LEVEL) * VARIANCE / (least * (difference - least / 2))
    return DIFFERENT * VARIANCE / difference**2


def rounded(matches: float) -> int:
    """Two digits of it: more would pretend to know it."""
    return int(round(matches, 2 - len(f"{matches:.0f}")))


# Who finished ahead of whom, less the luck of the match: values for a comparison, match after match.


Judged = tuple[str, str, tuple[int, ...], tuple[float, ...]]
"""A match and one of its two bots, how it ended, and what was expected of it."""


class DuelJudge:
    """Takes the luck out of the matches of one game in a run."""

    def __init__(self, game: Game[Any], function: ValueFunction) -> None:
        self.game, self.function = game, function
        self._valuer = Valuer(function)
        self._known: dict[Judged, float] = {}

    def duel(self) -> Duel:
        """Judges the matches of a comparison, if it is shown them once each and in the order of the schedule: what it
        expects of a match comes from those that it was shown before, other deals only."""
        expectations = Expectations()

        def judged(record: GameRecord, one: str, other: str) -> float:
            return self._value(record, one, other, expectations.before(record))

        return judged

    def _value(self, record: GameRecord, one: str, other: str, expected: Sequence[float]) -> float:
        """Looked up if it is known: a run is judged while it is played, and again for its verdict."""
        key = (record.id, one, record.ranks, tuple(expected))
        if key not in self._known:
            seats = record.seats.index(one), record.seats.index(other)
            phases = self.function.phases
            self._known[key] = bounded_value(self.game, record, self._valuer, expected, seats, phases=phases)
        return self._known[key]
