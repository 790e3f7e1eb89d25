"""arena leaderboard."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.parameter_types import ENTRANT, GAME, RUN
from harness.cli.shared import (
    check_table_options,
    layout,
    load_plugins,
    note,
    open_folder,
    results_option,
    score_texts,
    table_options,
)
from harness.core.errors import UnknownName

if TYPE_CHECKING:
    from harness.runs.store import RunFolder


@click.command("leaderboard", short_help="Print the leaderboard of a run.")
@click.argument("run", type=RUN)
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
    help="Who is better, the format's own result, the places in all games, who finishes ahead of whom, where that is a "
    "surprise, or what a seat is worth.",
)
@click.option(
    "--without", "left_out", type=ENTRANT, multiple=True, metavar="BOT", help="Leave out all matches of this bot."
)
@click.option("--bot", type=ENTRANT, help="Everything about this bot, as JSON.")
@table_options
@results_option
def command(
    run: str,
    game: str | None,
    by: str,
    show: str,
    left_out: tuple[str, ...],
    bot: str | None,
    table_format: str,
    wide: bool,
    columns: tuple[str, ...],
    results: Path,
) -> None:
    """Print the leaderboard of a RUN, rebuilt from its records.

    \b
    arena leaderboard my-run
    arena leaderboard results/my-run --table-format github
    arena leaderboard my-run -f csv > table.csv
    arena leaderboard my-run --by players
    arena leaderboard my-run --show pairs
    arena leaderboard my-run --show format
    arena leaderboard my-run --columns place,bot,wins,mean-score
    arena leaderboard my-run --bot skittish | jq .opponents
    """
    from harness.output import KINDS, leaderboard_tables, text_of
    from harness.output.bot_summary import bot_summary
    from harness.ratings import by_game, by_option, by_players
    from harness.runs.boards import boards_of

    check_table_options(table_format, columns)
    if columns and show != "leaderboard":
        raise click.UsageError("--columns chooses among those of the leaderboard; leave out --show.")
    opened = open_folder(results, run)
    known = {plan.name for plan in opened.info.plan.games}
    if game is not None and game not in known:
        raise UnknownName("game of this run", game, known)
    entered = {entrant.name for entrant in opened.info.entrants}
    for name in left_out:
        if name not in entered:
            raise UnknownName("bot of this run", name, entered)
    if show == "format":
        if left_out or bot is not None or by != "game":
            raise click.UsageError("A format's own result is of the whole run: leave out --without, --by and --bot.")
        click.echo(_format_result(opened, game, table_format))
        return
    records = (
        record
        for record in opened.records()
        if game in (None, record.game) and not any(name in record.seats for name in left_out)
    )
    if bot is not None:
        click.echo(json.dumps(bot_summary(records, bot, opened.info.plan), indent=2))
    else:
        told_apart = {"game": by_game, "players": by_players, "option": by_option}[by]
        boards = boards_of(opened, records if game or left_out else None, told_apart)
        if show == "leaderboard":
            over_all = by == "game" and table_format != "csv"
            scores = score_texts(opened) if table_format == "simple" else {}
            tables = leaderboard_tables(boards, columns, scores, over_all)
        else:
            tables = KINDS[show](boards)
        if show == "games" and boards and not tables:
            raise click.UsageError("There is one game only: its leaderboard has the places; leave out --show.")
        click.echo(text_of(tables, table_format, layout(wide, columns)))
    for warning in opened.warnings:
        note(f"Warning: {warning}")


def _format_result(run: RunFolder, game: str | None, table_format: str) -> str:
    from harness.output.outcome_files import results_of

    found = results_of(run, load_plugins().formats)
    for warning in run.warnings:
        note(f"Warning: {warning}")
    return found.only(game).text(table_format)
