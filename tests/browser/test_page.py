"""The pages in a real browser: matches by clicks, true and false records, typed bots, what a bot cannot do."""

from __future__ import annotations

import json
import threading
import zipfile
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from harness.browser.files import write_page
from harness.browser.server import page_server
from harness.plugins.registry import load
from harness.runs.reader import GAMES
from tests.browser.support import TOOLS, needs_runtime, runtime
from tests.report.browser import browser
from tests.support.cli import arena
from tests.support.waiting import wait_for

pytestmark = needs_runtime
EXPERTS = {"el-paso": "outlaw", "gnadenlos": "broker", "x-pasch": "tycoon"}
MIN_TARGET_PX = 24
DONE = "return Number(document.body.dataset.ready || 0) > arguments[0]"
TAP = """
const finish = arguments[arguments.length - 1], { body } = document, match = document.getElementById('match');
const readyAfter = (before) => new Promise((done) => {
  const isReady = () => Number(body.dataset.ready) > before;
  if (isReady()) return done();
  const observer = new MutationObserver(() => { if (isReady()) { observer.disconnect(); done(); } });
  observer.observe(body, { attributes: true, attributeFilter: ['data-ready'] });
});
(async () => {
  let onBoard = 0, taps = 0;
  while (document.getElementById('result').hidden && document.getElementById('trouble').hidden) {
    const before = Number(body.dataset.ready), asksWhich = match.querySelector('#choices p');
    const piece = asksWhich ? null : match.querySelector('#table .can');
    (piece || match.querySelector('#choices button')).dispatchEvent(new MouseEvent('click', { bubbles: true }));
    taps += 1;
    if (piece) onBoard += 1;
    if (body.classList.contains('busy')) await readyAfter(before);  // otherwise the page asks which of several is meant
  }
  return { onBoard, taps };
})().then(finish, (error) => finish({ error: String(error) }));
"""
SMALL_TARGETS = """
return [...document.querySelectorAll('button, select, input, summary, a, .can')]
  .filter((one) => one.checkVisibility())
  .map((one) => [one.getBoundingClientRect(), one])
  .filter(([box]) => Math.min(box.width, box.height) < arguments[0] - 0.5)
  .map(([box, one]) => `${one.tagName} ${one.textContent.slice(0, 30)} ${one.dataset.action || ''} ${box.width}`);
"""


class Visitor:
    """A browser with the pages on a server under a sub-path."""

    def __init__(self, page, address, downloads):
        self.page, self.address, self.downloads = page, address, downloads

    def resize(self, width):
        size = {"width": width, "height": 850, "deviceScaleFactor": 1, "mobile": width < 600}
        self.page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def shows(self, name):
        """Whether this page is open, and nothing went wrong there."""
        fine = "return location.href === arguments[0] && document.getElementById('trouble').hidden"
        return self.page.js(fine, f"{self.address}/{name}")

    def open(self, name, width=1280):
        self.resize(width)
        self.page.driver.get("about:blank")
        self.page.driver.get(f"{self.address}/{name}")
        self.page.wait("return document.body.dataset.ready || !document.getElementById('trouble').hidden")
        assert self.page.js("return document.getElementById('trouble').textContent") == ""

    def act(self, script, *arguments):
        """Runs a script and waits until the page has done what it asked for."""
        before = self.page.js("return Number(document.body.dataset.ready || 0)")
        self.page.js(script, *arguments)
        self.page.wait(DONE, before)

    def downloaded(self, script):
        """The files in the zip file that a script downloads."""
        for old in self.downloads.glob("*.zip"):
            old.unlink()
        self.page.js(script)
        return wait_for(lambda: next(self.downloads.glob("*.zip"), None), "a download")

    def check_quiet(self):
        assert [each for each in self.page.complaints() if "favicon" not in each] == []
        foreign = [
            url
            for url in self.page.requests()
            if not url.startswith((self.address.rsplit("/", 1)[0], "blob:", "data:", "about:"))
        ]
        assert foreign == []


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    write_page(folder / "sub" / "path", load(), runtime())
    with page_server(folder) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/sub/path"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def visitor(site, tmp_path_factory):
    downloads = tmp_path_factory.mktemp("downloads")
    with browser() as page:
        page.driver.execute_cdp_cmd(
            "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)}
        )
        yield Visitor(page, site, downloads)


def axe(visitor):
    """The serious findings of axe-core."""
    visitor.page.js((Path(TOOLS) / "node_modules/axe-core/axe.min.js").read_text())
    found = visitor.page.driver.execute_async_script(
        "const done = arguments[arguments.length - 1]; axe.run().then((all) => done(all.violations.map((one) =>"
        " [one.impact, one.id, one.nodes.map((node) => node.html.slice(0, 120)).slice(0, 3)])))"
    )
    return [each for each in found if each[0] in ("serious", "critical")]


