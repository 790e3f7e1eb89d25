"""What a ladder shows: for each bot whom it is told apart from, and against whom that is still open."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from harness.core.format_results import ResultTable, ShownValue
from harness.ratings.anytime import Claim

MOST_NAMED = 4
"""Bots that a line names; the others are counted. Programs get all of them."""
LEGEND = "The order is the ladder's own guess. All claims together hold whoever met whom and whenever it was stopped."


def knowledge_table(
    order: Sequence[str], told: Collection[Claim], about: Collection[str], contenders: Collection[str] | None
) -> ResultTable:
    """A line for each bot, the probably strongest first; of the bots that the run is `about`, if it is about some.

    `contenders` are those who may still be the best, if that is what the ladder is to find out.
    """
    rows: list[Sequence[ShownValue]] = []
    data = []
    for place, name in enumerate(order, 1):
        if about and name not in about:
            continue
        behind = [worse for better, worse in told if better == name]
        before = [better for better, worse in told if worse == name]
        still = [other for other in order if other not in (name, *behind, *before)]
        may_be_best = [] if contenders is None else ["yes" if name in contenders else "no"]
        rows.append((place, name, *may_be_best, len(behind), len(before), _named(still)))
        fact = {} if contenders is None else {"may be best": name in contenders}
        data.append(
            {"guess": place, "bot": name, **fact, "better than": sorted(behind), "worse than": sorted(before),
             "open against": still}
        )  # fmt: skip
    best = () if contenders is None else ("may be best",)
    headers = ("guess", "bot", *best, "better than", "worse than", "open against")
    return ResultTable("what is known, and what is open", headers, rows, data, keys=2, legend=LEGEND)


def _named(names: Sequence[str]) -> str:
    if len(names) <= MOST_NAMED:
        return ", ".join(names) or "nobody"
    return f"{', '.join(names[: MOST_NAMED - 1])} and {len(names) - MOST_NAMED + 1} more"
