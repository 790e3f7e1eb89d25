"""How fast executors are: workers and clusters against one process, and the idle time of each format."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from heapq import heappop, heappush
from itertools import chain, count
from math import exp, log
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Lock
from time import monotonic, perf_counter, process_time, sleep
from typing import Any, NamedTuple

from msgspec.structs import replace

from harness.bench.engine import UNIFORM
from harness.cluster import agent
from harness.cluster.messages import (
    Batch,
    BatchDone,
    NodeFacts,
    decode_order,
    decode_setup,
    encode_message,
    environment_facts,
    unpack_for_node,
)
from harness.core.action import Action
from harness.core.bot import Bot
from harness.core.files import Folder
from harness.core.game import Game
from harness.core.plan import GamePlan, Plan
from harness.core.records import GameRecord, MatchSpec, Value
from harness.core.rng import Chance
from harness.executors.base import (
    HERE,
    ClusterChoice,
    Executor,
    Job,
    Keep,
    Played,
    Roster,
    choose_executor,
    discard,
    encode,
)
from harness.executors.pool import LocalPool
from harness.executors.serial import SerialExecutor
from harness.isolation.launch import new_folder, remove_folder
from harness.match.faults import NO_LIMITS
from harness.match.referee import play
from harness.plugins.entrants import Entrant, enter
from harness.plugins.features import FORMATS
from harness.runs.reader import GAMES
from harness.runs.request import RunRequest
from harness.runs.scheduler import Schedule, play_matches, simulated_record
from harness.runs.store import RecordFile

# Local executors: matches a second in a bare loop, in the serial executor, and in worker processes.


ROUNDS = 3
"""Rounds in which the executors are measured alternately; the best round of each counts, because a disturbance slows
one round and not all."""


def measure_executors(game: Game[Any], players: int, workers: int, seconds: float) -> dict[str, float]:
    """Return the matches a second of each executor with random bots, and their ratios."""
    roster = Roster({game.name: game}, {"uniform": UNIFORM})
    share = seconds / ROUNDS / 4
    best = dict.fromkeys(("bare", "serial", "one", "many"), 0.0)
    parent, each = 1.0, 0.0
    for _ in range(ROUNDS):
        # In turns within a round, so that a disturbance affects all executors.
        best["bare"] = max(best["bare"], _bare(game, players, share))
        best["serial"] = max(best["serial"], executor_rate(SerialExecutor(roster), game, players, share)[0])
        with LocalPool(roster, NO_LIMITS, 1) as one:
            best["one"] = max(best["one"], executor_rate(one, game, players, share)[0])
        with LocalPool(roster, NO_LIMITS, workers) as many:
            rate, used = executor_rate(many, game, players, share)
        if rate > best["many"]:
            best["many"], parent, each = rate, used, 1e6 * used / rate
    return {
        "bare referee, matches/s": best["bare"],
        "serial executor, matches/s": best["serial"],
        "1 worker, matches/s": best["one"],
        f"{workers} workers, matches/s": best["many"],
        "serial executor against bare": best["serial"] / best["bare"],
        f"{workers} workers against 1": best["many"] / best["one"],
        "parent's share of a core": parent,
        "parent's microseconds a match": each,
    }


def bench_jobs(game: Game[Any], players: int, bot: str = "uniform") -> Iterator[Job]:
    """Yield matches of this bot against itself, without end."""
    settings, seats = dict(game.settings), (bot,) * players
    number = 0
    while True:
        number += 1
        yield Job(MatchSpec.single(f"bench-{number}", game.name, settings, number, seats, index=number))


def _bare(game: Game[Any], players: int, seconds: float) -> float:
    jobs = bench_jobs(game, players)
    began = perf_counter()
    played = _repeat_for(lambda: play(next(jobs).spec, game, [UNIFORM] * players), seconds)
    return played / (perf_counter() - began)


def executor_rate(
    executor: Executor, game: Game[Any], players: int, seconds: float, bot: str = "uniform", warm: float | None = None
) -> tuple[float, float]:
    """Return the matches a second, and the share of a core that this process used.

    The first `warm` seconds (or a quarter of the time) do not count. Records are written to a file as in a run.
    """
    with TemporaryDirectory() as folder:
        file, kept = RecordFile(Folder(Path(folder)), GAMES, summed=True, create=True), count()

        def keep(played: Sequence[Played]) -> None:
            file.append([each.line for each in played])
            for _ in played:
                next(kept)

        running = executor.run(bench_jobs(game, players, bot), keep)
        _repeat_for(running.__next__, seconds / 4 if warm is None else warm)
        # Counted where lines are kept: records may be yielded later, many at once.
        first, began, used = next(kept), perf_counter(), process_time()
        _repeat_for(running.__next__, seconds)
        spent, used = perf_counter() - began, process_time() - used
        file.close()
    return (next(kept) - first) / spent, used / spent


def _repeat_for(step: Callable[[], object], seconds: float) -> int:
    began, steps = perf_counter(), 0
    while perf_counter() - began < seconds:
        step()
        steps += 1
    return steps


# Clusters: matches a second compared with the local pool, and how many cores one driver can feed. Dask is optional, so
# functions of this section and the next import it themselves: the rest of this module works without it.


SLOW_BOT_FACTOR = 4
"""Slow bots are measured this many times as long as quick ones, because they play few matches."""
SLOW_BOT_THINK_S = 0.005
"""Processor time of a slow bot for a decision."""
FAKE_NODES = 50
"""Fake nodes, which send records without playing, and ..."""
FAKE_NODE_CORES = 2
"""... the cores of each."""
FAKE_THINK_S = 0.001
WARM_S, FAKE_WARM_S = 3.0, 12.0
"""Time until batches have grown to their full size; fake nodes take longer, because they share one process."""


class SlowBot(Bot[Any]):
    """A bot that uses SLOW_BOT_THINK_S of processor time for each decision."""

    by_default = False

    def choose(self, _view: Any, actions: Sequence[Action]) -> Action:
        """Return the first action after the thinking time."""
        until = process_time() + SLOW_BOT_THINK_S
        while process_time() < until:
            pass
        return actions[0]


SLOW_BOT = enter(SlowBot, {}, "", "arena", "1")


def measure_cluster(game: Game[Any], players: int, nodes: int, seconds: float) -> dict[str, float]:
    """Return the rates of the local pool and of a cluster with as many nodes of one core, with quick and slow bots, and
    what the driver needs for matches that cost nothing and for a large cluster."""
    found: dict[str, float] = {}
    for what, bot, times in (("quick bots", UNIFORM, 1), ("bots of 5 ms", SLOW_BOT, SLOW_BOT_FACTOR)):
        modes = ("", f"local:{nodes}")
        pairs = [[_rate(game, players, bot, nodes, times * seconds, mode)[0] for mode in modes] for _ in range(ROUNDS)]
        found[f"{what}, pool of {nodes}, matches/s"] = median(here for here, _ in pairs)
        found[f"{what}, local:{nodes}, matches/s"] = median(there for _, there in pairs)
        found[f"{what}, local:{nodes} against the pool"] = median(there / here for here, there in pairs)
    rate, used = _rate(game, players, UNIFORM, 0, seconds, QUICK_NODES, FAKE_WARM_S)
    found[f"{FAKE_NODES} stub nodes, matches/s"] = rate
    found["driver's microseconds a match"] = 1e6 * used / rate
    rate, used = _rate(game, players, UNIFORM, 0, seconds, THINKING_NODES, FAKE_WARM_S)
    found[f"{FAKE_NODES * FAKE_NODE_CORES} cores of 1 ms bots, matches/s"] = rate
    # Fake nodes send the record of the first job only.
    decisions = len(play(next(bench_jobs(game, players)).spec, game, [UNIFORM] * players).actions)
    found["ideally"] = FAKE_NODES * FAKE_NODE_CORES / (FAKE_THINK_S * decisions)
    found["driver's share of a core then"] = used
    return found


def _rate(
    game: Game[Any], players: int, bot: Entrant, workers: int, seconds: float, cluster: str = "", warm: float = WARM_S
) -> tuple[float, float]:
    """Return the matches a second after warming up, and the share of a core that this process used."""
    roster = Roster({game.name: game}, {bot.name: bot})
    choice = ClusterChoice(cluster) if cluster else HERE
    limits = RunRequest(move_time=0).limits
    with choose_executor(roster, limits, None if cluster else workers, cluster=choice) as executor:
        return executor_rate(executor, game, players, seconds, bot.name, warm)


# Fake nodes: they send the record of one match under the ids of all others, at once or after the time that real cores
# with thinking bots would take. They measure the driver alone.


QUICK_NODES, THINKING_NODES = f"{__name__}:start_quick_nodes", f"{__name__}:start_thinking_nodes"
"""Clusters of fake nodes, as --cluster names them."""


def start_quick_nodes(think: float = 0.0) -> Any:
    """Return a cluster whose nodes send records at once, or after `think` seconds for each decision."""
    from harness.cluster.connect import start_cluster_process  # optional, see above

    return start_cluster_process("stub nodes", "harness.bench.executors", FAKE_NODES, FAKE_NODE_CORES, think)


def start_thinking_nodes() -> Any:
    """Return a cluster whose nodes send records after the time that bots would take."""
    return start_quick_nodes(FAKE_THINK_S)


class FakeNodes:
    """The fake nodes of this process; they replace the functions of `cluster.agent`."""

    def __init__(self, cores: int, think: float) -> None:
        """Each node has `cores` cores, and bots think `think` seconds about a decision."""
        self.cores, self.think = cores, think
        self._lock = Lock()
        self._roster: Roster | None = None
        self._facts: dict[str, str] = {}
        self._played: GameRecord | None = None
        self._busy_until: dict[str, float] = defaultdict(float)

    def prepare(self, setup: bytes) -> bytes:
        """Return the facts of a node, which are true: it runs this Arena."""
        with self._lock:
            if self._roster is None:
                home = new_folder()
                self._roster = unpack_for_node(decode_setup(setup).roster, home).roster
                self._facts = environment_facts(self._roster)
                remove_folder(home)
        return encode_message(NodeFacts(same=self._facts, workers=self.cores))

    def play(self, number: int, batch: bytes) -> bytes:
        """Return the lines of a batch when they are due."""
        from distributed import get_worker, secede  # optional, see above

        node = get_worker().address
        secede()
        order = decode_order(batch)
        assert isinstance(order, Batch)
        with self._lock:
            # One real match, so that lines have a realistic size.
            first = self._played = self._played or self._play(order.jobs[0].spec)
            work = self.think * len(first.actions) * len(order.jobs) / self.cores
            due = self._busy_until[node] = max(monotonic(), self._busy_until[node]) + work
        named = (job.spec for job in order.jobs)
        records = [replace(first, id=one.id, index=one.index, set=one.set, seed=one.seed) for one in named]
        if self.think:
            sleep(max(0.0, due - monotonic()))
        return encode_message(BatchDone(number=number, lines=[(encode(record), b"") for record in records]))

    def _play(self, spec: MatchSpec) -> GameRecord:
        assert self._roster is not None, "a node is prepared before it plays"
        record = play(spec, self._roster.games[spec.game], self._roster.seats(spec))
        return replace(record, time=tuple(self.think * count for count in record.decisions))


def main(nodes: int, cores: int, think: float) -> None:
    """Start fake nodes, and serve until stdin closes."""
    fakes = FakeNodes(cores, think)
    # The driver sends agent.prepare and agent.play by name, so replacing them here redirects its tasks.
    vars(agent).update(
        prepare=lambda _run, setup, _wheels: fakes.prepare(setup),
        play=lambda _run, number, batch: fakes.play(number, batch),
    )
    from harness.cluster.connect import serve_local_cluster  # optional, see above

    serve_local_cluster(nodes, processes=False)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))


# Idle time: simulated runs on many nodes, in simulated time.
#
# Schedules are real, and so is the code that hands out matches while others are played. Bots and the duration of
# matches are made up. Nodes receive matches one by one and without delay, so idle time comes from the format alone.


NODES = (2, 8, 32)
NODE_CORES = 4
"""Cores of each node."""
BOTS, SEATS, DEALS = 16, 4, 50
STRENGTH_GAP = 0.2
"""Distance between neighbouring bots, in standard deviations of their performance in one match."""
LENGTH_SPREAD = 0.6
"""Standard deviation of the logarithm of a match's duration: 0.4 to 0.7 was measured with four equal search bots, about
1 with quick and slow bots at one table."""
SEEDS = (1, 2, 3)
LENGTHS = {"el-paso": 185, "gnadenlos": 82, "x-pasch": 207}
"""Decisions a match, as measured by `arena bench`: the relative duration of matches of each game."""


class IdleCase(NamedTuple):
    """A format with its settings."""

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
    """Shares of the cores' time in which they are idle."""

    matches: float
    """Mean number of matches of a run."""
    in_step: float
    """Idle share if every game waits until all games have finished a round."""
    live: float
    """Idle share as runs are played: each game continues as soon as its own results allow."""


