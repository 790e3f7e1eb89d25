"""The pages in a real browser: sorted, filtered, replayed to the end; no complaint, no request to anywhere."""

from __future__ import annotations

import pytest

from harness.core.records import MatchSpec
from harness.match.referee import play as play_match
from harness.plugins.registry import load
from harness.report import PageParts, publish, write_report
from tests.bots.nim import Nim
from tests.output.support import HOSTILE, LONG, recorded
from tests.ratings.simulate import record
from tests.support.games import REGISTRY

GAMES = ("el-paso", "gnadenlos", "x-pasch")


def offered(chromium, game=""):
    listed = chromium.js("return [...viewer.querySelector('[data-part=match]').options].map((one) => one.value)")
    return [match for match in listed if match.startswith(game)]


def test_a_column_sorts_both_ways(chromium, page):
    chromium.open(page)
    click = (
        "const table = document.querySelector('#board-1 table.sortable');"
        "[...table.querySelectorAll('th button')].find((one) => one.textContent === 'skill').click();"
        "const place = [...table.querySelectorAll('th')].findIndex((one) => one.ariaSort);"
        "return [...table.tBodies[0].rows].map((row) => parseFloat(row.cells[place].textContent))"
    )
    up, down = chromium.js(click), chromium.js(click)
    assert len(up) > 2
    assert up == sorted(up)
    assert down == up[::-1]


def test_names_filter_the_tables(chromium, page):
    chromium.open(page)
    chromium.js(
        "const field = document.querySelector('input[data-filter]'); field.value = 'FAIL';"
        "field.dispatchEvent(new Event('input'))"
    )
    assert chromium.texts("#board-1 table.sortable td.bot") == ["failing"]
    chromium.js(
        "const field = document.querySelector('input[data-filter]'); field.value = 'zzz';"
        "field.dispatchEvent(new Event('input'))"
    )
    assert chromium.texts("#filter-note") == ["No bot has that in its name."]


def test_tabs_show_one_game_and_print_shows_all(chromium, page):
    chromium.open(page)
    assert chromium.texts("main > section > h2")[0] == "El Paso"
    chromium.js("document.querySelector('[data-tab=board-3]').click()")
    assert chromium.texts("main > section > h2")[0] == "X-Pasch"
    chromium.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert chromium.texts("main > section > h2")[:4] == ["El Paso", "Gnadenlos!", "X-Pasch", "All games"]
        size = {"width": 718, "height": 1000, "deviceScaleFactor": 1, "mobile": False}  # A4 within its margins
        chromium.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        chromium.js("dispatchEvent(new Event('beforeprint'))")
        assert chromium.js("return document.documentElement.scrollWidth") <= 718
    finally:
        chromium.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.mark.parametrize("game", GAMES)
def test_a_replay_steps_to_the_recorded_end_and_back(chromium, page, records, game):
    chromium.open(page)
    match = offered(chromium, game)[0]
    chromium.replay(match)
    first = chromium.js("return viewer.querySelector('[data-part=table]').innerHTML")
    assert "<svg" in first
    steps = chromium.js(
        "const next = viewer.querySelector('[data-part=next]'); let steps = 0;"
        "while (!next.disabled && steps < 5000) { next.click(); steps += 1; } return steps"
    )
    assert len(records[match].actions) <= steps < 5000
    final = chromium.js(
        "return [...viewer.querySelectorAll('.final li')]"
        ".map((one) => [one.dataset.seat, one.dataset.score, one.value])"
    )
    ended = records[match]
    told = {int(seat): (int(score), rank) for seat, score, rank in final}
    assert told == dict(enumerate(zip(ended.scores, ended.ranks, strict=True)))
    chromium.js(
        "const back = viewer.querySelector('[data-part=back]');"
        "for (let left = arguments[0]; left > 0; left -= 1) back.click()",
        steps,
    )
    assert chromium.js("return viewer.querySelector('[data-part=table]').innerHTML") == first


@pytest.mark.parametrize("game", GAMES)
def test_every_step_is_drawn_and_for_every_seat(chromium, page, records, game):
    chromium.open(page)
    match = offered(chromium, game)[0]
    chromium.replay(match)
    seats = len(records[match].seats)
    for seat in range(seats):
        chromium.watch_as(str(seat))
        drawn = chromium.js(
            "const slider = viewer.querySelector('[data-part=slider]'); let drawn = 0;"
            "for (let at = arguments[0]; at <= Number(slider.max); at += arguments[1]) {"
            "  slider.value = at; slider.dispatchEvent(new Event('input'));"
            "  const board = viewer.querySelector('svg.board');"
            "  if (/NaN|undefined|null/.test(board.outerHTML)) throw new Error(`step ${at}: ${board.outerHTML}`);"
            "  drawn += board.querySelectorAll('*').length > 100; }"
            "return drawn",
            seat,
            seats,
        )
        assert drawn >= len(records[match].actions) // seats


