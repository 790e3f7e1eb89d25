"""What is installed: the bots, games and formats of this machine, ready to be asked for by name."""

from __future__ import annotations

from harness.core.errors import PluginError
from harness.executors.isolation import OutsideProcesses
from harness.plugins.registry import Registry, load
from harness.runs.request import Isolation


def installed(isolate: Isolation = "off", strict: bool = False) -> Registry:
    """All plugins; a broken one is named in `problems`, or raised if `strict`.

    With `isolate`, bots that are named by a file or a command are asked what they are in processes of their own.
    """
    registry = load()
    registry.outside = OutsideProcesses(isolate)
    if registry.problems and strict:
        raise PluginError(" ".join(registry.problems))
    return registry
