"""Asking a bot about a match that was played: the door that scripts and the command line share."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext, redirect_stdout
from typing import Any

from harness.core.errors import UsageError
from harness.core.game import Game
from harness.core.notes import DecisionNotes
from harness.core.types import GameRecord, Isolation
from harness.executors.jobs import Roster, isolated
from harness.match.ask_again import BotDebugger
from harness.match.asked import Asked, Wanted, ask_about
from harness.output.confinement_text import tell_confinement
from harness.plugins.registry import Registry
from harness.runs.request import BotLike, RunRequest


def ask_bot(
    bot: BotLike,
    game: Game[Any],
    record: GameRecord,
    notes: Sequence[DecisionNotes],
    registry: Registry,
    wanted: Wanted,
    *,
    isolate: Isolation = "auto",
    move_time: float = 0.0,
    debugger: BotDebugger | None = None,
) -> Asked:
    """Asks a bot, wherever it runs, and ends what it has started."""
    asked = registry.entrant(bot)
    terms = {**RunRequest().limits, "isolate": isolate, "move_time": move_time}
    tell_confinement({asked.name: asked}, isolate)
    roster = isolated(Roster({game.name: game}, {asked.name: asked}), terms)
    [entrant] = roster.entrants.values()
    if debugger is not None and entrant.isolated:
        trusted = "; if you trust it, --isolate=off asks it here" if asked.stranger and not asked.isolated else ""
        raise UsageError(f"{entrant.name} runs in a process of its own, where no debugger can follow it{trusted}.")
    entrant.warm_up()
    try:
        with nullcontext() if debugger else redirect_stdout(sys.stderr):  # what bots print is not our output
            return ask_about(game, record, notes, entrant, wanted, debugger)
    finally:
        roster.close()
