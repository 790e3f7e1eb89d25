"""Charts of a run, drawn with matplotlib as SVG."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from itertools import cycle
from math import ceil, isfinite
from typing import Any

import matplotlib as mpl
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from harness.output.columns import ScoreText, number
from harness.output.leaderboard import pairwise_table, seats_table
from harness.output.tables import NOTHING, short
from harness.ratings.leaderboard import Leaderboard, Standing
from harness.ratings.skill import MU
from harness.report.facts import Facts
from harness.report.published import VersionPoint

# SVG inside a page: its colours follow the light or dark theme of the page, and its text can be selected.


INK, FAINT = "#010203", "#040506"
"""Placeholder colours, replaced in the SVG by variables of the page's style sheet."""
_VARIABLES = {INK: "var(--ink)", FAINT: "var(--faint)"}

# Okabe and Ito's colours, which people with any kind of colour vision can distinguish, without those that are
# invisible on white or on black.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
TEXT = 12
"""Points of all texts: 11 pixels on a phone, where a figure is scaled down to its width."""
WIDTH = 4.9
"""Inches: two figures fit side by side on a desktop, and one on a phone with readable text."""

_STYLE: dict[Any, Any] = {
    "axes.edgecolor": FAINT,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": TEXT,
    "figure.facecolor": "none",
    "font.family": ["DejaVu Sans"],
    "font.size": TEXT,
    "xtick.labelsize": TEXT,
    "ytick.labelsize": TEXT,
    "axes.labelsize": TEXT,
    "grid.color": FAINT,
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "text.color": INK,
    "text.parse_math": False,  # the name of a bot may contain $
    "xtick.color": INK,
    "ytick.color": INK,
}


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart, with the same content as words and numbers for readers who cannot see it."""

    name: str
    title: str
    summary: str
    """What it shows and how to read it, in one or two sentences."""
    svg: str
    headers: Sequence[str]
    rows: Sequence[Sequence[str]]


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        # The browser has fonts for all scripts; matplotlib only measures the text.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def draw(name: str, title: str, summary: str, height: float, paint: Callable[[Figure], None]) -> str:
    """Return the SVG of a figure that `paint` draws on; `name` must be unique in the page."""
    unique = "c" + sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    # A fixed salt and no metadata: the same data always gives the same file.
    with mpl.rc_context({**_STYLE, "svg.hashsalt": unique}), _quiet():
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        FigureCanvasSVG(figure)
        paint(figure)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return _for_page(out.getvalue(), unique, title, summary)


def _for_page(svg: str, unique: str, title: str, summary: str) -> str:
    svg = svg[svg.index("<svg") :]
    # matplotlib's style element would apply to the whole page.
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", svg, count=1, flags=re.DOTALL)
    # All charts are in one document: ids must not repeat. Those of groups are not used, those of markers and clipping
    # paths get a prefix.
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)
    svg = re.sub(r"\b([mp][0-9a-f]{10})\b", rf"{unique}\1", svg)
    for colour, variable in _VARIABLES.items():
        svg = svg.replace(colour, variable)
    svg = re.sub(r"\s*\n\s*", "\n", svg)
    size = re.search(r'viewBox="[^"]*"', svg)
    assert size is not None, "matplotlib says how large its picture is"
    return (
        f'<svg {size[0]} role="img" aria-labelledby="{unique}-t {unique}-d" '
        'xmlns:xlink="http://www.w3.org/1999/xlink">'
        f'<title id="{unique}-t">{escape(title)}</title><desc id="{unique}-d">{escape(summary)}</desc>'
        + svg[svg.index(">") + 1 :]
    )


# The charts of one leaderboard: skills, opponents, seats, scores, time.


MAX_CHART_BOTS = 40
"""Maximum of bots in a chart, the best ones; the tables have all of them."""
MAX_HEAT_MAP_BOTS = 25
MAX_NUMBERED_BOTS = 10
"""Maximum of bots for which the heat map shows numbers."""
_LINES: tuple[Any, ...] = ("-", "--", ":", "-.", (0, (6, 1)), (0, (1, 3)), (0, (3, 1, 1, 1, 1, 1)))
"""Seven line styles. Combined with six colours, the cycle repeats only after 42 bots."""
_SCALE = colormaps["PuOr_r"].resampled(20)
"""Purple is behind, orange is ahead: distinguishable with any kind of colour vision."""
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def charts(board: Leaderboard, facts: Facts, score_text: ScoreText | None = None) -> Iterator[Chart]:
    """Yield the charts of a leaderboard for which there are enough matches; `score_text` writes the game's scores."""
    title, standings = board.title, board.standings[:MAX_CHART_BOTS]
    bots = [standing.bot for standing in standings]
    yield _skills(title, standings)
    points = facts.curves[title].to(board)
    if len(points) > 1:
        yield _curves(board, points, bots)
    met = {(row["bot"], row["against"]): _number(row["ahead"]) for row in pairwise_table(board).rows}
    if met:
        yield _heat_map(title, len(board.standings), bots[:MAX_HEAT_MAP_BOTS], met)
    if seats := seats_chart(title, seats_table(board).rows):
        yield seats
    yield _scores(title, facts, bots, score_text or str)
    timed = [bot for bot in bots if (title, bot) in facts.pace and facts.pace[title, bot].typical.counts]
    if timed:
        yield _pace(title, facts, timed)


