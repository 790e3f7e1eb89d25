"""The group of commands. Each command has a separate module, which is imported when the command is used."""

from __future__ import annotations

import sys
from errno import ENAMETOOLONG
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from harness._version import VERSION
from harness.plugins.features import COMMANDS, load_object

# `arena --help` and the completion of a command's name import nothing else of Arena: functions import what they need.
if TYPE_CHECKING:
    from harness.core.errors import ArenaError

# What to type after an error. Code below the command line raises errors that also make sense in Python, so it mentions
# no command-line flags. It names a key of this table: `UsageError("No game has enough bots to play it.", fix="bots")`.


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
    "file-cluster": "Name the cluster with --cluster instead.",
    "file-hidden": "Rename it, or name it on the command line (--bot, --option).",
    "file-outside": "Move it there, or name it on the command line (--bot, --option, --results).",
    "fixed-seat": "Leave out --seat.",
    "force": "Use --force to continue anyway.",
    "isolate-off": "If you trust it, use --isolate=off.",
    "isolate-on": "Run 'arena doctor' for details, or use --isolate=on to enforce what is possible.",
    "late-bot": "Enter it with --bot.",
    "league-command": "Use: arena league {command} --league {league}",
    "league-config": "Add bots with: arena league add BOT. Limit the matches with: arena league run --matches N",
    "league-era": "Show a single one with --era N.",
    "league-init": "Create a league with: arena league init {folder}",
    "league-name": "Give it a name without @: --as NAME",
    "league-readmit": "Let it play again with: arena league readmit {bot}",
    "league-version": "If it is the next version, add --new-version-of {bot}; otherwise name it with --as NAME.",
    "learn-values": "Learn it with: arena learn-values {game} --out {game}.json, then use --values {game}.json.",
    "more-rounds": "Add rounds with --format swiss:rounds=N.",
    "new-key": "Make one with: arena sign --new-key",
    "no-workers": "Or play without workers: --workers 0",
    "other-bot": "Give the new one a name: --bot NAME={bot}",
    "other-name": "Choose another --name.",
    "other-port": "Choose another --port (0 is any that is free) or --host.",
    "overwrite": "Choose another name, or replace it with --force.",
    "report-match": "Leave out --match, or --without.",
    "results": "Use --results to choose where runs are kept.",
    "resume": "Continue with --resume.",
    "resume-folder": "Fix the problem and continue with --resume {folder}",
    "resume-league": "Fix the problem, then: arena league run --league {league}",
    "pyodide": "Install it where npm is, and name its folder with --runtime: see docs/browser.md.",
    "resume-tournament": "Continue it with: arena tournament --resume {folder}",
    "run-exists": "Continue it with --resume {folder}, or choose another --name.",
    "save-above": "Save the config file in a folder above it.",
    "same-format": "Leave out --format.",
    "ship": "Send your versions along with --ship.",
    "same-name": "Leave it out with --without {bot}, or enter another version under its own name: --bot v2={bot}",
    "show-key": "Print yours with: arena sign --show-key",
    "which-bot": "Name it with --bot.",
}
"""Keys of errors, with what to type. Placeholders are filled from the error's data."""


def full_message(error: ArenaError) -> str:
    """Return the error's message, followed by what to type."""
    return f"{error} {ADVICE[error.fix].format_map(error.data)}" if error.fix else str(error)


# The commands.


class CommandGroup(click.Group):
    """Says which command is most similar to one that does not exist."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of the command line; raise UsageError with the most similar name if there is none."""
        commands = self.list_commands(ctx)
        if args[0] not in commands and not args[0].startswith("-") and not ctx.resilient_parsing:
            from difflib import get_close_matches

            near = get_close_matches(args[0], commands, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            listed = f"'{ctx.command_path} --help' lists them."
            raise click.UsageError(f"There is no command {args[0]!r}.{hint} {listed}", ctx)
        return super().resolve_command(ctx, args)


class Arena(CommandGroup):
    """Lists commands without importing them, and turns ArenaError into a message and an exit code."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        """Import the command and return it; None if there is no such command."""
        return load_object(COMMANDS[name].where) if name in COMMANDS else None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return completions of command names, without importing the commands."""
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        return [CompletionItem(name, help=each.help) for name, each in COMMANDS.items() if name.startswith(incomplete)]

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands of the help text."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.help) for name, each in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an ArenaError ends it with its message and what to type."""
        from harness.core.errors import LINES, ArenaError, ConformanceError, ReplayError, printable

        try:
            return super().invoke(ctx)
        except ArenaError as error:
            exit_code = 1 if isinstance(error, ReplayError | ConformanceError) else 2
            message = printable(full_message(error), keep=LINES)
            # Indented, so that a line end in the name of a bot does not begin another sentence.
            raise Failure(message.replace("\n", "\n  "), exit_code) from error
        except OSError as error:
            # Names of files come from many places, and `Path.exists` raises an error for those that are too long.
            if error.errno != ENAMETOOLONG:
                raise
            raise Failure(f"This is too long for a file name: {printable(str(error.filename), 60)}...", 2) from error


class Failure(click.ClickException):
    """An error with its exit code, printed without a traceback."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]  # click reads it from the object, but declares a ClassVar

    def format_message(self) -> str:
        """Return the message, wrapped to the terminal together with what click prints before it."""
        from harness.output.tables import fitted  # loads tabulate (20 ms), which most commands do not need

        before = "Error: "
        return fitted(before + self.message, sys.stderr).removeprefix(before)


def _print_version(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from harness.core.compiled import build_form

        click.echo(f"arena, version {VERSION} ({build_form()})")
        ctx.exit()


@click.command(cls=Arena, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version, and whether Arena is compiled.",
)
def main() -> None:
    """Run tournaments for bots at hidden-information board games.

    \b
    arena tournament                       all games, all bots, a leaderboard
    arena tournament --game el-paso --bot my_bot.py --bot random --bot skittish
    arena leaderboard RUN                  the table again, in other formats too
    """
