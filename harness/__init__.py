"""Arena: tournaments for bots at hidden-information board games.

What plugin authors import (Bot, Game, hookimpl ...) and what notebooks call (play_match, tournament ...); everything
else in `harness` is internal. Names load on first use, so importing `harness` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness._version import VERSION as __version__  # noqa: N811 - the name that Python looks for
    from harness.api.comparisons import Comparison, compare
    from harness.api.leagues import League, new_league, open_league
    from harness.api.matches import Match, play_match
    from harness.api.runs import RecordedFault, Run, open_run, tournament
    from harness.core.action import Action
    from harness.core.bot import Bot
    from harness.core.chance import Chance
    from harness.core.components import bundled, read_components
    from harness.core.errors import ArenaError, BadComponents, BadOption, IllegalAction, UsageError
    from harness.core.features import ahead_of, beside
    from harness.core.format import DuplicateSet, Format, GamePlan, OpenRound, Outcome, Plan, ResultTracker, Rounds
    from harness.core.format_results import BracketEntry, BracketRound, ResultTable
    from harness.core.game import NOBODY, Game, State
    from harness.core.native import mypyc_attr
    from harness.core.notes import DecisionNotes
    from harness.core.types import Event, Fault, GameRecord, MatchSpec, Option, Value, ranks_of
    from harness.core.view import View
    from harness.match.ask_again import AskedDecision
    from harness.match.asked import Asked
    from harness.match.positions import Position
    from harness.plugins.entrants import BotEntry
    from harness.plugins.hooks import hookimpl
    from harness.plugins.registry import bot_named
    from harness.plugins.run_events import LeagueChange, LeagueStatus, RunStatus
    from harness.ratings.value_function import valuer_of
    from harness.runs.request import BotLike, RunRequest

_HOME = {
    "api.comparisons": ("Comparison", "compare"),
    "api.leagues": ("League", "new_league", "open_league"),
    "api.matches": ("Match", "play_match"),
    "api.runs": ("RecordedFault", "Run", "open_run", "tournament"),
    "core.action": ("Action",),
    "core.bot": ("Bot",),
    "core.chance": ("Chance",),
    "core.components": ("bundled", "read_components"),
    "core.errors": ("ArenaError", "BadComponents", "BadOption", "IllegalAction", "UsageError"),
    "core.features": ("ahead_of", "beside"),
    "core.format": ("DuplicateSet", "Format", "GamePlan", "OpenRound", "Outcome", "Plan", "ResultTracker", "Rounds"),
    "core.format_results": ("BracketEntry", "BracketRound", "ResultTable"),
    "core.game": ("NOBODY", "Game", "State"),
    "core.native": ("mypyc_attr",),
    "core.notes": ("DecisionNotes",),
    "core.types": ("Event", "Fault", "GameRecord", "MatchSpec", "Option", "Value", "ranks_of"),
    "core.view": ("View",),
    "match.ask_again": ("AskedDecision",),
    "match.asked": ("Asked",),
    "match.positions": ("Position",),
    "plugins.entrants": ("BotEntry",),
    "plugins.hooks": ("hookimpl",),
    "plugins.registry": ("bot_named",),
    "plugins.run_events": ("LeagueChange", "LeagueStatus", "RunStatus"),
    "ratings.value_function": ("valuer_of",),
    "runs.request": ("BotLike", "RunRequest"),
}
_MODULE = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "NOBODY",
    "Action",
    "ArenaError",
    "Asked",
    "AskedDecision",
    "BadComponents",
    "BadOption",
    "Bot",
    "BotEntry",
    "BotLike",
    "BracketEntry",
    "BracketRound",
    "Chance",
    "Comparison",
    "DecisionNotes",
    "DuplicateSet",
    "Event",
    "Fault",
    "Format",
    "Game",
    "GamePlan",
    "GameRecord",
    "IllegalAction",
    "League",
    "LeagueChange",
    "LeagueStatus",
    "Match",
    "MatchSpec",
    "OpenRound",
    "Option",
    "Outcome",
    "Plan",
    "Position",
    "RecordedFault",
    "ResultTable",
    "ResultTracker",
    "Rounds",
    "Run",
    "RunRequest",
    "RunStatus",
    "State",
    "UsageError",
    "Value",
    "View",
    "__version__",
    "ahead_of",
    "beside",
    "bot_named",
    "bundled",
    "compare",
    "hookimpl",
    "mypyc_attr",
    "new_league",
    "open_league",
    "open_run",
    "play_match",
    "ranks_of",
    "read_components",
    "tournament",
    "valuer_of",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from harness._version import VERSION

        return VERSION
    if name not in _MODULE:
        raise AttributeError(f"module 'harness' has no attribute {name!r}")
    value: object = getattr(import_module(f"harness.{_MODULE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
