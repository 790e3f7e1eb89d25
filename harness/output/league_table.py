"""The tables of a league, for people and programs: who stands where, and how the versions of a bot fare."""

from __future__ import annotations

from collections.abc import Sequence

from harness.league.standings import LeagueRow, Standings, shown
from harness.league.version_history import VersionRow
from harness.output.columns import NOTHING, Fields, percent
from harness.output.data_table import DataTable
from harness.ratings import Interval

LEGENDS = {
    "ahead": "ahead: of how many of the others, in percent, it is expected to finish ahead, with the limits of 95%.",
    "state": "state: the newest version plays, older ones are kept as opponents.",
}
SURE_LEGEND = "sure: how sure it is that this version is better than the one before."


def standings_tables(standings: Standings, everybody: bool = False) -> list[DataTable]:
    """A table for each game; of the newest versions, or of `everybody` who has played."""
    return [_table(game, shown(rows, everybody), standings, everybody) for game, rows in standings.games.items()]


def _table(game: str, rows: Sequence[LeagueRow], standings: Standings, everybody: bool) -> DataTable:
    teams = any(row.team for row in rows)
    headers = ["place", "bot", "ahead", "rating", "matches"]
    headers += (["state"] if everybody else []) + (["team"] if teams else [])
    cells = []
    for place, row in zip(places_of(rows), rows, strict=True):
        strength = row.strength
        told = [str(place), row.name, ahead_text(row), f"{strength.value:+.2f}", f"{strength.matches:,}"]
        cells.append(told + ([row.standing] if everybody else []) + ([row.team or NOTHING] if teams else []))
    notes = [f"Not seated yet: {', '.join(waiting)}."] if (waiting := standings.waiting.get(game)) else []
    if standings.left_out:
        notes.append(f"{standings.left_out:,} matches do not count: somebody who is banned took part.")
    legends = LEGENDS if everybody else {"ahead": LEGENDS["ahead"]}
    return DataTable(
        game,
        [_fields(place, row) for place, row in zip(places_of(rows), rows, strict=True)],
        headers,
        cells,
        notes,
        words=frozenset(("bot", "state", "team")),
        legends=legends,
    )


def places_of(rows: Sequence[LeagueRow]) -> list[int]:
    """The places of those who are shown: equal ones share a place."""
    found: list[int] = []
    for number, row in enumerate(rows, 1):
        tied = number > 1 and rows[number - 2].strength.ahead == row.strength.ahead
        found.append(found[-1] if tied else number)
    return found


def ahead_text(row: LeagueRow) -> str:
    """`ahead` with its interval."""
    return percent(Interval(row.strength.ahead, row.strength.low, row.strength.high))


def _fields(place: int, row: LeagueRow) -> Fields:
    strength = row.strength
    return {
        "place": place,
        "bot": row.name,
        "ahead": round(strength.ahead, 6),
        "ahead_low": round(strength.low, 6),
        "ahead_high": round(strength.high, 6),
        "rating": round(strength.value, 6),
        "error": round(strength.error, 6),
        "matches": strength.matches,
        "state": row.standing,
        "team": row.team,
        "author": row.author,
        "joined": row.joined,
    }


def history_table(bot: str, game: str, rows: Sequence[VersionRow]) -> DataTable:
    """The versions of a bot in one game, the newest first."""
    headers = ["version", "joined", "state", "ahead", "matches", "sure"]
    cells = [
        [
            row.name,
            row.joined[:10],
            row.standing,
            NOTHING if row.strength is None else _percent(row),
            "0" if row.strength is None else f"{row.strength.matches:,}",
            NOTHING if row.better is None else f"{row.better:.0%}",
        ]
        for row in rows
    ]
    fields: list[Fields] = [
        {
            "version": row.name,
            "joined": row.joined,
            "state": row.standing,
            "ahead": None if row.strength is None else round(row.strength.ahead, 6),
            "ahead_low": None if row.strength is None else round(row.strength.low, 6),
            "ahead_high": None if row.strength is None else round(row.strength.high, 6),
            "matches": 0 if row.strength is None else row.strength.matches,
            "sure": None if row.better is None else round(row.better, 4),
        }
        for row in rows
    ]
    words = frozenset(("version", "joined", "state"))
    legends = {"ahead": LEGENDS["ahead"], "sure": SURE_LEGEND}
    return DataTable(f"{bot}, {game}", fields, headers, cells, words=words, legends=legends)


def _percent(row: VersionRow) -> str:
    assert row.strength is not None
    return percent(Interval(row.strength.ahead, row.strength.low, row.strength.high))
