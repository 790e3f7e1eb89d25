"""Names that are typed after commands (bots, games, formats, runs), and what a shell offers to complete them with.

Checking them is left to the commands, which know more. A shell waits for every completion, so this loads plugins only
where something has changed since they were last asked for their names, and nothing else of arena.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import redirect_stderr, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from harness.cli.installed_names import InstalledNames, ShownOption

OWN_NAME = re.compile(r"[^\s:,=/\\]+=")
"""What may stand before a bot: a name of one's own."""
RUN_FILE = "run.json"


class CompletedName(click.types.StringParamType):
    """A text that stays as it is typed, and that shells complete."""

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:  # fmt: skip
        """What may stand here; a completion that fails offers nothing, for there is nobody to tell."""
        with suppress(Exception), Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stderr(nowhere):
            return list(self.offers(ctx, incomplete))
        return []

    def offers(self, ctx: click.Context, incomplete: str) -> Iterable[CompletionItem]:
        """What begins with what is there already."""
        raise NotImplementedError


class GameName(CompletedName):
    """An installed game."""

    name = "game"

    def offers(self, ctx: click.Context, incomplete: str) -> Iterable[CompletionItem]:
        """The games that are installed."""
        return starting(incomplete, {name: game.about for name, game in _installed().games.items()})


class FormatName(CompletedName):
    """An installed format, with options in its name."""

    name = "format"

    def offers(self, ctx: click.Context, incomplete: str) -> Iterable[CompletionItem]:
        """The formats that are installed; after a colon their options."""
        installed = _installed()
        name, colon, rest = incomplete.partition(":")
        if colon:
            return with_options(f"{name}:", rest, installed.formats[name].options, installed)
        return starting(incomplete, {name: each.about for name, each in installed.formats.items()})


class BotName(CompletedName):
    """A bot: an installed one, with options in its name, or a file; a name of one's own may stand before it."""

    name = "bot"

    def offers(self, ctx: click.Context, incomplete: str) -> Iterable[CompletionItem]:
        """The bots that are installed and the Python files there are; after a colon options."""
        own = OWN_NAME.match(incomplete)
        before = own.group() if own else ""
        typed = incomplete.removeprefix(before)
        if typed.startswith("cmd:"):
            return []
        name, colon, rest = typed.partition(":")
        installed = _installed()
        if colon:
            return with_options(f"{before}{name}:", rest, installed.bots[name].options, installed)
        bots = {f"{before}{name}": bot.about for name, bot in installed.bots.items()}
        return [*starting(incomplete, bots), *_python_files(before, typed), *folders(before, typed)]


class RunName(CompletedName):
    """A run: by its name in the folder of results, or by its path."""

    name = "run"

    def offers(self, ctx: click.Context, incomplete: str) -> Iterable[CompletionItem]:
        """The runs, the newest first; folders for those who are on the way to one elsewhere."""
        runs = sorted(results_of(ctx).glob(f"*/{RUN_FILE}"), key=lambda path: path.stat().st_mtime, reverse=True)
        return starting(incomplete, {path.parent.name: "" for path in runs}) or folders("", incomplete)


class EventName(CompletedName):
    """A TOML file that asks for a run, or a folder on the way to one."""

    name = "file"

    def offers(self, ctx: click.Context, incomplete: str) -> Iterable[CompletionItem]:
        """The TOML files there are, and the way on through folders."""
        files = [CompletionItem(path) for path in beside(incomplete) if path.endswith(".toml")]
        return [*files, *folders("", incomplete)]


class EntrantName(CompletedName):
    """A bot of the run that was named before."""

    name = "bot"

    def offers(self, ctx: click.Context, incomplete: str) -> Iterable[CompletionItem]:
        """Whoever was entered into it."""
        named = ctx.params.get("run") or (ctx.params.get("runs") or ctx.args)[0]
        run = str(named)  # click stops at the option that wants a value
        for folder in (Path(run), results_of(ctx) / run):
            if (folder / RUN_FILE).exists():
                asked = json.loads((folder / RUN_FILE).read_text(encoding="utf-8"))
                return starting(incomplete, {entrant["name"]: "" for entrant in asked["entrants"]})
        return []


BOT, GAME, FORMAT, RUN, ENTRANT, EVENT = BotName(), GameName(), FormatName(), RunName(), EntrantName(), EventName()


def starting(incomplete: str, texts: Mapping[str, str]) -> list[CompletionItem]:
    """The texts that begin with what is there already, with what they mean."""
    return [CompletionItem(text, help=told or None) for text, told in texts.items() if text.startswith(incomplete)]


def with_options(
    before: str, typed: str, options: Iterable[ShownOption], installed: InstalledNames
) -> list[CompletionItem]:
    """Options behind a name: those that have not been set yet, or what the last one may be."""
    *done, last = typed.split(",")
    before += "".join(f"{setting}," for setting in done)
    key, equals, _ = last.partition("=")
    if not equals:
        free = [option for option in options if not any(setting.startswith(f"{option.name}=") for setting in done)]
        items = starting(before + last, {f"{before}{option.name}=": option.help for option in free})
        return [CompletionItem(item.value, help=item.help, open=True) for item in items]
    [option] = [option for option in options if option.name == key]
    if option.kind == "bot":
        values: Iterable[object] = sorted(installed.bots)
    else:
        values = option.choices or (("true", "false") if option.kind == "bool" else ())
    return starting(before + last, {f"{before}{key}={value}": "" for value in values})


def folders(before: str, typed: str) -> list[CompletionItem]:
    """The way on through folders: the shell's own business, unless something stands before the path."""
    found = [f"{before}{path}/" for path in beside(typed) if Path(path).expanduser().is_dir()]
    if not found:
        return []
    return [CompletionItem(typed, type="dir")] if not before else [CompletionItem(each, open=True) for each in found]


def results_of(ctx: click.Context) -> Path:
    """The folder of results that a command line means."""
    return Path(ctx.params.get("results") or "results")


def _python_files(before: str, typed: str) -> list[CompletionItem]:
    return [CompletionItem(f"{before}{path}") for path in beside(typed) if path.endswith(".py")]


def beside(typed: str) -> list[str]:
    """What a path that is being typed may become; hidden files only for those who have typed the dot."""
    folder, _, name = typed.rpartition("/")
    parent = f"{folder}/" if folder or typed.startswith("/") else ""
    there = sorted(path.name for path in Path(parent).expanduser().iterdir())
    return [f"{parent}{each}" for each in there if each.startswith(name) and (name or not each.startswith("."))]


def _installed() -> InstalledNames:
    from harness.cli.installed_names import installed_names

    return installed_names()