def _height(lines: int) -> float:
    return 1.0 + 0.27 * max(lines, 4)


def _name_lines(axes: Axes, bots: Sequence[str]) -> None:
    """Label the lines with these names, from top to bottom as in the table."""
    axes.set_yticks(range(len(bots)), [short(bot) for bot in bots])
    axes.set_ylim(len(bots) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)


def _skills(title: str, standings: Sequence[Standing]) -> Chart:
    known = any(isfinite(standing.skill.high) for standing in standings)

    def paint(figure: Figure) -> None:
        skill, beats = figure.subplots(1, 2, sharey=True)
        _name_lines(skill, [standing.bot for standing in standings])
        skill.set_title("skill, 95%" if known else "skill")
        beats.set_title("beats")
        for place, standing in enumerate(standings):
            value, low, high = standing.skill
            reach = [[value - low], [high - value]] if isfinite(high) else None
            skill.errorbar(value, place, xerr=reach, fmt="o", color=COLOURS[0], markersize=4)
            if standing.beats is not None:
                beats.plot(100 * standing.beats, place, "D", color=COLOURS[5], markersize=4)
        skill.axvline(MU, color=INK, linewidth=0.8, linestyle=":")
        beats.axvline(50, color=INK, linewidth=0.8, linestyle=":")
        beats.set_xlim(-4, 104)
        beats.set_xticks((0, 50, 100), ("0%", "50%", "100%"))

    interval = " with a 95% interval over deals" if known else ""
    summary = (
        f"Left: each bot's skill{interval}; 25 is average. Right: the share of opponents that it finished ahead of, "
        "counted; 50% is average."
    )
    rows = [(s.bot, number(s.skill), NOTHING if s.beats is None else f"{s.beats:.1%}") for s in standings]
    name = f"{title}-skills"
    svg = draw(name, "Skills", summary, _height(len(standings)), paint)
    return Chart(name, "Skills", summary, svg, ("bot", "skill", "beats"), rows)


