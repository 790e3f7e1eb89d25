"""Faults have causes: the same one whenever the same thing goes wrong, whatever the bot said."""

from __future__ import annotations

import pytest

from harness.core.records import Fault
from harness.match.faults import cause_of, detail_of
from harness.runs.monitor import FaultGroups
from tests.ratings.simulate import record

TRACE = "sprinter.py:10 in choose: return self.look(actions)\nsprinter.py:15 in look: return actions[{n}]\n{said}"


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        (Fault(0, "exception", 1, TRACE.format(n=1, said="IndexError: no 7")), "IndexError at sprinter.py:15"),
        (Fault(0, "exception", 1, "mine.py:3 in choose: \nOops"), "Oops at mine.py:3"),
        (
            Fault(0, "exception", 1, "mine.py:3 in choose: x\nrandom.py:9 in choice: y\nIndexError: a\nb.py:1 c"),
            "IndexError at mine.py:3",
        ),
        (
            Fault(0, "exception", 0, "entrants.py:45 in seat: x\nmine.py:9 in __init__: y\nKeyError: 'a'"),
            "KeyError at mine.py:9",
        ),
        (Fault(0, "exception", 1, "TypeError: x is undefined\n    at choose (bot.js:12:3)"), "TypeError"),
        (Fault(0, "exception", 1, "what a day"), "exception"),
        (Fault(0, "memory", 1, "mine.py:3 in choose: x\nMemoryError: "), "MemoryError at mine.py:3"),
        (Fault(0, "memory", 1, "its process ended: exit code 1"), "memory"),
        (Fault(0, "illegal", 1, "answered 7, which is not one of: a, b", "play"), "illegal action in phase play"),
        (Fault(0, "illegal", 1, "answered 7, which is not one of: a, b"), "illegal action"),
        (Fault(0, "illegal", 1, "sent what is no message: '{'", "play"), "illegal: sent what is no message"),
        (Fault(0, "timeout", 1, "took 1.234 s for one decision; 1 s are allowed"), "timeout"),
        (Fault(0, "crash", 1, "its process died twice at this decision: SIGSEGV"), "crash, SIGSEGV"),
        (Fault(0, "crash", 1, "its process ended: exit code 3: boom"), "crash, exit code 3"),
        (Fault(0, "crash", 1, ""), "crash"),
    ],
)
def test_a_fault_has_a_cause(fault, cause):
    assert cause_of(fault) == cause


def test_a_long_message_does_not_hide_the_line_of_the_error():
    try:
        int("x" * 4000)
    except ValueError as error:
        detail = detail_of(error, "referee.py")
    assert cause_of(Fault(0, "exception", 0, detail)).startswith("ValueError at test_faults.py:")


def test_faults_of_one_cause_are_counted_together_in_any_order():
    records = [
        record("ab", (1, 2), index=n, faults=(Fault(0, "exception", n, TRACE.format(n=n, said=f"IndexError: {n}")),))
        for n in range(5)
    ]
    records.append(record("ab", (1, 2), index=5, faults=(Fault(1, "timeout", 0, "took 3 s"),)))
    for order in (records, records[::-1]):
        found = FaultGroups()
        for one in order:
            found.add(one)
        often, seldom = found
        assert (often.bot, often.cause, often.count) == ("a", "IndexError at sprinter.py:15", 5)
        assert (often.first.match, often.first.decision) == ("sim-1.1.0", 0)
        assert (seldom.bot, seldom.count) == ("b", 1)
        assert (found.total, found.matches, found.by_bot["a"]) == (6, 6, 5)


def test_a_disqualification_is_not_counted_as_a_fault():
    why = "disqualified after 3 faults, the last in sim-1.1.0"
    lost = record("ab", (1, 2), faults=(Fault(0, "disqualified", 0, why),))
    found = FaultGroups()
    found.add(lost)
    assert (found.total, found.matches, list(found)) == (0, 0, [])
    assert (found.disqualified, found.lost["a"]) == ({"a": why}, 1)
    assert lost.failures == ()
