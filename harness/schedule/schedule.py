"""From a plan to matches: the only thing that a tournament talks to."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from itertools import count as counting

from msgspec.structs import replace

from harness.core.chance import Chance
from harness.core.errors import UsageError
from harness.core.types import GameRecord, MatchSpec
from harness.schedule.format import DuplicateSet, Outcome, Rounds
from harness.schedule.formats import check, format_of
from harness.schedule.plan import GamePlan, Plan
from harness.schedule.simulation import simulated_record


def is_adaptive(plan: Plan) -> bool:
    """Whether later matches depend on the results of earlier ones."""
    return format_of(plan).adaptive


def count(plan: Plan) -> int | None:
    """How many matches a plan has at most (exactly, but for a ladder); None if only the results can tell."""
    check(plan)
    counts = [format_of(plan).count(game, plan) for game in plan.games]
    known = [each for each in counts if each is not None]
    return sum(known) if len(known) == len(counts) else None


def matches(plan: Plan) -> Iterator[MatchSpec]:
    """The matches of a plan that needs no results, lazily and in schedule order.

    Deals come outermost, so that a part of a run is balanced too.
    """
    check(plan)
    if is_adaptive(plan):
        raise UsageError(f"Who meets whom in a {plan.format} depends on the results; it has no schedule in advance.")
    return _flat(plan)


def _flat(plan: Plan) -> Iterator[MatchSpec]:
    luck, index = Chance(plan.seed), counting()
    running = [(game, format_of(plan).rounds(game, plan, luck)) for game in plan.games]
    for _ in range(plan.deals):
        for game, format_rounds in running:
            for table in next(format_rounds):
                yield from _set(game, table, luck, index)


def rounds(plan: Plan) -> Generator[list[MatchSpec], Sequence[GameRecord], dict[str, Outcome]]:
    """The matches of any plan, round by round: send the records of a round, in its order, to get the next one.

    Games go on side by side until each has ended; what comes back in the end is the outcome of each game.
    Only seats, ranks, scores and faults of the records matter, so a resumed run is led to where it was by
    sending the records it has.
    """
    check(plan)
    luck, index = Chance(plan.seed), counting()
    outcomes: dict[str, Outcome] = {}
    running: dict[str, tuple[GamePlan, Rounds]] = {
        game.name: (game, format_of(plan).rounds(game, plan, luck)) for game in plan.games
    }
    results: dict[str, Sequence[GameRecord]] = {}
    while True:
        asked: dict[str, list[MatchSpec]] = {}
        for name, (game, format_rounds) in list(running.items()):
            try:
                tables = format_rounds.send(results[name]) if name in results else next(format_rounds)
            except StopIteration as end:
                outcomes[name] = end.value
                del running[name]
            else:
                asked[name] = [spec for table in tables for spec in _set(game, table, luck, index)]
        if not asked:
            return outcomes
        specs = [spec for part in asked.values() for spec in part]
        records = yield specs
        _check_sent(specs, records)
        results = {name: [record for record in records if record.game == name] for name in asked}


def outcomes(plan: Plan, records: Iterable[GameRecord]) -> dict[str, Outcome]:
    """What the format says of a complete run: its own standing and its note, game by game."""
    if not is_adaptive(plan):
        return {game.name: Outcome() for game in plan.games}
    by_id = {record.id: replace(record, actions=()) for record in records}  # actions are most of a record's size
    following = rounds(plan)
    try:
        specs = next(following)
        while True:
            specs = following.send([by_id[spec.id] for spec in specs])
    except StopIteration as end:
        ended: dict[str, Outcome] = end.value
        return ended
    except KeyError:
        return {}  # not all matches of the last round are there: the run is not complete


def _set(game: GamePlan, table: DuplicateSet, luck: Chance, index: Iterator[int]) -> Iterator[MatchSpec]:
    """The matches of one duplicate set."""
    duplicates = f"{game.name}-{table.group}.{table.number}"
    seed = luck.derive("deal", game.name, *table.deal)
    for turn, seats in enumerate(rotations(table.seating), 1):
        yield MatchSpec(f"{duplicates}.{turn}", next(index), duplicates, game.name, game.settings, seed, seats)


def rotations(seating: Sequence[str]) -> list[tuple[str, ...]]:
    """A duplicate set's seatings: everybody sits once in every seat."""
    return [(*seating[turn:], *seating[:turn]) for turn in range(len(seating))]


def _check_sent(specs: Sequence[MatchSpec], records: Sequence[GameRecord]) -> None:
    """A wrong record here would silently give another schedule: better to stop."""
    assert records is not None, "a round's records must be sent"
    ids, sent = [spec.id for spec in specs], [record.id for record in records]
    assert ids == sent, f"records of {len(ids)} matches from {ids[0]} on were expected in schedule order"


def simulated_schedule(plan: Plan, strengths: Mapping[str, float] | None = None) -> Iterator[MatchSpec]:
    """A schedule that the plan may lead to: the schedule itself if results do not matter.

    Bots are as strong as `strengths` says, in spreads of their performance in one match; all alike if left out.
    A ladder of bots that are all alike may go on for long: take as much of it as you need.
    """
    if not is_adaptive(plan):
        yield from matches(plan)
        return
    luck, known = Chance(plan.seed), strengths or {}
    going = rounds(plan)
    specs = next(going)
    while True:
        yield from specs
        try:
            specs = going.send([simulated_record(spec, known, luck) for spec in specs])
        except StopIteration:
            return
