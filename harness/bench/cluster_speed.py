"""What a cluster costs: matches a second beside the local pool, and how many cores one driver feeds."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from time import process_time
from typing import Any

from harness.bench.engine_speed import UNIFORM
from harness.bench.executor_speed import bench_jobs, executor_rate
from harness.core.action import Action
from harness.core.bot import Bot
from harness.core.game import Game
from harness.executors.cluster.places import begin_here
from harness.executors.jobs import HERE, ClusterChoice, Roster, choose_executor
from harness.match.referee import play
from harness.plugins.entrants import Entrant, enter
from harness.runs.request import RunRequest

ROUNDS = 3
"""Pairs of a comparison; the middle ratio counts."""
LONGER = 4
"""Times as long as quick bots, slow ones are measured: theirs are few matches."""
THOUGHT = 0.005
"""Seconds of processor time that a bot takes for a decision, where it thinks."""
STUBS = 50
"""Nodes that only send lines, and..."""
CORES = 2
"""...cores of each."""
STUB_THOUGHT = 0.001
WARM, STUBS_WARM = 3.0, 12.0
"""Seconds until batches are as long as they become: they grow with what was played, and stubs share one process."""


class Thinks(Bot[Any]):
    """Uses five milliseconds of processor time for each decision."""

    by_default = False

    def choose(self, _view: Any, actions: Sequence[Action]) -> Action:
        """The first action, after a while."""
        until = process_time() + THOUGHT
        while process_time() < until:
            pass
        return actions[0]


THINKS = enter(Thinks, {}, "", "arena", "1")


def measure_cluster(game: Game[Any], players: int, nodes: int, seconds: float) -> dict[str, float]:
    """The local pool beside as many nodes of one core on this machine, with quick bots and with slow ones; and what
    the driver takes of matches that cost nothing, and of those of many cores."""
    found: dict[str, float] = {}
    for what, bot, times in (("quick bots", UNIFORM, 1), ("bots of 5 ms", THINKS, LONGER)):
        ways = ("", f"local:{nodes}")
        pairs = [[_rate(game, players, bot, nodes, times * seconds, way)[0] for way in ways] for _ in range(ROUNDS)]
        found[f"{what}, pool of {nodes}, matches/s"] = median(here for here, _ in pairs)
        found[f"{what}, local:{nodes}, matches/s"] = median(there for _, there in pairs)
        found[f"{what}, local:{nodes} against the pool"] = median(there / here for here, there in pairs)
    rate, used = _stubs(game, players, seconds, 0.0)
    found[f"{STUBS} stub nodes, matches/s"] = rate
    found["driver's microseconds a match"] = 1e6 * used / rate
    rate, used = _stubs(game, players, seconds, STUB_THOUGHT)
    found[f"{STUBS * CORES} cores of 1 ms bots, matches/s"] = rate
    found["ideally"] = STUBS * CORES / (STUB_THOUGHT * _decisions(game, players))
    found["driver's share of a core then"] = used
    return found


def _rate(
    game: Game[Any], players: int, bot: Entrant, workers: int, seconds: float, cluster: str = "", warm: float = WARM
) -> tuple[float, float]:
    """Matches a second once it is under way, and the share of a core that this process used meanwhile."""
    roster = Roster({game.name: game}, {bot.name: bot})
    choice = ClusterChoice(cluster) if cluster else HERE
    limits = RunRequest(move_time=0).limits
    with choose_executor(roster, limits, None if cluster else workers, cluster=choice) as executor:
        return executor_rate(executor, game, players, seconds, bot.name, warm)


def _decisions(game: Game[Any], players: int) -> int:
    """Of the match that stub nodes send: the first of the list."""
    spec = next(bench_jobs(game, players)).spec
    return len(play(spec, game, [UNIFORM] * players).actions)


def _stubs(game: Game[Any], players: int, seconds: float, think: float) -> tuple[float, float]:
    place = begin_here("stub nodes", "harness.bench.stub_nodes", STUBS, CORES, think)
    try:
        return _rate(game, players, UNIFORM, 0, seconds, place.address, STUBS_WARM)
    finally:
        place.close()
