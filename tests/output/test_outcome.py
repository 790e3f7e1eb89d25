"""Each format's own result: in text of any width and format, in files that verify checks, in pages, and from Python."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import harness
from harness.core.errors import UnknownName
from harness.core.plan import BracketEntry, BracketRound, Outcome
from harness.core.rng import Chance
from harness.core.table import Table
from harness.output.outcome import NOT_DRAWN, FormatResults, bracket_text, format_results, is_tree
from harness.output.tables import FORMATS
from harness.plugins.registry import load
from harness.report.parts import outcome_parts, page_environment
from harness.runs.scheduler import simulated_record
from harness.runs.store import RunFolder
from tests.formats.support import even, names, plan, play, scheduled
from tests.output.support import NASTY
from tests.report.browser import browser
from tests.support.cli import arena
from tests.support.forgery import write_records

FOLDER = Path("results/a")
BOTS = ("o1=outlaw", "o2=outlaw", "d1=diehard", "d2=diehard", "s1=skittish", "random")


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def results(form: str, bots: int, seats: int, deals: int = 2, cut: int | None = None, **more) -> FormatResults:
    """What a format says of simulated bots, or of the first so many of their matches."""
    asked = plan(bots, seats, form, deals=deals, **more)
    specs = [spec for part in play(asked, even(bots, 0.2))[0] for spec in part][:cut]
    records = [simulated_record(spec, even(bots, 0.2), Chance(asked.seed)) for spec in specs]
    return FormatResults(scheduled(asked).outcomes(records), form)


def run_of(form: str, *more: object, bots=BOTS) -> str:
    return arena(
        "tournament", "--game", "el-paso", *(part for bot in bots for part in ("--bot", bot)), "--format", form,
        "--deals", 1, "--seed", 7, "--name", "a", "--workers", 0, *more,
    ).stdout  # fmt: skip


def widest(text: str) -> int:
    return max(map(len, text.splitlines()))


# Text


@pytest.mark.parametrize(("form", "bots", "seats"), [
    ("swiss", 4, 2), ("swiss", 24, 4), ("swiss", 100, 4), ("swiss", 13, 6),
    ("knockout", 4, 2), ("knockout", 8, 2), ("knockout", 23, 4), ("knockout", 100, 2), ("knockout", 100, 4),
])  # fmt: skip
def test_results_of_swiss_and_knockout_fit_80_columns(form, bots, seats):
    assert widest(results(form, bots, seats).text("simple", 80)) <= 80


def test_results_of_a_gauntlet_fit_80_columns():
    told = results("gauntlet", 9, 4, candidates=names(4))
    assert widest(told.text("simple", 80)) <= 80


def test_a_wide_table_is_continued_below_with_the_names_repeated():
    told = results("swiss", 24, 4, rounds=5)
    narrow, wide = told.text("simple", 80), told.text("simple", 200)
    [head] = [line for line in wide.splitlines() if " R1 " in line]
    assert head.split() == ["#", "bot", "R1", "R2", "R3", "R4", "R5"]
    heads = [line.split() for line in narrow.splitlines() if re.search(r" R\d", line)]
    assert heads == [["#", "bot", "R1", "R2", "R3", "R4"], ["#", "bot", "R5"]]
    assert narrow.count("bot00") == 3


def test_a_bracket_of_pairs_is_drawn_as_a_tree():
    told = bracket_text(results("knockout", 4, 2)["game"].bracket, 80)
    assert (
        told
        == """\
