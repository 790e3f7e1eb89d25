"""Entrants whose bots play in separate processes: programs, and sandboxed Python bots."""

from __future__ import annotations

import atexit
import dataclasses
import os
import re
import shlex
import shutil
from collections import deque
from collections.abc import Hashable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import cache, partial
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from harness.core.bot import Bot, kebab
from harness.core.errors import LINES, PluginError, UsageError, printable
from harness.core.game import Game
from harness.core.options import DEFAULT_MEMORY_MB
from harness.core.records import Isolation, Value
from harness.isolation.accounting import ProcessTree
from harness.isolation.cgroups import delegated_cgroup
from harness.isolation.confine import SYSTEM_FOLDERS
from harness.isolation.doctor import require_enforcement
from harness.isolation.launch import Launch, new_folder, remove_folder, thread_variables, with_absolute_paths
from harness.isolation.process import Process, StderrLog
from harness.isolation.protocol import (
    HELLO,
    MAX_DESCRIPTIONS_BYTES,
    Introduction,
    InvalidMessage,
    ListeningRemoteBot,
    RemoteBot,
    Session,
    class_path,
    decode_descriptions,
)
from harness.match.faults import MAX_DETAIL_CHARS, NO_LIMITS, BotFault, Limits
from harness.match.stdio import BotLogs
from harness.plugins.bot_files import bot_file, file_digest, sources_of
from harness.plugins.discovery import MAX_NAME_CHARS, check_bot, is_name, shown
from harness.plugins.entrants import BotDescription, BotRef, Entrant, is_confined
from harness.plugins.snapshots import (
    LIST,
    ProgramFiles,
    bot_snapshot,
    declared_in,
    make_bundle,
    program_files,
    unpack_bundle,
    visible_code,
)

# How bots' processes are started: from a snapshot of their files, with installed packages and nothing else


_MISSING_FILE = re.compile(r"no such file|cannot find|can't open|not found|ENOENT|ModuleNotFound", re.IGNORECASE)


def python_launch(
    entry: str,
    request: Mapping[str, object],
    classes: Iterable[type] = (),
    place: Path | None = None,
    copied: bool = False,
) -> Launch:
    """Return a launch of Python that calls Arena's function `entry` with `request`.

    It can import installed packages and the packages of `classes`; `place` is the bot's snapshot; `copied` says that it
    forks a copy of itself for each match.
    """
    code = visible_code(classes)
    readable = {*code.readable, *([str(place)] if place else [])}
    return Launch(entry=entry, request=request, readable=tuple(sorted(readable)), packages=code.packages, copied=copied)


def files_of_command(command: str) -> ProgramFiles:
    """Return the files of a program, from its command."""
    words = shlex.split(command)
    return program_files(words, with_absolute_paths(words), SYSTEM_FOLDERS)


def program_launch(program: ProgramFiles, home: str, confined: bool) -> Launch:
    """Return a launch of a program: confined, from its snapshot in `home`; otherwise from where it is."""
    if not confined:
        return Launch(program.argv)
    # A program without own files, such as an installed engine, needs no snapshot.
    if not program.own:
        return Launch(program.argv, readable=program.installed)
    place = program.snapshot().write(home)
    return Launch(program.moved(place), readable=(str(place), *program.installed))


def missing_file_hint(program: ProgramFiles, failure: str) -> str:
    """Return advice if a confined program seems to fail because a file is missing; empty otherwise."""
    named = [Path(program.argv[number]).name for number in program.own]
    if not named or not _MISSING_FILE.search(failure):
        return ""
    return f" Isolated, it sees only the files that its command names: list what else it needs in {named[-1]}{LIST}."


def undeclared_file_hint(folder: Path, failure: str) -> str:
    """Return advice if a bot fails on a file next to it that it does not declare; empty otherwise."""
    for name in re.findall(r"['\"]([^'\"\n]+)['\"]", failure):
        if (folder / name).is_file():
            return f" {name} is next to it; isolated, it sees only files that it declares: files = ({name!r},)."
    return ""


def private_folders(logs: str) -> tuple[str, ...]:
    """Return the folders with the operator's own files: current, home and results."""
    found = [str(Path(logs).absolute().parents[1])] if logs else []
    for where in (Path.cwd, Path.home):
        with suppress(OSError, RuntimeError):  # the current folder may be deleted, and a daemon has no home
            found.append(str(where()))
    return tuple(found)


