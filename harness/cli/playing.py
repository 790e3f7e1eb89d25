"""The options of commands that play matches, and the executor that they ask for."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from harness.executors import Executor, Roster
    from harness.plugins.entrants import Entrant

F = TypeVar("F", bound=Callable[..., Any])

MOVE_TIME = 10.0
MEMORY = 4096
DEFAULTS: dict[str, int | float | str] = {
    "move_time": MOVE_TIME, "game_time": 0.0, "memory": MEMORY, "isolate": "off", "max_faults": 0,
}  # fmt: skip
"""What bots may use and how they are kept, unless told otherwise: part of what a run is, kept in its run.json."""


class Seconds(click.FloatRange):
    """A number of seconds, which is a number."""

    def __init__(self) -> None:
        super().__init__(min=0)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Refuses nan, with which no comparison is true."""
        seconds = float(super().convert(value, param, ctx))
        if isnan(seconds):
            self.fail("nan is not a number of seconds.", param, ctx)
        return seconds


isolate_option = click.option(
    "--isolate",
    type=click.Choice(["off", "on", "strict"]),
    is_flag=False,
    flag_value="on",
    help="Run each bot in a process without rights; strict refuses what this machine cannot enforce: see arena doctor.",
)


def playing_options(command: F) -> F:
    """Adds --workers, --move-time, --game-time, --memory and --isolate to a command."""
    for option in reversed(
        (
            click.option(
                "--workers",
                type=click.IntRange(min=0, max=1024),
                help="Processes that play; 0 plays in this one, for debuggers. Default: one for each core.",
            ),
            click.option(
                "--move-time",
                type=Seconds(),
                help="Seconds (wall clock) a bot may take for one decision; 0 is no limit. Default: 10.",
            ),
            click.option(
                "--game-time",
                type=Seconds(),
                help="Seconds a bot may take for all decisions of a match. Default: no limit.",
            ),
            click.option(
                "--memory",
                type=click.IntRange(min=0),
                help="Megabytes of memory a worker, or an isolated bot, may use; 0 is no limit. Default: 4096.",
            ),
            isolate_option,
        )
    ):
        command = option(command)
    return command


def limits_asked(asked: dict[str, Any]) -> dict[str, int | float | str]:
    """The limits that the options ask for, with the defaults of those that were not given."""
    return {key: default if asked.get(key) is None else asked[key] for key, default in DEFAULTS.items()}


def seed_asked(asked: dict[str, Any]) -> int:
    """The seed that was given, or one that is drawn."""
    return draw_seed() if asked["seed"] is None else int(asked["seed"])


def draw_seed() -> int:
    """A seed that no bot can know beforehand: a known one is an open deck."""
    return secrets.randbits(48)


def entrants_for(table: Roster, asked: dict[str, Any], logs: Path | None = None) -> dict[str, Entrant]:
    """The entrants where the options want them (limits filled in): programs, and isolated bots, in processes."""
    from harness.executors.isolation import isolate_all
    from harness.executors.remote import IsolationPolicy
    from harness.match.referee import Limits

    limits = Limits(asked["move_time"], asked["game_time"])
    policy = IsolationPolicy(asked["isolate"], limits, asked["memory"], logs=str(logs or ""))
    return isolate_all(table.entrants, policy, table.games)


def executor_for(
    table: Roster, asked: dict[str, Any], should_stop: Callable[[], bool], logs: Path | None = None
) -> Executor:
    """The executor that the options ask for (limits filled in); `logs` is where bots' own processes write to."""
    from harness.executors import LocalPool, SerialExecutor, default_workers
    from harness.match.referee import Limits

    limits = Limits(asked["move_time"], asked["game_time"])
    table = table._replace(entrants=entrants_for(table, asked, logs))
    workers = default_workers() if asked["workers"] is None else asked["workers"]
    if workers == 0:
        return SerialExecutor(table, limits, should_stop)
    return LocalPool(table, limits, workers, asked["memory"], sweep=True, should_stop=should_stop)
