"""Time limits, and faults of bots: the kind, text and cause of each. Groups of them are in runs/monitor.py."""

from __future__ import annotations

import re
import traceback
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from harness.core.action import Action
from harness.core.compiled import is_hot
from harness.core.errors import LINES, printable, safe_repr
from harness.core.records import Clock, Fault, FaultKind

# Time limits


class Limits(Struct, frozen=True):
    """Time limits of a bot, in seconds of wall-clock time; 0 is no limit."""

    move_time: float = 0.0
    """For one decision."""
    game_time: float = 0.0
    """For a whole match: start, all decisions, end."""
    margin: float = 0.1
    """Tolerance for late answers: machines are not punctual."""
    clock: Clock = "fair"
    """With "fair", a late answer that took little processor time is doubtful: the machine may have been busy."""


NO_LIMITS = Limits()


# Kind and text of a fault
#
# Both go into records, so they must be the same on every machine.


MAX_FRAMES = 12
MAX_DETAIL_CHARS = 2000
MAX_MESSAGE_CHARS = 1000
"""Limit for the message of an exception: the lines that lead to it need room, too."""
SEATING_FILE = "entrants.py"
"""Our file that creates bots: exceptions of their constructors pass through it."""
_FRAME = re.compile(r"^([^\n:]+:\d+) in [^\n:]+:", re.MULTILINE)
_EXIT_TEXT = re.compile(r"SIG[A-Z]+|(?:exit code|signal) \d+|it closed its pipe")
_NAME = re.compile(r"([A-Za-z_][\w.]*)(?::|$)", re.MULTILINE)
_ERROR = re.compile(r"^([A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt))(?::|$)", re.MULTILINE)
"""Name of an exception in the output of another program."""


_bot_folder = ""


def set_bot_folder(folder: str) -> None:
    """Set the folder of the bot's files in a sandboxed process; its name is random and is removed from texts."""
    global _bot_folder
    _bot_folder = folder + "/"


class BotFault(Exception):
    """A bot in a separate process failed, with the kind and text of its fault."""

    def __init__(self, kind: FaultKind, detail: str, doubtful: bool = False) -> None:
        """It is `doubtful` if it may have come from outside: then it counts only if it happens again."""
        super().__init__(detail)
        self.kind, self.detail, self.doubtful = kind, detail, doubtful


def kind_of(error: BaseException) -> FaultKind:
    """Return the kind of fault for an exception of a bot."""
    if isinstance(error, BotFault):
        return error.kind
    return "memory" if isinstance(error, MemoryError) else "exception"


def detail_of(error: BaseException, ours: str) -> str:
    """Return the bot's part of the traceback, without the frames of the file `ours` and with short paths."""
    if isinstance(error, BotFault):
        return printable(error.detail, MAX_DETAIL_CHARS, LINES)
    try:
        # Frames of the referee are left out, and paths are short: records must not depend on where Arena is installed.
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename != ours]
        # Frames of compiled modules look different, and records must not depend on that: leave them out, unless there
        # are no others.
        frames = [f for f in frames if not is_hot(f.filename)] or frames
        lines = [f"{Path(f.filename).name}:{f.lineno} in {f.name}: {f.line or ''}" for f in frames[-MAX_FRAMES:]]
        lines.append(f"{type(error).__name__}: {error}"[:MAX_MESSAGE_CHARS])
        if _bot_folder and isinstance(error, FileNotFoundError):
            lines.append(
                "(an isolated bot sees the files that it declares: files = (...), and finds them next to its __file__)"
            )
        text = "\n".join(lines)
        text = text.replace(_bot_folder, "") if _bot_folder else text
        return printable(without_addresses(text)[-MAX_DETAIL_CHARS:], keep=LINES)
    except BaseException:  # an exception whose text raises
        return type(error).__name__


def cause_of(fault: Fault) -> str:
    """Return a short cause that is the same for all faults with that cause, whatever the bot's message is."""
    match fault.kind:
        case "illegal" if fault.detail.startswith("answered ") and "which is not one of:" in fault.detail:
            return f"illegal action in phase {fault.phase}" if fault.phase else "illegal action"
        case "illegal":  # not a message at all: "sent what is no message: ..."
            words = re.split(r"[^A-Za-z ]", fault.detail, maxsplit=1)[0].strip()
            return f"illegal: {words}" if words else "illegal"
        case "exception" | "memory":
            return _raised_at(fault.detail) or fault.kind
        case "crash":
            ending = _EXIT_TEXT.search(fault.detail)
            return f"crash, {ending[0]}" if ending else "crash"
        case _:
            return fault.kind


def _raised_at(detail: str) -> str:
    """Return `"IndexError at sprinter.py:12"`: the exception and the last line in the file that was asked.

    Code that this line calls in other files may fail in many places, for one mistake.
    """
    frames = list(_FRAME.finditer(detail))
    places = [frame[1] for frame in frames]
    name = _NAME.match(detail[frames[-1].end() :].partition("\n")[2]) if frames else _ERROR.search(detail)
    if name is None:
        return ""
    # The first frame is ours when a constructor raised: the bot's file is the next one.
    if len(places) > 1 and places[0].startswith(f"{SEATING_FILE}:"):
        places = places[1:]
    if not places:
        return name[1]
    asked = places[0].rpartition(":")[0]
    return f"{name[1]} at {[place for place in places if place.rpartition(':')[0] == asked][-1]}"


def illegal_answer(answer: object, legal: Sequence[Action]) -> str:
    """Return the text for an answer that is not a legal action."""
    offered = ", ".join(map(str, legal))
    text = safe_repr(answer)
    said = without_addresses(text if len(text) <= 200 else text[:200] + "...")
    return f"answered {said}, which is not one of: {offered}"[:MAX_DETAIL_CHARS]


def without_addresses(text: str) -> str:
    """Return the text without memory addresses, which differ from run to run."""
    return re.sub(r"0x[0-9a-fA-F]{6,}", "0x...", text)
