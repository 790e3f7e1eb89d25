"""What the live page answers, to whom, and what it never says."""

from __future__ import annotations

import asyncio
import json
import re

import pytest

from harness.serve import app
from harness.serve.app import MAX_FOLLOWED, Broadcaster
from harness.serve.live_run import LiveRun, place_of, places_in
from tests.output.support import HOSTILE, NASTY, recorded
from tests.ratings.simulate import record
from tests.serve.conftest import SEED
from tests.serve.support import GrowingRun, reading
from tests.support.waiting import wait_for, within

ASKED = ("/", "/events", "/api/standings", "/api/progress", "/api/matches", "/live.js", "/live.css")


@pytest.fixture(autouse=True)
def _bounded():
    """A page that never sends what a test waits for fails the test."""
    with within():
        yield


@pytest.fixture
def growing(played, tmp_path):
    made = GrowingRun(played.folder, tmp_path / "results" / "live")
    made.add(*range(40))
    return made


@pytest.fixture
def page(growing):
    with reading({"live": place_of(growing.folder)}, "live") as found:
        yield found


def content_of(page, path):
    return page.first_events(path) if path.endswith("/events") else page.get(path).body


def test_standings_progress_and_matches_are_available_as_json(page, growing):
    progress, standings = page.get("/api/progress").data, page.get("/api/standings").data
    assert (progress["matches"], progress["total"]) == (40, len(growing))
    assert standings["matches"] == 40
    assert {"place", "bot", "skill", "skill low", "skill high", "beats"} <= set(standings["games"]["el-paso"][0])
    matches = page.get("/api/matches").data
    assert [line["number"] for line in matches["matches"]] == list(range(1, 41))
    assert matches["last"] == 40
    assert [line["number"] for line in page.get("/api/matches?after=37").data["matches"]] == [38, 39, 40]
    assert [line["number"] for line in page.get("/api/matches?after=5&limit=2").data["matches"]] == [6, 7]
    assert page.get("/api/matches?after=40").data["matches"] == []
    for wrong in ("x", "-1", "9" * 30, "\u0663"):
        assert page.get(f"/api/matches?after={wrong}").status == 400


def test_a_match_is_found_by_its_id_and_unknown_ids_and_paths_return_404(page):
    first = page.get("/api/matches?limit=1").data["matches"][0]
    told = page.get(f"/api/match/{first['match']}").data
    assert told.items() >= first.items()
    assert len(told["scene"]["steps"]) == len(told["scene"]["frames"])
    for wrong in ("nope", "..", "../../run.json", "%2e%2e%2frun.json", "games.jsonl", "/etc/passwd", "1", "\0"):
        assert page.get(f"/api/match/{wrong}").status == 404
    for wrong in ("/run.json", "/games.jsonl", "/live.js/../run.json", "/assets/live.js", "//", "/run/live/"):
        assert page.get(wrong).status == 404


def test_no_seed_no_source_and_no_path_is_ever_sent(page, growing, played, tmp_path):
    records = list(played.records())
    secrets = {str(SEED), "nobody-may-read-this", "1 / 0", str(tmp_path), str(played.folder.parent.parent), "--seed"}
    secrets |= {str(record.seed) for record in records}
    secrets |= {f"{int(secret):x}" for secret in secrets if secret.isdecimal()}
    assert len(secrets) > 20
    paths = [*ASKED, *(f"/api/match/{record.id}" for record in records[::4])]  # some of each game, and of two deals
    sent = {path: content_of(page, path) for path in paths}
    assert b"ZeroDivisionError at failing.py:" in sent["/events"]  # faults are told, without what the bot said
    assert sum(b'"scene":{' in body for body in sent.values()) > 5
    growing.add(*range(40, len(growing)))
    growing.finish()  # nor when it is over
    wait_for(lambda: page.get("/api/progress").data["state"] == "finished", "the end of the run")
    sent |= {f"{path} again": content_of(page, path) for path in (*paths[: len(ASKED)], *paths[-6:])}
    for path, body in sent.items():
        assert not [secret for secret in secrets if secret.encode() in body], path


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"])
def test_methods_other_than_get_and_head_are_refused(page, method):
    for path in (*ASKED, "/nowhere"):
        answer = page.get(path, method)
        assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")


def test_head_requests_succeed_and_end_on_every_path(page):
    for path in ASKED:
        assert page.get(path, "HEAD").status == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "evil.example:8420", "", "[::2]", "localhost.x", "[::1]evil", "[::1"],
)
def test_on_loopback_a_foreign_host_header_is_refused(page, host):
    assert page.get("/api/standings", host=host).status == 400


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8420", "localhost:1", "LOCALHOST", "[::1]:8420"])
def test_on_loopback_local_host_headers_are_accepted(page, host):
    assert page.get("/api/progress", host=host).status == 200


def test_on_other_addresses_any_host_header_is_accepted(growing):
    with reading({"live": place_of(growing.folder)}, "live", host="0.0.0.0") as page:  # noqa: S104 - nobody listens
        assert page.get("/", host="scores.example").status == 200


def test_the_content_security_policy_allows_only_our_own_files(page):
    for path in (*ASKED, "/nowhere"):
        headers = (page.get(path, "HEAD") if path == "/events" else page.get(path)).headers
        policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
        assert (policy["default-src"], policy["script-src"], policy["connect-src"]) == ("'none'", "'self'", "'self'")
        assert policy["frame-ancestors"] == "'none'"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in headers
    body = page.get("/").body.decode()
    assert set(re.findall(r'(?:src|href)="([^"]*)"', body)) == {
        "data:,", "live.css", "live.js", "#replays", "api/standings", "api/progress", "api/matches"
    }  # fmt: skip
    assert "<style" not in body


