"""A new column of the leaderboard is one `LeaderboardColumn` in `COLUMNS`: every output follows from it."""

from __future__ import annotations

from harness.output import columns, leaderboard
from harness.output.columns import LeaderboardColumn
from harness.output.leaderboard import leaderboard_files, leaderboard_table
from harness.output.tables import Layout, text_of
from harness.ratings.leaderboard import leaderboard as leaderboard_of
from harness.report.parts import table_part
from tests.ratings.simulate import count_records, record

LOSSES = LeaderboardColumn(
    name="losses",
    meaning="matches that it did not win",
    text=lambda s: f"{s.totals.matches - s.totals.wins:.0f}",
    fields=lambda s: {"losses": s.totals.matches - s.totals.wins},
    legend="losses: not won.",
)


def test_a_new_column_is_defined_in_one_place(monkeypatch):
    added = (*columns.COLUMNS, LOSSES)
    monkeypatch.setattr(columns, "COLUMNS", added)
    monkeypatch.setattr(leaderboard, "COLUMNS", added)
    monkeypatch.setattr(leaderboard_table, "__defaults__", (added, *(leaderboard_table.__defaults__ or ())[1:]))
    counts = count_records([record("ab", (2, 1), index=n, seed=n) for n in range(4)])
    boards = [leaderboard_of(one, name) for name, one in counts.items()]
    files = leaderboard_files(boards)
    assert set(files) == {"leaderboard.md", "leaderboard.csv", "leaderboard.json"}
    assert all(b"losses" in text for text in files.values())
    [table] = [leaderboard_table(board) for board in boards]
    assert [row["losses"] for row in table.rows] == [0, 4]
    screen = text_of([table], "simple", Layout(200))
    assert "losses: not won." in screen and "  losses" in screen
    assert "losses</th>" in text_of([table], "html")
    page = table_part(table)
    assert "losses" in [title for title, _ in page.headers]
    assert [line.cells[-1].text for line in page.lines] == ["0", "4"]
