"""Columns of the leaderboard, and how text fits a screen."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import isfinite
from unicodedata import combining, east_asian_width

from harness.core.errors import UnknownName
from harness.plugins.entrants import BotInfo
from harness.ratings.evidence import LEVEL, Interval
from harness.ratings.leaderboard import Standing

# Times and rates as people write them.


MINUTE, HOUR, DAY = 60, 3600, 86400


def duration(seconds: float) -> str:
    """`"12 µs"`, `"3.5 ms"`, `"3.5 s"`, `"2 min 05 s"`, `"1 h 05 min"`, `"2 d 3 h"`: the digits that matter."""
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
    """The same for what is only estimated, `"about 40 s"`: no more digits than can be meant."""
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
    """`"1,200 a second"`, `"12 a minute"`, `"one every 40 s"`."""
    if each_second >= 2:
        return f"{each_second:,.0f} a second"
    if each_second * MINUTE >= 2:
        return f"{each_second * MINUTE:.0f} a minute"
    return f"one every {duration(1 / each_second)}" if each_second > 0 else "none yet"


def _digits(number: float) -> str:
    """One decimal below ten, none above."""
    return f"{number:.1f}" if number < 9.95 else f"{number:.0f}"


def _rounded(number: float, to: int) -> int:
    return max(to, to * int(number / to + 0.5))


# The columns of a leaderboard: the one list that terminal, CSV, JSON, pages and docs read.
#
# To add a column, add it to COLUMNS; `python -m tests.docs.make` brings it into docs/ratings.md.


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


def told_column(name: str, entrants: Sequence[BotInfo]) -> Column:
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


# Names that strangers chose, made fit for a place: short for a chart, safe for a file.


SHORT = 22
LONGEST_FILE_NAME = 60
_PLAIN = re.compile(rf"[a-z0-9][a-z0-9_-]{{0,{LONGEST_FILE_NAME - 1}}}")
_DEVICES = re.compile(r"con|prn|aux|nul|(com|lpt)\d")
"""Names that some systems keep for devices, whatever the ending of the file."""


def visible(name: str) -> str:
    """The name without characters that cannot be printed or that turn the text around them about."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in name)


def short(name: str, most: int = SHORT) -> str:
    """The name as it fits beside a chart; a long one keeps its two ends, since options come last."""
    name = visible(name)
    if len(name) <= most:
        return name
    head = (most - 1) * 2 // 3
    return f"{name[:head]}\N{HORIZONTAL ELLIPSIS}{name[head + 1 - most :]}"


def file_name(name: str) -> str:
    """A file name for this name: equal names get equal ones, different names different ones, on any system."""
    if _PLAIN.fullmatch(name) and not _DEVICES.fullmatch(name):
        return name
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    kept = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[: LONGEST_FILE_NAME - 20].rstrip("-")
    return f"{kept or 'bot'}.{digest}"  # the dot keeps it apart from every plain name


# How wide the reader's screen is, and whether it has colours.


DEFAULT_WIDTH = 80
"""What fits everywhere: the width where there is no terminal, so that a file does not depend on somebody's window."""
NARROWEST = 40


@dataclass(frozen=True, slots=True)
class Layout:
    """How tables are laid out for a person."""

    width: int = DEFAULT_WIDTH
    wide: bool = False
    """Every column and every name in full, however wide that is."""
    colour: bool = False
    more: str = "--wide"
    """What to write to see what was left out."""


def screen(wide: bool = False, more: str = "--wide") -> Layout:
    """The reader's layout: as COLUMNS says, or as wide as the terminal, or 80 columns."""
    return Layout(screen_width(), wide, colourful(), more)


def screen_width() -> int:
    """Columns of the terminal that stdout is; COLUMNS in the environment counts before it."""
    return max(NARROWEST, shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns)


def progress_width() -> int:
    """The same for stderr."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked):
        return int(asked)
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or DEFAULT_WIDTH
    except (OSError, ValueError, AttributeError):
        return DEFAULT_WIDTH


def colourful() -> bool:
    """Whether stdout is a terminal that may be given colours: NO_COLOR says that it may not."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


# Makes a table fit a width: leaves out what may be left out, shortens names, and goes on below in blocks.


GAP = 2
EASY_NAME = 24
"""A name of up to so many characters is not shortened to make room for columns that may be left out."""
SHORTEST_NAME = 12
USUAL = 80
"""Columns that are not asked for join in above this width only, but for those that stand first in line."""

Cells = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Grid:
    """Columns that are shown side by side."""

    headers: list[str]
    cells: list[list[str]]


def shown_width(text: str) -> int:
    """Columns of a terminal that a line of text takes."""
    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def fit(
    headers: Sequence[str], cells: Cells, words: frozenset[str], optional: Sequence[str], keys: int, width: int
) -> list[Grid]:
    """The table in one or more blocks that fit: optional columns as there is room, then shorter names, then blocks.

    The first columns, `keys` of them, are repeated in every block.
    """
    named = set(headers[:keys])
    kept = _chosen(headers, cells, words, optional, width)
    headers = [headers[place] for place in kept]
    cells = [[row[place] for place in kept] for row in cells]
    cells = _shortened(headers, cells, words, width)
    return list(_blocks(headers, cells, sum(header in named for header in headers), width))


