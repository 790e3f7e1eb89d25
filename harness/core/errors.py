"""Every error that Arena raises on purpose, and how any exception is put in one line."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

# Everything arena raises on purpose; catch `ArenaError` to catch all of it.


class ArenaError(Exception):
    """Base of all errors that arena raises on purpose. The text says what is wrong and makes sense in Python, too.

    `fix` is a key of the table in cli/main.py. The command line appends that sentence, which says what to type, with
    its placeholders filled from `data`.
    """

    def __init__(self, message: str = "", fix: str = "", **data: Any) -> None:
        # Cleaned, because it may quote a file that other people have written. Without `fix`: pickle calls the class
        # with args and restores the rest from __dict__.
        super().__init__(printable(message, keep=LINES))
        self.fix, self.data = fix, data


class UsageError(ArenaError):
    """The request cannot be fulfilled as it was made; the command line ends with exit code 2."""


class UnknownName(UsageError):
    """A game, bot, option or value that does not exist; names the choices and the nearest match."""

    def __init__(self, what: str, name: str, choices: Iterable[str], fix: str = "", **data: Any) -> None:
        self.what, self.name, self.choices = what, name, tuple(sorted(choices))
        near = get_close_matches(name, self.choices, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        known = f" Choose from: {', '.join(self.choices)}." if self.choices else " There are none."
        super().__init__(f"Unknown {what} {name!r}.{hint}{known}", fix, **data)

    def __reduce__(self) -> tuple[Any, ...]:
        # By default pickle would call the class with the finished message, which is none of its arguments.
        return UnknownName, (self.what, self.name, self.choices), self.__dict__


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


# Texts for messages: what a plugin or a server said, and why something that a plugin offers could not be used.


def safe_repr(thing: object) -> str:
    """Return the repr of any object, or its type if that raises."""
    try:
        return repr(thing)
    except BaseException:
        return f"an object of type {type(thing).__name__}"


LINES = "\n\t"
"""What text of several lines may contain besides printable characters."""


def printable(text: str, max_chars: int | None = None, keep: str = "") -> str:
    """Return the beginning of the text with a question mark for each character that is not printable or in `keep`.

    Those characters could control a terminal, or hide or reverse the text around them. This is the only function that
    removes them.
    """
    text = text[:max_chars]
    if text.isprintable():
        return text
    if keep == LINES:  # most lines of a long text are printable
        return "\n".join([line if line.isprintable() else printable(line, keep="\t") for line in text.split("\n")])
    return "".join([letter if letter.isprintable() or letter in keep else "?" for letter in text])


def reason_of(error: BaseException, folder: Path | None = None) -> str:
    """Return what was raised in one line, with the innermost file and line of the traceback.

    With a folder it is the innermost line of a file in there, if there is one: the line that the author can change.
    """
    if isinstance(error, SyntaxError):
        where = f" in {Path(error.filename).name}, line {error.lineno}" if error.filename and error.lineno else ""
        return f"syntax error{where}: {error.msg}"
    frames: Sequence[traceback.FrameSummary] = traceback.extract_tb(error.__traceback__)
    if folder is not None:
        frames = [frame for frame in frames if Path(frame.filename).is_relative_to(folder)] or frames
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    try:
        text = str(error)
    except BaseException:  # the __str__ of a plugin's exception may raise, too
        text = "it has no readable text"
    return f"{type(error).__name__}: {text}{place}"
