"""Is one bot better than another? A test that stops as soon as the answer is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log10
from statistics import variance
from typing import Literal

from msgspec import Struct

from harness.comparison.sampling_units import (
    ComparisonSpec,
    PairScore,
    Pilot,
    PilotResult,
    Unit,
    clip,
    pair_score,
    unit_size,
    unit_values,
)
from harness.core.records import GameRecord
from harness.ratings.betting import (
    MIXTURE_WEIGHTS,
    WIDE_MIXTURE_WEIGHTS,
    ConfidenceSequence,
    log_threshold,
    one_sided_log_threshold,
)
from harness.ratings.statistics import LEVEL

Answer = Literal["better", "worse", "equal", "unknown"]
_BISECTION_STEPS = 12
"""Steps of the search for a mean; the result errs on the side of fewer units at once."""


class Verdict(Struct, frozen=True):
    """The result of a comparison."""

    question: ComparisonSpec
    answer: Answer
    """About the first bot, compared with the second; "equal" means within the margin, "unknown" that the last match
    came before an answer."""
    matches: int
    units: dict[Unit, int]
    """The number of units of each kind."""
    ahead: float
    """The share of matches in which the first bot finished ahead of the second; a tie is one half. In a gauntlet, where
    they do not meet: one half plus half of the difference of their table shares."""
    low: float
    high: float
    shares: tuple[float, float] | None
    """In a gauntlet: the share of the others at the table that each of the two finished ahead of."""
    pilot: PilotResult | None
    """What decided the way of playing, if it was left open and has been decided."""
    faults: dict[str, int]
    """Matches with a fault, by bot."""
    as_played: float | None = None
    """If luck-adjusted: the share of matches in which the first bot finished ahead, without adjustment."""
    luck_saved: float | None = None
    """If luck-adjusted: the share of the matches that this saved, by the variances of a unit with and without it;
    negative if it cost some."""

    @property
    def elo(self) -> float | None:
        """The share as a difference in Elo points; None if it is infinite or if the two bots do not meet."""
        met = self.question.way != "gauntlet"
        return 400 * log10(self.ahead / (1 - self.ahead)) if met and 0 < self.ahead < 1 else None

    @property
    def sentence(self) -> str:
        """The answer in words. It names the other bots at the table, because it holds for such tables only."""
        spec = self.question
        one, other, where = spec.one, spec.other, spec.where
        meet = spec.way != "gauntlet"
        if self.answer == "unknown":
            played = f"{self.matches:,} match{'es' if self.matches != 1 else ''}"
            is_better = "is better" if meet else "does better"
            return f"After {played} it is not known whether {one} or {other} {is_better} {where}."
        if self.answer == "equal":
            if meet:
                most = f"neither finishes ahead in more than {0.5 + spec.margin:.1%} of the matches"
                return f"{one} and {other} are equally good {where}: {most}."
            most = f"their shares of the table differ by at most {200 * spec.margin:.3g} points"
            return f"{one} and {other} do equally well {where}: {most}."
        return f"{one} {'is' if meet else 'does'} {self.answer} than {other} {where}."


class SequentialTest:
    """The answer to a comparison, from the matches played so far.

    It may be read after every unit, and whether to continue may depend on everything seen so far: wealth is a
    nonnegative martingale, see ratings/betting.py. So a comparison that was stopped, or has reached its last match, can
    be continued with more of the same sequence.

    It stops when one half is refuted, or everything outside of the margin. "Better" and "worse" have an error of 2.5%
    each. "Equal" refutes two hypotheses, that the first bot is better by more than the margin and that it is worse by
    more; at most one of them is true, so each may use all 5% (intersection-union test). All answers together are wrong
    in at most 5%, whatever the truth: evidence that refutes one half from above refutes the margin as well.
    """

    def __init__(self, spec: ComparisonSpec, score: PairScore = pair_score) -> None:
        """`score` says how far a bot finished ahead in a match; it is called once for each match, in order."""
        self.spec = spec
        self._score = score
        self.answer: Answer = "unknown"
        self.faults = Counter[str]()
        self.units = Counter[Unit]()
        self.matches = 0
        self._unit: list[GameRecord] = []
        """The matches of a unit that is not complete."""
        self._has_gap = False
        self._pilot = Pilot(spec.way)
        # Luck-adjusted values can be above 1 or below 0, so they are scaled to a wider range before bets are made.
        self._values = ConfidenceSequence(WIDE_MIXTURE_WEIGHTS if spec.luck else MIXTURE_WEIGHTS)
        self._margin = spec.margin / spec.stretch
        self._total = self._first_total = self._played_total = 0.0
        """Sums over matches: of all results, of the first result of each unit, and of the results as played."""
        self._with_and_without_luck: dict[Unit, list[tuple[float, float]]] = {}
        """If luck-adjusted: the results of units as played, and adjusted."""

    @property
    def units_played(self) -> int:
        """The number of units added."""
        return self.units.total()

    @property
    def unit(self) -> Unit:
        """The kind of unit to play next."""
        return self._pilot.unit

    @property
    def over(self) -> bool:
        """Whether no more units are needed."""
        known = self.answer != "unknown" and not self.spec.thorough
        return known or self.units_allowed < 1

    @property
    def units_allowed(self) -> int:
        """The number of units up to the maximum of matches, if all are like the next."""
        return (self.spec.most - self.matches) // unit_size(self.unit)

    def add(self, record: GameRecord) -> None:
        """Add the next match in schedule order; what comes after a gap, in a stopped run, does not count."""
        self._has_gap = self._has_gap or record.id != (
            f"{self.spec.game}-{self.units_played + 1}.{len(self._unit) + 1}"
        )
        if self._has_gap:
            return
        self._unit.append(record)
        if len(self._unit) == unit_size(self.unit):
            self.add_unit(self._unit)
            self._unit = []

    def add_unit(self, records: Sequence[GameRecord]) -> None:
        """Add the matches of the next unit, in schedule order."""
        spec, unit = self.spec, self.unit
        values = unit_values(spec, unit, records, self._score)
        results = [spec.as_share(value) for value in values]
        for record in records:
            self.faults.update({record.seats[fault.seat] for fault in record.failures})
        if spec.luck:
            played = unit_values(spec, unit, records)
            self._played_total += sum(played)
            both = sum(played) / len(played), sum(results) / len(results)
            self._with_and_without_luck.setdefault(unit, []).append(both)
        self.units[unit] += 1
        self.matches += len(records)
        self._total += sum(results)
        self._first_total += results[0]
        # One value a unit: its matches share a deal, so they are not independent and must not be bet on one by one.
        self._values.add_value(sum(values) / len(values))
        self._pilot.add_unit(results)
        # The first answer stands: with more units (`thorough`) the wealth may fall again, the evidence does not.
        if self.answer == "unknown":
            self.answer = self._find_answer()

    def _find_answer(self) -> Answer:
        values, margin = self._values, self._margin
        if values.log_wealth_above(0.5) >= log_threshold(LEVEL):
            return "better"
        if values.log_wealth_below(0.5) >= log_threshold(LEVEL):
            return "worse"
        needed = one_sided_log_threshold(LEVEL)
        if values.log_wealth_above(0.5 - margin) >= needed and values.log_wealth_below(0.5 + margin) >= needed:
            return "equal"
        return "unknown"

    def next_batch(self, max_matches: int) -> int:
        """Return how many units of the next kind can be played at once, in up to `max_matches` matches.

        No answer is possible before the last of them. So all workers are busy, and only matches that the answer needs
        are played.
        """
        limit = max(
            1, min(max_matches // unit_size(self.unit), self.units_allowed, self._pilot.units_left or max_matches)
        )
        if self.spec.thorough:
            return limit
        # Doubling and bisection, because `_can_stop_within` is true for every larger number once it is true.
        too_few, enough = 0, 1
        while enough < limit and not self._can_stop_within(enough):
            too_few, enough = enough, 2 * enough
        enough = min(enough, limit)
        while enough - too_few > 1:
            middle = (too_few + enough) // 2
            too_few, enough = (too_few, middle) if self._can_stop_within(middle) else (middle, enough)
        return enough

    def _can_stop_within(self, count: int) -> bool:
        """Return whether `count` more units could bring an answer. May be True in error, never False."""
        values, margin, threshold = self._values, self._margin, log_threshold(LEVEL)
        won, lost = values.with_more(1.0, count), values.with_more(0.0, count)
        if won.log_wealth_above(0.5) >= threshold or lost.log_wealth_below(0.5) >= threshold:
            return True
        low, high, needed = 0.5 - margin, 0.5 + margin, one_sided_log_threshold(LEVEL)
        if not margin or won.log_wealth_above(low) < needed or lost.log_wealth_below(high) < needed:
            return False
        # For a given mean of the units to come, wealth grows most if every unit has that mean, because the logarithm
        # is concave. So the lowest mean that refutes everything below the margin is the best case for both sides.
        too_low, sufficient = 0.0, 1.0
        for _ in range(_BISECTION_STEPS):
            mean = (too_low + sufficient) / 2
            reached = values.with_more(mean, count).log_wealth_above(low) >= needed
            too_low, sufficient = (too_low, mean) if reached else (mean, sufficient)
        return values.with_more(too_low, count).log_wealth_below(high) >= needed

    def verdict(self) -> Verdict:
        """Return the result so far; at least one unit must have been added."""
        low, high = (clip(self.spec.as_share(bound)) for bound in self._values.interval(LEVEL))
        ahead, turns = self._total / self.matches, self.units["turns"]
        first = self._first_total / self.units_played
        return Verdict(
            question=self.spec,
            answer=self.answer,
            matches=self.matches,
            units=dict(self.units),
            ahead=clip(ahead),
            low=min(low, clip(ahead)),  # the interval weighs units equally, the share weighs matches equally
            high=max(high, clip(ahead)),
            shares=(first, 1 - (2 * ahead - first)) if turns else None,
            pilot=self._pilot.result,
            faults=dict(self.faults),
            as_played=self._played_total / self.matches if self.spec.luck else None,
            luck_saved=self._luck_saved(),
        )

    def _luck_saved(self) -> float | None:
        results = max(self._with_and_without_luck.values(), key=len, default=[])  # of the commonest kind of unit
        if len(results) < 2:
            return None
        played, adjusted = map(variance, zip(*results, strict=True))
        return 1 - adjusted / played if played else None
