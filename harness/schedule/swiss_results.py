"""What a swiss shows: the standing with all that decided it, and who met whom in which round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from harness.core.format import Outcome
from harness.core.format_results import ResultTable, ShownValue
from harness.schedule.rounds import Tally, amount

MOST_DECIMALS = 4
STANDING = (
    "In the standing the share of points won decides, then the mean share of the opponents met, then the lot; "
    "after rounds: its place after each round."
)
MEETINGS = "3,7 60%: met the bots of places 3 and 7, and won 60% of the points of that round."


def outcome(
    standings: Sequence[Sequence[str]],
    played: Sequence[Mapping[str, Tally]],
    decided_by: Mapping[str, tuple[float, float, int]],
    totals: Mapping[str, Tally],
    still_open: str = "",
) -> Outcome:
    """The outcome after the rounds `played`: `standings` has the order after each of them, `decided_by` what made the
    last one: share of points, opponents' share, lot."""
    if not played:
        return Outcome(open=still_open)
    final = standings[-1]
    places = [{bot: place for place, bot in enumerate(order, 1)} for order in standings]
    tables = (_standing(final, places, played, decided_by, totals), _meetings(final, places, played))
    won = f"{totals[final[0]].rate:.1%} of the points"
    note = "" if still_open else f"{final[0]} stands first after {_rounds(played)}, with {won}."
    return Outcome(tuple(final), note, tables, open=still_open)


def _standing(
    final: Sequence[str],
    places: Sequence[Mapping[str, int]],
    played: Sequence[Mapping[str, Tally]],
    decided_by: Mapping[str, tuple[float, float, int]],
    totals: Mapping[str, Tally],
) -> ResultTable:
    shares, others = ([decided_by[bot][which] for bot in final] for which in (0, 1))
    share_text, other_text = _percents(shares), _percents(others)
    byes = [sum(bot not in one for one in played) for bot in final]
    rows: list[Sequence[ShownValue]] = []
    data: list[Mapping[str, object]] = []
    for place, bot in enumerate(final, 1):
        total, (share, met, lot) = totals[bot], decided_by[bot]
        after = [one[bot] for one in places]
        rows.append(
            (place, bot, f"{amount(total.points)}/{total.most}", share_text[place - 1], other_text[place - 1], lot,
             *([byes[place - 1]] if any(byes) else []), " ".join(map(str, after)))
        )  # fmt: skip
        data.append(
            {"place": place, "bot": bot, "points": total.points, "most": total.most, "share": round(share, 6),
             "opponents share": round(met, 6), "lot": lot, "byes": byes[place - 1], "places": after}
        )  # fmt: skip
    byes_header = ["byes"] if any(byes) else []
    headers = ["place", "bot", "points", "share", "opponents", "lot", *byes_header, "after rounds"]
    return ResultTable(
        f"standing after {_rounds(played)}",
        headers,
        rows,
        data,
        ("points", "share", "opponents", "after rounds"),
        keys=2,
        legend=STANDING,
    )


def _meetings(
    final: Sequence[str], places: Sequence[Mapping[str, int]], played: Sequence[Mapping[str, Tally]]
) -> ResultTable:
    at = places[-1]
    data: list[Mapping[str, object]] = []
    rows: list[Sequence[ShownValue]] = []
    for bot in final:
        cells = []
        for number, (one, after) in enumerate(zip(played, places, strict=True), 1):
            mine = one.get(bot)
            met = sorted(mine.opponents, key=lambda other: at[other]) if mine else []
            cells.append(f"{','.join(str(at[other]) for other in met)} {mine.rate:.0%}" if mine else "bye")
            data.append(
                {"bot": bot, "round": number, "opponents": met, "points": mine.points if mine else None,
                 "most": mine.most if mine else 0, "place": after[bot]}
            )  # fmt: skip
        rows.append((at[bot], bot, *cells))
    headers = ["#", "bot", *(f"R{number}" for number in range(1, len(played) + 1))]
    return ResultTable("round by round", headers, rows, data, headers[2:], keys=2, legend=MEETINGS)


def _rounds(played: Sequence[object]) -> str:
    return f"{len(played)} round{'s' * (len(played) > 1)}"


def _percents(values: Sequence[float]) -> list[str]:
    """Shares with as many decimals as it takes to see which of two neighbours is larger, within reason."""
    for decimals in range(1, MOST_DECIMALS):
        texts = [f"{value:.{decimals}%}" for value in values]
        if all(one != two or a == b for (one, two), (a, b) in zip(pairwise(texts), pairwise(values), strict=True)):
            return texts
    return [f"{value:.{MOST_DECIMALS}%}" for value in values]
