from __future__ import annotations

import csv
import io
import json
from random import Random

import pytest

from harness.core.errors import UnknownName
from harness.core.records import Fault
from harness.output.leaderboard import KINDS, leaderboard_table
from harness.output.matches import bot_summary
from harness.output.tables import FORMATS, text_of
from harness.ratings.counts import by_option, by_players
from harness.ratings.leaderboard import leaderboard
from tests.ratings.simulate import World, count_records, record, tournament


def counted(deals=15, skills=(0.0, 0.0, 1.0, 2.0)):
    return count_records(tournament(World(skills, 3), deals, Random(3)))


def render(rated, table_format="simple", kind="leaderboard"):
    return text_of(KINDS[kind]([leaderboard(counts, name) for name, counts in rated.items()]), table_format)


def read(rated, kind="leaderboard"):
    return json.loads(render(rated, "json", kind))


def test_the_figures_of_a_line_match_the_records():
    records = [
        record("ab", (30, 10), seed=1, time=(0.5, 0.1)),
        record("ba", (20, 40), index=1, seed=1, time=(0.1, 0.5), faults=(Fault(0, "crash", 0),)),
        record("ab", (10, 10), index=2, seed=2, time=(0.2, 0.1)),
        record("ba", (60, 20), index=3, seed=2, time=(0.1, 0.0)),
    ]
    a, b = sorted(read(count_records(records))["sim"], key=lambda row: row["bot"])
    assert (a["matches"], a["wins"], a["mean rank"], a["mean score"], a["faults"]) == (4, 0.625, 1.25, 25.0, 0)
    assert (b["wins"], b["beats"], b["faults"], b["mean score"]) == (0.375, 0.375, 1, 25.0)
    assert a["ms/decision"] == 300.0
    # Two deals of two matches, means 35 and 15: the error is 10, Student's quantile for one degree 12.706.
    assert (a["mean score low"], a["mean score high"]) == (pytest.approx(-102.06), pytest.approx(152.06))
    assert a["skill"] + b["skill"] == pytest.approx(50)
    assert a["skill low"] is a["skill high"] is None  # too few deals for any claim
    assert a["cautious"] == pytest.approx(a["skill"] - 3 * a["sigma"], abs=0.01)
    assert [(row["best place"], row["worst place"]) for row in (a, b)] == [(1, 2)] * 2


def test_rows_have_a_fixed_set_of_fields():
    [row, *_] = read(counted())["sim"]
    assert list(row) == [
        "place", "best place", "worst place", "bot", "skill", "skill low", "skill high", "beats", "matches", "faults",
        "wins", "mean score", "mean score low", "mean score high", "ms/decision", "mean rank", "sigma", "cautious",
    ]  # fmt: skip


def test_places_are_consecutive_and_ranges_show_what_is_not_ruled_out():
    rated = counted(deals=25)
    rows = read(rated)["sim"]
    assert [row["place"] for row in rows] == [1, 2, 3, 4]
    assert [row["bot"] for row in rows[:2]] == ["bot3", "bot2"]
    assert [(row["best place"], row["worst place"]) for row in rows] == [(1, 1), (2, 2), (3, 4), (3, 4)]
    lines = render(rated, "simple").splitlines()
    assert [line.split()[:2] for line in lines[4:8]] == [["1", "1"], ["2", "2"], ["3", "3-4"], ["4", "3-4"]]


def test_a_table_in_which_no_place_is_ruled_out_has_no_range():
    rated = count_records([record("ab", (2, 1)), record("ba", (2, 1), index=1, seed=2)])
    assert render(rated).splitlines()[2].split()[:3] == ["place", "bot", "skill"]
    assert [(row["best place"], row["worst place"]) for row in read(rated)["sim"]] == [(1, 2), (1, 2)]


@pytest.mark.parametrize("end", [0, 1])
def test_no_share_exceeds_100_percent(end):
    rng = Random(5)
    records = []
    for seed in range(30):  # the best meet only each other, as in a swiss
        for one, other in ("ab", "ac", "bc", "cd", "de", "df", "ef"):
            scores = (2, 1) if rng.random() < 0.9 else (1, 2)
            records.append(record((one, other), scores, index=len(records), seed=seed))
    [counts] = count_records(records).values()
    table = leaderboard_table(leaderboard(counts, "sim", end=end))
    assert all(0 <= row[name] <= 1 for row in table.rows for name in ("beats", "wins"))


def test_the_legend_mentions_intervals_only_if_there_are_any():
    [counts] = counted().values()
    fixed, seated = (leaderboard_table(leaderboard(counts, design=design)) for design in ("fixed", "seated"))
    legends = [" ".join(column.legend for column in table.columns) for table in (fixed, seated)]
    assert ["± is a 95% interval" in legend for legend in legends] == [True, False]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("table_format", FORMATS)
def test_every_kind_of_table_supports_every_format(kind, table_format):
    twice = [record("ab", (2, 1)), record("ab", (2, 1), index=1, game="other")]
    text = render(count_records(twice) if kind == "games" else counted(2), table_format, kind)
    assert "bot3" in text or kind in ("seats", "games")
    assert "sim" in text or table_format in ("csv", "json")


def test_an_unknown_format_is_refused_with_the_nearest_name():
    with pytest.raises(UnknownName, match="Did you mean 'github'"):
        render(counted(2), "githib")


