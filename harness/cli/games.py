"""The `arena games` command."""

from __future__ import annotations

import json

import click
from msgspec import to_builtins

from harness.cli.options import load_plugins, strict_option
from harness.core.options import allowed_text
from harness.core.table import Table
from harness.output.tables import grid_text


@click.command("games", short_help="List the games that are installed.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@strict_option
def command(as_json: bool, strict: bool) -> None:
    """List the games that are installed, with player counts and options.

    \b
    arena games
    arena games --json
    """
    registry = load_plugins(strict)
    offers = sorted(registry.games.items())
    if as_json:
        data = [
            {
                "name": name,
                "title": offer.cls.title,
                "rules": offer.cls.version,
                "players": [offer.cls.min_players, offer.cls.max_players],
                "options": [to_builtins(option) for option in offer.cls.options],
                "source": offer.source,
            }
            for name, offer in offers
        ]
        click.echo(json.dumps(data, indent=2))
        return
    rows = [
        (name, offer.cls.title, f"{offer.cls.min_players}-{offer.cls.max_players}", offer.cls.version, offer.source)
        for name, offer in offers
    ]
    click.echo(grid_text(Table("games", ("game", "title", "players", "rules", "from"), rows)))
    options = [
        (name, option.name, str(option.default) or "-", allowed_text(option), option.help)
        for name, offer in offers
        for option in offer.cls.options
    ]
    if options:
        click.echo("\nOptions (arena tournament --option name=value):\n")
        click.echo(grid_text(Table("options", ("game", "option", "default", "allowed", "what it is"), options)))
