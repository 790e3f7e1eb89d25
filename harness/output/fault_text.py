"""What bots did wrong in a run, in words for the person at the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from shlex import join

from harness.match.bot_prints import log_of
from harness.output.columns import Fields
from harness.runs.fault_groups import FaultExample, FaultGroup, FaultGroups
from harness.runs.store import LOGS

IN_FULL = 8
"""Causes that are told with what the bot said, and with how to see it."""
IN_SHORT = 12
"""Causes that are named after those."""
SAID_LINES = 4
"""How much of a traceback is shown: its last lines."""
WIDTH = 79

Hints = Callable[[FaultGroup], list[str]]
"""What to type to see a fault, line by line."""


def fault_lines(faults: FaultGroups, hints: Hints) -> Iterator[str]:
    """Each bot that failed: how often, by cause, where first, what it said, and how to see it."""
    told = [f"{bot} {count:,}" for bot, count in faults.by_bot.most_common()]
    if told:
        yield from wrapped(f"{counted(faults.total, 'fault')} in {counted(faults.matches, 'match')}: {', '.join(told)}")
    for bot, why in faults.disqualified.items():
        lost = f"; it lost {counted(faults.lost[bot], 'match')} without playing" if faults.lost[bot] else ""
        yield from wrapped(f"{bot} was {why}{lost}.")
    groups = faults.groups()
    # Everybody's most frequent cause in full, before the second one of anybody.
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
        plain = "".join(letter if letter.isprintable() else "?" for letter in line)
        yield from textwrap.wrap(
            plain, WIDTH, initial_indent="    ", subsequent_indent="      ", max_lines=3, placeholder=" ..."
        )
    yield from (f"  {hint}" for hint in hints(group))


def _headline(group: FaultGroup) -> str:
    return f"{group.bot}: {group.cause}, {counted(group.count, 'time')} in {group.game}"


def _place(example: FaultExample) -> str:
    return f"{example.match}, decision {example.decision}"


def counted(number: int, thing: str) -> str:
    """`"1 fault"`, `"2 faults"`, `"1,000 matches"`."""
    plural = "" if number == 1 else "es" if thing.endswith("ch") else "s"
    return f"{number:,} {thing}{plural}"


def wrapped(text: str, indent: str = "") -> list[str]:
    """The text in lines that fit a terminal of 80 columns."""
    return textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False,
    )  # fmt: skip


def fault_fields(faults: FaultGroups) -> Fields:
    """The same for programs."""
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


def commands(run: Path, specs: Mapping[str, str], move_time: float = 0.0) -> Hints:
    """The commands that show a fault of this run, and put it to a mended bot; `specs` says how to enter each bot.

    One that may hang, or end its process, is asked in a process of its own, within the time that the run had.
    """

    def hints(group: FaultGroup) -> list[str]:
        first = group.first
        again = ["arena", "ask", specs.get(group.bot, group.bot), str(run), first.match, "--fault"]
        if group.kind == "timeout" and move_time:
            again += ["--move-time", f"{move_time:g}"]
        elif group.kind in ("timeout", "crash", "memory"):
            again += ["--isolate", "on"]
        log = log_of(run / LOGS, group.bot)
        return [
            "the position: " + join(["arena", "replay", str(run), first.match, "--seat", str(first.seat)]),
            "once mended:  " + join(again),
            *([f"what it printed: {log}"] if log.exists() else []),
        ]

    return hints


def calls(group: FaultGroup) -> list[str]:
    """The calls that show a fault in a notebook."""
    first = group.first
    return [f"the position: run.replay({first.match!r}).view({first.decision})"]
