"""The page of a run: self-contained, safe from hostile names, and honest about runs with little in them."""

from __future__ import annotations

import base64
import re
import sys
from hashlib import sha256
from html.parser import HTMLParser
from time import process_time

import pytest
from markupsafe import escape
from msgspec.structs import replace

from harness.core.records import Fault
from harness.plugins.registry import load
from harness.report import PageParts, write_report
from harness.runs.setup import installed_games
from tests.output.support import HOSTILE, LONG, NASTY, play, recorded
from tests.ratings.simulate import record
from tests.support.cli import arena


class Reader(HTMLParser):
    """What a browser would find in a page."""

    def __init__(self, text):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.words.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def page_of(tmp_path, records, **how):
    run = recorded(tmp_path / "run", records, **how)
    return write_report(PageParts(run), tmp_path / "page.html").read_text(encoding="utf-8")


def says(page):
    return " ".join("".join(Reader(page).words).split())


def test_the_report_of_an_empty_run_says_that_no_match_was_played(tmp_path):
    page = page_of(tmp_path, [])
    assert "No match has been played yet" in says(page)
    assert "No bot failed." in says(page)
    assert "<table class=" not in page


def test_the_report_of_a_single_match_says_that_the_result_is_luck(tmp_path):
    said = says(page_of(tmp_path, [record("ab", (3, 5))]))
    assert "One match has been played: that is luck" in said
    assert "1 match · 2 bots" in said


def test_the_report_of_a_single_bot_says_that_there_is_no_comparison(tmp_path):
    assert "One bot has played: there is no other to compare it with." in says(
        page_of(tmp_path, [record("a", (3,)), record("a", (5,), index=1)])
    )


def test_a_report_with_faults_in_every_match_says_so_and_collapses_tracebacks(tmp_path):
    trace = f"Traceback:\n  {HOSTILE}"
    faults = [record("ab", (3, 5), index=n, faults=(Fault(1, "exception", 4, trace),)) for n in range(3)]
    page = page_of(tmp_path, faults)
    said = says(page)
    assert "A bot failed in every match" in said
    assert "b: exception in sim, 3 times." in said
    assert re.search(r"<details><summary>What it said first</summary><pre>Traceback:\n  &lt;script&gt;", page)


def test_the_report_shows_the_limits_of_the_run(tmp_path):
    assert "<dt>move time</dt><dd>2.5</dd>" in page_of(tmp_path, [])


def test_the_report_of_an_unfinished_run_says_so(tmp_path):
    assert "The run is not finished" in says(page_of(tmp_path, [record("ab", (1, 2))], finished=""))


def test_hostile_names_are_escaped_in_the_report(tmp_path):
    records = [record(NASTY[turn:] + NASTY[:turn], range(6), index=turn, seed=turn) for turn in range(6)]
    page = page_of(tmp_path, records)
    read = Reader(page)
    assert "{{ 7 * 7 }}" in page
    assert HOSTILE in read.words
    assert LONG in read.words
    assert not read.all("img")
    kinds = [script.get("type") for script in read.all("script")]
    assert kinds == ["text/plain"] * (len(kinds) - 1) + [None]
    assert not any(name.startswith("on") for _, attributes in read.tags for name in attributes)
    assert "\u202e" not in page


def test_the_report_allows_only_its_own_script_and_loads_nothing(tmp_path):
    page = page_of(tmp_path, [record("ab", (1, 2))])
    policy = next(meta["content"] for meta in Reader(page).all("meta") if meta.get("http-equiv"))
    script = re.search(r"<script>(.*)</script>", page, re.DOTALL)[1]
    digest = base64.b64encode(sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert not [tag for tag, attributes in Reader(page).tags if "src" in attributes or tag == "link"]
    assert set(re.findall(r"https?://[^\"'\s<]+", page)) == {
        "http://www.w3.org/1999/xlink",
        "http://www.w3.org/2000/svg",
    }


def test_the_report_shows_how_to_reproduce_the_run(tmp_path):
    run = play(tmp_path / "results" / "short", "--game", "el-paso", "--deals", 2, "--seed", 12)
    page = write_report(PageParts(run), tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<dt>seed</dt><dd>12</dd>" in page
    assert f"<pre>{escape(run.info.command)}</pre>" in page
    assert "<dt>el-paso</dt><dd>rules 1, " in page
    assert f"<dt>python</dt><dd>{run.info.machine['python']}</dd>" in page


def test_arena_report_writes_into_the_run_folder_and_accepts_match_ids(tmp_path):
    run = play(tmp_path / "results" / "short", "--game", "el-paso", "--deals", 1)
    records = list(run.records())
    wanted = records[-1].id
    printed = arena("report", "short", "--match", wanted, "--replays", 0).stdout.strip()
    assert printed == "results/short/report.html"
    read = Reader((run.folder / "report.html").read_text(encoding="utf-8"))
    assert [option["value"] for option in read.all("option") if "-" in option.get("value", "")] == [wanted]


def test_a_report_with_an_unknown_match_is_refused(tmp_path):
    play(tmp_path / "results" / "short", "--game", "el-paso", "--deals", 1)
    assert "Unknown match of short 'nope'" in arena("report", "short", "--match", "nope", code=2).stderr


@pytest.mark.parametrize(("library", "users"), [("matplotlib", ("charts",)), ("jinja2", ("parts",))])
def test_a_missing_library_is_reported_with_the_install_command(tmp_path, monkeypatch, library, users):
    recorded(tmp_path / "results" / "run", [])
    for name in ("page", *users):
        monkeypatch.delitem(sys.modules, f"harness.report.{name}", raising=False)
    monkeypatch.setitem(sys.modules, library, None)
    said = arena("report", "run", code=2).stderr
    assert library in said
    assert "pip install 'arena-harness[report]'" in said


def test_a_report_that_cannot_be_written_gives_an_error_with_its_path(tmp_path):
    recorded(tmp_path / "results" / "run", [])
    assert "Cannot write to nowhere/page.html" in arena("report", "run", "--to", "nowhere/page.html", code=2).stderr


@pytest.mark.slow
def test_the_report_of_100000_matches_is_small_and_takes_less_than_30_seconds(tmp_path):
    """Played matches repeated under new ids: rating, charts and replays have the work of a run of that length."""
    short = play(tmp_path / "results" / "short", "--deals", 10)
    played = list(short.records())
    copies = (replace(played[n % len(played)], id=f"copy-{n}", index=n) for n in range(100_000))
    run = recorded(tmp_path / "many", copies)
    games, _ = installed_games(short, load())
    before = process_time()
    page = write_report(PageParts(run, games), tmp_path / "page.html")
    assert process_time() - before < 30
    assert page.stat().st_size < 3_000_000
    text = page.read_text(encoding="utf-8")
    assert "100000 matches" in says(text)
    assert [scene for scene in Reader(text).all("script") if scene.get("id")]
    assert "data-trouble" not in re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