def check_unchanged(name: str, now: str, entered: str) -> None:
    """Raise UsageError if a bot's files changed since it was entered."""
    if now != entered:
        raise UsageError(f"The files of {name} changed after it was entered: enter it again.")


# Idle programs: a bounded number in each process, whatever the size of the field


MAX_IDLE_PROGRAMS = 16
"""In each worker: more than any table seats, and far fewer than a large field has."""


class ProcessLRU:
    """The pools of this process, and the limit on their idle programs together. The pool that was used least
    recently loses a program first; it is started again when needed.
    """

    def __init__(self, max_idle: int = MAX_IDLE_PROGRAMS) -> None:
        self.max_idle = max_idle
        self._keepers: dict[int, SessionPool] = {}
        """By identity, most recently used last."""

    def mark_used(self, keeper: SessionPool) -> None:
        """Mark this pool as used now, and end programs beyond the limit."""
        self._keepers.pop(id(keeper), None)
        self._keepers[id(keeper)] = keeper
        # The limit counts idle programs only: those at a table are needed.
        beyond = sum(len(each.idle) for each in self._keepers.values()) - self.max_idle
        for number, each in list(self._keepers.items()):
            while beyond > 0 and each.idle:
                each.idle.popleft().session.close()
                beyond -= 1
            if not each.idle and each is not keeper:
                del self._keepers[number]


@cache
def process_lru() -> ProcessLRU:
    """Return the pools of this process."""
    return ProcessLRU()


# Remote entrants: sandbox and protocol put together


DEFAULT_START_TIME_S = 20.0
MAX_PROCESS_AGE_S = 900.0
"""A process is replaced between two matches after this, long before its processor time is used up."""


class IsolationPolicy(Struct, frozen=True):
    """How an organiser runs untrusted programs."""

    isolate: Isolation = "auto"
    limits: Limits = NO_LIMITS
    memory: int = DEFAULT_MEMORY_MB
    """Megabytes for each bot; 0 is no limit."""
    start_time: float = DEFAULT_START_TIME_S
    """Seconds from start to hello; 0 is no limit."""
    threads: int = 1
    """Threads of each native pool (OpenMP, BLAS); 0 is no limit."""
    logs: str = ""
    """Folder for stderr of programs; empty for none."""
    show: bool = False
    """Whether it is printed, too."""
    keep: bool = False
    """Whether a process that cannot be forked plays several matches, of different deals."""
    ponder: bool = False
    """Whether programs may think between requests."""

    def start(self, launch: Launch, home: str, name: str = "") -> Process:
        """Start a process with this policy; without a name it has no log."""
        log = StderrLog(name, BotLogs(Path(self.logs), self.show)) if self.logs and name else None
        limited = dataclasses.replace(launch, environment=thread_variables(self.threads))
        return Process(
            limited,
            home,
            log,
            self.ponder,
            confined=self.isolate != "off",
            strict=self.isolate == "strict",
            lenient=self.isolate == "auto",
            memory=self.memory,
            hidden=private_folders(self.logs),
        )


@dataclass(frozen=True, slots=True)
class RunningProgram:
    """A process and the session with it."""

    process: Process
    session: Session
    started_at: float
    """In the time of perf_counter."""
    deals: set[Hashable] = field(default_factory=set)
    """Deals that this process itself, not a fork of it, has played."""

    @classmethod
    def start(cls, launch: Launch, home: str, policy: IsolationPolicy, name: str) -> RunningProgram:
        """Start a program and wait for its hello; raises BotFault if none comes."""
        started_at = perf_counter()
        process = policy.start(launch, home, name)
        return cls(process, Session(process, policy.limits, policy.start_time), started_at)


