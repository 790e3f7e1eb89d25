"""Leaderboards as tables, in every format, with sentences that summarise them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from html import escape
from itertools import combinations
from math import exp, isfinite, log
from statistics import NormalDist
from typing import Any

from tabulate import tabulate, tabulate_formats

from harness.core.errors import UnknownName
from harness.output.columns import (
    COLUMNS,
    NOTHING,
    TOLD,
    Column,
    Fields,
    Grid,
    Layout,
    ScoreText,
    chosen_columns,
    drawn,
    fit,
    in_full,
    interval_fields,
    number,
    percent,
    places,
    score_column,
    screen,
    short,
    told_column,
    wrapped_text,
)
from harness.plugins.entrants import BotInfo
from harness.ratings.evidence import LEVEL, Interval
from harness.ratings.leaderboard import Leaderboard
from harness.ratings.overall import Overall, overall
from harness.runs.standings import boards_of
from harness.runs.store import RunFolder, write_derived

# A table as a value, and its text in every format: fitted to a screen, tabulate's, CSV and JSON.


FORMATS = ("csv", "json", *sorted(tabulate_formats))

EMPTY = "No matches yet."
RED, PLAIN = "\x1b[1;31m", "\x1b[0m"


@dataclass(frozen=True, slots=True)
class DataTable:
    """One table: rows for programs, cells for people."""

    title: str
    rows: list[Fields]
    """Plain data, the same keys in each."""
    headers: Sequence[str]
    cells: list[list[str]]
    notes: list[str] = field(default_factory=list)
    """Sentences below the table; programs find the same facts in the rows."""
    legend: str = ""
    """How to read tables of this kind; stands once below all of them."""
    keys: int = 0
    """So many columns, the first ones, name the line: they are repeated where the table goes on below. 0: all up to the
    bot, or the first one."""
    words: frozenset[str] = frozenset(("bot",))
    """Headers of columns that hold words: aligned to the left."""
    summary: list[str] = field(default_factory=list)
    """What it says, in plain sentences."""
    optional: Sequence[str] = ()
    """Columns that a narrow screen leaves out. Up to 80 columns only the first of them joins in, if it fits."""
    legends: Mapping[str, str] = field(default_factory=dict)
    """By column: how to read it, told where it is shown."""
    alarms: frozenset[str] = frozenset()
    """Columns that a screen shows only if something is wrong, and then loudly."""


class LeaderboardTables(tuple[DataTable, ...]):
    """Tables of a run, one for each game: shown as tables, and found by their titles."""

    __slots__ = ()

    def __getitem__(self, title: Any) -> Any:
        """The table of this title, or at this place."""
        if not isinstance(title, str):
            return super().__getitem__(title)
        by_title = {table.title: table for table in self}
        if title not in by_title:
            raise UnknownName("table", title, by_title)
        return by_title[title]

    def __repr__(self) -> str:
        return text_of(self, "simple", screen(more="wide=True"))

    def _repr_html_(self) -> str:
        return text_of(self, "html")


class WideTables(LeaderboardTables):
    """The same with every column, however wide that is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return text_of(self, "simple", screen(wide=True))


def text_of(tables: Sequence[DataTable], table_format: str, layout: Layout | None = None) -> str:
    """The tables in one of FORMATS. "simple", which people read on a screen, fits the layout; others have it all."""
    if table_format not in FORMATS:
        raise UnknownName("table format", table_format, FORMATS)
    if table_format == "json":
        return json.dumps({table.title: table.rows for table in tables}, indent=2, allow_nan=False)
    if table_format == "csv":
        return _csv(tables)
    if table_format == "simple":
        return on_screen(tables, layout or Layout()) or EMPTY
    legends = dict.fromkeys(
        [*(text for table in tables for text in table.legends.values()), *(table.legend for table in tables)]
    )
    told = " ".join(legend for legend in legends if legend)
    below = [_paragraph(told, table_format)] if told else []
    return "\n\n".join([*(_one(table, table_format) for table in tables), *below]) or EMPTY


