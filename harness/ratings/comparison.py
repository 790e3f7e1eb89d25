"""Is one bot better than another at a game? Looks at one unit after the other until it knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import ceil, log10
from statistics import NormalDist

from msgspec import Struct

from harness.core.types import GameRecord
from harness.ratings.answers import rule_for
from harness.ratings.betting import CAREFUL_PURSES, EVEN_PURSES, WIDE_PURSES, Bets
from harness.ratings.intervals import LEVEL
from harness.ratings.pilot import Pilot, PilotResult
from harness.ratings.question import Answer, Question, Unit
from harness.ratings.shared_deals import Gain, SetSpread
from harness.ratings.units import Duel, duel, results_of, share

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
        played = (
            f"{self.units['set']:,} sets"
            if question.former
            else f"{self.matches:,} match{'es' if self.matches != 1 else ''}"
        )
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
        self._bets = Bets(EVEN_PURSES if question.former else WIDE_PURSES if question.luck else CAREFUL_PURSES)
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
        if self.question.former:
            return self.question.most - self.played
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
        shared: Unit = "set" if self.question.way == "sets" else "pair"
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
            ahead_gain=self._ahead[shared].gain() if shared in self._ahead else None,
            score_gain=self._points[shared].gain() if shared in self._points else None,
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
