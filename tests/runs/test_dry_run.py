from types import SimpleNamespace

from harness.core.plan import GamePlan, Plan
from harness.output.tables import grid_text
from harness.runs.planning import balance_tables
from tests.formats.support import plan, scheduled


def test_a_round_robin_of_three_is_counted() -> None:
    asked = Plan((GamePlan("game", "1", {}, 2, ("a", "b", "c")),), 5, 1)
    (table,) = balance_tables(scheduled(asked))
    assert table.title == "game: 30 matches of 3 bots"
    assert [list(row.values()) for row in table.rows] == [[bot, 20, 10, 10, 10, 10] for bot in "abc"]


def test_bots_that_never_meet_are_counted_as_zero_meetings() -> None:
    (table,) = balance_tables(scheduled(plan(6, 3, "gauntlet", candidates=("bot00", "bot01"))))
    assert table.rows[0]["met least"] == 0
    assert table.rows[0]["met most"] == table.rows[1]["met most"] == 9
    assert table.rows[2]["met least"] == 6


def test_the_tables_of_a_long_run_count_only_its_first_matches() -> None:
    (table,) = balance_tables(scheduled(plan(6, 4, deals=10**9)), most=600)
    assert table.title == "game: 600 matches of 6 bots"
    assert {row["matches"] for row in table.rows} == {400}


def test_the_table_has_a_line_for_each_bot_and_a_column_for_each_seat() -> None:
    (table,) = balance_tables(scheduled(Plan((GamePlan("game", "1", {}, 2, ("a", "b")),), 5, 1)))
    assert table.title == "game: 10 matches of 2 bots"
    assert grid_text(table) == (
        "bot      matches    seat 0    seat 1    met least    met most\n"
        "-----  ---------  --------  --------  -----------  ----------\n"
        "a             10         5         5           10          10\n"
        "b             10         5         5           10          10"
    )


def test_adaptive_formats_are_simulated() -> None:
    (table,) = balance_tables(scheduled(plan(8, 4, "swiss", deals=2, rounds=3)))
    assert table.title == "game: 48 matches of 8 bots"
    assert all(len({row[f"seat {seat}"] for seat in range(4)}) == 1 for row in table.rows)


def test_a_schedule_without_matches_gives_no_tables() -> None:
    empty = SimpleNamespace(adaptive=False, simulated=lambda: iter(()))
    assert list(balance_tables(empty)) == []
