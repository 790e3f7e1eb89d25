"""The `arena bots` command."""

from __future__ import annotations

import json
from inspect import getdoc

import click
from msgspec import to_builtins

from harness.cli.options import GAME, load_plugins, note, strict_option
from harness.core.errors import PluginError
from harness.core.options import allowed_text
from harness.core.table import Table
from harness.output.tables import grid_text
from harness.plugins.entrants import unknown_games


@click.command("bots", short_help="List the bots that are installed.")
@click.option("--game", type=GAME, help="Only bots that play this game.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@strict_option
def command(game: str | None, as_json: bool, strict: bool) -> None:
    """List the bots that are installed, with the games they play and their options.

    \b
    arena bots
    arena bots --game el-paso
    """
    registry = load_plugins(strict)
    unknown = unknown_games(((name, offer.cls) for name, offer in sorted(registry.bots.items())), registry.games)
    if unknown and strict:
        raise PluginError(" ".join(unknown))
    for sentence in unknown:
        note(f"Warning: {sentence}")
    if game is not None:
        registry.game(game)
    offers = [
        (name, offer)
        for name, offer in sorted(registry.bots.items())
        if game is None or not offer.cls.games or game in offer.cls.games
    ]
    if as_json:
        data = [
            {
                "name": name,
                "games": list(offer.cls.games),
                "options": [to_builtins(option) for option in offer.cls.options],
                "about": _about(offer.cls),
                "source": offer.source,
                "version": offer.version,
            }
            for name, offer in offers
        ]
        click.echo(json.dumps(data, indent=2))
        return
    rows = [
        (name, ", ".join(offer.cls.games) or "any", _about(offer.cls), f"{offer.source} {offer.version}".strip())
        for name, offer in offers
    ]
    click.echo(grid_text(Table("bots", ("bot", "games", "what it does", "from"), rows)))
    options = [
        (f"{name}:{option.name}=...", str(option.default) or "-", allowed_text(option), option.help)
        for name, offer in offers
        for option in offer.cls.options
    ]
    if options:
        click.echo("\nOptions:\n")
        click.echo(grid_text(Table("options", ("option", "default", "allowed", "what it is"), options)))


def _about(cls: type) -> str:
    return (getdoc(cls) or "").split("\n", 1)[0]
