"""arena leaderboard."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.parameter_types import ENTRANT, GAME, RUN
from harness.cli.shared import load_plugins, note, open_folder, results_option
from harness.core.errors import UnknownName, UsageError

if TYPE_CHECKING:
    from harness.core.types import GameRecord
    from harness.ratings import Leaderboard
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
    type=click.Choice(["leaderboard", "pairs", "seats"]),
    default="leaderboard",
    show_default=True,
    help="Who is better, who finishes ahead of whom, or what a seat is worth.",
)
@click.option(
    "--without", "left_out", type=ENTRANT, multiple=True, metavar="BOT", help="Leave out all matches of this bot."
)
@click.option(
    "--luck-adjusted",
    is_flag=True,
    help="Take the luck out of `ahead`: narrower intervals from the same matches, at some 0.1 s a match.",
)
@click.option(
    "--values",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    multiple=True,
    help="A value function made by arena learn-values, instead of the one that its game brings. With --luck-adjusted.",
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
    luck_adjusted: bool,
    values: tuple[Path, ...],
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
    arena leaderboard my-run --luck-adjusted
    arena leaderboard my-run --bot skittish | jq .opponents
    """
    from harness.output import render
    from harness.output.bot_summary import bot_summary
    from harness.ratings import by_game, by_option, by_players, leaderboards, rate_records

    if luck_adjusted and (bot is not None or show != "leaderboard"):
        raise UsageError("--luck-adjusted is for the leaderboard alone; leave out --bot and --show.")
    if values and not luck_adjusted:
        raise UsageError("--values is what --luck-adjusted judges by; give both.")
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
        click.echo(json.dumps(bot_summary(records, bot), indent=2))
    else:
        sort = {"game": by_game, "players": by_players, "option": by_option}[by]
        boards = (
            _adjusted(opened, list(records), sort, values)
            if luck_adjusted
            else leaderboards(rate_records(records, sort))
        )
        click.echo(render(boards, table_format, show))
    for warning in opened.warnings:
        note(f"Warning: {warning}")


def _adjusted(
    run: RunFolder, records: Sequence[GameRecord], by: Callable[[GameRecord], str], values: Sequence[Path]
) -> list[Leaderboard]:
    from harness.output.terminal import Progress
    from harness.runs.luck_adjusted import luck_adjusted_leaderboards

    with Progress("luck taken out of matches", len(records)) as progress:
        return luck_adjusted_leaderboards(run, load_plugins(), records, by, values, progress.step)
