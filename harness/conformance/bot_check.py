"""Try a bot at all its games and report whether it is fit to play.

from harness.conformance import check_bot

def test_my_bot_is_fit():
    check_bot(Sprinter).demand()
"""

from __future__ import annotations

import ast
import io
import os
import select
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec
from msgspec import structs

from harness.core.bot import Bot
from harness.core.errors import ConformanceError
from harness.core.game import Game
from harness.core.records import GameRecord, MatchSpec
from harness.executors import forkserver
from harness.executors.base import Executor, Job, Roster
from harness.executors.worker import LOAD_TIMEOUT_S, RosterPayload, pack_roster, unpack_roster
from harness.isolation.entrants import RemoteEntrant, SessionPool
from harness.isolation.launch import thread_variables
from harness.match.faults import Limits
from harness.match.referee import play
from harness.output.progress import Progress
from harness.output.text import counted
from harness.plugins.bot_files import syntax_nodes
from harness.plugins.entrants import BotDescription, Entrant, enter, unknown_games
from harness.plugins.registry import load
from harness.runs.monitor import FaultGroup, FaultGroups, RunMonitor, Workload

LIMITS = Limits(move_time=10.0)
SEEDS = (1, 2)
MAX_FAULTS, MAX_TIMEOUTS = 20, 3
"""Numbers of faults and of timeouts after which the check stops: each timeout takes twice the time limit."""
STAND_IN = "stand-in"
ExecutorFactory = Callable[[Roster], Executor]


class StandIn(Bot):
    """Fills the other seats: takes any legal action."""

    name = STAND_IN

    def choose(self, view: Any, actions: Any) -> Any:
        """Return one of them."""
        return actions[int(self.rng.random() * len(actions))]


