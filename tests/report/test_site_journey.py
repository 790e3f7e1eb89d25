"""A visit to a published site in a real browser: find a match, watch it, share it; on a phone too, without a mouse."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.output.support import play
from tests.report.browser import Browser, browser
from tests.report.test_browser import FAILING
from tests.support.cli import arena

PHONE, DESKTOP = 390, 1280
BOTS = ("random", "outlaw", "diehard", "skittish", "miser", "debtor", "raider", "founder")
PAGES = (
    "index.html", "league.html", "runs/index.html", "bots/index.html", "bots/outlaw.html", "games/el-paso.html",
    "runs/night/index.html", "runs/night/matches.html",
)  # fmt: skip
SMALL_TEXTS = """
const found = new Map();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode, box = node.parentElement;
  if (!node.textContent.trim() || !box.checkVisibility({ visibilityProperty: true })) continue;
  if (box.closest("title, desc, option, script, noscript")) continue;
  const svg = box.closest("svg"), scale = svg ? Math.hypot(box.getScreenCTM().b, box.getScreenCTM().d) : 1;
  const size = parseFloat(getComputedStyle(box).fontSize) * scale;
  const kind = `${size.toFixed(1)} px in ${box.tagName} ${box.className.baseVal ?? box.className}`;
  if (size < 10.99) found.set(kind, node.textContent.trim().slice(0, 40));
}
return [...found].map((pair) => pair.join(": "));
"""
SMALL_CONTROLS = """
return [...document.querySelectorAll("a, button, select, input, summary")].filter((one) => one.checkVisibility())
  .map((one) => [one, one.getBoundingClientRect()])
  .filter(([one, own]) => own.height < 23.99 || (own.width < 23.99 && one.localName !== "a"))
  .map(([one, own]) => `${one.outerHTML.slice(0, 90)}: ${own.width.toFixed(0)} x ${own.height.toFixed(1)}`);
"""
SERIOUS = """
const done = arguments[arguments.length - 1];
const shown = (node) => `${node.html.slice(0, 120)} ${node.any[0]?.message ?? ""}`;
axe.run(document, { resultTypes: ["violations"] }).then((found) => done(found.violations
  .filter((one) => ["serious", "critical"].includes(one.impact))
  .map((one) => `${one.id}: ${one.nodes.slice(0, 3).map(shown).join(" | ")}`)),
  (error) => done([String(error)]));
"""


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and prints nothing."""

    def log_message(self, *_args: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Path:
    """A site of a run of all games and of a league with two versions of a bot, in a folder of its server."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "failing.py").write_text(FAILING)
    bots = [arg for bot in (*BOTS, folder / "failing.py") for arg in ("--bot", bot)]
    play(folder / "results" / "night", "--deals", 1, "--players", 3, "--seed", 4, *bots)
    league = folder / "autumn"
    arena("league", "init", league, "--game", "el-paso", "--seed", 5)
    arena("league", "add", "outlaw", "diehard", "random", "-L", league)
    (folder / "climber.py").write_text(CLIMBER.format(taken=-1))
    arena("league", "add", folder / "climber.py", "--author", "Ada", "-L", league)
    arena("league", "run", "--matches", 12, "--workers", 0, "-q", "-L", league)
    (folder / "climber.py").write_text(CLIMBER.format(taken=0))
    arena("league", "add", folder / "climber.py", "--author", "Ada", "-L", league)
    arena("league", "run", "--matches", 12, "--workers", 0, "-q", "-L", league)
    root = folder / "www" / "some" / "place"
    arena("league", "publish", "--to", root, "--replays", 2, "-L", league)
    arena(
        "publish", "night", "--results", folder / "results", "--to", root, "--replays", 12,
        "--title", "Friday night", "--headline", "night", "--next", "every Friday",
    )  # fmt: skip
    return root


CLIMBER = '''
from harness import Bot
class Climber(Bot):
    """Takes the same place in every list."""
    games = ("el-paso",)
    def choose(self, view, actions):
        return actions[{taken}]
'''


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site.parent.parent))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/some/place/"
    server.shutdown()
    server.server_close()


@pytest.fixture(autouse=True)
def _no_complaint_and_no_request_to_another_host(chromium: Browser, address: str) -> Iterator[None]:
    chromium.complaints()
    chromium.requests()
    yield
    assert chromium.complaints() == []
    ours = (address, "file:", "data:", "blob:", "about:")
    assert [url for url in chromium.requests() if not url.startswith(ours)] == []


def place_of(chromium: Browser) -> str:
    return str(chromium.texts("[data-part=place]")[0])


@pytest.mark.parametrize(("width", "dark"), [(DESKTOP, False), (PHONE, True)], ids=["desktop, light", "phone, dark"])
def test_a_visitor_finds_a_match_watches_it_to_the_end_and_shares_the_step(chromium, address, width, dark):
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
    box = chromium.driver.find_element("id", "viewer")
    chromium.js("viewer.focus()")
    steps = int(place_of(chromium).split("/")[1])
    for _ in range(3):
        box.send_keys(Keys.ARROW_RIGHT)
    assert place_of(chromium).split("/")[0].strip() != "1"
    box.send_keys(Keys.END)
    assert place_of(chromium).split("/")[0].strip() == str(steps)
    shared = chromium.js("return viewer.querySelector('[data-part=link]').href")
    with browser() as fresh:
        fresh.open(shared, width, dark)
        assert place_of(fresh) == place_of(chromium)
        assert fresh.js("const box = viewer.getBoundingClientRect(); return box.top < innerHeight && box.bottom > 0")
        assert fresh.complaints() == []


def every_page(site: Path) -> list[str]:
    replays = {path.name.rsplit("-", 1)[0]: path for path in sorted((site / "runs/night/matches").glob("*.html"))}
    return [*PAGES, *(str(path.relative_to(site)) for path in replays.values())]


def open_all(chromium: Browser, address: str, site: Path, width: int, dark: bool) -> Iterator[str]:
    """Opens every kind of page."""
    for page in every_page(site):
        chromium.open(address + page, width, dark)
        if page.endswith("matches.html"):
            chromium.wait("return document.getElementById('list').dataset.ready !== undefined")
        yield page


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_no_page_is_wider_than_the_screen(chromium, address, site, width):
    wide = {}
    for page in open_all(chromium, address, site, width, dark=False):
        wide[page] = chromium.js("return document.documentElement.scrollWidth")
    assert {page: found for page, found in wide.items() if found > width} == {}


def test_on_a_phone_every_text_is_readable_and_every_control_can_be_hit(chromium, address, site):
    small = {}
    for page in open_all(chromium, address, site, PHONE, dark=False):
        small[page] = chromium.js(SMALL_TEXTS) + chromium.js(SMALL_CONTROLS)
    assert {page: found for page, found in small.items() if found} == {}


@pytest.mark.parametrize(("width", "dark"), [(DESKTOP, False), (PHONE, True)], ids=["desktop, light", "phone, dark"])
def test_no_page_has_a_serious_obstacle(chromium, address, site, width, dark):
    tools = os.environ.get("ARENA_NODE", "")
    if not tools:
        pytest.skip("ARENA_NODE does not name a folder with the npm package axe-core (.ci/node)")
    axe = Path(tools) / "node_modules/axe-core/axe.min.js"
    obstacles = {}
    for page in open_all(chromium, address, site, width, dark):
        chromium.js(axe.read_text(encoding="utf-8"))
        obstacles[page] = chromium.driver.execute_async_script(SERIOUS)
    assert {page: found for page, found in obstacles.items() if found} == {}


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
