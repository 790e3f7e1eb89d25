"""arena leaderboard."""

from __future__ import annotations

import json
from pathlib import Path

import click

from harness.cli.parameter_types import ENTRANT, GAME, RUN
from harness.cli.shared import note, open_folder, results_option
from harness.core.errors import UnknownName


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
    type=click.Choice(["leaderboard", "pairs", "seats"]),
    default="leaderboard",
    show_default=True,
    help="Who is better, who finishes ahead of whom, or what a seat is worth.",
)
@click.option(
    "--without", "left_out", type=ENTRANT, multiple=True, metavar="BOT", help="Leave out all matches of this bot."
)
@click.option("--bot", type=ENTRANT, help="Everything about this bot, as JSON.")
@click.option("--table-format", "-f", default="simple", show_default=True, help="github, csv, json, html, latex ...")
@results_option
def command(
    run: str,
    game: str | None,
    by: str,
    show: str,
    left_out: tuple[str, ...],
    bot: str | None,
    table_format: str,
    results: Path,
) -> None:
    """Print the leaderboard of a RUN, rebuilt from its records.

    \b
    arena leaderboard my-run
    arena leaderboard results/my-run --table-format github
    arena leaderboard my-run -f csv > table.csv
    arena leaderboard my-run --by players
    arena leaderboard my-run --show pairs
    arena leaderboard my-run --bot skittish | jq .opponents
    """
    from harness.output import render
    from harness.output.bot_summary import bot_summary
    from harness.ratings import by_game, by_option, by_players
    from harness.runs.boards import boards_of

    opened = open_folder(results, run)
    known = {plan.name for plan in opened.info.plan.games}
    if game is not None and game not in known:
        raise UnknownName("game of this run", game, known)
    entered = {entrant.name for entrant in opened.info.entrants}
    for name in left_out:
        if name not in entered:
            raise UnknownName("bot of this run", name, entered)
    records = (
        record
        for record in opened.records()
        if game in (None, record.game) and not any(name in record.seats for name in left_out)
    )
    if bot is not None:
        click.echo(json.dumps(bot_summary(records, bot, opened.info.plan), indent=2))
    else:
        told_apart = {"game": by_game, "players": by_players, "option": by_option}[by]
        some = records if game or left_out else None
        click.echo(render(boards_of(opened, some, told_apart), table_format, show))
    for warning in opened.warnings:
        note(f"Warning: {warning}")
