from __future__ import annotations

import json
from pathlib import Path
from random import Random
from statistics import median
from time import process_time

import msgspec
import pytest

from harness.comparison.sampling_units import MARGIN, MAX_MATCHES, WAYS
from harness.core.records import MatchSpec
from harness.match.referee import play
from harness.plugins.registry import load
from harness.ratings.counts import GameCounts
from tests.support.cli import arena
from tests.support.forgery import bent

BOTS = ("--bot", "random", "--bot", "skittish", "--bot", "diehard", "--bot", "skittish:stars=3")


@pytest.fixture
def run():
    arena("tournament", "--game", "el-paso", "--players", 3, "--deals", 4, "--name", "a", *BOTS)
    return Path("results/a")


def board(*args):
    return json.loads(arena("leaderboard", "a", "-f", "json", *args).stdout)


def test_the_order_of_the_lines_changes_nothing(run):
    before = arena("leaderboard", "a").stdout
    lines = (run / "games.jsonl").read_bytes().splitlines(keepends=True)
    (run / "games.jsonl").write_bytes(b"".join(Random(1).sample(lines, len(lines))))
    assert arena("leaderboard", "a").stdout == before


def test_the_leaderboard_can_be_split_by_players_and_by_option(run):
    assert list(board("--by", "players")) == ["el-paso, 3 players"]
    assert list(board("--by", "option")) == ["el-paso, edition=de"]


def test_the_leaderboard_command_shows_pairs_and_seats(run):
    assert len(board("--show", "pairs")["el-paso"]) == 12
    assert [row["seat"] for row in board("--show", "seats")["el-paso"]] == [0, 1, 2]


def test_a_bot_can_be_left_out(run):
    rows = board("--without", "random")["el-paso"]
    assert {row["bot"] for row in rows} == {"skittish", "diehard", "skittish:stars=3"}
    assert {row["matches"] for row in rows} == {12}
    assert "Did you mean 'random'" in arena("leaderboard", "a", "--without", "randon", code=2).stderr


def test_the_bot_option_prints_the_summary_of_one_bot(run):
    page = json.loads(arena("leaderboard", "a", "--bot", "diehard").stdout)
    assert page["games"]["el-paso"]["matches"] == 36
    assert "Unknown bot of these records 'nobody'" in arena("leaderboard", "a", "--bot", "nobody", code=2).stderr


def test_a_run_without_matches_prints_no_matches_yet(run):
    (run / "games.jsonl").write_bytes(b"")
    assert arena("leaderboard", "a").stdout == "No matches yet.\n"
    assert board() == {}


def test_records_of_unknown_bots_are_rated(run):
    path = run / "games.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(bent(line, b'"diehard"', b'"stranger"') for line in lines))
    assert "stranger" in {row["bot"] for row in board()["el-paso"]}


def test_a_duplicate_match_is_refused(run):
    path = run / "games.jsonl"
    path.write_bytes(path.read_bytes() + path.read_bytes().splitlines(keepends=True)[0])
    assert "a match is there twice" in arena("leaderboard", "a", code=2).stderr


def test_compare_gives_a_verdict():
    shown = arena("compare", "diehard", "random", "--game", "el-paso").stdout
    assert "diehard is better than random at a table of two." in shown
    assert "95% interval" in shown
    assert "wrong in at most 5 of 100 comparisons" in shown
    (verdict,) = json.loads(arena("compare", "random", "diehard", "--game", "el-paso", "--json").stdout)
    assert verdict["answer"] == "worse"
    assert verdict["high"] < 0.5
    assert verdict["matches"] == verdict["units"]["match"]


def test_the_help_of_compare_names_the_actual_defaults():
    said = " ".join(arena("compare", "--help").stdout.split())
    assert f"this many matches. Default: {MAX_MATCHES}." in said
    assert f"plus this share. Default: {MARGIN}." in said
    assert f"--way [{'|'.join(WAYS)}]" in said


def test_compare_prints_first_what_is_played():
    asked = ("compare", "outlaw", "diehard", "--bot", "random", "--game", "el-paso", "--most", 2, "--workers", 0)
    ways = {
        (): "first a pilot of 16 matches with separate deals, and 24 deals played twice",
        ("--way", "pairs"): "outlaw and diehard play each deal twice, with their seats exchanged.",
        ("--way", "own-deals"): "each match has its own deal.",
        ("--way", "gauntlet"): "outlaw and diehard take turns at one place of the same table, on the same deals.",
    }
    for more, said in ways.items():
        assert said in arena(*asked, *more).stderr
    assert arena(*asked, "--quiet").stderr == ""


