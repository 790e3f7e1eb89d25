"""What Arena can do, by name: commands, executors and formats, each with the object that does it.

A feature is a package that the core does not import: this table brings it in. Objects are named as text and loaded when
they are used, so that a command loads only what it needs. This file imports nothing that takes time, because
`arena --help` reads it.
"""

from __future__ import annotations

from collections import UserDict
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from harness.core.plan import Format


class Command(NamedTuple):
    """A command of `arena`."""

    where: str
    help: str
    """A line for `arena --help` and for the completion of the command's name."""


COMMANDS = {
    "analyse": Command(
        "harness.analysis.cli:command", "Measure a game: length, choices, seats, luck and skill, rules that come up."
    ),
    "ask": Command("harness.ask.cli:command", "Ask a bot what it would do at the decisions of a recorded match."),
    "bench": Command("harness.bench.cli:command", "Measure games and decisions a second on this machine."),
    "bots": Command("harness.cli.listing:bots_command", "List the bots that are installed."),
    "check": Command("harness.conformance.cli:command", "Play a bot at all its games and report whether it is fit."),
    "compare": Command("harness.comparison.cli:command", "Find out whether one bot is better than another."),
    "completion": Command("harness.completion:command", "Print the shell script that completes commands and names."),
    "doctor": Command("harness.doctor:command", "Report what this machine can enforce against untrusted bots."),
    "export": Command("harness.export.cli:command", "Write a run as Parquet or CSV, for data analysis and learning."),
    "formats": Command(
        "harness.cli.listing:formats_command", "List the installed tournament formats with their options."
    ),
    "games": Command("harness.cli.listing:games_command", "List the games that are installed, with their options."),
    "leaderboard": Command("harness.cli.leaderboard:command", "Print the leaderboard of a run."),
    "league": Command("harness.league.cli:command", "Keep a league: versions of bots join, play and leave."),
    "learn-values": Command("harness.luck.run:command", "Learn values of positions, to adjust results for luck."),
    "matches": Command("harness.cli.matches:command", "List matches of a run: lost by a bot, close, with faults."),
    "new-bot": Command("harness.new_package.cli:bot_command", "Make a package with a new bot, ready to play."),
    "new-game": Command("harness.new_package.cli:game_command", "Make a package with a new game, ready to play."),
    "publish": Command("harness.report.cli:publish_command", "Make a web site of runs."),
    "play": Command("harness.play.cli:command", "Play against bots at this terminal."),
    "replay": Command("harness.cli.replay:command", "Step through a match, or print it."),
    "report": Command("harness.report.cli:report_command", "Make one HTML page of a run: tables, charts, replays."),
    "serve": Command("harness.serve.cli:command", "Show a run, or all of them, in a browser while it is played."),
    "sign": Command("harness.verify.cli:sign_command", "Sign a run with your key, so that others can verify it."),
    "tournament": Command("harness.cli.tournament:command", "Let bots play against each other and rate them."),
    "verify": Command("harness.verify.cli:command", "Play the records of a run again and compare."),
}

EXECUTORS = {
    "serial": "harness.executors.serial:SerialExecutor",
    "local": "harness.executors.pool:LocalPool",
    "cluster": "harness.cluster.driver:ClusterExecutor",
}

COMPLETION, COMPLETIONS = "harness.completion", "harness.completion.names"
WEBHOOK = "harness.webhook:Webhook"
CLUSTER_CHECKUP = "harness.cluster.connect"
ASK_BOT = "harness.ask.answers:ask_bot"
VERIFY_RUN = "harness.verify.records:verify_run"
SIGN_RUN, CHECK_RUN_SIGNATURE = "harness.verify.signing:sign_run", "harness.verify.signing:check_run_signature"
MATCH_FRAME = "harness.report.page:match_frame"
PLAYABLE_PAGE = "harness.browser.files:publish_page"
PLAY_IN_BROWSER = "harness.browser.server:play_in_browser"
LUCK_ADJUSTED_LEADERBOARDS = "harness.luck.run:luck_adjusted_leaderboards"


def load_object(where: str) -> Any:
    """Return the object that is named as "module:object"."""
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)


class Formats(UserDict[str, "Format"]):
    """Formats by name. A bundled one is kept as the text that names it until it is looked up."""

    data: dict[str, Any]

    def __getitem__(self, name: str) -> Format:
        # Loaded at the first look-up: `in`, `len` and the list of names do not import six formats.
        if isinstance(self.data[name], str):
            self.data[name] = load_object(self.data[name])
        found: Format = self.data[name]
        return found


_BUNDLED: dict[str, Any] = {
    "round-robin": "harness.formats.round_robin:ROUND_ROBIN",
    "gauntlet": "harness.formats.gauntlet:GAUNTLET",
    "swiss": "harness.formats.swiss:SWISS",
    "knockout": "harness.formats.knockout:KNOCKOUT",
    "ladder": "harness.formats.ladder:LADDER",
    "compare": "harness.comparison.format:COMPARE",
}
FORMATS = Formats(_BUNDLED)
"""The bundled formats, in the order in which they are listed."""
