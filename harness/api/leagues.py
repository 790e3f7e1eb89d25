"""Leagues from Python: the same that the commands do."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.core.errors import UsageError
from harness.league.announce import announce, listening, tell_changes
from harness.league.journal import JournalEntry, What
from harness.league.league_check import LeagueFindings, check_league
from harness.league.league_folder import LeagueFolder
from harness.league.runner import HowLong, LeagueListener, LeagueRun, run_league
from harness.league.standings import Standings, standings_of
from harness.league.version_history import Differences, differences, versions_of
from harness.output.confinement_text import tell_confinement
from harness.output.data_table import LeaderboardTables
from harness.output.league_files import publish_league, write_standings
from harness.output.league_table import history_table, standings_tables
from harness.output.terminal import at_terminal
from harness.output.time_left import Outlook
from harness.plugins.entrants import BotEntry
from harness.plugins.registry import Registry
from harness.runs.request import BotLike, RunRequest, check_field
from harness.runs.run_setup import installed

NEWS = {
    "joined": "plays from now on",
    "retired": "is retired",
    "banned": "is banned, its matches no longer count",
    "readmitted": "plays again",
    "rests": "rests",
    "returns": "plays again",
}
"""What is told when an entry of the journal begins to count."""


class League:
    """A league: versions of bots join, play and leave; everything is in its folder."""

    def __init__(self, folder: str | Path) -> None:
        self._league = LeagueFolder.open(Path(folder))

    def __repr__(self) -> str:
        return f"open_league({str(self.folder)!r})"

    @property
    def folder(self) -> Path:
        """Where it is."""
        return self._league.folder

    @property
    def bots(self) -> tuple[str, ...]:
        """All versions that have joined, in that order: `sprinter@1`, `sprinter@2` ..."""
        self._league.journal.read()
        return tuple(self._league.membership.members)

    @property
    def journal(self) -> tuple[JournalEntry, ...]:
        """Who joined, left and changed what and when."""
        return tuple(self._league.journal.read())

    def add(self, *bots: BotLike, name: str = "", team: str = "", author: str = "") -> tuple[str, ...]:
        """Lets bots join, named as on the command line, each as the next version of its name; their names here."""
        check_field("bots", bots)
        entries = [bot if isinstance(bot, BotEntry) else BotEntry(bot, team, author) for bot in bots]
        registry = self._registry()
        joined = self._league.add(entries, registry, name)
        announce(self._league, joined, registry)
        return tuple(entry.name for entry in joined)

    def retire(self, bot: str, reason: str = "") -> None:
        """Seats a bot, or one of its versions, no more; what it has played counts."""
        self._change("retired", bot, reason)

    def ban(self, bot: str, reason: str = "") -> None:
        """Takes a bot out, or one of its versions, with all its matches; the records keep them."""
        self._change("banned", bot, reason)

    def readmit(self, bot: str, reason: str = "") -> None:
        """Lets a bot play again."""
        self._change("readmitted", bot, reason)

    def run(
        self,
        *,
        matches: int | None = None,
        seconds: float | None = None,
        until_settled: bool = False,
        quiet: bool = False,
        softly: bool = True,
        **where: Any,
    ) -> LeagueRun:
        """Plays on until it is enough, or until it is interrupted. `where` may have workers, cluster and ship."""
        request = self._league.request(**where)
        how_long = HowLong(matches, seconds, until_settled)
        done, _ = play_league(self._league, self._registry(request), request, how_long, quiet=quiet, softly=softly)
        return done

    def standings(self, era: int | None = None, *, across: bool = False, everybody: bool = False) -> LeaderboardTables:
        """The table of each game: of the newest versions, or of everybody who has played."""
        self._league.journal.read()
        return LeaderboardTables(standings_tables(standings_of(self._league, era, across=across), everybody))

    def history(self, bot: str) -> LeaderboardTables:
        """How the versions of a bot fare in each game, the newest first."""
        self._league.journal.read()
        versions = versions_of(self._league, bot, standings_of(self._league))
        return LeaderboardTables(history_table(bot, game, rows) for game, rows in versions.items())

    def differences(self, bot: str) -> Sequence[Differences]:
        """Where the newest version of a bot decides otherwise than the one before."""
        self._league.journal.read()
        request = self._league.request()
        return differences(self._league, bot, self._registry(request), request.isolate)

    def publish(self, to: str | Path) -> list[str]:
        """Makes a web site of it; what is wrong, in sentences."""
        self._league.journal.read()
        return publish_league(self._league, self._registry(), Path(to))

    def verify(self, every: int = 1) -> LeagueFindings:
        """Checks that all records follow from journal and earlier records, and plays one in `every` so many again."""
        self._league.journal.read()
        return check_league(self._league, self._registry(), every)

    def _change(self, what: What, bot: str, reason: str) -> None:
        announce(self._league, [self._league.change(what, bot, reason)], self._registry())

    def _registry(self, request: RunRequest | None = None) -> Registry:
        return installed((request or self._league.request()).isolate)


def open_league(folder: str | Path) -> League:
    """The league in a folder."""
    return League(folder)


def new_league(folder: str | Path, **asked: Any) -> League:
    """Begins a league in a new folder: games, options, players and limits as in a RunRequest."""
    request = RunRequest(**asked)
    LeagueFolder.create(Path(folder), request, installed(request.isolate))
    return League(folder)


def play_league(
    league: LeagueFolder,
    registry: Registry,
    request: RunRequest,
    how_long: HowLong,
    *,
    quiet: bool = False,
    softly: bool = False,
) -> tuple[LeagueRun, Standings | None]:
    """Plays a league for a person who waits, and writes its table; what was played, and how everybody stands now."""
    outlook = Outlook(how_long.matches, rounds=dict.fromkeys(league.games(registry)))
    told: set[str] = set()
    with (
        listening(registry) as listeners,
        at_terminal("matches", outlook, quiet, request.workers, softly) as (stop, progress),
    ):

        def entered(entrants: Any) -> None:
            new = {name: one for name, one in entrants.items() if name not in told}
            told.update(new)
            progress.clear()
            tell_confinement(new, request.isolate, quiet, here=not request.cluster)

        def changed(entry: JournalEntry) -> None:
            progress.told(f"{entry.name} {NEWS.get(entry.what, entry.what)}.")

        def noted(*entries: JournalEntry) -> None:
            tell_changes(listeners, league, entries)

        listener = LeagueListener(
            progress.told, progress.seen, progress.playing, entered, changed, noted, stop, listeners
        )
        done = run_league(league, registry, request, how_long, listener)
    done.warnings += listeners.problems
    for warning in done.warnings:
        if not quiet:
            sys.stderr.write(f"Warning: {warning}\n")
    for few in done.too_few:
        if not quiet:
            sys.stderr.write(f"Too few bots: {few}.\n")
    try:
        return done, write_standings(league)
    except UsageError:  # it was stopped before the first match
        return done, None
