"""What a bot says to decisions of a match, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import TYPE_CHECKING

from harness.match.ask_again import AskedDecision, FailureNow
from harness.match.narration import names_at, note_text, sentences, table_with_names

if TYPE_CHECKING:
    from harness.match.asked import Asked


def sentences_of(asked: Asked, width: int) -> Iterator[str]:
    """Line by line: which match and who is asked in whose place, then the decision, or where the two differ."""
    record, seat = asked.record, asked.seat
    yield f"{record.id}: {asked.game.title}, deal {record.seed}"
    here = "asked again" if record.seats[seat] == asked.bot else f"{asked.bot} is asked in its place"
    for at, name in enumerate(record.seats):
        yield f"  seat {at}: {name}" + (f"  <- {here}" if at == seat else "")
    yield ""
    if asked.target is None:
        yield from _whole_match(asked, width)
    else:
        yield from _one_decision(asked, width)


def _one_decision(asked: Asked, width: int) -> Iterator[str]:
    [one] = asked.decisions
    record, at = asked.record, one.position
    names = names_at(record.seats)
    if at.decision != asked.target:
        yield f"Decision {asked.target} is not reached: {asked.bot} fails before, at this one."
    yield f"Decision {at.decision} of {len(record.actions)} ({at.view.phase}), as {names[asked.seat]} saw it"
    for sentence in sentences(asked.game, one.news, asked.seat, names):
        yield from _wrapped("  - ", sentence, width)
    yield ""
    yield table_with_names(asked.game.render(at.view), record.seats, asked.seat)
    yield ""
    if asked.fault is not None:
        yield from _wrapped("fault  ", f"{asked.fault.kind} at decision {asked.fault.decision}", width)
        yield from (f"       {line}" for line in asked.fault.detail.splitlines())
    yield from _wrapped("then   ", _then(one), width)
    yield from _noted("       note: ", at.notes, width)
    if one.failure is None:
        yield from _wrapped("now    ", str(one.now), width)
    else:
        yield from _failed("now    ", one.failure, width)
    yield from _noted("       note: ", one.notes, width)
    yield from _wrapped("of     ", ", ".join(map(str, at.legal)), width)
    if asked.cost is not None:
        cost = asked.cost
        yield from _wrapped(
            "cost   ",
            f"about {cost.points:.3g} ± {cost.error:.2g} points against {cost.best}, by random play from "
            f"{cost.worlds} imagined worlds",
            width,
        )
    if one.failure is None:
        yield ""
        same = "It chooses otherwise now." if one.differs else "It chooses the same."
        yield "It answers now, where a stand-in had to." if at.stand_in else same


def _then(one: AskedDecision) -> str:
    return f"{one.position.chosen}{' (by the stand-in of a bot that had failed)' if one.position.stand_in else ''}"


def _failed(first: str, failure: FailureNow, width: int) -> Iterator[str]:
    yield f"{first}fails: {failure.kind}"
    indent = " " * len(first)
    if failure.kind == "exception":  # a traceback, whose lines stay as they are
        yield from (f"{indent}{line}" for line in failure.detail.splitlines())
    else:
        yield from _wrapped(indent, failure.detail, width)


def _whole_match(asked: Asked, width: int) -> Iterator[str]:
    name, shown = names_at(asked.record.seats)[asked.seat], asked.differences
    for one in asked.decisions:
        first = f"{one.position.decision:4}  "
        if one.failure is not None:
            yield from _wrapped(first, f"then {_then(one)}", width)
            yield from _failed("      now ", one.failure, width)
        elif one.differs:
            yield from _wrapped(first, f"then {_then(one)}, now {one.now}", width)
        else:
            continue
        yield from _noted("      note then: ", one.position.notes, width)
        yield from _noted("      note now: ", one.notes, width)
    if shown or asked.failure:
        yield ""
    same = sum(1 for one in asked.decisions if not one.differs)
    total = _counted(len(asked.decisions), "decision")
    whose = "" if name == asked.bot else f" of {name}"
    said = f"{asked.bot} was asked at {total}{whose}: {same} the same, {len(shown)} otherwise now."
    if asked.failure is not None:
        said += f" It fails at decision {asked.decisions[-1].position.decision}, and is asked no more."
    stand_ins = sum(1 for one in shown if one.position.stand_in)
    if stand_ins:
        said += f" Of these, {stand_ins} had been chosen by the stand-in of a bot that had failed."
    yield from _wrapped("", said, width)


def _noted(first: str, notes: Iterable[object], width: int) -> Iterator[str]:
    for said in notes:
        yield from _wrapped(first, note_text(said), width)


def _counted(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number} {what}s"


def _wrapped(first: str, text: str, width: int) -> Iterator[str]:
    """The text in lines of this width, each indented as far as what stands before the first."""
    indent = " " * len(first)
    for line in text.splitlines() or [""]:
        yield from wrap(line, width - 1, initial_indent=first, subsequent_indent=indent) or [first.rstrip()]
        first = indent
