"""What several commands share: loading plugins with warnings, finding runs, options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from harness.errors import PluginError
from harness.plugins import Registry, load
from harness.store import Run, find

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


def load_plugins(strict: bool = False) -> Registry:
    """What is installed, with a warning for each broken plugin, or an error under --strict."""
    registry = load()
    if registry.problems and strict:
        raise PluginError(" ".join(registry.problems))
    for problem in registry.problems:
        note(f"Warning: {problem}")
    return registry


def open_run(results: Path, name: str) -> Run:
    """The run that was named on the command line."""
    return Run.open(find(results, name))


def parse_options(pairs: tuple[str, ...]) -> dict[str, str]:
    """`("edition=nl",)` -> `{"edition": "nl"}`."""
    options = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise click.UsageError(f"{pair!r} is not an option of a game: write --option key=value.")
        options[key] = value
    return options
