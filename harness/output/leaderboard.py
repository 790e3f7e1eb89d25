"""Tables made from leaderboards, the sentences that summarise them, and the files beside the records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import exp, isfinite, log
from statistics import NormalDist

from harness.core.table import Column, Table, columns
from harness.output.columns import (
    COLUMNS,
    ENTRANT_COLUMNS,
    Fields,
    LeaderboardColumn,
    ScoreText,
    cells_of,
    chosen_columns,
    entrant_column,
    interval_fields,
    number,
    percent,
    places,
    rows_of,
    score_column,
)
from harness.output.tables import short, text_of
from harness.plugins.entrants import BotInfo
from harness.ratings.statistics import LEVEL, Interval
from harness.ratings.leaderboard import Leaderboard
from harness.ratings.overall import Overall, overall
from harness.runs.standings import boards_of
from harness.runs.store import RunFolder, write_derived

# Tables about pairs of bots, and about seats.


MAX_BOTS = 40
"""A larger table of all pairs would be unreadable."""
MAX_SURPRISES = 15
PAIRS_LEGEND = (
    "How often, in percent, the bot of the line finishes ahead of the bot whose number stands at the top; a tie is one "
    "half."
)
SURPRISES_LEGEND = (
    "expected: by the Plackett-Luce strengths of the two. luck: at most so likely is it that luck alone makes any pair "
    "of the table differ so much."
)


def pairwise_table(board: Leaderboard) -> Table:
    """Return how often each bot finishes ahead of each other; a tie is one half. A large field shows surprises only."""
    evidence = board.counts.pairs
    lines = [standing.line for standing in board.standings]
    rows: list[Fields] = []
    cells: list[list[object]] = []
    for place, line in enumerate(lines, 1):
        shown: list[object] = [place, line.bot]
        for other in lines:
            ahead, met = evidence.finished_ahead(line.number, other.number)
            if met:
                rows.append({"bot": line.bot, "against": other.bot, "met": met, "ahead": round(ahead / met, 4)})
            shown.append(round(100 * ahead / met) if met else None)
        cells.append(shown)
    if len(lines) <= MAX_BOTS:
        headers = ["#", "bot", *map(str, range(1, len(lines) + 1))]
        return Table(board.title, headers, cells, rows, legend=PAIRS_LEGEND)
    few = surprises_table(board)
    note = f"Of {len(lines):,} bots, the pairs that differ most from what is expected. All pairs: --show pairs -f csv."
    return replace(few, data=rows, notes=[*few.notes, note])


@dataclass(frozen=True, slots=True)
class Surprise:
    """The results of two bots against each other; the one that does better than expected is first."""

    bot: str
    against: str
    met: int
    ahead: float
    expected: float
    exponent: float
    """How unlikely that is by luck: Hoeffding's exponent for all deals together."""
    luck: float
    """Upper bound for the probability that luck alone makes any pair of the table differ by as much."""


def surprises(board: Leaderboard) -> list[Surprise]:
    """Return all pairs that met, the most surprising first."""
    return sorted(_surprises(board), key=lambda one: (-round(one.exponent, 9), one.bot, one.against))


def _surprises(board: Leaderboard) -> Iterator[Surprise]:
    evidence = board.counts.pairs
    pairs = list(combinations(board.standings, 2))
    # Matches of one deal share their luck, and two bots meet once in each of its rotations: count deals, not matches.
    seats = sum(one.totals.matches for one in board.standings)
    rotations = max(1, round(seats / max(1, board.counts.matches)))
    for one, other in pairs:
        won, met = evidence.finished_ahead(one.totals.number, other.totals.number)
        if not met:
            continue
        ahead, expected = won / met, 1 / (1 + 10 ** ((other.strength - one.strength) / 400))
        exponent = max(1.0, met / rotations) * divergence(ahead, expected)
        luck = min(1.0, 2 * len(pairs) * exp(-exponent))
        if ahead >= expected:
            yield Surprise(one.bot, other.bot, met, ahead, expected, exponent, luck)
        else:
            yield Surprise(other.bot, one.bot, met, 1 - ahead, 1 - expected, exponent, luck)