def on_screen(tables: Sequence[DataTable], layout: Layout) -> str:
    """The tables as they fit the layout, each with what it says; how to read them, and what was left out, once."""
    parts: list[str] = []
    legends: dict[str, None] = {}
    missing: dict[str, None] = {}
    for table in tables:
        grids, left_out = _fitted(table, layout)
        shown = {header.lower() for grid in grids for header in grid.headers}
        words = table.words | {header.upper() for header in table.words}
        loud = {header.upper() for header in table.alarms} if layout.colour else set()
        parts.append(wrapped_text(table.title, layout.width))
        parts += [drawn(grid, words, partial(_painted, loud) if loud else None) for grid in grids]
        parts += [wrapped_text(note, layout.width) for note in (*table.summary, *table.notes)]
        legends |= dict.fromkeys(text for header, text in table.legends.items() if header.lower() in shown)
        legends |= dict.fromkeys([table.legend] if table.legend else [])
        missing |= dict.fromkeys(left_out)
    if missing:
        legends[f"Not shown: {', '.join(missing)} ({layout.more})."] = None
    if legends:
        parts.append(wrapped_text(" ".join(legends), layout.width))
    return "\n\n".join(parts)


def _fitted(table: DataTable, layout: Layout) -> tuple[list[Grid], list[str]]:
    """The blocks of a table, and the names of columns that were left out; an alarm is there if something is wrong."""
    places = [
        place
        for place, header in enumerate(table.headers)
        if header not in table.alarms or any(row[place] not in ("0", NOTHING) for row in table.cells)
    ]
    headers = [table.headers[place] for place in places]
    cells = [[row[place] for place in places] for row in table.cells]
    if layout.wide:
        grids = [in_full(headers, cells)]
    else:
        keys = table.keys or (headers.index("bot") + 1 if "bot" in headers else 1)
        grids = fit(headers, cells, table.words, table.optional, keys, layout.width)
    shown = {header for grid in grids for header in grid.headers}
    left_out = [header for header in headers if header not in shown]
    loud = [header.upper() if header in table.alarms else header for header in headers]
    renamed = dict(zip(headers, loud, strict=True))
    return [Grid([renamed[header] for header in grid.headers], grid.cells) for grid in grids], left_out


def _painted(loud: set[str], header: str, text: str) -> str:
    return f"{RED}{text}{PLAIN}" if header in loud and text.strip() not in ("0", NOTHING) else text


def _one(table: DataTable, table_format: str) -> str:
    align = ["left" if header in table.words else "right" for header in table.headers]
    grid = tabulate(
        table.cells,
        headers=table.headers,
        tablefmt=table_format,
        disable_numparse=True,
        colalign=align if table.cells else None,
    )
    told = [_paragraph(note, table_format) for note in (*table.summary, *table.notes)]
    return "\n\n".join([_heading(table.title, table_format), grid, *told])


def _heading(title: str, table_format: str) -> str:
    if table_format in ("github", "pipe"):
        return f"## {title}"
    return f"<h2>{escape(title)}</h2>" if table_format in ("html", "unsafehtml") else title


def _paragraph(text: str, table_format: str) -> str:
    return f"<p>{escape(text)}</p>" if table_format in ("html", "unsafehtml") else text


