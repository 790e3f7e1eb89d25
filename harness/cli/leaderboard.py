"""The `arena leaderboard` command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import click

from harness.cli.options import (
    ENTRANT,
    GAME,
    RUN,
    check_table_options,
    layout,
    load_plugins,
    note_warnings,
    open_together,
    results_option,
    score_texts,
    table_options,
    without_option,
)
from harness.core.errors import UnknownName
from harness.core.records import GameRecord
from harness.output.columns import column_named
from harness.output.leaderboard import EXPLANATIONS, KINDS, leaderboard_tables, sequential_tables
from harness.output.matches import bot_summary
from harness.output.outcome import DATA, results_of
from harness.output.progress import shown_work
from harness.output.tables import screen_width, text_of, wrapped_text
from harness.plugins.features import LUCK_ADJUSTED_LEADERBOARDS, load_object
from harness.ratings.counts import by_game, by_option, by_players
from harness.ratings.leaderboard import Leaderboard
from harness.runs.reader import ordered_results
from harness.runs.setup import formats_of
from harness.runs.standings import boards_of
from harness.runs.store import RunFolder


class BoardQuery(NamedTuple):
    """What to print of a run: the options of the command, by their names."""

    game: str | None
    by: str
    show: str
    left_out: tuple[str, ...]
    luck_adjusted: bool
    values: tuple[Path, ...]
    sort: str
    sequential: bool
    explain: bool
    bot: str | None
    table_format: str
    wide: bool
    columns: tuple[str, ...]


@click.command("leaderboard")
@click.argument("runs", type=RUN, nargs=-1, required=True)
@click.option("--game", type=GAME, help="Only this game's table.")
@click.option(
    "--by",
    type=click.Choice(["game", "players", "option"]),
    default="game",
    show_default=True,
    help="A table for each of these.",
)
@click.option(
    "--show",
    type=click.Choice(["leaderboard", "format", "games", "pairs", "surprises", "seats"]),
    default="leaderboard",
    show_default=True,
    help="Which table to print: the ranking, the result of the format, the places in all games, the results of each "
    "pair, surprising pairs, or the advantage of each seat.",
)
@without_option
@click.option(
    "--luck-adjusted",
    is_flag=True,
    help="Subtract the estimated luck: narrower intervals from the same matches, for about 0.1 s a match.",
)
@click.option(
    "--values",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    multiple=True,
    help="A value function made by arena learn-values, instead of that of its game. With --luck-adjusted.",
)
@click.option(
    "--sort", default="", metavar="COLUMN", help="Sort by this column instead of skill: wins, mean-score, time ..."
)
@click.option(
    "--sequential", is_flag=True, help="Print what the trueskill package gives, match by match in schedule order."
)
@click.option("--explain", is_flag=True, help="Say how skill, intervals and claims are computed.")
@click.option("--bot", type=ENTRANT, help="Everything about this bot, as JSON.")
@table_options
@results_option
def command(runs: tuple[str, ...], results: Path, **options: Any) -> None:
    """Print the leaderboard of a run, computed from its records, or of several RUNS rated together.

    Several runs must have the same rules and bots, or be parts of one run in several folders. A match that is in two of
    them counts once.

    \b
    arena leaderboard my-run
    arena leaderboard results/my-run --table-format github
    arena leaderboard my-run -f csv > table.csv
    arena leaderboard my-run --by players
    arena leaderboard my-run --show pairs
    arena leaderboard my-run --show format
    arena leaderboard my-run --columns place,bot,wins,mean-score
    arena leaderboard my-run --sort mean-score
    arena leaderboard my-run --luck-adjusted
    arena leaderboard my-run --sequential
    arena leaderboard my-run --bot skittish | jq .opponents
    arena leaderboard monday tuesday wednesday
    arena leaderboard here/night there/night --show pairs
    """
    asked = BoardQuery(**options)
    _check(asked)
    run = open_together(results, runs, besides=asked.left_out)
    _check_names(run, asked)
    with shown_work():
        text = _text(run, asked)
    click.echo(text)
    note_warnings(run.warnings)


def _check(asked: BoardQuery) -> None:
    """Raise UsageError for options that cannot be combined."""
    show, bot = asked.show, asked.bot
    check_table_options(asked.table_format, asked.columns)
    if (asked.columns or asked.sort) and show != "leaderboard":
        raise click.UsageError("--columns and --sort are for the leaderboard; leave out --show.")
    if asked.sort:
        column_named(asked.sort)
    plain = show == "leaderboard" and bot is None and not asked.luck_adjusted and asked.by == "game"
    if asked.sequential and not (plain and not asked.columns and not asked.sort):
        raise click.UsageError("--sequential prints its own table: use it with RUN, --game and --without only.")
    if asked.luck_adjusted and (bot is not None or show != "leaderboard"):
        raise click.UsageError("--luck-adjusted is for the leaderboard alone; leave out --bot and --show.")
    if asked.values and not asked.luck_adjusted:
        raise click.UsageError("--values is only for --luck-adjusted; give both.")
    if show == "format" and (asked.left_out or bot is not None or asked.by != "game"):
        raise click.UsageError("A format's own result covers the whole run: leave out --without, --by and --bot.")


def _check_names(run: RunFolder, asked: BoardQuery) -> None:
    known = {plan.name for plan in run.info.plan.games}
    if asked.game is not None and asked.game not in known:
        raise UnknownName("game of this run", asked.game, known)
    entered = {entrant.name for entrant in run.info.entrants}
    for name in asked.left_out:
        if name not in entered:
            raise UnknownName("bot of this run", name, entered)


def _text(run: RunFolder, asked: BoardQuery) -> str:
    """Return the requested tables in the requested format."""
    game, left_out, table_format = asked.game, asked.left_out, asked.table_format
    if asked.show == "format":
        return _format_result(run, game, table_format)

    def chosen(record: GameRecord) -> bool:
        return game in (None, record.game) and not any(name in record.seats for name in left_out)

    if asked.bot is not None:
        records = filter(chosen, ordered_results(run))
        return json.dumps(bot_summary(records, asked.bot, run.info.plan), indent=2)
    if asked.sequential:
        return text_of(sequential_tables(filter(chosen, ordered_results(run))), table_format, layout(asked.wide))
    boards = _boards(run, chosen, asked)
    if asked.show == "leaderboard":
        over_all = asked.by == "game" and table_format != "csv"
        scores = score_texts(run) if table_format == "simple" else {}
        tables = leaderboard_tables(boards, asked.columns, scores, over_all, run.info.entrants, asked.sort)
    else:
        tables = KINDS[asked.show](boards)
    if asked.show == "games" and boards and not tables:
        raise click.UsageError("There is one game only: its leaderboard has the places; leave out --show.")
    text = text_of(tables, table_format, layout(asked.wide, asked.columns))
    plain = asked.show == "leaderboard" and asked.by == "game" and not left_out and not asked.columns
    if plain and run.info.plan.pairs_candidates and not run.several and table_format not in DATA:
        text = f"{_format_result(run, game, table_format)}\n\n{text}"
    if asked.explain and table_format == "simple":
        text += "\n\n" + "\n\n".join(wrapped_text(each, screen_width()) for each in EXPLANATIONS[run.info.plan.design])
    return text


def _boards(run: RunFolder, chosen: Callable[[GameRecord], bool], asked: BoardQuery) -> list[Leaderboard]:
    by = {"game": by_game, "players": by_players, "option": by_option}[asked.by]
    if not asked.luck_adjusted:
        # Without a filter the leaderboard may come from the cache. One game alone still has all of its records
        # (`whole`).
        some = chosen if asked.game or asked.left_out else None
        return boards_of(run, None, by, chosen=some, whole=not asked.left_out)
    records = list(filter(chosen, run.records()))
    adjusted: list[Leaderboard] = load_object(LUCK_ADJUSTED_LEADERBOARDS)(
        run, load_plugins(), records, by, asked.values, whole=not asked.left_out
    )
    return adjusted


def _format_result(run: RunFolder, game: str | None, table_format: str) -> str:
    return results_of(run, formats_of(run, load_plugins())).only(game).text(table_format)
