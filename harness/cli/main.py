"""The group of commands. Each command has a separate module, which is imported when the command is used."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import CompletionItem

from harness._version import VERSION
from harness.plugins.features import COMMANDS, load_object


class Arena(click.Group):
    """Lists commands without importing them, and turns ArenaError into a message and an exit code."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        """Import the command and return it; None if there is no such command."""
        return load_object(COMMANDS[name].where) if name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that was typed; raise UsageError with the most similar name if there is none."""
        if args[0] not in COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"There is no command {args[0]!r}.{hint} 'arena --help' lists them.", ctx)
        return super().resolve_command(ctx, args)

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
        from harness.core.errors import ArenaError, ConformanceError, ReplayError

        try:
            return super().invoke(ctx)
        except ArenaError as error:
            from harness.cli.advice import full_message

            raise Failure(full_message(error), 1 if isinstance(error, ReplayError | ConformanceError) else 2) from error


class Failure(click.ClickException):
    """An error with its exit code, printed without a traceback."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]  # click reads it from the object, but declares a ClassVar


def _tell_version(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from harness.core.compiled import build_form

        click.echo(f"arena, version {VERSION} ({build_form()})")
        ctx.exit()


@click.command(cls=Arena, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_tell_version, help="Show version and form."
)
def main() -> None:
    """Run tournaments for bots at hidden-information board games.

    \b
    arena tournament                       all games, all bots, a leaderboard
    arena tournament --game el-paso --bot my_bot.py --bot random --bot skittish
    arena leaderboard RUN                  the table again, in other formats too
    """
