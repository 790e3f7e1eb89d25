"""Tables made from leaderboards, the sentences that summarise them, and the files beside the records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import exp, isfinite, log

from harness.core.plan import Design
from harness.core.records import GameRecord
from harness.core.table import Column, Table, columns
from harness.output.columns import (
    COLUMNS,
    ENTRANT_COLUMNS,
    RANGE_LEGEND,
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
    sorted_by,
    without_interval_legend,
)
from harness.output.tables import short, text_of
from harness.plugins.entrants import BotInfo
from harness.ratings.leaderboard import Leaderboard, Overall, overall
from harness.ratings.skill import chance_ahead, sequential_skills
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
    "expected: by the skills of the two. luck: an upper bound for the chance that luck alone makes any pair "
    "of the table differ this much."
)


def pairwise_table(board: Leaderboard) -> Table:
    """Return how often each bot finishes ahead of each other; a tie is one half. A large field shows surprises only."""
    results = board.counts.pairs.finished_ahead()
    lines = [standing.totals for standing in board.standings]
    rows: list[Fields] = []
    cells: list[list[object]] = []
    for place, line in enumerate(lines, 1):
        shown: list[object] = [place, line.bot]
        for other in lines:
            ahead, met = results.get((line.number, other.number), (0.0, 0))
            if met:
                rows.append({"bot": line.bot, "against": other.bot, "met": met, "ahead": round(ahead / met, 4)})
            shown.append(round(100 * ahead / met) if met else None)
        cells.append(shown)
    if len(lines) <= MAX_BOTS:
        headers = ["#", "bot", *map(str, range(1, len(lines) + 1))]
        return Table(board.title, headers, cells, rows, legend=PAIRS_LEGEND)
    few = surprises_table(board)
    note = f"Of {len(lines):,} bots, the pairs that differ most from what is expected. CSV and JSON have all pairs."
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
    results = board.counts.pairs.finished_ahead()
    pairs = list(combinations(board.standings, 2))
    # Matches of one deal share their luck, and two bots meet once in each of its rotations: count deals, not matches.
    seats = sum(one.totals.matches for one in board.standings)
    rotations = max(1, round(seats / max(1, board.counts.matches)))
    for one, other in pairs:
        won, met = results.get((one.totals.number, other.totals.number), (0.0, 0))
        if not met:
            continue
        ahead, expected = won / met, chance_ahead(one.skill.value - other.skill.value)
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
    """Return the pairs whose results differ most from what their skills predict."""
    found = surprises(board)
    rows: list[Fields] = [
        {"bot": one.bot, "against": one.against, "met": one.met}
        | {name: round(getattr(one, name), 4) for name in ("ahead", "expected", "luck")}
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


MAX_NAMED = 3
"""Bots that a sentence names; the others are counted."""
SKILL_METHOD = (
    "Skill is the mu of TrueSkill's model, fitted to all matches of the run at once, so the order of matches does not "
    "matter. The trueskill package updates its beliefs match by match instead; its figures differ."
)
EXPLANATIONS: Mapping[Design, Sequence[str]] = {
    "fixed": (
        SKILL_METHOD,
        "The interval comes from the differences between deals: the matches of a deal share its luck, so the deal is "
        "the unit, not the match.",
        "A difference is significant if Holm's procedure over all pairs that met rejects that it is zero. Of 100 runs "
        "at most 5 have any false claim, even if a run is extended: 4 of these 5 are for the first time that it is "
        "complete, the rest for all extensions.",
    ),
    "seated": (
        "Results decide who meets whom, so the table is in the order of the format's own result.",
        SKILL_METHOD,
        "Its prior is fitted to the field, because a bot may have met only stronger ones. Claims are about tables that "
        "both bots shared, by an exact test of the signs of deals.",
    ),
    "anytime": (
        SKILL_METHOD,
        "Results decide which bots play next or when to stop. That biases intervals, so there are none; claims come "
        "from tests by betting, which hold whenever the run stops.",
    ),
}
"""How the figures are computed, by what results decide; printed by --explain."""


def summary(board: Leaderboard) -> list[str]:
    """Return sentences about the winner and the bots that failed. They claim no more than the table."""
    sentences = [_winner(board)] if len(board.standings) > 1 and board.names_winner else []
    failed = [(one.bot, one.totals.faults, one.totals.matches) for one in board.standings if one.totals.faults]
    return [*sentences, *faults_sentence(failed)]


def faults_sentence(failed: Sequence[tuple[str, int, int]]) -> list[str]:
    """Return a sentence with the number of faults of each bot, the most first; nothing without faults."""
    if not failed:
        return []
    worst = sorted(failed, key=lambda one: (-one[1], one[0]))
    named = [f"{_short(bot)} in {faults:,} of {matches:,} matches" for bot, faults, matches in worst[:MAX_NAMED]]
    more = len(worst) - MAX_NAMED
    if more > 0:
        named.append(f"{more:,} other bot{'' if more == 1 else 's'} too")
    return [f"FAULTS: {', '.join(named)}. A bot that fails in a match comes last in it."]


def _winner(board: Leaderboard) -> str:
    first, *others = board.standings
    name = _short(first.bot)
    if not board.claims_made:
        return f"{name} leads. The run is not finished, so nothing is claimed yet."
    if board.by_format:
        return f"{name} won. Places follow the result of the format, not skill."
    if not board.enough_deals:
        return "Too few deals to say which bot is better."
    beaten = {worse for better, worse in board.significant_pairs if better == first.bot}
    # A bot that failed in every match is not as good, whatever the others' results.
    rivals = [one.bot for one in others if one.bot not in beaten and not one.failed_always]
    if not rivals:
        every = "every other bot" if len(beaten) == len(others) else "every other bot that played without failing"
        return f"{name} won. It is significantly better than {every}."
    better = [one for one in rivals if (one, first.bot) in board.significant_pairs]
    if better:
        return f"{name} has the highest skill, but {_listed(better, 'and')} did significantly better against it."
    return f"{name} leads; {_listed(rivals, 'or' if len(rivals) <= MAX_NAMED else 'and')} may be as good."


def _overall_summary(overall: Overall) -> list[str]:
    """Return a sentence about the bots that play all games; nothing if these are fewer than three."""
    ranked = [line for line in overall.lines if line.place is not None]
    if len(ranked) < 3:
        return []
    first = ranked[0].bot
    beaten = {worse for better, worse in overall.significant_pairs if better == first}
    rivals = [line.bot for line in ranked[1:] if line.bot not in beaten]
    best = f"{_short(first)} did best of the {len(ranked):,} bots that play every game"
    return [f"{best}; {_listed(rivals, 'or')} may be as good." if rivals else f"{best}, by a significant difference."]


def _listed(bots: Sequence[str], last: str) -> str:
    named = [_short(bot) for bot in bots[: MAX_NAMED if len(bots) <= MAX_NAMED else MAX_NAMED - 1]]
    more = len(bots) - len(named)
    if more:
        return f"{', '.join(named)} and {more:,} others"
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} {last} {named[-1]}"


def _short(bot: str) -> str:
    return short(bot, 30)


# One table over several games.


OVERALL = "overall"
"""The title of the table."""
OVERALL_LEGEND = (
    "Chance, overall: the fitted chance to finish ahead of another bot of the field, the mean of all games. Under each "
    "game: the place there."
)


def overall_tables(boards: Sequence[Leaderboard], if_ranked: bool = False) -> list[Table]:
    """Return the table over several games, none if there is only one.

    It has a line for each bot: its place among those that play every game, and its place in each game. With `if_ranked`
    there is a table only if several bots have a place: else it would repeat the tables of the games.
    """
    if len(boards) < 2:
        return []
    found = overall(boards)
    if if_ranked and not any(line.place for line in found.lines):
        return []
    rows: list[Fields] = []
    cells: list[list[object]] = []
    for line in found.lines:
        rows.append(
            {
                "place": line.place,
                "best place": line.best,
                "worst place": line.worst,
                "bot": line.bot,
                **interval_fields("chance", line.chance, 4),
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
                percent(line.chance),
                *(line.places.get(game) for game in found.games),
                line.matches,
                line.faults,
            ]
        )
    head: list[Column | str] = [
        "place",
        Column("range", "number", legend=RANGE_LEGEND),
        Column("bot", "text"),
        Column("chance", "number"),
        *found.games,
        Column("matches", optional=2),
        Column("faults", alarm=True),
    ]
    if not found.significant_pairs:
        head, cells = head[:1] + head[2:], [line[:1] + line[2:] for line in cells]
    sentences = _overall_summary(found)
    return [Table(OVERALL, head, cells, rows, notes=found.notes, legend=OVERALL_LEGEND, summary=sentences)]


# Leaderboards.


FILES = {"md": "github", "json": "json", "csv": "csv"}
"""Ending -> table format."""


def leaderboard_table(
    board: Leaderboard,
    chosen: Sequence[LeaderboardColumn] = COLUMNS,
    score_text: ScoreText | None = None,
    entrants: Sequence[BotInfo] = (),
    sort: str = "",
) -> Table:
    """Return the leaderboard with these columns, in the order of the column `sort` if it is given.

    Scores are written by `score_text`; teams and authors are those of `entrants`.
    """
    head = [entrant_column(column.name, entrants) if column.name in ENTRANT_COLUMNS else column for column in chosen]
    standings = sorted_by(sort, board.standings) if sort else board.standings
    if chosen is COLUMNS:
        head += [entrant_column(name, entrants) for name in ENTRANT_COLUMNS if any(getattr(e, name) for e in entrants)]
    rows = rows_of(head, standings)
    if not board.has_ranges:  # a column that says 1-17 for every bot says nothing
        head = [column for column in head if column.name != "range"]
    if not any(isfinite(one.skill.high) for one in board.standings):
        head = [without_interval_legend(column) for column in head]
    return Table(
        board.title, head, cells_of(head, standings, score_text), rows, notes=board.notes, summary=summary(board)
    )


def write_leaderboard(run: RunFolder) -> list[Leaderboard]:
    """Rate all records and write the leaderboard beside them; return the leaderboard of each game."""
    boards = boards_of(run)
    write_derived(run.files, leaderboard_files(boards, run.info.entrants))
    return boards


def leaderboard_files(boards: Sequence[Leaderboard], entrants: Sequence[BotInfo] = ()) -> dict[str, bytes]:
    """Return the files that are written beside the records, by name.

    They have all columns and plain numbers: they depend on the records and on the teams and authors of entrants, not
    on a screen nor on the installed games, so that `arena verify` can compare them byte by byte.
    """
    tables = [leaderboard_table(board, entrants=entrants) for board in boards]
    over = overall_tables(boards, if_ranked=True)
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
    "seats": lambda boards: [seats_table(board) for board in boards],
}
"""Functions that make tables of leaderboards, by the values of --show."""


def leaderboard_tables(
    boards: Sequence[Leaderboard],
    columns: Sequence[str] = (),
    scores: Mapping[str, ScoreText] | None = None,
    over_all: bool = True,
    entrants: Sequence[BotInfo] = (),
    sort: str = "",
) -> list[Table]:
    """Return a table for each game with these columns (by default all), scores in words, and a table over all games.

    The last one has other columns: it is left out where columns are chosen, and in a CSV file.
    """
    words = scores or {}
    tables = [
        leaderboard_table(board, chosen_columns(columns), words.get(game_of(board)), entrants, sort) for board in boards
    ]
    return [*tables, *overall_tables(boards, if_ranked=True)] if over_all and not columns else tables


def tables_of_run(run: RunFolder) -> list[Table]:
    """Return all tables of a run as it is now."""
    return leaderboard_tables(boards_of(run), entrants=run.info.entrants)


def sequential_tables(records: Iterable[GameRecord]) -> list[Table]:
    """Return what the trueskill package gives for these records, match by match, in a table for each game."""
    by_game: dict[str, list[GameRecord]] = {}
    for record in records:
        by_game.setdefault(record.game, []).append(record)
    head = [*columns("number", "place"), *columns("text", "bot"), *columns("number", "mu", "sigma", "mu - 3 sigma")]
    legend = "By the trueskill package with its default settings, match by match in schedule order."
    tables = []
    for game, played in sorted(by_game.items()):
        cells, rows = [], []
        for place, (bot, (mu, sigma)) in enumerate(sequential_skills(played).items(), 1):
            cells.append([place, bot, f"{mu:.2f}", f"{sigma:.2f}", f"{mu - 3 * sigma:.2f}"])
            figures = {"mu": round(mu, 4), "sigma": round(sigma, 4), "mu - 3 sigma": round(mu - 3 * sigma, 4)}
            rows.append({"place": place, "bot": bot, **figures})
        tables.append(Table(game, head, cells, rows, legend=legend))
    return tables


def game_of(board: Leaderboard) -> str:
    """Return the game of a leaderboard: the first part of its title."""
    return board.title.partition(", ")[0]
