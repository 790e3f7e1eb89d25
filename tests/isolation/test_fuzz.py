"""The protocol under fire: whatever a program sends, it is a fault or an answer; no exception escapes, nothing hangs.

ARENA_FUZZ_SECONDS sets how long the long form takes; it is run with --slow.
"""

from __future__ import annotations

import os
import random
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.executors.serial import SerialExecutor
from harness.isolation.entrants import enter_command
from harness.isolation.protocol import Choice, FaultReport, Introduction, InvalidMessage, Ready, decode_reply, encode
from harness.match.faults import Limits
from harness.match.replay import verify
from harness.plugins.entrants import BotRef
from tests.isolation.support import GAMES, REGISTRY, job, seated
from tests.support.waiting import PATIENCE

LONG = float(os.environ.get("ARENA_FUZZ_SECONDS", "1800"))
QUICK = Limits(move_time=0.15, margin=0.05)
GOOD = [Introduction(1, "n", "v", ("g",)), Ready(3), Choice(3, 7), FaultReport(3, "exception", "why")]

json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["type", "id", "code"]), inner),
    max_leaves=8,
)


@pytest.mark.parametrize("message", GOOD, ids=lambda message: type(message).__name__)
def test_good_messages_are_read(message):
    assert decode_reply(encode(message)) == message


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=300) | json_like.map(encode))
def test_random_bytes_decode_or_raise_invalid_message(line):
    try:
        decode_reply(line)
    except InvalidMessage as error:
        assert len(str(error)) < 1000


def mutate(line, rng):
    data = bytearray(line)
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(data) + 1)
        match rng.randrange(4):
            case 0:
                data[at:at] = rng.randbytes(rng.randrange(1, 5))
            case 1:
                del data[at : at + rng.randrange(1, 5)]
            case 2:
                data[at:at] = rng.choice([b'"', b"\\", b"{", b"[", b"\xff", b"1e999", b"null", b"\n"]) * rng.randrange(
                    1, 9
                )
            case _:
                data[at:at] = data[: rng.randrange(len(data) + 1)]
    return bytes(data)


def fuzz_parser(seconds, seed):
    rng = random.Random(seed)
    lines = [encode(message) for message in GOOD]
    until, tried = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        for _ in range(1000):
            tried += 1
            try:
                decode_reply(mutate(rng.choice(lines), rng))
            except InvalidMessage:
                continue
    return tried


def fuzz_sessions(seconds, seed):
    """Matches against programs that send nonsense: every one ends, and is blamed on nobody else."""
    script = Path(__file__).with_name("fuzzer.py")
    until, matches, faults, number = time.monotonic() + seconds, 0, 0, 0
    while time.monotonic() < until:
        number += 1
        command = f"{sys.executable} -S {script} {seed + number}"
        fuzzer = enter_command(BotRef("fuzzer", command=command), "on")
        with SerialExecutor(seated([*REGISTRY.entrants(["random"]), fuzzer], "on", QUICK), QUICK) as executor:
            for _ in range(6):
                began = time.monotonic()
                [(record, *_)] = executor.run([job(matches, "el-paso", "random", "fuzzer")])
                matches += 1
                faults += len(record.faults)
                assert time.monotonic() - began < PATIENCE
                blamed = {record.seats[fault.seat] for fault in record.faults if fault.kind != "timeout"}
                assert blamed <= {"fuzzer"}  # on a busy machine a good bot may be late, too
                verify(GAMES["el-paso"], record)
    return matches, faults


def test_the_parser_survives_a_short_fuzz():
    assert fuzz_parser(1.0, 1) > 1000


def test_sessions_survive_a_short_fuzz():
    matches, faults = fuzz_sessions(3.0, 1)
    assert matches >= 6
    assert faults > 0


@pytest.mark.slow
def test_the_parser_survives_a_long_fuzz():
    fuzz_parser(LONG / 2, time.time_ns())


@pytest.mark.slow
def test_sessions_survive_a_long_fuzz():
    fuzz_sessions(LONG / 2, time.time_ns() % 10**9)
