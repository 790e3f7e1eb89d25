"""Try a bot at all its games and report whether it is fit to play."""

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
from harness.executors.payload import RosterPayload, pack_roster, unpack_roster
from harness.executors.worker import LOAD_TIMEOUT_S
from harness.isolation.entrants import RemoteEntrant, SessionPool
from harness.isolation.launch import thread_variables
from harness.match.faults import Limits
from harness.match.referee import play
from harness.plugins.entrants import Entrant, enter, unknown_games

# Tries a bot at everything it claims to play and says whether it is fit for a tournament.
#
# from harness.conformance import check_bot
#
# def test_my_bot_is_fit(): check_bot(Sprinter).demand()


LIMITS = Limits(move_time=10.0)
SEEDS = (1, 2)
MOST_FAULTS = 20
"""Faults after which there is no point in looking for more."""
STAND_IN = "stand-in"
OpensExecutor = Callable[[Roster], Executor]


class StandIn(Bot):
    """Fills the other seats: takes any legal action."""

    name = STAND_IN

    def choose(self, view: Any, actions: Any) -> Any:
        """Return one of them."""
        return actions[int(self.rng.random() * len(actions))]


@dataclass(slots=True)
class BotReport:
    """What was found. A bot without problems is fit to play."""

    bot: str
    games: dict[str, list[int]] = field(default_factory=dict)
    """Which player counts of which games were played."""
    matches: int = 0
    decisions: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    """Seconds of the slowest decision."""
    memory: float | None = None
    """Megabytes at most, for a bot in a process of its own."""
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    """What its author should know, though it is no fault."""

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
    executor: OpensExecutor | None = None,
) -> BotReport:
    """Play every game that the bot claims at every player count, each match twice; what came of it.

    `games` are those there are, by default all that are installed; `only` leaves out the others. A class is played in
    this process, by default: what hangs or kills it is survived by entrants in processes of their own, and by an
    `executor` with workers, made for a roster. `arena check` has both.
    """
    entrant = bot if isinstance(bot, Entrant) else enter(bot, {}, "", "", "")
    offered = {game.name: game for game in (_installed() if games is None else games)}
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
        # The other way round, in fresh processes: a bot whose play depends on what it played before is found out.
        second = _play_all(specs[::-1], roster, limits, report, executor)
    finally:
        roster.close()
    for spec in specs:
        _compare(spec, first.get(spec.id), second.get(spec.id), report)
    return report


def _installed() -> Iterator[Game[Any]]:
    from harness.plugins.registry import load

    for offer in load().games.values():
        game: Game[Any] = offer.cls.configure()
        yield game


def _matches(game: Game[Any], players: int, name: str, seeds: Sequence[int]) -> Iterator[MatchSpec]:
    """Yield the bot in one seat after the other, and at the end in all seats."""
    for number, seed in enumerate(seeds):
        seats = [STAND_IN] * players
        seats[number % players] = name
        yield _spec(game, f"{game.name}, {players} players, seed {seed}", seed, seats)
    yield _spec(game, f"{game.name}, {players} players, against itself", seeds[0], [name] * players)


def _spec(game: Game[Any], what: str, seed: int, seats: list[str]) -> MatchSpec:
    return MatchSpec.single(what, game.name, game.settings, seed, seats)


def _play_all(
    specs: Sequence[MatchSpec], roster: Roster, limits: Limits, report: BotReport, executor: OpensExecutor | None
) -> dict[str, GameRecord]:
    """Return the records of these matches; after too many faults the rest is left out."""
    entrant, records, faults = roster.entrants[report.bot], {}, 0
    for record in _played(specs, roster, limits, executor):
        records[record.id] = record
        mine = [seat for seat, name in enumerate(record.seats) if name == report.bot]
        report.matches += 1
        report.decisions += sum(record.decisions[seat] for seat in mine)
        report.seconds += sum(record.time[seat] for seat in mine)
        report.slowest = max(report.slowest, *(record.slowest[seat] for seat in mine))
        faults += len(record.faults)
        if faults > MOST_FAULTS:
            break
    if isinstance(entrant, RemoteEntrant):
        _look_at(entrant.sessions, report)
    return records


