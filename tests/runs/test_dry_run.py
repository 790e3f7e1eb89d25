from harness.core.plan import GamePlan, Plan
from harness.output.tables import grid_text
from harness.runs import setup
from harness.runs.setup import BotBalance, GameBalance
from tests.formats.support import plan, scheduled


def test_a_round_robin_of_three_is_counted() -> None:
    asked = Plan((GamePlan("game", "1", {}, 2, ("a", "b", "c")),), 5, 1)
    assert setup.report(scheduled(asked)) == [
        GameBalance(
            "game",
            30,
            (
                BotBalance("a", 20, (10, 10), 10, 10),
                BotBalance("b", 20, (10, 10), 10, 10),
                BotBalance("c", 20, (10, 10), 10, 10),
            ),
        )
    ]


def test_bots_that_never_meet_are_counted_as_zero_meetings() -> None:
    (found,) = setup.report(scheduled(plan(6, 3, "gauntlet", candidates=("bot00", "bot01"))))
    assert found.bots[0].least == 0
    assert found.bots[0].most == found.bots[1].most == 9
    assert found.bots[2].least == 6


def test_the_report_of_a_long_run_measures_only_its_first_matches() -> None:
    (found,) = setup.report(scheduled(plan(6, 4, deals=10**9)), most=600)
    assert found.matches == 600
    assert {bot.matches for bot in found.bots} == {400}


def test_the_table_has_a_line_for_each_bot_and_a_column_for_each_seat() -> None:
    (table,) = setup.balance_tables(setup.report(scheduled(Plan((GamePlan("game", "1", {}, 2, ("a", "b")),), 5, 1))))
    assert table.title == "game: 10 matches of 2 bots"
    assert grid_text(table) == (
        "bot      matches    seat 0    seat 1    met least    met most\n"
        "-----  ---------  --------  --------  -----------  ----------\n"
        "a             10         5         5           10          10\n"
        "b             10         5         5           10          10"
    )


def test_adaptive_formats_are_simulated() -> None:
    (found,) = setup.report(scheduled(plan(8, 4, "swiss", deals=2, rounds=3)))
    assert found.matches == 48
    assert all(len(set(bot.seats)) == 1 for bot in found.bots)


def test_a_schedule_without_matches_gives_an_empty_report() -> None:
    assert setup.measure([]) == []
    assert list(setup.balance_tables([])) == []
