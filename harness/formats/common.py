"""Code shared by formats: rounds, and checks of plans that extend a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest

from harness.core.errors import StoreError, UsageError
from harness.core.plan import DuplicateSet, GamePlan, OpenRound, Plan
from harness.core.records import GameRecord
from harness.core.rng import Chance

# Points, seatings, and playing all deals of a round.


BATCH_MATCHES = 1000
"""Approximate number of matches in a batch of an adaptive format: enough to keep workers busy, few enough to hold in
memory."""


@dataclass(slots=True)
class Tally:
    """The results of one bot in some matches. Depends on seats, ranks, scores and faults only."""

    points: float = 0.0
    """One point for each opponent beaten, half a point for each tie."""
    most: int = 0
    """Maximum of points."""
    score: int = 0
    faults: int = 0
    opponents: list[str] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """The share of the points won; 0.5 before the first match."""
        return self.points / self.most if self.most else 0.5


def add_to_tallies(record: GameRecord, tallies: dict[str, Tally]) -> None:
    """Add a result to the bots' tallies; each bot of the record must have one."""
    failed = {fault.seat for fault in record.faults}
    for seat, name in enumerate(record.seats):
        rank, mine = record.ranks[seat], tallies[name]
        others = [*record.ranks[:seat], *record.ranks[seat + 1 :]]
        mine.points += sum([1.0 if rank < other else 0.5 if rank == other else 0.0 for other in others])
        mine.most += len(others)
        mine.score += record.scores[seat]
        mine.faults += seat in failed


def play_round(
    number: int, tables: Sequence[Sequence[str]], game: GamePlan, plan: Plan, luck: Chance
) -> Generator[OpenRound, Sequence[GameRecord], dict[str, Tally]]:
    """Play all deals of a round at these tables, in batches, and return the tally of each bot."""
    tallies = {name: Tally(opponents=[other for other in table if other != name]) for table in tables for name in table}
    yield _RoundInBatches(_sets(number, tables, game, plan, luck), _sets_per_batch(game), tallies)
    return tallies


class _RoundInBatches(OpenRound):
    """All deals of a round, in batches that do not depend on each other."""

    def __init__(self, sets: Iterator[DuplicateSet], size: int, tallies: dict[str, Tally]) -> None:
        self._sets, self._size, self._tallies = sets, size, tallies

    def next_matches(self) -> list[DuplicateSet]:
        return list(islice(self._sets, self._size))

    def add_result(self, record: GameRecord) -> None:
        add_to_tallies(record, self._tallies)


def batch_sizes(tables: int, game: GamePlan, plan: Plan) -> Iterator[int]:
    """Return the number of matches in each batch of a round with this many tables."""
    sets, piece = tables * plan.deals, _sets_per_batch(game)
    return (min(piece, sets - first) * game.players for first in range(0, sets, piece))


