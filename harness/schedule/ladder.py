"""Ladder: seats the tables whose results would tell most about the order, until it is clear or matches run out."""

from __future__ import annotations

from collections import Counter
from heapq import heapify, heappop, heappush
from itertools import combinations

from harness.core.chance import Chance
from harness.core.errors import UsageError
from harness.core.format import DuplicateSet, Format, GamePlan, Outcome, Plan, Rounds
from harness.core.types import Option
from harness.schedule.round_robin import MOST_TABLES_ASKED
from harness.schedule.stopping import RepeatedLooks, SkillBeliefs, matches_of_round_robin

MOST_TIMES = 5
"""How many times as many matches the estimate of a round-robin goes."""


def rounds(game: GamePlan, plan: Plan, luck: Chance) -> Rounds:
    """A few tables at a time, each with a deal of its own; the outcome says how many matches were saved."""
    skills, wanted = SkillBeliefs(game.entrants), plan.number("until-separated")
    most, seats = count(game, plan), game.players
    looks = RepeatedLooks(wanted, len(game.entrants))
    played = number = deal = 0
    while most is None or played + seats <= most:
        room = tables_per_round(game, plan) if most is None else (most - played) // seats
        number += 1
        tables: list[DuplicateSet] = []
        for table in most_telling(skills, seats, min(room, tables_per_round(game, plan)), luck, game.name, number):
            deal += 1
            tables.append(
                DuplicateSet(number, len(tables) + 1, (deal,), game.seating(table, luck, number, len(tables) + 1))
            )
        for record in (yield tables):
            skills.add(record)
            played += 1
        if wanted and looks.due(played) and not skills.undecided(looks.level()):
            break
    return Outcome(tuple(skills.order()), _note(skills, played, looks.level(), game, plan))


def most_telling(
    skills: SkillBeliefs, seats: int, tables: int, luck: Chance, game: str, number: int
) -> list[list[str]]:
    """The tables of a round: the pair whose meeting would tell most, and those who add most to it, and so on.

    Two bots that sit already in this round count half, then a third, ...: part of their news is spent.
    """
    names = luck.shuffled(skills.names, "ladder", game, number)  # lots decide between equals
    worth = {frozenset(pair): skills.worth(*pair) for pair in combinations(names, 2)}
    sits: Counter[str] = Counter()
    queue = [(-worth[frozenset(pair)], place, pair) for place, pair in enumerate(combinations(names, 2))]
    heapify(queue)

    def left(one: str, two: str) -> float:
        return worth[frozenset((one, two))] / (1 + (sits[one] + sits[two]) / 2)

    found: list[list[str]] = []
    while len(found) < tables:
        value, place, pair = heappop(queue)
        heappush(queue, (-left(*pair), place, pair))
        if -value > left(*pair):
            continue  # one of the two has sat down since it was queued
        table: list[str] = list(pair)
        while len(table) < seats:
            waiting = (name for name in names if name not in table)
            table.append(max(waiting, key=lambda name: sum([left(name, other) for other in table])))
        sits.update(table)
        found.append(table)
    return found


def _note(skills: SkillBeliefs, played: int, level: float, game: GamePlan, plan: Plan) -> str:
    wanted = plan.number("until-separated")
    if not wanted:
        return ""
    sure = f"{100 * wanted:g}%"
    if close := skills.undecided(level):
        pairs = "; ".join(f"{better} and {worse}" for better, worse in close)
        return f"After {played:,} matches still not told apart with {sure}: {pairs}."
    plain = matches_of_round_robin(skills, game, plan, MOST_TIMES * played)
    if plain is None:
        verdict = f"more than {MOST_TIMES} times as many"
    else:
        verdict = f"about {plain:,}, so {f'about {plain - played:,} were' if plain > played else 'nothing was'} saved"
    return (
        f"Neighbours are told apart with {sure}, repeated looks allowed for, after {played:,} matches; "
        f"a round-robin would have taken {verdict}."
    )


def tables_per_round(game: GamePlan, plan: Plan) -> int:
    """As asked, or enough for every bot to sit once."""
    return plan.whole("tables") or -(-len(game.entrants) // game.players)


def count(game: GamePlan, plan: Plan) -> int | None:
    """The most that will be played: a round for each deal, or until separated, and never above max_matches."""
    ends = [] if plan.number("until-separated") else [plan.deals * tables_per_round(game, plan) * game.players]
    if plan.whole("max-matches"):
        ends.append(plan.whole("max-matches") // game.players * game.players)
    return min(ends, default=None)


def check(game: GamePlan, plan: Plan) -> None:
    """Refuses probabilities that mean nothing and limits that allow nothing."""
    sure, most = plan.number("until-separated"), plan.whole("max-matches")
    if sure and not 0.5 < sure < 1:
        raise UsageError(f"Neighbours are told apart with a probability above 0.5 and below 1, not {sure:g}.")
    if 0 < most < game.players:
        raise UsageError(
            f"{game.name} at tables of {game.players} needs at least {game.players} matches for one duplicate set; "
            f"at most {most} are allowed."
        )


LADDER = Format(
    "ladder",
    "the tables whose results would tell most about the order, until it is clear",
    rounds,
    count,
    adaptive=True,
    anytime=True,
    check=check,
    options=(
        Option(
            "tables", 0, "tables of a round; 0 seats everyone once", kind="int", minimum=0, maximum=MOST_TABLES_ASKED
        ),
        Option(
            "until-separated",
            0.0,
            "go on until neighbours are told apart with this probability; 0 is off",
            kind="float",
            minimum=0,
            maximum=1,
        ),
        Option("max-matches", 0, "play no more matches of one game than this; 0 is no limit", kind="int", minimum=0),
    ),
)