def _played(
    specs: Sequence[MatchSpec], roster: Roster, limits: Limits, executor: OpensExecutor | None
) -> Iterator[GameRecord]:
    if executor is None:
        for spec in specs:
            yield play(spec, roster.games[spec.game], roster.seats(spec), limits)
        return
    with executor(roster) as pool:
        for played in pool.run(map(Job, specs)):
            yield played.record


def _look_at(sessions: SessionPool, report: BotReport) -> None:
    """What its processes have used, and whether they stayed."""
    report.memory = max([report.memory or 0.0, *(program.process.peak_memory() for program in sessions.idle)])
    if sessions.unasked_exits:
        report.problems.append(
            "Its program ends after a match, unasked: it should wait for the next one, since start-up takes time."
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
            return f"decision {number} was another one the second time, with the same seed."
    return f"the second time it ended otherwise ({len(one.actions)} decisions, then {len(other.actions)})."


# What a bot does when it is loaded, tried in a process like those that will load it in a tournament.


SLOW_IMPORT = 1.0
"""Seconds of an import that an author should know of: every worker takes them, and every isolated process."""
SHOWN = 60


class ImportTrial(msgspec.Struct, frozen=True):
    """What happened when a bot was loaded."""

    seconds: float
    threads: int
    """Threads that were there afterwards and not before, native ones counted."""
    printed: str
    """What it wrote to stdout, the beginning of it."""
    printed_in_play: str = ""
    """And what it wrote in the course of a match."""

    def warnings(self) -> list[str]:
        """Return what its author should know."""
        found = []
        if self.seconds > SLOW_IMPORT:
            found.append(
                f"Loading it takes {self.seconds:.1f} s: every worker, and each of its own processes, begins with that."
            )
        if self.threads:
            threads = "a thread" if self.threads == 1 else f"{self.threads} threads"
            found.append(
                f"Loading it starts {threads}: they go on while others think, and share their processor with it."
            )
        if self.printed:
            found.append(f"Loading it prints to stdout ({self.printed!r}), which goes to stderr, once a worker.")
        if self.printed_in_play:
            found.append(
                f"It prints to stdout while it plays ({self.printed_in_play!r}), which goes to stderr and takes time."
            )
        return found


def try_import(roster: Roster, name: str, threads: int = 1) -> ImportTrial | None:
    """Loads one entrant of a roster in a fresh process, and lets it play a match; None if that does not end."""
    ours, theirs = os.pipe()
    process = forkserver.start_process(_try, [theirs], pack_roster(roster), name, threads)
    os.close(theirs)
    with open(ours, "rb") as told:  # noqa: PTH123 - it is a descriptor
        if select.select([told], [], [], LOAD_TIMEOUT_S)[0]:
            data = told.read()
        else:
            data = b""
            os.kill(process.pid, 9)
    process.join()
    return msgspec.json.decode(data, type=ImportTrial) if data else None


def _try(handles: Sequence[int], payload: RosterPayload, name: str, threads: int) -> None:
    """In the fresh process."""
    forkserver.die_with_parent()
    os.environ.update(thread_variables(threads))
    prints = io.StringIO()
    sys.stdout = prints
    before, began = forkserver.count_threads(), perf_counter()
    roster = unpack_roster(payload, prints)
    entrant = roster.entrants[name]
    trial = ImportTrial(perf_counter() - began, max(0, forkserver.count_threads() - before), _beginning(prints))
    game = next(game for game in roster.games.values() if entrant.plays(game.name))
    spec = MatchSpec.single("trial", game.name, game.settings, 1, [name] * game.min_players)
    play(spec, game, [entrant] * game.min_players)
    trial = msgspec.structs.replace(trial, printed_in_play=_beginning(prints))
    os.write(handles[0], msgspec.json.encode(trial))


def _beginning(prints: io.StringIO) -> str:
    """Return the first of what was printed, which is forgotten then."""
    said = prints.getvalue().strip()[:SHOWN]
    prints.seek(0)
    prints.truncate()
    return said
