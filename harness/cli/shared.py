"""What several commands share: loading plugins with warnings, finding runs, options."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any, Literal, TypeVar

import click

from harness.core.errors import PluginError
from harness.plugins.registry import Registry, load
from harness.runs.store import RunFolder, find

F = TypeVar("F", bound=Callable[..., Any])

results_option = click.option(
    "--results",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("results"),
    show_default=True,
    help="The folder that holds runs.",
)
strict_option = click.option(
    "--strict", is_flag=True, help="Fail when a plugin is broken or a bot commits a fault, instead of warning."
)


def note(text: str) -> None:
    """Something for the person at the terminal; stdout stays free for results."""
    click.echo(text, err=True)


def load_plugins(strict: bool = False, isolate: Literal["off", "on", "strict"] = "off") -> Registry:
    """What is installed, with a warning for each broken plugin, or an error under --strict.

    With `isolate`, bots that are named by a file or a command are asked what they are in processes of their own.
    """
    from harness.executors.isolation import OutsideProcesses

    registry = load()
    registry.outside = OutsideProcesses(isolate)
    if registry.problems and strict:
        raise PluginError(" ".join(registry.problems))
    for problem in registry.problems:
        note(f"Warning: {problem}")
    return registry


def open_run(results: Path, name: str) -> RunFolder:
    """The run that was named on the command line."""
    return RunFolder.open(find(results, name))


def parse_options(pairs: tuple[str, ...]) -> dict[str, str]:
    """`("edition=nl",)` -> `{"edition": "nl"}`."""
    options = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise click.UsageError(f"{pair!r} is not an option of a game: write --option key=value.")
        options[key] = value
    return options


def run_folder(results: Path, name: str | None) -> Path:
    """The folder of a new run: its name, or the time."""
    if name is None:
        now = datetime.now().astimezone().strftime("%Y-%m-%d-%H%M%S")
        numbered = (results / (f"{now}-{number}" if number else now) for number in count())
        return next(folder for folder in numbered if not folder.exists())
    if not name.strip() or name in (".", "..") or any(c in "/\\" or not c.isprintable() for c in name):
        raise click.UsageError(f"{name!r} cannot be the name of a folder; --results says where runs are kept.")
    return results / name
