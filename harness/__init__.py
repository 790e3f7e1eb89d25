"""Arena: tournaments for bots at hidden-information board games.

This module exports what plugin authors need (Bot, Game, hookimpl ...) and what notebooks call (play_match, tournament
...). Everything else in `harness` is internal. Names are imported on first use, so `import harness` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness._version import VERSION as __version__  # noqa: N811 - the conventional name
    from harness.adapters.encoding import Encoding, encoding_of
    from harness.analysis.run import Analysis, analyse
    from harness.api.matches import Match, play_match, step_match
    from harness.api.runs import RecordedFault, Run, open_run, tournament
    from harness.ask.answers import Asked
    from harness.ask.decisions import AskedDecision
    from harness.comparison.run import Comparison, compare
    from harness.core.action import (
        Action,
        EncodingPart,
        Number,
        PerSeat,
        Seat,
        View,
        ahead_of,
        compare_to_others,
        read_components,
        read_data_file,
        words,
    )
    from harness.core.bot import Bot, DecisionNotes
    from harness.core.errors import ArenaError, BadComponents, BadOption, IllegalAction, UsageError
    from harness.core.game import NOBODY, SEAT_NAMES, Game, State
    from harness.core.plan import (
        BracketEntry,
        BracketRound,
        DuplicateSet,
        Format,
        GamePlan,
        OpenRound,
        Outcome,
        Plan,
        ResultTracker,
        Rounds,
    )
    from harness.core.records import Event, Fault, GameRecord, MatchSpec, Option, Value, ranks_of
    from harness.core.rng import Chance
    from harness.core.table import Column, Table
    from harness.core.value_function import valuer_of
    from harness.export.api import Exported, export_run
    from harness.league.api import League, new_league, open_league
    from harness.match.replay import Position
    from harness.match.stepper import MatchStepper
    from harness.plugins.entrants import BotEntry
    from harness.plugins.hooks import LeagueChange, LeagueStatus, RunStatus, hookimpl
    from harness.plugins.registry import bot_named
    from harness.runs.request import BotLike, RunRequest

_HOME = {
    "adapters.encoding": "Encoding encoding_of",
    "analysis.run": "Analysis analyse",
    "api.matches": "Match play_match step_match",
    "api.runs": "RecordedFault Run open_run tournament",
    "ask.answers": "Asked",
    "ask.decisions": "AskedDecision",
    "comparison.run": "Comparison compare",
    "core.action": "Action EncodingPart Number PerSeat Seat View ahead_of compare_to_others read_components "
    "read_data_file words",
    "core.bot": "Bot DecisionNotes",
    "core.errors": "ArenaError BadComponents BadOption IllegalAction UsageError",
    "core.game": "Game NOBODY SEAT_NAMES State",
    "core.plan": "BracketEntry BracketRound DuplicateSet Format GamePlan OpenRound Outcome Plan ResultTracker Rounds",
    "core.records": "Event Fault GameRecord MatchSpec Option Value ranks_of",
    "core.rng": "Chance",
    "core.table": "Column Table",
    "core.value_function": "valuer_of",
    "export.api": "Exported export_run",
    "league.api": "League new_league open_league",
    "match.replay": "Position",
    "match.stepper": "MatchStepper",
    "plugins.entrants": "BotEntry",
    "plugins.hooks": "LeagueChange LeagueStatus RunStatus hookimpl",
    "plugins.registry": "bot_named",
    "runs.request": "BotLike RunRequest",
}
_MODULE = {name: module for module, names in _HOME.items() for name in names.split()}

__all__ = [
    "NOBODY", "SEAT_NAMES", "Action", "Analysis", "ArenaError", "Asked", "AskedDecision", "BadComponents", "BadOption",
    "Bot", "BotEntry", "BotLike", "BracketEntry", "BracketRound", "Chance", "Column", "Comparison", "DecisionNotes",
    "DuplicateSet", "Encoding", "EncodingPart", "Event", "Exported", "Fault", "Format", "Game", "GamePlan",
    "GameRecord", "IllegalAction", "League", "LeagueChange", "LeagueStatus", "Match", "MatchSpec", "MatchStepper",
    "Number", "OpenRound", "Option", "Outcome", "PerSeat", "Plan", "Position", "RecordedFault", "ResultTracker",
    "Rounds", "Run", "RunRequest", "RunStatus", "Seat", "State", "Table", "UsageError", "Value", "View", "__version__",
    "ahead_of", "analyse", "bot_named", "compare", "compare_to_others", "encoding_of", "export_run", "hookimpl",
    "new_league", "open_league", "open_run", "play_match", "ranks_of", "read_components",
    "read_data_file", "step_match", "tournament", "valuer_of", "words",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name == "__version__":
        from harness._version import VERSION

        return VERSION
    if name not in _MODULE:
        raise AttributeError(f"module 'harness' has no attribute {name!r}")
    value: object = getattr(import_module(f"harness.{_MODULE[name]}"), name)
    globals()[name] = value  # the next access does not call __getattr__
    return value


def __dir__() -> list[str]:
    return __all__
