"""The printed lines of a match of Gnadenlos!, held one after the other against what the rules expect."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

Thing = TypeVar("Thing", bound=tuple[Any, ...])


class Disagreement(Exception):
    """The lines say something else than the rules."""


class Script:
    """The lines, one after the other, each held against what the rules expect."""

    def __init__(self, lines: Iterable[dict[str, Any]]) -> None:
        self.lines = list(lines)
        self.number = 0
        self._decisions = 0
        self._codes: dict[int, str] = {}
        self._actions: dict[str, int] = {}
        self.stand_ins: set[int] = set()

    def agree(self, what: str, found: object, expected: object) -> None:
        """As JSON: a tuple is a list, but true is not 1."""
        if json.dumps(found, sort_keys=True) != json.dumps(expected, sort_keys=True):
            raise Disagreement(f"line {self.number}: {what}: {found!r} is printed, the rules say {expected!r}")

    def _peek(self) -> dict[str, Any]:
        if self.number >= len(self.lines):
            raise Disagreement(f"the lines stop after {self.number}, the match goes on")
        return self.lines[self.number]

    def next(self, kind: str) -> dict[str, Any]:
        line = self._peek()
        self.number += 1
        self.agree("type of line", line["type"], kind)
        return line

    def luck(self, event: str, fact: str) -> Any:
        """What chance decided, out of the event that comes next; `event` must then be called for all of it."""
        line = self._peek()
        self.agree("what happens", line.get("event"), event)
        return line["data"][fact]

    def event(self, event: str, to: str | list[int] = "all", /, **data: object) -> None:
        line = self.next("event")
        self.agree("what happens", line["event"], event)
        self.agree(f"facts of {event}", line["data"], data)
        self.agree(f"who sees {event} (GN-41)", line["to"], to)

    def shuffled(self, event: str, fact: str, things: Sequence[Thing], **data: object) -> list[Thing]:
        """The order, seen by nobody, into which chance brought the things."""
        order: list[Any] = [tuple(thing) for thing in self.luck(event, fact)]
        self.agree(f"what is shuffled in {event}", sorted(order), sorted(things))
        self.event(event, [], **{fact: order}, **data)
        return order

    def choice(self, seat: int, kind: str, legal: list[dict[str, Any]]) -> dict[str, Any]:
        """The action that was taken, out of the legal ones."""
        line = self.next("choice")
        self.agree("who chooses what", [line["seat"], line["kind"]], [seat, kind])
        printed = [{key: one[key] for key in one.keys() - {"code", "text"}} for one in line["legal"]]
        self.agree("legal actions", printed, legal)
        self._asked(line, seat, forced=len(legal) == 1)
        codes = [action["code"] for action in line["legal"]]
        for code, action in zip(codes, map(json.dumps, legal), strict=True):  # one code for one action, all through
            self.agree(f"action of code {code}", self._codes.setdefault(code, action), action)
            self.agree(f"code of {action}", self._actions.setdefault(action, code), code)
        if line["taken"] not in codes:
            raise Disagreement(f"line {self.number}: the action taken, {line['taken']}, is not legal")
        return legal[codes.index(line["taken"])]

    def _asked(self, line: dict[str, Any], seat: int, forced: bool) -> None:
        self.agree("forced", line["forced"], forced)
        self.agree("number of the decision", line["decision"], None if forced else self._decisions)
        self._decisions += not forced
        if not forced and line["by"] == "stand-in":
            self.stand_ins.add(seat)
        by = "rules" if forced else "stand-in" if seat in self.stand_ins else "bot"
        self.agree("who chose", line["by"], by)
