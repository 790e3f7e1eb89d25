"""The leaderboard as a table."""

from __future__ import annotations

from math import isfinite

from harness.output.tables import DataTable, Row
from harness.ratings import LEVEL, OVERALL, Interval, Ratings, Standing, leaderboard

HEADERS = (
    "rank",
    "may be",
    "bot",
    "rating",
    "mu ± sigma",
    "matches",
    "wins",
    "ahead",
    "mean rank",
    "mean score",
    "PL",
    "sure",
    "ms/decision",
    "faults",
)
LEGEND = (
    f"Ranks with = belong to a group that cannot be put in order for sure; may be: the ranks that are not ruled out. "
    f"± is a {LEVEL:.0%} interval over deals, except sigma. ahead: share of the table finished ahead of. "
    "PL: Plackett-Luce, in Elo points. sure: how sure it is better than the next line."
)
NOTHING = "-"


def leaderboard_table(title: str, ratings: Ratings) -> DataTable:
    """The leaderboard of a book, best rating first."""
    board = leaderboard(ratings)
    # Points of different games cannot be added up.
    scored = title != OVERALL
    return DataTable(
        title,
        [_row(standing, scored) for standing in board.standings],
        HEADERS,
        [_cells(standing, scored) for standing in board.standings],
        board.notes,
        LEGEND,
    )


def _row(standing: Standing, scored: bool) -> Row:
    line = standing.line
    return {
        "rank": standing.rank,
        "shared": standing.shared,
        "best rank": standing.best,
        "worst rank": standing.worst,
        "bot": line.bot,
        "rating": round(line.rating, 3),
        "mu": round(line.mu, 3),
        "sigma": round(line.sigma, 3),
        "matches": line.matches,
        "wins": round(line.wins / line.matches, 4),
        **interval_fields("ahead", standing.ahead, 4),
        "mean rank": round(line.rank_sum / line.matches, 3),
        **interval_fields("mean score", standing.score if scored else None, 2),
        "strength": round(standing.strength, 1),
        "strength rank": standing.strength_rank,
        "sure": None if standing.sure is None else round(standing.sure, 4),
        "ms/decision": round(1000 * line.time / line.decisions, 4) if line.decisions else 0.0,
        "faults": line.faults,
    }


def _cells(standing: Standing, scored: bool) -> list[str]:
    line = standing.line
    return [
        f"{standing.rank}{'=' if standing.shared else ''}",
        f"{standing.best}-{standing.worst}" if standing.best < standing.worst else str(standing.best),
        line.bot,
        f"{line.rating:.2f}",
        f"{line.mu:.2f} ± {line.sigma:.2f}",
        str(line.matches),
        f"{line.wins / line.matches:.1%}",
        percent(standing.ahead),
        f"{line.rank_sum / line.matches:.2f}",
        number(standing.score if scored else None),
        f"{standing.strength:+.0f}",
        NOTHING if standing.sure is None else _sure(standing.sure),
        f"{1000 * line.time / line.decisions:.3f}" if line.decisions else NOTHING,
        str(line.faults),
    ]


def _sure(chance: float) -> str:
    """Never 100%: nothing that was measured is certain."""
    return ">99.9%" if chance > 0.999 else f"{chance:.1%}" if chance > 0.99 else f"{chance:.0%}"


def percent(interval: Interval | None) -> str:
    """A share with its interval, for people."""
    if interval is None:
        return NOTHING
    reach = f" ± {100 * interval.reach:.1f}" if isfinite(interval.high) else ""
    return f"{100 * interval.value:.1f}{reach}%"


def number(interval: Interval | None) -> str:
    """A mean with its interval, for people."""
    if interval is None:
        return NOTHING
    return f"{interval.value:.1f}" + (f" ± {interval.reach:.1f}" if isfinite(interval.high) else "")


def interval_fields(name: str, interval: Interval | None, digits: int) -> Row:
    """A value with its interval, for programs; None where there is none."""
    value, low, high = interval or (None, None, None)
    parts = ((name, value), (f"{name} low", low), (f"{name} high", high))
    return {key: round(part, digits) if part is not None and isfinite(part) else None for key, part in parts}
