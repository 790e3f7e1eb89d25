"""How a bot's failure is told: which kind of fault it was, and a text that is the same on every machine."""

from __future__ import annotations

import re
import traceback
from collections.abc import Sequence
from pathlib import Path

from harness.core.action import Action
from harness.core.compiled import IN_TRACEBACKS
from harness.core.types import Fault, FaultKind

TRACEBACK_LINES = 12
DETAIL_LENGTH = 2000
MESSAGE_LENGTH = 1000
"""Characters of what an exception says: the lines that lead to it must have room too."""
SEATING = "entrants.py"
"""Our file that makes a bot: what its constructor raises comes by it."""
_FRAME = re.compile(r"^([^\n:]+:\d+) in [^\n:]+:", re.MULTILINE)
_ENDING = re.compile(r"SIG[A-Z]+|(?:exit code|signal) \d+|it closed its pipe")
_NAME = re.compile(r"([A-Za-z_][\w.]*)(?::|$)", re.MULTILINE)
_ERROR = re.compile(r"^([A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt))(?::|$)", re.MULTILINE)
"""An exception's name in what another program says of its failure."""


_own_folder = ""


def set_own_folder(folder: str) -> None:
    """In a process that a bot has to itself: where its files are, a folder whose name says nothing to anybody."""
    global _own_folder
    _own_folder = folder + "/"


class BotFault(Exception):
    """A bot failed in a process of its own: the kind of fault is known, and so is what to say of it."""

    def __init__(self, kind: FaultKind, detail: str, doubtful: bool = False) -> None:
        """It is `doubtful` if it may have come from outside: then it counts if it happens again."""
        super().__init__(detail)
        self.kind, self.detail, self.doubtful = kind, detail, doubtful


def kind_of(error: BaseException) -> FaultKind:
    """Which fault it is that a bot has raised this."""
    if isinstance(error, BotFault):
        return error.kind
    return "memory" if isinstance(error, MemoryError) else "exception"


def detail_of(error: BaseException, ours: str) -> str:
    """The bot's part of the traceback, without the frames of our own file and with paths shortened."""
    if isinstance(error, BotFault):
        return plain_text(error.detail)
    try:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename != ours]
        # What may be compiled looks otherwise then, and records must not: it is left out, unless it is all there is.
        frames = [f for f in frames if f.filename not in IN_TRACEBACKS] or frames
        lines = [f"{Path(f.filename).name}:{f.lineno} in {f.name}: {f.line or ''}" for f in frames[-TRACEBACK_LINES:]]
        lines.append(f"{type(error).__name__}: {error}"[:MESSAGE_LENGTH] + _hint(error))
        text = "\n".join(lines)
        text = text.replace(_own_folder, "") if _own_folder else text
        return plain_text(without_addresses(text)[-DETAIL_LENGTH:])
    except BaseException:  # an exception whose text raises
        return type(error).__name__


def _hint(error: BaseException) -> str:
    """What to do about a file that an isolated bot does not find."""
    if not _own_folder or not isinstance(error, FileNotFoundError):
        return ""
    return "\n(an isolated bot sees the files that it declares: files = (...), and finds them beside its __file__)"


def cause_of(fault: Fault) -> str:
    """What went wrong, in a few words that are the same whenever the same thing goes wrong, whatever the bot said."""
    match fault.kind:
        case "illegal" if fault.detail.startswith("answered ") and "which is not one of:" in fault.detail:
            return f"illegal action in phase {fault.phase}" if fault.phase else "illegal action"
        case "illegal":  # no answer at all: "sent what is no message: ..."
            words = re.split(r"[^A-Za-z ]", fault.detail, maxsplit=1)[0].strip()
            return f"illegal: {words}" if words else "illegal"
        case "exception" | "memory":
            return _raised(fault.detail) or fault.kind
        case "crash":
            ending = _ENDING.search(fault.detail)
            return f"crash, {ending[0]}" if ending else "crash"
        case _:
            return fault.kind


def _raised(detail: str) -> str:
    """`"IndexError at sprinter.py:12"`: what was raised, and the last line in the file that was asked.

    What that line calls in other files may fail at many places, for one mistake.
    """
    frames = list(_FRAME.finditer(detail))
    places = [frame[1] for frame in frames]
    name = _NAME.match(detail[frames[-1].end() :].partition("\n")[2]) if frames else _ERROR.search(detail)
    if name is None:
        return ""
    if len(places) > 1 and places[0].startswith(f"{SEATING}:"):
        places = places[1:]
    if not places:
        return name[1]
    asked = places[0].rpartition(":")[0]
    return f"{name[1]} at {[place for place in places if place.rpartition(':')[0] == asked][-1]}"


def illegal_answer(answer: object, legal: Sequence[Action]) -> str:
    """What to say of an answer that is not one of the legal actions."""
    offered = ", ".join(map(str, legal))
    return f"answered {_short(answer)}, which is not one of: {offered}"[:DETAIL_LENGTH]


def whole_characters(text: str) -> str:
    """The text without half characters, which cannot be written to a record."""
    return text.encode("utf-8", "replace").decode()


def plain_text(text: str) -> str:
    """What a bot says, as a terminal may show it: no escapes, no letters that hide or turn others, and not too long."""
    kept = text[:DETAIL_LENGTH]
    return kept if kept.isprintable() else "".join([c if c.isprintable() or c in "\n\t" else "?" for c in kept])


def without_addresses(text: str) -> str:
    """Memory addresses differ from run to run; records must not."""
    return re.sub(r"0x[0-9a-fA-F]{6,}", "0x...", text)


def _short(answer: object) -> str:
    try:
        text = repr(answer)
    except BaseException:
        text = f"an object of type {type(answer).__name__}"
    return without_addresses(text if len(text) <= 200 else text[:200] + "...")
