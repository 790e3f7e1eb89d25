"""The commands `arena new-bot` and `arena new-game`: write a plugin package from templates."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from harness.cli.options import GAME, load_plugins, note, show
from harness.core.errors import UsageError
from harness.new_package.files import LANGUAGES, bot_contents, check_name, company, game_contents, module_name
from harness.plugins.registry import Registry


def make_bot(registry: Registry, name: str, game: str, language: str, into: Path) -> list[Path]:
    """Write the files of a new bot for this game to a new folder and return their paths."""
    rules = registry.game(game)
    check_name("bot", name, registry.bots, module_name(name) if language == "python" else None)
    return _write(into / name, bot_contents(name, rules, language, company(registry, rules)))


def make_game(registry: Registry, name: str, into: Path) -> list[Path]:
    """Write the files of a new game to a new folder and return their paths."""
    check_name("game", name, registry.games, module_name(name, "game"))
    return _write(into / name, game_contents(name))


def _write(folder: Path, contents: Mapping[str, str]) -> list[Path]:
    if folder.exists():
        raise UsageError(f"{folder} exists already: choose another name, or another folder with --into.")
    written = []
    for place, text in contents.items():
        path = folder / place
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(
                f"Cannot write {path}: {error.strerror or error}; choose another place with --into."
            ) from error
        written.append(path)
    return written


# The commands.


NEXT = {
    "python": '  pip install -e "{place}[test]"\n  arena tournament --game {game} --bot {name} --bot random{company}',
    "node": '  arena tournament --game {game} --bot "cmd:node {folder}/{name}.js" --bot random{company}',
    "c": '  make -C {folder}\n  arena tournament --game {game} --bot "cmd:{folder}/{name}" --bot random{company}',
    "game": (
        '  pip install -e "{place}[test]"\n  arena tournament --game {name} --bot random --bot flat-mc:iterations=50\n'
        "  arena play {name}"
    ),
}
into_option = click.option(
    "--into",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=Path(),
    show_default="this folder",
    help="Where its folder is made.",
)


@click.command("new-bot")
@click.argument("name")
@click.option("--game", type=GAME, default="el-paso", show_default=True, help="The game that it plays.")
@click.option(
    "--lang", type=click.Choice(LANGUAGES), default="python", show_default=True, help="What it is written in."
)
@into_option
def bot_command(name: str, game: str, lang: str, into: Path) -> None:
    """Create a folder NAME with a bot that is ready to play, a test, and a README.

    A Python bot becomes an installable package; in other languages it is a program that reads and writes JSON lines.

    \b
    arena new-bot sprinter
    arena new-bot night-owl --game x-pasch --lang c
    """
    registry = load_plugins()
    made = make_bot(registry, name, game, lang, into)
    _print_made(made, into / name, lang, name=name, game=game, company=company(registry, registry.game(game)))


@click.command("new-game")
@click.argument("name")
@into_option
def game_command(name: str, into: Path) -> None:
    """Create a folder NAME with a tiny card game that is ready to play, a test of its laws, and a README.

    Change it into your game: docs/add-a-game.md explains its parts.

    \b
    arena new-game high-card
    """
    _print_made(make_game(load_plugins(), name, into), into / name, "game", name=name)


def _print_made(made: list[Path], folder: Path, kind: str, **words: str) -> None:
    for path in made:
        show(path)
    place = folder if folder.is_absolute() else f"./{folder}"  # ./ makes pip read it as a path
    note(f"\nNext:\n\n{NEXT[kind].format(folder=folder, place=place, **words)}")
