"""From what was typed, or from a bot of this process, to an entrant in a process of its own."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from time import perf_counter
from typing import Any

from harness.core.bot import Bot, kebab
from harness.core.errors import PluginError, UsageError
from harness.core.game import Game
from harness.core.types import Value
from harness.executors.remote import Isolation, IsolationPolicy, RemoteEntrant, RunningProgram, SessionPool
from harness.match.faults import BotFault
from harness.plugins.bot_files import bot_file
from harness.plugins.entrants import Entrant, split_options
from harness.plugins.identity import digest_of_files
from harness.protocol.messages import LONGEST_HELLO, BotDescription, Introduction, NotAMessage, decode_descriptions
from harness.protocol.session import HELLO, class_path
from harness.sandbox.doctor import require_enforcement
from harness.sandbox.process import ROOT, Launch, folders_needed, with_absolute_paths

COMMAND = "cmd:"
SERVE_BOT = "harness.protocol.child:serve"
DESCRIBE_FILE = "harness.protocol.child:describe_file"
"""What runs in the process of a Python bot, as module:function."""


@dataclass(frozen=True, slots=True)
class OutsideProcesses:
    """The registry's way to bots outside this process (`harness.plugins.entrants.OutsideBots`)."""

    isolate: Isolation = "off"

    @property
    def loads_files_here(self) -> bool:
        """Whether Python files are loaded in this process, as friends' are."""
        return self.isolate == "off"

    def enter_command(self, text: str, name: str, options: str, command: str) -> Entrant:
        """An entrant for a program."""
        return enter_command(text, name, options, command, self.isolate)

    def bots_in(self, path: str) -> dict[str, type[Bot]]:
        """The bots of a file, described by a process of its own."""
        return bots_in(path, self.isolate)


