"""More tables: who finishes ahead of whom, and what a seat is worth."""

from __future__ import annotations

from harness.output.columns import NOTHING, Fields, interval_fields, number, percent
from harness.output.tables import DataTable
from harness.ratings import Leaderboard


def pairwise_table(board: Leaderboard) -> DataTable:
    """How often each bot finishes ahead of each other; a tie is half of one."""
    ratings = board.ratings
    lines = [standing.line for standing in board.standings]
    rows: list[Fields] = []
    cells = []
    for line in lines:
        shown = [line.bot]
        for other in lines:
            ahead, met = ratings.evidence.finished_ahead(line.number, other.number)
            if met:
                rows.append({"bot": line.bot, "against": other.bot, "met": met, "ahead": round(ahead / met, 4)})
            shown.append(f"{ahead / met:.1%}" if met else NOTHING)
        cells.append(shown)
    return DataTable(board.title, rows, ["bot", *(line.bot for line in lines)], cells)


def seats_table(board: Leaderboard) -> DataTable:
    """What each seat is worth: the seat advantage of the game."""
    rows: list[Fields] = []
    cells = []
    for (players, seat), sums in board.ratings.evidence.seats().items():
        matches, wins, score, ahead = sums.matches, sums.wins, sums.mean_score, sums.share_ahead
        rows.append(
            {
                "players": players,
                "seat": seat,
                "matches": int(matches),
                "wins": round(wins / matches, 4),
                **interval_fields("ahead", ahead, 4),
                **interval_fields("mean score", score, 2),
            }
        )
        cells.append(
            [str(players), str(seat), f"{matches:.0f}", f"{wins / matches:.1%}", percent(ahead), number(score)]
        )
    legend = "Without a seat advantage a seat finishes ahead of 50% of the table. ± is a 95% interval over deals."
    return DataTable(
        board.title, rows, ["players", "seat", "matches", "wins", "ahead", "mean score"], cells, legend=legend
    )
