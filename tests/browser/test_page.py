"""The pages in a real browser: matches by clicks, true and false records, typed bots, what a bot cannot do."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import threading
import zipfile
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from harness.browser.server import page_server
from harness.plugins.registry import load
from harness.runs.reader import GAMES
from tests.browser import same_records
from tests.browser.support import ROOT, RUNTIME, TOOLS, needs_runtime
from tests.report.browser import browser
from tests.support.cli import arena
from tests.support.packages import install
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
    const answers = match.querySelectorAll('#choices button'), onlyCancel = asksWhich && answers.length === 1;
    const answer = onlyCancel ? match.querySelector('#every-choice button') : answers[0];
    (piece || answer).dispatchEvent(new MouseEvent('click', { bubbles: true }));
    taps += 1;
    if (piece) onBoard += 1;
    if (body.classList.contains('busy')) await readyAfter(before);  // otherwise the page asks which of several is meant
  }
  return { onBoard, taps };
})().then(finish, (error) => finish({ error: String(error) }));
"""
CHOOSE = """
const list = document.getElementById(arguments[0]);
list.value = arguments[1];
list.dispatchEvent(new Event('change', { bubbles: true }));
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
        # The browser makes an empty file of that name before it moves the finished download there.
        return wait_for(lambda: next(filter(zipfile.is_zipfile, self.downloads.glob("*.zip")), None), "a download")

    def text(self, name):
        """The text of a part of the page."""
        return self.page.js("return document.getElementById(arguments[0]).textContent", name)

    def choose(self, name, value):
        """Chooses from a list, as a person does."""
        self.page.js(CHOOSE, name, value)

    def check_layout(self, width):
        """Nothing is too wide or too small at this width, and axe-core finds nothing serious."""
        self.resize(width)
        assert self.page.js(SMALL_TARGETS, MIN_TARGET_PX) == []
        assert self.page.js("return document.documentElement.scrollWidth") <= width
        if TOOLS:
            assert axe(self) == []

    def check_quiet(self):
        assert [each for each in self.page.complaints() if "favicon" not in each] == []
        foreign = [
            url
            for url in self.page.requests()
            if not url.startswith((self.address.removesuffix("/play"), "blob:", "data:", "about:"))
        ]
        assert foreign == []


LONE = """from harness import Bot