def test_bot_and_run_names_are_escaped_in_html(tmp_path):
    matches = [record(NASTY[:3], [3, 2, 1]), record(NASTY[3:], [3, 2, 1], index=1, seed=2)]
    run = recorded(tmp_path / HOSTILE.replace("/", "_"), matches)
    with reading({run.folder.name: place_of(run.folder)}, run.folder.name) as page:
        html = json.loads(re.search(rb"event: standings\ndata: (.*)\n", page.first_events("/events"))[1])["html"]
        for text in (html, page.get("/").body.decode()):
            assert "<script>alert" not in text
            assert "<img" not in text
            assert "\u202e" not in text
        assert "&lt;script&gt;alert(1)" in html


def test_a_results_folder_is_served_as_a_list_of_runs(played, tmp_path):
    results = tmp_path / "results"
    GrowingRun(played.folder, results / "monday").add(*range(5))
    odd = GrowingRun(played.folder, results / "a b&c%2F?#<i>")
    odd.add(*range(7))
    (results / "no run").mkdir()
    with reading(places_in(results)) as page:
        listed = page.get("/").body.decode()
        links = re.findall(r'href="(run/[^"]+)"', listed)
        assert sorted(links) == ["run/a%20b%26c%252F%3F%23%3Ci%3E/", "run/monday/"]
        assert page.get("/run/monday/api/progress").data["matches"] == 5
        assert page.get("/run/a%20b%26c%252F%3F%23%3Ci%3E/api/progress").data["matches"] == 7
        assert b"All runs" in page.get("/run/monday/").body
        assert page.get("/run/monday").headers["location"] == "/run/monday/"
        assert page.get("/run/http:%2Fevil").status == 404
        assert page.get("/run/http:evil").headers["location"] == "/run/http%3Aevil/"
        for wrong in ("/run/tuesday/", "/run/../", "/run/no run/", "/run/./api/progress"):
            assert page.get(wrong).status == 404


def test_the_number_of_runs_followed_at_once_is_limited(played, tmp_path):
    names = [f"run{number}" for number in range(MAX_FOLLOWED + 3)]
    for name in names:
        GrowingRun(played.folder, tmp_path / name).add(0)
    with reading(places_in(tmp_path)) as page:
        for name in names:
            assert page.get(f"/run/{name}/api/progress").data["matches"] == 1
        assert len(page.pages._followed) <= MAX_FOLLOWED + 1
        assert page.get(f"/run/{names[0]}/api/progress").data["matches"] == 1  # and it comes back when it is asked for


def test_an_unexpected_error_is_logged_once_and_the_server_recovers(page, caplog, monkeypatch):
    def logged():
        return [record for record in caplog.records if "could not be read" in record.message]

    with monkeypatch.context() as patch:
        patch.setattr(LiveRun, "read_updates", lambda _self: 1 / 0)
        patch.setattr(app, "POLL_INTERVAL_S", 0.001)
        assert page.get("/api/progress").status == 503
        wait_for(lambda: page.get("/") and logged(), "the logged error")
        for _ in range(20):
            page.get("/live.css")
        assert len(logged()) == 1
    wait_for(lambda: page.get("/api/progress").status == 200, "the server's recovery")


def test_a_missing_results_folder_is_reported_without_its_path(tmp_path):
    with reading(lambda: places_in(tmp_path / "gone")) as page:
        answer = page.get("/")
        assert (answer.status, answer.body) == (503, b"Cannot read gone: No such file or directory.\n")


def events(body):
    return re.findall(rb"id: (\S+)\nevent: (\w+)\ndata: \S", body)


def test_events_have_ids_and_a_reconnecting_client_gets_only_what_it_missed(page, growing):
    page.get("/api/standings")
    first = events(page.first_events("/events"))
    assert sorted(kind for _, kind in first) == [b"progress", b"results", b"standings"]
    last = max(first, key=lambda event: int(event[0].rpartition(b"-")[2]))[0].decode()
    growing.add(40, 41, 42)
    wait_for(lambda: page.get("/api/standings").data["matches"] == 43, "the added matches")
    again = events(page.first_events("/events", last))
    assert not {number for number, _ in first} & {number for number, _ in again}
    other = events(page.first_events("/events", "0123abcd-99"))  # the server was another one then
    assert sorted(kind for _, kind in other) == [b"progress", b"results", b"standings"]


def test_a_slow_client_gets_only_the_newest_event_of_each_kind():
    async def story():
        told = Broadcaster()
        reader = told.stream()
        assert (await anext(reader)).startswith(b"retry:")
        for number in range(1000):
            told.post({"progress": b"%d" % number, "standings": b"%d" % -number})
        heard = [await anext(reader), await anext(reader)]
        assert [one.splitlines()[-2] for one in heard] == [b"data: 999", b"data: -999"]
        waiting = asyncio.ensure_future(anext(reader))
        await asyncio.sleep(0)
        told.post({"results": b"{}"})
        assert b"event: results" in await waiting
        assert told.readers == 1
        told.close()
        assert [one async for one in reader] == []
        assert told.readers == 0

    asyncio.run(story())


def test_an_idle_client_gets_heartbeats(monkeypatch):
    monkeypatch.setattr(app, "HEARTBEAT_S", 0.001)

    async def story():
        reader = Broadcaster().stream()
        await anext(reader)
        assert (await anext(reader)).startswith(b":")

    asyncio.run(story())


def test_the_progress_is_sent_while_the_records_are_still_being_read(growing, monkeypatch):
    monkeypatch.setattr("harness.serve.live_run.MAX_READ_BYTES", 1)  # one record at a time
    with reading({"live": place_of(growing.folder)}, "live") as page:
        told = page.get("/api/progress").data
        assert told["state"] == "reading"
        assert 0 < told["matches"] < len(growing)