def _curves(board: Leaderboard, points: Sequence[tuple[int, dict[str, float]]], bots: Sequence[str]) -> Chart:
    shown = bots[:8]

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for colour, style, bot in zip(cycle(COLOURS), cycle(_LINES), shown, strict=False):
            known = [(matches, skills[bot]) for matches, skills in points if bot in skills]
            axes.plot(*zip(*known, strict=True), color=colour, linestyle=style, linewidth=1.6, label=short(bot))
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.xaxis.set_minor_formatter("")
        axes.set_xlabel("matches (\N{MULTIPLICATION SIGN}10 a step)")
        axes.set_ylabel("skill")
        figure.legend(loc="outside lower center", ncols=2, fontsize=TEXT)

    summary = "The skills after the first matches of the schedule, each fitted to all matches up to there."
    if len(bots) > len(shown):
        summary += f" The best {len(shown)} of {len(board.standings)} bots are drawn."
    some = points[:: max(1, len(points) // 8)]
    some = some if some[-1] is points[-1] else [*some, points[-1]]
    rows = [(str(n), *(f"{skills[bot]:.1f}" if bot in skills else NOTHING for bot in shown)) for n, skills in some]
    title = board.title
    name = f"{title}-curves"
    svg = draw(name, "Skill over matches", summary, 3.2 + 0.18 * ((len(shown) + 1) // 2), paint)
    return Chart(name, "Skill over matches", summary, svg, ("matches", *shown), rows)


def _heat_map(title: str, field: int, bots: Sequence[str], met: Mapping[tuple[object, object], float | None]) -> Chart:
    shares = [[met.get((one, other)) for other in bots] for one in bots]

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        values = [[float("nan") if share is None else share for share in row] for row in shares]
        axes.pcolormesh(values, cmap=_SCALE, vmin=0, vmax=1, edgecolors="none")
        axes.set_aspect("equal")
        axes.set_xticks([place + 0.5 for place in range(len(bots))], [short(bot, 12) for bot in bots], rotation=90)
        axes.set_yticks([place + 0.5 for place in range(len(bots))], [short(bot, 16) for bot in bots])
        axes.invert_yaxis()
        axes.grid(visible=False)
        axes.tick_params(length=0)
        for side in axes.spines.values():
            side.set_visible(False)
        unmet = [(x + 0.5, y + 0.5) for y, line in enumerate(shares) for x, share in enumerate(line) if share is None]
        if unmet:  # the page shows through, with a dot
            axes.plot(*zip(*unmet, strict=True), ".", color=FAINT, markersize=3)
        for row, line in enumerate(shares):
            for column, share in enumerate(line):
                if share is not None and len(bots) <= MAX_NUMBERED_BOTS:
                    dark = sum(_SCALE(share)[:3]) < 1.5
                    ink = "#ffffff" if dark else "#000000"
                    words = f"{100 * share:.0f}"
                    axes.text(column + 0.5, row + 0.5, words, ha="center", va="center", color=ink, size=TEXT)

    summary = "How often the bot of the row finishes ahead of the bot of the column, in percent: orange "
    summary += "more than half, purple less, a dot where they never met. A tie is half of one."
    if field > len(bots):
        summary += f" The best {len(bots)} of {field} bots are drawn."
    rows = [
        (bot, *("-" if share is None else f"{share:.1%}" for share in row))
        for bot, row in zip(bots, shares, strict=True)
    ]
    name = f"{title}-pairs"
    # High enough for square cells; the names next to them take about 1.4 inches.
    height = 1.3 + (WIDTH - 1.4) * min(1.0, len(bots) / 7)
    svg = draw(name, "Who finishes ahead of whom", summary, height, paint)
    return Chart(name, "Who finishes ahead of whom", summary, svg, ("bot", *bots), rows)


def seats_chart(title: str, rows: Sequence[Mapping[str, Any]]) -> Chart | None:
    """Return the chart of the results of each seat, from rows of the table of seats; None without rows."""
    if not rows:
        return None
    places = [(f"seat {row['seat']} of {row['players']}", row) for row in rows]

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        _name_lines(axes, [label for label, _ in places])
        reached = [10.0]
        for place, (_, row) in enumerate(places):
            value, low, high = (_number(row.get(f"ahead{part}")) for part in ("", " low", " high"))
            if value is not None:
                reach = None if low is None or high is None else [[100 * (value - low)], [100 * (high - value)]]
                axes.errorbar(100 * value, place, xerr=reach, fmt="s", color=COLOURS[2], markersize=5)
                reached += [abs(100 * end - 50) for end in (value, low, high) if end is not None]
        axes.axvline(50, color=INK, linewidth=0.8, linestyle=":")
        # Never narrower than 40 to 60%: a difference of one in a hundred must not look like an advantage.
        most = min(50.0, 10 * ceil(1.02 * max(reached) / 10))
        axes.set_xlim(50 - most - 1, 50 + most + 1)
        axes.set_xticks([50 - most, 50 - most / 2, 50, 50 + most / 2, 50 + most])
        axes.xaxis.set_major_formatter("{x:.3g}%")

    summary = (
        "The share of the table that each seat finishes ahead of, with a 95% interval over deals; 50%: no advantage."
    )
    name = f"{title}-seats"
    svg = draw(name, "Seat advantage", summary, _height(len(places)), paint)
    cells = [(label, *(_share(row.get(f"ahead{part}")) for part in ("", " low", " high"))) for label, row in places]
    return Chart(name, "Seat advantage", summary, svg, ("seat", "ahead of", "from", "to"), cells)


def versions_chart(title: str, versions: Sequence[VersionPoint]) -> Chart:
    """Return the chart of the skills of a bot's versions, the oldest on the left."""

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        places = range(len(versions))
        axes.plot(places, [one.skill for one in versions], color=COLOURS[0], linewidth=1.2, alpha=0.6)
        for place, one in enumerate(versions):
            reach = None if one.low is None or one.high is None else [[one.skill - one.low], [one.high - one.skill]]
            axes.errorbar(place, one.skill, yerr=reach, fmt="o", color=COLOURS[0], markersize=5)
        shown = places[:: max(1, len(versions) // 8)]
        axes.set_xticks(list(shown), [short(versions[place].bot, 14) for place in shown], rotation=30, ha="right")
        axes.set_ylabel("skill")

    interval = ", with its 95% interval" if any(one.high is not None for one in versions) else ""
    summary = f"The skill of each version{interval}; the oldest is on the left."
    rows = [(one.bot, f"{one.skill:.1f}", *(NOTHING if end is None else f"{end:.1f}" for end in (one.low, one.high)))
            for one in versions]  # fmt: skip
    name = f"{title}-versions-{versions[-1].bot}"
    svg = draw(name, "Versions", summary, 3.0, paint)
    return Chart(name, "Versions", summary, svg, ("version", "skill", "from", "to"), rows)


def _share(value: object) -> str:
    return f"{value:.1%}" if isinstance(value, float) else NOTHING


def _number(value: object) -> float | None:
    return value if isinstance(value, float) else None


def _scores(title: str, facts: Facts, bots: Sequence[str], score_text: ScoreText) -> Chart:
    spreads = [facts.scores[title, bot].quantiles(QUANTILES) for bot in bots]
    unit = score_text(0.0).partition(" ")[2]

    def figure_of(score: float, _place: float | None = None) -> str:
        # As a mean of scores, which is a single number in any game, without its unit.
        return score_text(float(score)).partition(" ")[0].removesuffix(".0")

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for place, (low, left, middle, right, high) in enumerate(spreads):
            axes.plot((low, high), (place, place), color=COLOURS[0], linewidth=1)
            axes.plot((left, right), (place, place), color=COLOURS[0], linewidth=6, alpha=0.55, solid_capstyle="butt")
            axes.plot(middle, place, "o", color=COLOURS[5], markersize=5)
        _name_lines(axes, bots)
        axes.locator_params(axis="x", nbins=6)
        axes.xaxis.set_major_formatter(figure_of)
        axes.set_xlabel(unit or "score")

    summary = (
        f"Scores match by match{f', in {unit}' if unit else ''}: the dot is the median, half of all matches lie on the "
        "thick line, nine tenths on the thin one."
    )
    rows = [(bot, *(figure_of(value) for value in spread)) for bot, spread in zip(bots, spreads, strict=True)]
    name = f"{title}-scores"
    svg = draw(name, "Scores", summary, _height(len(bots)) + 0.15, paint)
    return Chart(name, "Scores", summary, svg, ("bot", *(f"{share:.0%}" for share in QUANTILES)), rows)


def _pace(title: str, facts: Facts, bots: Sequence[str]) -> Chart:
    spreads = [[max(value, 0.5) / 1000 for value in facts.pace[title, b].typical.quantiles(QUANTILES)] for b in bots]
    slowest = [1000 * facts.pace[title, bot].slowest for bot in bots]

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for place, (low, _, middle, _, high) in enumerate(spreads):
            axes.plot((low, high), (place, place), color=COLOURS[2], linewidth=3, alpha=0.7)
            axes.plot(middle, place, "o", color=COLOURS[2], markersize=5)
            axes.plot(max(slowest[place], middle), place, ">", color=COLOURS[5], markersize=5)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        _name_lines(axes, bots)
        axes.set_xlabel("milliseconds (\N{MULTIPLICATION SIGN}10 a step)")
        axes.grid(visible=True, axis="x", which="major", color=FAINT)

    summary = (
        "Milliseconds a decision. The dot is the median of a bot's matches, nine tenths of them lie on the line; the "
        "triangle is its slowest decision of all."
    )
    rows = [
        (bot, f"{spread[2]:.3f}", f"{spread[0]:.3f}", f"{spread[4]:.3f}", f"{worst:.3f}")
        for bot, spread, worst in zip(bots, spreads, slowest, strict=True)
    ]
    name = f"{title}-pace"
    svg = draw(name, "Time per decision", summary, _height(len(bots)) + 0.15, paint)
    return Chart(name, "Time per decision", summary, svg, ("bot", "median", "5%", "95%", "slowest"), rows)
