"""The replay viewer in a real browser: on a phone and on a desk, by keyboard, by links, from mark to mark."""

from __future__ import annotations

import pytest

GAMES = ("el-paso", "gnadenlos", "x-pasch")
MIN_TEXT_PX, MIN_TARGET_PX = 11, 24


def first(chromium, game):
    listed = chromium.js("return [...viewer.querySelector('[data-part=match]').options].map((one) => one.value)")
    return next(match for match in listed if match.startswith(game))


def at(chromium):
    """The step that is shown, from 1."""
    return int(chromium.js("return viewer.querySelector('[data-part=place]').textContent").split(" / ")[0])


def press(chromium, key):
    from selenium.webdriver import ActionChains

    ActionChains(chromium.driver).send_keys(key).perform()


# What is measured at each step of a match on a phone: the script returns what is wrong.
MEASURE = """
const [textPx, targetPx] = arguments, wrong = new Set(), shown = (node) => node.checkVisibility();
const slider = viewer.querySelector('[data-part=slider]'), board = () => viewer.querySelector('svg.board');
const last = Number(slider.max), step = Math.max(1, Math.floor(last / 12));
for (let at = 0; at <= last; at += step) {
  slider.value = at;
  slider.dispatchEvent(new Event('input'));
  const frame = board().getBoundingClientRect(), screen = document.documentElement.clientWidth;
  const wide = document.documentElement.scrollWidth;
  if (wide > screen) wrong.add(`the page is ${wide} px wide`);
  if (frame.left < 0 || frame.right > screen + 0.5) wrong.add(`the board ends at ${frame.right}`);
  const scale = frame.width / board().viewBox.baseVal.width;
  for (const text of board().querySelectorAll('text')) {
    if (!text.textContent) continue;
    const matrix = text.getScreenCTM(), box = text.getBoundingClientRect();
    const size = parseFloat(getComputedStyle(text).fontSize) * Math.hypot(matrix.a, matrix.b);
    if (size < textPx - 0.05) wrong.add(`${size.toFixed(1)} px: ${text.textContent}`);
    const inside = box.left >= frame.left - 0.5 && box.right <= frame.right + 0.5 && box.bottom <= frame.bottom + 0.5;
    if (!inside) wrong.add(`cut off: ${text.textContent}`);
  }
  for (const text of viewer.querySelectorAll('.course text, .players *, .beside *, .deck *')) {
    if (text.closest('svg.board') || !shown(text) || !text.childNodes.length) continue;
    if (parseFloat(getComputedStyle(text).fontSize) < textPx) wrong.add(`small: ${text.tagName} ${text.textContent}`);
  }
}
for (const control of viewer.querySelectorAll('button, select, input, [data-part=link], svg [data-seat]')) {
  if (!shown(control)) continue;
  const box = control.getBoundingClientRect();
  const least = Math.min(box.width, box.height);
  if (least < targetPx - 0.05) wrong.add(`${least} px: ${control.outerHTML.slice(0, 80)}`);
}
return [...wrong];
"""


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seat", ["referee", "1"])
def test_on_a_phone_nothing_is_cut_off_and_texts_and_controls_are_large_enough(chromium, page, game, seat):
    chromium.open(page, width=390)
    chromium.replay(first(chromium, game))
    chromium.watch_as(seat)
    assert chromium.js("return viewer.querySelector('svg.board').classList.contains('narrow')")
    assert chromium.js(MEASURE, MIN_TEXT_PX, MIN_TARGET_PX) == []


@pytest.mark.parametrize("game", GAMES)
def test_on_a_phone_the_things_that_stand_for_actions_are_large_enough_to_tap(chromium, page, game):
    chromium.open(page, width=390)
    chromium.replay(first(chromium, game))
    chromium.watch_as("0")
    small = """
    const slider = viewer.querySelector('[data-part=slider]'), found = new Set();
    for (let at = 0; at <= Number(slider.max); at += 7) {
      slider.value = at;
      slider.dispatchEvent(new Event('input'));
      for (const piece of viewer.querySelectorAll('svg.board [data-action]')) {
        const box = piece.getBoundingClientRect();
        if (Math.min(box.width, box.height) < 23.95) found.add(`${piece.dataset.action}: ${box.width} x ${box.height}`);
      }
    }
    return [...found];
    """
    assert chromium.js(small) == []


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("game", GAMES)
def test_things_on_the_board_stand_for_the_actions_that_are_legal(chromium, page, game, width):
    chromium.open(page, width=width)
    match = first(chromium, game)
    chromium.replay(match)
    keys = {"el-paso": ("play", "draw", "carry"), "gnadenlos": ("lay", "hire"), "x-pasch": ("found", "place", "swap")}
    chromium.watch_as("turn")
    seen = chromium.js(
        "const slider = viewer.querySelector('[data-part=slider]'), found = new Set();"
        "for (let at = 0; at <= Number(slider.max); at += 4) {"
        "  slider.value = at; slider.dispatchEvent(new Event('input'));"
        "  for (const piece of viewer.querySelectorAll('svg.board [data-action]'))"
        "    for (const key of piece.dataset.action.split(' ')) found.add(key.split(':')[0]); }"
        "return [...found]"
    )
    assert set(seen) >= set(keys[game])
    key = "return arena.actionKey({ code: 3, kind: 'take pair', pair: 2, ious: [[1, 2]], text: 'x' })"
    assert chromium.js(key) == "take-pair:2:[[1,2]]"


