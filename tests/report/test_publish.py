"""A site grows by a run each time, and every page of it is safe and linked."""

from __future__ import annotations

import csv
import json
import re

import pytest
from msgspec.structs import replace

from harness.core.errors import UsageError
from harness.output.tables import file_name
from harness.plugins.registry import Registry
from harness.report import SiteOptions, publish
from harness.report.published import profile, published
from tests.output.support import NASTY, recorded
from tests.ratings.simulate import record
from tests.report.test_page import Reader
from tests.support.cli import arena


def matches(*results, first=0):
    return [record(seats, scores, index=n, seed=n) for n, (seats, scores) in enumerate(results, first)]


def reader(path):
    return Reader(path.read_text(encoding="utf-8"))


def test_publishing_again_adds_a_run_and_keeps_the_old_ones(tmp_path):
    site = tmp_path / "site"
    monday = recorded(tmp_path / "monday", matches(("ab", (1, 2)), ("ab", (3, 2))))
    publish([monday], Registry(), site)
    before = (site / "runs/monday/index.html").read_bytes()
    tuesday = recorded(tmp_path / "tuesday", matches(("bc", (1, 2))))
    publish([tuesday], Registry(), site)
    assert (site / "runs/monday/index.html").read_bytes() == before
    assert {run["name"] for run in json.loads((site / "site.json").read_text())["runs"]} == {"monday", "tuesday"}
    assert {path.name for path in (site / "bots").glob("*.html")} == {"a.html", "b.html", "c.html", "index.html"}
    [b] = profile("b", published(site)).games
    assert [line["run"] for line in b.lines] == ["tuesday", "monday"]
    assert {other.bot: (other.met, other.ahead) for other in b.best + b.worst} == {"a": (2, 0.5), "c": (1, 0.0)}


def test_the_same_run_is_updated_and_another_run_with_its_name_gets_its_own_folder(tmp_path):
    site = tmp_path / "site"
    run = recorded(tmp_path / "one" / "run", matches(("ab", (1, 2))))
    publish([run, run], Registry(), site)
    assert [path.name for path in (site / "runs").iterdir() if path.is_dir()] == ["run"]
    other = recorded(tmp_path / "two" / "run", matches(("ab", (1, 2))))
    other.info = replace(other.info, started="2027-01-01T10:00:00")
    publish([other], Registry(), site)
    assert sorted(path.name for path in (site / "runs").iterdir() if path.is_dir()) == ["run", "run-2"]


def test_opponents_that_a_bot_beats_equally_often_are_not_called_its_worst(tmp_path):
    site = tmp_path / "site"
    played = matches(("abc", (3, 2, 1)), ("bca", (2, 1, 3)), ("cab", (1, 3, 2)))
    publish([recorded(tmp_path / "run", played)], Registry(), site)
    [first], [second], [last] = (profile(bot, published(site)).games for bot in "abc")
    assert ([other.bot for other in first.best], first.worst) == (["b"], [])
    assert ([other.bot for other in second.best], [other.bot for other in second.worst]) == (["c"], ["a"])
    assert (last.best, [other.ahead for other in last.worst]) == ([], [0.0, 0.0])


def test_the_headline_run_is_on_the_front_page_and_on_the_pages_of_its_games(tmp_path):
    site = tmp_path / "site"
    cup, late = (
        recorded(tmp_path / "cup", matches(("ab", (2, 1)))),
        recorded(tmp_path / "late", matches(("ab", (1, 2)))),
    )
    late.info = replace(late.info, started="2027-01-01T10:00:00")
    publish([cup, late], Registry(), site)
    assert 'runs/late/index.html">late' in (site / "games/sim.html").read_text().replace("<bdi>", "")
    publish([late], Registry(), site, options=SiteOptions(headline="cup"))
    sentence = "For the table of the game one run counts: cup. The other runs have tables of their own."
    for page in ("index.html", "runs/index.html", "bots/index.html"):
        assert sentence in re.sub("<[^>]*>", "", (site / page).read_text()), page
    for page in ("games/sim.html", "bots/a.html"):
        assert "Only the run cup counts for th" in re.sub("<[^>]*>", "", (site / page).read_text()), page
    assert 'runs/cup/index.html">cup' in (site / "games/sim.html").read_text().replace("<bdi>", "")
    assert "is first · 2 bots" in (site / "index.html").read_text().partition('href="bots/a.html"')[2][:200]


def test_many_bots_make_three_files_each_and_versions_share_a_line(tmp_path):
    site = tmp_path / "site"
    bots = [f"bot-{number}" for number in range(40)] + ["climber@9", "climber@10"]
    publish([recorded(tmp_path / "run", matches(*(((bot, "bot-0"), (1, 2)) for bot in bots[1:])))], Registry(), site)
    files = [path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()]
    assert sum(path.startswith(("bots/", "badges/")) for path in files) == 3 * len(bots) + len(["bots/index.html"])
    listed = reader(site / "bots/index.html")
    lines = [one["data-bot"] for one in listed.all("li") if "data-bot" in one]
    assert lines[0] == "bot-0"
    assert {*lines} == {*bots} - {"climber@9"}
    assert f"{file_name('climber@9')}.html" in [one["href"] for one in listed.all("a")]


