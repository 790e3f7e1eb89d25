"""Every match of a published run can be found, and what was published once stays where it is."""

from __future__ import annotations

import gzip
import json
import tracemalloc

import pytest
from msgspec.structs import replace

from harness.core.files import Folder
from harness.core.records import Fault
from harness.plugins.registry import Registry, load
from harness.report import PageParts, SiteOptions, publish
from harness.report import matches as module
from harness.report.matches import comeback, match_file, write_list
from harness.report.page import source_name
from harness.report.picks import closeness, margin
from harness.runs.store import RunFolder
from tests.output.support import play, recorded
from tests.ratings.simulate import record
from tests.report.test_page import Reader
from tests.support.cli import arena
from tests.support.forgery import edit_info, write_records


@pytest.fixture(autouse=True)
def _no_charts(monkeypatch):
    """They take most of the time, and say nothing of this."""
    monkeypatch.setattr("harness.report.charts.charts", lambda *_: ())


def unpacked(path):
    return gzip.decompress(path.read_bytes())


def index_of(site, run="run"):
    page = (site / f"runs/{run}/matches.html").read_text()
    start = page.index('<script type="application/json" id="index">')
    return json.loads(page[page.index(">", start) + 1 : page.index("</script>", start)])


def test_the_columns_say_of_every_match_who_played_and_how_it_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 4)
    monkeypatch.setattr(module, "RECORD_BYTES", 900)
    seats = [("a", "b", "</script>"), ("b", "</script>", "a")]
    made = [
        record(seats[n % 2], (n, 5, 2), index=n, seed=n, faults=(Fault(1, "crash", 3),) if n == 6 else ())
        for n in range(11)
    ]
    run = recorded(tmp_path / "run", made)
    publish([run], Registry(), tmp_path / "site")
    index = index_of(tmp_path / "site")["index"]
    [game] = index["games"]
    assert (game["matches"], len(game["chunks"])) == (11, 3)
    found = []
    for name in game["chunks"]:
        chunk = json.loads(unpacked(tmp_path / "site/runs/run" / name))
        for at, match in enumerate(chunk["ids"]):
            bots = tuple(index["bots"][bot] for bot in chunk["tables"][chunk["table"][at]])
            ranks = tuple(ord(letter) - 96 for letter in chunk["ranks"][at])
            failed = chunk["faults"].get(str(at), [])
            found.append((match, bots, tuple(chunk["scores"][at]), ranks, chunk["length"][at], failed))
    assert found == [
        (one.id, one.seats, one.scores, one.ranks, sum(one.decisions), [1] if one.faults else []) for one in made
    ]
    lines = [
        (first + at, line)
        for first, name in game["records"]
        for at, line in enumerate(unpacked(tmp_path / "site/runs/run" / name).splitlines())
    ]
    assert len(game["records"]) > 1
    assert [number for number, _ in lines] == list(range(11))
    assert [json.loads(line)["id"] for _, line in lines] == [one.id for one in made]


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    bots = ["--bot", "outlaw", "--bot", "diehard", "--bot", "random", "--players", "2"]
    return play(tmp_path_factory.mktemp("results") / "run", "--game", "el-paso", *bots, "--deals", 3, "--seed", 5)


def stored_in(site):
    return {one["id"]: one for one in json.loads((site / "runs/run/replays.json").read_text())}


def test_a_stored_replay_stays_as_it_is_when_more_is_published(played, tmp_path):
    site, records = tmp_path / "site", sorted(played.records(), key=lambda one: one.index)
    write_records(played.folder, records[:6], sealed=False)
    run = RunFolder.open(played.folder)
    publish([run], load(), site, options=SiteOptions(replays=3))
    before = {path: path.read_bytes() for path in (site / "runs/run/matches").iterdir()}
    scripts = {path: path.read_bytes() for path in (site / "assets").iterdir()}
    assert len(before) == 2 * 3  # a page and a picture of each
    assert set(stored_in(site)) == {path.stem for path in before}
    write_records(played.folder, records, sealed=False)
    publish([RunFolder.open(played.folder)], load(), site, options=SiteOptions(replays=6))
    assert len(stored_in(site)) >= 6
    assert {path: path.read_bytes() for path in before} == before
    assert {path: path.read_bytes() for path in scripts} == scripts
    publish([RunFolder.open(played.folder)], load(), site, options=SiteOptions(replays=0))
    assert set(before) <= set((site / "runs/run/matches").iterdir())
    assert {one["id"] for one in index_of(site)["stored"]} == set(stored_in(site))