round 1     final       winner
bot02 3 ─┐
bot00 1 ─┴─ bot02 3 ─┐
bot03 4 ─┐           ├─ bot02
bot01 0 ─┴─ bot03 1 ─┘"""
    )


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 6), st.integers(0, 30), st.integers(0, 2**40), st.integers(20, 200), st.integers(0, 10**6))
@example(2, 0, 0, 20, 1)
def test_a_bracket_of_any_size_shows_every_bot_of_every_round(seats, more, seed, width, cut):
    told = results("knockout", seats + more, seats, deals=1, seed=seed, cut=cut if cut % 2 else None)
    rounds = told["game"].bracket
    text = bracket_text(rounds, width)
    drawn = text.split("level on points")[0]
    for each in rounds:
        for bot in [*(entry.bot for table in each.tables for entry in table), *each.byes]:
            assert bot in drawn
    if is_tree(rounds) and "winner" in text:
        won = told["game"].standing[:1] or ["?"]  # a final that is being played has no winner yet
        assert f"─ {won[0]}" in text


def test_a_bracket_that_is_too_wide_is_printed_round_by_round():
    rounds = results("knockout", 8, 2)["game"].bracket
    told = bracket_text(rounds, 30)
    assert "┐" not in told
    assert widest(told) <= 30
    assert re.search(r"^final: 1 table, points of 4\n  1\. bot\d\d [\d.]+ \| bot\d\d [\d.]+$", told, re.M)
    long = bracket_text([BracketRound("final", [[BracketEntry("x" * 300, 2, True), BracketEntry("y", 1, False)]])], 40)
    assert "x" * 300 in long


def test_tables_with_two_survivors_are_printed_in_columns():
    told = bracket_text(results("knockout", 8, 4)["game"].bracket, 80)
    first, final = told.splitlines()[0].split()[0], told.splitlines()[0].split()[-1]
    assert (first, final) == ("round", "final")
    assert told.count("→") == 4
    assert told.count("wins") == 1


def test_an_unfinished_bracket_shows_question_marks_for_open_places():
    told = results("knockout", 8, 2, cut=18)
    assert told["game"].bracket[-1].name == "round 2"
    text = told.text("simple", 80)
    assert text.count("?") == 2
    assert "still open. 2 of 3 rounds are still to be finished" in text


@pytest.mark.parametrize("table_format", FORMATS)
def test_every_table_format_shows_every_bot(table_format):
    for told in (results("knockout", 6, 2), results("swiss", 5, 2), results("gauntlet", 5, 2, candidates=names(2))):
        text = told.text(table_format)
        assert all(bot in text for bot in told["game"].standing)
        drawn = table_format not in (*NOT_DRAWN, "json") and not table_format.startswith("latex")
        assert ("─┐" in text) == (drawn and bool(told["game"].bracket)) or set(text) >= set(
            "┌┐"
        )  # a grid has them, too


def test_json_and_csv_contain_plain_values():
    told = json.loads(results("knockout", 6, 2).text("json"))["game"]
    assert told["bracket"][0]["tables"][0][0].keys() == {"bot", "points", "through"}
    assert told["note"] == f"{told['standing'][0]} wins the final."
    rows = list(csv.DictReader(io.StringIO(results("swiss", 5, 2).text("csv"))))
    assert {row["game"] for row in rows} == {"game: standing after 3 rounds", "game: round by round"}
    brackets = list(csv.DictReader(io.StringIO(results("knockout", 6, 2).text("csv"))))
    assert {row["round"] for row in brackets} == {"round 1", "round 2", "final"}


def test_a_plugin_format_can_return_a_simple_table():
    outcome = Outcome(tables=(Table("the hill", ("bot", "held"), [("a", 4), ("b", None), ("c", 0.5)]),))
    told = FormatResults({"el-paso": outcome}, "king-of-the-hill")
    assert (
        told.text("simple", 80)
        == """\
el-paso: the hill

