"""How fast records are read, leagues are shown, and Arena starts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from random import Random
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from msgspec.structs import asdict, replace

from harness.core.records import GameRecord, MatchSpec, with_sum
from harness.league.folder import LeagueFolder, SeasonConfig, create_era
from harness.league.journal import BotJoined, EntriesSeen, EraBegun
from harness.league.members import RosterEpochs
from harness.league.runner import LeagueScheduler, read_rounds
from harness.match.referee import play
from harness.plugins.registry import Registry
from harness.runs.reader import GAMES
from harness.runs.request import RunRequest
from harness.runs.setup import RunSetup, create_run, prepare
from harness.runs.store import RunFolder, encode, now

# Long runs: processor time and memory of each command, and how they grow with the run.


PLAYED_MATCHES = 40
"""Matches that are really played; most records are copies of them with other ids."""
REPLAYABLE_RECORDS = 100
"""Records that are not copies, evenly spread: those that `verify --sample 100` plays again."""
SIZE_STEP = 10
"""A run with this many times fewer records is measured too."""
RUN_COMMANDS: Mapping[str, Sequence[str]] = {
    "leaderboard": ("leaderboard", "{run}"),
    "leaderboard, again": ("leaderboard", "{run}"),
    "resume": ("tournament", "--quiet", "--workers", "0", "--resume", "{run}"),
    "report": ("report", "{run}", "--to", "{scratch}/report.html"),
    "publish": ("publish", "{run}", "--to", "{scratch}/site"),
    "matches --close": ("matches", "{run}", "--close"),
    "verify --sample 100": ("verify", "{run}", "--sample", "100"),
    "verify --sample 100, again": ("verify", "{run}", "--sample", "100"),
}
"""The commands that read all records of a run, in this order; "again" measures the cached case."""


@dataclass(frozen=True, slots=True)
class CommandCost:
    """The cost of a command."""

    seconds: float
    """Processor time."""
    megabytes: float
    """Peak memory."""


def make_run(
    folder: Path, records: int, registry: Registry, game: str = "el-paso", players: int | None = None
) -> RunFolder:
    """Return a complete run of at least `records` records: schedule, ids, deals and checksums are real, results are
    copied from a few matches."""
    request = RunRequest(
        games=(game,), players=players, deals=1, seed=7, workers=0, name=folder.name, results=str(folder.parent)
    )
    # One deal first, to learn how many matches a deal has.
    each = prepare(request, registry).schedule.count() or 1
    setup = prepare(replace(request, deals=-(-records // each)), registry)
    run = create_run(request, setup, "arena bench --records")
    with (run.folder / GAMES).open("ab") as file:
        for record in _records(setup):
            file.write(with_sum(encode(record)) + b"\n")
    run.finish(now())
    return run


def _records(setup: RunSetup) -> Iterator[GameRecord]:
    every = max(1, (setup.schedule.count() or 1) // REPLAYABLE_RECORDS)
    real = cycle([_played(setup, spec) for spec in islice(setup.schedule.matches(), PLAYED_MATCHES)])
    for spec in setup.schedule.matches():
        yield GameRecord(**asdict(next(real)) | asdict(spec)) if spec.index % every else _played(setup, spec)


def _played(setup: RunSetup, spec: MatchSpec) -> GameRecord:
    return play(spec, setup.games[spec.game], setup.roster.seats(spec))


def measure_records(
    records: int, registry: Registry, game: str, players: int | None = None
) -> dict[str, dict[str, float]]:
    """Return the cost of each command with a run of `records` records, and with a tenth of them."""

    def make(folder: Path, size: int) -> Path:
        return make_run(folder, size, registry, game, players).folder

    fewer = records // SIZE_STEP
    return _costs(make, RUN_COMMANDS, records, "") | _costs(make, RUN_COMMANDS, fewer, f" with {fewer:,}")


def _costs(
    make: Callable[[Path, int], Path], commands: Mapping[str, Sequence[str]], records: int, label: str
) -> dict[str, dict[str, float]]:
    """Return two columns, seconds and megabytes of each command, for what `make` makes with this many records."""
    with TemporaryDirectory(prefix="arena-bench-") as scratch:
        place = make(Path(scratch) / "made", records)
        costs = {name: run_command(place, command, Path(scratch)) for name, command in commands.items()}
    return {
        f"seconds{label}": {name: cost.seconds for name, cost in costs.items()},
        f"megabytes{label}": {name: cost.megabytes for name, cost in costs.items()},
    }


def run_command(run: Path, command: Sequence[str], scratch: Path) -> CommandCost:
    """Return the cost of an Arena command, run as a separate process."""
    arguments = [part.format(run=run, scratch=scratch) for part in command]
    process = subprocess.Popen(  # noqa: S603 - it is ourselves
        [sys.executable, "-m", "harness", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "XDG_CACHE_HOME": str(scratch / "cache")},
    )
    # wait4 gives the processor time and memory of this child alone.
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"arena {' '.join(arguments)} ended with exit code {process.returncode}")
    return CommandCost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


# Leagues with many entrants: the cost of showing one and of playing on, and how it grows.


BOT = "random"
"""The bot that plays under all names."""
MORE_MATCHES = 200
LEAGUE_COMMANDS: Mapping[str, Sequence[str]] = {
    "show": ("league", "show", "--league", "{run}"),
    "show, again": ("league", "show", "--league", "{run}"),
    f"run --matches {MORE_MATCHES}": (
        "league", "run", "-q", "--workers", "0", "--matches", str(MORE_MATCHES), "--league", "{run}",
    ),
    f"run --matches {MORE_MATCHES}, again": (
        "league", "run", "-q", "--workers", "0", "--matches", str(MORE_MATCHES), "--league", "{run}",
    ),
}  # fmt: skip
"""The commands to measure, in this order; "again" measures the cached case."""


def make_league(folder: Path, entrants: int, records: int, registry: Registry, game: str = "el-paso") -> LeagueFolder:
    """Return a league with this many bots and at least `records` records, with all rounds complete.

    Results are copied from a few matches. Only the last two rounds are seated by the league's own rules: it reads no
    others when it continues.
    """
    request = RunRequest(games=(game,), seed=7, workers=0)
    league = LeagueFolder.create(folder, request, registry)
    bot = registry.entrant(BOT)
    joined = BotJoined(
        bot="", version=1, spec=BOT, source=bot.source, declared=bot.version, digest=bot.digest, games=(game,)
    )
    league.journal.add_entries(*(replace(joined, bot=f"b{number:04}") for number in range(1, entrants + 1)))
    config = SeasonConfig.from_request(request, registry)
    run = create_era(folder, 1, config, 7)
    league.journal.add_entries(EraBegun(era=1, plans=config.plans, limits=config.limits))
    roster = RosterEpochs(1, config.plans, league.journal.entries).roster_after(entrants)
    league.journal.add_entries(EntriesSeen(era=1, round=1, upto=entrants, size=roster.size))
    epochs = RosterEpochs(1, config.plans, league.journal.entries)
    [plan], size = config.plans, roster.size
    rounds = max(3, -(-records // size))
    table_of_one = [BOT] * plan.players
    specs = [MatchSpec.single(f"m{n}", game, plan.settings, n, table_of_one) for n in range(PLAYED_MATCHES)]
    lots, real = Random(7), cycle([play(spec, config.games[game], [bot] * plan.players) for spec in specs])
    names = roster.games[game].playing
    place = run.folder / GAMES
    with place.open("ab") as file:
        for number in range(rounds - 2):
            for table in range(size):
                name = f"{game}-{number + 1}.{table + 1}"
                seats = tuple(lots.sample(names, plan.players))
                place_in_all, deal = number * size + table, lots.getrandbits(48)
                where = {"set": name, "index": place_in_all, "round": number + 1, "table": table + 1}
                record = replace(next(real), id=f"{name}.1", seats=seats, seed=deal, **where)
                file.write(with_sum(encode(record)) + b"\n")
    scheduler = LeagueScheduler(run.info.plan, epochs, partial(read_rounds, run))
    for number in (rounds - 1, rounds):
        specs = scheduler.plan_round(number)
        with place.open("ab") as file:
            for spec in specs:
                record = GameRecord(**asdict(next(real)) | asdict(spec))
                file.write(with_sum(encode(record)) + b"\n")
                scheduler.add_result(record)
    return league


def measure_league(entrants: int, records: int, registry: Registry, game: str) -> dict[str, dict[str, float]]:
    """Return the cost of each command with a league of `records` records, a tenth and a hundredth of them."""

    def make(folder: Path, size: int) -> Path:
        return make_league(folder, entrants, size, registry, game).folder

    found: dict[str, dict[str, float]] = {}
    for number in (records, records // SIZE_STEP, records // SIZE_STEP**2):
        found |= _costs(make, LEAGUE_COMMANDS, number, f" with {number:,}")
    return found


# Start-up time: whole processes from start to exit, and the steps in them.


ROUNDS = 7
ARENA = "import sys; sys.argv[0] = 'arena'; from harness.cli import run; run()"
CONFIGURED = "from harness.runs.setup import configure_early; configure_early((), {})"
COMPLETION = {"_ARENA_COMPLETE": "zsh_complete"}
STARTS: Mapping[str, tuple[tuple[str, ...], Mapping[str, str]]] = {
    "Python alone": (("pass",), {}),
    "arena --help": ((ARENA, "--help"), {}),
    "completing a command": ((ARENA,), {**COMPLETION, "COMP_WORDS": "arena tour", "COMP_CWORD": "1"}),
    "completing a bot": ((ARENA,), {**COMPLETION, "COMP_WORDS": "arena tournament --bot r", "COMP_CWORD": "3"}),
    "importing what a run needs": (
        ("import harness.runs.setup, harness.output.leaderboard, harness.executors.pool",),
        {},
    ),
    "loading all plugins": (("from harness.plugins.registry import load; load()",), {}),
    "configuring the bundled games": ((CONFIGURED,), {}),
    "arena tournament --deals 1": ((ARENA, "tournament", "--deals", "1", "--seed", "1"), {}),
    "the same, --workers 0": ((ARENA, "tournament", "--deals", "1", "--seed", "1", "--workers", "0"), {}),
}
"""A measured process: code and arguments for Python, and environment variables."""


def measure_start(rounds: int = ROUNDS) -> dict[str, dict[str, float]]:
    """Return the milliseconds of each, elapsed and of processor time: medians over alternating rounds, after one that
    fills caches."""
    waited: dict[str, list[float]] = {what: [] for what in STARTS}
    worked: dict[str, list[float]] = {what: [] for what in STARTS}
    for number in range(rounds + 1):
        for what, (code, variables) in STARTS.items():
            wall, processor = _time_start(code, variables)
            if number:
                waited[what].append(1000 * wall)
                worked[what].append(1000 * processor)
    return {
        "ms": {what: median(each) for what, each in waited.items()},
        "ms of processor time": {what: median(each) for what, each in worked.items()},
    }


def _time_start(code: tuple[str, ...], variables: Mapping[str, str]) -> tuple[float, float]:
    """Return the elapsed and the processor time of a process; the fork server's workers are not its children and do not
    count."""
    with TemporaryDirectory() as folder:
        command, environment = [sys.executable, "-P", "-c", *code], {**os.environ, **variables}
        began, before = perf_counter(), _processor_time()
        subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)  # noqa: S603 - ourselves
        return perf_counter() - began, _processor_time() - before


def _processor_time() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
