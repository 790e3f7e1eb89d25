"""How long cores wait for results, format by format: simulated runs on many nodes, in a time of their own.

Schedules are real, and so is what gives out matches while others are being played; bots and the time that matches take
are made up. Nodes have their matches at once and one by one, so what is idle is so because of the format alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from math import exp, log
from typing import NamedTuple

from harness.core.chance import Chance
from harness.core.format import GamePlan, Plan
from harness.core.types import GameRecord, MatchSpec, Value
from harness.executors import Job
from harness.executors.jobs import Keep, Played, let_go
from harness.runs.live_matches import LiveMatches, play_live
from harness.schedule import FORMATS, Schedule
from harness.schedule.simulation import simulated_record

NODES = (2, 8, 32)
CORES = 4
"""Of each node."""
BOTS, SEATS, DEALS = 16, 4, 50
GAP = 0.2
"""How far bots are apart, in spreads of their performance in one match."""
SPREAD = 0.6
"""Of the logarithms of the times that matches of a game take: 0.4 to 0.7 was measured with four equal searchers at a
table, about 1 with bots that are quick and slow."""
SEEDS = (1, 2, 3)
LENGTHS = {"el-paso": 185, "gnadenlos": 82, "x-pasch": 207}
"""Decisions a match, by `arena bench`: what a match takes of bots that think equally long about each."""


class IdleCase(NamedTuple):
    """A format as it is asked for."""

    format: str
    settings: Mapping[str, Value] = {}
    deals: int = DEALS
    bots: int = BOTS
    candidates: tuple[str, ...] = ()


PAIR = ("bot00", "bot01")
CASES: Mapping[str, IdleCase] = {
    "round-robin": IdleCase("round-robin"),
    "gauntlet": IdleCase("gauntlet", {"tables": 35}, candidates=PAIR),
    "swiss": IdleCase("swiss"),
    "swiss, 4 times the deals": IdleCase("swiss", deals=4 * DEALS),
    "knockout": IdleCase("knockout"),
    "knockout, 4 times the deals": IdleCase("knockout", deals=4 * DEALS),
    "ladder": IdleCase("ladder"),
    "ladder:tables=64": IdleCase("ladder", {"tables": 64}),
    "ladder:until-separated=0.95": IdleCase("ladder", {"until-separated": 0.95, "max-matches": 3200}),
    "compare": IdleCase("compare", deals=6000, bots=SEATS, candidates=PAIR),
}


class IdleShare(NamedTuple):
    """Shares of the cores' time in which they have nothing to do."""

    matches: float
    """Of a run, on average."""
    in_step: float
    """If every game waits until all games have finished a round."""
    live: float
    """As runs are played: each game goes on as soon as its own results allow."""


class SimulatedNodes:
    """An executor whose cores play in a time of their own: nothing waits, and the same run takes the same time."""

    def __init__(
        self, cores: int, seconds: Callable[[MatchSpec], float], result: Callable[[MatchSpec], GameRecord]
    ) -> None:
        self.cores, self._seconds, self._result = cores, seconds, result
        self.now = self.busy = 0.0
        self.played = 0

    def run(self, jobs: Iterable[Job], _keep: Keep = let_go) -> Iterator[Played]:
        """Plays these matches, as soon as a core is free and in order; gives each when it ends."""
        waiting, playing = iter(jobs), list[tuple[float, int, MatchSpec]]()
        while True:
            while len(playing) < self.cores and (job := next(waiting, None)) is not None:
                self.played += 1
                seconds = self._seconds(job.spec)
                self.busy += seconds
                heappush(playing, (self.now + seconds, self.played, job.spec))
            if not playing:
                return
            self.now, _, spec = heappop(playing)
            yield Played(self._result(spec), b"")

    @property
    def idle(self) -> float:
        """Seconds of cores in which they had nothing to do, from the first match to the end of the last."""
        return self.cores * self.now - self.busy


