"""Which bots play outside this process, and the registry's way to them; what they need is loaded when there are any."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from harness.core.types import Isolation

if TYPE_CHECKING:
    from harness.core.bot import Bot
    from harness.plugins.entrants import Entrant


class OutsideProcesses(NamedTuple):
    """The registry's way to bots outside this process (`harness.plugins.entrants.OutsideBots`)."""

    isolate: Isolation = "auto"

    def loads_here(self, stranger: str) -> bool:
        """Whether a Python file is loaded in this process, as one's own is unless everybody is confined."""
        return not is_confined(stranger, self.isolate)

    def enter_command(self, text: str, name: str, options: str, command: str) -> Entrant:
        """An entrant for a program."""
        from harness.executors.isolation import enter_command

        return enter_command(text, name, options, command, self.isolate)

    def bots_in(self, path: str) -> list[type[Bot]]:
        """The bots of a file, described by a process of its own."""
        from harness.executors.isolation import bots_in

        return bots_in(path, self.isolate)


def is_confined(stranger: str, isolate: Isolation) -> bool:
    """Whether a bot plays in a process without rights; `stranger` says why it is somebody else's, if it is."""
    return isolate in ("on", "strict") or (isolate != "off" and bool(stranger))
