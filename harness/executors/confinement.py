"""What whoever runs other people's bots should know before they play: who is confined, and by what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from harness.core.errors import UsageError
from harness.core.types import Isolation
from harness.executors.outside import is_confined
from harness.plugins.entrants import Entrant
from harness.sandbox import doctor

NAMED = 5
"""Bots that a sentence names; of more it says how many."""


def not_enforced(entrants: Iterable[Entrant], isolate: Isolation) -> list[str]:
    """A sentence for everything that this machine does not keep confined bots from; none if no bot is confined."""
    if not any(is_confined(entrant.stranger, isolate) for entrant in entrants):
        return []
    return list(_lacking())


@cache
def _lacking() -> tuple[str, ...]:
    """Found out once a process: a notebook plays one match after the other."""
    try:
        found = doctor.probe()
    except UsageError as error:
        return (f"bots are confined as far as that goes here, which may not be far: {error}",)
    return tuple(
        f"this machine does not enforce that {guarantee.text}: 'arena doctor' says more."
        for guarantee in found
        if not guarantee.enforced
    )


def mixed_table(entrants: Iterable[Entrant], isolate: Isolation) -> str:
    """A sentence where confined bots meet bots of arena's own process, which nothing is hidden from; else nothing."""
    known = list(entrants)
    apart = [_with_reason(one) for one in known if is_confined(one.stranger, isolate)]
    here = [one.name for one in known if not is_confined(one.stranger, isolate)]
    if not apart or not here:
        return ""
    return (
        f"Without rights, in processes of their own: {_listed(apart)}. In arena's own process, as your own code: "
        f"{_listed(here)}; --isolate=on confines all."
    )


def _with_reason(entrant: Entrant) -> str:
    """Of a file, why it is a stranger's: its user may think that it is his own."""
    why = f" ({entrant.stranger})" if entrant.stranger and entrant.sources else ""
    return entrant.name + why


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
