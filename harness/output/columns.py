"""The columns of leaderboards, and how times, rates, shares and scores are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isfinite

from harness.core.errors import UnknownName
from harness.core.table import Column, Kind
from harness.output.tables import NOTHING
from harness.plugins.entrants import BotInfo
from harness.ratings.leaderboard import Standing
from harness.ratings.statistics import Interval

# Times and rates.


MINUTE, HOUR, DAY = 60, 3600, 86400


def duration(seconds: float) -> str:
    """Return a time with the digits that matter: `"12 µs"`, `"3.5 ms"`, `"2 min 05 s"`, `"1 h 05 min"`, `"2 d 3 h"`."""
    for unit, size in (("µs", 1e-6), ("ms", 1e-3)):
        if seconds < 999.5 * size:
            return f"{_digits(seconds / size)} {unit}"
    if seconds < 59.5:
        return f"{_digits(seconds)} s"
    whole = int(seconds + 0.5)
    if whole < HOUR:
        return f"{whole // MINUTE} min {whole % MINUTE:02} s"
    if whole < DAY:
        minutes = (whole + MINUTE // 2) // MINUTE
        return f"{minutes // 60} h {minutes % 60:02} min"
    hours = (whole + HOUR // 2) // HOUR
    return f"{hours // 24} d {hours % 24} h"


def about(seconds: float) -> str:
    """Return an estimated time, `"about 40 s"`, with fewer digits."""
    if seconds < 10:
        return "a few seconds"
    if seconds < 55:
        return f"about {_rounded(seconds, 10)} s"
    if seconds < 10 * MINUTE:
        whole = _rounded(seconds, 10)
        rest = f" {whole % MINUTE:02} s" if whole % MINUTE and whole < 5 * MINUTE else ""
        return f"about {whole // MINUTE} min{rest}"
    if seconds < HOUR:
        return f"about {_rounded(seconds / MINUTE, 1)} min"
    minutes = _rounded(seconds / MINUTE, 5)
    if seconds < DAY:
        return f"about {minutes // 60} h" + (f" {minutes % 60:02} min" if minutes % 60 else "")
    return f"about {duration(seconds)}"


def rate(each_second: float) -> str:
    """Return a rate: `"1,200 a second"`, `"12 a minute"`, `"one every 40 s"`."""
    if each_second >= 2:
        return f"{each_second:,.0f} a second"
    if each_second * MINUTE >= 2:
        return f"{each_second * MINUTE:.0f} a minute"
    return f"one every {duration(1 / each_second)}" if each_second > 0 else "none yet"


def _digits(number: float) -> str:
    """Return the number with one decimal below ten, with none above."""
    return f"{number:.1f}" if number < 9.95 else f"{number:.0f}"


def _rounded(number: float, to: int) -> int:
    return max(to, to * int(number / to + 0.5))


# The columns of a leaderboard: the one list from which terminal, CSV, JSON, pages and docs are made.
#
# To add a column, add it to COLUMNS and run `python -m tests.docs.make`, which updates docs/ratings.md.


Fields = dict[str, object]
"""Values for programs, by name."""
ScoreText = Callable[[float], str]
"""Returns a score in a game's words."""
MIN_WHOLE_PERCENT = 3.0
"""An interval at least this many percentage points wide is written in whole percent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardColumn(Column):
    """A column of leaderboards: its meaning, its text for people and its values for programs."""

    name: str
    kind: Kind = "number"
    meaning: str
    """The description for docs/ratings.md."""
    text: Callable[[Standing], str]
    fields: Callable[[Standing], Fields]
    """One or more values for programs, by name."""


def percent(interval: Interval | None) -> str:
    """Return a share with the limits of its interval, which may be asymmetric: `76.4% (72-80)`."""
    if interval is None:
        return NOTHING
    value, low, high = (100 * part for part in interval)
    if not isfinite(high):
        return f"{value:.1f}%"
    digits = 0 if high - low >= MIN_WHOLE_PERCENT else 1
    return f"{value:.1f}% ({low:.{digits}f}-{high:.{digits}f})"


def number(interval: Interval | None) -> str:
    """Return a mean with its interval: `26.1 ± 1.1`."""
    if interval is None:
        return NOTHING
    return f"{interval.value:.1f}" + (f" ± {interval.reach:.1f}" if isfinite(interval.high) else "")


def interval_fields(name: str, interval: Interval | None, digits: int) -> Fields:
    """Return a value with its interval as three fields; None where there is none."""
    value, low, high = interval or (None, None, None)
    parts = ((name, value), (f"{name} low", low), (f"{name} high", high))
    return {key: round(part, digits) if part is not None and isfinite(part) else None for key, part in parts}


def places(best: int | None, worst: int | None) -> str:
    """Return the places that are not ruled out: `"1-3"`."""
    if best is None or worst is None:
        return NOTHING
    return f"{best}-{worst}" if best < worst else str(best)


def _seconds(standing: Standing) -> float | None:
    totals = standing.totals
    return totals.time / totals.decisions if totals.decisions else None


SKILL_LEGEND = (
    "Skill is TrueSkill's mu, fitted to all matches: 25 is the average of this table, and a bot 4.2 above another "
    "finishes ahead of it in 76 of 100 matches."
)
INTERVAL_LEGEND = "± is a 95% interval, from the differences between deals."
RANGE_LEGEND = "Range: the places that a bot may hold in truth, at 95% for all bots together."
BEATS_LEGEND = "Beats: how often the bot finished ahead of an opponent; a tie is one half."
COLUMNS = (
    LeaderboardColumn(
        name="place",
        meaning="1, 2, 3, ... in the order of the table: by skill, in a swiss or knockout by its own result",
        text=lambda s: str(s.place),
        fields=lambda s: {"place": s.place},
    ),
    LeaderboardColumn(
        name="range",
        meaning="the places that are not ruled out by a significant difference. All of them together hold the true "
        "places in 95 of 100 runs. Shown if any place is ruled out",
        text=lambda s: places(s.best, s.worst),
        fields=lambda s: {"best place": s.best, "worst place": s.worst},
        legend=RANGE_LEGEND,
        sort_by="best place",
    ),
    LeaderboardColumn(
        name="bot",
        kind="text",
        meaning="its name, with its options",
        text=lambda s: s.bot,
        fields=lambda s: {"bot": s.bot},
    ),
    LeaderboardColumn(
        name="skill",
        meaning="TrueSkill's mu, fitted to all matches at once, with a 95% interval over deals. 25 is the average of "
        "the field. A bot whose skill is 4.2 higher finishes ahead in 76 of 100 matches, 8.3 in 92",
        text=lambda s: number(s.skill),
        fields=lambda s: interval_fields("skill", s.skill, 3),
        legend=f"{SKILL_LEGEND} {INTERVAL_LEGEND}",
    ),
    LeaderboardColumn(
        name="beats",
        meaning="the share of opponents that it finished ahead of, counted; a tie is one half",
        text=lambda s: NOTHING if s.beats is None else f"{s.beats:.0%}",
        fields=lambda s: {"beats": None if s.beats is None else round(s.beats, 4)},
        legend=BEATS_LEGEND,
    ),
    LeaderboardColumn(
        name="matches",
        meaning="how many it played",
        text=lambda s: f"{s.totals.matches:,}",
        fields=lambda s: {"matches": s.totals.matches},
    ),
    LeaderboardColumn(
        name="faults",
        meaning="matches in which it failed; not those that it lost without playing because it was disqualified",
        text=lambda s: str(s.totals.faults),
        fields=lambda s: {"faults": s.totals.faults},
        alarm=True,
    ),
    LeaderboardColumn(
        name="wins",
        meaning="the share of its matches that it won; a win shared by two counts one half",
        text=lambda s: f"{s.totals.wins / s.totals.matches:.1%}",
        fields=lambda s: {"wins": round(s.totals.wins / s.totals.matches, 4)},
        optional=2,
    ),
    LeaderboardColumn(
        name="mean score",
        meaning="its mean score with a 95% interval, in the game's own words where the game is installed",
        text=lambda s: number(s.score),
        fields=lambda s: interval_fields("mean score", s.score, 2),
        optional=3,
    ),
    LeaderboardColumn(
        name="time",
        meaning="its mean time for a decision; `ms/decision` in CSV and JSON",
        text=lambda s: NOTHING if (seconds := _seconds(s)) is None else duration(seconds),
        fields=lambda s: {"ms/decision": round(1000 * (_seconds(s) or 0.0), 4)},
        legend="Time: for a decision.",
        sort_by="ms/decision",
        optional=4,
    ),
    LeaderboardColumn(
        name="mean rank",
        meaning="its mean place at a table",
        text=lambda s: f"{s.totals.rank_sum / s.totals.matches:.2f}",
        fields=lambda s: {"mean rank": round(s.totals.rank_sum / s.totals.matches, 3)},
        optional=5,
    ),
    LeaderboardColumn(
        name="sigma",
        meaning="the standard error of the skill, relative to the mean of the field",
        text=lambda s: NOTHING if s.sigma is None else f"{s.sigma:.2f}",
        fields=lambda s: {"sigma": None if s.sigma is None else round(s.sigma, 3)},
        optional=6,
    ),
    LeaderboardColumn(
        name="cautious",
        meaning="mu - 3 sigma, the figure by which other leagues rank: a bot is almost certainly at least this good",
        text=lambda s: NOTHING if s.sigma is None else f"{s.skill.value - 3 * s.sigma:.1f}",
        fields=lambda s: {"cautious": None if s.sigma is None else round(s.skill.value - 3 * s.sigma, 3)},
        legend="Cautious: mu - 3 sigma.",
        optional=7,
    ),
)
LOWER_IS_BETTER = ("place", "range", "mean rank", "time", "faults")
"""Columns that `--sort` puts in ascending order."""


def entrant_column(name: str, entrants: Sequence[BotInfo]) -> LeaderboardColumn:
    """Return the column of the teams or authors of entrants."""
    texts = {entrant.name: str(getattr(entrant, name)) for entrant in entrants}
    return LeaderboardColumn(
        name=name,
        kind="text",
        meaning=f"the {name} of the bot, as it was entered",
        text=lambda s: texts.get(s.bot) or NOTHING,
        fields=lambda s: {name: texts.get(s.bot, "")},
        optional=9,
    )


ENTRANT_COLUMNS = ("team", "author")
"""Columns that are shown if any entrant has a value. They come from run.json, not from the records."""
BY_NAME = {column.name.replace(" ", "-"): column for column in COLUMNS}
"""Columns by the names that users type: `skill`, `mean-score`."""
BY_NAME |= {name: entrant_column(name, ()) for name in ENTRANT_COLUMNS}


def chosen_columns(names: Sequence[str]) -> tuple[LeaderboardColumn, ...]:
    """Return the columns with these names, in this order; all if no name is given."""
    return tuple(map(column_named, names)) or COLUMNS


def column_named(name: str) -> LeaderboardColumn:
    """Return the column with this name; UnknownName if there is none."""
    typed = name.strip().replace(" ", "-")
    if typed not in BY_NAME:
        raise UnknownName("column", name, BY_NAME)
    return BY_NAME[typed]


def sorted_by(name: str, standings: Sequence[Standing]) -> list[Standing]:
    """Return the standings in the order of a column, best first; those without a value last."""
    column = column_named(name)

    def key(one: Standing) -> tuple[bool, float | str]:
        value = next(iter(column.fields(one).values()))
        if value is None or isinstance(value, str):
            return value is None, value or ""
        figure = float(str(value))
        return False, figure if column.name in LOWER_IS_BETTER else -figure

    return sorted(standings, key=key)


def cells_of(
    columns: Sequence[LeaderboardColumn], standings: Sequence[Standing], score_text: ScoreText | None
) -> list[list[str]]:
    """Return the texts of these columns, line by line; scores are written by `score_text`, if given."""
    return [
        [
            in_words(one.score, score_text) if score_text and column.name == "mean score" else column.text(one)
            for column in columns
        ]
        for one in standings
    ]


def rows_of(columns: Sequence[LeaderboardColumn], standings: Sequence[Standing]) -> list[Fields]:
    """Return the fields of these columns, line by line."""
    return [{key: value for column in columns for key, value in column.fields(one).items()} for one in standings]


def without_interval_legend(column: LeaderboardColumn) -> LeaderboardColumn:
    """Return the column, with a legend for a table in which no skill has an interval."""
    return replace(column, legend=SKILL_LEGEND) if column.name == "skill" else column


def in_words(interval: Interval | None, score_text: ScoreText) -> str:
    """Return a mean score with its interval in the game's words; a unit that both have is written once."""
    if interval is None:
        return NOTHING
    value, _, unit = score_text(float(interval.value)).partition(" ")
    if not isfinite(interval.high):
        return f"{value} {unit}".rstrip()
    reach, _, its_unit = score_text(float(interval.reach)).partition(" ")
    both = f"{value} ± {reach}" if unit == its_unit else f"{value} {unit} ± {reach}"
    return f"{both} {its_unit}".rstrip()
