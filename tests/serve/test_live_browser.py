"""The live page in a real browser, while a real run goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from harness.runs.store import RunFolder
from tests.output.support import HOSTILE, LONG, play, rename
from tests.report.browser import browser
from tests.report.support import SERIOUS, SMALL_CONTROLS, SMALL_TEXTS, make_league
from tests.serve.support import GrowingRun, Server
from tests.support import dawdler
from tests.support.cli import arena
from tests.support.forgery import edit_info
from tests.support.waiting import wait_for

STATE = "return document.getElementById('live').dataset.state"
COUNTED = "return Number(document.getElementById('standings').dataset.matches ?? 0)"


@pytest.fixture(scope="module")
def chromium():
    with browser() as found:
        yield found


class DawdlingRun:
    """A tournament in a process of its own that goes on until the file says that bots need not dawdle."""

    def __init__(self, folder):
        self.hold = folder / "hold"
        self.hold.write_text("0.012")  # at least two minutes in all, and less than a second for a match
        bots = [arg for bot in (dawdler.__file__, "outlaw", "random") for arg in ("--bot", bot)]
        self._begin("--name", "live", "--game", "el-paso", "--players", "2", "--deals", "60", *bots)
        wait_for(Path("results/live/run.json").exists, "the run begins")

    def _begin(self, *args):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "harness", "tournament", "--workers", "1", "--quiet", *args],
            env={**os.environ, dawdler.HOLD: str(self.hold)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def kill(self):
        """As kill -9 does, with its worker."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def resume(self):
        """Goes on, in the middle of a line perhaps."""
        with Path("results/live/games.jsonl").open("ab") as file:
            file.write(b'{"id":"el-paso-9')
        self._begin("--resume", "results/live")

    def end(self):
        """Lets it play on without dawdling."""
        self.hold.write_text("0")
        assert self.process.wait() == 0


def opened(chromium, address, width=1280, dark=False):
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    chromium.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    chromium.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    chromium.driver.get(address)
    chromium.wait("return document.querySelector('#standings table') !== null")


def test_the_page_follows_a_run_to_its_end_although_server_and_run_are_killed_meanwhile(chromium, tmp_path):
    with DawdlingRun(tmp_path) as run:
        with Server("live", "--port", 0) as server:
            opened(chromium, server.address)
            chromium.js("window.neverLoadedAgain = true")
            chromium.wait(f"{STATE} === 'playing'")
            before = chromium.js(COUNTED)
            table = chromium.js("return document.querySelector('#standings table').textContent")
            chromium.wait("return document.querySelector('#standings table').textContent !== arguments[0]", table)
            chromium.wait(f"{COUNTED} > arguments[0]", before)
            _watch_what_is_no_secret(chromium)
            assert chromium.complaints() == []
            assert {url.split("/")[2] for url in chromium.requests() if url.startswith("http")} == {
                f"127.0.0.1:{server.port}"
            }
            server.kill()
            chromium.wait(f"{STATE} === 'lost'")
            assert chromium.texts("#live") == ["no connection, trying again"]
            before = chromium.js(COUNTED)
        with Server("live", "--port", server.port):
            chromium.wait(f"{STATE} === 'playing'")
            chromium.wait(f"{COUNTED} > arguments[0]", before)
            run.kill()
            before = chromium.js(COUNTED)
            run.resume()
            chromium.wait(f"{COUNTED} > arguments[0] + 1", before)
            run.end()
            chromium.wait(f"{STATE} === 'finished'")
            total = RunFolder.open(Path("results/live")).info.plan.deals * 6
            chromium.wait(f"{COUNTED} === arguments[0]", total)
            assert chromium.js("return window.neverLoadedAgain")
            assert chromium.texts("#count") == [f"{total} matches"]
            # The last standings without intervals may still be on the page: the final ones follow within a second.
            wait_for(lambda: _shown(chromium) == _rows(), "the page shows the final standings")


def _shown(chromium):
    return chromium.js(
        "return [...document.querySelectorAll('#standings tbody tr')].map((row) => [row.dataset.bot, "
        "...[...row.cells].slice(0, 2).map((cell) => cell.textContent)])"
    )


def _rows():
    rows = json.loads(arena("leaderboard", "live", "-f", "json").stdout)["el-paso"]
    return [[row["bot"], str(row["place"]), _may_be(row)] for row in rows]


def _may_be(row):
    best, worst = row["best place"], row["worst place"]
    return f"{best}-{worst}" if best < worst else str(best)


