"""Comparisons as people read them."""

from __future__ import annotations

from harness.bench.cli import arenas_table, breakdown_table, peers_table
from harness.bench.engine import TimeBreakdown
from harness.bench.timing import Ratio, SpeedComparison, SpeedRow

HERE = "arena 0.1.0 (pure Python), Python 3.11.7"


def row(against, workload, game, ratio, counts=None):
    speed = SpeedComparison(1000.0 * ratio, 1000.0, Ratio(ratio, ratio / 2, ratio * 2))
    return SpeedRow(against, workload, f"{against} 1.5", HERE, game, 4, speed, counts)


def words(table):
    return [line.split() for line in table.splitlines()]


def test_the_peers_table_has_a_row_for_each_loop_and_a_column_for_each_game():
    rows = [
        row("ludo", work, game, ratio) for work, ratio in (("fast", 2), ("slow", 8)) for game in ("el-paso", "x-pasch")
    ]
    table = words(peers_table(rows))
    assert table[0][-3:] == ["theirs", "el-paso", "x-pasch"]
    assert table[2] == ["ludo:", "fast", "1,000", *["2.00", "(1.00-4.00)"] * 2]
    assert table[3] == ["ludo:", "slow", "1,000", *["8.00", "(4.00-16.0)"] * 2]
    assert "ours: el-paso 5,000, x-pasch 5,000 decisions/s" in peers_table(rows)
    assert peers_table(rows).endswith("ludo: ludo 1.5")


def test_instructions_have_a_separate_table_in_the_comparison_with_peers():
    table = words(peers_table([row("ludo", "fast", "el-paso", 2, (50.0, 200.0))]))
    assert table[6] == ["ludo:", "fast", "200", "4.00"]


def test_the_table_of_two_arena_installations_has_a_row_for_each_game():
    table = words(arenas_table([row("/venv/bin/python", "", "el-paso", 2.5, (50.0, 150.0))]))
    assert table[2] == ["el-paso", "2,500", "1,000", "2.50", "(1.25-5.00)", "50", "150", "3.00"]


def test_a_missing_value_is_shown_as_a_dash():
    here = TimeBreakdown("el-paso", 4, "", HERE, 8.0, "microseconds", {"steps": 0.6, "legal lists": 0.4})
    there = TimeBreakdown(
        "el-paso",
        4,
        "/venv/bin/python",
        "arena 0.2.0 (compiled)",
        4.0,
        "microseconds",
        {"steps, with legal lists": 1.0},
    )
    table = breakdown_table([here, there])
    assert [line.split()[-2:] for line in table.splitlines()[2:6]] == [
        ["60%", "-"], ["40%", "-"], ["-", "100%"], ["8.00", "4.00"],
    ]  # fmt: skip
    assert table.endswith("[1]: arena 0.2.0 (compiled) (/venv/bin/python)")