def test_keys_step_and_go_from_mark_to_mark(chromium, page):
    from selenium.webdriver.common.keys import Keys

    chromium.open(page)
    chromium.replay(first(chromium, "el-paso"))
    chromium.js("viewer.focus()")
    press(chromium, Keys.ARROW_RIGHT)
    assert at(chromium) == 2
    press(chromium, Keys.ARROW_LEFT)
    assert at(chromium) == 1
    press(chromium, Keys.END)
    last = at(chromium)
    assert chromium.js("return Number(viewer.querySelector('[data-part=slider]').max)") == last - 1
    press(chromium, Keys.HOME)
    shown = [1]
    while shown[-1] < last:
        press(chromium, Keys.PAGE_DOWN)
        shown.append(at(chromium))
    stops = chromium.js("return [...viewer.querySelector('[data-part=jump]').options].map((one) => one.textContent)")
    assert [stop.split(" (")[0] for stop in stops if stop.startswith(("Deadwood", "Cheyenne"))] == [
        "Deadwood",
        "Cheyenne",
    ]
    assert shown == sorted({int(stop.rpartition("(")[2][:-1]) for stop in stops} | {1})
    press(chromium, Keys.PAGE_UP)
    assert at(chromium) == shown[-2]
    press(chromium, Keys.SPACE)
    assert chromium.texts("[data-part=play]") == ["Pause"]
    press(chromium, Keys.SPACE)
    assert chromium.texts("[data-part=play]") == ["▶ Play"]


def test_a_link_opens_the_viewer_on_screen_at_its_step_and_seat_with_the_keys_at_work(chromium, page):
    from selenium.webdriver.common.keys import Keys

    chromium.open(page)
    match = first(chromium, "x-pasch")
    chromium.driver.get("about:blank")
    chromium.driver.get(f"{page.as_uri()}#match={match}&step=12&seat=2")
    chromium.wait("return viewer.dataset.open === arguments[0] && document.activeElement === viewer", match)
    assert at(chromium) == 12
    assert chromium.js("return viewer.querySelector('[data-part=observer]').value") == "2"
    top, height = chromium.js("const box = viewer.getBoundingClientRect(); return [box.top, innerHeight]")
    assert -5 <= top < height / 2
    press(chromium, Keys.ARROW_RIGHT)
    assert at(chromium) == 13
    assert chromium.js("return viewer.querySelector('[data-part=link]').hash") == f"#match={match}&step=13&seat=2"
    chromium.driver.get("about:blank")
    chromium.driver.get(f"{page.as_uri()}#match=no-such-match&step=12")
    chromium.wait("return viewer.dataset.open !== undefined")
    assert at(chromium) == 1


def test_the_button_of_a_fault_opens_its_decision(chromium, page, records):
    chromium.open(page)
    match, decision = chromium.js(
        "const one = document.querySelector('button[data-replay]'); one.click();"
        "return [one.dataset.replay, Number(one.dataset.decision)]"
    )
    chromium.wait("return viewer.dataset.open === arguments[0] && document.activeElement === viewer", match)
    fault = records[match].faults[0]
    assert fault.decision == decision
    assert at(chromium) > 1
    assert "stand-in takes at random" in chromium.texts("[data-part=choice]")[0]
    assert any(text.startswith("fault: exception") for text in chromium.texts("[data-part=since]"))


def test_bots_are_called_by_name_and_their_notes_are_shown_to_those_who_may_see_them(chromium, page, records):
    chromium.open(page)
    match = next(name for name in chromium.js(
        "return [...viewer.querySelector('[data-part=match]').options].map((one) => one.value)"
    ) if "failing" in records[name].seats and name.startswith("el-paso"))  # fmt: skip
    chromium.replay(match)
    seat = records[match].seats.index("failing")
    options = chromium.js(
        "return [...viewer.querySelector('[data-part=observer]').options].map((one) => one.textContent)"
    )
    assert options[2 + seat] == "failing"
    assert not [text for text in options if "eat " in text]
    noted = (
        "const slider = viewer.querySelector('[data-part=slider]'); let found = [];"
        "for (let at = 0; at <= Number(slider.max) && found.length < 9 && at < 90; at += 1) {"
        "  slider.value = at; slider.dispatchEvent(new Event('input'));"
        "  found.push(...[...viewer.querySelectorAll('.note')].map((one) => one.textContent)); } return found"
    )
    assert chromium.js(noted) == [f"decision {number}" for number in range(1, 10)]
    chromium.watch_as(str((seat + 1) % 4))
    assert chromium.js(noted) == []


