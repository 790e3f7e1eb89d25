"""The columns of a leaderboard: the one list that terminal, CSV, JSON, pages and docs read.

To add a column, add it to COLUMNS; `python -m tests.docs.make` brings it into docs/ratings.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isfinite

from harness.core.errors import UnknownName
from harness.output.durations import duration
from harness.ratings import LEVEL, Interval, Standing
from harness.runs.store import EntrantInfo

Fields = dict[str, object]
"""Values for programs, by name."""
ScoreText = Callable[[float], str]
"""A score in a game's words."""
NOTHING = "-"
WIDE = 3.0
"""Limits of an interval that are so many points apart are told in whole ones."""


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
    joins: int = 0
    """0: always shown. Others join where there is room, the lowest number first."""
    alarm: bool = False
    """Shown on a screen only if there is something to show, and then loudly."""


def percent(interval: Interval | None) -> str:
    """A share with the limits of its interval, which need not be equally far, for people: `76.4% (72-80)`."""
    if interval is None:
        return NOTHING
    value, low, high = (100 * part for part in interval)
    if not isfinite(high):
        return f"{value:.1f}%"
    digits = 0 if high - low >= WIDE else 1
    return f"{value:.1f}% ({low:.{digits}f}-{high:.{digits}f})"


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


def letters(groups: Sequence[str]) -> str:
    """`"ac"`, `"b-f"`, `"a,c-f"`: the letters of groups, runs of them in short."""
    runs: list[list[str]] = []
    for letter in groups:
        if runs and _number(letter) == _number(runs[-1][-1]) + 1:
            runs[-1].append(letter)
        else:
            runs.append([letter])
    parts = [part for run in runs for part in ([f"{run[0]}-{run[-1]}"] if len(run) > 2 else run)]
    return ("" if all(len(part) == 1 for part in parts) else ",").join(parts)


def _number(letter: str) -> int:
    """`a` is 1, `z` is 26, `aa` is 27."""
    number = 0
    for one in letter:
        number = 26 * number + ord(one) - ord("a") + 1
    return number


def places(best: int | None, worst: int | None) -> str:
    """`"1-3"`: the places that are not ruled out."""
    if best is None or worst is None:
        return NOTHING
    return f"{best}-{worst}" if best < worst else str(best)


