"""Timing that works on a noisy machine: pairs, instruction counts, comparison with other programs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from hashlib import blake2b
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from shutil import which
from statistics import median
from typing import Self

import msgspec

from harness.core.errors import ArenaError, UsageError
from harness.core.files import user_cache
from harness.isolation.launch import thread_variables

# A measured loop in a separate process, in any interpreter: started once, measured repeatedly.


ROOT = Path(__file__).parents[2]
"""The folder of this Arena."""
LOOPS = Path(__file__).parent / "loops"
SERVER = LOOPS / "server.py"
OUR_LOOP = LOOPS / "arena.py"


class LoopFailed(ArenaError):
    """A loop failed; others can still be measured."""


class LoopVersions(msgspec.Struct, frozen=True):
    """The versions that a loop reports."""

    python: str
    versions: dict[str, str]

    def __str__(self) -> str:
        parts = [f"{name} {version}" for name, version in self.versions.items()]
        return ", ".join([*parts, f"Python {self.python}"])


class Measured(msgspec.Struct, frozen=True):
    """One measurement of a loop."""

    games: int
    choices: int
    seconds: float

    @property
    def rate(self) -> float:
        """Choices between two or more actions a second of processor time."""
        return self.choices / self.seconds if self.seconds else 0.0


class LoopProcess:
    """A loop in a process that ends with the `with` block."""

    def __init__(self, python: str | None, loop: Path, workload: str, under: Sequence[str] = ()) -> None:
        """Start it in this interpreter or another one; `under` is a program with options that runs it."""
        interpreter = python or sys.executable
        self.what = f"{loop.stem} ({workload}) in {interpreter}"
        # stderr goes to a file: a pipe that is not read could block the loop.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the interpreter that the user named, and our own file
                [*under, interpreter, str(SERVER), str(loop), workload],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=_environment(python),
                text=True,
            )
        except OSError as error:
            self._errors.close()
            raise LoopFailed(f"{interpreter} cannot be started: {error.strerror}. Name a Python interpreter.") from None
        try:
            self.versions = msgspec.convert(self._answer(), LoopVersions)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def play(self, games: int, first: int = 1) -> Measured:
        """Play this many matches from seed `first` on."""
        return self._measure({"first": first, "games": games})

    def play_for(self, seconds: float, first: int = 1) -> Measured:
        """Play for this much processor time, at least one match."""
        return self._measure({"first": first, "seconds": seconds})

    def finish(self) -> str:
        """Let the process end and return what it wrote to stderr."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        return self._stderr_text()

    def close(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            if pipe is not None and not pipe.closed:
                pipe.close()

    def _measure(self, asked: dict[str, float]) -> Measured:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._failure() from None
        return msgspec.convert(self._answer(), Measured)

    def _answer(self) -> object:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._failure()
        return json.loads(line)

    def _failure(self) -> LoopFailed:
        """Return the error of a loop that has exited, with the last line of its stderr."""
        self._process.wait()
        last = self._stderr_text().strip().splitlines()[-1:] or [f"exit code {self._process.returncode}"]
        return LoopFailed(f"{self.what} failed: {last[0].removeprefix('ModuleNotFoundError: ')}.")

    def _stderr_text(self) -> str:
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")


def clean_environment() -> dict[str, str]:
    """Return the environment without variables that would add Arena's packages to another interpreter."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}


def _environment(python: str | None) -> dict[str, str]:
    """Return an environment with one thread and fixed hashes, and without the current folder on sys.path.

    Another interpreter finds only what is installed in it; this one also finds the running Arena.
    """
    kept = clean_environment()
    if python is None:
        before = os.environ.get("PYTHONPATH")
        kept["PYTHONPATH"] = os.pathsep.join([str(ROOT), *([before] if before else [])])
    return {**kept, **thread_variables(1), "PYTHONHASHSEED": "0", "PYTHONSAFEPATH": "1"}


# Paired timing: two loops are measured alternately, so a disturbance affects both of a pair.


DEFAULT_PAIRS = 7
"""Default number of pairs: the median of fewer is easily moved by a disturbance."""


class Ratio(msgspec.Struct, frozen=True):
    """How many times as fast ours is: median, minimum and maximum over the pairs."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{_brief(self.median)} ({_brief(self.low)}-{_brief(self.high)})"


class SpeedComparison(msgspec.Struct, frozen=True):
    """The speed of one of our games and of another loop."""

    ours: float
    """Decisions a second of processor time, median of all measurements."""
    theirs: float
    ratio: Ratio


def ratio_of(ours: Sequence[float], theirs: Sequence[float]) -> Ratio:
    """Return the median, minimum and maximum of the ratios of the pairs."""
    each = [mine / other for mine, other in zip(ours, theirs, strict=True)]
    return Ratio(median(each), min(each), max(each))


def summarize(ours: Sequence[Measured], theirs: Sequence[Measured]) -> SpeedComparison:
    """Return the median speeds and the ratio of the pairs."""
    mine, other = [each.rate for each in ours], [each.rate for each in theirs]
    return SpeedComparison(median(mine), median(other), ratio_of(mine, other))


def compare_in_turns(
    ours: Mapping[str, LoopProcess], other: LoopProcess, pairs: int, seconds: float
) -> dict[str, SpeedComparison]:
    """Return the comparison of each of our loops with another that plays something else.

    Each is measured for `seconds` in all. Every second round runs backwards, so that no loop is always first.
    """
    mine: dict[str, list[Measured]] = {name: [] for name in ours}
    theirs: list[Measured] = []
    first = 1
    for number in range(pairs):
        rounds = [*((loop, mine[name]) for name, loop in ours.items()), (other, theirs)]
        for loop, kept in reversed(rounds) if number % 2 else rounds:
            kept.append(loop.play_for(seconds / pairs, first))
        first += max(kept[-1].games for kept in (*mine.values(), theirs))
    return {name: summarize(measured, theirs) for name, measured in mine.items()}


def compare_same(ours: LoopProcess, other: LoopProcess, pairs: int, seconds: float) -> tuple[SpeedComparison, bool]:
    """Return the comparison of two loops that play the same matches, and whether they made equally many decisions."""
    # The slower side decides how many matches fit into the time; both then play exactly these.
    games = max(1, other.play_for(seconds / pairs).games)
    mine: list[Measured] = []
    theirs: list[Measured] = []
    for number in range(pairs):
        turns = [(ours, mine), (other, theirs)]
        for loop, kept in reversed(turns) if number % 2 else turns:
            kept.append(loop.play(games, 1 + number * games))
    same = all(one.choices == two.choices for one, two in zip(mine, theirs, strict=True))
    return summarize(mine, theirs), same


def _brief(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


# Instruction counts by valgrind: unlike times, they are the same on a busy machine.


COUNTED_DECISIONS = 4000
"""Approximate number of decisions that are counted, in whole matches."""
MIN_MATCHES = 5
"""Fewest matches that are counted, and matches before them, which fill tables."""
INSTRUCTION_TOTAL = re.compile(r"I\s+refs:\s+([\d,]+)")


def valgrind_command() -> tuple[str, ...]:
    """Return the command that counts instructions; raises UsageError if it is not installed."""
    found = which("valgrind")
    if found is None:
        raise UsageError("--instructions needs valgrind, which is not installed: try `apt install valgrind`.")
    # Callgrind counts the same, but also records where, which takes three times as long.
    return (found, "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")


def count_instructions(python: str | None, loop: Path, workload: str) -> float:
    """Return the instructions a decision: the difference between a short and a long run, so that the start cancels
    out."""
    under = valgrind_command()
    with LoopProcess(python, loop, workload) as quick:
        sample = quick.play(MIN_MATCHES)
    games = max(MIN_MATCHES, ceil(COUNTED_DECISIONS * MIN_MATCHES / max(1, sample.choices)))
    before, few = _count_process(python, loop, workload, under, MIN_MATCHES)
    after, many = _count_process(python, loop, workload, under, MIN_MATCHES + games)
    return (after - before) / (many - few)


def _count_process(python: str | None, loop: Path, workload: str, under: Sequence[str], games: int) -> tuple[int, int]:
    """Return the instructions of a process that plays this many matches, and its decisions."""
    with LoopProcess(python, loop, workload, under) as process:
        played = process.play(games)
        stderr = process.finish()
    total = INSTRUCTION_TOTAL.search(stderr)
    if total is None:
        raise LoopFailed(f"valgrind reported no instruction count for {process.what}: {stderr.strip()[-200:]}")
    return int(total[1].replace(",", "")), played.choices


# Peers: other programs whose loops are compared with ours.


class Peer(msgspec.Struct, frozen=True):
    """A program that is compared with Arena."""

    name: str
    requirements: tuple[str, ...]
    """What pip installs, with versions, so that a comparison can be repeated."""
    megabytes: int
    """Approximate size on disk."""
    workloads: tuple[str, ...]
    loop: Path
    """The file in `loops/` that plays them."""


def _peer(name: str, megabytes: int, requirements: tuple[str, ...], workloads: tuple[str, ...]) -> Peer:
    return Peer(name, requirements, megabytes, workloads, LOOPS / f"{name}.py")


PEERS = {
    peer.name: peer
    for peer in (
        _peer("catanatron", 45, ("catanatron==3.2.1",), ("base game",)),
        _peer(
            "open_spiel", 310, ("open_spiel==2.0.2",),
            (
                "hearts", "hearts, bare deals", "hearts, information state", "hearts, numpy observer",
                "skat", "skat, bare deals", "skat, observation", "skat, numpy observer",
                "gin_rummy", "gin_rummy, observation",
                "python_liars_poker", "python_block_dominoes",
            ),
        ),
        _peer(
            "pettingzoo", 145, ("pettingzoo==1.27.0", "rlcard==1.2.0", "pygame-ce==2.5.8"),
            ("leduc_holdem_v4", "texas_holdem_v4"),
        ),
        _peer("rlcard", 100, ("rlcard==1.2.0",), ("uno", "mahjong")),
        _peer("chess", 30, ("chess==1.11.2",), ("random moves",)),
    )
}  # fmt: skip
"""The programs that `--against` knows; a new one is a file in `loops/` and a line here."""


# Environments of peers: created once, cached, separate from what the user has installed.


Log = Callable[[str], None]


def peers_folder() -> Path:
    """Return the default folder for environments."""
    return user_cache() / "peers"


def peer_python(peer: Peer, folder: Path, log: Log) -> str:
    """Return the interpreter of the peer's environment, created if there is none for this Python and these versions."""
    known = "\n".join([sys.base_prefix, sys.version, *peer.requirements])
    # The digest makes a new environment for another Python or other versions, and keeps the old one.
    target = folder.absolute() / f"{peer.name}-{blake2b(known.encode(), digest_size=4).hexdigest()}"
    python = target / "bin" / "python"
    if not python.is_file():
        log(
            f"Installing {' '.join(peer.requirements)} in {target}: about {peer.megabytes} MB, "
            "nothing anywhere else ..."
        )
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            # Built next to its final place and renamed, so that an interrupted installation is never used.
            with tempfile.TemporaryDirectory(dir=target.parent, prefix="half-") as half:
                whole = Path(half) / "environment"
                _create_environment(peer, whole, log)
                shutil.rmtree(target, ignore_errors=True)  # the remains of an environment whose Python is gone
                whole.rename(target)
        except OSError as error:
            raise LoopFailed(f"Cannot create an environment for {peer.name} in {folder}: {error.strerror}.") from None
    return str(python)


def _create_environment(peer: Peer, target: Path, log: Log) -> None:
    """Create an environment with the peer; raises LoopFailed if an installation step fails."""
    venv, pip = [sys.executable, "-m", "venv", str(target)], [str(target / "bin" / "python"), "-m", "pip"]
    if find_spec("pip"):  # to install pip there takes three seconds of processor time
        venv, pip = [*venv, "--without-pip"], [sys.executable, "-m", "pip", "--python", pip[0]]
    for step in (venv, [*pip, "install", "--no-input", "--disable-pip-version-check", *peer.requirements]):
        last = ""
        with subprocess.Popen(  # noqa: S603 - our own interpreter
            step, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=clean_environment()
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                last = line.strip() or last
                log(f"  {line.rstrip()}")
        if process.returncode:
            raise LoopFailed(f"{peer.name} could not be installed ({last or process.returncode}); is there a network?")


# This Arena versus other programs and other versions: ratios of decisions a second and of instructions a decision.


class SpeedPlan(msgspec.Struct, frozen=True):
    """What to compare, and how."""

    tables: Mapping[str, int]
    """Our games with their number of players."""
    pairs: int = DEFAULT_PAIRS
    seconds: float = 4.0
    """Processor time of each game and of each loop it is compared with, over all pairs."""
    count: bool = False
    """Whether to count instructions too."""


class SpeedRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One of our games versus one loop."""

    against: str
    workload: str
    theirs: str
    """Versions of the other loop."""
    ours: str
    """Versions of our loop."""
    game: str
    players: int
    speed: SpeedComparison
    counts: tuple[float, float] | None = None
    """Instructions a decision, ours and theirs."""


def versus_arenas(pythons: Iterable[str], plan: SpeedPlan, log: Log) -> Iterator[SpeedRow]:
    """Yield comparisons with Arenas of other interpreters: the same matches, alternately."""
    if plan.count:
        valgrind_command()
    for python in pythons:
        for game, players in plan.tables.items():
            workload = f"{game}/{players}"
            log(f"Measuring {game} with {players} players, {plan.pairs} pairs against {python} ...")
            with LoopProcess(None, OUR_LOOP, workload) as ours, LoopProcess(python, OUR_LOOP, workload) as other:
                speed, same = compare_same(ours, other, plan.pairs, plan.seconds)
                if not same:
                    log(f"They play different matches of {game} (rules or luck differ), so the ratio is rough.")
                versions = str(other.versions), str(ours.versions)
            counts = None
            if plan.count:
                log(f"Counting instructions of {game} in both Pythons ...")
                counts = (count_instructions(None, OUR_LOOP, workload), count_instructions(python, OUR_LOOP, workload))
            yield SpeedRow(python, workload, *versions, game, players, speed, counts)


def versus_peers(peers: Iterable[Peer], folder: Path, plan: SpeedPlan, log: Log) -> tuple[list[SpeedRow], list[str]]:
    """Return comparisons with loops that play something else, and what could not be measured."""
    if plan.count:
        valgrind_command()
    rows: list[SpeedRow] = []
    failed: list[str] = []
    counted: dict[str, float] = {}
    for peer in peers:
        try:
            python = peer_python(peer, folder, log)
        except LoopFailed as error:
            log(f"Warning: {error}")
            failed.append(peer.name)
            continue
        for workload in peer.workloads:
            log(f"Measuring {peer.name}, {workload}: {plan.pairs} pairs ...")
            try:
                rows += _versus(peer, python, workload, plan, counted)
            except LoopFailed as error:
                log(f"Warning: {error}")
                failed.append(f"{peer.name}, {workload}")
    return rows, failed


def _versus(peer: Peer, python: str, workload: str, plan: SpeedPlan, counted: dict[str, float]) -> Iterator[SpeedRow]:
    with ExitStack() as running:
        theirs = running.enter_context(LoopProcess(python, peer.loop, workload))
        ours = {
            game: running.enter_context(LoopProcess(None, OUR_LOOP, f"{game}/{players}"))
            for game, players in plan.tables.items()
        }
        speeds = compare_in_turns(ours, theirs, plan.pairs, plan.seconds)
    count = count_instructions(python, peer.loop, workload) if plan.count else 0.0
    for game, players in plan.tables.items():
        counts = None
        if plan.count:
            if game not in counted:  # the same for every peer
                counted[game] = count_instructions(None, OUR_LOOP, f"{game}/{players}")
            counts = counted[game], count
        versions = str(theirs.versions), str(ours[game].versions)
        yield SpeedRow(peer.name, workload, *versions, game, players, speeds[game], counts)