def test_the_replays_of_a_bot_that_is_left_out_are_removed(played, tmp_path):
    site = tmp_path / "site"
    publish([played], load(), site)
    publish([played], load(), site, ["random"])
    assert stored_in(site)
    assert not any("random" in one["seats"] for one in stored_in(site).values())
    assert {path.stem for path in (site / "runs/run/matches").iterdir()} == set(stored_in(site))


def test_a_replay_has_a_title_and_a_picture_for_link_previews(played, tmp_path):
    site = tmp_path / "site"
    publish([played], load(), site, options=SiteOptions(url="https://example.org/arena/", replays=1))
    [one] = stored_in(site).values()
    page = Reader((site / f"runs/run/matches/{one['file']}.html").read_text())
    said = {tag.get("property"): tag["content"] for tag in page.all("meta") if tag.get("property")}
    address = f"https://example.org/arena/runs/run/matches/{one['file']}"
    assert (said["og:image"], said["og:url"]) == (f"{address}.png", f"{address}.html")
    assert "El Paso" in said["og:title"] and "Who wins?" in said["og:description"]
    assert not any(text in said["og:description"] for text in one["texts"])
    assert (site / f"runs/run/matches/{one['file']}.png").read_bytes().startswith(b"\x89PNG")
    text = (site / f"runs/run/matches/{one['file']}.html").read_text()
    assert '<h1><a href="../../../games/el-paso.html">El Paso</a></h1>\n<p>Plunder seven towns' in text


def test_places_that_changed_are_shown_with_the_matches_that_did_it(tmp_path):
    site, early = tmp_path / "site", [record("ab", (5, 1), index=n, seed=n) for n in range(4)]
    late = [record("ab", (1, 5), index=n, seed=n) for n in range(4, 24)]
    run = recorded(tmp_path / "run", early)
    publish([run], Registry(), site)
    assert json.loads((site / "runs/run/data.json").read_text())["changes"] == []
    write_records(run.folder, [*early, *late], sealed=False)
    publish([RunFolder.open(run.folder)], Registry(), site)
    for _ in range(2):  # publishing the same again changes nothing
        about = json.loads((site / "runs/run/data.json").read_text())
        moves = {one["bot"]: (one["before"], one["place"]) for one in about["changes"]}
        assert moves == {"b": (2, 1), "a": (1, 2)}
        assert about["new"] == 20 and [one["unsure"] for one in about["changes"]] == [False, False]
        assert {match for one in about["changes"] for match in one["matches"]} <= {one.id for one in late}
        assert "from place 2 to 1" in " ".join((site / "runs/run/index.html").read_text().split())
        assert "moved from place 2 to place 1" in (site / "bots/b.xml").read_text()
        publish([RunFolder.open(run.folder)], Registry(), site)


def test_a_change_of_place_within_the_error_says_so(tmp_path):
    site, early = tmp_path / "site", [record("ab", (5, 1), index=0, seed=0)]
    run = recorded(tmp_path / "run", early)
    publish([run], Registry(), site)
    write_records(run.folder, [*early, *(record("ab", (1, 5), index=n, seed=n) for n in (1, 2))], sealed=False)
    publish([RunFolder.open(run.folder)], Registry(), site)
    about = json.loads((site / "runs/run/data.json").read_text())
    assert [(one["bot"], one["unsure"]) for one in about["changes"]] == [("b", True), ("a", True)]
    page = " ".join((site / "runs/run/index.html").read_text().split())
    assert page.count("within the error") == 2 and "2 new matches" in page


def test_the_organiser_chooses_title_headline_and_the_next_update_and_they_are_kept(tmp_path):
    for name, start in (("monday", 1), ("tuesday", 2)):
        run = recorded(tmp_path / "results" / name, [record("ab", (1, 2))])
        edit_info(run.folder, lambda raw, start=start: raw | {"started": f"2026-01-0{start}T10:00:00"})
    chosen = ("--title", "Our <bots>", "--headline", "monday", "--next", "on Sunday")
    arena("publish", "monday", "tuesday", "--to", "site", *chosen)
    for _ in range(2):
        page = (tmp_path / "site/index.html").read_text()
        assert "<h1>Our &lt;bots&gt;</h1>" in page and "next update: on Sunday" in page
        assert "<bdi>monday</bdi>, 1 match" in page
        arena("publish", "tuesday", "--to", "site")
    assert "Unknown run of this site" in arena("publish", "monday", "--to", "site", "--headline", "x", code=2).stderr


