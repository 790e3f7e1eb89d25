"""Comparisons of speed as tables for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from tabulate import tabulate

from harness.bench.against import SpeedRow
from harness.bench.shares import Shares


def arenas_table(rows: Sequence[SpeedRow]) -> str:
    """This arena beside others: a line for each game."""
    lines = [[row.game, *_rates(row), str(row.speed.ratio), *_counts(row)] for row in rows]
    counted = ["instructions/decision here", "there", "ratio"] if any(row.counts for row in rows) else []
    table = _table(lines, ["", "decisions/s here", "there", "ratio", *counted])
    here = {f"here: {row.ours}" for row in rows}
    there = dict.fromkeys(f"there: {row.theirs} ({row.against})" for row in rows)
    return "\n".join([table, "", *sorted(here), *there])


def peers_table(rows: Sequence[SpeedRow]) -> str:
    """Our games beside other programs: a line for each of their loops, how many times as fast ours are in each."""
    games = list(dict.fromkeys(row.game for row in rows))
    found = {(_loop(row), row.game): row for row in rows}
    lines = []
    for loop in dict.fromkeys(_loop(row) for row in rows):
        beside = [found[loop, game] for game in games]
        lines.append([loop, f"{beside[0].speed.theirs:,.0f}", *(str(row.speed.ratio) for row in beside)])
    parts = [_table(lines, ["ratio of decisions/s", "theirs", *games])]
    if any(row.counts for row in rows):
        parts += ["", _counts_table(found, games)]
    mine = ", ".join(f"{game} {median(row.speed.ours for row in rows if row.game == game):,.0f}" for game in games)
    return "\n".join([*parts, "", f"ours: {mine} decisions/s; {rows[0].ours}", *_versions(rows)])


def shares_table(found: Sequence[Shares]) -> str:
    """What matches are made of: a column for each game in each arena."""
    parts = dict.fromkeys(part for each in found for part in each.shares)
    lines = [[part, *(f"{each.shares[part]:.0%}" if part in each.shares else "-" for each in found)] for part in parts]
    lines.append([f"{found[0].unit} a decision", *(_figure(each.whole) for each in found)])
    arenas = list(dict.fromkeys(each.python for each in found))
    heads = [each.game + (f" [{arenas.index(each.python)}]" if each.python else "") for each in found]
    where = dict.fromkeys(
        f"[{arenas.index(each.python)}]: {each.versions} ({each.python})" for each in found if each.python
    )
    here = dict.fromkeys(f"here: {each.versions}" for each in found if not each.python)
    return "\n".join([_table(lines, ["share of a match", *heads]), "", *here, *where])


def _counts_table(found: dict[tuple[str, str], SpeedRow], games: Sequence[str]) -> str:
    lines = []
    for loop in dict.fromkeys(loop for loop, _ in found):
        pairs = [found[loop, game].counts or (0.0, 0.0) for game in games]
        lines.append([loop, f"{pairs[0][1]:,.0f}", *(f"{theirs / ours:.2f}" for ours, theirs in pairs)])
    return _table(lines, ["ratio of instructions/decision", "theirs", *games])


def _loop(row: SpeedRow) -> str:
    return f"{row.against}: {row.workload}"


def _versions(rows: Iterable[SpeedRow]) -> list[str]:
    return list(dict.fromkeys(f"{row.against}: {row.theirs}" for row in rows))


def _rates(row: SpeedRow) -> tuple[str, str]:
    return f"{row.speed.ours:,.0f}", f"{row.speed.theirs:,.0f}"


def _counts(row: SpeedRow) -> tuple[str, ...]:
    if row.counts is None:
        return ()
    ours, theirs = row.counts
    return f"{ours:,.0f}", f"{theirs:,.0f}", f"{theirs / ours:.2f}"


def _figure(value: float) -> str:
    return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"


def _table(lines: Sequence[Sequence[str]], headers: Sequence[str]) -> str:
    sides = ["left", *["right"] * (len(headers) - 1)]
    return tabulate(lines, headers=headers, disable_numparse=True, colalign=sides)
