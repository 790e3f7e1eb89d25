"""From what was typed, or from a bot of this process, to an entrant in a process of its own."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec

from harness.core.bot import Bot, kebab
from harness.core.errors import PluginError, UsageError
from harness.core.game import Game
from harness.core.types import Option, Value
from harness.executors.remote import RemoteEntrant, SessionPool
from harness.match.faults import BotFault
from harness.plugins.entrants import Entrant, split_options
from harness.protocol.messages import LONGEST_HELLO
from harness.protocol.session import HELLO, Isolation, IsolationPolicy, Session, class_path, exchange
from harness.sandbox.doctor import require_enforcement
from harness.sandbox.process import ROOT, Launch, Process, absolute, files_of

COMMAND = "cmd:"


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
    argv = absolute(words)
    launch = Launch(argv, readable=files_of(argv))
    settings: dict[str, Value] = dict(split_options(text, options))
    called = name or _name_of(words)
    full = called + (f":{options}" if options else "")
    sessions = SessionPool()
    try:
        session = Session(launch, sessions.home, IsolationPolicy(isolate), full)
        session.close()
    except BotFault as fault:
        raise UsageError(f"{text!r} cannot be entered: {fault.detail}.") from None
    finally:
        sessions.close()
    said = session.introduction
    cls = type("Program", (Bot,), {"name": called, "games": said.games, "version": said.version})
    version = said.version or _digest(argv)
    return RemoteEntrant(
        full, f"{full}={COMMAND}{command}", cls, settings, command, version, launch, said, IsolationPolicy(isolate)
    )


def _name_of(words: list[str]) -> str:
    """`node bots/fast.js` -> `fast`."""
    files = [word for word in words[1:] if Path(word).is_file()]
    return kebab(Path(files[0] if files else words[0]).stem.replace(" ", "-").replace(":", "-"))


def _digest(argv: tuple[str, ...]) -> str:
    """Stands for the version of a program that tells none: its files."""
    total = sha256()
    for word in argv:
        if Path(word).is_file():
            total.update(Path(word).read_bytes())
    return "sha256:" + total.hexdigest()[:16]


class _Description(msgspec.Struct, frozen=True):
    """What a file's bot says of itself."""

    name: str
    version: str
    games: tuple[str, ...]
    options: tuple[Option, ...]
    doc: str


def bots_in(path: str, isolate: Isolation) -> dict[str, type[Bot]]:
    """The bots of a file, as they describe themselves in a process of their own: none of its code runs in this one."""
    if not Path(path).is_file():
        raise UsageError(f"There is no file {path}.")
    launch = python_launch({"file": str(Path(path).resolve())}, (str(Path(path).resolve().parent),))
    sessions, policy = SessionPool(), IsolationPolicy(isolate)
    process = Process(launch, sessions.home, None, **policy.terms)
    try:
        line = exchange(process, HELLO, perf_counter() + policy.start_time, LONGEST_HELLO, "told its bots")
        described = msgspec.json.decode(line, type=list[_Description])
    except (BotFault, msgspec.MsgspecError) as error:
        raise PluginError(f"{path} cannot be loaded: {error}.") from None
    finally:
        process.kill()
        sessions.close()
    return {
        one.name: type(
            "Described", (Bot,), {"name": one.name, "games": one.games, "options": one.options, "version": one.version,
                                  "__doc__": one.doc, "choose": _not_here},
        )
        for one in described
    }  # fmt: skip


def _not_here(_self: Bot, _view: object, _actions: object) -> Any:
    raise AssertionError("this bot plays in a process of its own")


def python_launch(python: Mapping[str, object], readable: tuple[str, ...] = ()) -> Launch:
    """A launch of the child that serves a Python bot."""
    folders = {sys.prefix, sys.base_prefix, sys.exec_prefix, *readable}
    folders |= {path for path in sys.path if path and Path(path).is_dir()}
    folders |= {str(ROOT / "harness")}
    return Launch(python=python, readable=tuple(sorted(folders)))


def isolated(entrant: Entrant, policy: IsolationPolicy, games: Mapping[str, Game[Any]]) -> Entrant:
    """The entrant on this policy's terms: a program always, a Python bot if bots are isolated."""
    if isinstance(entrant, RemoteEntrant) and entrant.launch.argv:
        return _with(entrant, entrant.launch, policy, entrant.expected)
    if policy.isolate == "off":
        return entrant
    policy = msgspec.structs.replace(policy, engines=tuple(sorted(class_path(type(game)) for game in games.values())))
    asked: dict[str, object] = {"settings": dict(entrant.settings), "engines": policy.engines}
    readable = [_package_of(cls) for cls in (*map(type, games.values()), *entrant.consulted)]
    file = Path(entrant.source).resolve()
    if file.suffix == ".py" and file.is_file():
        asked |= {"file": str(file), "bot": entrant.bot.name}
        readable.append(str(file.parent))
    else:
        if "<" in entrant.bot.__qualname__:
            raise UsageError(f"{entrant.name} cannot be isolated: its class is inside a function; put it into a file.")
        asked["bot"] = class_path(entrant.bot)
        readable.append(_package_of(entrant.bot))
    return _with(entrant, python_launch(asked, tuple(readable)), policy, None)


def isolate_all(
    entrants: Mapping[str, Entrant], policy: IsolationPolicy, games: Mapping[str, Game[Any]]
) -> dict[str, Entrant]:
    """All entrants on this policy's terms. A strict one is tried at once: it must be possible to run every bot."""
    if policy.isolate == "strict":
        require_enforcement()
    placed = {name: isolated(entrant, policy, games) for name, entrant in entrants.items()}
    if policy.isolate == "strict":
        for entrant in placed.values():
            _try_out(entrant)
    return placed


def _try_out(entrant: Entrant) -> None:
    assert isinstance(entrant, RemoteEntrant)
    entrant.warm_up()
    refused = list(entrant.sessions.refused)
    entrant.sessions.dismiss()
    if refused:
        raise UsageError(f"{entrant.name} cannot be isolated strictly: {refused[0].detail}.")


def _with(entrant: Entrant, launch: Launch, policy: IsolationPolicy, expected: Any) -> RemoteEntrant:
    values = {one.name: getattr(entrant, one.name) for one in fields(Entrant)}
    outsider = RemoteEntrant(**values, launch=launch, expected=expected, policy=policy)
    assert outsider.sessions.home, "the folder is made here, so that this process can remove it when workers have died"
    return outsider


def _package_of(cls: type) -> str:
    """The folder that a class's top-level package, or the file that its module, is in."""
    top = cls.__module__.partition(".")[0]
    file = getattr(sys.modules[top], "__file__", None) or getattr(sys.modules[cls.__module__], "__file__", "")
    return str(Path(file or ROOT).resolve().parent)
