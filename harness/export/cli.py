"""The command arena export."""

from __future__ import annotations

import json
from pathlib import Path

import click

from harness.cli.options import RUN, load_plugins, note, note_warnings, open_folder, results_option, show
from harness.export.rows import TABLES


@click.command("export", short_help="Write a run as Parquet or CSV, for data analysis and learning.")
@click.argument("run", type=RUN)
@click.option("--to", type=click.Choice(["parquet", "csv"]), required=True, help="The format of the files.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder to write to. Default: export in the folder of the run.",
)
@click.option(
    "--table",
    "tables",
    type=click.Choice(list(TABLES)),
    multiple=True,
    help="Only this table; may be repeated. decisions and events take about as long as random play.",
)
@click.option(
    "--views",
    type=click.Choice(["encoded", "json", "none"]),
    default="encoded",
    show_default=True,
    help="How to write the views in decisions: as an array of numbers, as JSON, or not at all.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the files with their numbers of rows as JSON.")
@click.option("--quiet", "-q", is_flag=True, help="No progress and no notes.")
@results_option
def command(
    run: str, to: str, out: Path | None, tables: tuple[str, ...], views: str, as_json: bool, quiet: bool, results: Path
) -> None:
    """Write a RUN as tables: its matches, the seats of each, every decision with what the seat knew, and every event.

    docs/export.md describes the columns. pandas and polars read each file in one line. After Ctrl-C the files are
    whole, and have the matches so far.

    \b
    arena export my-run --to parquet
    arena export my-run --to csv --table matches --table seats --out tables
    python -c "import polars; print(polars.read_parquet('results/my-run/export/seats.parquet'))"
    """
    # Shell completion and --help load this file, and must not wait for what replays and writes (0.1 s).
    from harness.export.api import export_folder

    opened = open_folder(results, run)
    found = export_folder(opened, load_plugins(), to, out, tables or tuple(TABLES), views, quiet)  # type: ignore[arg-type]  # click has checked it
    if as_json:
        data = {"folder": str(found.folder), "files": found.files, "matches": found.matches, "complete": found.complete}
        show(json.dumps(data, indent=2))
    else:
        width = max(map(len, found.files), default=0)
        show("\n".join(f"{name:<{width}}  {rows:>12,} rows" for name, rows in found.files.items()))
        if not quiet:
            note(f"In {found.folder}")
    note_warnings(opened.warnings)
    if not found.complete:
        note(f"Not complete: the files have the first {found.matches:,} matches.")
        click.get_current_context().exit(1)