def test_every_link_leads_to_a_file_of_the_site(tmp_path):
    site = tmp_path / "site"
    records = [record(NASTY[turn:] + NASTY[:turn], range(6), index=turn, seed=turn) for turn in range(6)]
    publish([recorded(tmp_path / "a run <b>", records)], Registry(), site)
    pages = list(site.rglob("*.html"))
    assert len(pages) == len(("index", "runs", "run", "its matches", "game", "bots")) + len(NASTY)
    for page in pages:
        for link in reader(page).all("a"):
            if link["href"].startswith("#"):
                assert link["href"][1:] in {attributes.get("id") for _, attributes in reader(page).tags}
                continue
            target = (page.parent / link["href"].partition("#")[0]).resolve()
            assert target.is_file(), (page, link)
            assert target.is_relative_to(site)


def test_hostile_names_are_escaped_in_pages_and_file_names(tmp_path):
    site = tmp_path / "site"
    records = [record(NASTY[turn:] + NASTY[:turn], range(6), index=turn, seed=turn) for turn in range(6)]
    publish([recorded(tmp_path / "run", records)], Registry(), site)
    for path in site.rglob("*"):
        assert re.fullmatch(r"[a-z0-9_.-]+", path.name)
    for page in [site / "index.html", *(site / "bots").glob("*.html")]:
        assert not reader(page).all("img")
        assert all(script["src"].startswith(("assets/", "../assets/")) for script in reader(page).all("script"))
    assert json.loads((site / "site.json").read_text())["bots"][NASTY[0]] == file_name(NASTY[0])


def test_tables_are_published_as_json_and_csv_too(tmp_path):
    site = tmp_path / "site"
    publish([recorded(tmp_path / "run", matches(("ab", (1, 2)), ("ba", (1, 2))))], Registry(), site)
    for kind in ("leaderboard", "pairs", "seats"):
        rows = json.loads((site / f"runs/run/{kind}.json").read_text())["sim"]
        with (site / f"runs/run/{kind}.csv").open() as file:
            assert len(list(csv.DictReader(file))) == len(rows) == 2


def test_the_published_form_of_a_bot_lists_its_latest_places(tmp_path):
    site = tmp_path / "site"
    publish([recorded(tmp_path / "run", matches(("ab", (1, 2)), ("ab", (3, 2)), ("ab", (3, 2))))], Registry(), site)
    assert profile("a", published(site)).games[0].form == [(2, 2), (1, 2), (1, 2)]


def test_the_site_of_an_empty_run_says_that_no_match_was_played(tmp_path):
    site = tmp_path / "site"
    publish([recorded(tmp_path / "run", [])], Registry(), site)
    assert "No match has been played yet" in (site / "index.html").read_text()


def test_a_site_that_arena_did_not_make_is_not_overwritten(tmp_path):
    recorded(tmp_path / "results" / "run", [])
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("mine")
    assert "holds a site that arena did not make" in arena("publish", "run", "--to", "site", code=2).stderr
    assert (tmp_path / "site" / "index.html").read_text() == "mine"


def test_a_damaged_data_file_of_a_published_run_is_named_in_the_error(tmp_path):
    recorded(tmp_path / "results" / "run", [])
    arena("publish", "run", "--to", "site")
    (tmp_path / "site/runs/run/data.json").write_text("{}")
    said = arena("publish", "run", "--to", "site", code=2).stderr
    assert "site/runs/run/data.json was not written by 'arena publish'" in said


@pytest.mark.parametrize("args", [("publish", "run"), ("publish", "--to", "site"), ("publish", "nope", "--to", "site")])
def test_publish_fails_if_the_run_or_the_target_folder_is_missing(tmp_path, args):
    recorded(tmp_path / "results" / "run", [])
    arena(*args, code=2)


def test_an_analysis_stays_on_the_page_of_its_game_and_another_file_is_refused(tmp_path):
    shares = {name: {"value": 0.25, "low": 0.2, "high": 0.3} for name in ("bots", "deals", "seats", "rest")}
    found = {"game": "sim", "players": 2, "bots": ["a", "b"], "matches": 1234, "shares": shares, "skill_matches": 2.5}
    file, site = tmp_path / "found.json", tmp_path / "site"
    file.write_text(json.dumps(found))
    run = recorded(tmp_path / "cup", matches(("ab", (2, 1))))
    publish([run], Registry(), site, options=SiteOptions(analyses=[file]))
    file.write_text(json.dumps({**found, "shares": {"bots": shares["bots"]}}))
    with pytest.raises(UsageError, match="has no share of deals, rest, seats"):
        publish([run], Registry(), site, options=SiteOptions(analyses=[file]))
    file.write_text("[]")
    with pytest.raises(UsageError, match="is not the data of an analysis"):
        publish([run], Registry(), site, options=SiteOptions(analyses=[file]))
    publish([run], Registry(), site)
    page = (site / "games/sim.html").read_text(encoding="utf-8")
    assert "half of the differences between means of 3 matches are skill" in page
    assert "1,234 matches of a, b" in page
    assert page.count("<b>25% (20\N{EN DASH}30)</b>") == 4
    for low, said in ((0.44, "perhaps less than half"), (0.51, "says more about skill than about everything else")):
        shares["bots"] = {"value": 0.55, "low": low, "high": 0.66}
        file.write_text(json.dumps({**found, "skill_matches": 0.8}))
        publish([run], Registry(), site, options=SiteOptions(analyses=[file]))
        assert said in (site / "games/sim.html").read_text(encoding="utf-8")