BEGIN = """
const [game, bot] = arguments;
if (!document.getElementById('match').hidden) document.getElementById('another').click();
const choose = (id, value) => {
  const list = document.getElementById(id);
  list.value = value;
  list.dispatchEvent(new Event('change', { bubbles: true }));
};
choose('game', game);
choose('opponent-0', bot);
document.getElementById('seed').value = '7';
document.getElementById('begin').click();
"""


def begin(visitor, game, width):
    """Begins a match, in the page that is open if it is that page: to start Python again takes longer than a match."""
    if not visitor.shows("index.html"):
        visitor.open("index.html", width)
    visitor.resize(width)
    visitor.act(BEGIN, game, EXPERTS[game])


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("game", EXPERTS)
def test_a_whole_match_by_taps_becomes_a_record_that_verify_accepts(visitor, tmp_path, game, width):
    begin(visitor, game, width)
    assert visitor.page.js(SMALL_TARGETS, MIN_TARGET_PX) == []
    assert visitor.page.js("return document.documentElement.scrollWidth") <= width
    if TOOLS:
        assert axe(visitor) == []
    found = visitor.page.driver.execute_async_script(TAP)
    assert "error" not in found, found
    assert found["onBoard"] > found["taps"] / 4
    assert "true" in visitor.page.js("return document.getElementById('checked').textContent")
    archive = visitor.downloaded("document.getElementById('download').click()")
    with zipfile.ZipFile(archive) as files:
        files.extractall(tmp_path)
    [run] = tmp_path.iterdir()
    done = arena("verify", run, "--bots", "--isolate", "off", "--workers", "0")
    assert done.exit_code == 0, done.output
    assert "the bots decide as recorded" in done.output
    assert EXPERTS[game] in (run / GAMES).read_text()
    visitor.check_quiet()


def test_a_match_is_kept_and_continued_and_a_hint_and_rules_are_given(visitor):
    begin(visitor, "el-paso", 390)
    visitor.act("document.querySelector('#table .can, #choices button').dispatchEvent(new MouseEvent('click'))")
    shown = visitor.page.js("return document.getElementById('table').textContent")
    visitor.act("document.getElementById('hint').click()")
    assert "would choose" in visitor.page.js("return document.getElementById('advice').textContent")
    visitor.act("document.querySelector('#rules summary').click()")
    assert "EP-" in visitor.page.js("return document.getElementById('rule-list').textContent")
    visitor.open("index.html", 390)
    visitor.act("document.getElementById('continue').click()")
    assert visitor.page.js("return document.getElementById('table').textContent") == shown
    visitor.check_quiet()


def test_a_true_record_is_true_and_a_tampered_one_is_not(visitor):
    match = arena_record()
    visitor.open("verify.html", 390)
    check = "document.getElementById('record').value = arguments[0]; document.getElementById('check').click()"
    visitor.act(check, match)
    assert visitor.page.js("return document.querySelector('#findings li').className") == "true"
    record = json.loads(match)
    visitor.act(check, json.dumps({**record, "scores": record["scores"][::-1]}))
    assert visitor.page.js("return document.querySelector('#findings li').className") == "false"
    assert "scores" in visitor.page.js("return document.querySelector('#findings li').textContent")
    visitor.check_quiet()


def arena_record():
    import msgspec

    from harness import play_match

    return msgspec.json.encode(play_match("el-paso", ["outlaw", "diehard"], seed=7).record).decode()


# A bot of other people in the page.


class CountingHandler(SimpleHTTPRequestHandler):
    """A server that any page may ask; it counts who does."""

    asked: list[str] = []  # noqa: RUF012 - one server at a time

    def do_GET(self):
        self.asked.append(self.path)
        self.send_response(200)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()

    do_POST = do_OPTIONS = do_GET  # noqa: N815 - the names that the base class looks up

    def log_message(self, *_):
        pass


@contextmanager
def listening():
    CountingHandler.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(CountingHandler)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