class _World:
    """What matches take and come to: the same on any number of nodes."""

    def __init__(self, luck: Chance) -> None:
        self._luck = luck
        self._strengths = {name: GAP * number for number, name in enumerate(_names(BOTS))}
        self._known: dict[str, tuple[float, GameRecord]] = {}

    def seconds(self, spec: MatchSpec) -> float:
        return self._of(spec)[0]

    def result(self, spec: MatchSpec) -> GameRecord:
        return self._of(spec)[1]

    def _of(self, spec: MatchSpec) -> tuple[float, GameRecord]:
        if spec.id not in self._known:
            usual = log(LENGTHS.get(spec.game, 100)) - SPREAD**2 / 2
            seconds = exp(self._luck.rng("length", spec.id).gauss(usual, SPREAD))
            self._known[spec.id] = seconds, simulated_record(spec, self._strengths, self._luck)
        return self._known[spec.id]


def plan_of(case: IdleCase, games: Sequence[str], seed: int) -> Plan:
    """The plan of a run of this case."""
    return Plan(
        games=tuple(
            GamePlan(name=game, rules="", settings={}, players=SEATS, entrants=_names(case.bots)) for game in games
        ),
        deals=case.deals,
        seed=seed,
        format=case.format,
        settings=dict(case.settings),
        candidates=case.candidates,
    )


def _names(bots: int) -> tuple[str, ...]:
    return tuple(f"bot{number:02}" for number in range(bots))


def _play(schedule: Schedule, executor: SimulatedNodes) -> None:
    """As a run is played."""
    if schedule.adaptive:
        matches = LiveMatches(schedule.course(), {}, lambda _spec, _record: None)
        complete = play_live(matches, lambda specs: _records(executor, specs), ())
        assert complete, "a simulated run is played to its end"
    else:
        for _ in _records(executor, schedule.matches()):
            pass


def _play_in_step(schedule: Schedule, executor: SimulatedNodes) -> None:
    """With all games waiting for each other after each round."""

    def results(specs: Sequence[MatchSpec]) -> list[GameRecord]:
        played = {record.id: record for record in _records(executor, specs)}
        return [played[spec.id] for spec in specs]

    if not schedule.adaptive:
        return _play(schedule, executor)
    for _ in schedule.follow(results):
        pass
    return None


def _records(executor: SimulatedNodes, specs: Iterable[MatchSpec]) -> Iterator[GameRecord]:
    return (played.record for played in executor.run(map(Job, specs)))


def measure_idle(
    games: Sequence[str], cases: Iterable[str] = CASES, nodes: Sequence[int] = NODES, seeds: Sequence[int] = SEEDS
) -> dict[str, dict[int, IdleShare]]:
    """Of each of these cases on so many nodes, what is idle in runs of these games."""
    return {name: _shares(CASES[name], games, nodes, seeds) for name in cases}


def _shares(case: IdleCase, games: Sequence[str], nodes: Sequence[int], seeds: Sequence[int]) -> dict[int, IdleShare]:
    ways: Sequence[Callable[[Schedule, SimulatedNodes], None]] = (_play_in_step, _play)
    ended: dict[tuple[int, int], list[SimulatedNodes]] = {}
    for seed in seeds:
        schedule = Schedule(plan_of(case, games, seed), FORMATS)
        world = _World(Chance(seed))
        for many in nodes:
            for way, play in enumerate(ways):
                executor = SimulatedNodes(CORES * many, world.seconds, world.result)
                play(schedule, executor)
                ended.setdefault((many, way), []).append(executor)
    return {many: _share(ended[many, 0], ended[many, 1]) for many in nodes}


def _share(in_step: Sequence[SimulatedNodes], live: Sequence[SimulatedNodes]) -> IdleShare:
    idle = [sum(each.idle for each in runs) / sum(each.cores * each.now for each in runs) for runs in (in_step, live)]
    return IdleShare(sum(each.played for each in live) / len(live), *idle)
