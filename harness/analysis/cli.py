"""The command arena analyse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from harness.cli.options import (
    BOT,
    GAME,
    check_table_options,
    given,
    load_plugins,
    make_ready,
    note,
    run_option,
    show,
    table_format_option,
)
from harness.core.files import write_named_file


@click.command("analyse", short_help="Measure a game: length, choices, seats, luck and skill, rules that come up.")
@click.argument("game", type=GAME)
@run_option("bots", "A bot of the field; may be repeated. Default: all quick ones that play the game.")
@run_option("players", "Bots at a table. Default: as in a tournament.")
@run_option("options")
@click.option(
    "--matches", type=click.IntRange(min=1), default=2_000, show_default=True, help="About how many matches to play."
)
@click.option(
    "--search",
    type=BOT,
    default="ismcts:iterations=20",
    show_default=True,
    help='One more bot, that plays a few matches to show how far search gets; "" for none.',
)
@run_option("seed", "The luck of the matches. Default: 1.")
@run_option("workers")
@run_option("isolate")
@table_format_option
@click.option("--json", "as_json", is_flag=True, help="Everything as JSON.")
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the JSON to this file, besides the tables."
)
@click.option("--quiet", "-q", is_flag=True, help="No progress and no notes.")
def command(
    game: str, matches: int, search: str, table_format: str, as_json: bool, out: Path | None, quiet: bool, **typed: Any
) -> None:
    """Measure what kind of GAME it is, by matches that are played now and not kept.

    How long it is, how many choices there are, what the seats are worth, how much of a result is luck and how much is
    skill, how far bots are apart from random play to search, how often matches are tied, and which rules come up.
    docs/analyse.md defines the figures. Ctrl-C ends it early, with the deals that are complete.

    \b
    arena analyse el-paso
    arena analyse el-paso --players 2 --bot outlaw --bot skittish --search ""
    arena analyse x-pasch --matches 20000 --json > x-pasch.json
    """
    # Shell completion and --help load this file, and must not wait for what plays and fits (0.1 s).
    from harness.analysis.run import analyse_game
    from harness.output.tables import screen, text_of
    from harness.runs.request import RunRequest

    check_table_options(table_format, ())
    request = RunRequest(games=(game,), **{"seed": 1, **given(typed)})
    make_ready(request.workers, request.threads, request)
    found = analyse_game(request, load_plugins(isolate=request.isolate), matches, search, quiet)
    data = json.dumps(found.to_dict(), indent=2, ensure_ascii=False)
    if out is not None:
        write_named_file(out, data.encode() + b"\n")
        note(f"Written: {out}")
    if as_json:
        show(data)
    else:
        click.echo(text_of(found.tables_of(), table_format, screen(False, more="--table-format csv")))