def _csv(tables: Sequence[DataTable]) -> str:
    columns = list(dict.fromkeys(key for table in tables for row in table.rows for key in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, ["game", *columns], lineterminator="\n")
    writer.writeheader()
    for table in tables:
        for row in table.rows:
            writer.writerow({"game": table.title, **row})
    return out.getvalue().rstrip("\n")


# More tables: who finishes ahead of whom, where that is a surprise, and what a seat is worth.


MOST_BOTS = 40
"""A table of more bots by as many is read by nobody."""
MOST_SURPRISES = 15
PAIRS_LEGEND = (
    "How often, in percent, the bot of the line finishes ahead of the bot whose number stands at the top; a tie is one "
    "half."
)
SURPRISES_LEGEND = (
    "expected: by the Plackett-Luce strengths of the two. luck: at most so likely is it that luck alone makes any pair "
    "of the table differ so much."
)


def pairwise_table(board: Leaderboard) -> DataTable:
    """How often each bot finishes ahead of each other; a tie is half of one. Of a large field only the surprises."""
    evidence = board.ratings.evidence
    lines = [standing.line for standing in board.standings]
    rows: list[Fields] = []
    cells = []
    for place, line in enumerate(lines, 1):
        shown = [str(place), line.bot]
        for other in lines:
            ahead, met = evidence.finished_ahead(line.number, other.number)
            if met:
                rows.append({"bot": line.bot, "against": other.bot, "met": met, "ahead": round(ahead / met, 4)})
            shown.append(f"{100 * ahead / met:.0f}" if met else NOTHING)
        cells.append(shown)
    if len(lines) <= MOST_BOTS:
        headers = ["#", "bot", *map(str, range(1, len(lines) + 1))]
        return DataTable(board.title, rows, headers, cells, legend=PAIRS_LEGEND)
    few = surprises_table(board)
    note = f"Of {len(lines):,} bots, the pairs that differ most from what is expected. All pairs: --show pairs -f csv."
    return DataTable(board.title, rows, few.headers, few.cells, [*few.notes, note], few.legend, words=few.words)


@dataclass(frozen=True, slots=True)
class Surprise:
    """Two bots and how they fare against each other, the one that does better than expected first."""

    bot: str
    against: str
    met: int
    ahead: float
    expected: float
    exponent: float
    """How hard that is to come by through luck: Hoeffding's exponent for all deals together."""
    luck: float
    """An upper bound for the chance that luck alone makes any pair of the table differ so much."""


def surprises(board: Leaderboard) -> list[Surprise]:
    """All pairs that met, the most surprising first."""
    return sorted(_surprises(board), key=lambda one: (-round(one.exponent, 9), one.bot, one.against))


def _surprises(board: Leaderboard) -> Iterator[Surprise]:
    evidence = board.ratings.evidence
    pairs = list(combinations(board.standings, 2))
    # Matches of one deal have their luck in common, and two bots meet once in each of its rotations.
    seats = sum(one.line.matches for one in board.standings)
    rotations = max(1, round(seats / max(1, board.ratings.matches)))
    for one, other in pairs:
        won, met = evidence.finished_ahead(one.line.number, other.line.number)
        if not met:
            continue
        ahead, expected = won / met, 1 / (1 + 10 ** ((other.strength - one.strength) / 400))
        exponent = max(1.0, met / rotations) * divergence(ahead, expected)
        luck = min(1.0, 2 * len(pairs) * exp(-exponent))
        if ahead >= expected:
            yield Surprise(one.line.bot, other.line.bot, met, ahead, expected, exponent, luck)
        else:
            yield Surprise(other.line.bot, one.line.bot, met, 1 - ahead, 1 - expected, exponent, luck)


def divergence(seen: float, expected: float) -> float:
    """How hard it is for means of `expected` to look like `seen`: Hoeffding's exponent, for values from 0 to 1."""
    parts = ((seen, expected), (1 - seen, 1 - expected))
    return sum(part * log(part / max(whole, 1e-12)) for part, whole in parts if part > 0)


def surprises_table(board: Leaderboard) -> DataTable:
    """The pairs whose results differ most from what the strengths of the two let expect."""
    found = surprises(board)
    rows: list[Fields] = [
        {
            "bot": one.bot,
            "against": one.against,
            "met": one.met,
            "ahead": round(one.ahead, 4),
            "expected": round(one.expected, 4),
            "luck": round(one.luck, 4),
        }
        for one in found
    ]
    cells = [
        [one.bot, one.against, str(one.met), f"{one.ahead:.0%}", f"{one.expected:.0%}", _chance(one.luck)]
        for one in found[:MOST_SURPRISES]
    ]
    return DataTable(
        board.title,
        rows,
        ["bot", "ahead of", "met", "in", "expected", "luck"],
        cells,
        _surprises_notes(found),
        SURPRISES_LEGEND,
        words=frozenset(("bot", "ahead of")),
    )


def _surprises_notes(found: list[Surprise]) -> list[str]:
    if not found:
        return []
    sure = sum(one.luck < 0.05 for one in found)
    if not sure:
        return ["No pair differs more from what is expected than luck explains."]
    return [f"{sure:,} of {len(found):,} pairs differ{'s' if sure == 1 else ''} more than luck explains (below 5%)."]


def _chance(chance: float) -> str:
    return "<0.1%" if chance < 0.001 else f"{chance:.1%}" if chance < 0.1 else f"{chance:.0%}"


def alpha_rank_table(board: Leaderboard) -> DataTable:
    """How much of the time each bot would be played if bots that finish ahead took over: for fields without an order.

    It has no lines where some bots never met.
    """
    shares = board.alpha_rank()
    notes = [] if shares is not None else ["Not everybody has met everybody: there is no table of all pairs to go by."]
    found = shares or []
    return DataTable(
        board.title,
        [{"bot": bot, "share": round(share, 4)} for bot, share in found],
        ["bot", "share"],
        [[bot, f"{share:.1%}"] for bot, share in found],
        notes,
        legend="share: how much of the time a bot would be the one that is played, if those that finish ahead of it "
        "took over. A description of the pairs as they were played, luck included, and no claim.",
    )


def seats_table(board: Leaderboard) -> DataTable:
    """What each seat is worth: the seat advantage of the game."""
    rows: list[Fields] = []
    cells = []
    for (players, seat), sums in board.ratings.evidence.seat_sums().items():
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
    legend = "Without a seat advantage a seat finishes ahead of 50% of the table. In brackets: 95% intervals."
    return DataTable(
        board.title, rows, ["players", "seat", "matches", "wins", "ahead", "mean score"], cells, legend=legend
    )


# What a table says in plain sentences: who won, by how much, how sure that is, and who failed.


POWER = 0.8
"""How likely it is that so many deals will do as are said to."""
MOST_TIMES = 20
"""A run of so many times the deals is nothing to be promised."""
WRONG = f"such claims are wrong in at most {round(100 * (1 - LEVEL))} of 100 runs"
MOST_NAMED = 3
"""Bots that a sentence names; the others are counted."""


def summary(board: Leaderboard) -> list[str]:
    """Who won, by how much and how sure that is, and who failed: never more than is claimed."""
    sentences = [_winner(board)] if len(board.standings) > 1 else []
    failed = [(one.line.bot, one.line.faults, one.line.matches) for one in board.standings if one.line.faults]
    return [*sentences, *faults_sentence(failed)]


def overall_summary(overall: Overall) -> list[str]:
    """The same over several games, about those who play them all."""
    ranked = [line for line in overall.lines if line.place is not None]
    sentences = []
    if len(ranked) > 1:
        first, second = ranked[:2]
        open_to = [line.bot for line in ranked[1:] if line.best == 1]
        told = f"{_short(first.bot)} did best of the {len(ranked):,} bots that play every game: on average it finishes "
        told += f"ahead of {share(first.ahead)} of its opponents{_gap(first.ahead, second.ahead, second.bot)}."
        sentences.append(told + (f" But {_listed(open_to)} may be as good or better." if open_to else ""))
    return sentences


def faults_sentence(failed: Sequence[tuple[str, int, int]]) -> list[str]:
    """Who failed how often, most often first; nothing if nobody did."""
    if not failed:
        return []
    worst = sorted(failed, key=lambda one: (-one[1], one[0]))
    told = [f"{_short(bot)} in {faults:,} of {matches:,} matches" for bot, faults, matches in worst[:MOST_NAMED]]
    more = len(worst) - MOST_NAMED
    if more > 0:
        told.append(f"{more:,} other bot{'' if more == 1 else 's'} too")
    return [f"FAULTS: {', '.join(told)}. Who fails in a match comes last in it."]


def _winner(board: Leaderboard) -> str:
    first, second = board.standings[:2]
    rivals = [one.line.bot for one in board.standings[1:] if one.best == 1]
    name = _short(first.line.bot)
    much = f"finishes ahead of {share(first.ahead)} of its opponents"
    if board.seated or board.anytime:  # it did not meet everybody alike: what it shows is worked out
        much = f"would finish ahead of {share(first.ahead)} of the field, corrected for whom it met"
    if first.best > 1:
        none = "" if rivals else " No bot can be the best: each one finishes behind some other."
        return f"{name} comes first in this table: it {much}. But another bot is better where they met.{none}"
    if not rivals:
        beaten = all((first.line.bot, one.line.bot) in board.significant_pairs for one in board.standings[1:])
        certain = "is told apart from every other bot" if beaten else "is the only one that can be the best"
        gap = _gap(first.ahead, second.ahead, second.line.bot)
        return f"{name} won: it {much}{gap}, and it {certain}; {WRONG}."
    told = f"{name} came first, but {_listed(rivals)} may be as good or better. It {much}"
    if second.line.bot in rivals:
        told += f", {_short(second.line.bot)} of {share(second.ahead)}"
        if first.sure is not None:
            told += f". That {name} is better than {_short(second.line.bot)} is {sureness(first.sure)} sure"
    return f"{told}. {_more_deals(board)}".rstrip()


def _more_deals(board: Leaderboard) -> str:
    """How many more deals would tell the first two apart: only where what was seen is enough to say so."""
    found = board.fit
    first, second = board.standings[:2]
    met = board.ratings.evidence.have_met(first.line.number, second.line.number)
    if board.anytime or not met:
        return ""  # more deals of this run would not settle it
    seen = found.difference(first.line.number, second.line.number) if found else None
    pairs = len(board.standings) * (len(board.standings) - 1) / 2
    if board.seated or seen is None or not seen.error or seen.value < seen.error:
        return "More deals will tell."
    needed = NormalDist().inv_cdf(1 - (1 - LEVEL) / 2 / pairs) + NormalDist().inv_cdf(POWER)
    times = (needed * seen.error / seen.value) ** 2
    if times > MOST_TIMES or second.best > 1:
        return "More deals will tell."
    many = f"{times:.0f} times as many" if times >= 2 else "twice as many"
    return f"If the first two differ as much as it looks, about {many} deals will tell them apart."


def share(interval: Interval | None) -> str:
    """`"71% (64% to 78%)"`, `"100% (at least 94%)"`."""
    if interval is None:
        return "an unknown share"
    value, low, high = interval
    told = f"{100 * value:.0f}%"
    if not (isfinite(low) and isfinite(high)):
        return told
    if high >= 1:
        return f"{told} (at least {100 * low:.0f}%)"
    if low <= 0:
        return f"{told} (at most {100 * high:.0f}%)"
    return f"{told} ({100 * low:.0f}% to {100 * high:.0f}%)"


def sureness(chance: float) -> str:
    """Never 100%: nothing that was measured is certain."""
    return "more than 99.9%" if chance > 0.999 else f"{chance:.1%}" if chance > 0.99 else f"{chance:.0%}"


def _gap(first: Interval | None, second: Interval | None, name: str) -> str:
    if first is None or second is None:
        return ""
    points = 100 * (first.value - second.value)
    if points < 0.5:
        return f", hardly more than {_short(name)}"
    return f", {points:.0f} point{'' if round(points) == 1 else 's'} more than {_short(name)}"


def _listed(bots: Sequence[str]) -> str:
    named = [_short(bot) for bot in bots[: MOST_NAMED if len(bots) <= MOST_NAMED else MOST_NAMED - 1]]
    more = len(bots) - len(named)
    if more:
        return f"{', '.join(named)} and {more:,} others"
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} or {named[-1]}"


