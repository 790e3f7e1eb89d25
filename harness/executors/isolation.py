"""From what was typed, or from a bot of this process, to an entrant in a process of its own."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from time import perf_counter
from typing import Any

from msgspec.structs import replace

from harness.core.bot import Bot, kebab
from harness.core.errors import PluginError, UsageError
from harness.core.game import Game
from harness.core.types import Isolation, Value
from harness.executors.launches import (
    check_unchanged,
    files_of_command,
    hint_of_bot,
    hint_of_program,
    program_launch,
    python_launch,
)
from harness.executors.outside import is_confined
from harness.executors.remote import IsolationPolicy, RemoteEntrant, RunningProgram, SessionPool
from harness.match.faults import BotFault, plain_text
from harness.plugins.bot_files import bot_file, sources_of
from harness.plugins.entrants import Entrant, split_options
from harness.plugins.identity import file_digest
from harness.plugins.loading import LONGEST_NAME, check_bot_class, is_name, shown
from harness.plugins.program_files import ProgramFiles
from harness.plugins.snapshots import bot_snapshot, declared_in
from harness.protocol.messages import (
    LONGEST_DESCRIPTIONS,
    BotDescription,
    Introduction,
    NotAMessage,
    decode_descriptions,
)
from harness.protocol.session import HELLO, class_path
from harness.sandbox.doctor import require_enforcement
from harness.sandbox.launch import Launch

COMMAND = "cmd:"
SERVE_BOT = "harness.protocol.child:serve"
DESCRIBE_FILE = "harness.protocol.child:describe_file"
"""What runs in the process of a Python bot, as module:function."""
MOST_BOTS = 500
"""Of a file."""


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
    program = files_of_command(command)
    settings: dict[str, Value] = dict(split_options(text, options))
    called = name or _name_of(words)
    full = called + (f":{options}" if options else "")
    policy = IsolationPolicy(isolate)
    try:
        introduction = _introduction(program, policy)
        about = {"games": introduction.games, "version": introduction.version, "choose": _not_here}
        bot = type("Program", (Bot,), {"name": called, **about})
        check_bot_class(bot)
    except BotFault as fault:
        hint = hint_of_program(program, fault.detail) if isolate != "off" else ""
        said = plain_text(fault.detail)
        raise UsageError(f"{text!r} cannot be entered: {said}.{hint}{_way_out(isolate)}") from None
    except PluginError as error:
        raise UsageError(f"{text!r} cannot be entered: {error}") from None
    digest = program.digest()
    return RemoteEntrant(
        name=full,
        spec=f"{full}={COMMAND}{command}",
        bot=bot,
        settings=settings,
        source=command,
        version=introduction.version or digest,
        digest=digest,
        stranger="it is a program",
        launch=Launch(program.argv),
        expected=introduction,
        policy=policy,
    )


def _introduction(program: ProgramFiles, policy: IsolationPolicy) -> Introduction:
    """What a program says of itself when it is started."""
    sessions = SessionPool()
    try:
        launch = program_launch(program, sessions.home, policy.isolate != "off")
        session = RunningProgram.start(launch, sessions.home, policy, "").session
        session.close()
    finally:
        sessions.close()
    return session.introduction


def _way_out(isolate: Isolation) -> str:
    """What to type where nobody has asked for the program to be confined, and it does not start."""
    if isolate != "auto":
        return ""
    return " It was started without rights (docs/security.md); if you trust it, try --isolate=off."


def _name_of(words: list[str]) -> str:
    """`node bots/fast.js` -> `fast`."""
    files = [word for word in words[1:] if Path(word).is_file()]
    stem = Path(files[0] if files else words[0]).stem
    plain = "".join(letter if is_name(letter) else "-" for letter in stem)
    return kebab(plain[:LONGEST_NAME])


def bots_in(path: str, isolate: Isolation) -> list[type[Bot]]:
    """The bots of a file, as they describe themselves in a process of their own: none of its code runs in this one.

    What it says may be anything, for the file's code runs before ours has spoken. Whoever takes these bots in checks
    them, as all others are (`check_bot_class`).
    """
    sessions, policy = SessionPool(), IsolationPolicy(isolate)
    try:
        sources = sources_of(path)
        snapshot = bot_snapshot(path, sources, declared_in(path, sources))
        place = snapshot.write(sessions.home)
        launch = python_launch(DESCRIBE_FILE, {"file": str(place / snapshot.start)}, place=place)
        described = _descriptions(launch, sessions.home, policy)
    except (BotFault, NotAMessage) as error:
        said = str(error).replace(f"{snapshot.name}/", "").rpartition("cannot be loaded: ")[2].rstrip(".")
        hint = hint_of_bot(bot_file(path).parent, said)
        raise PluginError(f"{path} cannot be loaded: {plain_text(said)}.{hint}") from None
    finally:
        sessions.close()
    if len(described) > MOST_BOTS:
        raise PluginError(f"{path} says that it has {len(described):,} bots; a file may have {MOST_BOTS}.")
    return [_stand_in(bot) for bot in described]


def _descriptions(launch: Launch, home: str, policy: IsolationPolicy) -> list[BotDescription]:
    process = policy.start(launch, home)
    try:
        line = process.exchange(HELLO, perf_counter() + policy.start_time, LONGEST_DESCRIPTIONS, "told its bots")
        return decode_descriptions(line)
    finally:
        process.kill()


def _stand_in(bot: BotDescription) -> type[Bot]:
    """A class that says of itself what a bot of another process has said, and cannot play."""
    for option in bot.options:
        if option.kind == "file" and option.default:
            raise PluginError(
                f"bot {shown(bot.name)}: option {shown(option.name)} is a file, and has one as its default. Of a bot "
                f"that is confined only files are read that somebody has typed: let the default be empty."
            )
    options = tuple(replace(option, help=plain_text(option.help)) for option in bot.options)
    about = {"name": bot.name, "games": bot.games, "options": options, "version": bot.version, "files": bot.files}
    return type("Described", (Bot,), {**about, "__doc__": plain_text(bot.doc), "choose": _not_here})


def _not_here(_self: Bot, _view: object, _actions: object) -> Any:
    raise AssertionError("this bot plays in a process of its own")


def isolate(entrant: Entrant, policy: IsolationPolicy, games: Mapping[str, Game[Any]]) -> Entrant:
    """The entrant on this policy's terms: a program always in a process, a Python bot if it is to be confined."""
    sessions = SessionPool()
    if isinstance(entrant, RemoteEntrant) and entrant.launch.argv:
        program = files_of_command(entrant.source)
        check_unchanged(entrant.name, program.digest(), entrant.digest)
        launch = program_launch(program, sessions.home, is_confined(entrant.stranger, policy.isolate))
        return _remote(entrant, launch, policy, entrant.expected, sessions)
    if not is_confined(entrant.stranger, policy.isolate):
        return entrant
    engines = sorted(class_path(type(game)) for game in games.values())
    wanted: dict[str, object] = {"settings": dict(entrant.settings), "engines": engines}
    classes, place = [*map(type, games.values()), *entrant.consulted], None
    if entrant.sources:
        now = file_digest(entrant.source, entrant.sources, entrant.bot.files)
        check_unchanged(entrant.name, now, entrant.own_digest)  # its data may have been, between then and now
        snapshot = bot_snapshot(entrant.source, entrant.sources, entrant.bot.files)
        place = snapshot.write(sessions.home)
        wanted |= {"file": str(place / snapshot.start), "bot": entrant.bot.name, "digest": entrant.own_digest}
    else:
        if "<" in entrant.bot.__qualname__ or entrant.bot.__module__ == "__main__":
            raise UsageError(
                f"{entrant.name} cannot be isolated: no other process can import its class; put it into a file."
            )
        wanted["bot"] = class_path(entrant.bot)
        classes.append(entrant.bot)
    return _remote(entrant, python_launch(SERVE_BOT, wanted, classes, place, copied=True), policy, None, sessions)


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
        raise UsageError(f"{entrant.name} cannot be isolated strictly: {plain_text(failed[0].detail)}.")


def _remote(
    entrant: Entrant, launch: Launch, policy: IsolationPolicy, expected: Introduction | None, sessions: SessionPool
) -> RemoteEntrant:
    assert sessions.home, "the folder is made here, so that this process can remove it when workers have died"
    values = {one.name: getattr(entrant, one.name) for one in fields(Entrant)}
    return RemoteEntrant(**values, launch=launch, expected=expected, policy=policy, sessions=sessions)
