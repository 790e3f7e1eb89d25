"""The `arena matches` command."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import click
import msgspec

from harness.cli.options import ENTRANT, GAME, RUN, note, note_warnings, open_folder, results_option, score_texts, show
from harness.output.matches import MatchTable, remark
from harness.output.tables import escape_json
from harness.runs.queries import SORTS, MatchQuery, find_matches

SHOWN = 20
BATCH = 1000
"""Lines that are written at once: click.echo flushes after each call, which is slow line by line."""


@click.command("matches")
@click.argument("run", type=RUN)
@click.option("--bot", type=ENTRANT, default="", help="Only matches of this bot.")
@click.option("--lost", is_flag=True, help="With --bot: those it did not win.")
@click.option("--won", is_flag=True, help="With --bot: those it won, alone or together with others.")
@click.option("--faults", is_flag=True, help="Those in which the bot failed; without --bot, in which any did.")
@click.option(
    "--close",
    is_flag=True,
    help="The tenth of each game's matches with the smallest margins, closest first: between first and second, or with "
    "--bot between it and the best of the others. Bots that failed do not count.",
)
@click.option("--game", type=GAME, default="", help="Only this game.")
@click.option(
    "--sort",
    type=click.Choice(list(SORTS)),
    help="As scheduled, or first: the smallest margin, most decisions, the highest score or the most thinking time (of "
    "the bot, if one is named). Default: schedule.",
)
@click.option("--reverse", is_flag=True, help="The other way round.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    help=f"How many to list; 0 is all. Default: {SHOWN}, with --json all.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
@results_option
def command(run: str, as_json: bool, limit: int | None, sort: str | None, results: Path, **asked: Any) -> None:
    """List matches of a RUN: the bots by seat, their scores, and what happened.

    'arena replay RUN MATCH' shows one of them.

    \b
    arena matches my-run --faults
    arena matches my-run --bot skittish --lost --close
    arena matches my-run --game el-paso --sort length --limit 5
    arena matches my-run --bot skittish --won --json | jq -r .match
    """
    opened = open_folder(results, run)
    most = limit if limit is not None else 0 if as_json else SHOWN
    found = find_matches(opened, MatchQuery(sort=sort or "", limit=most, **asked))
    if as_json:
        lines = iter(found)
        while batch := [msgspec.json.encode(line) for line in islice(lines, BATCH)]:
            click.echo(escape_json(b"\n".join(batch)))
    elif found:
        show(MatchTable(found, score_texts(opened)).text())
    note_warnings(opened.warnings)
    if left_out := remark(len(found), found.total):
        note(left_out + (" --limit 0 lists all." if found else ""))
