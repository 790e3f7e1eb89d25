"""An analysis as tables and sentences."""

from __future__ import annotations

from math import ceil, floor
from typing import TYPE_CHECKING

from harness.analysis.profile import shortened
from harness.core.table import Column, Table, columns
from harness.ratings.statistics import LEVEL

if TYPE_CHECKING:
    from harness.analysis.run import Analysis, Estimate

MAX_UNCOUNTED_SHOWN = 12
RULE_CHARS = 50
"""Characters of a rule that fit next to its figures in 80 columns."""


def tables_of(found: Analysis) -> list[Table]:
    """Return the tables of an analysis, in the order in which they are read."""
    tables = [_sources(found), _spread(found), _seats(found), _length(found), _choices(found)]
    return [*tables, _rules(found)] if found.profile.rules else tables


def _sources(found: Analysis) -> Table:
    shares = found.shares
    parts = (
        ("bots", shares.bots, "who sits at the table: skill"),
        ("deals", shares.deals, "what a deal gives to a seat for any bot: luck"),
        ("seats", shares.seats, "what a seat gives in every deal"),
        ("rest", shares.rest, "luck that depends on decisions, and who suits what"),
    )
    head = [Column("source", "text"), *columns("number", "share", "95%"), Column("what it is", "text")]
    lines = [(name, percent(one.value), _range(one), text) for name, one, text in parts]
    data = [
        {"source": name, "share": one.value, "low": one.low, "high": one.high, "what it is": text}
        for name, one, text in parts
    ]
    return Table(
        f"{found.title}, {found.players} players: where results come from",
        head,
        lines,
        data,
        summary=[
            f"{found.matches:,} matches of {', '.join(found.bots)}: {found.deals:,} deals for {_tables_text(found)}, "
            f"in all rotations of their seats (seed {found.seed}).",
            _skill_sentence(found),
            *([f"{found.faults} faults of bots: these matches count as they ended."] if found.faults else []),
        ],
    )


def _skill_sentence(found: Analysis) -> str:
    if found.skill_matches is None:
        return "The results show no difference between these bots."
    if found.skill_matches <= 1:
        if found.shares.bots.low > 0.5:
            return "With these bots, a single match says more about skill than about everything else together."
        skill = f"{percent(found.shares.bots.value)} ({_range(found.shares.bots)})"
        return f"With these bots, skill is {skill} of the differences between single matches: perhaps less than half."
    number = ceil(found.skill_matches)
    return f"With these bots, half of the differences between means of {number:,} matches are skill."


def _tables_text(found: Analysis) -> str:
    if found.all_tables:
        return "their only table" if found.tables == 1 else f"all {found.tables:,} tables"
    return f"{found.tables:,} tables drawn from them"


def _spread(found: Analysis) -> Table:
    head: list[Column | str] = ["bot", *columns("number", "ahead", "95%", "wins", "mean score", "matches")]
    lines = [
        (line.bot, percent(line.ahead.value), _range(line.ahead), percent(line.wins), f"{line.score:.1f}", line.matches)
        for line in found.spread
    ]
    data = [
        {"bot": line.bot, "ahead": line.ahead.value, "low": line.ahead.low, "high": line.ahead.high,
         "wins": line.wins, "mean score": line.score, "matches": line.matches}
        for line in found.spread
    ]  # fmt: skip
    notes = []
    if found.search:
        notes = [
            f"{found.search} is not in the field: it took its place in a few matches, to show how far search gets."
        ]
    legend = "ahead: share of the others that it finishes ahead of, a tie counting half."
    return Table("From random to search", head, lines, data, notes=notes, legend=legend)


def _seats(found: Analysis) -> Table:
    lines = [
        (line.seat, percent(line.ahead.value), _range(line.ahead), percent(line.wins), f"{line.score:.1f}")
        for line in found.seats
    ]
    data = [
        {"seat": line.seat, "ahead": line.ahead.value, "low": line.ahead.low, "high": line.ahead.high,
         "wins": line.wins, "mean score": line.score}
        for line in found.seats
    ]  # fmt: skip
    uneven = [line for line in found.seats if not line.ahead.low <= 0.5 <= line.ahead.high]
    said = [
        f"Seat {line.seat} {'gains' if line.ahead.value > 0.5 else 'loses'} "
        f"{abs(line.ahead.value - 0.5) * 100:.1f} percentage points."
        for line in uneven
    ]
    summary = said or [f"No seat is significantly better or worse ({LEVEL:.0%})."]
    return Table("Seats", [Column("seat", "number"), *columns("number", "ahead", "95%", "wins", "mean score")], lines,
                 data, summary=summary)  # fmt: skip