def test_csv_and_json_hold_the_same():
    rated = counted(3)
    rows = list(csv.DictReader(io.StringIO(render(rated, "csv"))))
    assert [row.pop("game") for row in rows] == ["sim"] * 4
    expected = [{key: "" if value is None else str(value) for key, value in row.items()} for row in read(rated)["sim"]]
    assert rows == expected


def test_pairs_are_counted_from_both_sides():
    rated = count_records([record("ab", (2, 1)), record("ab", (1, 1), index=1), record("cb", (2, 1), index=2)])
    rows = {(row["bot"], row["against"]): (row["met"], row["ahead"]) for row in read(rated, "pairs")["sim"]}
    assert rows == {("a", "b"): (2, 0.75), ("b", "a"): (2, 0.25), ("b", "c"): (1, 0.0), ("c", "b"): (1, 1.0)}


def test_the_seats_table_shows_the_advantage_of_a_seat():
    rng = Random(1)
    records = [
        record(rng.sample("abc", 3), (rng.randrange(20) + 10, rng.randrange(20), rng.randrange(20)), index=i, seed=i)
        for i in range(200)
    ]
    first, second, third = read(count_records(records), "seats")["sim"]
    assert (first["players"], first["seat"], first["matches"]) == (3, 0, 200)
    assert first["ahead low"] > 0.6 > second["ahead high"]
    assert first["wins"] + second["wins"] + third["wins"] == pytest.approx(1, abs=1e-3)


def test_counts_can_be_split_by_players_and_by_option():
    records = [record("ab", (2, 1)), record("abc", (3, 2, 1), index=1)]
    assert list(count_records(records, by_players)) == ["sim, 2 players", "sim, 3 players"]
    assert list(count_records(records, by_option)) == ["sim"]


def test_points_of_different_games_are_not_averaged():
    rated = count_records([record("ab", (200, 100)), record("ab", (2, 1), index=1, game="other")])
    first, _ = read(rated, "games")["overall"]
    assert (first["bot"], first["place"], first["place in sim"], first["place in other"]) == ("a", 1, 1, 1)
    assert "mean score" not in first


def test_the_summary_of_a_bot_has_its_games_opponents_seats_and_faults():
    fault = Fault(0, "illegal", 4, "answered 7")
    records = [record("ab", (2, 1), index=1), record("abc", (1, 2, 3), faults=(fault,))]
    page = bot_summary(records, "a")
    assert json.loads(json.dumps(page, allow_nan=False)) == page
    assert page["games"]["sim"]["matches"] == 2
    assert set(page["players"]) == {"sim, 2 players", "sim, 3 players"}
    assert sorted((row["against"], row["met"]) for row in page["opponents"]["sim"]) == [("b", 2), ("c", 1)]
    assert [(row["players"], row["seat"], row["ahead"]) for row in page["seats"]] == [(2, 0, 1.0), (3, 0, 0.0)]
    [failed] = page["faults"]
    assert failed == {
        "match": "sim-1.1.0", "kind": "illegal", "cause": "illegal: answered", "decision": 4, "detail": "answered 7",
    }  # fmt: skip
    with pytest.raises(UnknownName, match="Choose from: a, b, c"):
        bot_summary(records, "d")


def everyone_fails():
    faults = (Fault(0, "crash", 0), Fault(1, "crash", 0))
    return [record("ab", (0, 0), (1, 1), index=turn, seed=turn, faults=faults) for turn in range(5)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "records",
    [
        pytest.param([], id="no matches"),
        pytest.param([record("ab", (2, 1))], id="one match"),
        pytest.param([record("a", (2,))], id="one bot, one seat"),
        pytest.param([record("aa", (2, 1))], id="one bot against itself"),
        pytest.param([record("abcd", (1, 1, 1, 1), index=i, seed=i) for i in range(9)], id="all draws"),
        pytest.param(everyone_fails(), id="everybody fails"),
        pytest.param([record("ab", (10**30, -(10**30)), index=i, seed=i) for i in range(3)], id="huge scores"),
        pytest.param([record(("$%&|<b>", "ü"), (2, 1), decisions=(0, 0))], id="strange names"),
    ],
)
def test_unusual_records_give_a_valid_table(records, kind):
    rated = count_records(records)
    for table_format in FORMATS:
        text = render(rated, table_format, kind)
        assert text.strip() or kind == "games"
        assert "nan" not in text
    json.loads(render(rated, "json", kind))
    if not records and kind != "games":
        assert render(rated, "simple", kind) == "No matches yet."


def test_bots_that_always_draw_are_not_separated():
    rows = read(count_records([record("abcd", (1, 1, 1, 1), index=i, seed=i) for i in range(50)]))["sim"]
    assert {(row["best place"], row["worst place"]) for row in rows} == {(1, 4)}
    assert {row["skill"] for row in rows} == {25.0}
    assert {row["beats"] for row in rows} == {0.5}


def test_one_deal_is_reported_as_too_little():
    assert "Too few deals to say which bot is better." in render(count_records([record("ab", (2, 1))]))


def test_the_legend_is_printed_once():
    rated = count_records([record("ab", (200, 100)), record("ab", (2, 1), index=1, game="other")])
    text = render(rated, "simple")
    assert text.count("Skill is TrueSkill's mu") == 1
    assert text.split("\n\n")[-1].startswith("Skill is TrueSkill's mu")
