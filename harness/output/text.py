"""Text for people: a console, and sentences about faults and about which bots are sandboxed."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from textwrap import fill
from typing import TYPE_CHECKING, TextIO

from harness.core.errors import LINES, UsageError, printable
from harness.core.records import Isolation
from harness.output.columns import Fields
from harness.output.tables import fitted
from harness.plugins.entrants import Entrant, is_confined
from harness.plugins.trust import played_for_the_first_time
from harness.runs.monitor import FaultExample, FaultGroup, FaultGroups
from harness.runs.setup import kept_otherwise

if sys.platform != "win32":
    import termios
    import tty

if TYPE_CHECKING:
    from harness.runs.store import RunFolder


# Print and read lines, with nothing that a dumb terminal, a pipe or a script cannot do.


NARROW, WIDE = 40, 100
"""Minimum and maximum width to which text is wrapped, in characters."""

CTRL_D, CTRL_U, ERASE = "\x04", "\x15", "\x7f\b"


class Console:
    """The terminal of a user: prints and reads lines."""

    def __init__(self, reads: TextIO, writes: TextIO) -> None:
        self.reads, self.writes = reads, writes

    @property
    def width(self) -> int:
        """The maximum length of a line."""
        return max(NARROW, min(WIDE, shutil.get_terminal_size().columns))

    def say(self, text: str = "") -> None:
        """Print lines; those that are wider than the terminal are wrapped."""
        self._write(fitted(text, self.writes) + "\n")

    def paragraph(self, text: str, indent: str = "", first: str | None = None) -> None:
        """Print one text, wrapped; `first` precedes its first line instead of the indent."""
        new_match = indent if first is None else first
        self.say(fill(text, self.width - 1, initial_indent=new_match, subsequent_indent=indent))

    def listed(self, items: Iterable[str], most_lines: int = 10) -> None:
        """Print items one per line, or in columns, to be read downwards, if there are too many."""
        cells = list(items)
        widest = max(map(len, cells), default=0) + 3
        columns = max(1, self.width // widest) if len(cells) > most_lines else 1
        rows = -(-len(cells) // columns)
        for row in range(rows):
            self.say("  " + "".join(cell.ljust(widest) for cell in cells[row::rows]).rstrip())

    @property
    def reads_keys(self) -> bool:
        """Whether single keys can be read: on a terminal."""
        return sys.platform != "win32" and self.reads.isatty()

    def ask(self, prompt: str, keys: str = "") -> str:
        """Return what the user types, stripped; raises EOFError at the end of the input.

        If `reads_keys`, a line ends with its first key if that is one of `keys`.
        """
        if keys and self.reads_keys:
            return self._read_keys(prompt, keys)
        self._write(prompt)
        try:
            line = self.reads.readline()
        except UnicodeDecodeError:
            return "\ufffd"  # matches no command, so the user is asked again
        if not line:
            raise EOFError
        if not self.reads.isatty():
            self._write(
                line if line.endswith("\n") else line + "\n"
            )  # a terminal echoes what is typed, a pipe does not
        return line.strip()

    def _read_keys(self, prompt: str, keys: str) -> str:
        """Return a line, which we edit ourselves: a terminal that edits lines does not show us the first key."""
        terminal = self.reads.fileno()
        decode = getincrementaldecoder(self.reads.encoding or "utf-8")("replace").decode
        before, typed = termios.tcgetattr(terminal), ""
        tty.setcbreak(terminal)  # this drops what was typed before the prompt: a key must not play an unseen choice
        try:
            self._write(prompt)
            while True:
                byte = os.read(terminal, 1)
                key = decode(byte)
                if not byte or (key == CTRL_D and not typed):
                    raise EOFError
                if key == "\n" or (not typed and key in keys and key):
                    self._write(f"{key.strip()}\n")
                    return (typed + key).strip()
                if key in (*ERASE, CTRL_U):
                    erased = min(len(typed), 1 if key != CTRL_U else len(typed))
                    typed = typed[: len(typed) - erased]
                    self.writes.write("\b \b" * erased)
                    self.writes.flush()
                elif key.isprintable():
                    typed += key
                    self._write(key)
        finally:
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)

    def _write(self, text: str) -> None:
        encoding = self.writes.encoding or "utf-8"
        shown = printable(text, keep=LINES)  # names of bots must not control the terminal
        self.writes.write(shown.encode(encoding, "replace").decode(encoding))
        self.writes.flush()


# Faults of a run, for people.


IN_FULL = 8
"""Causes that are printed with the error message, and with how to see the fault."""
IN_SHORT = 12
"""Further causes that are printed in one line each."""
SAID_LINES = 4
"""Last lines of a traceback that are shown."""
WIDTH = 79

Hints = Callable[[FaultGroup], list[str]]
"""Returns what to type to see a fault, line by line."""


def fault_lines(faults: FaultGroups, hints: Hints) -> Iterator[str]:
    """Yield lines about each bot that failed: how often, why, where first, its message, and how to see it."""
    counts = [f"{bot} {count:,}" for bot, count in faults.by_bot.most_common()]
    if counts:
        yield from wrapped(
            f"{counted(faults.total, 'fault')} in {counted(faults.matches, 'match')}: {', '.join(counts)}"
        )
    for bot, why in faults.disqualified.items():
        lost = f"; it lost {counted(faults.lost[bot], 'match')} without playing" if faults.lost[bot] else ""
        yield from wrapped(f"{bot} was {why}{lost}.")
    groups = faults.groups()
    # The most frequent cause of each bot comes before the second cause of any bot.
    first = {id(group) for group in {group.bot: group for group in reversed(groups)}.values()}
    groups.sort(key=lambda group: id(group) not in first)
    for group in groups[:IN_FULL]:
        yield ""
        yield from _in_full(group, hints)
    if len(groups) > IN_FULL:
        yield ""
    for group in groups[IN_FULL : IN_FULL + IN_SHORT]:
        yield from wrapped(f"{_headline(group)}; first in {_place(group.first)}")
    more = sum(group.count for group in groups[IN_FULL + IN_SHORT :]) + faults.more
    if more:
        yield f"{counted(more, 'fault')} of other causes are in the records."


def _in_full(group: FaultGroup, hints: Hints) -> Iterator[str]:
    yield from wrapped(_headline(group))
    yield f"  first in {_place(group.first)}" + (":" if group.first.detail.strip() else "")
    for line in group.first.detail.strip().splitlines()[-SAID_LINES:]:
        yield from textwrap.wrap(
            printable(line), WIDTH, initial_indent="    ", subsequent_indent="      ", max_lines=3, placeholder=" ..."
        )
    yield from (f"  {hint}" for hint in hints(group))


def _headline(group: FaultGroup) -> str:
    return f"{group.bot}: {group.cause}, {counted(group.count, 'time')} in {group.game}"


def _place(example: FaultExample) -> str:
    return f"{example.match}, decision {example.decision}"


def counted(number: int, thing: str) -> str:
    """Return a number with its noun: `"1 fault"`, `"2 faults"`, `"1,000 matches"`."""
    plural = "" if number == 1 else "es" if thing.endswith("ch") else "s"
    return f"{number:,} {thing}{plural}"


def wrapped(text: str, indent: str = "") -> list[str]:
    """Return the text in lines that fit a terminal of 80 columns."""
    return textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False,
    )  # fmt: skip


def fault_fields(faults: FaultGroups) -> Fields:
    """Return the faults as plain data."""
    groups = [
        {
            "bot": group.bot,
            "game": group.game,
            "kind": group.kind,
            "cause": group.cause,
            "count": group.count,
            "match": group.first.match,
            "decision": group.first.decision,
            "detail": group.first.detail,
        }
        for group in faults.groups()
    ]
    return {"faults": faults.total, "causes": groups, "disqualified": faults.disqualified}


def calls(group: FaultGroup) -> list[str]:
    """Return the calls that show a fault in a notebook."""
    first = group.first
    return [f"the position: run.replay({first.match!r}).view({first.decision})"]


# Sentences about sandboxed bots and missing guarantees.


NAMED = 5
"""Bots that a sentence names; further ones are counted."""


def not_enforced(entrants: Iterable[Entrant], isolate: Isolation) -> list[str]:
    """Return a sentence for each guarantee that this machine cannot enforce; none if no bot is sandboxed."""
    if not any(is_confined(entrant.untrusted, isolate) for entrant in entrants):
        return []
    lacking, polled = _lacking()
    return [*lacking, *([POLLED] if polled and isolate == "on" else [])]


POLLED = (
    "this machine has no cgroup (v2) to use, so the memory limit of a bot is enforced by polling: with several "
    "processes it can exceed the limit for a moment."
)


@cache
def _lacking() -> tuple[tuple[str, ...], bool]:
    """Return a sentence for each guarantee that is not enforced, and whether memory is limited by polling.

    The machine is probed once per process: a notebook plays one match after the other.
    """
    try:
        from harness.isolation.doctor import probe  # loads the sandbox, which most runs do not need

        found = probe()
    except UsageError as error:
        return (f"bots are confined only as far as this machine allows: {error}",), False
    sentences = tuple(
        f"this machine does not enforce that {guarantee.text}: 'arena doctor' has details."
        for guarantee in found
        if not guarantee.enforced
    )
    return sentences, any(guarantee.by in ("process", "arena") for guarantee in found)


def mixed_table(entrants: Iterable[Entrant], isolate: Isolation) -> str:
    """Return a sentence if sandboxed bots meet bots that play in this process, from which nothing is hidden."""
    known = list(entrants)
    apart = [_with_reason(one) for one in known if is_confined(one.untrusted, isolate)]
    here = [one.name for one in known if not is_confined(one.untrusted, isolate)]
    if not apart or not here:
        return ""
    return (
        f"Sandboxed: {_listed(apart)}. Trusted like your own code, in Arena's process: {_listed(here)}; "
        "--isolate=on (in Python isolate='on') sandboxes all."
    )


def _with_reason(entrant: Entrant) -> str:
    """Return the name of a bot; for an untrusted file with the reason, because users may expect it to be trusted."""
    why = f" ({entrant.untrusted})" if entrant.untrusted and entrant.sources else ""
    return entrant.name + why


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


# Warnings on stderr before a run: which bots are sandboxed, and what this machine does not enforce.


def warn_about_isolation(
    entrants: Mapping[str, Entrant],
    isolate: Isolation,
    quiet: bool = False,
    run: RunFolder | None = None,
    here: bool = True,
) -> None:
    """Print warnings about guarantees that are not enforced, and about bots isolated differently than a `run` says.

    Unless `quiet`, also print which bots are sandboxed if not all are, and which files play in this process for the
    first time. If bots do not play `here`, the nodes of the cluster report what they cannot enforce.
    """
    if isolate != "off" and not quiet:
        own = [one.source for one in entrants.values() if one.sources and not is_confined(one.untrusted, isolate)]
        if own and (new := played_for_the_first_time(dict.fromkeys(own))):
            many = len(new) > 1
            _say(
                f"{_listed(new)} {'run' if many else 'runs'} in Arena's process, with your rights. If you did not "
                f"write {'them' if many else 'it'}, use --isolate=on (in Python isolate='on')."
            )
    if isolate == "off" or (isolate == "auto" and not any(entrant.untrusted for entrant in entrants.values())):
        return
    for sentence in (
        not_enforced(entrants.values(), isolate) if here and isolate != "strict" else ()
    ):  # strict refuses to run
        _say(f"Warning: {sentence}")
    otherwise = kept_otherwise(run, isolate, entrants.values()) if run else ""
    if otherwise:
        _say(f"Warning: {otherwise}")
    mixed = mixed_table(entrants.values(), isolate)
    if mixed and not quiet:
        _say(mixed)


def _say(text: str) -> None:
    print_lines(wrapped(text))


def print_lines(lines: Iterable[str]) -> None:
    """Print lines to stderr, wrapped to the terminal."""
    sys.stderr.writelines(f"{fitted(printable(line), sys.stderr)}\n" for line in lines)