def divergence(seen: float, expected: float) -> float:
    """Return Hoeffding's exponent for a mean of `seen` where `expected` is true, for values from 0 to 1."""
    parts = ((seen, expected), (1 - seen, 1 - expected))
    return sum(part * log(part / max(whole, 1e-12)) for part, whole in parts if part > 0)


def surprises_table(board: Leaderboard) -> Table:
    """Return the pairs whose results differ most from what their strengths predict."""
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
        [one.bot, one.against, one.met, f"{one.ahead:.0%}", f"{one.expected:.0%}", _chance(one.luck)]
        for one in found[:MAX_SURPRISES]
    ]
    head = [*columns("text", "bot", "ahead of"), *columns("number", "met", "in", "expected", "luck")]
    return Table(board.title, head, cells, rows, notes=_surprises_notes(found), legend=SURPRISES_LEGEND)


def _surprises_notes(found: list[Surprise]) -> list[str]:
    if not found:
        return []
    sure = sum(one.luck < 0.05 for one in found)
    if not sure:
        return ["No pair differs more from what is expected than luck explains."]
    return [f"{sure:,} of {len(found):,} pairs differ{'s' if sure == 1 else ''} more than luck explains (below 5%)."]


def _chance(chance: float) -> str:
    return "<0.1%" if chance < 0.001 else f"{chance:.1%}" if chance < 0.1 else f"{chance:.0%}"


def alpha_rank_table(board: Leaderboard) -> Table:
    """Return the alpha-rank: how often each bot would be played if bots that finish ahead took over.

    It is for fields without an order. It has no lines if some bots never met.
    """
    shares = board.alpha_rank()
    notes = [] if shares is not None else ["Not everybody has met everybody: there is no table of all pairs to go by."]
    found = shares or []
    return Table(
        board.title,
        ["bot", Column("share", "number")],
        [[bot, f"{share:.1%}"] for bot, share in found],
        [{"bot": bot, "share": round(share, 4)} for bot, share in found],
        notes=notes,
        legend="share: how much of the time a bot would be the one that is played, if those that finish ahead of it "
        "took over. A description of the pairs as they were played, luck included, and no claim.",
    )


def seats_table(board: Leaderboard) -> Table:
    """Return the seat advantage of the game."""
    rows: list[Fields] = []
    cells = []
    for (players, seat), sums in board.counts.deals.seat_sums().items():
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
        cells.append([players, seat, int(matches), f"{wins / matches:.1%}", percent(ahead), number(score)])
    legend = "Without a seat advantage a seat finishes ahead of 50% of the table. In brackets: 95% intervals."
    head = columns("number", "players", "seat", "matches", "wins", "ahead", "mean score")
    return Table(board.title, head, cells, rows, legend=legend)


# Sentences that summarise a table.


POWER = 0.8
"""Probability that the number of deals in the advice is enough."""
MAX_TIMES = 20
"""Advice to play more than this many times the deals would be useless."""
WRONG = f"such claims are wrong in at most {round(100 * (1 - LEVEL))} of 100 runs"
MAX_NAMED = 3
"""Bots that a sentence names; the others are counted."""


def summary(board: Leaderboard) -> list[str]:
    """Return sentences about the winner, its margin, how certain that is, and the bots that failed.

    They claim no more than the table.
    """
    sentences = [_winner(board)] if len(board.standings) > 1 else []
    failed = [(one.bot, one.totals.faults, one.totals.matches) for one in board.standings if one.totals.faults]
    return [*sentences, *faults_sentence(failed)]


def overall_summary(overall: Overall) -> list[str]:
    """Return sentences about the bots that play all games."""
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
    """Return a sentence with the number of faults of each bot, the most first; nothing without faults."""
    if not failed:
        return []
    worst = sorted(failed, key=lambda one: (-one[1], one[0]))
    told = [f"{_short(bot)} in {faults:,} of {matches:,} matches" for bot, faults, matches in worst[:MAX_NAMED]]
    more = len(worst) - MAX_NAMED
    if more > 0:
        told.append(f"{more:,} other bot{'' if more == 1 else 's'} too")
    return [f"FAULTS: {', '.join(told)}. Who fails in a match comes last in it."]


