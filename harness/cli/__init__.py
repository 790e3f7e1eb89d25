"""Entry point of the `arena` command.

This module imports little, because the process may be restarted. The commands are in `harness.cli.main`.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module

COMPLETE_VARIABLE = "_ARENA_COMPLETE"
"""Environment variable with which a shell requests completions, or the completion script."""
PLAYING = frozenset({"ask", "check", "compare", "league", "learn-values", "play", "tournament", "verify"})
"""Commands that run bots."""


def run() -> None:
    """Run the console script."""
    if sys.stderr is None:  # the parent process closed it
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - it stays open to the end
    if os.environ.get("PYTHONHASHSEED", "random") == "random" and PLAYING.intersection(sys.argv[1:2]):
        _restart()
    if COMPLETE_VARIABLE in os.environ:
        from harness.plugins.features import COMPLETION

        import_module(COMPLETION)  # registers the shells with click
    from harness.cli.main import main  # after the restart: it would be loaded twice

    try:
        main()
    finally:
        gc.freeze()  # skips the garbage collection at exit, which takes as long as many commands do


def _restart() -> None:
    """Restart Python with a fixed hash seed.

    The order of strings in a set depends on the hash seed, which is random by default. A bot that iterates over such a
    set would choose differently each time, but the same run must give the same records.
    """
    os.environ["PYTHONHASHSEED"] = "0"
    if os.name == "nt":  # execv returns to the shell at once on Windows
        import subprocess

        sys.exit(subprocess.run(sys.orig_argv, executable=sys.executable).returncode)  # noqa: S603 - this very program
    os.execv(sys.executable, sys.orig_argv)  # noqa: S606 - likewise
