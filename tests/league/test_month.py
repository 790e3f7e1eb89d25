"""A league over a simulated month: entries, versions, a ban, another time control; disturbed, it ends the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.league.folder import LeagueFolder
from harness.league.standings import standings_of
from tests.league.support import killed_at, recorded, records, tear, write_bot
from tests.support.cli import arena


def league(folder: Path, what: str, *args: object) -> str:
    return arena("league", what, *args, "--league", folder).stdout


class Month:
    """The same month for every league: who comes, who goes, and how many matches are played in between."""

    def __init__(self, folder: Path, bots: int, versions: int, matches: int, kills: int) -> None:
        self.folder, self.bots, self.versions, self.matches = folder, bots, versions, matches
        self.kills, self.era, self.total, self.stretches = kills, 1, 0, 0
        # The disturbed league plays in sandboxes, as leagues do; the other one without them, which takes half the time.
        self.isolate = "auto" if kills else "off"

    def play(self) -> None:
        """Plays a stretch; in a league that is disturbed the runner is killed in the middle, and files are torn."""
        target = self.total + self.matches
        self.stretches += 1
        if self.kills and self.stretches % 2:
            self.kills -= 1
            killed_at(self.folder, self.total + self.matches // 3, self.era, "--matches", self.matches, "--workers", 2)
            if self.kills == 1:
                tear(self.folder / "eras" / str(self.era) / "games.jsonl")
                tear(self.folder / "journal.jsonl")
        left = target - recorded(self.folder, self.era)
        if left > 0:
            league(self.folder, "run", "--matches", left, "--workers", 0, "--quiet", "--isolate", self.isolate)
        self.total = recorded(self.folder, self.era)
        assert self.total == target

    def go_through(self) -> None:
        arena("league", "init", self.folder, "--game", "el-paso", "--seed", 7, "--players", 3)
        first = self.bots * 2 // 3
        self.join(range(first), 1)
        self.play()
        self.join(range(first, self.bots), 1)  # late entries
        for version in range(2, self.versions + 1):
            self.join(range(self.bots), version)
            self.play()
        league(self.folder, "ban", "b1", "--reason", "peeks")
        league(self.folder, "retire", "b2@1")
        self.play()
        settings = self.folder / "arena.toml"
        settings.write_text(settings.read_text() + "move-time = 5\n")
        self.era, self.total = 2, 0
        self.play()
        league(self.folder, "readmit", "b2@1")
        self.play()

    def join(self, numbers: range, version: int) -> None:
        files = [write_bot(f"b{number}", version, 1 + (number + version) % 5) for number in numbers]
        league(self.folder, "add", *files, "--author", "ann")


def check(bots: int, versions: int, matches: int) -> None:
    calm, wild = Month(Path("calm"), bots, versions, matches, 0), Month(Path("wild"), bots, versions, matches, 3)
    calm.go_through()
    wild.go_through()
    assert wild.kills == 0
    for era in (1, 2):
        assert records(wild.folder, era) == records(calm.folder, era)
        calmly, wildly = (standings_of(LeagueFolder.open(one.folder), era).games["el-paso"] for one in (calm, wild))
        assert [(row.name, row.skill) for row in wildly] == [(row.name, row.skill) for row in calmly]
    names = {row.name for row in standings_of(LeagueFolder.open(wild.folder), 1).games["el-paso"]}
    assert names and not any(name.startswith("b1@") for name in names)
    assert any("b1@" in seat for record in records(wild.folder, 1).values() for seat in record.seats)
    told = (wild.folder / "standings.json").read_bytes()
    (wild.folder / "standings.json").unlink()
    assert league(wild.folder, "show", "--all", "-f", "json").encode() == told


def test_a_league_with_killed_runs_and_truncated_files_has_the_same_records_and_table():
    check(bots=5, versions=2, matches=24)


@pytest.mark.slow
def test_a_killed_league_of_thirty_bots_with_five_versions_each_has_the_same_records():
    check(bots=30, versions=5, matches=300)