def _length(found: Analysis) -> Table:
    profile, decisions = found.profile, found.profile.decisions
    lines = [
        ("decisions in a match", f"{decisions.mean:.0f} ({decisions.low:.0f} to {decisions.high:.0f}, "
         f"at most {decisions.most:.0f})"),
        ("forced choices in a match", f"{sum(each.forced for each in profile.choices):.0f}"),
        ("size of the game tree", f"10^{floor(profile.tree)}"),
        ("shared first places", percent(profile.ties)),
        ("pairs of seats that tie", percent(profile.tied_pairs)),
        *((f"ended: {why or 'no reason'}", percent(share)) for why, share in profile.endings.items()),
    ]  # fmt: skip
    data: list[dict[str, object]] = [
        {"measure": "decisions", "value": decisions.mean},
        {"measure": "tree", "value": profile.tree},
        {"measure": "ties", "value": profile.ties},
        {"measure": "tied pairs", "value": profile.tied_pairs},
        *({"measure": f"ending {why}", "value": share} for why, share in profile.endings.items()),
    ]
    legend = "In brackets: nine of ten matches are above the first number, and below the second."
    head = [Column("measure", "text"), Column("value", "text")]
    return Table("Length and ends", head, lines, data, legend=legend)


def _choices(found: Analysis) -> Table:
    head: list[Column | str] = ["choice", *columns("number", "a match", "forced", "legal", "median", "most")]
    lines = [
        (each.phase, f"{each.decisions:.1f}", f"{each.forced:.1f}", f"{each.legal.mean:.1f}",
         f"{each.legal.median:.0f}", f"{each.legal.most:.0f}")
        for each in found.profile.choices
    ]  # fmt: skip
    data = [
        {"choice": each.phase, "a match": each.decisions, "forced": each.forced, "legal": each.legal.mean,
         "median": each.legal.median, "most": each.legal.most}
        for each in found.profile.choices
    ]  # fmt: skip
    return Table("Choices", head, lines, data, keys=1, legend="legal: mean number of legal actions at a decision.")


def _rules(found: Analysis) -> Table:
    profile = found.profile
    head: list[Column | str] = [
        "rule",
        *columns("number", "matches", "a match"),
        Column("how it begins", "text", optional=1),
    ]
    lines = [
        (each.rule, percent(each.matches), f"{each.times:.1f}", shortened(each.text, RULE_CHARS))
        for each in profile.rules
    ]
    data = [
        {"rule": each.rule, "matches": each.matches, "a match": each.times, "how it begins": each.text}
        for each in profile.rules
    ]
    notes = []
    never = [each.rule for each in profile.rules if not each.times]
    if never:
        notes.append(f"Never in {profile.replayed:,} matches: {', '.join(never)}.")
    if profile.uncounted_rules:
        shown = ", ".join(profile.uncounted_rules[:MAX_UNCOUNTED_SHOWN])
        more = len(profile.uncounted_rules) - MAX_UNCOUNTED_SHOWN
        notes.append(f"No event shows these rules: {shown}{f' and {more} more' if more > 0 else ''}.")
    legend = "matches: share of the matches in which the rule comes up. a match: how often it does, on average."
    return Table("Rules", head, lines, data, notes=notes, legend=legend)


def percent(share: float) -> str:
    """Return a share as a percentage that shows small values: "0.4%", "31%"."""
    points = 100 * max(0.0, share)  # an unbiased estimate of a small share may be below 0
    text = f"{points:.1f}" if abs(points) < 9.95 else f"{points:.0f}"
    return ("0" if float(text) == 0 else text) + "%"


def _range(one: Estimate) -> str:
    low, high = percent(one.low), percent(one.high)
    return f"{low.removesuffix('%')} to {high}"