def test_a_comeback_is_measured_by_the_lasting_deficit_of_the_winner():
    won = record("ab", (10, 5))
    assert comeback(won, {"scores": [(0, 0), (0, 4), (10, 5)]}) == 0.4
    assert comeback(won, {"scores": [(0, 0), (10, 5)], "expected": [[0.5, 0.5], [0.1, 0.9], [1.0, 0.0]]}) == 0.8
    assert comeback(record("ab", (5, 5)), {"scores": [(0, 4), (5, 5)]}) == 0.0
    # A deficit of a single step in a long match, as between a payment and what it bought, is none.
    assert comeback(won, {"scores": [*[(0, 0)] * 10, (0, 4), *[(5, 0)] * 9, (10, 5)]}) == 0.0


@pytest.mark.parametrize("match", ["el-paso-3.1.2", "x-pasch-1.1.1"])
def test_the_usual_id_of_a_match_is_its_file_name(match):
    assert match_file(match) == match


def test_no_id_of_a_match_leads_out_of_its_folder_or_to_the_page_of_another():
    names = ["../../index", "a/b", "A", "con", "", "a b", "x" * 300, "a.0123456789", match_file("a b")]
    files = [match_file(name) for name in names]
    assert len(set(files)) == len(names)
    assert all("/" not in file and not file.startswith(".") for file in files)


def test_closeness_has_words_that_name_no_winner():
    assert [closeness(share) for share in (0, 0.02, 0.1, 0.2, 0.9)] == [
        "very close", "very close", "close", "clear", "one-sided",
    ]  # fmt: skip
    assert margin((10, 9, 1)) == 0.1
    assert replace(record("a", (3,))).scores == (3,) and margin((3,)) == 1.0


def test_the_list_of_a_long_run_needs_no_more_memory_than_that_of_a_short_one(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 200)
    monkeypatch.setattr(module, "RECORD_BYTES", 20_000)
    peaks = []
    for matches in (600, 3000):
        made = [record(("a", "b", "c", "d"), (n % 50, 5, 2, 9), index=n, seed=n) for n in range(matches)]
        run = recorded(tmp_path / f"run{matches}", made)
        del made
        folder = Folder(tmp_path / f"site{matches}")
        folder.make()
        tracemalloc.start()
        try:
            listed = write_list(PageParts(run), folder, {}, [])
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        assert sum(game.matches for game in listed.index.games) == matches
    assert peaks[1] < 1.5 * peaks[0]


def test_a_large_field_has_a_small_front_page_and_no_large_file(tmp_path):
    bots = [f"bot-{number:03}" for number in range(120)]
    made = [record([bots[(n + 31 * k) % 120] for k in range(4)], range(4), index=n, seed=n) for n in range(400)]
    publish([recorded(tmp_path / "run", made)], Registry(), tmp_path / "site")
    sizes = {path: path.stat().st_size for path in (tmp_path / "site").rglob("*") if path.is_file()}
    assert sizes[tmp_path / "site/index.html"] < 300_000
    assert max(sizes.values()) < 5_000_000


def test_a_page_says_that_a_bot_won_only_if_the_summary_of_the_leaderboard_does(tmp_path):
    few, many = [record("ab", (5, 1))], [record("ab", (5, 1), index=n, seed=n) for n in range(60)]
    verdict = "a won. It is significantly better than the other bot of this run."
    for name, made, words, said in (("few", few, "first in sim", False), ("many", many, "won sim", True)):
        publish([recorded(tmp_path / name, made)], Registry(), tmp_path / "site")
        page = (tmp_path / f"site/runs/{name}/index.html").read_text()
        assert words in page and (verdict in page) == said
        assert "every other bot" not in page
    assert "In other runs" in (tmp_path / "site/games/sim.html").read_text()


def test_a_page_of_a_bot_names_no_folder_of_the_machine():
    assert source_name("../home/me/bots/climber.py") == "climber.py"
    assert source_name("arena-harness") == "arena-harness"
