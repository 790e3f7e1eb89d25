"""Several games in one table: the places of each bot, game by game, and the order of those who play them all."""

from __future__ import annotations

from collections.abc import Sequence

from harness.output.columns import NOTHING, Fields, interval_fields, percent, places
from harness.output.data_table import DataTable
from harness.output.reading import overall_summary
from harness.ratings import Leaderboard, Overall, overall

OVERALL = "overall"
"""The title of the table."""
LEGENDS = {
    "may be": "may be: the places that are not ruled out.",
    "vote": "vote: the place if each game has one vote on who is above whom (Schulze's method).",
    "ahead": "ahead, overall: the mean of the games, each with the same weight.",
}


def overall_tables(boards: Sequence[Leaderboard]) -> list[DataTable]:
    """The table over several games; none if there is but one."""
    found = overall(boards)
    return [] if found is None else [overall_table(found)]


def worth_showing(boards: Sequence[Leaderboard]) -> list[DataTable]:
    """The same, unless fewer than two bots play every game: then it only says again what the games' tables say."""
    found = overall(boards)
    ranked = [] if found is None else [line for line in found.lines if line.place is not None]
    return overall_tables(boards) if len(ranked) > 1 else []


def overall_table(found: Overall) -> DataTable:
    """A line for each bot: its place among those who play every game, and its place in each game."""
    rows: list[Fields] = []
    cells = []
    votes = {one.bot: one.place for one in found.voted()}
    for line in found.lines:
        rows.append(
            {
                "place": line.place,
                "best place": line.best,
                "worst place": line.worst,
                "bot": line.bot,
                **interval_fields("ahead", line.ahead, 4),
                "vote": votes.get(line.bot),
                **{f"place in {game}": line.places.get(game) for game in found.games},
                "matches": line.matches,
                "faults": line.faults,
            }
        )
        cells.append(
            [
                NOTHING if line.place is None else str(line.place),
                places(line.best, line.worst),
                line.bot,
                percent(line.ahead),
                str(votes.get(line.bot, NOTHING)),
                *(str(line.places.get(game, NOTHING)) for game in found.games),
                str(line.matches),
                str(line.faults),
            ]
        )
    headers = ["place", "may be", "bot", "ahead", "vote", *found.games, "matches", "faults"]
    return DataTable(
        OVERALL,
        rows,
        headers,
        cells,
        found.notes,
        summary=overall_summary(found),
        legend="Under each game: the place there.",
        legends=LEGENDS,
        optional=("vote", "matches"),
        alarms=frozenset(("faults",)),
    )