class {name}(Bot):
    \"\"\"Takes the first choice.\"\"\"

    games = ("el-paso",)

    def choose(self, view, actions):
        return actions[0]  # how {name} thinks
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a published site: a run of four bots, one of them with its source, and a game from a package."""
    home = tmp_path_factory.mktemp("home")
    for name in ("Open", "Secret"):
        (home / f"{name.lower()}.py").write_text(LONE.format(name=name))
    command(home, "new-game", "flip-seven")
    install(home / "packages", home / "flip-seven")
    bots = [f"--bot={bot}" for bot in ("outlaw", "diehard", "open.py", "secret.py")]
    command(home, "tournament", "--game", "el-paso", "--deals", "1", "--name", "evening", "--workers", "0", *bots)
    sources = ("--with-source", "open.py", "--with-source", "flip-seven")
    to = ("--to", "site/sub/path", "--playable", "--runtime", RUNTIME)
    command(home, "publish", "evening", *to, *sources)
    return home


def command(home, *arguments):
    """Runs arena where the package with the game is installed."""
    environment = {**os.environ, "PYTHONPATH": f"{home / 'packages'}:{ROOT}"}
    started = [sys.executable, "-m", "harness", *arguments]
    done = subprocess.run(started, cwd=home, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def site(home):
    with page_server(home / "site") as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/sub/path/play"
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


def begin(visitor, game, width):
    """Begins a match, in the page that is open if it is that page: to start Python again takes longer than a match."""
    if not visitor.shows("index.html"):
        visitor.open("index.html", width)
    visitor.resize(width)
    visitor.page.js("if (!document.getElementById('match').hidden) document.getElementById('another').click()")
    visitor.choose("game", game)
    visitor.choose("opponent-0", EXPERTS.get(game, "random"))
    visitor.page.js("document.getElementById('seed').value = '7'")
    visitor.act("document.getElementById('begin').click()")


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("game", EXPERTS)
def test_a_whole_match_by_taps_becomes_a_record_that_verify_accepts(visitor, tmp_path, game, width):
    begin(visitor, game, width)
    visitor.check_layout(width)
    found = visitor.page.driver.execute_async_script(TAP)
    assert "error" not in found, found
    assert found["onBoard"] > found["taps"] / 4
    assert "true" in visitor.text("checked")
    saved = visitor.downloaded("document.getElementById('download').click()")
    with zipfile.ZipFile(saved) as files:
        files.extractall(tmp_path)
    [run] = tmp_path.iterdir()
    done = arena("verify", run, "--bots", "--isolate", "off", "--workers", "0")
    assert done.exit_code == 0, done.output
    assert "the bots decide as recorded" in done.output
    assert EXPERTS[game] in (run / GAMES).read_text()
    assert saved.name in visitor.text("download")
    visitor.check_quiet()


def test_a_match_is_kept_and_continued_and_hints_come_with_reasons_and_rules(visitor):
    begin(visitor, "el-paso", 390)
    visitor.act("document.querySelector('#table .can, #choices button').dispatchEvent(new MouseEvent('click'))")
    shown = visitor.text("table")
    visitor.act("document.getElementById('hint').click()")
    assert visitor.text("kinds") == "Draw a card from a site's pile."
    assert "outlaw would choose" in visitor.text("advice")
    assert visitor.page.texts("#advice li")
    visitor.act("document.querySelector('#rules summary').click()")
    assert "EP-" in visitor.text("rule-list")
    visitor.open("index.html", 390)
    visitor.act("document.querySelector('#all-rules summary').click()")
    assert "EP-1 " in visitor.text("all-rule-list")
    visitor.check_layout(390)
    assert "after 1 choices" in visitor.text("saved")
    visitor.act("document.querySelector('#saved button').click()")
    assert visitor.text("table") == shown
    visitor.check_quiet()


TAP_HAND = "document.querySelectorAll('#table .can[data-pick]')[arguments[0]].dispatchEvent(new MouseEvent('click'))"


def test_a_bid_is_picked_iou_by_iou_from_the_hand_and_can_be_changed_before_it_counts(visitor):
    begin(visitor, "gnadenlos", 390)
    while "sum of a bid" not in visitor.text("kinds"):
        visitor.act("document.querySelector('#choices button, #every-choice button').click()")
    visitor.check_layout(1280)
    visitor.check_layout(390)
    picks = visitor.page.js(
        "return [...document.querySelectorAll('#table .can[data-pick]')].map((one) => one.dataset.pick)"
    )
    last = len(picks) - 1
    for place in (0, last, 1, 2):
        visitor.page.js(TAP_HAND, place)
    assert visitor.page.texts("#choices button") == ["cancel"]  # of four IOUs no bid is made
    visitor.page.js(TAP_HAND, 1)
    visitor.page.js(TAP_HAND, 2)
    picked = [json.loads(picks[place])[0] for place in (0, last)]
    assert visitor.page.texts("#choices button") == [f"bid {sum(picked)}", "cancel"]
    visitor.act("document.querySelector('#choices button').click()")
    [bid] = [text for text in visitor.page.texts("#news li.fresh") if text.startswith("human (you) bids")]
    assert bid == f"human (you) bids {sum(picked)}: {picked[0]}+{picked[1]} of human (you)."
    visitor.check_quiet()


def test_if_it_is_wanted_a_tap_on_the_table_asks_first_and_a_second_one_confirms(visitor):
    visitor.open("index.html", 390)
    begin(visitor, "el-paso", 390)
    visitor.page.js("document.getElementById('ask-first').click()")
    visitor.open("index.html", 390)
    begin(visitor, "el-paso", 390)  # the wish is remembered
    tap = "document.querySelectorAll('#table .can')[arguments[0]].dispatchEvent(new MouseEvent('click'))"
    shown = visitor.text("table")
    for place in (0, 1):
        visitor.page.js(tap, place)
    assert visitor.text("choices").startswith("Do this?")
    visitor.check_layout(390)
    visitor.page.js("document.querySelector('#choices button:last-child').click()")
    assert visitor.text("choices") == ""
    assert visitor.text("table") == shown
    visitor.page.js(tap, 1)
    visitor.act(tap, 1)
    assert visitor.text("table") != shown
    visitor.page.js("document.getElementById('ask-first').click()")
    shown = visitor.text("table")
    visitor.act(tap, 0)
    assert visitor.text("table") != shown
    visitor.page.js("localStorage.clear()")
    visitor.check_quiet()


def test_a_payday_is_shown_one_sentence_at_a_time_before_the_next_choice(visitor):
    begin(visitor, "gnadenlos", 390)
    shown = "return document.querySelectorAll('#steps li').length >= arguments[0]"
    while not visitor.page.js(shown, 1):
        assert visitor.text("trouble") == ""
        visitor.act("document.querySelector('#every-choice button:last-child, #choices button').click()")
    visitor.page.wait(shown, 3)
    visitor.check_layout(390)
    sentences = visitor.page.texts("#steps li")
    assert sentences[0] == "Payday!"
    assert sentences[1].startswith("The die shows")
    assert visitor.page.js("return document.querySelectorAll('#table .can').length") == 0
    assert sentences[1] not in visitor.page.texts("#news li")
    visitor.act("document.querySelector('#choices button').click()")
    news = visitor.page.texts("#news li.fresh")
    payday = news.index("Payday!")
    assert news[payday : payday + len(sentences)] == sentences
    assert visitor.page.js("return document.querySelectorAll('#choices button, #every-choice button').length")
    visitor.check_quiet()


LEAVE_SELL_OR_FIRST = """
const labels = [...document.querySelectorAll('#choices button')];
const all = document.querySelectorAll('#every-choice button');
const own = document.querySelectorAll('#table [data-zone="seat:0"] [data-piece^="tile:"]').length;
const leave = own > 1 && labels.find((one) => one.textContent === 'leave');
const sell = labels.find((one) => one.textContent.startsWith('sell the rest'));
(sell || leave || all[0] || labels[0]).click();
return sell ? sell.textContent : '';
"""


def test_the_button_to_sell_says_for_how_much(visitor):
    begin(visitor, "el-paso", 390)
    named, paid = [], []
    while len(paid) < 4:
        assert visitor.text("trouble") == ""
        before = visitor.page.js("return Number(document.body.dataset.ready)")
        named += [said] if (said := visitor.page.js(LEAVE_SELL_OR_FIRST)) else []
        visitor.page.wait(DONE, before)
        news = " ".join(visitor.page.texts("#news li.fresh"))
        if said:
            paid += re.findall(r"human \(you\) sells .*? for (\d+) nugget", news)
    assert named == [f"sell the rest: +{nuggets}" for nuggets in paid]
    assert paid != ["0"] * 4


@pytest.mark.parametrize("game", EXPERTS)
def test_before_the_first_match_of_a_game_the_page_explains_it_and_its_pieces(visitor, game):
    visitor.open("index.html", 390)
    visitor.page.js(f"localStorage.removeItem('arena-played-{game}')")
    visitor.choose("game", game)
    visitor.page.wait("return document.querySelectorAll('#legend svg').length > 7")
    rules = load().game(game).configure().rules_text()
    assert " ".join(visitor.text("introduced").split()) in " ".join(rules.split())
    assert len(visitor.page.texts("#introduction li")) > 5
    assert all(visitor.page.texts("#legend span"))
    visitor.check_layout(1280)
    visitor.check_layout(390)
    visitor.act("document.getElementById('begin').click()")
    visitor.page.js("document.querySelector('#introduction summary').click()")
    visitor.page.wait("return document.querySelectorAll('#legend svg').length > 7")
    visitor.check_layout(390)
    visitor.page.js("document.getElementById('leave').click()")
    assert not visitor.page.js("return document.getElementById('introduction').open")
    visitor.check_quiet()


def test_a_game_without_a_drawing_is_played_with_buttons_against_bots_of_the_site(visitor, home, tmp_path):
    begin(visitor, "flip-seven", 390)
    assert visitor.page.texts("#choices button") == ["keep", "swap"]
    assert visitor.page.js("return document.querySelectorAll('#table .can').length") == 0
    assert visitor.page.driver.execute_async_script(TAP)["taps"] == 3
    assert "true" in visitor.text("checked")
    with zipfile.ZipFile(visitor.downloaded("document.getElementById('download').click()")) as files:
        files.extractall(tmp_path)
    [run] = tmp_path.iterdir()
    assert "the bots decide as recorded" in command(home, "verify", str(run), "--bots", "--isolate", "off")
    visitor.check_quiet()


def test_only_named_bots_are_published_with_their_source_and_opponents_have_their_places(visitor, home):
    begin(visitor, "el-paso", 390)
    visitor.page.js("document.getElementById('leave').click()")
    offered = visitor.page.js("return [...document.querySelectorAll('#opponent-0 option')].map((one) => one.text)")
    assert any(option.startswith("outlaw (place ") for option in offered)
    assert any(option.startswith("open (place ") for option in offered)
    assert "random (plays at random)" in offered
    assert "ismcts (searches, takes its time)" in offered
    assert not any(option.startswith("secret") for option in offered)
    published = {path: path.read_bytes() for path in (home / "site").rglob("*") if path.is_file()}
    texts = [gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content for content in published.values()]
    assert any(b"how Open thinks" in text for text in texts)
    assert not any(b"how Secret thinks" in text for text in texts)
    names = {name for path in published if path.suffix == ".whl" for name in zipfile.ZipFile(path).namelist()}
    assert "flip_seven_game.py" in names
    assert not any("secret" in Path(name).name for name in names)
    visitor.choose("opponent-0", "open=published/open/open.py")
    visitor.act("document.getElementById('begin').click()")
    assert "open" in visitor.text("table")


def test_a_match_of_the_site_is_true_and_a_tampered_one_is_not(visitor, home, tmp_path):
    [run] = (home / "results").iterdir()
    line = (run / GAMES).read_text().splitlines()[0]
    record = json.loads(line)
    page = f"verify.html#run=evening&match={record['id']}"
    visitor.page.driver.get(f"{visitor.address}/../runs/evening/matches.html#match={record['id']}")
    visitor.page.wait("return document.getElementById('list').dataset.ready === 'one'")
    links = "return [...document.querySelectorAll('#list a')].map((one) => one.href)"
    assert f"{visitor.address}/{page}" in visitor.page.js(links)
    replays = [path.read_text() for path in (home / "site/sub/path/runs/evening/matches").glob("*.html")]
    assert replays
    assert all("../../../play/verify.html#run=evening&amp;match=" in replay for replay in replays)
    visitor.open(page, 390)
    found = "return document.querySelector('#findings li').className"
    assert visitor.page.js(found) == "true"
    check = "document.getElementById('record').value = arguments[0]; document.getElementById('check').click()"
    visitor.act(check, json.dumps({**record, "scores": record["scores"][::-1]}))
    assert visitor.page.js(found) == "false"
    assert "scores" in visitor.text("findings")
    with zipfile.ZipFile(tmp_path / "saved.zip", "w") as archive:  # as the page saves a match
        archive.writestr("saved/run.json", "{}")
        archive.writestr("saved/games.jsonl", f"{line}\n")
    choose = "document.getElementById('findings').replaceChildren()"
    before = visitor.page.js(f"{choose}; return Number(document.body.dataset.ready)")
    visitor.page.driver.find_element("id", "file").send_keys(str(tmp_path / "saved.zip"))
    visitor.page.wait(DONE, before)
    assert visitor.page.js(found) == "true"
    visitor.page.js(check, "PK, no record")
    assert "There is no record" in visitor.text("trouble")
    visitor.check_layout(390)
    visitor.check_layout(1280)
    visitor.check_quiet()


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
        visitor.open("write.html#game=el-paso")
        title = visitor.page.js("return document.title")
        run_source(visitor, HOSTILE.replace("ADDRESS", address))
        said = visitor.text("outcome")
        assert "TRIED" in said, said
        for what in ("indexedDB", "localStorage", "parent", "window", "xhr"):
            assert f"{what}: no error" not in said, said
        assert visitor.page.js("return document.querySelector('iframe').sandbox.value") == "allow-scripts"
        visitor.page.driver.execute_async_script("setTimeout(arguments[0], 500)")  # requests that were begun
        assert CountingHandler.asked == []
    assert visitor.page.js("return document.title") == title
    assert visitor.page.js("return document.querySelectorAll('img').length") == 0
    assert visitor.page.js("return localStorage.getItem('x')") is None
    visitor.page.complaints()  # what the browser refused is in its console


TYPE = """
const box = document.querySelector('.cm-content'), clipboardData = new DataTransfer();
box.focus();
box.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', code: 'KeyA', keyCode: 65, ctrlKey: true, bubbles: true }));
clipboardData.setData('text/plain', arguments[0]);
box.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
"""


def run_source(visitor, source):
    """Puts a bot into the editor in place of what is there, and runs it."""
    visitor.page.js(TYPE, source)
    visitor.act("document.getElementById('run').click()")


DIGESTS = """

