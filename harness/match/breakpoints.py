"""breakpoint() and input() in bots that play where nobody can answer: in a worker, or beside a conversation."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from harness.core.errors import UsageError

WHERE = "works in a run with --workers 0 (from Python: workers=0) and without --isolate: nobody can answer a bot here."


def refuse_breakpoints() -> None:
    """From now on breakpoint() and input() in this process say where they work: the bot's fault, with a remedy."""
    sys.breakpointhook = _refuse
    sys.stdin = _NoStdin()


@contextmanager
def no_breakpoints() -> Iterator[None]:
    """The same for a while."""
    before = sys.breakpointhook, sys.stdin
    refuse_breakpoints()
    try:
        yield
    finally:
        sys.breakpointhook, sys.stdin = before


def _refuse(*args: Any, **named: Any) -> Any:
    if os.environ.get("PYTHONBREAKPOINT"):  # "0", or a debugger that is somewhere else: whoever set it knows
        return sys.__breakpointhook__(*args, **named)
    raise UsageError(f"breakpoint() {WHERE}")


class _NoStdin(io.TextIOBase):
    """A stdin that says why it cannot be read; also what `pdb.set_trace()` meets."""

    def readable(self) -> bool:
        """So that readers come to the sentence."""
        return True

    def readline(self, *_size: object) -> str:  # type: ignore[override]  # as in every text file
        """What input() calls."""
        raise UsageError(f"input() {WHERE}")

    def read(self, *_size: object) -> str:
        """Likewise."""
        raise UsageError(f"Reading stdin {WHERE}")
