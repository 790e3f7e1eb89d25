"""Prints the tables of docs/league-ratings.md: `python -m tests.league.newcomers [newcomers] [cost] [claims] [sure]`.

What a newcomer needs, what a table costs, and how often the claims hold.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from random import Random
from statistics import mean, median
from time import process_time

from click import echo

from harness.league.matchmaking import RunningRatings, is_settled, seat_tables
from harness.league.strengths import Strength, Strengths
from tests.league.claims import FIRST, ROWS, SELF_MADE, held, pooled
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


def width(one: Strength) -> float:
    return one.high - one.low


def arrival(league: League, entrants: int, seater: Seater) -> Arrival:
    """A newcomer joins a league, which is seated in this way from there on."""
    made = league.copy(seater)
    names = [f"bot{number}" for number in range(entrants - 1)]
    before = made.strengths.fit()
    usual = sum(one.matches for one in before.values()) / len(before)
    look = max(4.0, usual / 2)
    for _ in made.rounds([*names, "new"]):
        own = sum("new" in table for table, _ in made.late) + made.ratings.matches("new")
        if own < look:
            continue
        table = made.strengths.fit()
        # Those next to it: in the middle of a field shares are known less well than at its ends.
        near = sorted(names, key=lambda name: abs(table[name].value - table["new"].value))[:5]
        if width(table["new"]) <= median(width(before[name]) for name in near) or own > MAX_FACTOR * usual:
            return Arrival(usual, own, made.matches - league.matches)
        look = own * 1.05
    raise AssertionError("rounds do not end")


def arrivals(entrants: int, seats: int, runs: int, seater: Seater, first: int = FIRST) -> list[Arrival]:
    return [arrival(settled(entrants, seats, seed), entrants, seater) for seed in range(first, first + runs)]


def print_newcomers() -> None:
    echo(
        "| entrants | apart | seats | matches of the others | matches of the newcomer | of all meanwhile | "
        "by lot: of the newcomer | of all meanwhile | everybody against everybody: of all |"
    )
    echo("|---|---|---|---|---|---|---|---|---|")
    for entrants, spread, runs in ((20, SPREAD, 20), (20, 1.5, 20), (100, SPREAD, 5), (1000, SPREAD, 1)):
        for seats in (2, 3, 4):
            leagues = [settled(entrants, seats, seed, spread) for seed in range(FIRST, FIRST + runs)]
            ours, lots = (
                [arrival(one, entrants, seater) for one in leagues] for seater in (seat_tables, random_tables)
            )
            figures = [[one.veterans for one in ours], [one.own for one in ours], [one.all for one in ours]]
            # Everybody against everybody is played in whole rounds, as many as it takes for matches as by lot.
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
    echo("\n| bots | matches | pairs that met | add, µs a match | fit, s | state, MB |")
    echo("|---|---|---|---|---|---|")
    for entrants, matches in ((20, 10_000), (100, 100_000), (1000, 100_000), (1000, 1_000_000)):
        echo(f"| {entrants:,} | {matches:,} | {cost_of_fit(entrants, matches)}")


def cost_of_fit(entrants: int, matches: int) -> str:
    """Costs of a league of so many matches at tables of four, as it would be seated."""
    rng = Random(1)
    names = [f"bot{number}" for number in range(entrants)]
    bots, strengths = Bots({name: rng.gauss(0, SPREAD) for name in names}), Strengths()
    league = League(bots, 4, 1)
    league.play(20 * entrants, names)
    spent, done = 0.0, 0
    while done < matches:
        tables = seat_tables(league.ratings, names, [], 4, min(4 * MAX_TABLES, matches - done), rng)
        played = [(table, bots.play(table, rng)) for table in tables]
        began = process_time()
        for table, ranks in played:
            strengths.add_match(table, ranks)
        spent += process_time() - began
        done += len(tables)
    began = process_time()
    strengths.fit()
    fitted = process_time() - began
    parts = strengths.state()
    size = sum(len(part) if isinstance(part, bytes) else 16 * len(part) for part in parts)
    return f"{len(parts[-2]) // 8:,} | {1e6 * spent / done:.0f} | {fitted:.2f} | {size / 1e6:.1f} |"


def print_claims(sure: bool) -> None:
    if not sure:
        echo("| league | runs | `ahead` holds | of newcomers | of odd bots | mean width, points |")
        echo("|---|---|---|---|---|---|")
    counts = []
    for row in [*ROWS, *SELF_MADE]:
        found = held(row, row.runs)
        if row.spread:
            counts.append(found)
        late = f"{found.late / found.late_lines:.1%}" if found.late_lines else ""
        odd = f"{found.odd / found.odd_lines:.1%}" if found.odd_lines else ""
        if not sure:
            echo(f"| {row.name} | {row.runs} | {found.ahead / found.lines:.1%} | {late} | {odd} | "
                  f"{100 * found.width / found.lines:.1f} |")  # fmt: skip
    echo("\n| it said | pairs | it said on average | it was right |")
    echo("|---|---|---|---|")
    edges = [50, 60, 70, 80, 90, 100]
    found_sure = pooled(counts)
    for low, high in pairwise(edges):
        number, said, right = found_sure.get(low // 10, [0, 0.0, 0.0])
        if number:
            echo(f"| {low}-{high}% | {number:,.0f} | {said / number:.1%} | {right / number:.1%} |")


def main(wanted: list[str]) -> None:
    if not wanted or "newcomers" in wanted:
        print_newcomers()
        echo()
    if not wanted or "cost" in wanted:
        print_costs()
        echo()
    if not wanted or "claims" in wanted or "sure" in wanted:
        print_claims("sure" in wanted)


if __name__ == "__main__":
    main(sys.argv[1:])
