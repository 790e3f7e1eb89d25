"""Every error that Arena raises on purpose, and how any exception is put in one line."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path

# Everything arena raises on purpose; catch `ArenaError` to catch all of it.


class ArenaError(Exception):
    """Base of all errors that arena raises on purpose; the text is one sentence for a person."""


class UsageError(ArenaError):
    """Somebody asked for something that cannot be had; the command line ends with exit code 2."""


class UnknownName(UsageError):
    """A game, bot, option or value that does not exist; names the choices and the nearest match."""

    def __init__(self, what: str, name: str, choices: Iterable[str]) -> None:
        self.what, self.name, self.choices = what, name, tuple(sorted(choices))
        near = get_close_matches(name, self.choices, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        known = f" Choose from: {', '.join(self.choices)}." if self.choices else " There are none."
        super().__init__(f"Unknown {what} {name!r}.{hint}{known}")

    def __reduce__(self) -> tuple[type[UnknownName], tuple[str, str, tuple[str, ...]]]:
        return UnknownName, (self.what, self.name, self.choices)


class BadOption(UsageError):
    """An option has a value that it does not allow."""


class BadComponents(UsageError):
    """A components file cannot be read or breaks the game."""


class IllegalAction(ArenaError):
    """An action was applied that is not legal now; the state is unchanged."""


class PluginError(ArenaError):
    """A plugin could not be loaded, or offers something that is not a bot or a game."""


class StoreError(UsageError):
    """A run folder cannot be written, read or trusted."""


class ReplayError(ArenaError):
    """A record does not fit the rules: it cannot be played again as it stands."""


class ConformanceError(ArenaError, AssertionError):
    """An engine or a bot breaks a law of the contract."""


# Why something of a plugin author's could not be used, in one line.


def reason_of(error: BaseException) -> str:
    """The last line of a traceback, with the place nearest to the plugin author."""
    if isinstance(error, SyntaxError):
        return f"syntax error in {Path(error.filename or '?').name}, line {error.lineno}: {error.msg}"
    frames: Sequence[traceback.FrameSummary] = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    try:
        text = str(error)
    except BaseException:  # what somebody raises may have a text that raises, too
        text = "it cannot be told what"
    return f"{type(error).__name__}: {text}{place}"