@dataclass(slots=True)
class BotReport:
    """Result of a check. A bot without problems is fit to play."""

    bot: str
    games: dict[str, list[int]] = field(default_factory=dict)
    """Game -> player counts that were played."""
    matches: int = 0
    decisions: int = 0
    """The decisions of seats without a fault; `seconds` is the time of these."""
    seconds: float = 0.0
    slowest: float = 0.0
    """Seconds of the slowest decision."""
    memory: float | None = None
    """Peak in megabytes, for a bot in a separate process."""
    faults: FaultGroups = field(default_factory=FaultGroups)
    """Its faults by cause; each cause is also a problem."""
    problems: list[str] = field(default_factory=list)
    """Each problem as a sentence, then lines with details: a traceback, likely causes."""
    warnings: list[str] = field(default_factory=list)
    """Remarks for its author about things that are not faults."""

    @property
    def stopped(self) -> bool:
        """Whether it failed so often that the check was stopped."""
        timeouts = sum(group.count for group in self.faults if group.kind == "timeout")
        return self.faults.total > MAX_FAULTS or timeouts >= MAX_TIMEOUTS

    @property
    def fit(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def demand(self) -> None:
        """Raise ConformanceError if anything is wrong."""
        if self.problems:
            raise ConformanceError(f"{self.bot} is not fit to play:\n" + "\n".join(self.problems))


def check_bot(
    bot: type[Bot] | Entrant,
    games: Iterable[Game[Any]] | None = None,
    seeds: Sequence[int] = SEEDS,
    limits: Limits = LIMITS,
    only: Sequence[str] = (),
    executor: ExecutorFactory | None = None,
    quiet: bool = True,
) -> BotReport:
    """Play every game that the bot claims at every player count, each match twice, and return a report.

    `games` are the available ones, by default all that are installed; `only` selects some of them by name. A class
    plays in this process by default, so a bot that hangs or crashes takes the check with it. Isolated entrants, or an
    `executor` with workers, avoid that; `arena check` uses both. Unless `quiet`, progress is printed to stderr.
    """
    entrant = bot if isinstance(bot, Entrant) else enter(bot, {}, "", "", "")
    offered = {game.name: game for game in (_installed_games() if games is None else games)}
    report = BotReport(entrant.name)
    report.problems += unknown_games([("It", entrant.bot)], offered)
    chosen = {name: game for name, game in offered.items() if entrant.plays(name) and (not only or name in only)}
    roster = Roster(chosen, {entrant.name: entrant, STAND_IN: enter(StandIn, {}, "", "", "")})
    matches = (
        spec
        for game in chosen.values()
        for players in range(game.min_players, game.max_players + 1)
        for spec in _matches(game, players, entrant.name, seeds)
    )
    specs = [structs.replace(spec, index=index) for index, spec in enumerate(matches)]
    report.games = {name: list(range(game.min_players, game.max_players + 1)) for name, game in chosen.items()}
    # Both passes: without the games of each, there would be no estimate of the time left.
    every_game = Counter(spec.game for spec in specs for _ in range(2))
    workload = Workload(2 * len(specs), matches=every_game, is_ranked=False)
    try:
        with Progress("matches", workload, quiet) as progress:
            report.faults = progress.faults
            first = _play_all(specs, roster, limits, report, executor, progress)
            # In reverse order, in new processes: this finds bots whose play depends on earlier matches.
            second = {} if report.stopped else _play_all(specs[::-1], roster, limits, report, executor, progress)
        report.problems += [_fault_text(groups) for groups in _by_cause(report.faults)]
        if report.stopped:
            report.warnings.append(f"The check was stopped after {counted(report.faults.total, 'fault')}.")
        changed = [spec for spec in specs if _played_differently(first.get(spec.id), second.get(spec.id))]
        if changed:
            report.problems.append(_not_repeatable(changed, first, second, roster, limits, report, executor))
    finally:
        roster.close()
    return report


def _installed_games() -> Iterator[Game[Any]]:
    for offer in load().games.values():
        game: Game[Any] = offer.cls.configure()
        yield game


def _matches(game: Game[Any], players: int, name: str, seeds: Sequence[int]) -> Iterator[MatchSpec]:
    """Yield matches with the bot in one seat after the other, and finally in the last two seats.

    No two have the same deal, and two is the maximum number of its seats: so two processes of an isolated bot can play
    them all, and a slow import does not matter.
    """
    for number, seed in enumerate(seeds):
        seats = [STAND_IN] * players
        seats[number % players] = name
        yield _spec(game, f"{game.name}, {players} players, seed {seed}", 100 * seed + players, seats)
    seats = [STAND_IN] * (players - 2) + [name] * min(2, players)
    yield _spec(game, f"{game.name}, {players} players, against itself", players, seats)


def _spec(game: Game[Any], what: str, seed: int, seats: list[str]) -> MatchSpec:
    return MatchSpec.single(what, game.name, game.settings, seed, seats)


def _play_all(
    specs: Sequence[MatchSpec],
    roster: Roster,
    limits: Limits,
    report: BotReport,
    executor: ExecutorFactory | None,
    monitor: RunMonitor,
) -> dict[str, GameRecord]:
    """Return the records of these matches; stop after too many faults."""
    entrant, records = roster.entrants[report.bot], {}
    for record in _play_each(specs, roster, limits, executor):
        records[record.id] = record
        monitor.add_record(record)
        failed = {fault.seat for fault in record.faults}  # random moves of the referee continue for these seats
        mine = [seat for seat, name in enumerate(record.seats) if name == report.bot and seat not in failed]
        report.matches += 1
        report.decisions += sum([record.decisions[seat] for seat in mine])
        report.seconds += sum([record.time[seat] for seat in mine])
        report.slowest = max([report.slowest, *(record.slowest[seat] for seat in mine)])
        if report.stopped:
            break
    if isinstance(entrant, RemoteEntrant):
        _inspect_sessions(entrant.sessions, report)
    return records


def _play_each(
    specs: Sequence[MatchSpec], roster: Roster, limits: Limits, executor: ExecutorFactory | None
) -> Iterator[GameRecord]:
    if executor is None:
        for spec in specs:
            yield play(spec, roster.games[spec.game], roster.seats(spec), limits)
        return
    with executor(roster) as pool:
        for played in pool.run(map(Job, specs)):
            yield played.record


def _inspect_sessions(sessions: SessionPool, report: BotReport) -> None:
    """Report the memory of its processes, and whether they exited without being asked."""
    report.memory = max([report.memory or 0.0, *(program.process.peak_memory() for program in sessions.idle)])
    if sessions.unasked_exits:
        report.problems.append(
            "Its program exits after a match by itself: it should wait for the next one, since start-up takes time."
        )
        sessions.unasked_exits = 0
    sessions.dismiss()


# Faults by cause


def _by_cause(faults: FaultGroups) -> list[list[FaultGroup]]:
    """Return the groups with the same cause together: one bug may show in several games."""
    causes: dict[tuple[str, str], list[FaultGroup]] = {}
    for group in faults:
        causes.setdefault((group.kind, group.cause), []).append(group)
    return list(causes.values())


def _fault_text(groups: list[FaultGroup]) -> str:
    """Return the cause, how often it occurred, where first, and the text of that fault, a traceback if there is one."""
    first = min(groups, key=lambda group: group.first).first
    where = ", ".join(f"{counted(group.count, 'time')} in {group.game}" for group in groups)
    text = f"{groups[0].cause}, {where}; first in {first.match}, decision {first.decision}:"
    return f"{text}\n{first.detail.strip()}"


# Whether the same seed leads to the same decisions, and likely causes if not


def _played_differently(once: GameRecord | None, again: GameRecord | None) -> bool:
    """Return whether two plays of a match differ. After a fault the comparison says nothing: faults come first."""
    if once is None or again is None or once.faults or again.faults:
        return False
    return once.without_timing() != again.without_timing()


def _not_repeatable(
    changed: Sequence[MatchSpec],
    first: dict[str, GameRecord],
    second: dict[str, GameRecord],
    roster: Roster,
    limits: Limits,
    report: BotReport,
    executor: ExecutorFactory | None,
) -> str:
    """Return what was different the second time, and likely causes.

    The first match that changed is played twice more, each time alone in a new process: if these two plays are equal,
    the bot depends on earlier matches, otherwise on something else.
    """
    spec, entrant = changed[0], roster.entrants[report.bot]
    once, again = first[spec.id].actions, second[spec.id].actions
    number = next((n for n, (a, b) in enumerate(zip(once, again, strict=False)) if a != b), min(len(once), len(again)))
    actions = roster.games[spec.game].actions
    answers = " and then ".join(str(actions[play[number]]) for play in (once, again) if number < len(play))
    lines = [
        f"Not repeatable: with the same seed, {counted(len(changed), 'match')} of {len(first):,} went differently the "
        f"second time; first {spec.id}, decision {number} ({answers})."
    ]
    kinds = set(LIKELY)
    if executor or entrant.isolated:
        alone = []
        for _ in range(2):
            alone += list(_play_each([spec], roster, limits, executor))
            entrant.start_afresh()
        if _played_differently(*alone):
            lines.append("Alone in a new process it is not repeatable either: earlier matches are not the cause.")
            kinds.discard(STATE)
        else:
            lines.append("Alone in a new process it is repeatable: the cause is something that outlives a match.")
            kinds &= {STATE, FILES}
    found = [each for each in _scan(_source_texts(entrant)) if each[2] in kinds]
    lines += [f"{place}: {code}: {kind}; {LIKELY[kind]}." for place, code, kind in found[:MAX_CAUSES]]
    if not found:
        lines.append("Look for: " + "; ".join(f"{kind} ({LIKELY[kind]})" for kind in sorted(kinds)) + ".")
    return "\n".join(lines)


MAX_CAUSES = 8
LUCK, CLOCK, FILES, ORDER, STATE = (
    "unseeded random numbers", "the clock", "a file", "an order that differs between processes",
    "state that outlives a match",
)  # fmt: skip
LIKELY = {
    LUCK: "use self.rng, or a generator seeded with self.seed",
    CLOCK: "count iterations instead of seconds",
    FILES: "read data at import, and write none",
    ORDER: "sort sets of objects and names of files",
    STATE: "keep it in self: every match gets a new object",
}
"""What makes play irreproducible -> what to do instead."""
_CALLS = {
    "random.Random": LUCK, "random.SystemRandom": LUCK, "random.seed": LUCK, "numpy.random.": LUCK,
    "secrets.": LUCK, "uuid.": LUCK, "os.urandom": LUCK,
    "time.": CLOCK, "datetime.datetime.": CLOCK, "datetime.date.": CLOCK,
    "open": FILES, "os.listdir": ORDER, "id": ORDER,
}  # fmt: skip
"""Full name of a function, or of a module with a dot -> what calling it means. The referee seeds Python's `random`."""
_SEEDED = (".Random", ".seed", ".default_rng", ".RandomState")
"""Functions that are repeatable if they are given a seed."""
_CHANGING = ("add", "append", "clear", "extend", "insert", "pop", "remove", "setdefault", "update")
"""Methods that change a container."""


def _source_texts(entrant: Entrant) -> dict[str, bytes]:
    """Return the bot's files by name; nothing for a program."""
    if entrant.sources or isinstance(entrant.bot, BotDescription):
        return dict(entrant.sources)
    file = getattr(sys.modules.get(entrant.cls.__module__), "__file__", None)
    return {Path(file).name: Path(file).read_bytes()} if file and Path(file).is_file() else {}


def _scan(sources: dict[str, bytes]) -> list[tuple[str, str, str]]:
    """Return the lines that may make play irreproducible: file and line, code, kind. They are read, not run."""
    found = []
    for name, text in sources.items():
        nodes = list(syntax_nodes(text))
        imported: dict[str, str] = {}
        for node in nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
                imported |= {each.asname or each.name: module + each.name for each in node.names}
        scopes = [node for node in nodes if isinstance(node, ast.Module | ast.ClassDef)]
        shared = {scope.name for scope in scopes if isinstance(scope, ast.ClassDef)} | {"type(self)", "self.__class__"}
        variables = {
            target.id
            for scope in scopes
            for line in scope.body
            for target in (line.targets if isinstance(line, ast.Assign) else [getattr(line, "target", None)])
            if isinstance(target, ast.Name)
        }
        shared |= variables | {f"self.{variable}" for variable in variables}
        for node in nodes:
            kind = _kind_of(node, imported, shared)
            if kind:
                place, code = f"{name}:{getattr(node, 'lineno', 0)}", ast.unparse(node).partition("\n")[0]
                found.append((place, textwrap.shorten(code, 50, placeholder=" ..."), kind))
    return found


def _kind_of(node: ast.AST, imported: dict[str, str], shared: set[str]) -> str | None:
    """Return what a piece of code may depend on: `imported` has full names, `shared` is the same in all matches."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in _CHANGING:
            return STATE if ast.unparse(owner) in shared else None
        case ast.Call(func=called, args=args, keywords=keywords):
            first, dot, rest = ast.unparse(called).partition(".")
            full = imported.get(first, "" if dot else first) + dot + rest
            if full.endswith(_SEEDED) and (args or keywords):
                return None
            known = (full, f"{full.rpartition('.')[0]}.")
            return next((kind for name, kind in _CALLS.items() if name in known), None)
        case ast.Global():
            return STATE
        case (
            ast.Assign(targets=[ast.Attribute(value=owner) | ast.Subscript(value=owner), *_])
            | ast.AugAssign(target=ast.Attribute(value=owner) | ast.Subscript(value=owner))
        ):
            return STATE if ast.unparse(owner) in shared else None
    return None


# What a bot does when it is loaded, tried in a process like the workers of a tournament


SLOW_IMPORT_S = 1.0
"""Import time that an author should know of: every worker and every isolated process needs it."""
MAX_SHOWN_CHARS = 60


class ImportTrial(msgspec.Struct, frozen=True):
    """What happened when a bot was loaded."""

    seconds: float
    threads: int
    """Number of threads that it started, native ones included."""
    printed: str
    """The beginning of what it wrote to stdout."""
    printed_in_play: str = ""
    """The beginning of what it wrote during a match."""

    def warnings(self) -> list[str]:
        """Return sentences for its author."""
        found = []
        if self.seconds > SLOW_IMPORT_S:
            found.append(
                f"Loading it takes {self.seconds:.1f} s: every worker, and each of its own processes, begins with that."
            )
        if self.threads:
            threads = "a thread" if self.threads == 1 else f"{self.threads} threads"
            found.append(
                f"Loading it starts {threads}: they keep running while other bots think, and use their processor time."
            )
        if self.printed:
            found.append(f"Loading it prints, once in each worker; the first line: {self.printed!r}.")
        if self.printed_in_play:
            found.append(
                f"It prints while it plays, which takes time; a tournament writes it to a log. The first line: "
                f"{self.printed_in_play!r}."
            )
        return found


def try_import(roster: Roster, name: str, threads: int = 1) -> ImportTrial | None:
    """Load one entrant of a roster in a new process and let it play a match; None if that does not end in time."""
    ours, theirs = os.pipe()
    process = forkserver.start_process(_try_in_child, [theirs], pack_roster(roster), name, threads)
    os.close(theirs)
    with open(ours, "rb") as pipe:  # noqa: PTH123 - it is a descriptor
        if select.select([pipe], [], [], LOAD_TIMEOUT_S)[0]:
            data = pipe.read()
        else:
            data = b""
            os.kill(process.pid, 9)
    process.wait()
    return msgspec.json.decode(data, type=ImportTrial) if data else None


def _try_in_child(handles: Sequence[int], payload: RosterPayload, name: str, threads: int) -> None:
    """Load the entrant and send an ImportTrial; runs in the new process."""
    forkserver.die_with_parent()
    os.environ.update(thread_variables(threads))
    prints = io.StringIO()
    sys.stdout = prints
    before, began = forkserver.count_threads(), perf_counter()
    roster = unpack_roster(payload, prints)
    entrant = roster.entrants[name]
    trial = ImportTrial(perf_counter() - began, max(0, forkserver.count_threads() - before), _drain_printed(prints))
    game = next(game for game in roster.games.values() if entrant.plays(game.name))
    spec = MatchSpec.single("trial", game.name, game.settings, 1, [name] * game.min_players)
    play(spec, game, [entrant] * game.min_players)
    trial = msgspec.structs.replace(trial, printed_in_play=_drain_printed(prints))
    os.write(handles[0], msgspec.json.encode(trial))


def _drain_printed(prints: io.StringIO) -> str:
    """Return the first line of what was printed, and clear it."""
    said = prints.getvalue().strip().partition("\n")[0][:MAX_SHOWN_CHARS]
    prints.seek(0)
    prints.truncate()
    return said
