"""The options of commands that play matches, and the executor that they ask for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from harness.executors import Executor, Table

F = TypeVar("F", bound=Callable[..., Any])

MOVE_TIME = 10.0
MEMORY = 4096


def playing_options(command: F) -> F:
    """Adds --workers, --move-time, --game-time and --memory to a command."""
    for option in reversed(
        (
            click.option(
                "--workers",
                type=click.IntRange(min=0, max=1024),
                help="Processes that play; 0 plays in this one, for debuggers. Default: one for each core.",
            ),
            click.option(
                "--move-time",
                type=click.FloatRange(min=0),
                default=MOVE_TIME,
                show_default=True,
                help="Seconds (wall clock) a bot may take for one decision; 0 is no limit.",
            ),
            click.option(
                "--game-time",
                type=click.FloatRange(min=0),
                default=0.0,
                help="Seconds a bot may take for all decisions of a match. Default: no limit.",
            ),
            click.option(
                "--memory",
                type=click.IntRange(min=0),
                default=MEMORY,
                show_default=True,
                help="Megabytes of memory a worker may use; 0 is no limit.",
            ),
        )
    ):
        command = option(command)
    return command


def executor_for(table: Table, asked: dict[str, Any], should_stop: Callable[[], bool]) -> Executor:
    """The executor that the options ask for."""
    from harness.executors import LocalPool, Serial, default_workers
    from harness.referee import Limits

    limits = Limits(asked["move_time"], asked["game_time"])
    workers = default_workers() if asked["workers"] is None else asked["workers"]
    if workers == 0:
        return Serial(table, limits, should_stop)
    return LocalPool(table, limits, workers, asked["memory"], sweep=True, should_stop=should_stop)
