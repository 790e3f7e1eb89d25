"""The `arena formats` command."""

from __future__ import annotations

import json

import click
from msgspec import to_builtins

from harness.cli.options import load_plugins, strict_option
from harness.core.options import allowed_text
from harness.core.table import Table
from harness.output.tables import grid_text


@click.command("formats", short_help="List the tournament formats that are installed, with their options.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@strict_option
def command(as_json: bool, strict: bool) -> None:
    """List the tournament formats that are installed, with their options.

    \b
    arena formats
    arena tournament --format swiss:rounds=5
    """
    formats = load_plugins(strict).formats.values()
    if as_json:
        data = [
            {
                "name": each.name,
                "summary": each.summary,
                "adaptive": each.adaptive,
                "candidates": each.candidates,
                "options": [to_builtins(option) for option in each.options],
            }
            for each in formats
        ]
        click.echo(json.dumps(data, indent=2))
        return
    rows = [(each.name, each.summary) for each in formats]
    click.echo(grid_text(Table("formats", ("format", "who meets whom"), rows)))
    options = [
        (f"{each.name}:{option.name}=...", str(option.default), allowed_text(option), option.help)
        for each in formats
        for option in each.options
    ]
    click.echo("\nOptions (arena tournament --format name:option=value):\n")
    click.echo(grid_text(Table("options", ("option", "default", "allowed", "what it is"), options)))