class SessionPool:
    """The programs of one entrant in this process: one for each of its seats in a match, usually one."""

    def __init__(self, home: str = "") -> None:
        self.idle: deque[RunningProgram] = deque()
        """Those that wait for a match, the one that has been idle longest first."""
        self.failed_starts: deque[BotFault] = deque()
        """Failed starts, one for each seat that needed the program."""
        self.unasked_exits = 0
        """How many programs exited between two matches."""
        self.may_fork = True
        """Whether programs are forked for each match: False once a template was changed or a fork exited."""
        self.deal: Hashable = None
        """The deal of the current match."""
        self._home = home
        self._owner = 0

    def __reduce__(self) -> tuple[type[SessionPool], tuple[str]]:
        return SessionPool, (self._home,)  # processes are not sent to other workers, and the folder is ours to delete

    @property
    def home(self) -> str:
        """The folder for the scratch folders of its processes, created on first use."""
        if not self._home:
            self._home, self._owner = new_folder(), os.getpid()
            atexit.register(self.close)  # for callers without an executor that closes its table
        return self._home

    def take_idle(self) -> RunningProgram | None:
        """Return an idle program, or None; raises the fault of one that did not start."""
        for program in self.idle:
            if self.deal not in program.deals:
                self.idle.remove(program)
                return program
        if self.failed_starts:
            raise self.failed_starts.popleft()
        return None

    def give_back(self, program: RunningProgram, keep: bool) -> None:
        """Keep a program for the next match if it can be forked again, or if processes are kept; otherwise end it."""
        # Without a fork the process itself has seen the deal, and must not play it again in another seating.
        fresh = program.process.end_match()
        if not fresh:
            program.deals.add(self.deal)
        if program.process.is_tainted:
            self.may_fork = False
        young = perf_counter() - program.started_at < MAX_PROCESS_AGE_S
        if program.session.alive and young and (fresh or (keep and not program.process.template)):
            self.idle.append(program)
            process_lru().mark_used(self)
        else:
            program.session.close()

    def dismiss(self) -> None:
        """End all programs; the next match starts new ones."""
        ProcessTree.leave_core()  # a match that was interrupted has not done so
        while self.idle:
            self.idle.popleft().session.close()
        self.failed_starts.clear()

    def close(self) -> None:
        """End all programs; the process that created the folder deletes it."""
        self.dismiss()
        if self._home and self._owner == os.getpid():
            remove_folder(self._home)
            self._home = ""


@dataclass(frozen=True, slots=True)
class RemoteEntrant(Entrant):
    """An entrant that plays in a separate process in each worker. No state is left between matches."""

    isolated: ClassVar[bool] = True
    launch: Launch
    expected: Introduction | None = None
    """How the program introduced itself when it was entered; it must not change."""
    policy: IsolationPolicy = field(default_factory=IsolationPolicy)
    sessions: SessionPool = field(default_factory=SessionPool, compare=False)

    def warm_up(self, seats: int = 1, deal: Hashable = None) -> None:
        """Start as many processes as needed; a failed start is kept for the match, where it becomes a fault."""
        sessions = self.sessions
        sessions.deal = deal
        if deal is None:  # A single query needs no fork, and the exit code of a process that is not a fork is known.
            sessions.may_fork = False
        for program in [one for one in sessions.idle if not one.process.running]:
            sessions.idle.remove(program)
            program.session.close()  # it exited between two matches; a new one plays
            sessions.unasked_exits += 1
        while sum(deal not in one.deals for one in sessions.idle) + len(sessions.failed_starts) < seats:
            try:
                sessions.idle.append(self._start())
            except BotFault as fault:
                sessions.failed_starts.append(fault)
        for program in [one for one in sessions.idle if deal not in one.deals][:seats]:
            program.process.begin_match()
        process_lru().mark_used(sessions)

    def seat(self, game: Game[Any], seat: int, players: int, seed: int) -> Bot:
        """Return a bot object that asks the program."""
        program = self.sessions.take_idle() or self._start()
        kind = ListeningRemoteBot if "events" in program.session.wants else RemoteBot
        bot = kind(program.session, partial(self.sessions.give_back, program, self.policy.keep))
        bot._contents = self.contents
        return bot.seated(game, seat, players, seed, self.settings)

    def start_afresh(self) -> None:
        """End idle programs."""
        self.sessions.dismiss()

    def close(self) -> None:
        """End its processes."""
        self.sessions.close()

    def _start(self) -> RunningProgram:
        # Strict isolation starts a new process for each match.
        copied = self.launch.copied and self.sessions.may_fork and self.policy.isolate != "strict"
        launch = dataclasses.replace(self.launch, copied=copied)
        program = RunningProgram.start(launch, self.sessions.home, self.policy, self.name)
        if copied and not program.process.template:  # it has threads or shares memory, so it cannot be forked
            self.sessions.may_fork = False
            program.session.close()
            # At most once: `may_fork` is False now.
            return self._start()
        if self.expected is not None and program.session.introduction != self.expected:
            program.session.close()
            # Otherwise a program could enter as one version and play as another.
            raise BotFault("illegal", "introduces itself otherwise than when it was entered")
        return program


# From a typed spec, or a bot of this process, to a remote entrant


SERVE_BOT = "harness.isolation.bot_host:serve"
DESCRIBE_FILE = "harness.isolation.bot_host:describe_file"
"""Entry points in the process of a Python bot, as module:function."""
MAX_BOTS_PER_FILE = 500
"""Most files have one bot; the limit keeps a hostile file from filling memory."""


