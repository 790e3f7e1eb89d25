"""arena completion."""

from __future__ import annotations

import os
from pathlib import PurePath

import click
from click.shell_completion import FishComplete, ShellComplete, ZshComplete

from harness.cli.bash_completion import WholeWords

SHELLS: dict[str, type[ShellComplete]] = {"bash": WholeWords, "zsh": ZshComplete, "fish": FishComplete}


@click.command("completion", short_help="Print what makes a shell complete arena's commands and names.")
@click.argument("shell", type=click.Choice(list(SHELLS)), required=False)
def command(shell: str | None) -> None:
    """Print a script for SHELL that completes commands, options, bots, games, formats and runs.

    SHELL is bash, zsh or fish; by default the one that you use. For this terminal, then for good:

    \b
    eval "$(arena completion bash)"
    arena completion bash >> ~/.bashrc
    arena completion zsh >> ~/.zshrc
    arena completion fish > ~/.config/fish/completions/arena.fish
    """
    from harness.cli import COMPLETE_VARIABLE, main

    chosen = shell or PurePath(os.environ.get("SHELL", "")).name
    if chosen not in SHELLS:
        raise click.UsageError(f"Which shell? Choose from: {', '.join(SHELLS)}.")
    click.echo(SHELLS[chosen](main, {}, "arena", COMPLETE_VARIABLE).source(), nl=False)
