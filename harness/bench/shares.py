"""What a match is made of: steps, legal lists, luck, views, the referee, each as a share of the whole.

Nothing is taken apart for it, so compiled code can be measured too: the same matches are played with more and more of
the work, and differences are what each part costs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from statistics import median

import msgspec

from harness.bench.against import SpeedPlan
from harness.bench.instructions import counter, instructions
from harness.bench.loop_process import LOOPS, LoopFailed, LoopProcess
from harness.bench.peer_environments import Tell

PARTS = LOOPS / "arena_parts.py"
ALWAYS = ("match", "steps", "views", "luck")
LISTS = "given"
"""The part that only plain Python has: legal lists cannot be told from steps in compiled code."""
BATCH = 20
"""Matches that the loop has; a round plays them all."""
MICRO = 1e6


class Shares(msgspec.Struct, frozen=True):
    """One game in one arena, taken apart."""

    game: str
    players: int
    python: str
    """Its interpreter; empty for this one."""
    versions: str
    whole: float
    """Of a decision, all in all: microseconds, or instructions."""
    unit: str
    shares: dict[str, float]
    """Part -> its share of the whole; they add up to 1."""


def measure_shares(pythons: Iterable[str | None], plan: SpeedPlan, tell: Tell) -> Iterator[Shares]:
    """Every game in each of these arenas; None is this one."""
    if plan.count:
        counter()
    for game, players in plan.tables.items():
        for python in pythons:
            tell(f"Measuring what {game} is made of{f', in {python}' if python else ''} ...")
            yield _taken_apart(python, game, players, plan)


def _taken_apart(python: str | None, game: str, players: int, plan: SpeedPlan) -> Shares:
    workload = f"{game}/{players}"
    with ExitStack() as running:
        loops = {part: running.enter_context(LoopProcess(python, PARTS, f"{workload}/{part}")) for part in ALWAYS}
        with suppress(LoopFailed):  # the table has a dash there
            loops[LISTS] = running.enter_context(LoopProcess(python, PARTS, f"{workload}/{LISTS}"))
        versions = str(loops["match"].versions)
        if not plan.count:
            costs = _times(loops, plan)
    if plan.count:
        costs = {part: [instructions(python, PARTS, f"{workload}/{part}")] for part in loops}
    unit = "instructions" if plan.count else "microseconds"
    return Shares(game, players, python or "", versions, median(costs["match"]), unit, shares_of(costs))


def _times(loops: dict[str, LoopProcess], plan: SpeedPlan) -> dict[str, list[float]]:
    """Microseconds a decision, in turns."""
    games = loops["match"].play_for(plan.seconds / plan.pairs / len(loops), 0).games
    games = BATCH * max(1, round(games / BATCH))
    costs: dict[str, list[float]] = {part: [] for part in loops}
    for number in range(plan.pairs):
        for part, loop in reversed(loops.items()) if number % 2 else loops.items():
            costs[part].append(MICRO / loop.play(games, 0).rate)
    return costs


def shares_of(costs: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """The share of each part, from what the loops took in each round: medians over rounds of differences in one."""
    rounds = [dict(zip(costs, each, strict=True)) for each in zip(*costs.values(), strict=True)]
    of = {part: median(each[part] / each["match"] for each in rounds) for part in costs}
    shares = {"luck": of["luck"], "views": of["views"] - of["steps"], "referee and bot": 1 - of["views"]}
    if LISTS in of:
        return {"steps": of[LISTS] - of["luck"], "legal lists": of["steps"] - of[LISTS], **shares}
    return {"steps, with legal lists": of["steps"] - of["luck"], **shares}
