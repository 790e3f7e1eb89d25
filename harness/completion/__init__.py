"""Shell completion of `arena`, and the `arena completion` command. `names.py` has the names that are completed.

Users wait for every completion: the name of a command is completed with little more than click.
"""

from __future__ import annotations

import os
from pathlib import PurePath

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    split_arg_string,
)

from harness.cli import COMPLETE_VARIABLE
from harness.cli.main import main

# Completion for bash, which splits `v2=sprinter.py` and `ismcts:guide=outlaw` into several words.
#
# click uses the words of bash, so these names would be split. Here the line itself is parsed, and the part of the word
# that bash regards as complete is removed from the answer.


SCRIPT = """\
%(complete_func)s() {
    local kind value
    COMPREPLY=()
    while IFS=, read -r kind value; do
        [[ $kind == open ]] && compopt -o nospace
        [[ $value ]] && COMPREPLY+=("$value")
    done < <(export ARENA_LINE="${COMP_LINE:0:$COMP_POINT}" ARENA_WORD="$2"
             %(complete_var)s=bash_complete "$1" 2>/dev/null)
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""


@add_completion_class
class WholeWords(BashComplete):
    """Completes words between spaces. Items marked `open` can be continued, so no space is added after them."""

    source_template = SCRIPT

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the cursor, and the incomplete word."""
        line = os.environ["ARENA_LINE"]
        words = split_arg_string(line)
        return (words[1:], "") if line[-1:].isspace() else (words[1:-1], words[-1])

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """Return the completions, with folders listed: bash would offer them only if nothing else fits."""
        from harness.completion.names import listed_folders  # loads more than the name of a command needs

        found: list[CompletionItem] = []
        for item in super().get_completions(args, incomplete):
            found += listed_folders("", str(item.value)) if item.type == "dir" else [item]
        return found

    def format_completion(self, item: CompletionItem) -> str:
        """Return a line for the script: the kind of the item, and the text that replaces the current word of bash."""
        _, incomplete = self.get_completion_args()
        if incomplete.startswith("-"):  # --bot=sprinter: only the value is completed
            incomplete = incomplete.partition("=")[2]
        aside = incomplete.removesuffix(os.environ["ARENA_WORD"]) if os.environ["ARENA_WORD"] else incomplete
        return f"{'open' if item.open else 'plain'},{str(item.value).removeprefix(aside)}"


# arena completion.


SHELLS: dict[str, type[ShellComplete]] = {"bash": WholeWords, "zsh": ZshComplete, "fish": FishComplete}


@click.command("completion")
@click.argument("shell", type=click.Choice(list(SHELLS)), required=False)
def command(shell: str | None) -> None:
    """Print a script for SHELL that completes commands, options, bots, games, formats and runs.

    SHELL is bash, zsh or fish; by default the one that you use. The first example is for the current terminal, the
    others are permanent:

    \b
    eval "$(arena completion bash)"
    arena completion bash >> ~/.bashrc
    arena completion zsh >> ~/.zshrc
    arena completion fish > ~/.config/fish/completions/arena.fish
    """
    chosen = shell or PurePath(os.environ.get("SHELL", "")).name
    if chosen not in SHELLS:
        raise click.UsageError(f"Which shell? Choose from: {', '.join(SHELLS)}.")
    click.echo(SHELLS[chosen](main, {}, "arena", COMPLETE_VARIABLE).source(), nl=False)