def in_full(headers: Sequence[str], cells: Cells) -> Grid:
    """The table as it is."""
    return Grid(list(headers), [[visible_lines(cell) for cell in row] for row in cells])


def _widths(headers: Sequence[str], cells: Cells) -> list[int]:
    return [max(map(shown_width, column)) for column in zip(headers, *cells, strict=True)]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _chosen(
    headers: Sequence[str], cells: Cells, words: frozenset[str], optional: Sequence[str], width: int
) -> list[int]:
    """Places of the columns that are shown: those that must be, and of the others, in their order, what fits."""
    widths = [
        min(each, EASY_NAME) if header in words else each
        for header, each in zip(headers, _widths(headers, cells), strict=True)
    ]
    kept = [place for place, header in enumerate(headers) if header not in optional]
    for number, header in enumerate(optional):
        if header not in headers or (width <= USUAL and number):
            continue
        more = sorted([*kept, list(headers).index(header)])
        if _total([widths[place] for place in more]) <= width:
            kept = more
    return kept


def _shortened(headers: Sequence[str], cells: Cells, words: frozenset[str], width: int) -> list[list[str]]:
    """Long names keep their two ends; where that would make two alike, they are wrapped instead."""
    widths = _widths(headers, cells)
    columns = [list(column) for column in zip(*cells, strict=True)] or [[] for _ in headers]
    for place in sorted((place for place, header in enumerate(headers) if header in words), key=lambda p: -widths[p]):
        over = _total(widths) - width
        if over <= 0:
            break
        most = max(widths[place] - over, min(widths[place], SHORTEST_NAME), shown_width(headers[place]))
        columns[place] = _fitted_names(columns[place], most)
        widths[place] = most
    return [[visible_lines(cell) for cell in row] for row in zip(*columns, strict=True)]


def visible_lines(text: str) -> str:
    """The text without what a terminal would act upon; our own line ends stay."""
    return text if text.isprintable() else "\n".join(visible(line) for line in text.split("\n"))


def _fitted_names(names: Sequence[str], most: int) -> list[str]:
    shortened = [short(name, most) for name in names]
    alike = {
        one for one in shortened if len({name for name, it in zip(names, shortened, strict=True) if it == one}) > 1
    }
    return [
        "\n".join(textwrap.wrap(visible(name), most)) if its in alike else its
        for name, its in zip(names, shortened, strict=True)
    ]


def _blocks(headers: Sequence[str], cells: Cells, lead: int, width: int) -> Iterator[Grid]:
    """As many columns as fit, then the next ones; the first ones are repeated in every block."""
    widths = _widths_of_lines(headers, cells)
    room = width - sum(widths[:lead]) - GAP * lead + GAP
    start = lead
    while True:
        end, used = start, 0
        while end < len(headers) and (end == start or used + GAP + widths[end] <= room):
            used += GAP + widths[end]
            end += 1
        chosen = [*range(lead), *range(start, end)]
        yield Grid([headers[place] for place in chosen], [[row[place] for place in chosen] for row in cells])
        if end >= len(headers):
            return
        start = end


def _widths_of_lines(headers: Sequence[str], cells: Cells) -> list[int]:
    return [
        max(shown_width(line) for cell in column for line in cell.split("\n"))
        for column in zip(headers, *cells, strict=True)
    ]


def drawn(grid: Grid, words: frozenset[str], paint: Callable[[str, str], str] | None = None) -> str:
    """The columns as text: a line for the headers, one of dashes, one or more for each row."""
    widths = _widths_of_lines(grid.headers, grid.cells)
    lines = [_line(grid.headers, grid.headers, widths, words), (" " * GAP).join("-" * width for width in widths)]
    for row in grid.cells:
        parts = [cell.split("\n") for cell in row]
        for number in range(max(map(len, parts), default=0)):
            texts = [part[number] if number < len(part) else "" for part in parts]
            lines.append(_line(grid.headers, texts, widths, words, paint))
    return "\n".join(line.rstrip() for line in lines)


def _line(
    headers: Sequence[str],
    texts: Sequence[str],
    widths: Sequence[int],
    words: frozenset[str],
    paint: Callable[[str, str], str] | None = None,
) -> str:
    shown = []
    for header, text, width in zip(headers, texts, widths, strict=True):
        room = " " * (width - shown_width(text))
        padded = text + room if header in words else room + text
        shown.append(paint(header, padded) if paint else padded)
    return (" " * GAP).join(shown)


def wrapped_text(text: str, width: int) -> str:
    """A paragraph in lines that fit."""
    return textwrap.fill(text, width, break_on_hyphens=False, break_long_words=False)
