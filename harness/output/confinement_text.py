"""Says on stderr, before anybody plays, who is confined and what this machine does not enforce."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from harness.core.types import Isolation
from harness.output.fault_text import wrapped
from harness.plugins.entrants import Entrant

if TYPE_CHECKING:
    from harness.runs.store import RunFolder


def tell_confinement(
    entrants: Mapping[str, Entrant],
    isolate: Isolation,
    quiet: bool = False,
    run: RunFolder | None = None,
    here: bool = True,
) -> None:
    """Everything that is not enforced, and that bots of a `run` are confined otherwise than it says, every time; and,
    unless quiet, that strangers' and trusted bots meet. If they do not play `here`, nodes say what they enforce."""
    if isolate == "off" or (isolate == "auto" and not any(entrant.stranger for entrant in entrants.values())):
        return
    from harness.executors.confinement import mixed_table, not_enforced
    from harness.runs.run_setup import kept_otherwise

    for sentence in not_enforced(entrants.values(), isolate) if here and isolate != "strict" else ():  # which refuses
        _say(f"Warning: {sentence}")
    otherwise = kept_otherwise(run, isolate, entrants.values()) if run else ""
    if otherwise:
        _say(f"Warning: {otherwise}")
    mixed = mixed_table(entrants.values(), isolate)
    if mixed and not quiet:
        _say(mixed)


def _say(text: str) -> None:
    sys.stderr.writelines(f"{line}\n" for line in wrapped(text))