def _winner(board: Leaderboard) -> str:
    first, second = board.standings[:2]
    rivals = [one.bot for one in board.standings[1:] if one.best == 1]
    name = _short(first.bot)
    much = f"finishes ahead of {share(first.ahead)} of its opponents"
    if board.seated or board.anytime:  # bots meet unequally often, so the share is an estimate
        much = f"would finish ahead of {share(first.ahead)} of the field, corrected for whom it met"
    if first.best > 1:
        none = "" if rivals else " No bot can be the best: each one finishes behind some other."
        return f"{name} comes first in this table: it {much}. But another bot is better where they met.{none}"
    if not rivals:
        beaten = all((first.bot, one.bot) in board.significant_pairs for one in board.standings[1:])
        certain = "is told apart from every other bot" if beaten else "is the only one that can be the best"
        gap = _gap(first.ahead, second.ahead, second.bot)
        return f"{name} won: it {much}{gap}, and it {certain}; {WRONG}."
    told = f"{name} came first, but {_listed(rivals)} may be as good or better. It {much}"
    if second.bot in rivals:
        told += f", {_short(second.bot)} of {share(second.ahead)}"
        if first.sure is not None:
            told += f". That {name} is better than {_short(second.bot)} is {sureness(first.sure)} sure"
    return f"{told}. {_more_deals(board)}".rstrip()


def _more_deals(board: Leaderboard) -> str:
    """Return advice on how many deals would separate the first two bots, if the results allow an estimate."""
    found = board.fit
    first, second = board.standings[:2]
    met = board.counts.pairs.have_met(first.totals.number, second.totals.number)
    if board.anytime or not met:
        return ""  # more deals of this run would not settle it
    seen = found.difference(first.totals.number, second.totals.number) if found else None
    pairs = len(board.standings) * (len(board.standings) - 1) / 2
    if board.seated or seen is None or not seen.error or seen.value < seen.error:
        return "More deals will tell."
    needed = NormalDist().inv_cdf(1 - (1 - LEVEL) / 2 / pairs) + NormalDist().inv_cdf(POWER)
    times = (needed * seen.error / seen.value) ** 2
    if times > MAX_TIMES or second.best > 1:
        return "More deals will tell."
    many = f"{times:.0f} times as many" if times >= 2 else "twice as many"
    return f"If the first two differ as much as it looks, about {many} deals will tell them apart."


def share(interval: Interval | None) -> str:
    """Return a share with its interval: `"71% (64% to 78%)"`, `"100% (at least 94%)"`."""
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
    """Return a probability, but never 100%: nothing that was measured is certain."""
    return "more than 99.9%" if chance > 0.999 else f"{chance:.1%}" if chance > 0.99 else f"{chance:.0%}"


def _gap(first: Interval | None, second: Interval | None, name: str) -> str:
    if first is None or second is None:
        return ""
    points = 100 * (first.value - second.value)
    if points < 0.5:
        return f", hardly more than {_short(name)}"
    return f", {points:.0f} point{'' if round(points) == 1 else 's'} more than {_short(name)}"


def _listed(bots: Sequence[str]) -> str:
    named = [_short(bot) for bot in bots[: MAX_NAMED if len(bots) <= MAX_NAMED else MAX_NAMED - 1]]
    more = len(bots) - len(named)
    if more:
        return f"{', '.join(named)} and {more:,} others"
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} or {named[-1]}"


def _short(bot: str) -> str:
    return short(bot, 30)


# One table over several games.


OVERALL = "overall"
"""The title of the table."""
VOTE_LEGEND = "vote: the place if each game has one vote on who is above whom (Schulze's method)."
OVERALL_LEGEND = "ahead, overall: the mean of the games, each with the same weight. Under each game: the place there."


def overall_tables(boards: Sequence[Leaderboard]) -> list[Table]:
    """Return the table over several games; none if there is only one."""
    found = overall(boards)
    return [] if found is None else [overall_table(found)]


def overall_if_several(boards: Sequence[Leaderboard]) -> list[Table]:
    """Return the table over several games if at least two bots play them all; else it would repeat the others."""
    found = overall(boards)
    ranked = [] if found is None else [line for line in found.lines if line.place is not None]
    return overall_tables(boards) if len(ranked) > 1 else []