def _seconds(standing: Standing) -> float | None:
    line = standing.line
    return line.time / line.decisions if line.decisions else None


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
        lambda s: places(s.best, s.worst),
        lambda s: {"best place": s.best, "worst place": s.worst},
        legend="may be: the places that are not ruled out.",
        sort_by="best place",
    ),
    Column(
        "group",
        "letters: two bots that share one are not told apart, two that share none are. `b-e` is b, c, d and e",
        lambda s: letters(s.groups),
        lambda s: {"groups": list(s.groups)},
        legend="group: bots that share a letter are not told apart, or never met.",
        word=True,
        sort_by="place",
        joins=1,
    ),
    Column("bot", "its name, with its options", lambda s: s.line.bot, lambda s: {"bot": s.line.bot}, word=True),
    Column(
        "ahead",
        "the share of its opponents that it finishes ahead of (a tie is one half), corrected for whom it met, with a "
        "95% interval. 50% is average, whatever the number of players. The table is sorted by it, and claims speak of "
        "it (in swiss and knockout, of common tables)",
        lambda s: percent(s.ahead),
        lambda s: interval_fields("ahead", s.ahead, 4),
        legend=f"ahead: share of opponents that it finishes ahead of, and where it lies with {LEVEL:.0%} certainty.",
    ),
    Column(
        "rating",
        "mu - 3 sigma: TrueSkill's cautious figure, as in other leagues; it decides between bots that are level",
        lambda s: f"{s.line.rating:.2f}",
        lambda s: {"rating": round(s.line.rating, 3)},
        legend="rating: TrueSkill.",
    ),
    Column("matches", "how many it played", lambda s: str(s.line.matches), lambda s: {"matches": s.line.matches}),
    Column(
        "faults",
        "matches in which it failed; those that it lost without playing, being disqualified, are not among them",
        lambda s: str(s.line.faults),
        lambda s: {"faults": s.line.faults},
        alarm=True,
    ),
    Column(
        "sure",
        "how sure we are that this bot is better than the one below: what says 90% is right in 90 of 100 cases",
        lambda s: _sure(s.sure),
        lambda s: {"sure": None if s.sure is None else round(s.sure, 4)},
        legend="sure: that it is better than the next line.",
        joins=2,
    ),
    Column(
        "wins",
        "the share of its matches it won; a win shared by two counts one half",
        lambda s: f"{s.line.wins / s.line.matches:.1%}",
        lambda s: {"wins": round(s.line.wins / s.line.matches, 4)},
        joins=3,
    ),
    Column(
        "mean rank",
        "its mean place at a table",
        lambda s: f"{s.line.rank_sum / s.line.matches:.2f}",
        lambda s: {"mean rank": round(s.line.rank_sum / s.line.matches, 3)},
        joins=6,
    ),
    Column(
        "mean score",
        "its mean score with a 95% interval, in the game's own words where the game is installed",
        lambda s: number(s.score),
        lambda s: interval_fields("mean score", s.score, 2),
        joins=4,
    ),
    Column(
        "time",
        "its mean time to think about a decision; `ms/decision` in CSV and JSON",
        lambda s: NOTHING if (seconds := _seconds(s)) is None else duration(seconds),
        lambda s: {"ms/decision": round(1000 * (_seconds(s) or 0.0), 4)},
        legend="time: for a decision.",
        sort_by="ms/decision",
        joins=5,
    ),
    Column(
        "mu ± sigma",
        "TrueSkill's belief about the skill; sigma is no interval",
        lambda s: f"{s.line.mu:.2f} ± {s.line.sigma:.2f}",
        lambda s: {"mu": round(s.line.mu, 3), "sigma": round(s.line.sigma, 3)},
        sort_by="mu",
        joins=8,
    ),
    Column(
        "PL",
        "the Plackett-Luce strength, in Elo points around the field's average: a cross-check, no claim",
        lambda s: f"{round(s.strength) + 0.0:+.0f}",  # no -0, which is a matter of the last bit
        lambda s: {"strength": round(s.strength, 1) + 0.0, "strength place": s.strength_place},
        legend="PL: Plackett-Luce, in Elo points.",
        sort_by="strength",
        joins=7,
    ),
)


def told_column(name: str, entrants: Sequence[EntrantInfo]) -> Column:
    """The column of what was said of entrants: their teams, or their authors."""
    texts = {entrant.name: str(getattr(entrant, name)) for entrant in entrants}
    return Column(
        name,
        f"the {name} of the bot, as it was entered",
        lambda s: texts.get(s.line.bot) or NOTHING,
        lambda s: {name: texts.get(s.line.bot, "")},
        word=True,
        joins=9,
    )


TOLD = ("team", "author")
"""Columns that are there if somebody has one, for they are no matter of records."""
BY_NAME = {column.name.split(" ±")[0].replace(" ", "-"): column for column in COLUMNS}
"""As they are typed: `may-be`, `mean-score`, `mu`."""
BY_NAME |= {name: told_column(name, ()) for name in TOLD}


def chosen_columns(names: Sequence[str]) -> tuple[Column, ...]:
    """The columns of these names, in this order; all if none is named."""
    found = []
    for name in names:
        typed = name.strip().split(" ±")[0].replace(" ", "-")
        if typed not in BY_NAME:
            raise UnknownName("column", name, BY_NAME)
        found.append(BY_NAME[typed])
    return tuple(found) or COLUMNS


def score_column(column: Column, score_text: ScoreText) -> Column:
    """The same column, with scores in the game's words if it has scores."""
    return replace(column, text=lambda s: in_words(s.score, score_text)) if column.name == "mean score" else column


def in_words(interval: Interval | None, score_text: ScoreText) -> str:
    """A mean score with its interval in the game's words: the unit, if it is the same, once."""
    if interval is None:
        return NOTHING
    value, _, unit = score_text(float(interval.value)).partition(" ")
    if not isfinite(interval.high):
        return f"{value} {unit}".rstrip()
    reach, _, its_unit = score_text(float(interval.reach)).partition(" ")
    both = f"{value} ± {reach}" if unit == its_unit else f"{value} {unit} ± {reach}"
    return f"{both} {its_unit}".rstrip()