class SimulatedNodes:
    """An executor that plays in simulated time, so the same run always takes the same time."""

    def __init__(self, cores: int, simulate: Callable[[MatchSpec], tuple[float, GameRecord]]) -> None:
        """`simulate` returns the duration and the record of a match."""
        self.cores, self._simulate = cores, simulate
        self.now = self.busy = 0.0
        self.played = 0

    def run(self, jobs: Iterable[Job], _keep: Keep = discard) -> Iterator[Played]:
        """Start matches in order as cores become free; yield each when it ends."""
        waiting, playing = iter(jobs), list[tuple[float, int, GameRecord]]()
        while True:
            while len(playing) < self.cores and (job := next(waiting, None)) is not None:
                self.played += 1
                seconds, record = self._simulate(job.spec)
                self.busy += seconds
                # The number breaks ties, so that records are never compared.
                heappush(playing, (self.now + seconds, self.played, record))
            if not playing:
                return
            self.now, _, record = heappop(playing)
            yield Played(record, b"")

    @property
    def idle(self) -> float:
        """Idle core seconds from the start of the first match to the end of the last."""
        return self.cores * self.now - self.busy


def _simulate(luck: Chance, strengths: Mapping[str, float], spec: MatchSpec) -> tuple[float, GameRecord]:
    """Return the duration and the record of a match, the same on any number of nodes."""
    usual = log(LENGTHS.get(spec.game, 100)) - LENGTH_SPREAD**2 / 2
    seconds = exp(luck.rng("length", spec.id).gauss(usual, LENGTH_SPREAD))
    return seconds, simulated_record(spec, strengths, luck)