def enter_command(ref: BotRef, isolate: Isolation) -> RemoteEntrant:
    """Return an entrant for a program, which is started once for its hello; without an alias its file names it."""
    text, command = str(ref), ref.command or ""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"In {text!r} the command cannot be read: {error}.") from None
    if not words:
        raise UsageError(f"{text!r} names no program: write 'cmd:node bot.js'.")
    # Checked here for a clear message; the sandbox would only report an exit code.
    if shutil.which(words[0]) is None:
        raise UsageError(f"{text!r}: there is no program {words[0]!r} on this machine.")
    program = files_of_command(command)
    settings: dict[str, Value] = dict(ref.settings)
    ref = dataclasses.replace(ref, alias=ref.alias or _name_from_command(words))
    policy = IsolationPolicy(isolate)
    try:
        introduction = _read_introduction(program, policy)
        bot = BotDescription(ref.alias, introduction.version, introduction.games, (), "")
        check_bot(bot)
    except BotFault as fault:
        absent = [word for word in words[1:] if Path(word).suffix and not Path(word).exists()]
        hint = missing_file_hint(program, fault.detail) if isolate != "off" else ""
        if absent and Path(absent[0]).name in fault.detail:
            hint = f" There is no file {absent[0]} here."
        said = printable(fault.detail, MAX_DETAIL_CHARS, LINES)
        if fault.kind == "timeout":
            hint += " If it answers, it keeps the answer in a buffer: flush stdout after each line (awk: fflush(); "
            hint += "mawk also needs -W interactive)."
        if isolate == "strict":
            hint += _single_process_hint()
        if isolate == "auto":
            hint += " It was started in a sandbox (docs/security.md)."
        raise UsageError(
            f"{text!r} cannot be entered: {said}.{hint}", fix="isolate-off" if isolate == "auto" else ""
        ) from None
    except PluginError as error:
        raise UsageError(f"{text!r} cannot be entered: {error}") from None
    digest = program.digest()
    return RemoteEntrant(
        name=ref.alias + (f":{ref.options}" if ref.options else ""),
        ref=ref,
        bot=bot,
        settings=settings,
        source=command,
        version=introduction.version or digest,
        digest=digest,
        untrusted="it is a program",
        launch=Launch(program.argv),
        expected=introduction,
        policy=policy,
    )


def _read_introduction(program: ProgramFiles, policy: IsolationPolicy) -> Introduction:
    """Start a program and return its introduction."""
    sessions = SessionPool()
    try:
        launch = program_launch(program, sessions.home, policy.isolate != "off")
        session = RunningProgram.start(launch, sessions.home, policy, "").session
        session.close()
    finally:
        sessions.close()
    return session.introduction


def _name_from_command(words: list[str]) -> str:
    """`node bots/fast.js` -> `fast`."""
    files = [word for word in words[1:] if Path(word).is_file()]
    stem = Path(files[0] if files else words[0]).stem
    plain = "".join(letter if is_name(letter) else "-" for letter in stem)
    return kebab(plain[:MAX_NAME_CHARS])


def bots_in(path: str, isolate: Isolation) -> list[BotDescription]:
    """Return the bots of a file, described by a sandboxed process: none of its code runs in this one.

    The descriptions may contain anything, because the file's code runs before ours. The caller checks them like all
    other bots (`check_bot`).
    """
    sessions, policy = SessionPool(), IsolationPolicy(isolate)
    try:
        sources = sources_of(path)
        snapshot = bot_snapshot(path, sources, declared_in(path, sources))
        place = snapshot.write(sessions.home)
        launch = python_launch(DESCRIBE_FILE, {"file": str(place / snapshot.start)}, place=place)
        process = policy.start(launch, sessions.home)
        try:
            # HELLO only serves as a first line: `describe_file` answers whatever it reads.
            deadline = perf_counter() + policy.start_time
            line = process.exchange(HELLO, deadline, MAX_DESCRIPTIONS_BYTES, "described its bots")
        finally:
            process.kill()
        described = decode_descriptions(line)
    except (BotFault, InvalidMessage) as error:
        said = re.sub(rf"[^\s'\"]*{re.escape(snapshot.name)}/", "", str(error))
        said = said.rpartition("cannot be loaded: ")[2].rstrip(".")
        hint = undeclared_file_hint(bot_file(path).parent, said)
        raise PluginError(f"{path} cannot be loaded: {printable(said, MAX_DETAIL_CHARS, LINES)}.{hint}") from None
    finally:
        sessions.close()
    if len(described) > MAX_BOTS_PER_FILE:
        raise PluginError(f"{path} says that it has {len(described):,} bots; a file may have {MAX_BOTS_PER_FILE}.")
    return [_printable_description(bot) for bot in described]


