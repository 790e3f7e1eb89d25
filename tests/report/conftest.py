"""Fixtures of the tests of pages and sites: one browser, one run and one site for all of them."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from harness.plugins.registry import load
from harness.report import PageParts, write_report
from harness.report import charts as module
from harness.runs.setup import installed_games
from tests.output.support import HOSTILE, LONG, play, rename
from tests.report.browser import Browser, browser
from tests.report.support import FAILING, Quiet, make_league
from tests.support.cli import arena

BOTS = (
    "broker", "debtor", "diehard", "founder", "hustler", "miser", "outlaw", "raider", "random", "skittish", "tycoon",
)  # fmt: skip


@pytest.fixture(autouse=True, scope="package")
def _charts_are_drawn_once():
    """Nine tenths of the time of a page are its charts, and tests make many pages of the same run."""
    drawn: dict[bytes, list[object]] = {}
    draw = module.charts

    def charts(board, facts, score_text=None):
        figures = pickle.dumps((board, facts))
        if figures not in drawn:
            drawn[figures] = list(draw(board, facts, score_text))
        return iter(drawn[figures])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "charts", charts)
        yield


@pytest.fixture(scope="package")
def launched() -> Iterator[Browser]:
    """The browser of all tests."""
    with browser() as found:
        yield found


@pytest.fixture
def chromium(launched: Browser) -> Iterator[Browser]:
    """The browser; the console must stay silent, and no other host may be asked for anything."""
    launched.leave()
    launched.requests()
    yield launched
    assert launched.complaints() == []
    ours = ("http://127.0.0.1:", "file:", "data:", "blob:", "about:")
    assert [url for url in launched.requests() if not url.startswith(ours)] == []


@pytest.fixture(scope="package")
def run(tmp_path_factory):
    """A run of all games with twelve bots: one fails at its ninth decision, two have awkward names."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "failing.py").write_text(FAILING)
    bots = [arg for bot in (*BOTS, folder / "failing.py") for arg in ("--bot", bot)]
    made = play(folder / "results" / "night", "--deals", 1, "--players", 4, "--seed", 4, *bots)
    return rename(made, {"random": HOSTILE, "miser": LONG})


@pytest.fixture(scope="package")
def records(run):
    """Its records by match."""
    return {record.id: record for record in run.records()}


@pytest.fixture(scope="package")
def page(run):
    """The report of that run."""
    games, _ = installed_games(run, load())
    return write_report(PageParts(run, games), run.folder / "report.html")


@pytest.fixture(scope="package")
def site(run, launched, tmp_path_factory) -> Path:
    """A site of that run and of a league with two versions of a bot, in a folder of its server."""
    folder = tmp_path_factory.mktemp("site")
    root = folder / "www" / "some" / "place"
    arena("league", "publish", "--to", root, "--replays", 2, "-L", make_league(folder / "autumn"))
    arena(
        "analyse", "el-paso", "--players", 2, "--bot", "outlaw", "--bot", "random", "--matches", 40, "--search", "",
        "--workers", 0, "-q", "--out", folder / "analysis.json",
    )  # fmt: skip
    arena(
        "publish", "night", "--results", run.folder.parent, "--to", root, "--replays", 12,
        "--title", "Friday night", "--headline", "night", "--next", "every Friday",
        "--analysis", folder / "analysis.json",
    )  # fmt: skip
    return root


@pytest.fixture(scope="package")
def address(site: Path) -> Iterator[str]:
    """The address of the site, on a server of its own, in a folder."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site.parent.parent))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/some/place/"
    server.shutdown()
    server.server_close()