def _watch_what_is_no_secret(chromium):
    """A match is watched while the run goes on; one whose deal is still to be played is not."""
    chromium.wait("return document.querySelector('[data-watch]') !== null")
    match = chromium.js("const one = document.querySelector('[data-watch]'); one.click(); return one.dataset.watch")
    chromium.wait("return viewer.dataset.open === arguments[0] && viewer.querySelector('svg.board') !== null", match)
    assert chromium.js("return viewer.querySelector('[data-part=trouble]').textContent") == ""
    chromium.js("viewer.dispatchEvent(new KeyboardEvent('keydown', { key: 'End' }))")
    assert len(chromium.texts("#viewer .final li")) == 2
    chromium.wait("return [...document.querySelectorAll('.results .secret')].some((one) => one.title.includes('deal'))")
    chromium.js("document.getElementById('wanted').value = 'nope'; document.getElementById('ask').requestSubmit()")
    chromium.wait("return viewer.querySelector('[data-part=trouble]').textContent.includes('There is no such match')")
    assert [one for one in chromium.complaints() if "404" not in one] == []


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """A run with names that are hard to show."""
    folder = tmp_path_factory.mktemp("odd")
    bots = [arg for name in ("random", "a=random", "b=random", "c=random") for arg in ("--bot", name)]
    made = play(folder / "played", "--game", "el-paso", "--players", 2, "--deals", 2, *bots, "--format", "knockout")
    names = {"random": HOSTILE, "a": LONG}

    def renamed(raw):
        [game] = raw["plan"]["games"]
        game["entrants"] = [names.get(name, name) for name in game["entrants"]]
        return raw

    edit_info(made.folder, renamed)
    return rename(RunFolder.open(made.folder), names)


@pytest.mark.parametrize("width", [1280, 390])
def test_hostile_and_long_names_are_shown_as_text_and_the_page_fits_the_screen(chromium, odd, tmp_path, width):
    growing = GrowingRun(odd.folder, tmp_path / "results" / "odd")
    growing.add(*range(len(growing) - 1))
    with Server("--port", 0) as server:
        chromium.leave()
        chromium.driver.get(server.address)
        chromium.js("document.querySelector('a[href^=run]').click()")
        chromium.wait("return document.querySelector('#results li') !== null")
        opened(chromium, f"{server.address}/run/odd/", width)
        chromium.wait("return document.querySelector('#results li') !== null")
        assert HOSTILE in chromium.js("return [...document.querySelectorAll('bdi')].map((one) => one.textContent)")
        assert chromium.js("return document.documentElement.scrollWidth <= innerWidth")
        assert chromium.js("return document.querySelector('.bracket') !== null")
        assert chromium.texts("#filter-bar") == []  # of few bots none needs to be looked for
        chromium.js("document.querySelector('#standings th:nth-child(4) button').click()")
        rows = "document.querySelectorAll('#standings table.sortable tr[data-bot]')"
        names = f"return [...{rows}].map((row) => row.dataset.bot)"
        by_name = chromium.js(names)
        growing.add(len(growing) - 1)
        chromium.wait(f"{COUNTED} === arguments[0]", len(growing))
        assert chromium.js(names) == by_name  # the order that somebody has chosen stays
        assert chromium.complaints() == []


@pytest.fixture(scope="module")
def league_page(tmp_path_factory):
    """The address of the live page of a league."""
    with Server(make_league(tmp_path_factory.mktemp("league") / "autumn"), "--port", 0) as server:
        yield server.address


@pytest.mark.parametrize("dark", [False, True])
def test_a_league_has_one_table_and_its_page_with_a_replay_is_made_for_phones(chromium, league_page, dark):
    chromium.leave()
    opened(chromium, league_page, 390, dark)
    chromium.wait("return document.querySelector('[data-watch]') !== null")
    assert len(chromium.texts("#standings table")) == 1
    assert chromium.texts("#standings h2") == ["El Paso: the league's table"]
    match = chromium.js("const one = document.querySelector('[data-watch]'); one.click(); return one.dataset.watch")
    chromium.wait("return viewer.dataset.open === arguments[0] && viewer.querySelector('svg.board') !== null", match)
    assert len(chromium.texts("#viewer .players bdi")) == 4
    assert chromium.js("return document.documentElement.scrollWidth") == 390
    assert chromium.js(SMALL_TEXTS) + chromium.js(SMALL_CONTROLS) == []
    assert chromium.complaints() == []
    if not (tools := os.environ.get("ARENA_NODE", "")):
        pytest.skip("ARENA_NODE does not name a folder with the npm package axe-core (.ci/node); all else was checked")
    chromium.js((Path(tools) / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8"))
    assert chromium.driver.execute_async_script(SERIOUS) == []
