"""Is one bot better than another at a game? Looks at duplicate sets, one after the other, until it knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import ceil, log10
from statistics import NormalDist
from typing import Literal

from msgspec import Struct

from harness.core.chance import Chance
from harness.core.errors import UsageError
from harness.core.format import GamePlan, Plan
from harness.core.types import GameRecord, MatchSpec, Value
from harness.ratings.betting import Bets, enough
from harness.ratings.intervals import LEVEL
from harness.ratings.shared_deals import Gain, SetSpread

MOST_SETS = 2000
MARGIN = 0.03
POWER = 0.8

Answer = Literal["better", "worse", "equal", "unknown"]


class Question(Struct, frozen=True):
    """Who is compared with whom, at which table."""

    one: str
    other: str
    game: str
    settings: dict[str, Value]
    company: tuple[str, ...] = ()
    """Who else sits at the table."""
    seed: int = 1
    most: int = MOST_SETS
    """Sets after which to give up."""
    margin: float = MARGIN
    """A share of finishing ahead this near to one half is no difference worth looking for."""
    shared: bool = True
    """Whether the matches of a set share a deal; else each has its own, which some games' luck makes the better way."""
    thorough: bool = False
    """Whether to play on to the last set once the answer is known, for a narrower interval."""

    @classmethod
    def of(cls, game: GamePlan, plan: Plan) -> Question:
        """What a plan of the format `compare` asks about one of its games."""
        if len(plan.candidates) != 2:
            raise UsageError("A comparison is about two bots; name them with --candidate, once for each.")
        one, other = plan.candidates
        for name in plan.candidates:
            if name not in game.entrants:
                raise UsageError(f"{name} does not play {game.name}, so there is nothing to compare.")
        return cls(
            one=one,
            other=other,
            game=game.name,
            settings=game.settings,
            company=tuple(name for name in game.entrants if name not in plan.candidates),
            seed=plan.seed,
            most=plan.deals,
            margin=plan.number("margin"),
            shared=not plan.settings["own-deals"],
            thorough=bool(plan.settings["thorough"]),
        )

    @property
    def set_size(self) -> int:
        """Matches of a set."""
        return 2 if not self.company else 2 * (2 + len(self.company))


class Verdict(Struct, frozen=True):
    """What was found."""

    question: Question
    answer: Answer
    """Of the one, compared with the other; "equal" is within the margin, "unknown" is not settled by the last set."""
    sets: int
    matches: int
    ahead: float
    """How often the one finished ahead of the other; a tie is half of one."""
    low: float
    high: float
    fixed_size: int | None
    """Matches that a test of fixed size needs to find a difference of this size, with a chance of POWER."""
    ahead_gain: Gain
    score_gain: Gain
    """What sharing deals did to the variance of finishing ahead, and of the difference of scores."""
    faults: dict[str, int]
    """Matches with a fault, by bot."""

    @property
    def elo(self) -> float | None:
        """The share as a difference in Elo points; None where it has no end."""
        return 400 * log10(self.ahead / (1 - self.ahead)) if 0 < self.ahead < 1 else None

    @property
    def sentence(self) -> str:
        """The answer in words."""
        one, other = self.question.one, self.question.other
        return {
            "better": f"{one} is better than {other}.",
            "worse": f"{one} is worse than {other}.",
            "equal": f"{one} and {other} are equal, give or take {self.question.margin:.1%} of the matches.",
            "unknown": f"{one} and {other} are not told apart by {self.sets:,} sets; --most allows more.",
        }[self.answer]


def duplicate_set(question: Question, number: int) -> Iterator[MatchSpec]:
    """The matches of one set: one deal, everybody in every seat, and the same with the two bots changed over.

    Its places in the schedule are those it has if there is but this game.
    """
    luck = Chance(question.seed)
    places = luck.shuffled(range(2 + len(question.company)), "seating", question.game, number)
    name = f"{question.game}-{number}"
    for turn, order in enumerate(_seatings(places), 1):
        where = ("deal", question.game, number) if question.shared else ("deal", question.game, number, turn)
        yield MatchSpec(
            id=f"{name}.{turn}",
            index=(number - 1) * question.set_size + turn - 1,
            set=name,
            game=question.game,
            options=question.settings,
            seed=luck.derive(*where),
            seats=tuple((question.one, question.other, *question.company)[place] for place in order),
        )


def _seatings(places: list[int]) -> Iterator[list[int]]:
    """All rotations, then all rotations with bots 0 and 1 changed over; for two players these are the same."""
    changed = [1 - place if place < 2 else place for place in places]
    for order in (places, changed) if len(places) > 2 else (places,):
        for turn in range(len(order)):
            yield order[turn:] + order[:turn]


