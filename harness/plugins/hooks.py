"""The hooks through which bots, games and formats come in, and by which listeners hear of what happens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pluggy

from harness.core.bot import Bot
from harness.core.format import Format
from harness.core.game import Game
from harness.core.types import Fault, GameRecord
from harness.plugins.run_events import LeagueChange, LeagueStatus, RunStatus

PROJECT = "arena"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
LISTENING = (
    "arena_run_started",
    "arena_match_finished",
    "arena_fault",
    "arena_run_finished",
    "arena_league_changed",
    "arena_events_ended",
)
"""The hooks of listeners."""


@hookspec
def arena_bots() -> Sequence[type[Bot]]:  # type: ignore[empty-body]  # a hook specification has no body
    """The bot classes that this plugin offers."""


@hookspec
def arena_games() -> Sequence[type[Game[Any]]]:  # type: ignore[empty-body]  # likewise
    """The game classes that this plugin offers."""


@hookspec
def arena_formats() -> Sequence[Format]:  # type: ignore[empty-body]  # likewise
    """The tournament formats that this plugin offers."""


@hookspec
def arena_run_started(run: RunStatus) -> None:
    """A run begins to be played, or goes on."""


@hookspec
def arena_match_finished(run: RunStatus, record: GameRecord) -> None:
    """A match has ended, and its record is kept. A record has the seed of its deal: that is not for everybody."""


@hookspec
def arena_fault(run: RunStatus, record: GameRecord, fault: Fault) -> None:
    """A bot failed in a match: called after `arena_match_finished`, once for each fault."""


@hookspec
def arena_run_finished(run: RunStatus) -> None:
    """Nobody plays the run any more; `run.finished` is empty if it was stopped before its end."""


@hookspec
def arena_league_changed(league: LeagueStatus, change: LeagueChange) -> None:
    """Somebody joined or left a league, was banned from it or let in again, or an era began."""


@hookspec
def arena_events_ended() -> str | None:
    """Nothing more will be heard: time to close what is open. A sentence that is returned is told to whoever waits."""
