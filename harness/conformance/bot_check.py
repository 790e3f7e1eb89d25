"""Try a bot at all its games and report whether it is fit to play.

from harness.conformance import check_bot

def test_my_bot_is_fit():
    check_bot(Sprinter).demand()
"""

from __future__ import annotations

import io
import os
import select
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
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
from harness.plugins.entrants import Entrant, enter, unknown_games
from harness.plugins.registry import load

LIMITS = Limits(move_time=10.0)
SEEDS = (1, 2)
MAX_FAULTS = 20
"""Number of faults after which the check stops."""
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
    seconds: float = 0.0
    slowest: float = 0.0
    """Seconds of the slowest decision."""
    memory: float | None = None
    """Peak in megabytes, for a bot in a separate process."""
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    """What its author should know, although it is no fault."""

    @property
    def fit(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def demand(self) -> None:
        """Raise ConformanceError if anything is wrong."""
        if self.problems:
            raise ConformanceError(f"{self.bot} is not fit to play: " + " ".join(self.problems))


def check_bot(
    bot: type[Bot] | Entrant,
    games: Iterable[Game[Any]] | None = None,
    seeds: Sequence[int] = SEEDS,
    limits: Limits = LIMITS,
    only: Sequence[str] = (),
    executor: ExecutorFactory | None = None,
) -> BotReport:
    """Play every game that the bot claims at every player count, each match twice, and return a report.

    `games` are the available ones, by default all that are installed; `only` selects some of them by name. A class
    plays in this process by default, so a bot that hangs or crashes takes the check with it. Isolated entrants, or an
    `executor` with workers, avoid that; `arena check` uses both.
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
    try:
        first = _play_all(specs, roster, limits, report, executor)
        # In reverse order, in new processes: this finds bots whose play depends on earlier matches.
        second = _play_all(specs[::-1], roster, limits, report, executor)
    finally:
        roster.close()
    for spec in specs:
        _compare(spec, first.get(spec.id), second.get(spec.id), report)
    return report


def _installed_games() -> Iterator[Game[Any]]:
    for offer in load().games.values():
        game: Game[Any] = offer.cls.configure()
        yield game


def _matches(game: Game[Any], players: int, name: str, seeds: Sequence[int]) -> Iterator[MatchSpec]:
    """Yield matches with the bot in one seat after the other, and finally in all seats."""
    for number, seed in enumerate(seeds):
        seats = [STAND_IN] * players
        seats[number % players] = name
        yield _spec(game, f"{game.name}, {players} players, seed {seed}", seed, seats)
    yield _spec(game, f"{game.name}, {players} players, against itself", seeds[0], [name] * players)


def _spec(game: Game[Any], what: str, seed: int, seats: list[str]) -> MatchSpec:
    return MatchSpec.single(what, game.name, game.settings, seed, seats)


def _play_all(
    specs: Sequence[MatchSpec], roster: Roster, limits: Limits, report: BotReport, executor: ExecutorFactory | None
) -> dict[str, GameRecord]:
    """Return the records of these matches; stop after too many faults."""
    entrant, records, faults = roster.entrants[report.bot], {}, 0
    for record in _play_each(specs, roster, limits, executor):
        records[record.id] = record
        mine = [seat for seat, name in enumerate(record.seats) if name == report.bot]
        report.matches += 1
        report.decisions += sum(record.decisions[seat] for seat in mine)
        report.seconds += sum(record.time[seat] for seat in mine)
        report.slowest = max(report.slowest, *(record.slowest[seat] for seat in mine))
        faults += len(record.faults)
        if faults > MAX_FAULTS:
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


def _compare(spec: MatchSpec, once: GameRecord | None, again: GameRecord | None, report: BotReport) -> None:
    if once is None or again is None:
        return
    for fault in once.faults or again.faults:
        last = fault.detail.strip().splitlines()[-1:] or [""]
        report.problems.append(f"{spec.id}: {fault.kind} at decision {fault.decision}: {last[0]}")
    if not once.faults and not again.faults and once.without_timing() != again.without_timing():
        report.problems.append(f"{spec.id}: not repeatable: {_difference(once, again)}")


def _difference(one: GameRecord, other: GameRecord) -> str:
    for number, (a, b) in enumerate(zip(one.actions, other.actions, strict=False)):
        if a != b:
            return f"decision {number} was different the second time, with the same seed."
    return f"the second time it ended differently ({len(one.actions)} decisions, then {len(other.actions)})."


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
            found.append(f"Loading it prints to stdout ({self.printed!r}), which goes to stderr, once a worker.")
        if self.printed_in_play:
            found.append(
                f"It prints to stdout while it plays ({self.printed_in_play!r}), which goes to stderr and takes time."
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
    """Return the beginning of what was printed, and clear it."""
    said = prints.getvalue().strip()[:MAX_SHOWN_CHARS]
    prints.seek(0)
    prints.truncate()
    return said