def test_a_seat_sees_only_its_own_hidden_cards_and_the_referee_sees_all(chromium, page):
    chromium.open(page)
    chromium.replay(offered(chromium, "x-pasch")[0])
    backs = "return viewer.querySelectorAll('svg.board .back').length"
    assert chromium.js(backs) == 1  # the pile
    chromium.watch_as("2")
    assert chromium.js(backs) == 1 + 3 * 3
    assert chromium.texts(".legal li") == []  # seat 0 is on turn: what it may choose tells its cards
    chromium.watch_as("0")
    assert len(chromium.texts(".legal li.taken")) == 1
    private = "return [...viewer.querySelectorAll('.events .secret')].map((one) => one.textContent)"
    assert len(chromium.js(private)) == 1
    chromium.watch_as("referee")
    assert len(chromium.js(private)) == 1 + 4


def test_the_play_button_starts_and_pauses_the_replay(chromium, page):
    chromium.open(page)
    chromium.js("const pace = viewer.querySelector('[data-part=speed]'); pace.value = '20'")
    chromium.js("viewer.querySelector('[data-part=play]').click()")
    chromium.wait("return Number(viewer.querySelector('[data-part=slider]').value) >= 2")
    chromium.js("viewer.querySelector('[data-part=play]').click()")
    assert chromium.texts("[data-part=play]") == ["▶ Play"]


def test_every_step_of_a_replay_has_its_own_link(chromium, page):
    chromium.open(page)
    match = offered(chromium)[-1]
    chromium.js("location.hash = new URLSearchParams({ match: arguments[0], step: 5 })", match)
    chromium.wait("return viewer.dataset.open === arguments[0]", match)
    assert chromium.texts("[data-part=place]")[0].startswith("5 / ")
    linked = chromium.js("return viewer.querySelector('[data-part=link]').hash")
    assert linked == f"#match={match}&step=5"


def test_a_fault_leads_to_its_replay(chromium, page, records):
    chromium.open(page)
    match = chromium.js("const one = document.querySelector('[data-replay]'); one.click(); return one.dataset.replay")
    chromium.wait("return viewer.dataset.open === arguments[0]", match)
    assert records[match].faults


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_fits_a_phone(chromium, page, dark):
    chromium.open(page, width=390, dark=dark)
    assert chromium.js("return document.documentElement.scrollWidth") <= 390
    assert chromium.js("return getComputedStyle(document.body).backgroundColor") == (
        "rgb(20, 24, 30)" if dark else "rgb(255, 255, 255)"
    )


def test_a_replay_of_a_game_without_a_drawing_is_shown_as_text(chromium, tmp_path):
    game = Nim.configure()
    entrant = REGISTRY.entrants(["random"])[0]
    played = play_match(MatchSpec("nim-1", 0, "nim", "nim", {}, 3, ("random", HOSTILE)), game, [entrant] * 2)
    page = write_report(PageParts(recorded(tmp_path / "run", [played], "nim"), {"nim": game}), tmp_path / "page.html")
    chromium.open(page)
    assert len(chromium.texts(".text-table")) == 1
    assert game.render(game.new(2, None).view(0)) in chromium.texts(".text-table")[0]
    chromium.js("viewer.dispatchEvent(new KeyboardEvent('keydown', { key: 'End' }))")
    assert len(chromium.texts(".final li")) == 2


def test_the_viewer_says_why_a_match_cannot_be_shown(chromium, tmp_path):
    page = write_report(PageParts(recorded(tmp_path / "run", [record("ab", (1, 2))])), tmp_path / "page.html")
    chromium.driver.get(page.as_uri())
    assert chromium.texts("[data-part=trouble]")[0].endswith("is not installed here.")
    assert chromium.texts("[data-part=next]") == []


def test_the_index_of_the_site_links_to_runs_and_bots(chromium, tmp_path):
    site = tmp_path / "site"
    publish([recorded(tmp_path / "run", [record((HOSTILE, LONG), (1, 2))])], load(), site)
    chromium.open(site / "index.html", width=390)
    assert chromium.js("return document.documentElement.scrollWidth") <= 390
    chromium.js("document.querySelector('.podium a').click()")
    chromium.wait("return location.href.includes('/bots/')")
    assert chromium.js("return document.documentElement.scrollWidth") <= 390
    assert chromium.texts("h1") == [LONG]
    assert chromium.texts("h2") == ["sim"]
    chromium.js("document.querySelector('table a').click()")
    chromium.wait("return location.href.includes('/runs/')")
    assert chromium.js("return document.documentElement.scrollWidth") <= 390
    assert chromium.texts("h1") == ["run"]
