"""The columns of a leaderboard: the one list that terminal, CSV, JSON, pages and docs read.

To add a column, add it to COLUMNS; `python -m tests.docs.make` brings it into docs/ratings.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite

from harness.ratings import LEVEL, Interval, Standing

Fields = dict[str, object]
"""Values for programs, by name."""
NOTHING = "-"


@dataclass(frozen=True, slots=True)
class Column:
    """One column: what people read, what programs read, and what it means."""

    name: str
    meaning: str
    """What it says, for docs/ratings.md."""
    text: Callable[[Standing], str]
    fields: Callable[[Standing], Fields]
    """The same for programs: one or more values by name."""
    legend: str = ""
    """A few words below each table, where the name does not say enough."""
    word: bool = False
    """Whether it holds words, which are aligned to the left."""
    sort_by: str = ""
    """The field that a page sorts by; by default the one called like the column."""


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


def interval_fields(name: str, interval: Interval | None, digits: int) -> Fields:
    """A value with its interval, for programs; None where there is none."""
    value, low, high = interval or (None, None, None)
    parts = ((name, value), (f"{name} low", low), (f"{name} high", high))
    return {key: round(part, digits) if part is not None and isfinite(part) else None for key, part in parts}


def _sure(chance: float | None) -> str:
    """Never 100%: nothing that was measured is certain."""
    if chance is None:
        return NOTHING
    return ">99.9%" if chance > 0.999 else f"{chance:.1%}" if chance > 0.99 else f"{chance:.0%}"


def _milliseconds(standing: Standing) -> float | None:
    line = standing.line
    return 1000 * line.time / line.decisions if line.decisions else None


COLUMNS = (
    Column(
        "place",
        "1, 2, 3, ... in the order of the table",
        lambda s: str(s.place),
        lambda s: {"place": s.place},
    ),
    Column(
        "may be",
        "the places that are not ruled out. All of them together hold the true places in 95 of 100 runs",
        lambda s: f"{s.best}-{s.worst}" if s.best < s.worst else str(s.best),
        lambda s: {"best place": s.best, "worst place": s.worst},
        legend="may be: the places that are not ruled out.",
        sort_by="best place",
    ),
    Column(
        "group",
        "letters: two bots that share one are not told apart",
        lambda s: "".join(s.groups),
        lambda s: {"groups": list(s.groups)},
        legend="Bots that share a letter are not told apart.",
        word=True,
    ),
    Column("bot", "its name, with its options", lambda s: s.line.bot, lambda s: {"bot": s.line.bot}, word=True),
    Column(
        "rating",
        "mu - 3 sigma: a cautious TrueSkill figure; it decides between bots that are level by `ahead`",
        lambda s: f"{s.line.rating:.2f}",
        lambda s: {"rating": round(s.line.rating, 3)},
    ),
    Column(
        "mu ± sigma",
        "TrueSkill's belief about the skill",
        lambda s: f"{s.line.mu:.2f} ± {s.line.sigma:.2f}",
        lambda s: {"mu": round(s.line.mu, 3), "sigma": round(s.line.sigma, 3)},
        legend=f"± is a {LEVEL:.0%} interval over deals, except sigma.",
        sort_by="mu",
    ),
    Column("matches", "how many it played", lambda s: str(s.line.matches), lambda s: {"matches": s.line.matches}),
    Column(
        "wins",
        "the share of them it won; a win shared by two counts one half",
        lambda s: f"{s.line.wins / s.line.matches:.1%}",
        lambda s: {"wins": round(s.line.wins / s.line.matches, 4)},
    ),
    Column(
        "ahead",
        "the share of the others that it finishes ahead of (a tie is one half), corrected for whom it met, with a 95% "
        "interval. 50% is average, whatever the number of players. The table is sorted by it, all claims speak of it",
        lambda s: percent(s.ahead),
        lambda s: interval_fields("ahead", s.ahead, 4),
        legend="ahead: share of the table finished ahead of.",
    ),
    Column(
        "mean rank",
        "its mean place at a table",
        lambda s: f"{s.line.rank_sum / s.line.matches:.2f}",
        lambda s: {"mean rank": round(s.line.rank_sum / s.line.matches, 3)},
    ),
    Column(
        "mean score",
        "its mean score with a 95% interval; none over several games, whose points cannot be added",
        lambda s: number(s.score),
        lambda s: interval_fields("mean score", s.score, 2),
    ),
    Column(
        "PL",
        "the Plackett-Luce strength, in Elo points around the field's average: a cross-check, no claim",
        lambda s: f"{round(s.strength) + 0.0:+.0f}",  # no -0, which is a matter of the last bit
        lambda s: {"strength": round(s.strength, 1) + 0.0, "strength place": s.strength_place},
        legend="PL: Plackett-Luce, in Elo points.",
        sort_by="strength",
    ),
    Column(
        "sure",
        "how sure we are that this bot is better than the one below: what says 90% is right in 90 of 100 cases",
        lambda s: _sure(s.sure),
        lambda s: {"sure": None if s.sure is None else round(s.sure, 4)},
        legend="sure: how sure it is better than the next line.",
    ),
    Column(
        "ms/decision",
        "its mean time to think, in milliseconds",
        lambda s: NOTHING if (ms := _milliseconds(s)) is None else f"{ms:.3f}",
        lambda s: {"ms/decision": round(_milliseconds(s) or 0.0, 4)},
    ),
    Column(
        "faults",
        "matches in which it failed; those that it lost without playing, being disqualified, are not among them",
        lambda s: str(s.line.faults),
        lambda s: {"faults": s.line.faults},
    ),
)