from functools import cache
from harness import Bot
from harness.plugins.registry import load


class Digests(Bot):
    def choose(self, view, actions):
        raise ValueError("digests " + digests())


@cache
def digests():
    registry = load()
    return json.dumps({name: digest_of(registry, registry.game(name).configure(), "quick", 100) for name in GAMES})


"""


def test_matches_in_the_browser_have_the_same_records(visitor):
    if not visitor.shows("write.html#game=el-paso"):
        visitor.open("write.html#game=el-paso")
    # A typed bot can play matches itself, and fails with their digests.
    run_source(visitor, Path(same_records.__file__).read_text() + f"GAMES = {[*EXPERTS]}\n" + DIGESTS)
    [line, *_] = re.findall(r"ValueError: digests (\{.*?\})", visitor.text("outcome"))
    registry = load()
    assert json.loads(line) == {
        name: same_records.digest_of(registry, registry.game(name).configure(), "quick", 100) for name in EXPERTS
    }


BOT = '''"""A bot."""

from harness import Bot


class NightOwl(Bot):
    """Takes what is worth most."""

    games = ("el-paso",)

    def choose(self, view, actions):
        return max(actions, key=lambda action: getattr(action, "value", 0))
'''


def test_a_bot_with_a_bug_is_fixed_plays_and_goes_home_as_a_package(visitor, tmp_path):
    if not visitor.shows("write.html#game=el-paso"):
        visitor.open("write.html#game=el-paso")
    visitor.resize(390)
    visitor.page.js("document.getElementById('reset').click()")
    # The editor draws its lines when it has measured them.
    visitor.page.wait("return document.querySelector('.cm-content').innerText.includes('class MyBot')")
    source = BOT.replace("max(actions", "maximum(actions")
    line = next(number for number, text in enumerate(source.splitlines(), 1) if "maximum" in text)
    run_source(visitor, source)
    assert f"my_bot.py:{line}" in visitor.text("outcome")
    assert "NameError" in visitor.text("outcome")
    assert "maximum" in visitor.page.js("return document.querySelector('.cm-lintRange-error').textContent")
    visitor.check_layout(390)
    run_source(visitor, BOT)
    assert "of 100 matches" in visitor.text("outcome")
    visitor.check_layout(1280)
    with zipfile.ZipFile(visitor.downloaded("document.getElementById('package').click()")) as files:
        files.extractall(tmp_path)
    install(tmp_path / "packages", tmp_path / "night-owl")
    assert "night-owl is fit to play" in command(tmp_path, "check", "night-owl", "--isolate", "off")
    visitor.check_quiet()


def test_the_stop_button_ends_an_endless_loop(visitor):
    if not visitor.shows("write.html#game=el-paso"):
        visitor.open("write.html#game=el-paso")
    endless = BOT.replace("        return max", "        while True:\n            pass\n        return max")
    visitor.page.js(TYPE, endless)
    before = visitor.page.js("return Number(document.body.dataset.ready)")
    visitor.page.js("document.getElementById('run').click()")
    visitor.page.wait("return !document.getElementById('stop').hidden")
    visitor.page.js("document.getElementById('stop').click()")
    visitor.page.wait(DONE, before)
    run_source(visitor, BOT)
    assert "of 100 matches" in visitor.text("outcome")


# The same page from a local server.

OPENER = """#!/bin/sh
printf %s "$1" > "$0.part" && mv "$0.part" "$0.address"
"""


@pytest.fixture
def played_here(home, tmp_path):
    """`arena play flip-seven --browser`, as typed; the address that it opens in the user's browser."""
    opener, address = tmp_path / "opener", tmp_path / "opener.address"
    opener.write_text(OPENER)
    opener.chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": f"{home / 'packages'}:{ROOT}", "BROWSER": str(opener)}
    started = [sys.executable, "-m", "harness", "play", "flip-seven", "--browser", "--runtime", RUNTIME]
    with subprocess.Popen(started, cwd=home, env=environment, stderr=subprocess.PIPE, text=True) as server:
        try:
            yield wait_for(lambda: address.exists() and address.read_text(), "an opened page")
        finally:
            server.send_signal(signal.SIGINT)
            _, said = server.communicate()
    assert server.returncode == 0, said
    assert f"Play at {address.read_text()}" in said


def test_arena_play_opens_the_page_with_everything_that_is_installed(visitor, played_here):
    address, _, page = played_here.rpartition("/")
    here = Visitor(visitor.page, address, visitor.downloads)
    here.page.requests()  # those to the other address
    here.open(page, 390)
    assert here.page.js("return document.getElementById('game').value") == "flip-seven"
    here.choose("opponent-0", "random")
    here.act("document.getElementById('begin').click()")
    assert here.page.driver.execute_async_script(TAP)["taps"] == 3
    assert "true" in here.text("checked")
    here.page.js("document.getElementById('another').click()")
    here.choose("game", "el-paso")
    offered = here.page.js("return [...document.querySelectorAll('#opponent-0 option')].map((one) => one.text)")
    for option in ("outlaw (expert, gives the hints)", "random (plays at random)", "ismcts (searches, takes its time)"):
        assert option in offered
    here.check_layout(390)
    here.check_quiet()
