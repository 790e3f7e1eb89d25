"""The `arena new-bot` command: write a plugin package from templates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import msgspec

from harness.cli.options import GAME, load_plugins, note
from harness.core.action import action_fields
from harness.core.errors import UsageError
from harness.core.game import Game
from harness.plugins.registry import Registry

# Write the files of a new bot from templates.


LANGUAGES = ("python", "node", "c")
SUFFIX = ".tmpl"
"""Keeps tools from treating templates as Arena's own code."""
ANY_GAME = "any"
"""Name of the template for games without a specific one."""
_SUFFIXES = {"python": "py", "node": "js", "c": "c"}
_COMMENT = {"python": "#   ", "node": "//   ", "c": " *   "}
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def make(registry: Registry, name: str, game: str, language: str, into: Path) -> list[Path]:
    """Write the files of a new bot for this game to a new folder and return their paths."""
    rules = registry.game(game)
    check_name(registry, name, language)
    folder = into / name
    if folder.exists():
        raise UsageError(f"{folder} exists already: choose another name, or another folder with --into.")
    written = []
    for place, text in contents(name, rules, language, company(registry, rules)).items():
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


def check_name(registry: Registry, name: str, language: str) -> None:
    """Raise UsageError for a name that cannot be typed after --bot, is taken, or cannot be imported."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"A bot cannot be called {name!r}: use small letters, digits and hyphens, like 'night-owl'.")
    if name in registry.bots:
        source = registry.bots[name].source
        raise UsageError(f"{source} has a bot called {name!r} already: choose another name.")
    if language == "python" and find_spec(_module(name)) is not None:
        raise UsageError(f"There is a Python module {_module(name)!r} already: choose another name for the bot.")


def company(registry: Registry, game: type[Game[Any]]) -> str:
    """Return the `--bot` options for further opponents, so that the smallest table of the game is full.

    The new bot and `random` are not among them. Bots that are made for the game come first.
    """
    bots = {name: offer.cls.games for name, offer in registry.bots.items() if name != "random"}
    fitting = [name for name, games in bots.items() if not games or game.name in games]
    fitting.sort(key=lambda name: (game.name not in bots[name], name))
    return "".join(f" --bot {name}" for name in fitting[: game.min_players - 2])


def contents(name: str, game: type[Game[Any]], language: str, company: str) -> dict[str, str]:
    """Return the contents of the files of a new bot, by their paths in its folder."""
    words = {
        "name": name,
        "module": _module(name),
        "class": "".join(part.capitalize() for part in name.split("-")),
        "game": game.name,
        "title": game.title.replace('"', "'"),  # inserted into string literals of several languages
        "company": company,
        "examples": _examples(game, language),
    }
    template = files("harness.plugins") / "templates" / language
    special, usual = (template / "games" / f"{each}.{_SUFFIXES[language]}{SUFFIX}" for each in (game.name, ANY_GAME))
    words["wish"] = _filled(special if special.is_file() else usual, words)
    made = {}
    for source in sorted(template.iterdir(), key=lambda item: item.name):
        if source.name.endswith(SUFFIX):
            made[_place(source.name.removesuffix(SUFFIX), words)] = _filled(source, words)
    if language == "python":
        made[f"{words['module']}.py"] = words["wish"]
    return made


def _examples(game: type[Game[Any]], language: str) -> str:
    """Return one action of each kind in the JSON of the protocol, as lines of a comment."""
    kinds = {action.kind: action for action in reversed(game.configure().actions)}
    shown = [msgspec.json.encode(action_fields(kinds[kind]), enc_hook=str).decode() for kind in reversed(kinds)]
    return "\n".join(_COMMENT[language] + line.replace("*/", "* /") for line in shown)


def _module(name: str) -> str:
    """Return the name of the module, which differs from the folder's: Python would import the folder instead."""
    return f"{name.replace('-', '_')}_bot"


def _place(name: str, words: Mapping[str, str]) -> str:
    """Return the file name for a template: a program is named after the bot."""
    if name == "test.py":
        return f"test_{words['module']}.py"
    return re.sub(r"^bot\.", f"{words['name']}.", name)


def _filled(template: Traversable, words: Mapping[str, str]) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda found: words[found[1]], template.read_text(encoding="utf-8"))


# arena new-bot.


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
    """Create a folder NAME with a bot that is ready to play, a test, and a README.

    A Python bot becomes an installable package; in other languages it is a program that reads and writes JSON lines.

    \b
    arena new-bot sprinter
    arena new-bot night-owl --game x-pasch --lang c
    """
    registry = load_plugins()
    for path in make(registry, name, game, lang, into):
        click.echo(path)
    place = into / name if into.is_absolute() else f"./{into / name}"  # ./ makes pip read it as a path
    fill = {
        "folder": into / name,
        "place": place,
        "name": name,
        "game": game,
        "company": company(registry, registry.game(game)),
    }
    note(f"\nNext:\n\n{NEXT[lang].format(**fill)}")
