"""A league on the live page: its own table, beside the standings of its newest era."""

from __future__ import annotations

from pathlib import Path

from harness.league.standings import LeagueTables
from harness.serve.live_run import LiveRun, place_of
from tests.support.cli import arena
from tests.support.games import REGISTRY


def test_the_live_page_of_a_league_has_its_own_table_without_banned_bots():
    arena("league", "init", "autumn", "--game", "el-paso")
    arena("league", "add", "outlaw", "diehard", "skittish", "random", "-L", "autumn")
    tables = LeagueTables()
    assert tables(Path("autumn")) == ()  # nothing was played
    arena("league", "run", "--matches", 12, "--workers", 0, "-q", "-L", "autumn")
    arena("league", "ban", "random", "-L", "autumn")
    place = place_of(Path("autumn"), LeagueTables())
    assert place is not None and place.is_league
    [own] = place.tables()
    assert {row["bot"] for row in own.rows} <= {"outlaw@1", "diehard@1", "skittish@1"}
    live = LiveRun(place, REGISTRY)
    live.read_updates()
    assert live.title == "autumn, era 1"
