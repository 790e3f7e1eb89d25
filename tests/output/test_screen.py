"""Tables on a screen: what fits, what it says in sentences, what is loud."""

from __future__ import annotations

from itertools import combinations

import pytest

from harness.core.errors import UnknownName
from harness.core.records import Fault
from harness.core.table import Table
from harness.output.columns import BY_NAME, COLUMNS, ENTRANT_COLUMNS, chosen_columns, in_words, letters
from harness.output.leaderboard import KINDS, leaderboard_files, leaderboard_table, leaderboard_tables, summary
from harness.output.tables import RED, Layout, colourful, fit, screen_width, shown_width, text_of
from harness.ratings.evidence import Interval
from harness.ratings.leaderboard import Leaderboard, Standing, leaderboards, rate_records
from harness.ratings.trueskill import BotRating, Ratings
from tests.ratings.simulate import record

SIZES = (4, 24, 100)


def render(boards, table_format="simple", kind="leaderboard", layout=None):
    return text_of(KINDS[kind](boards), table_format, layout)


def board(names, apart=(), faults=None, title="el-paso", sure=0.82):
    """A made-up leaderboard in the order of the names; `apart` has pairs of places from 0 that are told apart."""
    ratings = Ratings()
    standings = []
    for place, name in enumerate(names):
        line = ratings.lines[name] = BotRating(name, place, 25 - place / 10, 1.0, 1000, 500, 2000, 45678, 9000, 12.0)
        line.faults = (faults or {}).get(name, 0)
        value = 0.9 - 0.8 * place / len(names)
        worse, better = {b for a, b in apart if a == place}, {a for a, b in apart if b == place}
        standings.append(
            Standing(
                line,
                place + 1,
                1 + len(better),
                len(names) - len(worse),
                tuple("abcdefgh"[place % 8 : place % 8 + 2]),
                sure if place < len(names) - 1 else None,
                Interval(26129.8, 25000.0, 27259.6),
                Interval(value, value - 0.03, value + 0.03),
                100.0 - place,
                place + 1,
            )
        )
    told = frozenset((names[a], names[b]) for a, b in apart)
    return Leaderboard(title, ratings, standings, [], told)


def named(count, stem="bot-with-a-name"):
    return [f"{stem}-{number}" for number in range(count)]


def widest(text):
    return max(shown_width(line) for line in text.splitlines())


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("stem", ["bot", "a-bot-with-options:depth=12,weights=lots,explore=0.7071,version"])
def test_a_leaderboard_fits_80_columns(count, stem):
    names = named(count, stem)
    made = board(names, faults={names[-1]: 12})
    text = render([made], layout=Layout())
    assert widest(text) <= 80
    lines = text.splitlines()
    group = ["group"] if stem == "bot" else []  # long names have its room
    assert lines[2].split() == ["place", "may", "be", *group, "bot", "ahead", "rating", "matches", "FAULTS"]
    rows = lines[4 : 4 + count]
    assert [row.split()[0] for row in rows] == [str(place) for place in range(1, count + 1)]
    assert len({row.split()[2 + len(group)] for row in rows}) == count, "shortened names stay apart"


@pytest.mark.parametrize("width", [60, 100, 132, 200])
def test_a_wide_screen_shows_more_columns_and_a_table_fits_a_narrow_one(width):
    text = render([board(named(5))], layout=Layout(width))
    assert widest(text) <= width
    assert ("sure" in text.splitlines()[2]) == (width > 80)


def test_the_wide_layout_has_every_column_and_full_names():
    name = "x" * 70
    text = render([board([name, "b"], faults={"b": 1})], layout=Layout(wide=True))
    assert name in text
    assert all(column.name in text or column.alarm for column in COLUMNS)
    assert "Not shown" not in text
    assert "mu ± sigma, PL (--wide)" in render([board(["a", "b"])], layout=Layout(more="--wide"))


def test_names_that_would_look_alike_when_shortened_are_wrapped():
    names = ["same-beginning-" + middle + "-and-the-same-end-of-it-all-around" for middle in ("one" * 9, "two" * 9)]
    text = render([board(names, faults={names[0]: 1})], layout=Layout())
    assert widest(text) <= 80
    assert "one" in text
    assert "two" in text


