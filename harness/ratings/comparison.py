"""Is one bot better than another at a game? Plays duplicate sets until it knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from itertools import groupby
from math import ceil, log10
from statistics import NormalDist
from typing import Literal

from msgspec import Struct

from harness.core.chance import Chance
from harness.core.errors import UsageError
from harness.core.types import GameRecord, MatchSpec, Value
from harness.ratings import LEVEL, in_schedule_order
from harness.ratings.betting import Bets, enough
from harness.ratings.shared_deals import Gain, SetSpread

MOST_SETS = 2000
MARGIN = 0.03
POWER = 0.8

Play = Callable[[Iterable[MatchSpec]], Iterator[GameRecord]]
"""Plays matches; their records may come in any order."""


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


def specs(question: Question) -> Iterator[MatchSpec]:
    """The matches, set by set: one deal, everybody in every seat, and the same with the two bots changed over."""
    luck = Chance(question.seed)
    index = 0
    for number in range(1, question.most + 1):
        places = luck.shuffled(range(2 + len(question.company)), "seating", question.game, number)
        name = f"{question.game}-{number}"
        for turn, order in enumerate(_seatings(places), 1):
            where = ("deal", question.game, number) if question.shared else ("deal", question.game, number, turn)
            seats = tuple((question.one, question.other, *question.company)[place] for place in order)
            yield MatchSpec(
                id=f"{name}.{turn}",
                index=index,
                set=name,
                game=question.game,
                options=question.settings,
                seed=luck.derive(*where),
                seats=seats,
            )
            index += 1


def _seatings(places: list[int]) -> Iterator[list[int]]:
    """All rotations, then all rotations with bots 0 and 1 changed over; for two players these are the same."""
    changed = [1 - place if place < 2 else place for place in places]
    for order in (places, changed) if len(places) > 2 else (places,):
        for turn in range(len(order)):
            yield order[turn:] + order[:turn]


def compare(question: Question, play: Play, seen: Callable[[GameRecord], None] = lambda _record: None) -> Verdict:
    """Plays sets in schedule order until the answer is known: the same answer with any executor."""
    if len({question.one, question.other, *question.company}) < 2 + len(question.company):
        raise UsageError("Everybody at the table must be different; give a bot other options (bot:key=value).")
    bets, faults = Bets(), Counter[str]()
    ahead, points = SetSpread(question.set_size), SetSpread(question.set_size)
    answer: Answer = "unknown"
    with closing(in_schedule_order(play(specs(question)))) as records:
        for _, played in groupby(records, key=lambda record: record.set):
            results, differences = [], []
            for record in played:
                seen(record)
                one, other = record.seats.index(question.one), record.seats.index(question.other)
                results.append(0.5 + 0.5 * _sign(record.ranks[other] - record.ranks[one]))
                differences.append(float(record.scores[one] - record.scores[other]))
                faults.update({record.seats[fault.seat] for fault in record.failures})
            if len(results) < question.set_size:
                break  # somebody stopped the executor in the middle of a set
            ahead.add(results)
            points.add(differences)
            bets.add(sum(results) / len(results))
            if answer == "unknown":
                answer = _answer(bets, question.margin)
            if answer != "unknown" and not question.thorough:
                break
    if not ahead.sets:
        raise UsageError("No set was finished: there is nothing to compare.")
    low, high = bets.interval(LEVEL)
    return Verdict(
        question=question,
        answer=answer,
        sets=ahead.sets,
        matches=ahead.sets * question.set_size,
        ahead=ahead.mean,
        low=low,
        high=high,
        fixed_size=_fixed_size(ahead, question.set_size),
        ahead_gain=ahead.gain(),
        score_gain=points.gain(),
        faults=dict(faults),
    )


def _answer(bets: Bets, margin: float) -> Answer:
    needed = enough(LEVEL)
    if bets.above(0.5) >= needed:
        return "better"
    if bets.below(0.5) >= needed:
        return "worse"
    if bets.above(0.5 - margin) >= needed and bets.below(0.5 + margin) >= needed:
        return "equal"
    return "unknown"


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