def make_plan(case: IdleCase, games: Sequence[str], seed: int) -> Plan:
    """Return the plan of a run of this case."""
    return Plan(
        games=tuple(
            GamePlan(name=game, rules="", settings={}, players=SEATS, entrants=_bot_names(case.bots)) for game in games
        ),
        deals=case.deals,
        seed=seed,
        format=case.format,
        settings=dict(case.settings),
        candidates=case.candidates,
    )


def _bot_names(bots: int) -> tuple[str, ...]:
    return tuple(f"bot{number:02}" for number in range(bots))


def _play(schedule: Schedule, executor: SimulatedNodes) -> None:
    """Play a schedule as a run does."""
    complete = play_matches(schedule.scheduler(), lambda specs: _records(executor, specs))
    assert complete, "a simulated run is played to its end"


def _play_in_step(schedule: Schedule, executor: SimulatedNodes) -> None:
    """Play a schedule with all games waiting for each other after each round."""
    if not schedule.adaptive:
        _play(schedule, executor)
        return
    scheduler = schedule.scheduler()
    while specs := list(chain.from_iterable(iter(scheduler.next_matches, []))):
        for record in _records(executor, specs):
            scheduler.add_result(record)


def _records(executor: SimulatedNodes, specs: Iterable[MatchSpec]) -> Iterator[GameRecord]:
    return (played.record for played in executor.run(map(Job, specs)))


