"""arena new-bot."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.parameter_types import GAME
from harness.cli.shared import load_plugins, note
from harness.plugins.scaffold import LANGUAGES, company, make

NEXT = {
    "python": '  pip install -e "{place}[test]"\n  arena tournament --game {game} --bot {name} --bot random{company}',
    "node": '  arena tournament --game {game} --bot "cmd:node {folder}/{name}.js" --bot random{company}',
    "c": '  make -C {folder}\n  arena tournament --game {game} --bot "cmd:{folder}/{name}" --bot random{company}',
}


@click.command("new-bot", short_help="Make a package with a new bot, ready to play.")
@click.argument("name")
@click.option("--game", type=GAME, default="el-paso", show_default=True, help="The game that it plays.")
@click.option(
    "--lang", type=click.Choice(LANGUAGES), default="python", show_default=True, help="What it is written in."
)
@click.option(
    "--into",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=Path(),
    show_default="this folder",
    help="Where its folder is made.",
)
def command(name: str, game: str, lang: str, into: Path) -> None:
    """Make a folder NAME with a bot that plays, a test that it passes, and a README.

    A Python bot becomes an installable package; in other languages it is a program that reads and writes JSON lines.

    \b
    arena new-bot sprinter
    arena new-bot night-owl --game x-pasch --lang c
    """
    registry = load_plugins()
    for path in make(registry, name, game, lang, into):
        click.echo(path)
    place = into / name if into.is_absolute() else f"./{into / name}"  # without ./ pip would look for it elsewhere
    fill = {
        "folder": into / name,
        "place": place,
        "name": name,
        "game": game,
        "company": company(registry, registry.game(game)),
    }
    note(f"\nNext:\n\n{NEXT[lang].format(**fill)}")
