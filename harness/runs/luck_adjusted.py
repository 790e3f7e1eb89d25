"""The luck-adjusted leaderboards of a run, from its records alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from harness.core.errors import StoreError
from harness.core.types import GameRecord
from harness.executors.jobs import default_workers
from harness.plugins.registry import Registry
from harness.ratings import Leaderboard, by_game
from harness.ratings.luck_adjustment import noted, take_luck_out
from harness.ratings.value_function import ValueFunction, read_value_function, value_function_of
from harness.runs.boards import boards_of
from harness.runs.run_setup import configure_run
from harness.runs.store import RunFolder


def read_values(files: Sequence[Path]) -> dict[str, ValueFunction]:
    """The value functions in these files, by game."""
    functions = {}
    for path in files:
        try:
            function = read_value_function(path.read_bytes(), str(path))
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {error.strerror}.") from error
        functions[function.game] = function
    return functions


def luck_adjusted_leaderboards(
    run: RunFolder,
    registry: Registry,
    records: Sequence[GameRecord],
    by: Callable[[GameRecord], str] = by_game,
    values: Sequence[Path] = (),
    step: Callable[[], None] = lambda: None,
    *,
    whole: bool = True,
) -> list[Leaderboard]:
    """The leaderboards of these records of a run without the luck in `ahead`; `step` is called for each match. `whole`
    if they are all of their games."""
    played = {record.game for record in records}
    games = {name: game for name, game in configure_run(run, registry).items() if name in played}
    given = read_values(values)
    functions = {name: value_function_of(game, given) for name, game in games.items()}
    adjustment = take_luck_out(records, games, functions, default_workers(), step)
    plain = boards_of(run, records, by, whole=whole)
    adjusted = boards_of(run, records, by, adjustment.shares, whole=whole)
    return noted(plain, adjusted, adjustment, {by(record): record.game for record in records})