def measure_idle(
    games: Sequence[str], cases: Iterable[str] = CASES, nodes: Sequence[int] = NODES, seeds: Sequence[int] = SEEDS
) -> dict[str, dict[int, IdleShare]]:
    """Return the idle shares of each case in runs of these games, by number of nodes."""
    return {name: _shares(CASES[name], games, nodes, seeds) for name in cases}


def _shares(case: IdleCase, games: Sequence[str], nodes: Sequence[int], seeds: Sequence[int]) -> dict[int, IdleShare]:
    modes: Sequence[Callable[[Schedule, SimulatedNodes], None]] = (_play_in_step, _play)
    ended: dict[tuple[int, int], list[SimulatedNodes]] = {}
    for seed in seeds:
        schedule = Schedule(make_plan(case, games, seed), FORMATS)
        strengths = {name: STRENGTH_GAP * number for number, name in enumerate(_bot_names(BOTS))}
        simulate = partial(_simulate, Chance(seed), strengths)
        for many in nodes:
            for mode, play_all in enumerate(modes):
                executor = SimulatedNodes(NODE_CORES * many, simulate)
                play_all(schedule, executor)
                ended.setdefault((many, mode), []).append(executor)
    return {many: _share(ended[many, 0], ended[many, 1]) for many in nodes}


def _share(in_step: Sequence[SimulatedNodes], live: Sequence[SimulatedNodes]) -> IdleShare:
    idle = [sum(each.idle for each in runs) / sum(each.cores * each.now for each in runs) for runs in (in_step, live)]
    return IdleShare(sum(each.played for each in live) / len(live), *idle)
