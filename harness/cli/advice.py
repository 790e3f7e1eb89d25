"""What to type after an error: the command line appends the sentence that an error's `fix` names.

Code below the command line raises errors that also make sense in Python, so it mentions no command-line flags. It names
a key of this table instead: `UsageError("No game has enough bots to play it.", fix="bots")`.
"""

from __future__ import annotations

from harness.core.errors import ArenaError

ADVICE = {
    "ask-in-place": "Ask in its place with --seat {seat}.",
    "ask-seat": "Choose the seat to ask it for with --seat.",
    "bots": "Enter more with --bot, or the same one with other options.",
    "bots-of-game": "The bots that play it: arena bots --game {game}",
    "candidates": "Name them with --candidate, once for each.",
    "cluster": "Name the cluster with --cluster.",
    "cluster-local": "Or start workers on this machine with --cluster local:4.",
    "cluster-workers": "Leave out --workers 0, or --cluster.",
    "compare-command": "Use: arena compare --luck-adjusted",
    "compare-luck": "Leave out --luck-adjusted.",
    "compare-most": "Choose a larger --most.",
    "event-file": "Bots are named with --bot, games with --game.",
    "fixed-seat": "Leave out --seat.",
    "force": "Use --force to continue anyway.",
    "isolate-off": "If you trust it, use --isolate=off.",
    "isolate-on": "Run 'arena doctor' for details, or use --isolate=on to enforce what is possible.",
    "late-bot": "Enter it with --bot.",
    "league-config": "Add bots with: arena league add BOT. Limit the matches with: arena league run --matches N",
    "league-init": "Create a league with: arena league init {folder}",
    "league-name": "Give it a name without @: --as NAME",
    "league-readmit": "Let it play again with: arena league readmit {bot}",
    "league-run": "Continue with: arena league run",
    "learn-values": "Learn it with: arena learn-values {game} --out {game}.json, then use --values {game}.json.",
    "more-rounds": "Add rounds with --format swiss:rounds=N.",
    "new-key": "Make one with: arena sign --new-key",
    "no-workers": "Or play without workers: --workers 0",
    "other-bot": "Give the new one a name: --bot NAME={bot}",
    "other-name": "Choose another --name.",
    "other-port": "Choose another --port (0 is any that is free) or --host.",
    "overwrite": "Choose another name, or replace it with --force.",
    "results": "Use --results to choose where runs are kept.",
    "resume": "Continue with --resume.",
    "resume-tournament": "Continue it with: arena tournament --resume {folder}",
    "run-exists": "Continue it with --resume {folder}, or choose another --name.",
    "same-format": "Leave out --format.",
    "ship": "Send your versions along with --ship.",
    "show-key": "Print yours with: arena sign --show-key",
    "which-bot": "Name it with --bot.",
}
"""Keys of errors, with what to type. Placeholders are filled from the error's data."""


def full_message(error: ArenaError) -> str:
    """Return the error's message, followed by what to type."""
    return f"{error} {ADVICE[error.fix].format_map(error.data)}" if error.fix else str(error)
