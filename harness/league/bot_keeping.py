"""Bots of a league: their files are kept by digest when they join, and entered from there ever after."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import rmtree

from harness.core.errors import ArenaError, UsageError
from harness.league.journal import JournalEntry
from harness.league.members import Member
from harness.plugins.bot_spec import bot_specs, relocated
from harness.plugins.entrants import Entrant, OutsideBots
from harness.plugins.identity import digest_of_files
from harness.plugins.loading import is_name
from harness.plugins.registry import Registry
from harness.plugins.snapshots import Snapshot, bot_snapshot
from harness.plugins.trust import mark_stranger
from harness.runs.run_files import cannot_write

BOTS = "bots"
COMMAND = "cmd:"


def joining(
    league: Path, entrant: Entrant, alias: str, games: Sequence[str], installed: Container[str]
) -> JournalEntry:
    """The entry by which a bot joins, without its version; its files are kept in the league's folder from now on.
    `installed` are the bots that have a name here."""
    bot = alias or entrant.name
    if not is_name(bot) or "@" in bot:
        raise UsageError(f"{bot!r} cannot be the name of a bot in a league: give it one with --as NAME, without @.")
    if not any(entrant.plays(game) for game in games):
        raise UsageError(f"{entrant.name} plays none of the games of this league: {', '.join(games)}.")
    spec, snapshot = _plain_spec(entrant), ""
    if entrant.sources:
        kept = bot_snapshot(entrant.source, entrant.sources, entrant.bot.files)
        home = league / BOTS
        try:
            home.mkdir(exist_ok=True)
            snapshot = _kept(home, kept)
            if entrant.stranger:
                mark_stranger(home / snapshot, entrant.stranger)
        except OSError as error:
            raise cannot_write(home, error) from error
        spec = f"{kept.start}::{spec.partition('::')[2]}"
    elif not entrant.isolated and COMMAND not in spec and spec.partition(":")[0] not in installed:
        raise UsageError(f"{entrant.name} was typed in Python, and a league cannot keep it: put it into a .py file.")
    elif COMMAND in spec:
        [spec] = relocated(spec, Path(), os.path.abspath)
    return JournalEntry(
        what="joined", bot=bot, spec=spec, snapshot=snapshot, source="" if snapshot else entrant.source,
        declared=entrant.version, digest=entrant.digest, games=_declared(entrant), files=dict(entrant.contents),
        stranger=entrant.stranger, team=entrant.team, author=entrant.author,
    )  # fmt: skip


def _declared(entrant: Entrant) -> tuple[str, ...]:
    """The games that it plays; none is any."""
    declared = [set(bot.games) for bot in (entrant.bot, *entrant.consulted) if bot.games]
    return tuple(sorted(set.intersection(*declared))) if declared else ()


def _kept(home: Path, snapshot: Snapshot) -> str:
    """Writes a snapshot; one that was edited since is put back as it was."""
    place = home / snapshot.name
    if place.exists() and not _is_whole(place):
        rmtree(place)
    return snapshot.write(str(home)).name


def _is_whole(place: Path) -> bool:
    """Whether a snapshot holds what its name says, and nothing else."""
    files = {path.relative_to(place).as_posix(): path.read_bytes() for path in place.rglob("*") if path.is_file()}
    return digest_of_files(files).partition(":")[2] == place.name


def _plain_spec(entrant: Entrant) -> str:
    """What to type to enter it, without a name of its own."""
    return entrant.spec.removeprefix(f"{entrant.name}=") if COMMAND not in entrant.spec else entrant.spec


def typed(league: Path, entry: JournalEntry) -> str:
    """What to type now to enter a member under its name."""
    if COMMAND in entry.spec:
        [spec] = bot_specs(entry.spec, ())
        options = f":{spec.options}" if spec.options else ""
        return f"{entry.name}{options}={COMMAND}{spec.command}"
    if entry.snapshot:
        return f"{entry.name}={os.path.relpath(league / BOTS / entry.snapshot)}/{entry.spec}"
    return f"{entry.name}={entry.spec}"


def entered_again(league: Path, member: Member, registry: Registry) -> Entrant:
    """A member as an entrant: exactly what joined, or a sentence on why it is not to be had."""
    entry = member.entry
    place = league / BOTS / entry.snapshot
    if entry.snapshot and not place.is_dir():
        raise UsageError(f"its files are gone: {place} is missing; put it back, or add the bot again")
    if entry.snapshot and not _is_whole(place):
        raise UsageError(f"its files in {place} were edited; put them back, or add the bot again")
    registry.contents = entry.files
    try:
        with _as_it_joined(registry, entry.stranger):
            entrant = registry.entrant(typed(league, entry))
    except ArenaError as error:
        raise UsageError(f"it cannot be entered: {error}") from error
    finally:
        registry.contents = None
    if entrant.digest != entry.digest:
        what = "what it consists of now is another bot; add it again as a new version"
        raise UsageError(f"{what} ({entrant.digest} now, not {entry.digest})")
    return replace(entrant, stranger=entry.stranger or entrant.stranger, team=entry.team, author=entry.author)


class _KeptStranger:
    """The way to bots outside this process, for one whose file was somebody else's before it was copied."""

    def __init__(self, outside: OutsideBots, stranger: str) -> None:
        self._stranger = stranger
        self._outside = outside
        self.enter_command, self.bots_in = outside.enter_command, outside.bots_in

    def loads_here(self, stranger: str) -> bool:
        return self._outside.loads_here(stranger or self._stranger)


@contextmanager
def _as_it_joined(registry: Registry, stranger: str) -> Iterator[None]:
    outside = registry.outside
    if stranger and outside is not None:
        registry.outside = _KeptStranger(outside, stranger)
    try:
        yield
    finally:
        registry.outside = outside