bot  held
---  ----
a       4
b       -
c     0.5"""
    )
    assert told.fields()["el-paso"]["tables"] == {
        "the hill": [{"bot": "a", "held": 4}, {"bot": "b", "held": None}, {"bot": "c", "held": 0.5}]
    }
    assert "<h2>el-paso: the hill</h2>" in told._repr_html_()


def test_unknown_names_are_refused():
    with pytest.raises(UnknownName, match="game of this run"):
        results("swiss", 4, 2)["gnadenlos"]
    with pytest.raises(UnknownName, match="table format"):
        results("swiss", 4, 2).text("gitlab")


# The command line, files and verify


@pytest.mark.parametrize(("form", "shown"), [
    ("swiss", "el-paso: standing after 3 rounds"), ("knockout", "el-paso: bracket"),
    ("gauntlet", "el-paso: differences between candidates"),
])  # fmt: skip
def test_a_run_prints_writes_and_verifies_the_result_of_its_format(form, shown):
    more = ("--candidate", "o1", "--candidate", "d1") if form == "gauntlet" else ()
    printed = run_of(form, "--players", 2, *more)
    assert shown in printed
    told = arena("leaderboard", "a", "--show", "format").stdout
    assert shown in told
    # A gauntlet prints its own result first, the others their leaderboard.
    last = told if form == "gauntlet" else printed
    assert last.rstrip().splitlines()[-1] in (printed if form == "gauntlet" else told)
    assert arena("leaderboard", "a", "--show", "format", "-f", "github").stdout == (FOLDER / "outcome.md").read_text()
    data = json.loads((FOLDER / "outcome.json").read_text())
    assert json.loads(arena("leaderboard", "a", "--show", "format", "-f", "json").stdout) == data
    assert harness.open_run("a").outcome().fields() == data
    assert "all fit" in arena("verify", "a").stdout
    for name in ("outcome.md", "outcome.json"):
        whole = (FOLDER / name).read_text()
        (FOLDER / name).write_text(whole.replace("o1", "?").replace("d1", "o1").replace("?", "d1"))
        said = arena("verify", "a", code=1).stdout
        assert f"{FOLDER / name} is not what the records give" in said
        (FOLDER / name).unlink()  # what is derived may be missing
        arena("verify", "a")


def test_a_round_robin_has_no_result_besides_its_leaderboard():
    printed = run_of("round-robin", "--players", 2, bots=("outlaw", "random"))
    assert printed.count("el-paso") == 1
    assert not list(FOLDER.glob("outcome*"))
    assert "A round-robin has no result besides its leaderboard" in arena("leaderboard", "a", "--show", "format").stdout
    assert harness.open_run("a").outcome()["el-paso"] == Outcome()
    (FOLDER / "outcome.md").write_text("random wins\n")
    assert "outcome.md is not what the records give" in arena("verify", "a", code=1).stdout


def test_json_has_the_outcome_under_a_separate_key():
    told = json.loads(run_of("swiss", "--players", 2, "--json"))
    assert told["tables"]["el-paso"]
    assert told["outcome"] == json.loads((FOLDER / "outcome.json").read_text())
    csv_only = arena("tournament", "--resume", "a", "--workers", 0, "-f", "csv").stdout
    assert "standing after" not in csv_only


def test_an_unfinished_run_shows_its_partial_result():
    run_of("swiss:rounds=3", "--players", 2)
    records = list(RunFolder.open(FOLDER).records())
    write_records(FOLDER, records[: len(records) // 3 + 1])
    told = arena("leaderboard", "a", "--show", "format").stdout
    assert "el-paso: standing after 1 round\n" in told
    assert "2 of 3 rounds are still to be finished; 1 of 6 matches of round 2" in " ".join(told.split())
    outcome = harness.open_run("a").outcome()["el-paso"]
    assert (bool(outcome.open), outcome.note) == (True, "")


def test_the_result_of_a_format_can_be_limited_to_a_game_but_not_to_some_bots():
    run_of("knockout", "--players", 2)
    assert "leave out" in arena("leaderboard", "a", "--show", "format", "--without", "o1", code=2).stderr
    assert "bracket" in arena("leaderboard", "a", "--show", "format", "--game", "el-paso").stdout


def test_records_that_contradict_the_schedule_are_reported():
    run_of("knockout", "--players", 2)
    records = list(RunFolder.open(FOLDER).records())
    other = [replace(one, seats=one.seats[::-1]) if one.id.startswith("el-paso-1.") else one for one in records]
    write_records(FOLDER, [replace(one, scores=one.scores[::-1], ranks=one.ranks[::-1]) for one in other])
    folder = RunFolder.open(FOLDER)
    told = arena("leaderboard", "a", "--show", "format", code=2).stderr
    assert "arena verify" in told
    outcomes, problems = format_results(folder, load())
    assert len(outcomes) == 0
    assert "verify" in problems[0]
    assert "is not what the schedule of this run has" in arena("verify", "a", code=1).stdout


# Pages


def part_of_page(form: str, told: dict[str, Outcome]) -> str:
    module = page_environment().get_template("outcome.html").make_module({"titles": {}})
    return "".join(module.format_result(part, form, {}) for part in outcome_parts(told).values())  # type: ignore[attr-defined]


@pytest.mark.parametrize(("form", "seats"), [("swiss", 2), ("knockout", 2), ("knockout", 4)])
def test_pages_show_the_result_of_the_format_and_escape_names(form, seats):
    told = results(form, 6, seats)
    page = part_of_page(form, dict(told))
    assert f"What the {form} says" in page
    assert told["game"].note in page
    assert all(bot in page for bot in names(6))
    assert ('class="bracket tree"' in page) == (form == "knockout" and seats == 2)
    assert ('class="bracket rounds"' in page) == (form == "knockout" and seats == 4)
    renamed = dict(zip(names(6), NASTY, strict=True))
    hostile = part_of_page(form, {game: _renamed(outcome, renamed) for game, outcome in told.items()})
    assert "<script>alert" not in hostile
    assert "<img" not in hostile
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in hostile


def test_pages_of_an_unfinished_run_show_what_is_open():
    page = part_of_page("knockout", dict(results("knockout", 8, 2, cut=18)))
    assert "Still open: 2 of 3 rounds" in page
    assert page.count(">?</div>") == 2


def _renamed(outcome: Outcome, new: dict[str, str]) -> Outcome:
    tables = tuple(
        Table(one.title, one.head, [[new.get(cell, cell) for cell in row] for row in one.cells])
        for one in outcome.tables
    )
    bracket = tuple(
        BracketRound(
            each.name,
            [[entry._replace(bot=new[entry.bot]) for entry in table] for table in each.tables],
            [new[bot] for bot in each.byes],
            each.most,
        )
        for each in outcome.bracket
    )
    return Outcome(note=new["bot00"], tables=tables, bracket=bracket)


def test_a_wide_bracket_scrolls_inside_its_box_on_a_phone():
    with browser() as page:
        run_of("knockout", "--players", 2, bots=[f"a-bot-with-a-long-name-{number}=random" for number in range(9)])
        arena("report", "a", "--replays", 0)
        page.open((FOLDER / "report.html").resolve(), width=390)
        assert page.js("return document.documentElement.scrollWidth") <= 390
        inner, outer = page.js(
            "const b = document.querySelector('.bracket'); return [b.scrollWidth, b.parentNode.clientWidth]"
        )
        assert inner > outer
        # The winner of the first table stands beside it, in the next column.
        names, lines = page.texts(".bracket .entry"), page.js("return document.querySelectorAll('.joint').length")
        assert lines == 8
        assert len(names) == 9 + 5 + 3 + 2 + 1


def test_a_site_shows_the_result_of_the_format_with_links_to_the_bots():
    run_of("knockout", "--players", 2)
    arena("publish", "a", "--to", "site")
    page = Path("site/runs/a/index.html").read_text()
    assert re.search(r'<div class="entry[^>]*><span class="who"><a href="../../bots/o1.html">', page)
    assert json.loads(Path("site/runs/a/outcome.json").read_text()) == json.loads((FOLDER / "outcome.json").read_text())


def test_a_format_that_is_not_installed_is_reported():
    run_of("swiss", "--players", 2)
    registry = load()
    registry.formats.pop("swiss")
    outcomes, problems = format_results(RunFolder.open(FOLDER), registry)
    assert len(outcomes) == 0
    assert "The result of the swiss itself is missing: " in problems[0]
