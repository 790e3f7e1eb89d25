"""What bots print says who printed it in which match."""

from __future__ import annotations

from harness.core.records import MAX_SEATS, MatchSpec
from harness.match.referee import ASKING, IDLE
from harness.match.stdio import MAX_PRINTED_BYTES, TRUNCATED, MatchStdout, TaggedLines, current_match

SPEC = MatchSpec.single("sim-1.1.1", "sim", {}, 1, ("one", "two"))


def listening(status):
    heard = []
    return MatchStdout(SPEC, status, heard.append, b""), heard


def test_printed_lines_are_tagged_with_the_bot_that_is_being_asked():
    status = [0.0, 0.0, 0.0]
    stdout, heard = listening(status)
    assert current_match() == SPEC.id
    for seat, decision in ((0, 0), (1, 5), (0, 7)):
        status[ASKING] = decision * MAX_SEATS + seat
        print("hello", seat, file=stdout)
    status[ASKING] = IDLE
    print("nobody", file=stdout)
    stdout.end()
    assert b"".join(heard).decode().splitlines() == [
        "[one sim-1.1.1] hello 0", "[two sim-1.1.1] hello 1", "[one sim-1.1.1] hello 0", "[sim-1.1.1] nobody",
    ]  # fmt: skip
    assert current_match() == ""


def test_a_partial_line_is_held_until_its_end_another_bot_or_a_flush():
    heard = []
    lines = TaggedLines(heard.append)
    lines.add(b"a ", b"one ")
    assert heard == []
    lines.add(b"a ", b"line\ntwo")
    assert heard == [b"a one line\n"]
    lines.add(b"b ", b"x\n")
    assert heard[1:] == [b"a two", b"\n", b"b x\n"]
    lines.add(b"b ", b"is it")
    lines.flush_partial()
    lines.add(b"b ", b" me\n")
    assert b"".join(heard[4:]) == b"b is it me\n"
    lines.add(b"b ", b"end")
    lines.end()
    assert b"".join(heard).endswith(b"b end\n")


def test_a_bot_that_prints_too_much_is_cut_off_and_others_are_not():
    heard = []
    lines = TaggedLines(heard.append)
    for _ in range(100):
        lines.add(b"a ", b"x" * 5000)
        lines.add(b"b ", b"quiet\n")
    text = b"".join(heard)
    assert text.count(b"x") == MAX_PRINTED_BYTES
    assert text.count(TRUNCATED) == 1
    assert b"a " + TRUNCATED in text
    assert text.count(b"b quiet\n") == 100


def test_a_child_that_a_bot_forks_still_prints():
    status = memoryview(bytearray(24)).cast("d")
    stdout, heard = listening(status)
    status.release()
    print("forked", file=stdout)
    assert heard == [b"[sim-1.1.1] forked\n"]


def test_the_output_of_a_debugger_is_neither_tagged_nor_cut():
    stdout, heard = listening([0.0] * 3)
    exec(compile("print('x' * 100_000, file=out)", "pdb", "exec"), {"__name__": "pdb", "out": stdout})  # noqa: S102 - as if pdb did it
    assert b"".join(heard) == b"x" * 100_000 + b"\n"