def _printable_description(bot: BotDescription) -> BotDescription:
    """Return a description from another process, its texts made printable."""
    # A default is chosen by the bot's author: Arena would read a file of the operator on the author's behalf.
    for option in bot.options:
        if option.kind == "file" and option.default:
            raise PluginError(
                f"bot {shown(bot.name)}: option {shown(option.name)} is a file and has a default. A sandboxed bot "
                f"may only read files that the user has named, so the default must be empty."
            )
    options = tuple(replace(option, help=printable(option.help, MAX_DETAIL_CHARS, LINES)) for option in bot.options)
    return replace(bot, options=options, doc=printable(bot.doc, MAX_DETAIL_CHARS, LINES))


def isolate(entrant: Entrant, policy: IsolationPolicy, games: Mapping[str, Game[Any]]) -> Entrant:
    """Return the entrant under this policy: programs always in a process, Python bots if they must be confined."""
    sessions = SessionPool()
    if isinstance(entrant, RemoteEntrant) and entrant.launch.argv:
        program = files_of_command(entrant.source)
        check_unchanged(entrant.name, program.digest(), entrant.digest)
        launch = program_launch(program, sessions.home, is_confined(entrant.untrusted, policy.isolate))
        return _make_remote(entrant, launch, policy, entrant.expected, sessions)
    if not is_confined(entrant.untrusted, policy.isolate):
        return entrant
    engines = sorted(class_path(type(game)) for game in games.values())
    wanted: dict[str, object] = {"settings": dict(entrant.settings), "engines": engines}
    classes, place = [*map(type, games.values()), *entrant.consulted], None
    if entrant.sources:
        now = file_digest(entrant.source, entrant.sources, entrant.bot.files)
        check_unchanged(entrant.name, now, entrant.own_digest)  # its data files may have changed since then
        copy = unpack_bundle(make_bundle(entrant), sessions.home)
        place = Path(copy.source).parent
        wanted |= {"file": copy.source, "bot": entrant.bot.name, "digest": entrant.own_digest}
    else:
        # A class inside a function ("<locals>") or of the main script has no importable path.
        if "<" in entrant.cls.__qualname__ or entrant.cls.__module__ == "__main__":
            raise UsageError(
                f"{entrant.name} cannot be isolated: no other process can import its class; put it into a file."
            )
        wanted["bot"] = class_path(entrant.cls)
        classes.append(entrant.cls)
    return _make_remote(entrant, python_launch(SERVE_BOT, wanted, classes, place, copied=True), policy, None, sessions)


def isolate_all(
    entrants: Mapping[str, Entrant], policy: IsolationPolicy, games: Mapping[str, Game[Any]]
) -> dict[str, Entrant]:
    """Return all entrants under this policy. If it is strict, every bot is started once as a check."""
    if policy.isolate == "strict":
        require_enforcement()
    placed = {name: isolate(entrant, policy, games) for name, entrant in entrants.items()}
    if policy.isolate == "strict":
        for entrant in placed.values():
            assert isinstance(entrant, RemoteEntrant)
            entrant.warm_up()
            failed = list(entrant.sessions.failed_starts)
            entrant.sessions.dismiss()
            if failed:
                said = printable(failed[0].detail, MAX_DETAIL_CHARS, LINES)
                raise UsageError(f"{entrant.name} cannot be isolated strictly: {said}.{_single_process_hint()}")
    return placed


def _single_process_hint() -> str:
    """Return why a bot may fail under strict isolation only; empty if there is no such reason."""
    if delegated_cgroup() is not None:
        return ""
    return " There is no cgroup (v2) to use here, so strict isolation allows a bot one process without threads."


def _make_remote(
    entrant: Entrant, launch: Launch, policy: IsolationPolicy, expected: Introduction | None, sessions: SessionPool
) -> RemoteEntrant:
    # Workers get a copy of the pool and may be killed, so the folder belongs to this process.
    assert sessions.home, "the folder is made here, so that this process can remove it when workers have died"
    values = {one.name: getattr(entrant, one.name) for one in fields(Entrant)}
    return RemoteEntrant(**values, launch=launch, expected=expected, policy=policy, sessions=sessions)
