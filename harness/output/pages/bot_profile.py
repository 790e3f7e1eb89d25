"""One bot in all runs of a site: its record in each game, its opponents, its form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

Row = dict[str, Any]
"""A line of a table, as programs read it."""

BEST = 3
"""How many of the best and of the worst opponents are named."""


class Published(Struct, frozen=True):
    """What a site keeps of a run: enough to make every page but the run's own."""

    folder: str
    name: str
    arena: str
    command: str
    seed: int | None
    """None as long as the run goes on."""
    started: str
    finished: str
    matches: int
    boards: dict[str, list[Row]]
    """The leaderboard of each game."""
    pairs: dict[str, list[Row]]
    form: dict[str, dict[str, list[tuple[int, int]]]]
    """Game -> bot -> rank and number of players of its latest matches."""
    summaries: dict[str, list[str]] = {}
    """What each leaderboard says, in sentences; "overall" over several games."""
    overall: list[Row] = []
    """A line for each bot over several games."""
    without: list[str] = []
    """Bots whose matches are left out."""
    updated: str = ""
    """When what is told of it changed; sites of older arenas do not know."""
    parts: list[str] = []
    """Of several runs that were rated together: when each was started."""


@dataclass(frozen=True, slots=True)
class Opponent:
    """How a bot does against another one in all runs."""

    bot: str
    met: int
    ahead: float


@dataclass(frozen=True, slots=True)
class InGame:
    """A bot in one game."""

    game: str
    lines: list[Row]
    """Its line of each run's leaderboard, newest first, with the run's name and folder."""
    best: list[Opponent]
    """Whom it beats most often."""
    worst: list[Opponent]
    """Who beats it most often; nobody twice."""
    form: list[tuple[int, int]]
    """Rank and number of players of its latest matches in the newest run, the latest last."""


@dataclass(frozen=True, slots=True)
class Profile:
    """All about one bot."""

    bot: str
    games: list[InGame]


def profile(bot: str, runs: Sequence[Published]) -> Profile:
    """The bot's record in each game it played; `runs` come newest first."""
    games = sorted({title for run in runs for title in run.boards})
    return Profile(bot, [found for game in games if (found := _in_game(bot, game, runs)) is not None])


def _in_game(bot: str, game: str, runs: Sequence[Published]) -> InGame | None:
    lines = [
        {"run": run.name, "folder": run.folder, "started": run.started, **row}
        for run in runs
        for row in run.boards.get(game, ())
        if row["bot"] == bot
    ]
    if not lines:
        return None
    ranked = _opponents(bot, game, runs)
    best = ranked[: min(BEST, (len(ranked) + 1) // 2)]
    worst = ranked[: -min(BEST, len(ranked) // 2) - 1 : -1]
    form = next((list(run.form[game][bot]) for run in runs if bot in run.form.get(game, {})), [])
    return InGame(game, lines, best, worst, form)


def _opponents(bot: str, game: str, runs: Sequence[Published]) -> list[Opponent]:
    """Those it met, the one it finishes ahead of most often first."""
    sums: dict[str, list[float]] = {}
    alone = {run.started for run in runs if not run.parts}
    for run in runs:
        if not alone.isdisjoint(run.parts):
            continue  # its matches are counted where they were played
        for row in run.pairs.get(game, ()):
            if row["bot"] == bot:
                both = sums.setdefault(row["against"], [0.0, 0.0])
                both[0] += row["met"]
                both[1] += row["met"] * row["ahead"]
    ranked = [Opponent(other, int(met), ahead / met) for other, (met, ahead) in sums.items()]
    return sorted(ranked, key=lambda one: (-one.ahead, one.bot))


def newest_boards(runs: Sequence[Published]) -> list[tuple[str, Published, list[Row]]]:
    """For each game its newest run and that run's leaderboard."""
    games = sorted({title for run in runs for title in run.boards})
    newest = [(game, next(run for run in runs if game in run.boards)) for game in games]
    return [(game, run, run.boards[game]) for game, run in newest]
