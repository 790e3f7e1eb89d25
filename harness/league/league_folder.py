"""The folder of a league: its file, its journal, the bots that joined, and its eras."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from harness.core.errors import StoreError, UsageError
from harness.league.bot_keeping import joining
from harness.league.eras import EraTerms
from harness.league.journal import JOURNAL, Journal, JournalEntry, What
from harness.league.members import Membership, split_version
from harness.plugins.registry import Registry
from harness.runs.event_writing import write_event
from harness.runs.file_places import FilePlaces
from harness.runs.request import RunRequest
from harness.runs.run_files import cannot_write, lock

SETTINGS = "arena.toml"
COMMENT = "# What this league plays. A change of games, options or time control begins an era: arena league run"
NOT_FOR_LEAGUES = {
    "bots": "bots join with: arena league add BOT",
    "candidates": "a league has none",
    "deals": "say how long it plays with: arena league run --matches N",
    "format": "a league has a way of its own to seat bots",
    "name": "a league is called like its folder",
    "results": "a league keeps its records in its own folder",
}
"""Keys that a file of a run has and that of a league has not, and what to do instead."""


class LeagueFolder:
    """A league. `create` and `open` give one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.journal = Journal(folder)

    @classmethod
    def create(cls, folder: Path, request: RunRequest, registry: Registry) -> LeagueFolder:
        """A new league, with what is asked for in its file."""
        if (folder / JOURNAL).exists():
            raise StoreError(f"{folder} holds a league already.")
        _check(request)
        EraTerms.of(request, registry)  # whatever does not fit is told before there is a folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(folder, error) from error
        if not (folder / SETTINGS).exists():
            write_event(request, folder / SETTINGS, comment=COMMENT)
        try:
            (folder / JOURNAL).touch()
        except OSError as error:
            raise cannot_write(folder / JOURNAL, error) from error
        return cls(folder)

    @classmethod
    def open(cls, folder: Path) -> LeagueFolder:
        """An existing league, its journal read."""
        if not (folder / JOURNAL).exists():
            what = "is no league: it has no journal.jsonl" if folder.is_dir() else "does not exist"
            raise StoreError(f"{folder} {what}. Begin one with: arena league init {folder}")
        found = cls(folder)
        found.journal.read()
        return found

    def request(self, **given: Any) -> RunRequest:
        """What the league's file asks for; what is `given` counts instead."""
        request = RunRequest.from_file(self.folder / SETTINGS, **given)
        _check(request)
        return request

    @property
    def membership(self) -> Membership:
        """Who is in now."""
        return Membership.after(self.journal.entries)

    @property
    def eras(self) -> list[JournalEntry]:
        """The eras that have begun."""
        return [entry for entry in self.journal.entries if entry.what == "era"]

    def played_eras(self) -> list[JournalEntry]:
        """Those in which bots were let in to play: these have folders."""
        begun = {entry.era for entry in self.journal.entries if entry.what == "seen"}
        return [era for era in self.eras if era.era in begun]

    def games(self, registry: Registry) -> tuple[str, ...]:
        """The games that the league's file names."""
        return tuple(plan.name for plan in EraTerms.of(self.request(), registry).plans)

    def add(self, bots: Sequence[Any], registry: Registry, alias: str = "") -> list[JournalEntry]:
        """Lets bots join, each as the next version of its name; who is there already as it is, is refused."""
        games, entrants = self.games(registry), registry.entrants(bots)
        if alias and len(entrants) > 1:
            names = ", ".join(entrant.name for entrant in entrants)
            raise UsageError(f"{alias} cannot be the name of {len(entrants)} bots; add them one by one: {names}.")
        asked = [joining(self.folder, entrant, alias, games, registry.bots) for entrant in entrants]
        with self.journal.adding() as adder:
            membership, joined = self.membership, list[JournalEntry]()
            for entry in asked:
                versions = membership.versions(entry.bot)
                same = [one for one in versions if _is_same(one.entry, entry)]
                if same and same[0].rests:  # what it lacked is there again
                    joined.append(JournalEntry(what="returns", bot=entry.bot, version=same[0].entry.version))
                    continue
                if same:
                    why = f"{same[0].name} is the same, to the letter"
                    left = same[0].retired or same[0].banned
                    hint = f"; arena league readmit {same[0].name} lets it play again" if left else ""
                    raise UsageError(f"{entry.bot} has not changed: {why}{hint}.")
                joined.append(replace(entry, version=len(versions) + 1))
                membership.take(joined[-1])
            adder.add(*joined)
        return self.journal.entries[len(self.journal.entries) - len(joined) :]

    def change(self, what: What, name: str, reason: str = "") -> JournalEntry:
        """Retires, bans or readmits a bot with all its versions, or one of them (`sprinter@2`)."""
        with self.journal.adding() as adder:
            members = self.membership.named(name)
            if what == "retired" and all(one.retired for one in members):
                raise UsageError(f"{name} is retired already.")
            if what == "banned" and all(one.banned for one in members):
                raise UsageError(f"{name} is banned already.")
            if what == "readmitted" and not any(one.retired or one.banned for one in members):
                raise UsageError(f"{name} is neither retired nor banned.")
            bot = members[0].entry.bot
            version = 0 if name == bot else split_version(name)[1]
            adder.add(JournalEntry(what=what, bot=bot, version=version, reason=reason))
        return self.journal.entries[-1]

    @contextmanager
    def running(self) -> Iterator[None]:
        """While it is entered nobody else plays in this league; others may join and leave."""
        try:
            with lock(self.folder):
                yield
        except StoreError as error:
            if "another process" in str(error):
                raise StoreError(f"{error} One arena league run at a time; add and retire work beside it.") from None
            raise


def _is_same(one: JournalEntry, other: JournalEntry) -> bool:
    return (one.digest, one.spec, one.files) == (other.digest, other.spec, other.files)


def _check(request: RunRequest) -> None:
    """Refuses what a league's file cannot say."""
    plain = RunRequest()
    for name, why in NOT_FOR_LEAGUES.items():
        if getattr(request, name) != getattr(plain, name):
            error = UsageError(f"The file of a league does not say {name.replace('_', '-')}: {why}.")
            if isinstance(request.file, FilePlaces):
                request.file.blame(error, request, name)
            raise error