HOSTILE = """
from harness import Bot
import js
from pyodide.code import run_js

TRIES = run_js('''(address) => {
  const said = [];
  const attempt = (what, act) => {
    try { act(); said.push(what + ": no error"); } catch (error) { said.push(what + ": " + error.name); }
  };
  const request = new XMLHttpRequest();
  attempt("xhr", () => { request.open("GET", address + "/xhr", false); request.send(); });
  attempt("socket", () => new WebSocket(address.replace("http", "ws") + "/socket"));
  attempt("events", () => new EventSource(address + "/events"));
  attempt("worker", () => new Worker(address + "/worker.js"));
  attempt("import", () => { import(address + "/import.js").catch(() => 0); });
  attempt("fetch", () => { WorkerGlobalScope.prototype.fetch.call(globalThis, address + "/fetch").catch(() => 0); });
  attempt("indexedDB", () => { indexedDB.open("x"); });
  attempt("caches", () => { caches.open("x").catch(() => 0); });
  attempt("localStorage", () => { localStorage.setItem("x", "1"); });
  attempt("message", () => { postMessage({ ready: true }); postMessage({ failed: "<img src=x>" }); });
  attempt("parent", () => { parent.document.title = "taken"; });
  attempt("window", () => { window.top.location = address; });
  return said.join("\\\\n");
}''')


class Spy(Bot):
    games = ("el-paso",)

    def choose(self, view, actions):
        raise ValueError("TRIED\\n" + TRIES("ADDRESS"))
"""


def test_a_bot_in_the_page_reaches_no_network_no_storage_and_not_the_page(visitor):
    with listening() as address:
        visitor.open("write.html")
        title = visitor.page.js("return document.title")
        run_source(visitor, HOSTILE.replace("ADDRESS", address))
        said = visitor.page.js("return document.getElementById('outcome').textContent")
        assert "TRIED" in said, said
        for what in ("indexedDB", "localStorage", "parent", "window", "xhr"):
            assert f"{what}: no error" not in said, said
        visitor.page.driver.execute_async_script("setTimeout(arguments[0], 500)")  # requests that were begun
        assert CountingHandler.asked == []
    assert visitor.page.js("return document.title") == title
    assert visitor.page.js("return document.querySelectorAll('img').length") == 0
    assert visitor.page.js("return localStorage.getItem('x')") is None
    visitor.page.complaints()  # what the browser refused is in its console


def run_source(visitor, source):
    """Runs a typed bot and waits for the outcome."""
    visitor.page.js("localStorage.setItem('arena-bot-el-paso', arguments[0])", source)
    visitor.open("write.html#game=el-paso")
    visitor.act("document.getElementById('run').click()")


def test_a_bot_with_a_bug_is_fixed_plays_and_goes_home_as_a_package(visitor, tmp_path):
    visitor.page.driver.get(f"{visitor.address}/write.html")
    visitor.page.js("localStorage.clear()")
    visitor.open("write.html#game=el-paso", 390)
    good = visitor.page.js("return document.querySelector('.cm-content').innerText").replace("\u200b", "")
    assert "class MyBot" in good
    assert visitor.page.js("return document.documentElement.scrollWidth") <= 390
    if TOOLS:
        assert axe(visitor) == []
    source = BOT.replace("max(actions", "maximum(actions")
    line = next(number for number, text in enumerate(source.splitlines(), 1) if "maximum" in text)
    run_source(visitor, source)
    outcome = visitor.page.js("return document.getElementById('outcome').textContent")
    assert f"my_bot.py:{line}" in outcome
    assert "NameError" in outcome
    assert visitor.page.js("return document.querySelectorAll('.cm-lintRange-error').length") > 0
    run_source(visitor, BOT)
    assert "of 100 matches" in visitor.page.js("return document.getElementById('outcome').textContent")
    archive = visitor.downloaded("document.getElementById('package').click()")
    with zipfile.ZipFile(archive) as files:
        files.extractall(tmp_path)
    package = tmp_path / "night-owl"
    done = arena("check", package / "night_owl_bot.py", "--isolate", "off")
    assert done.exit_code == 0, done.output
    visitor.check_quiet()


BOT = '''"""A bot."""

from harness import Bot


class NightOwl(Bot):
    """Takes what is worth most."""

    games = ("el-paso",)

    def choose(self, view, actions):
        return max(actions, key=lambda action: getattr(action, "value", 0))
'''


def test_the_stop_button_ends_an_endless_loop(visitor):
    source = BOT.replace("        return max", "        while True:\n            pass\n        return max")
    visitor.page.js("localStorage.setItem('arena-bot-el-paso', arguments[0])", source)
    visitor.open("write.html#game=el-paso")
    before = visitor.page.js("return Number(document.body.dataset.ready)")
    visitor.page.js("document.getElementById('run').click()")
    visitor.page.wait("return !document.getElementById('stop').hidden")
    visitor.page.js("document.getElementById('stop').click()")
    visitor.page.wait(DONE, before)
    visitor.page.js("localStorage.setItem('arena-bot-el-paso', arguments[0])", BOT)
    run_source(visitor, BOT)
    assert "of 100 matches" in visitor.page.js("return document.getElementById('outcome').textContent")
