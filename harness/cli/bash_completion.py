"""Completion for bash, which takes `v2=sprinter.py` and `ismcts:guide=outlaw` for several words each.

click hands over bash's words, so these names would be taken apart. Here the line itself is read, and what bash has
already put aside of the word is left out of the answer.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from click.shell_completion import BashComplete, CompletionItem, add_completion_class, split_arg_string

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
    """Completes what stands between two spaces; `open` marks what goes on, so that no space follows it."""

    source_template = SCRIPT

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the cursor, and the one that is being typed."""
        line = os.environ["ARENA_LINE"]
        words = split_arg_string(line)
        return (words[1:], "") if line[-1:].isspace() else (words[1:-1], words[-1])

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """Folders are named here: bash would offer them only where nothing else fits."""
        found: list[CompletionItem[Any]] = []
        for item in super().get_completions(args, incomplete):
            found += _folders(str(item.value)) if item.type == "dir" else [item]
        return found

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """What is to be put in place of what bash takes for the word."""
        _, incomplete = self.get_completion_args()
        if incomplete.startswith("-"):  # --bot=sprinter: the value alone is completed
            incomplete = incomplete.partition("=")[2]
        aside = incomplete.removesuffix(os.environ["ARENA_WORD"]) if os.environ["ARENA_WORD"] else incomplete
        return f"{'open' if item.open else 'plain'},{str(item.value).removeprefix(aside)}"


def _folders(typed: str) -> list[CompletionItem]:
    from harness.cli.parameter_types import beside

    return [CompletionItem(f"{path}/", open=True) for path in beside(typed) if Path(path).expanduser().is_dir()]