def _short(bot: str) -> str:
    return short(bot, 30)


# Several games in one table: the places of each bot, game by game, and the order of those who play them all.


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


# Leaderboards as tables, for people and for the files beside the records.


FILES = {"md": "github", "json": "json", "csv": "csv"}
"""Ending -> table format."""


def leaderboard_table(
    board: Leaderboard,
    columns: Sequence[Column] = COLUMNS,
    score_text: ScoreText | None = None,
    entrants: Sequence[BotInfo] = (),
) -> DataTable:
    """The leaderboard with these columns; scores in the game's words if those are given. `entrants` have teams and
    authors."""
    standings, columns = board.standings, _with_told(columns, entrants)
    optional = sorted((column for column in columns if column.joins), key=lambda column: column.joins)
    told = [score_column(column, score_text) for column in columns] if score_text else columns
    return DataTable(
        board.title,
        [{key: value for column in columns for key, value in column.fields(one).items()} for one in standings],
        [column.name for column in columns],
        [[column.text(one) for column in told] for one in standings],
        board.notes,
        words=frozenset(column.name for column in columns if column.word),
        summary=summary(board),
        optional=[column.name for column in optional],
        legends={column.name: column.legend for column in columns if column.legend},
        alarms=frozenset(column.name for column in columns if column.alarm),
    )


