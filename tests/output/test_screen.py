"""Tables on a screen: what fits, what it says in sentences, what is loud."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest

from harness.core.errors import UnknownName
from harness.core.records import Fault
from harness.core.table import Table
from harness.output.columns import BY_NAME, COLUMNS, ENTRANT_COLUMNS, chosen_columns, in_words
from harness.output.leaderboard import KINDS, leaderboard_files, leaderboard_table, leaderboard_tables, summary
from harness.output.tables import RED, Layout, colourful, fit, screen_width, shown_width, text_of
from harness.ratings.counts import BotTotals, GameCounts
from harness.ratings.leaderboard import CountsByGame, Leaderboard, Standing
from harness.ratings.skill import SkillFit
from harness.ratings.statistics import Interval
from tests.ratings.simulate import record

SIZES = (4, 24, 100)


def render(boards, table_format="simple", kind="leaderboard", layout=None):
    return text_of(KINDS[kind](boards), table_format, layout)


def board(names, better=(), faults=None, title="el-paso", deals=40, **more):
    """A made-up leaderboard in the order of the names; `better` has significant pairs of places, from 0."""
    counts, size = GameCounts(), len(names)
    standings = []
    for place, name in enumerate(names):
        totals = counts.totals[name] = BotTotals(
            name, place, 1000, 500, 2000, 900 - 800 * place / size, 1000, 45678, 12.0
        )
        totals.faults = (faults or {}).get(name, 0)
        worse, above = {b for a, b in better if a == place}, {a for a, b in better if b == place}
        skill = 32 - 14 * place / size
        standings.append(
            Standing(
                totals.bot,
                totals,
                place + 1,
                1 + len(above),
                size - len(worse),
                Interval(skill, skill - 0.6, skill + 0.6),
                0.3,
                0.5,
                Interval(26129.8, 25000.0, 27259.6),
            )
        )
    for pair in combinations(range(size), 2):
        counts.pairs.add_match(pair, (1, 2), 10)
    significant = frozenset((names[a], names[b]) for a, b in better)
    zeros = [[0.0] * size] * size
    fit = SkillFit([25.0] * size, [0.3] * size, [0.5] * size, zeros, zeros, [30.0] * size, [deals] * size, [0] * size)
    return replace(Leaderboard(title, counts, standings, [], significant, fit), **more)


def named(count, stem="bot-with-a-name"):
    return [f"{stem}-{number}" for number in range(count)]


def widest(text):
    return max(shown_width(line) for line in text.splitlines())


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("stem", ["bot", "a-bot-with-options:depth=12,weights=lots,explore=0.7071,version"])
def test_a_leaderboard_fits_80_columns(count, stem):
    names = named(count, stem)
    made = board(names, [(0, count - 1)], faults={names[-1]: 12})
    text = render([made], layout=Layout())
    assert widest(text) <= 80
    lines = text.splitlines()
    assert lines[2].split() == ["place", "range", "bot", "skill", "beats", "matches", "FAULTS"]
    rows = lines[4 : 4 + count]
    assert [row.split()[0] for row in rows] == [str(place) for place in range(1, count + 1)]
    assert len({row.split()[2] for row in rows}) == count, "shortened names stay apart"


@pytest.mark.parametrize("width", [60, 100, 132, 200])
def test_a_wide_screen_shows_more_columns_and_a_table_fits_a_narrow_one(width):
    text = render([board(named(5))], layout=Layout(width))
    assert widest(text) <= width
    assert ("wins" in text.splitlines()[2]) == (width > 80)


def test_the_wide_layout_has_every_column_and_full_names():
    name = "x" * 70
    text = render([board([name, "b"], [(0, 1)], faults={"b": 1})], layout=Layout(wide=True))
    assert name in text
    assert all(column.name in text or column.alarm for column in COLUMNS)
    assert "Not shown" not in text
    assert "sigma, cautious (--wide)" in render([board(["a", "b"])], layout=Layout(more="--wide"))


def test_names_that_would_look_alike_when_shortened_are_wrapped():
    names = ["same-beginning-" + middle + "-and-the-same-end-of-it-all-around" for middle in ("one" * 9, "two" * 9)]
    text = render([board(names, faults={names[0]: 1})], layout=Layout())
    assert widest(text) <= 80
    assert "one" in text
    assert "two" in text


def test_columns_are_chosen_by_name():
    table = leaderboard_table(board(["a", "b"], [(0, 1)]), chosen_columns(["place", "mean score", "range", "sigma"]))
    assert table.headers == ["place", "mean score", "range", "sigma"]
    with pytest.raises(UnknownName, match="Did you mean 'mean-score'"):
        chosen_columns(["place", "mean-scroe"])
    assert len(BY_NAME) == len(COLUMNS) + len(ENTRANT_COLUMNS)


def test_faults_are_shown_only_if_there_are_any_and_in_red():
    quiet, loud = board(["a", "b"]), board(["a", "b"], faults={"b": 400})
    assert "fault" not in render([quiet], layout=Layout()).lower()
    text = render([loud], layout=Layout(colour=True))
    assert "FAULTS" in text
    assert f"{RED}   400" in text
    assert f"{RED}     0" not in text
    assert "FAULTS: b in 400 of 1,000 matches. A bot that fails in a match comes last in it." in text.replace("\n", " ")
    assert RED not in render([loud], layout=Layout())
    assert "faults" in leaderboard_files([quiet])["leaderboard.md"].decode()


def test_colours_and_width_follow_the_environment(monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert colourful()
    monkeypatch.setenv("NO_COLOR", "1")
    assert not colourful()
    monkeypatch.setenv("COLUMNS", "133")
    assert screen_width() == 133


def test_files_do_not_depend_on_the_screen(monkeypatch):
    boards = [board(named(4), [(0, 3)], faults={"bot-with-a-name-1": 3})]
    monkeypatch.setenv("COLUMNS", "50")
    narrow = leaderboard_files(boards)
    monkeypatch.setenv("COLUMNS", "250")
    assert leaderboard_files(boards) == narrow
    assert all(column.name in narrow["leaderboard.md"].decode() for column in COLUMNS)


# --- sentences ------------------------------------------------------------------------------------


ALL_OF_THREE = [(0, 1), (0, 2), (1, 2)]


def test_the_summary_of_a_significant_winner_says_that_it_won():
    [told] = summary(board(["outlaw", "diehard", "random"], ALL_OF_THREE))
    assert told == "outlaw won. It is significantly better than every other bot."


def test_the_summary_of_an_open_first_place_names_the_bots_that_may_be_as_good():
    assert summary(board(["tycoon", "hustler", "random"], [(0, 2), (1, 2)])) == [
        "tycoon leads; hustler may be as good."
    ]
    assert summary(board(["a", "b", "c", "d"])) == ["a leads; b, c or d may be as good."]
    assert summary(board(named(24, "b"))) == ["b-0 leads; b-1, b-2 and 21 others may be as good."]


def test_the_summary_of_too_few_deals_says_only_that():
    [told] = summary(board(["a", "b", "c"], enough_deals=False))
    assert told == "Too few deals to say which bot is better."


def test_the_summary_of_an_unfinished_run_claims_nothing():
    [told] = summary(board(["a", "b", "c"], claims_made=False))
    assert told == "a leads. The run is not finished, so nothing is claimed yet."
    [told] = summary(board(["a", "b", "c"], claims_made=False, by_format=True, design="seated"))
    assert told == "a leads. The run is not finished, so nothing is claimed yet."


def test_the_summary_never_says_that_a_bot_that_always_failed_may_be_as_good():
    told, faults = summary(board(["a", "b", "oops"], [(0, 1)], faults={"oops": 1000}))
    assert told == "a won. It is significantly better than every other bot that played without failing."
    assert faults == "FAULTS: oops in 1,000 of 1,000 matches. A bot that fails in a match comes last in it."
    told, _ = summary(board(["a", "b", "oops"], faults={"oops": 1000}))
    assert told == "a leads; b may be as good."


def test_the_summary_of_a_format_with_its_own_result_names_its_winner_only():
    [told] = summary(board(["a", "b", "c"], by_format=True, design="seated"))
    assert told == "a won. Places follow the result of the format, not skill."


def test_the_summary_names_bots_that_beat_the_one_with_the_highest_skill():
    [told] = summary(board(["a", "b", "c"], [(1, 0), (0, 2)]))
    assert told == "a has the highest skill, but b did significantly better against it."


def test_one_bot_alone_has_no_summary():
    assert summary(board(["alone"])) == []


# --- several games, pairs, surprises --------------------------------------------------------------


def boards_of(records):
    counts = CountsByGame()
    for one in records:
        counts.add(one)
    return counts.boards()


def played(names, games=("sim",), strong=lambda one, other: one < other):
    records = []
    for game in games:
        for seed in range(2):
            for one, other in combinations(names, 2):
                scores = (2, 1) if strong(one, other) else (1, 2)
                records.append(record((one, other), scores, index=len(records), seed=seed, game=game))
    return boards_of(records)


def test_the_overall_table_exists_only_if_bots_play_all_games():
    both = played(["a", "b", "c"], ("one", "two"))
    *_, over = leaderboard_tables(both)
    assert over.title == "overall"
    assert over.headers == ["place", "bot", "chance", "one", "two", "matches", "faults"]
    assert [row["place in two"] for row in over.rows] == [1, 2, 3]
    apart = [*played(["a", "b"], ("one",)), *played(["c", "d"], ("two",))]
    assert [table.title for table in leaderboard_tables(apart)] == ["one", "two"]
    assert {row["place"] for row in leaderboard_tables(both)[-1].rows} == {1, 2, 3}


@pytest.mark.parametrize("count", [4, 23])
def test_the_pairs_table_is_split_into_numbered_blocks_of_80_columns(count):
    names = [f"contender-{number:02}" for number in range(count)]
    text = render(played(names), kind="pairs", layout=Layout())
    assert widest(text) <= 80
    blocks = [part for part in text.split("\n\n") if "contender-00" in part]
    assert [number for block in blocks for number in block.splitlines()[0].split()[2:]] == [
        str(number) for number in range(1, count + 1)
    ]
    assert all(len(block.splitlines()) == count + 2 for block in blocks)


def test_the_pairs_table_of_many_bots_shows_only_surprises():
    names = [f"b{number:03}" for number in range(41)]
    text = render(played(names), kind="pairs", layout=Layout())
    assert widest(text) <= 80
    assert "CSV and JSON have all pairs." in text.replace("\n", " ")
    assert render(played(names), "csv", "pairs").count("\n") == 41 * 40


def test_a_surprise_is_a_pair_that_the_skills_do_not_explain():
    """Everybody beats those below, but the last one always beats the first."""
    records = []
    for seed in range(40):
        for one, other in combinations("abcdef", 2):
            scores = (1, 2) if (one, other) == ("a", "f") else (2, 1)
            records.append(record((one, other), scores, index=len(records), seed=seed))
    boards = boards_of(records)
    first = text_of_rows(boards)[0]
    assert (first["bot"], first["against"], first["ahead"]) == ("f", "a", 1.0)
    assert first["luck"] < 0.001
    equal = played("abcd", strong=lambda one, other: (ord(one) + ord(other)) % 2)
    assert all(row["luck"] == 1 for row in text_of_rows(equal))


def text_of_rows(boards):
    from harness.output.leaderboard import surprises_table

    return surprises_table(boards[0]).rows


def test_a_table_that_is_too_wide_is_continued_below():
    headers = ["player", *(f"round {number}" for number in range(1, 20))]
    table = Table("swiss", headers, [[name, *["won 2-1"] * 19] for name in ("one", "two")], legend="A legend. " * 20)
    text = text_of([table], "simple", Layout())
    assert widest(text) <= 80
    assert text.count("player") == len(fit(table.columns, table.cells, 1, 80)) == 3
    assert text.count("won 2-1") == 38


# --- scores in words ------------------------------------------------------------------------------


def test_scores_are_written_in_the_units_of_the_game():
    from harness.plugins.registry import load

    texts = {name: load().game(name).configure().score_text for name in ("el-paso", "gnadenlos", "x-pasch")}
    assert texts["el-paso"](12) == "12 nuggets"
    assert texts["x-pasch"](121) == "121 euro"
    assert texts["gnadenlos"](26013) == "26 fields and 13 gold"
    assert texts["gnadenlos"](0) == "0 (three vultures)"
    assert in_words(Interval(26129.8, 25000.0, 27259.6), texts["gnadenlos"]) == "26.1 ± 1.1 fields"
    [table] = leaderboard_tables([board(["a", "b"], title="gnadenlos")], scores=texts)
    assert "26.1 ± 1.1 fields" in table.cells[0]
    assert table.rows[0]["mean score"] == 26129.8
    assert "26129.8 ± 1129.8" in leaderboard_files([board(["a", "b"], title="gnadenlos")])["leaderboard.md"].decode()


def test_a_fault_in_a_real_record_is_counted():
    [made] = boards_of([record("ab", (2, 1), faults=(Fault(1, "crash", 0),))])
    assert any("FAULTS: b in 1 of 1 matches" in told for told in summary(made))
