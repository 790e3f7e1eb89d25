"""Instructions are counted where there is valgrind, and starting a process is no part of them."""

from __future__ import annotations

import shutil

import pytest

from harness.bench.timing import count_instructions
from tests.support.cli import arena

LOOP = """
def prepare(workload):
    turns = int(workload)
    def match(seed):
        total = 0
        for number in range(turns):
            total += number
        return 100
    return match
def versions():
    return {}
"""

needs_valgrind = pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed")


@needs_valgrind
def test_starting_a_process_is_not_counted(tmp_path):
    loop = tmp_path / "turns.py"
    loop.write_text(LOOP)
    # One turn for each of what it calls decisions; a share of the start would be 30,000 instructions for each of them.
    assert 10 < count_instructions(None, loop, "100") < 3_000


@needs_valgrind
@pytest.mark.slow
def test_a_loop_with_twice_the_turns_takes_twice_the_instructions(tmp_path):
    loop = tmp_path / "turns.py"
    loop.write_text(LOOP)
    once, twice = count_instructions(None, loop, "10000"), count_instructions(None, loop, "20000")
    assert once > 100  # a hundred turns for each of what it calls decisions
    assert twice / once == pytest.approx(2, rel=0.05)


@needs_valgrind
@pytest.mark.slow
def test_the_table_of_games_has_a_line_for_instructions():
    assert "instructions/decision" in arena("bench", "--game", "el-paso", "--seconds", 0.1, "--instructions").stdout


def test_without_valgrind_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setenv("PATH", "")
    for more in ((), ("--against", "chess"), ("--shares",)):
        told = arena("bench", "--instructions", *more, code=2).stderr
        assert "--instructions needs valgrind, which is not installed: try `apt install valgrind`." in told