def _with_told(columns: Sequence[Column], entrants: Sequence[BotInfo]) -> list[Column]:
    """The columns with what was said of these entrants; where all are shown, also those that somebody has."""
    found = [told_column(column.name, entrants) if column.name in TOLD else column for column in columns]
    if columns is COLUMNS:
        found += [told_column(name, entrants) for name in TOLD if any(getattr(one, name) for one in entrants)]
    return found


def write_leaderboard(run: RunFolder) -> list[Leaderboard]:
    """Rates all records and writes the leaderboard beside them; the leaderboards, one for each game."""
    boards = boards_of(run)
    write_derived(run.folder, leaderboard_files(boards, run.info.entrants))
    return boards


def leaderboard_files(boards: Sequence[Leaderboard], entrants: Sequence[BotInfo] = ()) -> dict[str, bytes]:
    """What is written beside the records: names of files, and what is in each.

    They have all columns and plain numbers: what they hold depends on the records, and on teams and authors of
    entrants, not on a screen, nor on the games that are installed.
    """
    tables = [leaderboard_table(board, entrants=entrants) for board in boards]
    over = worth_showing(boards)
    return {
        f"leaderboard.{ending}": text_of(tables if ending == "csv" else [*tables, *over], table_format).encode() + b"\n"
        for ending, table_format in FILES.items()
    }