def test_what_changed_in_a_step_lights_up_and_the_course_ends_where_the_reader_is(chromium, page):
    chromium.open(page)
    chromium.replay(first(chromium, "x-pasch"))
    lit = "return viewer.querySelectorAll('svg.board .changed').length"
    assert chromium.js(lit) == 0
    go = (
        "const slider = viewer.querySelector('[data-part=slider]'); slider.value = arguments[0];"
        "slider.dispatchEvent(new Event('input'))"
    )
    counts = []
    for step in range(20, 30):
        chromium.js(go, step)
        counts.append(chromium.js(lit))
    assert all(count < 40 for count in counts)
    assert sum(count > 0 for count in counts) > 5
    ends = (
        "return [...viewer.querySelectorAll('.course .line')]"
        ".map((one) => one.getAttribute('d').split(/[ML]/).length - 1)"
    )
    assert chromium.js(ends) == [30] * 4
    chromium.js(go, 3)
    assert chromium.js(ends) == [30] * 4
    chromium.js("viewer.querySelector('[data-part=ahead]').click()")
    assert chromium.js(ends) == [chromium.js("return Number(viewer.querySelector('[data-part=slider]').max)") + 1] * 4


def test_a_long_match_plays_in_about_a_minute_and_stops_at_every_mark(chromium, page):
    """Timers are replaced: what is counted is the time that the viewer asks for."""
    chromium.open(page)
    chromium.replay(first(chromium, "el-paso"))
    played = chromium.js(
        "const real = window.setTimeout, waits = [], shown = [], queue = [];"
        "window.setTimeout = (work, wait) => { waits.push(wait); queue.push(work); return waits.length; };"
        "viewer.querySelector('[data-part=play]').click();"
        "const slider = viewer.querySelector('[data-part=slider]');"
        "while (queue.length) { queue.shift()(); shown.push(Number(slider.value)); }"
        "window.setTimeout = real;"
        "return [waits.reduce((a, b) => a + b, 0), shown, waits.length]"
    )
    total, shown, waits = played
    last = chromium.js("return Number(viewer.querySelector('[data-part=slider]').max)")
    assert shown[-1] == last
    assert 35_000 < total < 85_000, (total, waits)
    stops = chromium.js("return [...viewer.querySelector('[data-part=jump]').options].map((one) => one.textContent)")
    assert {int(stop.rpartition("(")[2][:-1]) - 1 for stop in stops} <= {0, *shown}


def test_on_a_phone_a_tap_on_a_line_makes_that_seat_the_large_one(chromium, page):
    chromium.open(page, width=390)
    chromium.replay(first(chromium, "el-paso"))
    assert chromium.js(
        "return [...viewer.querySelectorAll('svg.board [data-seat]')].map((one) => one.dataset.seat)"
    ) == ["1", "2", "3"]
    chromium.js(
        "viewer.querySelector('svg.board [data-seat=\"2\"]').dispatchEvent(new MouseEvent('click', { bubbles: true }))"
    )
    assert chromium.js(
        "return [...viewer.querySelectorAll('svg.board [data-seat]')].map((one) => one.dataset.seat)"
    ) == ["0", "1", "3"]


def test_a_window_that_becomes_narrow_gets_the_narrow_board(chromium, page):
    chromium.open(page)
    chromium.replay(first(chromium, "x-pasch"))
    assert not chromium.js("return viewer.querySelector('svg.board').classList.contains('narrow')")
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    chromium.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    chromium.wait("return viewer.querySelector('svg.board').classList.contains('narrow')")


@pytest.mark.parametrize("game", GAMES)
def test_boards_are_drawn_at_any_width_without_a_complaint(chromium, page, game):
    chromium.open(page)
    chromium.replay(first(chromium, game))
    drawn = chromium.js(
        "const table = viewer.querySelector('[data-part=table]'), slider = viewer.querySelector('[data-part=slider]');"
        "const widths = [240, 300, 338, 390, 480, 600, 659, 680, 900], last = Number(slider.max); let drawn = 0;"
        "for (const width of widths) { table.style.width = `${width}px`; for (const share of [0, 0.3, 0.6, 0.9, 1]) {"
        "  slider.value = Math.floor(share * last); slider.dispatchEvent(new Event('input'));"
        "  const board = viewer.querySelector('svg.board');"
        "  if (/NaN|undefined|null|--/.test(board.outerHTML)) throw new Error(`${width}: ${board.outerHTML}`);"
        "  drawn += 1; } }"
        "return drawn"
    )
    assert drawn == 45  # and the console is clean, see above


def test_the_course_has_the_colours_that_the_seats_have_on_the_board(chromium, page):
    chromium.open(page)
    chromium.replay(first(chromium, "gnadenlos"))
    lines = chromium.js("return [...viewer.querySelectorAll('.course .line')].map((one) => one.getAttribute('stroke'))")
    hats = chromium.js(
        "return [0, 1, 2, 3].map((seat) => [...viewer.querySelectorAll(`[data-zone='seat:${seat}'] path`)]"
        ".map((one) => one.getAttribute('fill')).find((fill) => fill?.startsWith('#')))"
    )
    assert lines == hats
