"""The `arena` command: how it starts. What it can do is in `main`, which loads click; nothing here does."""

from __future__ import annotations

import gc
import os
import sys

COMPLETE_VARIABLE = "_ARENA_COMPLETE"
"""By this a shell asks for completions, or for the script that does."""
PLAYING = frozenset({"ask", "check", "compare", "learn-values", "play", "tournament", "verify"})
"""Commands that let bots choose."""


def run() -> None:
    """The console script."""
    if sys.stderr is None:  # closed by whoever started us: there is nobody to tell
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - it stays open to the end
    if os.environ.get("PYTHONHASHSEED", "random") == "random" and PLAYING.intersection(sys.argv[1:2]):
        _restart()
    if COMPLETE_VARIABLE in os.environ:
        from harness.cli import completion  # noqa: F401 - click knows of it from now on
    from harness.cli.main import main

    try:
        main()
    finally:
        gc.freeze()  # else Python looks at every object once more before it ends, which takes as long as many a command


def _restart() -> None:
    """Bots that go through a set of texts do so in an order that Python shuffles at its start, unless it is told
    not to. The same run must give the same records, so Python begins again, before it has loaded anything."""
    os.environ["PYTHONHASHSEED"] = "0"
    if os.name == "nt":  # there execv comes back to the shell at once
        import subprocess

        sys.exit(subprocess.run(sys.orig_argv, executable=sys.executable).returncode)  # noqa: S603 - this very program
    os.execv(sys.executable, sys.orig_argv)  # noqa: S606 - likewise
