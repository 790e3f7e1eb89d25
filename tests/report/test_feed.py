"""The feed of a site is Atom, with ids that stay and times that move; each bot has badges."""

from __future__ import annotations

import json
import re
from datetime import datetime
from uuid import UUID
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from harness.plugins.registry import Registry
from harness.report import feed as feed_module
from harness.report import publish, run_pages
from harness.report.feed import MAX_FEED_ENTRIES, badge_name, game_badge_name
from harness.report.published import published
from harness.report.site_pages import SiteSettings
from tests.output.support import NASTY, recorded
from tests.ratings.simulate import record
from tests.report.test_page import Reader
from tests.support.cli import arena

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture(autouse=True)
def _no_charts(monkeypatch):
    """They take most of the time, and say nothing of this."""
    monkeypatch.setattr("harness.report.charts.charts", lambda *_: ())


def run_of(folder, started="2026-01-01T10:00:00+00:00", finished="2026-01-01T11:00:00+00:00", deals=4):
    seats = [("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b")]
    made = [
        record(seats[n % 3], ["cba".index(bot) for bot in seats[n % 3]], index=n, seed=n // 3, set_=f"sim-{n // 3}.1")
        for n in range(3 * deals)
    ]
    run = recorded(folder, made, finished=finished)
    run.info = replace(run.info, started=started)
    return run


def parsed(path):
    return ElementTree.fromstring(path.read_bytes())  # noqa: S314 - we wrote it


def text(element, tag):
    found = element.findall(ATOM + tag)
    assert len(found) == 1, tag
    return found[0].text


def instant(value):
    assert value.endswith("Z")
    return datetime.fromisoformat(value)


def check(feed):
    """What RFC 4287 wants of every feed and entry."""
    assert feed.tag == f"{ATOM}feed"
    assert text(feed, "title")
    UUID(text(feed, "id"))
    assert feed.find(f"{ATOM}author/{ATOM}name").text
    assert {link.get("rel") for link in feed.findall(f"{ATOM}link")} == {"self", "alternate"}
    newest = instant(text(feed, "updated"))
    ids = []
    for entry in feed.findall(f"{ATOM}entry"):
        assert text(entry, "title") and text(entry, "content")
        ids.append(text(entry, "id"))
        UUID(ids[-1])
        assert instant(text(entry, "published")) <= instant(text(entry, "updated")) <= newest
        assert entry.find(f"{ATOM}link").get("href")
    assert len(set(ids)) == len(ids)
    return feed


def entries(feed):
    return {text(entry, "title"): entry for entry in feed.findall(f"{ATOM}entry")}


def test_the_feed_lists_the_newest_runs_with_their_results(tmp_path):
    place = tmp_path / "site"
    publish([run_of(tmp_path / "monday", deals=30)], Registry(), place)
    publish([run_of(tmp_path / "tuesday", "2026-01-02T10:00:00+00:00", "2026-01-02T11:00:00+00:00")], Registry(), place)
    feed = check(parsed(place / "feed.xml"))
    assert list(entries(feed)) == ["tuesday", "monday"]
    assert text(feed, "updated") == "2026-01-02T11:00:00Z"
    monday = entries(feed)["monday"]
    assert text(monday, "updated") == "2026-01-01T11:00:00Z"
    [sentence] = json.loads((place / "runs/monday/data.json").read_text())["summaries"]["sim"]
    content = text(monday, "content")
    assert monday.find(f"{ATOM}content").get("type") == "html"
    assert sentence == "a won. It is significantly better than every other bot."
    assert content.startswith(f"<p>sim: {sentence.replace('every other bot', 'the other 2 bots of this run')}</p>")
    assert re.findall(r">\s*(\d)</td><td>(\w)\s*</td>", content) == [("1", "a"), ("2", "b"), ("3", "c")]
    assert (place / monday.find(f"{ATOM}link").get("href")).is_file()
    assert monday.find(f"{ATOM}category").get("term") == "sim"


def test_feed_links_are_absolute_once_the_url_is_given_and_the_url_is_kept(tmp_path):
    run_of(tmp_path / "results" / "monday")
    arena("publish", "monday", "--to", "site", "--url", "https://example.org/arena")
    wanted = ["https://example.org/arena/index.html", "https://example.org/arena/feed.xml"]
    for _ in range(2):
        feed = check(parsed(tmp_path / "site/feed.xml"))
        assert [link.get("href") for link in feed.findall(f"{ATOM}link")] == wanted
        link = entries(feed)["monday"].find(f"{ATOM}link").get("href")
        assert link == "https://example.org/arena/runs/monday/index.html"
        arena("publish", "monday", "--to", "site")


@pytest.mark.parametrize("url", ["example.org", "ftp://example.org", "https://", "https://a b", "https://x/?y"])
def test_an_invalid_site_url_is_refused(tmp_path, url):
    run_of(tmp_path / "results" / "monday")
    assert "is not the address of a site" in arena("publish", "monday", "--to", "site", "--url", url, code=2).stderr
    assert not (tmp_path / "site").exists()


def test_feed_ids_never_change_and_updated_times_change_only_with_the_content(tmp_path, monkeypatch):
    place = tmp_path / "site"
    times = iter(f"2026-03-0{day}T10:00:00+00:00" for day in range(1, 9))
    monkeypatch.setattr(run_pages, "now", lambda: next(times))
    run = run_of(tmp_path / "monday", finished="")

    def published(*bots):
        publish([run], Registry(), place, bots)
        feed = check(parsed(place / "feed.xml"))
        [entry] = feed.findall(f"{ATOM}entry")
        return text(feed, "id"), text(entry, "id"), text(entry, "updated"), text(entry, "title")

    first = published()
    assert first[2:] == ("2026-03-01T10:00:00Z", "monday (not finished)")
    assert published() == first
    run.info = replace(run.info, finished="2026-03-02T09:00:00+00:00")
    done = published()
    assert done == (*first[:2], "2026-03-02T10:00:00Z", "monday")
    assert published() == done
    assert published("c") == (*first[:2], "2026-03-03T10:00:00Z", "monday")


def test_publishing_a_finished_run_into_two_new_folders_gives_identical_sites(tmp_path):
    run = run_of(tmp_path / "monday")
    publish([run], Registry(), tmp_path / "one")
    publish([run], Registry(), tmp_path / "two")
    for path in (tmp_path / "one").rglob("*.*"):
        if path.is_file():
            assert path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes()


def test_hostile_names_and_times_make_a_valid_feed(tmp_path):
    records = [record(NASTY[turn:] + NASTY[:turn], range(6), index=turn, seed=turn) for turn in range(6)]
    run = recorded(tmp_path / "a <run> & more", records, game="]]><x>", finished="whenever")
    run.info = replace(run.info, started="99999-01-01")
    publish([run], Registry(), tmp_path / "site")
    [entry] = check(parsed(tmp_path / "site/feed.xml")).findall(f"{ATOM}entry")
    assert text(entry, "title") == "a <run> & more"
    shown = Reader(text(entry, "content"))
    assert {tag for tag, _ in shown.tags} <= {"p", "table", "thead", "tbody", "tr", "th", "td"}
    assert "\u202e" not in text(entry, "content")


def test_a_site_of_many_runs_has_a_short_feed(tmp_path):
    one = published(tmp_path)
    assert one == []
    run = run_of(tmp_path / "run", deals=1)
    publish([run], Registry(), tmp_path / "site")
    [about] = published(tmp_path / "site")
    many = [replace(about, folder=f"run-{n}", updated=f"2027-01-01T10:{n:02}:00+00:00") for n in range(60)]
    feed = ElementTree.fromstring(feed_module.feed(many, SiteSettings("urn:uuid:6e0d0a52-5f2c-5a86-9f5a-3d2c9f6f4c11")))  # noqa: S314 - likewise
    links = [entry.find(f"{ATOM}link").get("href") for entry in check(feed).findall(f"{ATOM}entry")]
    assert links == [f"runs/run-{n}/index.html" for n in range(59, 59 - MAX_FEED_ENTRIES, -1)]


def test_the_feed_entry_of_an_empty_run_says_that_no_match_was_played(tmp_path):
    publish([recorded(tmp_path / "run", [])], Registry(), tmp_path / "site")
    [entry] = check(parsed(tmp_path / "site/feed.xml")).findall(f"{ATOM}entry")
    assert text(entry, "content") == "<p>No match has been played yet.</p>"


def two_games(run):
    """The same run, as if every other deal were of another game."""
    records = [replace(one, game="other" if one.seed % 2 else "sim") for one in run.records()]
    return recorded(run.folder.with_name("two"), records)


def test_the_index_links_to_the_feed_and_bot_pages_link_to_their_badges(tmp_path):
    publish([two_games(run_of(tmp_path / "run"))], Registry(), tmp_path / "site")
    links = Reader((tmp_path / "site/index.html").read_text()).all("link")
    [link] = [link for link in links if link["rel"] == "alternate"]
    assert (link["rel"], link["type"], link["href"]) == ("alternate", "application/atom+xml", "feed.xml")
    links = {a["href"] for a in Reader((tmp_path / "site/bots/a.html").read_text()).all("a")}
    assert {"../badges/a.json", "../badges/a--sim.json"} <= links


def test_a_badge_follows_the_endpoint_schema(tmp_path):
    place = tmp_path / "site"
    publish([two_games(run_of(tmp_path / "run", deals=60))], Registry(), place)
    assert json.loads((place / "badges/a--sim.json").read_text()) == {
        "schemaVersion": 1, "label": "sim", "message": "place 1 of 3", "color": "brightgreen",
    }  # fmt: skip
    assert json.loads((place / "badges/c.json").read_text()) == {
        "schemaVersion": 1, "label": "arena", "message": "place 3 of 3 in other", "color": "lightgrey",
    }  # fmt: skip
    assert sorted(path.name for path in (place / "badges").iterdir()) == [
        f"{bot}{game}.json" for bot in "abc" for game in ("--other", "--sim", "")
    ]
    publish([run_of(tmp_path / "run-2")], Registry(), tmp_path / "of-one-game")
    assert sorted(path.name for path in (tmp_path / "of-one-game/badges").iterdir()) == ["a.json", "b.json", "c.json"]


def test_a_badge_shows_the_range_of_an_uncertain_place(tmp_path):
    tied = [record("ab", (1, 2)), record("ba", (1, 2), index=1, seed=1)]
    publish([recorded(tmp_path / "run", tied)], Registry(), tmp_path / "site")
    badge = json.loads((tmp_path / "site/badges/a.json").read_text())
    assert badge["message"].endswith(" of 2 in sim (may be 1\N{EN DASH}2)")


def test_no_two_badges_share_a_file():
    names = [badge_name("a"), game_badge_name("a", "sim"), badge_name("a--sim"), game_badge_name("a--sim", "sim")]
    assert names[:2] == ["a", "a--sim"]
    assert len(set(names)) == 4