def test_compare_with_other_bots_is_repeatable_and_names_the_kinds_of_matches():
    asked = ("compare", "skittish", "skittish:stars=3", "--bot", "random", "--game", "el-paso", "--seed", 3)
    once = arena(*asked, "--thorough", "--most", 200, "--way", "pairs").stdout
    assert "el-paso (skittish, skittish:stars=3, random): 200 matches: 100 pairs with seats exchanged" in once
    assert arena(*asked, "--thorough", "--most", 200, "--way", "pairs").stdout == once
    own = arena(*asked, "--thorough", "--most", 50, "--way", "own-deals").stdout
    assert "): 50 matches with separate deals" in own
    auto = arena(*asked, "--thorough", "--most", 100).stdout
    assert "In the pilot " in auto
    assert "of 24 pairs, so " in auto


def test_compare_by_a_gauntlet_names_the_opponents():
    asked = ("compare", "outlaw", "random", "--game", "el-paso", "--bot", "diehard", "--bot", "skittish", "--seed", 1)
    shown = arena(*asked, "--way", "gauntlet").stdout
    assert "outlaw does better than random against diehard and skittish." in shown
    assert "of the others at the table, random of " in shown
    assert "deals that each played in turn" in shown
    assert "Elo" not in shown


def test_compare_stops_at_the_maximum_number_of_matches():
    shown = arena("compare", "skittish:stars=4", "skittish:stars=5", "--game", "el-paso", "--most", 2).stdout
    assert "After 2 matches it is not known whether skittish:stars=4 or skittish:stars=5 is better" in shown


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("skittish", "skittish"), "entered twice"),
        (("skittish", "skitish"), "Did you mean 'skittish'"),
        (("skittish", "founder"), "no game that both skittish and founder play"),
        (("skittish", "diehard", "--game", "x-pasch"), "X-Pasch"),
        (("skittish", "diehard", *(f"--bot=skittish:stars={n}" for n in (1, 3, 4, 5))), "at most 5 players"),
        (("skittish", "diehard", "--option", "edition=xx"), "edition"),
        (("skittish", "diehard", "--way", "pear"), "--way"),
    ],
)
def test_compare_refuses_invalid_arguments(args, said):
    assert said in arena("compare", *args, code=2).stderr


def test_a_failing_bot_is_named_and_strict_ends_with_1():
    Path("crash.py").write_text(
        "from harness import Bot\nclass Crash(Bot):\n    def choose(self, view, actions):\n        raise ValueError\n"
    )
    asked = ("compare", "crash.py", "diehard", "--game", "el-paso")
    assert "crash failed in" in arena(*asked).stdout
    arena(*asked, "--strict", code=1)


def test_rating_costs_less_than_a_tenth_of_playing():
    registry = load()
    game = registry.game("el-paso").configure()
    random = registry.entrants(["random"])[0]
    seats = ("a", "b", "c", "d")
    ratios = []
    for _ in range(5):
        began = process_time()
        records = [play(MatchSpec(f"m{n}", n, "s", "el-paso", {}, n, seats), game, [random] * 4) for n in range(100)]
        playing = process_time() - began
        counts = GameCounts()
        began = process_time()
        for record in records:
            counts.add(msgspec.structs.replace(record, seats=tuple(Random(record.index).sample("abcdef", 4))))
        ratios.append((process_time() - began) / playing)
    assert median(ratios) < 1 / 10


def test_the_number_of_workers_changes_nothing():
    asked = ("tournament", "--game", "el-paso", "--players", 2, "--deals", 3, *BOTS)
    tables = []
    for workers in (0, 2):
        arena(*asked, "--workers", workers, "--name", workers)
        rows = json.loads(arena("leaderboard", workers, "-f", "json").stdout)["el-paso"]
        tables.append([{key: value for key, value in row.items() if key != "ms/decision"} for row in rows])
    assert tables[0] == tables[1]
    compared = ("compare", "skittish", "diehard", "--game", "el-paso")
    assert arena(*compared, "--workers", 0).stdout == arena(*compared, "--workers", 2).stdout
