"""Prints the tables of docs/league-ratings.md: `python -m tests.league.newcomers [newcomers] [cost] [claims]`.

What a newcomer needs, what a table costs, and how often the claims hold.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from math import ceil
from random import Random
from statistics import mean, median
from time import process_time

from click import echo

from harness.league.matchmaking import RunningRatings, is_settled, seat_tables
from harness.league.skills import LeagueCounts
from tests.league.claims import FIRST, ROWS, SELF_MADE, held
from tests.league.worlds import MAX_TABLES, MIN_TABLES, Bots, League, Seater, random_tables

SPREAD = 0.8
MAX_FACTOR = 40
"""Times the veterans' matches, after which a newcomer that is still not known is given up."""


@dataclass
class Arrival:
    """What it took until a newcomer's interval was as narrow as those of its neighbours were when it came."""

    veterans: float
    """Matches that each of the others had."""
    own: int
    """Matches of the newcomer."""
    all: int
    """Matches that were played meanwhile."""


def settled(entrants: int, seats: int, seed: int, spread: float = SPREAD) -> League:
    """A league whose bots are known well enough."""
    rng = Random(seed)
    names = [f"bot{number}" for number in range(entrants - 1)]
    made = League(Bots({name: rng.gauss(0, spread) for name in [*names, "new"]}), seats, seed)
    for _ in made.rounds(names):
        if is_settled(made.ratings, names):
            return made
    raise AssertionError("rounds do not end")


def arrival(league: League, entrants: int, seater: Seater) -> Arrival:
    """A newcomer joins a league, which is seated in this way from there on."""
    made = league.copy(seater)
    names = [f"bot{number}" for number in range(entrants - 1)]
    before = made.counts.fit()
    usual = sum(one.matches for one in before.values()) / len(before)
    look = max(4.0, usual / 2)
    for _ in made.rounds([*names, "new"]):
        own = sum("new" in table for table, _ in made.late) + made.ratings.matches("new")
        if own < look:
            continue
        table = made.counts.fit()
        # Those next to it: at the ends of a field skills are known less well than in the middle.
        near = sorted(names, key=lambda name: abs(table[name].interval.value - table["new"].interval.value))[:5]
        usual_reach = median(before[name].interval.reach for name in near)
        if table["new"].interval.reach <= usual_reach or own > MAX_FACTOR * usual:
            return Arrival(usual, own, made.matches - league.matches)
        look = own * 1.05
    raise AssertionError("rounds do not end")


def arrivals(entrants: int, seats: int, runs: int, seater: Seater, first: int = FIRST) -> list[Arrival]:
    return [arrival(settled(entrants, seats, seed), entrants, seater) for seed in range(first, first + runs)]


def print_newcomers() -> None:
    echo(
        "| entrants | apart | seats | matches of the others | matches of the newcomer | of all meanwhile | "
        "random tables: of the newcomer | of all meanwhile | round-robin: of all |"
    )
    echo("|---|---|---|---|---|---|---|---|---|")
    for entrants, spread, runs in ((20, SPREAD, 20), (20, 1.5, 20), (100, SPREAD, 5), (1000, SPREAD, 1)):
        for seats in (2, 3, 4):
            leagues = [settled(entrants, seats, seed, spread) for seed in range(FIRST, FIRST + runs)]
            ours, lots = (
                [arrival(one, entrants, seater) for one in leagues] for seater in (seat_tables, random_tables)
            )
            figures = [[one.veterans for one in ours], [one.own for one in ours], [one.all for one in ours]]
            # The round-robin has as many complete rounds as give a newcomer its matches with random tables.
            own = mean(one.own for one in lots)
            rounds = ceil(own * (seats - 1) / (entrants - 1))
            figures += [[one.own for one in lots], [one.all for one in lots]]
            figures += [[rounds * entrants * (entrants - 1) / seats / (seats - 1)]]
            cells = " | ".join(f"{mean(figure):,.0f}" for figure in figures)
            echo(f"| {entrants:,} | {spread} | {seats} | {cells} |")


