"""What a gauntlet shows: each candidate against the field, and the differences between candidates on the same deals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import isfinite

from harness.core.format import Outcome
from harness.core.format_results import ResultTable, ShownValue
from harness.ratings.intervals import LEVEL, Interval
from harness.ratings.paired import CandidateLine, PairedDifference, PairedResults

MOST_PAIRS = 66
"""Pairs that are shown to people, those of twelve candidates; of more, each with the next and with the best."""
FIELD = "ahead: share of the table finished ahead of."
WITHIN = f"± is a {LEVEL:.0%} interval over deals."
PAIRED = (
    "Differences are taken deal by deal: same deals, same places, same tables. "
    "ahead by: points of `ahead`. told apart: all these claims together are wrong in at most 5 of 100 runs. "
    "pairing: how many times as many matches it would have taken with deals of their own."
)


def outcome(results: PairedResults, sets: int) -> Outcome:
    """The outcome of so many deals at a table; what not all candidates have played does not count."""
    done = results.sets
    still_open = "" if done == sets else f"{done:,} of {sets:,} deals at a table have been played by every candidate."
    if not done:
        return Outcome(open=still_open)
    lines = results.lines()
    if len(lines) == 1:
        [line] = lines
        note, more = _alone(line), _opponents(line.bot, results.against(line.bot))
    else:
        pairs = results.differences()
        note, more = _verdict(pairs, len(lines)), _differences(pairs, lines)
    return Outcome((), "" if still_open else note, (_lines(lines), more), open=still_open)


def _lines(lines: Sequence[CandidateLine]) -> ResultTable:
    rows = [(line.bot, line.matches, percent(line.ahead), number(line.score)) for line in lines]
    data = [
        {"candidate": line.bot, "matches": line.matches, **fields("ahead", line.ahead, 4),
         **fields("mean score", line.score, 2)}
        for line in lines
    ]  # fmt: skip
    headers = ("candidate", "matches", "ahead", "mean score")
    return ResultTable("against the field", headers, rows, data, headers[2:], legend=f"{FIELD} {WITHIN}")


def _opponents(candidate: str, lines: Sequence[CandidateLine]) -> ResultTable:
    rows = [(line.bot, line.matches, percent(line.ahead), number(line.score, "+")) for line in lines]
    data = [
        {"opponent": line.bot, "matches": line.matches, **fields("ahead", line.ahead, 4),
         **fields("score by", line.score, 2)}
        for line in lines
    ]  # fmt: skip
    headers = ("opponent", "matches", "ahead", "score by")
    legend = "ahead of an opponent: how often; score by: how much more the candidate scored. The hardest come first."
    return ResultTable(f"{candidate} against each", headers, rows, data, headers[2:], legend=legend)


def _differences(pairs: Sequence[PairedDifference], lines: Sequence[CandidateLine]) -> ResultTable:
    shown = pairs
    notes: list[str] = []
    if len(pairs) > MOST_PAIRS:
        order = [line.bot for line in lines]
        after = dict(pairwise(order))
        shown = [pair for pair in pairs if pair.better == order[0] or after[pair.better] == pair.worse]
        notes = [f"{len(shown)} of {len(pairs)} pairs: each with the best and with the next. The JSON has all."]
    rows: list[Sequence[ShownValue]] = [
        (
            pair.better,
            pair.worse,
            percent(pair.ahead, "+"),
            number(pair.score, "+"),
            "yes" if pair.told_apart else "no",
            f"{pair.worth:.1f}x" if pair.worth else None,
        )
        for pair in shown
    ]
    data: list[Mapping[str, object]] = [
        {
            "candidate": pair.better,
            "other": pair.worse,
            **fields("ahead by", pair.ahead, 4),
            **fields("score by", pair.score, 2),
            "told apart": pair.told_apart,
            "pairing": round(pair.worth, 3) if pair.worth else None,
        }
        for pair in pairs
    ]
    headers = ("candidate", "other", "ahead by", "score by", "told apart", "pairing")
    return ResultTable(
        "differences between candidates", headers, rows, data, ("ahead by", "score by", "pairing"), 2, notes, PAIRED
    )


def _alone(line: CandidateLine) -> str:
    return f"{line.bot} finishes ahead of {percent(line.ahead)} of the table."


def _verdict(pairs: Sequence[PairedDifference], candidates: int) -> str:
    """Who is best, as far as that can be said."""
    best = pairs[0].better
    beaten = [pair.worse for pair in pairs if pair.better == best and pair.told_apart]
    if len(beaten) == candidates - 1:
        if candidates == 2:
            more = percent(pairs[0].ahead)
            better = f"{best} does better against this field than {beaten[0]}"
            return f"{better}: it finishes ahead of {more} more of the table."
        return f"{best} does best against this field: it is told apart from every other candidate."
    if not any(pair.told_apart for pair in pairs):
        return "No candidate is told apart from another: more deals may tell."
    return f"{best} comes first; it is told apart from {', '.join(beaten) or 'none of the others'}."


def percent(interval: Interval | None, sign: str = "") -> str:
    """A share or a difference of shares, in percent, with its interval."""
    if interval is None:
        return ""
    reach = f" ± {100 * interval.reach:.1f}" if isfinite(interval.high) else ""
    return f"{100 * interval.value:{sign}.1f}{reach}%"


def number(interval: Interval | None, sign: str = "") -> str:
    """A mean with its interval."""
    if interval is None:
        return ""
    reach = f" ± {interval.reach:.1f}" if isfinite(interval.high) else ""
    return f"{interval.value:{sign}.1f}{reach}"


def fields(name: str, interval: Interval | None, digits: int) -> dict[str, float | None]:
    """A value with its interval, for programs."""
    value, low, high = interval or (None, None, None)
    parts = ((name, value), (f"{name} low", low), (f"{name} high", high))
    return {key: round(part, digits) if part is not None and isfinite(part) else None for key, part in parts}
