"""Tells listeners what changes in a league, and how it is played."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from harness.league.eras import era_folder
from harness.league.journal import JournalEntry
from harness.league.league_folder import LeagueFolder
from harness.plugins.listeners import Listeners
from harness.plugins.registry import Registry
from harness.plugins.run_events import LeagueChange, LeagueStatus
from harness.runs.store import GAMES


def announce(league: LeagueFolder, entries: Iterable[JournalEntry], registry: Registry) -> list[str]:
    """Tells whoever listens of these changes; a sentence for each listener that failed."""
    with listening(registry) as listeners:
        tell_changes(listeners, league, entries)
    return listeners.problems


@contextmanager
def listening(registry: Registry) -> Iterator[Listeners]:
    """The listeners that are installed, which may catch up in the end."""
    listeners = Listeners.of(registry)
    try:
        yield listeners
    finally:
        listeners.close()


def tell_changes(listeners: Listeners, league: LeagueFolder, entries: Iterable[JournalEntry]) -> None:
    """Tells listeners of these entries of the journal."""
    for entry in entries:
        change = LeagueChange(
            what=entry.what, bot=entry.bot, version=entry.version or None, at=entry.at, reason=entry.reason
        )
        listeners.league_changed(_status(league), change)


def _status(league: LeagueFolder) -> LeagueStatus:
    eras, membership = league.eras, league.membership
    return LeagueStatus(
        name=league.folder.resolve().name,
        folder=str(league.folder),
        era=eras[-1].era if eras else 0,
        bots=tuple(name for name in membership.members if membership.standing(name) == "plays"),
        matches=sum(_lines(league, era.era) for era in eras),
    )


def _lines(league: LeagueFolder, era: int) -> int:
    try:
        with (era_folder(league.folder, era) / GAMES).open("rb") as file:
            return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))
    except OSError:
        return 0
