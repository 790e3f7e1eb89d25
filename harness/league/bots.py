"""The bots of a league: how versions join, the copies of their files, and how members are entered again."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Container, Sequence
from pathlib import Path
from shutil import rmtree
from typing import Any

from msgspec.structs import replace

from harness.core.errors import ArenaError, UsageError
from harness.core.files import MAX_DATA_BYTES, Folder, cannot_write
from harness.executors.base import SandboxLoader
from harness.isolation.entrants import files_of_command
from harness.league.folder import LeagueFolder
from harness.league.journal import BotEvent, BotJoined, BotReturns
from harness.league.members import Member
from harness.plugins.bot_files import bot_file, digest_of_files, file_digest, sources_of
from harness.plugins.discovery import is_name
from harness.plugins.entrants import BotDescription, BotRef, Entrant
from harness.plugins.registry import Registry
from harness.plugins.snapshots import declared_in, make_bundle
from harness.plugins.trust import mark_untrusted


def add_bots(
    league: LeagueFolder, bots: Sequence[Any], registry: Registry, alias: str = "", new_version_of: str = ""
) -> list[BotEvent]:
    """Add bots and return their entries: under new names, or as next versions of bots of their author or team.

    With `new_version_of` one bot becomes the next version of that one, whatever its name and author. Raise
    UsageError if a bot is identical to one of its versions, or only has the name of another bot.
    """
    if new_version_of:
        [known, *_] = league.membership.find_members(new_version_of)
        if alias not in ("", known.entry.bot) or new_version_of != known.entry.bot:
            raise UsageError(f"A new version of {known.entry.bot} has that name; leave out any other.")
        alias = new_version_of
    games, entrants = league.games(registry), registry.entrants(bots)
    if alias and len(entrants) > 1:
        names = ", ".join(entrant.name for entrant in entrants)
        raise UsageError(f"{alias} cannot be the name of {len(entrants)} bots; add them one by one: {names}.")
    for entrant in () if new_version_of else entrants:  # before their files are copied
        bot = alias or entrant.name
        if entrant.digest not in {one.entry.digest for one in league.membership.versions(bot)}:
            _check_next_version(league.membership.versions(bot), bot, entrant.team, entrant.author)
    asked = [register(league.folder, entrant, alias, games, registry.bots) for entrant in entrants]
    # Versions are numbered while the journal is locked: two processes may add the same bot at the same time.
    with league.journal.lock() as append_entries:
        membership, events = league.membership, list[BotEvent]()
        for entry in asked:
            versions = membership.versions(entry.bot)
            what = (entry.digest, entry.spec, entry.files)
            same = [one for one in versions if (one.entry.digest, one.entry.spec, one.entry.files) == what]
            if same and same[0].rests:  # register() has restored its files
                events.append(BotReturns(bot=entry.bot, version=same[0].entry.version))
                continue
            if same:
                left = same[0].retired or same[0].banned
                raise UsageError(
                    f"{entry.bot} has not changed: it is identical to {same[0].name}.",
                    fix="league-readmit" if left else "",
                    bot=same[0].name,
                )
            if not new_version_of:
                _check_next_version(versions, entry.bot, entry.team, entry.author)
            if versions:
                last = versions[-1].entry
                entry = replace(entry, team=entry.team or last.team, author=entry.author or last.author)
            events.append(replace(entry, version=len(versions) + 1))
            events[-1].apply_to_members(membership)
        first = len(league.journal.entries)
        append_entries(*events)
    return [entry for entry in league.journal.entries[first:] if isinstance(entry, BotEvent)]


def _check_next_version(versions: Sequence[Member], bot: str, team: str, author: str) -> None:
    """Raise UsageError if a newcomer has the name of a bot in the league, but neither its team nor its author.

    It could replace the bot of another author. An empty team or author matches nothing.
    """
    last = versions[-1].entry if versions else None
    if last is None or (team.strip() and team == last.team) or (author.strip() and author == last.author):
        return
    owners = [f"author {last.author}" if last.author else "", f"team {last.team}" if last.team else ""]
    owner = ", ".join(filter(None, owners)) or "without author and team"
    raise UsageError(
        f"{bot} is the name of a bot in this league ({owner}), and a new version needs the same author or team.",
        fix="league-version",
        bot=bot,
    )


# Bot store: the files of a bot are copied when it joins, into a folder named by their digest, and loaded from there.


BOTS = "bots"


def register(league: Path, entrant: Entrant, alias: str, games: Sequence[str], installed: Container[str]) -> BotJoined:
    """Copy a bot's files into the store; return the entry by which it joins, without its version.

    `installed` has the names of bots that are installed as plugins.
    """
    bot = alias or entrant.name
    if not is_name(bot) or "@" in bot:
        raise UsageError(f"{bot!r} cannot be the name of a bot in a league.", fix="league-name")
    if not any(entrant.plays(game) for game in games):
        raise UsageError(f"{entrant.name} plays none of the games of this league: {', '.join(games)}.")
    # The alias of a program carries its options; of other bots only the name, which the entry has itself.
    ref, snapshot = entrant.ref if entrant.ref.command is not None else entrant.ref.unnamed, ""
    described: BotDescription | None = None
    if entrant.sources:
        copy = make_bundle(entrant).files
        assert copy is not None, "a bot with sources has files"
        home = league / BOTS
        try:
            Folder(league).make(BOTS)
            place = home / copy.name
            if place.exists() and not _is_unchanged(league, copy.name):
                rmtree(place)  # it was edited
            snapshot = copy.write(str(home)).name
            if entrant.untrusted:
                mark_untrusted(home / snapshot, entrant.untrusted)
        except OSError as error:
            raise cannot_write(home, error) from error
        ref = dataclasses.replace(ref, place=copy.start)
        described = replace(BotDescription.of_bot(entrant.bot), doc="")
    elif ref.command is not None:
        ref = ref.moved(Path(), os.path.abspath)
    elif not entrant.isolated and ref.bot not in installed:
        raise UsageError(f"{entrant.name} has no file that a league could copy: put it into a .py file and add that.")
    # The games that the bot and all bots that it consults declare; none declared means any.
    declared = [set(one.games) for one in (entrant.bot, *entrant.consulted) if one.games]
    games_of_all = sorted(set.intersection(*declared)) if declared else []
    return BotJoined(
        bot=bot, spec=str(ref), snapshot=snapshot, source="" if snapshot else entrant.source,
        declared=entrant.version, digest=entrant.digest, games=tuple(games_of_all), files=dict(entrant.contents),
        untrusted=entrant.untrusted, team=entrant.team, author=entrant.author, described=described,
    )  # fmt: skip


def _is_unchanged(league: Path, snapshot: str) -> bool:
    """Return whether a snapshot holds exactly the files that its name is the digest of."""
    folder = Folder(league).below(f"{BOTS}/{snapshot}")
    files, room = dict[str, bytes](), MAX_DATA_BYTES
    try:
        for name in folder.all_files():
            files[name] = folder.read(name, room)
            room -= len(files[name])
    except OSError:  # a link, a pipe, or a file that is far too large
        return False
    return digest_of_files(files).partition(":")[2] == snapshot


def member_ref(league: Path, entry: BotJoined) -> BotRef:
    """Return the reference that enters a member under its name, from the copy of its files.

    Raise UsageError if the journal names a file outside that copy: the league may have come in an archive.
    """
    ref = BotRef.parse(entry.spec, recorded=True)
    if not ref.place:
        return dataclasses.replace(ref, alias=entry.name)
    if not entry.snapshot or Path(ref.place).is_absolute() or ".." in Path(ref.place).parts:
        raise UsageError(f"the journal names the file {ref.place}, which is not in the league's copy of the bot")
    place = f"{os.path.relpath(league / BOTS / entry.snapshot)}/{ref.place}"
    return dataclasses.replace(ref, alias=entry.name, place=place)


def restore_entrant(league: Path, member: Member, registry: Registry) -> Entrant:
    """Return the entrant of a member exactly as it joined; raise UsageError with the reason if that is impossible.

    A bot with files in the store is untrusted even if the user owns them: the league may have come in an archive.
    """
    entry = member.entry
    check_stored_files(league, entry)
    untrusted = entry.untrusted or "stored in the league"
    as_joined = dataclasses.replace(registry, contents=entry.files, untrusted=untrusted)
    if entry.described is not None and isinstance(registry.outside, SandboxLoader):
        # Otherwise each stored bot would be described by a process that is started for that, 0.3 s each.
        as_joined.outside, as_joined.files = registry.outside._replace(recorded=(entry.described,)), {}
    try:
        entrant = as_joined.entrant(member_ref(league, entry))
    except ArenaError as error:
        raise UsageError(f"it cannot be entered: {error}") from error
    _check_digest(entry, entrant.digest)
    return dataclasses.replace(
        entrant, untrusted=entry.untrusted or entrant.untrusted, team=entry.team, author=entry.author
    )


def check_unchanged(league: Path, member: Member, registry: Registry) -> None:
    """Raise UsageError with the reason if a member is not what it was when it joined. No code of it runs."""
    entry = member.entry
    check_stored_files(league, entry)
    ref = member_ref(league, entry)
    try:
        if ref.command is not None:
            digest = files_of_command(ref.command).digest()
        elif ref.place:
            digest = _digest_in_store(ref.place)
        else:
            digest = registry.bots[ref.bot].source_digest
        # The digests of bots that it consults follow its own.
        for part in entry.digest.split(", ")[1:]:
            name = part.partition(" ")[0]
            digest += f", {name} {registry.bots[name].source_digest}"
    except KeyError as error:
        raise UsageError(f"it cannot be entered: the bot {error} is not installed") from None
    except (ArenaError, OSError) as error:
        raise UsageError(f"it cannot be entered: {error}") from error
    _check_digest(entry, digest)


def _digest_in_store(path: str) -> str:
    """Return the digest of a bot's file in the store: what lies there and is not one of its modules is its data."""
    sources, folder = sources_of(path, untrusted=True), bot_file(path).parent
    stored = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    return file_digest(path, sources, tuple((stored - sources.keys()) | {*declared_in(path, sources)}))


def check_stored_files(league: Path, entry: BotJoined) -> None:
    """Raise UsageError if the copy of a bot's files is missing or was edited."""
    place = league / BOTS / entry.snapshot
    if entry.snapshot and not place.is_dir():
        raise UsageError(f"its files are gone: {place} is missing; put it back, or add the bot again")
    if entry.snapshot and not _is_unchanged(league, entry.snapshot):
        raise UsageError(f"its files in {place} were edited; put them back, or add the bot again")


def _check_digest(entry: BotJoined, digest: str) -> None:
    # A package may have been updated, or a program replaced: then it is another bot, and its matches would be mixed.
    if digest != entry.digest:
        what = "its code has changed; add it again as a new version"
        raise UsageError(f"{what} (digest {digest}, joined with {entry.digest})")