def test_columns_are_chosen_by_name():
    table = leaderboard_table(board(["a", "b"]), chosen_columns(["place", "mean score", "may-be", "mu"]))
    assert table.headers == ["place", "mean score", "may be", "mu ± sigma"]
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
    assert "FAULTS: b in 400 of 1,000 matches. Who fails in a match comes last in it." in text
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
    boards = [board(named(4), faults={"bot-with-a-name-1": 3})]
    monkeypatch.setenv("COLUMNS", "50")
    narrow = leaderboard_files(boards)
    monkeypatch.setenv("COLUMNS", "250")
    assert leaderboard_files(boards) == narrow
    assert all(column.name in narrow["leaderboard.md"].decode() for column in COLUMNS)


def test_consecutive_letters_are_written_as_a_range():
    assert letters(("a",)) == "a"
    assert letters(("a", "c")) == "ac"
    assert letters(("b", "c", "d", "e")) == "b-e"
    assert letters(("a", "c", "d", "e")) == "a,c-e"
    assert letters(("y", "z", "aa", "ab")) == "y-ab"
    assert letters(("z", "ab")) == "z,ab"


# --- sentences ------------------------------------------------------------------------------------


def test_the_summary_of_a_separated_winner_says_that_it_won():
    [told] = summary(board(["outlaw", "diehard", "random"], [(0, 1), (0, 2), (1, 2)]))
    assert told == (
        "outlaw won: it finishes ahead of 90% (87% to 93%) of its opponents, 27 points more than diehard, and it is "
        "told apart from every other bot; such claims are wrong in at most 5 of 100 runs."
    )


def test_the_summary_of_an_open_first_place_names_the_bots_that_may_be_better():
    [told] = summary(board(["tycoon", "hustler", "random"], [(0, 2), (1, 2)]))
    assert told == (
        "tycoon came first, but hustler may be as good or better. It finishes ahead of 90% (87% to 93%) of its "
        "opponents, hustler of 63% (60% to 66%). That tycoon is better than hustler is 82% sure."
    )


def test_the_summary_never_claims_more_than_the_table():
    names = named(24)
    [told] = summary(board(names, sure=None))
    assert "won" not in told
    assert "and 21 others may be as good or better" in told
    assert "sure" not in told
    # Told apart only through others: nobody else can be the best, but the two were not told apart.
    [told] = summary(board(["a", "b", "c"], [(0, 1), (1, 2)]))
    assert told.endswith("and it is the only one that can be the best; such claims are wrong in at most 5 of 100 runs.")
    assert summary(board(["alone"])) == []


# --- several games, pairs, surprises --------------------------------------------------------------


def played(names, games=("sim",), strong=lambda one, other: one < other):
    records = []
    for game in games:
        for seed in range(2):
            for one, other in combinations(names, 2):
                scores = (2, 1) if strong(one, other) else (1, 2)
                records.append(record((one, other), scores, index=len(records), seed=seed, game=game))
    return leaderboards(rate_records(records))


def test_the_overall_table_exists_only_if_bots_play_all_games():
    both = played(["a", "b", "c"], ("one", "two"))
    *_, over = leaderboard_tables(both)
    assert over.title == "overall"
    assert over.headers == ["place", "may be", "bot", "ahead", "vote", "one", "two", "matches", "faults"]
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
    assert "All pairs: --show pairs -f csv." in text.replace("\n", " ")
    assert render(played(names), "csv", "pairs").count("\n") == 41 * 40


def test_a_surprise_is_a_pair_that_the_strengths_do_not_explain():
    """Everybody beats those below, but the last one always beats the first."""
    records = []
    for seed in range(40):
        for one, other in combinations("abcdef", 2):
            scores = (1, 2) if (one, other) == ("a", "f") else (2, 1)
            records.append(record((one, other), scores, index=len(records), seed=seed))
    boards = leaderboards(rate_records(records))
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
    [made] = leaderboards(rate_records([record("ab", (2, 1), faults=(Fault(1, "crash", 0),))]))
    assert any("FAULTS: b in 1 of 1 matches" in told for told in summary(made))
