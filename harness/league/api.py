"""Leagues from Python: a method for each command."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.core.errors import UsageError
from harness.core.records import Isolation
from harness.league.bots import add_bots
from harness.league.folder import LeagueFolder, announce_changes
from harness.league.journal import BotBanned, BotReadmitted, BotRetired, Decision, JournalEntry
from harness.league.runner import LeagueRun, StopCondition, run_league
from harness.league.standings import (
    Differences,
    Standings,
    differences,
    history_table,
    publish_league,
    standings_of,
    standings_tables,
    versions_of,
    write_standings,
)
from harness.league.verify import LeagueFindings, check_league, check_league_bots, sign_league, signable_league
from harness.output.progress import at_terminal
from harness.output.tables import Tables
from harness.output.text import print_lines
from harness.plugins.entrants import BotEntry
from harness.plugins.registry import Registry
from harness.runs.request import BotLike, RunRequest, check_bot
from harness.runs.setup import installed
from harness.verify.signing import Signature, SignatureFinding, check_signature, trusted_keys


class League:
    """A league: versions of bots join, play and leave. All of its data is in its folder."""

    def __init__(self, folder: str | Path) -> None:
        self._opened = LeagueFolder.open(Path(folder))
        self.folder = self._opened.folder

    def __repr__(self) -> str:
        return f"open_league({str(self.folder)!r})"

    @property
    def _league(self) -> LeagueFolder:
        """The league with the current journal: other processes may have added lines."""
        self._opened.journal.read()
        return self._opened

    @property
    def bots(self) -> tuple[str, ...]:
        """All versions that have joined, in that order: `sprinter@1`, `sprinter@2` ..."""
        return tuple(self._league.membership.members)

    @property
    def journal(self) -> tuple[JournalEntry, ...]:
        """All events: bots that joined or left, the start of each era, and so on."""
        return tuple(self._league.journal.entries)

    def add(
        self, *bots: BotLike, name: str = "", team: str = "", author: str = "", new_version_of: str = ""
    ) -> tuple[str, ...]:
        """Add bots, named as on the command line, and return their names in the league.

        A bot whose name is taken joins as its next version if it has the same `team` or `author`; with `new_version_of`
        it joins as the next version of that bot in any case.
        """
        for bot in bots:
            check_bot(bot)
        entries = [bot if isinstance(bot, BotEntry) else BotEntry(bot, team, author) for bot in bots]
        registry = self._registry()
        joined = add_bots(self._league, entries, registry, name, new_version_of)
        announce_changes(self._league, joined, registry)
        return tuple(entry.name for entry in joined)

    def retire(self, bot: str, reason: str = "") -> None:
        """Stop seating a bot, or one of its versions; its matches count."""
        self._decide(BotRetired, bot, reason)

    def ban(self, bot: str, reason: str = "") -> None:
        """Exclude a bot, or one of its versions, with all its matches; they stay in the records."""
        self._decide(BotBanned, bot, reason)

    def readmit(self, bot: str, reason: str = "") -> None:
        """Let a retired or banned bot play again."""
        self._decide(BotReadmitted, bot, reason)

    def run(
        self,
        *,
        matches: int | None = None,
        seconds: float | None = None,
        until_settled: bool = False,
        quiet: bool = False,
        softly: bool = True,
        workers: int | None = None,
        cluster: str | None = None,
        ship: bool | None = None,
        isolate: Isolation | None = None,
    ) -> LeagueRun:
        """Play until a limit is reached, or until interrupted; `workers`, `cluster` and `ship` as in a run.

        Bots that the league stores are sandboxed unless `isolate` is "off".
        """
        request = self._league.request_with(workers=workers, cluster=cluster, ship=ship, isolate=isolate)
        until = StopCondition(matches, seconds, until_settled)
        done, _ = play_league(self._league, self._registry(request), request, until, quiet=quiet, softly=softly)
        return done

    def standings(self, era: int | None = None, *, across: bool = False, everybody: bool = False) -> Tables:
        """Return the table of each game: of the newest versions, or with `everybody` of all that have played."""
        return Tables(standings_tables(standings_of(self._league, era, across=across), everybody))

    def history(self, bot: str) -> Tables:
        """Return a table of the versions of a bot for each game, the newest first."""
        versions = versions_of(self._league, bot, standings_of(self._league))
        return Tables(history_table(bot, game, rows) for game, rows in versions.items())

    def differences(self, bot: str, isolate: Isolation | None = None) -> Sequence[Differences]:
        """Ask the newest version of a bot, and return where it decides differently from the one before.

        If the league stores it, it is sandboxed unless `isolate` is "off".
        """
        request = self._league.request_with(isolate=isolate)
        return differences(self._league, bot, self._registry(request), request.isolate)

    def publish(self, to: str | Path) -> list[str]:
        """Write a web site into a folder; return problems as sentences."""
        return publish_league(self._league, self._registry(), Path(to))

    def verify(
        self, every: int = 1, bots: bool = False, isolate: Isolation = "on", workers: int | None = None
    ) -> LeagueFindings:
        """Verify that all records follow from the journal and earlier records, and replay one in `every`.

        With `bots`, the bots are also asked again about these, isolated as `isolate` says; the result is in `.bots`.
        """
        league = self._league
        found = check_league(league, self._registry(), every)
        if bots:
            with at_terminal("asked again", found.replayed, True, workers, softly=True) as (stop, _):
                check_league_bots(league, installed(isolate), found, isolate, workers, stop)
        return found

    def sign(self, key: str | Path | None = None) -> Signature:
        """Sign the league with the key in this file, by default your own; `arena sign --new-key` creates one."""
        return sign_league(self._league, key)

    def signature(self, trusted: Sequence[str] = ()) -> SignatureFinding:
        """Return the key that signed the league, and whether the league has changed since.

        `trusted` are public keys, or files with them; a signature by any other key is then not accepted.
        """
        return check_signature(signable_league(self._league), trusted_keys(trusted))

    def _decide(self, kind: type[Decision], bot: str, reason: str) -> None:
        announce_changes(self._league, [self._league.add_decision(kind, bot, reason)], self._registry())

    def _registry(self, request: RunRequest | None = None) -> Registry:
        return installed((request or self._league.request()).isolate)


def open_league(folder: str | Path) -> League:
    """Return the league in a folder."""
    return League(folder)


def new_league(folder: str | Path, **asked: Any) -> League:
    """Create a league in a new folder. Games, options, players and limits are those of a RunRequest."""
    request = RunRequest(**asked)
    LeagueFolder.create(Path(folder), request, installed(request.isolate))
    return League(folder)


def play_league(
    league: LeagueFolder,
    registry: Registry,
    request: RunRequest,
    until: StopCondition,
    *,
    quiet: bool = False,
    softly: bool = False,
) -> tuple[LeagueRun, Standings | None]:
    """Play a league and write its table; return what was played and the standings, None if there are none."""
    done = run_league(league, registry, request, until, quiet=quiet, softly=softly)
    problems = [f"Warning: {warning}" for warning in done.warnings]
    problems += [f"Too few bots: {few}." for few in done.too_few]
    if not quiet:
        print_lines(problems)
    try:
        return done, write_standings(league)
    except UsageError:  # stopped before the first match
        return done, None
