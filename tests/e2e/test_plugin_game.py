"""A game that arena has never heard of, installed as a package, works in every command."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.docs.fresh import Fresh
from tests.docs.pages import DOCS, blocks, lay_out


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """Somewhere with the example game installed, and one run of it played."""
    fresh = Fresh(tmp_path_factory.mktemp("stranger"))
    folder = lay_out(fresh)
    [pyproject] = [block.text for block in blocks(DOCS / "add-a-game.md") if block.language == "toml"]
    (folder / "pyproject.toml").write_text(pyproject)
    fresh.succeed("pip install ./liars-dice pytest")
    shutil.rmtree(folder)  # what was installed is all that is left of it
    bots = "--bot random --bot flat-mc:iterations=20 --bot ismcts:iterations=20"
    fresh.succeed(f"arena tournament --game liars-dice {bots} --option rounds=3 --deals 6 --seed 1 --name run --strict")
    return fresh


def test_an_installed_game_is_listed_with_its_options(fresh):
    games = {game["name"]: game for game in json.loads(fresh.succeed("arena games --json"))}
    assert games["liars-dice"]["players"] == [2, 6]
    assert [option["name"] for option in games["liars-dice"]["options"]] == ["rounds"]


def test_search_bots_beat_random_at_an_installed_game(fresh):
    leaderboard = (fresh.folder / "results" / "run" / "leaderboard.md").read_text()
    lines = [line for line in leaderboard.splitlines() if line.startswith("|")]
    assert " random " in lines[-1]
    assert any("ismcts" in line for line in lines)
    assert any("flat-mc" in line for line in lines)


def test_leaderboard_and_report_work_for_an_installed_game(fresh):
    assert "ismcts" in fresh.succeed("arena leaderboard run --table-format csv")
    fresh.succeed("pip install 'arena-harness[report]'")
    fresh.succeed("arena report run")
    page = (fresh.folder / "results" / "run" / "report.html").read_text()
    assert "liars-dice" in page


def test_a_run_can_be_verified_and_resumed(fresh):
    assert "all fit" in fresh.succeed("arena verify run")
    fresh.succeed("arena tournament --resume run")


def test_a_match_can_be_replayed(fresh):
    assert "liar!" in fresh.succeed("arena replay run liars-dice-1.1.1 --all")
    lines = [json.loads(line) for line in fresh.succeed("arena replay run liars-dice-1.1.1 --json").splitlines()]
    assert any(line["type"] == "choice" for line in lines)


def test_compare_bench_and_check_work_for_an_installed_game(fresh):
    assert "better than random" in fresh.succeed(
        "arena compare flat-mc:iterations=20 random --game liars-dice --seed 1"
    )
    assert json.loads(fresh.succeed("arena bench --game liars-dice --seconds 0.1 --json"))["liars-dice"]["games/s"] > 0
    assert "fit to play" in fresh.succeed("arena check random --game liars-dice --matches 1")


def test_a_person_can_play_an_installed_game(fresh):
    said = fresh.succeed("yes '1!' | arena play liars-dice --bot random --option rounds=2 --seed 1 --name evening")
    assert "Under your cup" in said
    assert "all fit" in fresh.succeed("arena verify evening")


def test_a_new_bot_for_an_installed_game_passes_its_tests(fresh):
    fresh.succeed("arena new-bot fibber --game liars-dice")
    assert "1 passed" in fresh.succeed("python -m pytest -q", fresh.folder / "fibber")
