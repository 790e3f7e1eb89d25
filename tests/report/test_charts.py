"""Charts: drawn for those who see them, told to those who do not, harmless to the page."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from random import Random

import pytest

from harness.plugins.registry import load
from harness.report.charts import FAINT, INK, charts
from harness.report.facts import gather
from tests.output.support import NASTY
from tests.ratings.simulate import World, record, tournament

SVG = "{http://www.w3.org/2000/svg}"
KINDS = ["skills", "curves", "pairs", "seats", "scores", "pace"]


def drawn(records):
    facts = gather(records)
    return [chart for board in facts.counts.boards() for chart in charts(board, facts)]


def parsed(chart):
    return ET.fromstring(chart.svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1))  # noqa: S314 - ours


@pytest.fixture(scope="module")
def ordinary():
    def timed(one, index):
        return record(one.seats, one.scores, index=index, seed=one.seed, time=(0.1,) * 3, slowest=(0.1,) * 3)

    played = tournament(World((0.0, 0.5, 1.0, 2.0), 3), 6, Random(1))
    return drawn([timed(one, index) for index, one in enumerate(played)])


def test_a_game_has_all_charts(ordinary):
    assert [chart.name for chart in ordinary] == [f"sim-{kind}" for kind in KINDS]


def test_every_chart_has_a_title_a_description_and_its_numbers(ordinary):
    for chart in ordinary:
        svg = parsed(chart)
        named = {node.get("id"): node.text for node in svg.iter() if node.tag in (SVG + "title", SVG + "desc")}
        assert svg.get("role") == "img"
        assert [named[part] for part in svg.get("aria-labelledby").split()] == [chart.title, chart.summary]
        assert chart.rows
        assert all(len(row) == len(chart.headers) for row in chart.rows)


def test_charts_use_the_page_colours_and_embed_no_images(ordinary):
    for chart in ordinary:
        assert "var(--ink)" in chart.svg
        assert INK not in chart.svg
        assert FAINT not in chart.svg
        assert "<image" not in chart.svg
        assert "<style" not in chart.svg


def test_ids_are_unique_in_the_page(ordinary):
    ids = [name for chart in ordinary for name in re.findall(r'\bid="([^"]+)"', chart.svg)]
    used = {name for chart in ordinary for name in re.findall(r"(?:href=\"|url\()#(\w+)", chart.svg)}
    assert len(ids) == len(set(ids))
    assert used
    assert used <= set(ids)


def test_the_same_records_give_the_same_charts():
    def once():
        return [chart.svg for chart in drawn(tournament(World((0.0, 1.0, 2.0), 3), 3, Random(1)))]

    assert once() == once()


def test_scores_are_drawn_as_the_game_writes_their_mean():
    facts = gather([record("ab", (25_004, 9_000), index=n, seed=n) for n in range(4)])
    [board] = facts.counts.boards()
    text = load().game("gnadenlos").configure().score_text
    [scores] = [chart for chart in charts(board, facts, text) if chart.name == "sim-scores"]
    assert set(scores.rows[0][1:]) == {"25"} and set(scores.rows[1][1:]) == {"9"}
    axis = "".join(parsed(scores).itertext())
    assert "fields" in axis and "000" not in axis and "in fields" in scores.summary


def test_hostile_names_are_escaped_in_charts():
    records = [
        record(NASTY[turn:] + NASTY[:turn], range(len(NASTY)), index=turn, seed=turn, time=(0.1,) * 6, slowest=(1,) * 6)
        for turn in range(6)
    ]
    for chart in drawn(records):
        svg = parsed(chart)
        assert not [node for node in svg.iter() if node.tag in (SVG + "script", SVG + "img")]
        assert "<script" not in chart.svg


@pytest.mark.parametrize(
    "records",
    [
        [record("a", (3,))],
        [record("ab", (0, 0))],
        [record("aa", (1, 2))],
        [record("ab", (-5, 10**9), time=(1e-9, 0.0), slowest=(0.0, 0.0))],
    ],
    ids=["one bot", "one tie", "a bot against itself", "odd figures"],
)
def test_charts_are_drawn_from_very_few_records(records):
    assert drawn(records)[0].name == "sim-skills"


def test_a_chart_of_many_bots_draws_only_the_best_and_says_so():
    field = [f"bot{number}" for number in range(45)]
    made = drawn(record(field[k : k + 6], range(6), index=k, seed=k) for k in range(40))
    pairs = next(chart for chart in made if chart.name == "sim-pairs")
    assert "The best 25 of 45 bots are drawn." in pairs.summary
    assert sum(len(chart.svg) for chart in made) < 300_000
