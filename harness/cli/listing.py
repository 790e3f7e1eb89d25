"""The `arena games`, `arena bots` and `arena formats` commands: installed plugins with their options."""

from __future__ import annotations

import json
from collections.abc import Iterable
from inspect import getdoc

import click
from msgspec import to_builtins

from harness.cli.options import GAME, load_plugins, note_warnings, show, strict_option
from harness.core.errors import PluginError
from harness.core.options import allowed_text
from harness.core.records import Option
from harness.core.table import Table
from harness.output.tables import listing_text, screen_width
from harness.plugins.entrants import unknown_games

json_option = click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")


def _print_options(title: str, head: tuple[str, ...], options: Iterable[tuple[tuple[str, ...], Option]]) -> None:
    """Print a table of options; `head` and the texts for each option are its first columns."""
    rows = [(*texts, str(one.default) or "-", allowed_text(one), one.help) for texts, one in options]
    if rows:
        show(f"\n{title}:\n")
        show(listing_text(Table("options", (*head, "default", "allowed", "what it is"), rows), screen_width()))


@click.command("games")
@json_option
@strict_option
def games_command(as_json: bool, strict: bool) -> None:
    """List the games that are installed, with player counts and options.

    \b
    arena games
    arena games --json
    """
    offers = sorted(load_plugins(strict).games.items())
    if as_json:
        data = [
            {
                "name": name,
                "title": offer.cls.title,
                "rules": offer.cls.version,
                "players": [offer.cls.min_players, offer.cls.max_players],
                "options": to_builtins(offer.cls.options),
                "source": offer.source,
            }
            for name, offer in offers
        ]
        show(json.dumps(data, indent=2))
        return
    rows = [
        (name, offer.cls.title, f"{offer.cls.min_players}-{offer.cls.max_players}", offer.cls.version, offer.source)
        for name, offer in offers
    ]
    show(listing_text(Table("games", ("game", "title", "players", "rules", "from"), rows), screen_width()))
    options = (((name, option.name), option) for name, offer in offers for option in offer.cls.options)
    _print_options("Options (arena tournament --option name=value)", ("game", "option"), options)


@click.command("bots")
@click.option("--game", type=GAME, help="Only bots that play this game.")
@json_option
@strict_option
def bots_command(game: str | None, as_json: bool, strict: bool) -> None:
    """List the bots that are installed, with the games they play and their options.

    \b
    arena bots
    arena bots --game el-paso
    """
    registry = load_plugins(strict)
    bots = sorted(registry.bots.items())
    unknown = unknown_games(((name, offer.cls) for name, offer in bots), registry.games)
    if unknown and strict:
        raise PluginError(" ".join(unknown))
    note_warnings(unknown)
    if game is not None:
        registry.game(game)
    offers = [(name, offer) for name, offer in bots if game is None or not offer.cls.games or game in offer.cls.games]
    if as_json:
        data = [
            {
                "name": name,
                "games": list(offer.cls.games),
                "options": to_builtins(offer.cls.options),
                "about": _about(offer.cls),
                "source": offer.source,
                "version": offer.version,
            }
            for name, offer in offers
        ]
        show(json.dumps(data, indent=2))
        return
    rows = [
        (name, ", ".join(offer.cls.games) or "any", _about(offer.cls), f"{offer.source} {offer.version}".strip())
        for name, offer in offers
    ]
    show(listing_text(Table("bots", ("bot", "games", "what it does", "from"), rows), screen_width()))
    options = (((f"{name}:{option.name}=...",), option) for name, offer in offers for option in offer.cls.options)
    _print_options("Options", ("option",), options)


def _about(cls: type) -> str:
    return (getdoc(cls) or "").split("\n", 1)[0]


@click.command("formats")
@json_option
@strict_option
def formats_command(as_json: bool, strict: bool) -> None:
    """List the tournament formats that are installed, with their options.

    \b
    arena formats
    arena tournament --format swiss:rounds=5
    """
    formats = load_plugins(strict).formats.values()
    if as_json:
        names = ("name", "summary", "adaptive", "candidates", "options")
        data = [{name: to_builtins(getattr(each, name)) for name in names} for each in formats]
        show(json.dumps(data, indent=2))
        return
    rows = [(each.name, each.summary) for each in formats]
    show(listing_text(Table("formats", ("format", "who meets whom"), rows), screen_width()))
    options = (((f"{each.name}:{option.name}=...",), option) for each in formats for option in each.options)
    _print_options("Options (arena tournament --format name:option=value)", ("option",), options)
