"""A visit to a published site in a real browser: find a match, watch it, share it; on a phone too, without a mouse."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from tests.report.browser import Browser, browser
from tests.report.support import SERIOUS, SMALL_CONTROLS, SMALL_TEXTS

PHONE, DESKTOP = 390, 1280
SCREENS = pytest.mark.parametrize(
    ("width", "dark"), list(product((DESKTOP, PHONE), (False, True))),
    ids=["desktop, light", "desktop, dark", "phone, light", "phone, dark"],
)  # fmt: skip
PAGES = (
    "index.html", "league.html", "runs/index.html", "bots/index.html", "bots/outlaw.html", "bots/climber-2*.html",
    "games/el-paso.html", "runs/night/index.html", "runs/night/matches.html",
)  # fmt: skip


@pytest.fixture(scope="module")
def visitor() -> Iterator[Browser]:
    """A browser that has not seen the site."""
    with browser() as found:
        yield found


def press(chromium: Browser, key: str) -> None:
    from selenium.webdriver import ActionChains

    ActionChains(chromium.driver).send_keys(key).perform()


def place_of(chromium: Browser) -> list[str]:
    return chromium.texts("[data-part=place]")[0].split(" / ")


@SCREENS
def test_a_visitor_finds_a_match_watches_it_to_the_end_and_shares_the_step(chromium, visitor, address, width, dark):
    from selenium.webdriver.common.keys import Keys

    chromium.open(f"{address}index.html", width, dark)
    assert chromium.texts("h1") == ["Friday night"]
    assert "next update: every Friday" in chromium.texts("header .soft")[0]
    chromium.js("document.querySelector('a[href=\"runs/night/matches.html\"]').click()")
    chromium.wait("return document.getElementById('list')?.dataset.ready !== undefined")
    chromium.js(
        "const form = document.getElementById('filters'); form.elements.bot.value = 'outlaw';"
        "form.elements.which.value = 'stored'; form.elements.order.value = 'close';"
        "form.elements.bot.dispatchEvent(new Event('change', { bubbles: true }))"
    )
    chromium.wait("return document.getElementById('list').dataset.ready === 'all'")
    found = chromium.texts("#list .seats")
    assert found and all("outlaw" in row for row in found)
    assert chromium.js("return new URLSearchParams(location.hash.slice(1)).get('bot')") == "outlaw"
    assert chromium.texts("#list ol") == []  # no result is shown
    chromium.js("document.querySelector('#list .go a').click()")
    chromium.wait("return document.getElementById('viewer')?.dataset.open !== undefined")
    assert chromium.texts(".match-head + main .result ol") == []
    assert chromium.js("return document.activeElement === document.body")  # keys need no focus
    for _ in range(3):
        press(chromium, Keys.ARROW_RIGHT)
    step, last = place_of(chromium)
    assert step == "4"
    top = chromium.js("return scrollY")
    for label in ("Pause", "▶ Play"):
        press(chromium, Keys.SPACE)
        assert (chromium.texts("[data-part=play]"), chromium.js("return scrollY")) == ([label], top)
    while step != last:
        press(chromium, Keys.PAGE_DOWN)
        before, step = step, place_of(chromium)[0]
        assert int(before) < int(step)
    assert len(chromium.texts(".final li")) == 4
    press(chromium, Keys.PAGE_UP)
    visitor.open("about:blank", width, dark)
    visitor.open(chromium.js("return viewer.querySelector('[data-part=link]').href"), width, dark)
    assert place_of(visitor) == place_of(chromium) != [last, last]
    table = "return viewer.querySelector('[data-part=table]').textContent"
    assert visitor.js(table) == chromium.js(table)
    assert visitor.js("const box = viewer.getBoundingClientRect(); return box.top < innerHeight && box.bottom > 0")
    assert visitor.complaints() == []


def test_on_arrival_the_controls_cover_no_player_in_a_window_of_800_pixels(chromium, address, site):
    size = {"width": DESKTOP, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    for game in ("el-paso", "gnadenlos", "x-pasch"):
        page = next((site / "runs/night/matches").glob(f"{game}-*.html"))
        chromium.open("about:blank")
        chromium.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        chromium.driver.get(f"{address}runs/night/matches/{page.name}")
        chromium.wait("return document.getElementById('viewer')?.dataset.open !== undefined")
        shown = "const one = viewer.querySelector(arguments[0]).getBoundingClientRect(); return [one.top, one.bottom]"
        table, deck, play = (chromium.js(shown, part) for part in ("[data-part=table]", ".deck", "[data-part=play]"))
        assert 0 <= table[0] < table[1] <= deck[0] < play[1] <= 800, game


def test_matches_to_watch_are_one_tap_away_on_a_phone(chromium, address):
    chromium.open(f"{address}index.html", PHONE)
    chromium.driver.find_element("link text", "▶ Matches to watch").click()
    chromium.wait("return Math.abs(document.querySelector('#watch h2').getBoundingClientRect().top) < 100")


def test_a_match_that_cannot_be_watched_says_so(chromium, address):
    chromium.open(f"{address}runs/night/matches.html", PHONE)
    chromium.wait("return document.getElementById('list').dataset.ready !== undefined")
    without = chromium.js(
        "return [...document.querySelectorAll('#list .go')].filter((one) => !one.querySelector(':scope > a'))"
        ".map((one) => one.firstChild.textContent)"
    )
    assert without and set(without) == {"no replay stored"}
    assert "matches can be watched here" in chromium.texts("main > p")[0]


def every_page(site: Path) -> list[str]:
    """A page of each kind, with a replay of each game."""
    found = [str(next(site.glob(page)).relative_to(site)) for page in PAGES]
    replays = {path.name.rsplit("-", 1)[0]: path for path in sorted((site / "runs/night/matches").glob("*.html"))}
    return [*found, *(str(path.relative_to(site)) for path in replays.values())]


@SCREENS
def test_no_page_is_too_wide_too_small_or_an_obstacle(chromium, address, site, width, dark):
    tools = os.environ.get("ARENA_NODE", "")
    axe = Path(tools) / "node_modules/axe-core/axe.min.js"
    wrong = {}
    for page in every_page(site):
        chromium.open(address + page, width, dark)
        if page.endswith("matches.html"):
            chromium.wait("return document.getElementById('list').dataset.ready !== undefined")
        wide = chromium.js("return document.documentElement.scrollWidth")
        found = [f"it is {wide} px wide"] if wide > width else []
        found += chromium.js(SMALL_TEXTS) + chromium.js(SMALL_CONTROLS) if width == PHONE else []
        if tools:
            chromium.js(axe.read_text(encoding="utf-8"))
            found += chromium.driver.execute_async_script(SERIOUS)
        wrong |= {page: found} if found else {}
    assert wrong == {}
    if not tools:
        pytest.skip("ARENA_NODE does not name a folder with the npm package axe-core (.ci/node); all else was checked")


def test_the_page_of_a_game_says_how_it_plays_and_how_much_is_luck_and_how_much_is_skill(chromium, address):
    chromium.open(f"{address}games/el-paso.html")
    assert chromium.texts(".shares-key dt") == ["skill", "the deal", "the seat", "the rest"]
    wide = chromium.js("return [...document.querySelectorAll('.shares span')].map((one) => one.clientWidth)")
    assert wide[0] > 100 and sum(wide) > 500
    assert "40 matches of outlaw, random" in chromium.js("return document.querySelector('.shares-key + p').textContent")
    assert chromium.js("return fetch('el-paso.json').then((answer) => answer.ok)")
    assert any(text.startswith("Bandits plunder seven towns in a fixed order.") for text in chromium.texts("header p"))
    chromium.js("[...document.querySelectorAll('summary')].find((one) => one.textContent === 'The rules').click()")
    rules = chromium.texts("header details p")
    assert rules[0].startswith("EP-1 Six sites: bank, saloon") and rules[0].endswith("values 1-8 (48 in all).")
    assert "A round of plunder" in chromium.texts("header details h3")
    chromium.open(f"{address}games/gnadenlos.html")
    assert chromium.texts(".shares-key dt") == []


def test_versions_of_a_bot_are_on_one_curve_even_if_another_run_is_the_headline(site):
    page = next(site.glob("bots/climber-2*.html")).read_text(encoding="utf-8")
    assert "<h3>Versions</h3>" in page
    assert "The skill of each version, with its 95% interval; the oldest is on the left." in page
    assert '<th scope="row" class="word">climber@1</th>' in page


def test_a_fault_on_the_page_of_a_run_opens_its_decision(chromium, address, records):
    chromium.open(f"{address}runs/night/index.html")
    link = chromium.driver.find_element("css selector", ".fault a[href*='#decision=']")
    match, decision = link.text, int(link.get_attribute("href").rpartition("=")[2])
    link.click()
    chromium.wait("return document.activeElement?.id === 'viewer' && viewer.dataset.open === arguments[0]", match)
    assert decision in [fault.decision for fault in records[match].faults]
    assert chromium.texts("[data-part=choice] h4")[0].startswith("Next, failing")
    assert "stand-in takes at random" in chromium.texts("[data-part=choice] p")[0]
    assert chromium.texts("[data-part=since]")[0].startswith("fault: exception")


def test_a_result_is_guessed_before_it_is_shown(chromium, address):
    chromium.open(f"{address}runs/night/index.html")
    chromium.js("document.querySelector('.match details.result summary').click()")
    chromium.wait("return document.querySelector('.guess') !== null")
    assert chromium.texts(".match .result ol") == []
    chromium.js("document.querySelector('.guess button').click()")
    assert len(chromium.texts(".match .result ol")) == 1
    assert chromium.texts(".guess")[0].startswith(("Right!", "No, "))


def test_a_link_to_a_match_is_looked_up_in_the_list(chromium, address):
    chromium.open(f"{address}runs/night/matches.html#match=el-paso-1.1.1")
    chromium.wait("return document.getElementById('list').dataset.ready === 'one'")
    assert chromium.js("return document.querySelector('#list .match').dataset.match") == "el-paso-1.1.1"
    chromium.js("document.querySelector('#count a').click()")
    chromium.wait("return location.hash === '' && (document.getElementById('list')?.children.length ?? 0) > 1")
    chromium.open(f"{address}runs/index.html")
    chromium.open(f"{address}runs/night/matches.html#match=../../evil")
    chromium.wait("return document.getElementById('count').textContent.startsWith('There is no match')")


def test_a_site_opened_from_disk_lists_stored_replays_and_says_so(chromium, site):
    chromium.open(site / "runs/night/matches.html", PHONE)
    chromium.wait("return document.getElementById('list').dataset.ready === 'all'")
    assert "opened from disk" in chromium.texts("#disk")[0]
    assert chromium.texts("#list .match")
    chromium.js("document.querySelector('#list .go a').click()")
    chromium.wait("return document.getElementById('viewer')?.dataset.open !== undefined")


def test_a_face_is_the_same_in_the_browser_and_in_python(chromium, address, site):
    from harness.report.faces import face_svg

    page = sorted((site / "runs/night/matches").glob("*.html"))[0]
    chromium.open(f"{address}runs/night/matches/{page.name}")
    for name in ("outlaw", "ünïcode 🎲", "a:b=1,c=2"):
        colours = "[...node.querySelectorAll('[fill]')].map((one) => one.getAttribute('fill'))"
        drawn = chromium.js(f"const node = arena.face(arguments[0]); return {colours}", name)
        parsed = chromium.js(
            "const node = new DOMParser().parseFromString(arguments[0], 'text/html').querySelector('svg');"
            f"return {colours}", face_svg(name)
        )  # fmt: skip
        assert drawn == parsed
