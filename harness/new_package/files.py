"""The files of a new plugin package, from templates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from keyword import iskeyword
from typing import Any

import msgspec

from harness.core.action import action_fields
from harness.core.bot import kebab
from harness.core.errors import UsageError
from harness.core.game import Game
from harness.plugins.registry import Registration, Registry, filler_bots

LANGUAGES = ("python", "node", "c")
SUFFIX = ".tmpl"
"""Keeps tools from treating templates as Arena's own code."""
ANY_GAME = "any"
"""Name of the template for games without a specific one."""
_SUFFIXES = {"python": "py", "node": "js", "c": "c"}
_COMMENT = {"python": "#   ", "node": "//   ", "c": " *   "}
MAX_NAME_CHARS = 60
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def check_name(what: str, name: str, taken: Mapping[str, Registration], module: str | None) -> None:
    """Raise UsageError for a name of a bot or a game that cannot be typed, is taken, or cannot be imported."""
    if len(name) > MAX_NAME_CHARS:
        raise UsageError(
            f"The name of a {what} has at most {MAX_NAME_CHARS} characters, and {name[:20]}... has {len(name)}."
        )
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"A {what} cannot be called {name!r}: use small letters, digits and hyphens, like 'night-owl'."
        )
    if name in taken:
        raise UsageError(f"{taken[name].source} has a {what} called {name!r} already: choose another name.")
    if module is not None and find_spec(module) is not None:
        raise UsageError(f"There is a Python module {module!r} already: choose another name for the {what}.")


def company(registry: Registry, game: type[Game[Any]]) -> str:
    """Return the `--bot` options for further opponents, so that the smallest table of the game is full.

    The new bot and `random` are not among them.
    """
    others = filler_bots(registry, game.name, max(0, game.min_players - 2), taken=("random",))
    return "".join(f" --bot {name}" for name in others)


def bot_contents(name: str, game: type[Game[Any]], language: str, company: str) -> dict[str, str]:
    """Return the contents of the files of a new bot, by their paths in its folder."""
    template = files("harness.new_package") / "templates" / language
    special, usual = (template / "games" / f"{each}.{_SUFFIXES[language]}{SUFFIX}" for each in (game.name, ANY_GAME))
    source = special if special.is_file() else usual
    words = {
        **_names(name, "bot", source),
        "game": game.name,
        "title": game.title.replace('"', "'"),  # inserted into string literals of several languages
        "company": company,
        "examples": _examples(game, language),
    }
    words["wish"] = _filled(source, words)
    made = _fill_all(template, words)
    if language == "python":
        made[f"{words['module']}.py"] = words["wish"]
    return made


def game_contents(name: str) -> dict[str, str]:
    """Return the contents of the files of a new game, by their paths in its folder."""
    template = files("harness.new_package") / "templates" / "game"
    words = {**_names(name, "game", template / f"game.py{SUFFIX}"), "title": name.replace("-", " ").capitalize()}
    return _fill_all(template, words)


def _names(name: str, what: str, source: Traversable) -> dict[str, str]:
    """Return the names in a template for a bot or a game: of the thing, its module and its class."""
    cls = "".join(part.capitalize() for part in name.split("-"))
    if iskeyword(cls) or re.search(rf"\b{cls}\b", source.read_text(encoding="utf-8")):  # such as Bot
        cls += what.capitalize()
    # A bot is called like its class, as far as capital letters can say it: BXPasch is bx-pasch, not b-x-pasch.
    naming = "" if kebab(cls) == name else f'name = "{name}"\n    '
    return {"name": name, "module": module_name(name, what), "class": cls, "naming": naming}


def _fill_all(template: Traversable, words: Mapping[str, str]) -> dict[str, str]:
    return {
        _place(source.name.removesuffix(SUFFIX), words): _filled(source, words)
        for source in sorted(template.iterdir(), key=lambda item: item.name)
        if source.name.endswith(SUFFIX)
    }


def _examples(game: type[Game[Any]], language: str) -> str:
    """Return one action of each kind in the JSON of the protocol, as lines of a comment."""
    kinds = {action.kind: action for action in reversed(game.configure().actions)}
    shown = [msgspec.json.encode(action_fields(kinds[kind]), enc_hook=str).decode() for kind in reversed(kinds)]
    return "\n".join(_COMMENT[language] + line.replace("*/", "* /") for line in shown)


def module_name(name: str, what: str = "bot") -> str:
    """Return the name of the module, which differs from the folder's: Python would import the folder instead."""
    return f"{name.replace('-', '_')}_{what}"


def _place(name: str, words: Mapping[str, str]) -> str:
    """Return the file name for a template: a program is named after the bot."""
    if name == "test.py":
        return f"test_{words['module']}.py"
    if name == "game.py":
        return f"{words['module']}.py"
    return re.sub(r"^bot\.", f"{words['name']}.", name)


def _filled(template: Traversable, words: Mapping[str, str]) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda found: words[found[1]], template.read_text(encoding="utf-8"))