def enter_command(text: str, name: str, options: str, command: str, isolate: Isolation) -> RemoteEntrant:
    """An entrant for a program: it is started once, to say hello.

    `name` may be empty: then the program's file names it. `text` is what was typed in all.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"In {text!r} the command cannot be read: {error}.") from None
    if not words:
        raise UsageError(f"{text!r} names no program: write --bot 'cmd:node bot.js'.")
    if shutil.which(words[0]) is None:
        raise UsageError(f"{text!r}: there is no program {words[0]!r} on this machine.")
    argv = with_absolute_paths(words)
    launch = Launch(argv, readable=folders_needed(argv))
    settings: dict[str, Value] = dict(split_options(text, options))
    called = name or _name_of(words)
    full = called + (f":{options}" if options else "")
    policy = IsolationPolicy(isolate)
    try:
        introduction = _introduction(launch, policy)
    except BotFault as fault:
        raise UsageError(f"{text!r} cannot be entered: {fault.detail}.") from None
    digest = _digest(words, argv)
    about = {"name": called, "games": introduction.games, "version": introduction.version}
    return RemoteEntrant(
        name=full,
        spec=f"{full}={COMMAND}{command}",
        bot=type("Program", (Bot,), about),
        settings=settings,
        source=command,
        version=introduction.version or digest,
        digest=digest,
        launch=launch,
        expected=introduction,
        policy=policy,
    )


def _introduction(launch: Launch, policy: IsolationPolicy) -> Introduction:
    """What a program says of itself when it is started."""
    sessions = SessionPool()
    try:
        session = RunningProgram.start(launch, sessions.home, policy, "").session
        session.close()
    finally:
        sessions.close()
    return session.introduction


def _name_of(words: list[str]) -> str:
    """`node bots/fast.js` -> `fast`."""
    files = [word for word in words[1:] if Path(word).is_file()]
    return kebab(Path(files[0] if files else words[0]).stem.replace(" ", "-").replace(":", "-"))


def _digest(words: Sequence[str], argv: Sequence[str]) -> str:
    """What a program is: the files that its command names; the program itself unless it was found on the PATH."""
    named = argv if Path(words[0]).name != words[0] or len(argv) == 1 else argv[1:]
    return digest_of_files({f"{i}:{Path(word).name}": Path(word).read_bytes() for i, word in enumerate(named)
                            if Path(word).is_file()})  # fmt: skip


def bots_in(path: str, isolate: Isolation) -> dict[str, type[Bot]]:
    """The bots of a file, as they describe themselves in a process of their own: none of its code runs in this one."""
    folder = bot_file(path).parent
    launch = python_launch(DESCRIBE_FILE, {"file": str(Path(path).resolve())}, (str(folder),))
    sessions, policy = SessionPool(), IsolationPolicy(isolate)
    process = policy.start(launch, sessions.home)
    try:
        line = process.exchange(HELLO, perf_counter() + policy.start_time, LONGEST_HELLO, "told its bots")
        described = decode_descriptions(line)
    except (BotFault, NotAMessage) as error:
        raise PluginError(f"{path} cannot be loaded: {error}.") from None
    finally:
        process.kill()
        sessions.close()
    return {bot.name: _stand_in(bot) for bot in described}


def _stand_in(bot: BotDescription) -> type[Bot]:
    """A class that says of itself what a bot of another process has said, and cannot play."""
    about = {"name": bot.name, "games": bot.games, "options": bot.options, "version": bot.version, "files": bot.files}
    return type("Described", (Bot,), {**about, "__doc__": bot.doc, "choose": _not_here})


def _not_here(_self: Bot, _view: object, _actions: object) -> Any:
    raise AssertionError("this bot plays in a process of its own")


def python_launch(entry: str, request: Mapping[str, object], readable: tuple[str, ...]) -> Launch:
    """A launch of Python that calls our function `entry` with `request`, and can import what this process can."""
    folders = {sys.prefix, sys.base_prefix, sys.exec_prefix, *readable}
    folders |= {path for path in sys.path if path and Path(path).is_dir()}
    folders |= {str(ROOT / ours) for ours in ("harness", "engines", "bots")}  # an editable install is in no such folder
    return Launch(entry=entry, request=request, readable=tuple(sorted(folders)))


def isolate(entrant: Entrant, policy: IsolationPolicy, games: Mapping[str, Game[Any]]) -> Entrant:
    """The entrant on this policy's terms: a program always, a Python bot if bots are isolated."""
    if isinstance(entrant, RemoteEntrant) and entrant.launch.argv:
        return _remote(entrant, entrant.launch, policy, entrant.expected)
    if policy.isolate == "off":
        return entrant
    engines = sorted(class_path(type(game)) for game in games.values())
    wanted: dict[str, object] = {"settings": dict(entrant.settings), "engines": engines}
    readable = [_package_of(cls) for cls in (*map(type, games.values()), *entrant.consulted)]
    if entrant.sources:
        place = Path(entrant.source).resolve()
        wanted |= {"file": str(place), "bot": entrant.bot.name, "digest": entrant.own_digest}
        readable.append(str(place if place.is_dir() else place.parent))
    else:
        if "<" in entrant.bot.__qualname__ or entrant.bot.__module__ == "__main__":
            raise UsageError(
                f"{entrant.name} cannot be isolated: no other process can import its class; put it into a file."
            )
        wanted["bot"] = class_path(entrant.bot)
        readable.append(_package_of(entrant.bot))
    return _remote(entrant, python_launch(SERVE_BOT, wanted, tuple(readable)), policy, None)


def isolate_all(
    entrants: Mapping[str, Entrant], policy: IsolationPolicy, games: Mapping[str, Game[Any]]
) -> dict[str, Entrant]:
    """All entrants on this policy's terms. A strict one is tried at once: it must be possible to run every bot."""
    if policy.isolate == "strict":
        require_enforcement()
    placed = {name: isolate(entrant, policy, games) for name, entrant in entrants.items()}
    if policy.isolate == "strict":
        for entrant in placed.values():
            _try_out(entrant)
    return placed


def _try_out(entrant: Entrant) -> None:
    assert isinstance(entrant, RemoteEntrant)
    entrant.warm_up()
    failed = list(entrant.sessions.failed_starts)
    entrant.sessions.dismiss()
    if failed:
        raise UsageError(f"{entrant.name} cannot be isolated strictly: {failed[0].detail}.")


def _remote(entrant: Entrant, launch: Launch, policy: IsolationPolicy, expected: Introduction | None) -> RemoteEntrant:
    values = {one.name: getattr(entrant, one.name) for one in fields(Entrant)}
    remote = RemoteEntrant(**values, launch=launch, expected=expected, policy=policy)
    assert remote.sessions.home, "the folder is made here, so that this process can remove it when workers have died"
    return remote


def _package_of(cls: type) -> str:
    """The folder that a class's top-level package, or the file that its module, is in."""
    top = cls.__module__.partition(".")[0]
    file = getattr(sys.modules[top], "__file__", None) or getattr(sys.modules[cls.__module__], "__file__", "")
    return str(Path(file or ROOT).resolve().parent)