def _sets_per_batch(game: GamePlan) -> int:
    return max(1, BATCH_MATCHES // game.players)


def _sets(
    number: int, tables: Sequence[Sequence[str]], game: GamePlan, plan: Plan, luck: Chance
) -> Iterator[DuplicateSet]:
    count = 0
    # Deals are numbered over all rounds, so that no deal is played in two of them.
    for deal in range((number - 1) * plan.deals + 1, number * plan.deals + 1):
        for place, table in enumerate(tables, 1):
            count += 1
            yield DuplicateSet(number, count, (deal, place), game.seating(table, luck, number, count))


class RoundTracker:
    """Base of trackers of formats with rounds: the tally of each bot of one game in each round."""

    def __init__(self, game: GamePlan, plan: Plan) -> None:
        self.game, self.plan = game, plan
        self.matches: Counter[int] = Counter()
        """Round -> number of its matches added so far."""
        self.tallies: dict[int, dict[str, Tally]] = {}

    def add(self, record: GameRecord) -> None:
        """Add a match to its round."""
        number = record.round
        self.matches[number] += 1
        played = self.tallies.setdefault(number, {})
        for name in record.seats:
            if name not in played:
                played[name] = Tally(opponents=[other for other in record.seats if other != name])
        add_to_tallies(record, played)

    def tallies_of(self, number: int, bots: Collection[str], every: bool = False) -> dict[str, Tally]:
        """Return the tallies of a round in which these bots play.

        Raise StoreError if other bots have records there, or if `every` is set and a bot has none.
        """
        played = self.tallies.get(number, {})
        if not played.keys() <= set(bots) or (every and len(played) < len(bots)):
            raise StoreError(
                f"Round {number} of {self.game.name} has records of bots that do not play in it: "
                "'arena verify' says which records are not the run's."
            )
        return played


def amount(points: float) -> str:
    """Return points as text: `12` or `12.5`."""
    return f"{points:g}" if points < 100_000 else f"{points:.1f}".removesuffix(".0")


def still_to_play(number: int, rounds: int, played: int, matches: int) -> str:
    """Return a sentence about the rounds left, when `played` of the `matches` of round `number` are known."""
    left = rounds - number + 1
    text = f"{left} of {rounds} rounds {'is' if left == 1 else 'are'} still to be finished"
    if played:
        return f"{text}; {played:,} of {matches:,} matches of round {number} have been played and do not count yet."
    return f"{text}."


# Extensions of adaptive formats: allowed if all matches keep their places in the schedule.


SizesOf = Callable[[GamePlan, Plan], Iterator[int] | None]


def longer_swiss(plan: Plan, asked: Plan, sizes: SizesOf) -> Plan:
    """Return the plan of a swiss with more rounds; raise UsageError for any other change."""
    same_field(plan, asked, "its rounds were seated without the late bots")
    if asked.deals != plan.deals:
        raise UsageError(
            f"The number of deals of a swiss cannot change: each of its rounds has {plan.deals}, and their results "
            f"decided who met whom in later rounds. It can have more rounds.",
            fix="more-rounds",
        )
    same_settings(plan, asked, "rounds")
    return _same_places(plan, asked, sizes, "rounds")


def longer_ladder(plan: Plan, asked: Plan, sizes: SizesOf) -> Plan:
    """Return the plan of a ladder with more deals, one round each; raise UsageError for any other change."""
    why = "its claims are tests of all pairs of its bots from the first match on"
    same_field(plan, asked, why, " A ladder with the goal newcomer places new bots among old ones.")
    same_settings(plan, asked)
    if plan.number("until-separated"):
        raise UsageError("This ladder ends when its goal is reached, or at max-matches: no number of deals ends it.")
    return _same_places(plan, asked, sizes, "deals")


def no_longer_knockout(_plan: Plan, _asked: Plan) -> Plan:
    """Raise UsageError: a knockout cannot be extended."""
    raise UsageError(
        "A knockout cannot be extended: with more deals other bots might have advanced, and a late bot would have "
        "missed the first round. Play another knockout."
    )


def same_field(plan: Plan, asked: Plan, why: str, instead: str = "") -> None:
    """Raise UsageError, which says `why` and what to do `instead`, if bots would join or leave a run."""
    if asked.games != plan.games or asked.candidates != plan.candidates:
        raise UsageError(
            f"No bot can join a {plan.format} late: {why}. Play a gauntlet with it as the candidate, or another run "
            f"with all bots; several runs can be rated together.{instead}"
        )


def same_settings(plan: Plan, asked: Plan, *but: str) -> None:
    """Raise UsageError if an option of the format changes, apart from those that may."""
    changed = [name for name, value in asked.settings.items() if value != plan.settings.get(name) and name not in but]
    if changed:
        allowed = f"; it can have more {', '.join(but)}" if but else ""
        raise UsageError(f"A {plan.format} that has begun keeps its {', '.join(changed)}{allowed}.")


def _same_places(plan: Plan, asked: Plan, sizes: SizesOf, what: str) -> Plan:
    """Return the requested plan if its schedule starts with that of the old plan; raise UsageError otherwise."""
    # Records refer to places in the schedule, and games take turns: a step with another size would move later matches.
    old, new = _steps(plan, sizes), _steps(asked, sizes)
    if any(step != next(new, None) for step in old):
        so_that = "all its games end at the same time" if len(plan.games) > 1 else "it ends with a whole round"
        raise UsageError(
            f"This {plan.format} cannot have that number of {what}: matches that are already planned would move in the "
            f"schedule. The number of {what} can only grow, and only if {so_that}."
        )
    if next(new, None) is None:
        raise UsageError(f"That adds no match to this {plan.format}.")
    return asked


def _steps(plan: Plan, sizes: SizesOf) -> Iterator[tuple[int, ...]]:
    """Yield the number of matches of each game in each step of a run."""
    return zip_longest(*(sizes(game, plan) or () for game in plan.games), fillvalue=0)
