"""Plans of made-up games, and runs of them with simulated bots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import combinations
from typing import Any

from harness.core.plan import GamePlan, Outcome, Plan
from harness.core.records import GameRecord, MatchSpec
from harness.core.rng import Chance
from harness.plugins.features import FORMATS
from harness.runs.scheduler import Schedule, simulated_record
from tests.support.schedules import follow


def names(many: int) -> tuple[str, ...]:
    return tuple(f"bot{number:02}" for number in range(many))


def game(bots: int, seats: int, name: str = "game") -> GamePlan:
    return GamePlan(name, "1", {"edition": "test"}, seats, names(bots))


def plan(bots: int, seats: int, form: str = "round-robin", deals: int = 1, seed: int = 1, **settings: Any) -> Plan:
    return of_games((game(bots, seats),), deals, seed, form, **settings)


def of_games(
    games: tuple[GamePlan, ...],
    deals: int,
    seed: int,
    form: str,
    candidates: tuple[str, ...] = (),
    **settings: Any,
) -> Plan:
    given = {name.replace("_", "-"): value for name, value in settings.items()}
    return Plan(games=games, deals=deals, seed=seed, format=form, settings=given, candidates=candidates)


def scheduled(asked: Plan) -> Schedule:
    return Schedule(asked, FORMATS)


def even(bots: int, gap: float) -> dict[str, float]:
    """Bots so far apart, in spreads of a performance; the last one is the best."""
    return {name: gap * number for number, name in enumerate(names(bots))}


def play(
    asked: Plan,
    strengths: Mapping[str, float] | None = None,
    change: Callable[[GameRecord], GameRecord] = lambda record: record,
) -> tuple[list[list[MatchSpec]], dict[str, Outcome]]:
    """Runs a plan with simulated bots: its rounds and its outcomes."""
    luck, played = Chance(asked.seed), []
    going = follow(
        scheduled(asked), lambda specs: [change(simulated_record(spec, strengths or {}, luck)) for spec in specs]
    )
    while True:
        try:
            played.append(next(going))
        except StopIteration as end:
            return played, end.value


def sets_of(specs: Iterable[MatchSpec]) -> dict[str, frozenset[str]]:
    """Who plays in each duplicate set."""
    return {spec.set: frozenset(spec.seats) for spec in specs}


def meetings(tables: Iterable[Iterable[str]]) -> Counter[frozenset[str]]:
    return Counter(frozenset(pair) for table in tables for pair in combinations(table, 2))


def spread(counts: Counter[Any], everything: Iterable[Any]) -> int:
    """The most less the least, of all that could be counted."""
    all_counts = [counts[each] for each in everything]
    return max(all_counts) - min(all_counts)


def pairs(bots: int) -> list[frozenset[str]]:
    return [frozenset(pair) for pair in combinations(names(bots), 2)]