class SequentialTest:
    """The answer to a question, from the sets that were played so far.

    It may be looked at after every set, and whether to go on may depend on whatever was seen: see betting.py. So a
    comparison that was stopped, or has come to its last set, can be continued, by more sets of the same sequence.
    """

    def __init__(self, question: Question) -> None:
        self.question = question
        self.answer: Answer = "unknown"
        self.faults = Counter[str]()
        self._bets = Bets()
        self._ahead, self._points = SetSpread(question.set_size), SetSpread(question.set_size)

    @property
    def sets(self) -> int:
        """How many sets it has seen."""
        return self._ahead.sets

    @property
    def over(self) -> bool:
        """Whether no further set is wanted."""
        known = self.answer != "unknown" and not self.question.thorough
        return known or self.sets >= self.question.most

    def add(self, records: Sequence[GameRecord]) -> None:
        """One more set, its matches in the order of the schedule."""
        results, differences = [], []
        for record in records:
            one, other = record.seats.index(self.question.one), record.seats.index(self.question.other)
            results.append(0.5 + 0.5 * _sign(record.ranks[other] - record.ranks[one]))
            differences.append(float(record.scores[one] - record.scores[other]))
            self.faults.update({record.seats[fault.seat] for fault in record.failures})
        self._ahead.add(results)
        self._points.add(differences)
        self._bets.add(sum(results) / len(results))
        if self.answer == "unknown":
            self.answer = self._look()

    def _look(self) -> Answer:
        bets, margin, needed = self._bets, self.question.margin, enough(LEVEL)
        if bets.above(0.5) >= needed:
            return "better"
        if bets.below(0.5) >= needed:
            return "worse"
        if bets.above(0.5 - margin) >= needed and bets.below(0.5 + margin) >= needed:
            return "equal"
        return "unknown"

    def least(self, most: int) -> int:
        """Sets that can be played at once, up to `most`: before the last of them no answer can be known.

        So all workers are busy, and yet no set is played that the answer does not need.
        """
        if self.question.thorough:
            return most
        none, some = 0, 1
        while some < most and not self._answerable(some):
            none, some = some, 2 * some
        some = min(some, most)
        while some - none > 1:
            middle = (none + some) // 2
            none, some = (none, middle) if self._answerable(middle) else (middle, some)
        return some

    def _answerable(self, sets: int) -> bool:
        """Whether so many more sets could bring an answer, if all went one way or all were level."""
        bets, margin, needed = self._bets, self.question.margin, enough(LEVEL)
        won, lost = bets.followed_by(1.0, sets), bets.followed_by(0.0, sets)
        if won.above(0.5) >= needed or lost.below(0.5) >= needed:
            return True
        low, high = 0.5 - margin, 0.5 + margin
        if not margin or won.above(low) < needed or lost.below(high) < needed:
            return False
        # Wealth grows most, for a given mean of what comes, if every set brings that mean (logarithms are concave). So
        # the lowest mean that still refutes all that is below the margin is the best that can be done for both sides.
        too_low, enough_above = 0.0, 1.0
        for _ in range(_STEPS):
            mean = (too_low + enough_above) / 2
            reached = bets.followed_by(mean, sets).above(low) >= needed
            too_low, enough_above = (too_low, mean) if reached else (mean, enough_above)
        return bets.followed_by(too_low, sets).below(high) >= needed

    def verdict(self) -> Verdict:
        """What has been found so far; there must be a set."""
        low, high = self._bets.interval(LEVEL)
        return Verdict(
            question=self.question,
            answer=self.answer,
            sets=self.sets,
            matches=self.sets * self.question.set_size,
            ahead=self._ahead.mean,
            low=low,
            high=high,
            fixed_size=_fixed_size(self._ahead, self.question.set_size),
            ahead_gain=self._ahead.gain(),
            score_gain=self._points.gain(),
            faults=dict(self.faults),
        )


_STEPS = 12
"""Halvings in the search for a mean: it errs on the side of fewer sets at once."""


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _fixed_size(ahead: SetSpread, matches: int) -> int | None:
    """The usual formula: ((z of the level + z of the power) * deviation / difference) squared."""
    difference = ahead.mean - 0.5
    if not difference or ahead.sets < 2:
        return None
    normal = NormalDist()
    reach = normal.inv_cdf((1 + LEVEL) / 2) + normal.inv_cdf(POWER)
    return matches * max(2, ceil(reach**2 * ahead.variance / difference**2))