def overall_table(found: Overall) -> Table:
    """Return a line for each bot: its place among those that play every game, and its place in each game."""
    rows: list[Fields] = []
    cells: list[list[object]] = []
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
                line.place,
                places(line.best, line.worst),
                line.bot,
                percent(line.ahead),
                votes.get(line.bot),
                *(line.places.get(game) for game in found.games),
                line.matches,
                line.faults,
            ]
        )
    head: list[Column | str] = [
        "place",
        Column("may be", "number", legend="may be: the places that are not ruled out."),
        Column("bot", "text"),
        Column("ahead", "number"),
        Column("vote", legend=VOTE_LEGEND, optional=1),
        *found.games,
        Column("matches", optional=2),
        Column("faults", alarm=True),
    ]
    return Table(
        OVERALL, head, cells, rows, notes=found.notes, legend=OVERALL_LEGEND, summary=overall_summary(found)
    )  # fmt: skip


# Leaderboards.


FILES = {"md": "github", "json": "json", "csv": "csv"}
"""Ending -> table format."""


def leaderboard_table(
    board: Leaderboard,
    chosen: Sequence[LeaderboardColumn] = COLUMNS,
    score_text: ScoreText | None = None,
    entrants: Sequence[BotInfo] = (),
) -> Table:
    """Return the leaderboard with these columns.

    Scores are written by `score_text`; teams and authors are those of `entrants`.
    """
    head = [entrant_column(column.name, entrants) if column.name in ENTRANT_COLUMNS else column for column in chosen]
    if chosen is COLUMNS:
        head += [entrant_column(name, entrants) for name in ENTRANT_COLUMNS if any(getattr(e, name) for e in entrants)]
    shown = [score_column(column, score_text) for column in head] if score_text else head
    return Table(
        board.title,
        head,
        cells_of(shown, board.standings),
        rows_of(head, board.standings),
        notes=board.notes,
        summary=summary(board),
    )


def write_leaderboard(run: RunFolder) -> list[Leaderboard]:
    """Rate all records and write the leaderboard beside them; return the leaderboard of each game."""
    boards = boards_of(run)
    write_derived(run.folder, leaderboard_files(boards, run.info.entrants))
    return boards


def leaderboard_files(boards: Sequence[Leaderboard], entrants: Sequence[BotInfo] = ()) -> dict[str, bytes]:
    """Return the files that are written beside the records, by name.

    They have all columns and plain numbers: they depend on the records and on the teams and authors of entrants, not
    on a screen nor on the installed games, so that `arena verify` can compare them byte by byte.
    """
    tables = [leaderboard_table(board, entrants=entrants) for board in boards]
    over = overall_if_several(boards)
    return {
        f"leaderboard.{ending}": text_of(tables if ending == "csv" else [*tables, *over], table_format).encode() + b"\n"
        for ending, table_format in FILES.items()
    }


# Tables by the names that users type.


KINDS: dict[str, Callable[[Sequence[Leaderboard]], list[Table]]] = {
    "leaderboard": lambda boards: [leaderboard_table(board) for board in boards],
    "games": overall_tables,
    "pairs": lambda boards: [pairwise_table(board) for board in boards],
    "surprises": lambda boards: [surprises_table(board) for board in boards],
    "alpha-rank": lambda boards: [alpha_rank_table(board) for board in boards],
    "seats": lambda boards: [seats_table(board) for board in boards],
}
"""Functions that make tables of leaderboards, by the values of --show."""


def leaderboard_tables(
    boards: Sequence[Leaderboard],
    columns: Sequence[str] = (),
    scores: Mapping[str, ScoreText] | None = None,
    over_all: bool = True,
    entrants: Sequence[BotInfo] = (),
) -> list[Table]:
    """Return a table for each game with these columns (by default all), scores in words, and a table over all games.

    The last one has other columns: it is left out where columns are chosen, and in a CSV file.
    """
    words = scores or {}
    tables = [
        leaderboard_table(board, chosen_columns(columns), words.get(game_of(board)), entrants) for board in boards
    ]
    return [*tables, *overall_if_several(boards)] if over_all and not columns else tables


def game_of(board: Leaderboard) -> str:
    """Return the game of a leaderboard: the first part of its title."""
    return board.title.partition(", ")[0]