def cost_of_tables(entrants: int, seats: int, count: int, seconds: float = 0.5) -> float:
    """Milliseconds that it takes to seat one table, of so many in a round."""
    rng = Random(1)
    names = [f"bot{number}" for number in range(entrants)]
    bots, ratings = Bots({name: rng.gauss(0, SPREAD) for name in names}), RunningRatings()
    for _ in range(30 * entrants // seats):
        table = rng.sample(names, seats)
        ratings.add_match(table, bots.play(table, rng))
    began, rounds = process_time(), 0
    while process_time() - began < seconds:
        seat_tables(ratings, names, [], seats, count, rng)
        rounds += 1
    return 1000 * (process_time() - began) / rounds / count


def print_costs() -> None:
    echo("| entrants | tables of a round | ms a table, 2 seats | 4 seats | 4 seats, only 4 tables a round |")
    echo("|---|---|---|---|---|")
    for entrants in (20, 100, 1000):
        count = max(MIN_TABLES, min(MAX_TABLES, entrants // 4))
        both = [cost_of_tables(entrants, seats, count) for seats in (2, 4)]
        few = cost_of_tables(entrants, 4, MIN_TABLES)
        echo(f"| {entrants:,} | {count} | {both[0]:.3f} | {both[1]:.3f} | {few:.3f} |")
    echo("\n| bots | matches | pairs that met | add, µs a match | fit, s | again after some matches, s | state, MB |")
    echo("|---|---|---|---|---|---|---|")
    for entrants, matches in ((20, 10_000), (100, 100_000), (1000, 100_000), (1000, 1_000_000)):
        echo(f"| {entrants:,} | {matches:,} | {cost_of_fit(entrants, matches)}")


def cost_of_fit(entrants: int, matches: int) -> str:
    """Costs of a league of so many matches at tables of four, as it would be seated."""
    rng = Random(1)
    names = [f"bot{number}" for number in range(entrants)]
    bots, counts = Bots({name: rng.gauss(0, SPREAD) for name in names}), LeagueCounts()
    league = League(bots, 4, 1)
    league.play(20 * entrants, names)
    spent, done = 0.0, 0
    while done < matches:
        tables = seat_tables(league.ratings, names, [], 4, min(4 * MAX_TABLES, matches - done), rng)
        played = [(table, bots.play(table, rng)) for table in tables]
        began = process_time()
        for table, ranks in played:
            counts.add_match(table, ranks)
        spent += process_time() - began
        done += len(tables)
    began = process_time()
    found = counts.fit()
    fitted = process_time() - began
    start = {name: one.interval.value for name, one in found.items()}
    for _ in range(entrants // 4):
        table = rng.sample(names, 4)
        counts.add_match(table, bots.play(table, rng))
    began = process_time()
    counts.fit(start)
    warm = process_time() - began
    parts = counts.state()
    size = sum(len(part) if isinstance(part, bytes) else 16 * len(part) for part in parts)
    return f"{len(parts[-2]) // 8:,} | {1e6 * spent / done:.0f} | {fitted:.2f} | {warm:.2f} | {size / 1e6:.1f} |"


def print_claims() -> None:
    echo("| league | runs | intervals hold | of newcomers | of odd bots | mean ± |")
    echo("|---|---|---|---|---|---|")
    for row in [*ROWS, *SELF_MADE]:
        found = held(row, row.runs)
        late, odd = (f"{mean(some):.1%}" if some else "" for some in (found.late, found.odd))
        echo(f"| {row.name} | {row.runs} | {found.share:.1%} ± {found.error:.1%} | {late} | {odd} | "
             f"{mean(found.widths):.2f} |")  # fmt: skip


def main(wanted: list[str]) -> None:
    if not wanted or "newcomers" in wanted:
        print_newcomers()
        echo()
    if not wanted or "cost" in wanted:
        print_costs()
        echo()
    if not wanted or "claims" in wanted:
        print_claims()


if __name__ == "__main__":
    main(sys.argv[1:])
