"""Says on stderr, before anybody plays, who is confined and what this machine does not enforce."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from harness.core.types import Isolation
from harness.output.fault_text import wrapped
from harness.plugins.entrants import Entrant


def tell_confinement(entrants: Mapping[str, Entrant], isolate: Isolation, quiet: bool = False) -> None:
    """Everything that is not enforced, every time; and, unless quiet, that strangers' and trusted bots meet."""
    if isolate == "off" or (isolate == "auto" and not any(entrant.stranger for entrant in entrants.values())):
        return
    from harness.executors.confinement import mixed_table, not_enforced

    for sentence in not_enforced(entrants.values(), isolate) if isolate != "strict" else ():  # which refuses instead
        _say(f"Warning: {sentence}")
    mixed = mixed_table(entrants.values(), isolate)
    if mixed and not quiet:
        _say(mixed)


def _say(text: str) -> None:
    sys.stderr.writelines(f"{line}\n" for line in wrapped(text))
