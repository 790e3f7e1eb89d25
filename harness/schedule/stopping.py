"""How well bots are told apart, by the ratings; and what telling them apart takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import hypot, pi
from statistics import NormalDist

from msgspec.structs import replace

from harness.core.chance import Chance
from harness.core.format import GamePlan, Plan
from harness.core.types import GameRecord, MatchSpec
from harness.ratings import Ratings
from harness.ratings.leaderboard import certainty
from harness.ratings.skill_update import BETA, MU, SIGMA
from harness.schedule.round_robin import rounds as round_robin
from harness.schedule.simulation import simulated_record

SIMULATIONS = 3
_NORMAL = NormalDist()


class SkillBeliefs:
    """What is known of the bots of one game: normal beliefs about their skill, from the records so far."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.ratings = Ratings()
        self._doubts: set[frozenset[str]] = set()
        """Neighbours that the ratings tell apart, but not what was seen over the deals, when it was last looked at."""

    def add(self, record: GameRecord) -> None:
        """Learns from one match."""
        self.ratings.add(record)

    def mu(self, name: str) -> float:
        """The skill it probably has."""
        line = self.ratings.lines.get(name)
        return line.mu if line else MU

    def sigma(self, name: str) -> float:
        """How uncertain that is."""
        line = self.ratings.lines.get(name)
        return line.sigma if line else SIGMA

    def order(self) -> list[str]:
        """Best first; names decide between equals."""
        return sorted(self.names, key=lambda name: (-self.mu(name), name))

    def certainty(self, one: str, two: str) -> float:
        """The probability that `one` is the better of the two."""
        return _NORMAL.cdf((self.mu(one) - self.mu(two)) / hypot(self.sigma(one), self.sigma(two)))

    def undecided(self, wanted: float) -> list[tuple[str, str]]:
        """Neighbours in the order that are not told apart with this probability, or of which one has not played.

        Told apart by the ratings, which assume a model of luck, and also by what was seen over the deals: a few
        matches can look clear to the one and not to the other.
        """
        self._doubts.clear()
        neighbours = list(pairwise(self.order()))
        open_ones = [
            pair for pair in neighbours if self.certainty(*pair) < wanted or not self.ratings.lines.keys() >= set(pair)
        ]
        if open_ones:
            return open_ones
        sure = certainty(self.ratings)
        open_ones = [pair for pair in neighbours if (sure(*pair) or 0.0) < wanted]
        self._doubts.update(map(frozenset, open_ones))
        return open_ones

    def worth(self, one: str, two: str) -> float:
        """How much a meeting would tell, from 0 to 1: how open their order is, times how little is known of it."""
        if frozenset((one, two)) in self._doubts:
            return 1.0
        better = self.certainty(one, two)
        known = self.sigma(one) ** 2 + self.sigma(two) ** 2
        # Rounded, so that the last bits of another machine's arithmetic do not seat other tables.
        return round(4 * better * (1 - better) * known / (known + 2 * BETA**2), 9)


class RepeatedLooks:
    """When to look whether the bots are told apart, and how sure that must be then.

    Who looks often enough will see equal bots told apart by chance. So looks come ever more seldom, and share out the
    doubt that is allowed: the k-th look may take 6 / (pi k) ** 2 of it, which is all of it for looks without end.
    """

    FIRST, GROWTH = 10, 1.5
    """Matches of each bot before the first look, about; and how many times as many before each further one."""

    def __init__(self, wanted: float, bots: int) -> None:
        self.doubt, self.number, self.next = 1 - wanted, 0, float(self.FIRST * bots)

    def due(self, played: int) -> bool:
        """Whether to look now that so many matches have been played."""
        if played < self.next:
            return False
        self.number += 1
        self.next = self.GROWTH * played
        return True

    def level(self) -> float:
        """The probability that is asked for at this look."""
        return 1 - self.doubt * 6 / (pi * max(1, self.number)) ** 2


def matches_of_round_robin(skills: SkillBeliefs, game: GamePlan, plan: Plan, most: int) -> int | None:
    """An estimate of what a round-robin would have taken to separate the same bots by the same rule; None: over `most`.

    It is played with made-up results of bots as strong as they were found to be, a few times over.
    """
    strengths = {name: skills.mu(name) / BETA for name in skills.names}
    tries = [_simulated_length(game, plan, strengths, most, number) for number in range(SIMULATIONS)]
    known = [taken for taken in tries if taken is not None]
    return sum(known) // len(known) if len(known) == len(tries) else None


def _simulated_length(game: GamePlan, plan: Plan, strengths: Mapping[str, float], most: int, number: int) -> int | None:
    luck = Chance(Chance(plan.seed).derive("round-robin instead", game.name, number))
    skills, looks = SkillBeliefs(game.entrants), RepeatedLooks(plan.number("until-separated"), len(game.entrants))
    endless = replace(plan, deals=10**9, format="round-robin", settings={"tables": 0})
    played = 0
    for tables in round_robin(game, endless, luck):
        for table in tables:
            for turn in range(game.players):
                seats = table.seating[turn:] + table.seating[:turn]
                name = f"{table.group}.{table.number}"
                spec = MatchSpec.single(f"{name}.{turn}", game.name, {}, played - turn, seats)
                skills.add(simulated_record(spec, strengths, luck))
                played += 1
        if played > most:
            return None
        if looks.due(played) and not skills.undecided(looks.level()):
            return played
    raise AssertionError("a round-robin of so many deals does not end")