# What people and programs read: tables in every format, files beside the records, pages and sites.


KINDS: dict[str, Callable[[Sequence[Leaderboard]], list[DataTable]]] = {
    "leaderboard": lambda boards: [leaderboard_table(board) for board in boards],
    "games": overall_tables,
    "pairs": lambda boards: [pairwise_table(board) for board in boards],
    "surprises": lambda boards: [surprises_table(board) for board in boards],
    "alpha-rank": lambda boards: [alpha_rank_table(board) for board in boards],
    "seats": lambda boards: [seats_table(board) for board in boards],
}
"""The tables that can be made of leaderboards."""


def leaderboard_tables(
    boards: Sequence[Leaderboard],
    columns: Sequence[str] = (),
    scores: Mapping[str, ScoreText] | None = None,
    over_all: bool = True,
    entrants: Sequence[BotInfo] = (),
) -> list[DataTable]:
    """A table for each game with these columns (all by default), scores in words, and a table over all games.

    That one has other columns: it is left out where columns are chosen, and of a CSV file.
    """
    words = scores or {}
    tables = [
        leaderboard_table(board, chosen_columns(columns), words.get(game_of(board)), entrants) for board in boards
    ]
    return [*tables, *worth_showing(boards)] if over_all and not columns else tables


def game_of(board: Leaderboard) -> str:
    """The game that a leaderboard is about: what comes first in its title."""
    return board.title.partition(", ")[0]


def render(
    boards: Sequence[Leaderboard],
    table_format: str = "simple",
    kind: str = "leaderboard",
    layout: Layout | None = None,
) -> str:
    """All leaderboards as text in one of FORMATS, or another kind of table about the same bots."""
    return text_of(KINDS[kind](boards), table_format, layout)
