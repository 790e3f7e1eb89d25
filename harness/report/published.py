"""The data of a site about its runs: the content of data.json, profiles of bots, changes since the last publication."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from harness.core.errors import StoreError, UsageError
from harness.core.files import MAX_DATA_BYTES, Folder, cannot_read
from harness.output.tables import short
from harness.runs.reader import UNREADABLE

RUNS, DATA = "runs", "data.json"

# Profiles: the results of one bot in all runs of a site, its opponents and its latest matches.


Row = dict[str, Any]
"""A row of a table as JSON fields."""

OPPONENTS_SHOWN = 3
"""Number of best and of worst opponents that are named."""


class AboutBot(Struct, frozen=True):
    """The data of a run about a bot."""

    source: str
    version: str
    author: str = ""
    team: str = ""
    description: str = ""


class Change(Struct, frozen=True):
    """A bot that has another place than when the run was published before."""

    game: str
    bot: str
    place: int
    before: int
    """Its place then; 0 for a newcomer."""
    matches: list[str] = []
    """New matches that did most for it."""
    unsure: bool = False
    """Whether its place before is still in its range: the change is within the error."""


class Published(Struct, frozen=True):
    """Content of data.json: everything about a run that the other pages of the site need."""

    folder: str
    name: str
    arena: str
    command: str
    seed: int | None
    """None until the run is finished."""
    started: str
    finished: str
    matches: int
    boards: dict[str, list[Row]]
    """The leaderboard of each game."""
    pairs: dict[str, list[Row]]
    form: dict[str, dict[str, list[tuple[int, int]]]]
    """Game -> bot -> rank and number of players in each of its latest matches."""
    summaries: dict[str, list[str]]
    """Sentences about each leaderboard; the key "overall" is for several games together."""
    overall: list[Row]
    """A row for each bot, over several games."""
    without: list[str]
    """Bots whose matches are left out."""
    parts: list[str]
    """Start times of the runs that were counted together; empty for a single run."""
    updated: str = ""
    """Time of the last change of the published content; empty until it is known."""
    titles: dict[str, str] = {}
    """The title of each game; a game that is not installed has its name."""
    seats: dict[str, list[Row]] = {}
    """The results of each seat of each game."""
    about: dict[str, AboutBot] = {}
    changes: list[Change] = []
    """How places changed since `before`, the greatest change first."""
    before: str = ""
    """When the run was published the last time with other matches; empty if never."""
    new: int = 0
    """Matches played since then."""
    failed: int = 0
    """Matches in which a bot failed."""

    def won(self, game: str) -> bool:
        """Return whether the summary of a leaderboard says that its first bot won; a few deals show nothing."""
        return self.claim(game).startswith("won")

    def sentences(self, title: str) -> list[str]:
        """Return the sentences about a leaderboard, or about several games together, for a page beside other runs:
        they name the field."""
        others = len(self.boards.get(title, ())) - 1
        field = f"than the other {f'{others:,} bots' if others > 1 else 'bot'} of this run."
        return [sentence.replace("than every other bot.", field) for sentence in self.summaries.get(title, ())]

    def verdict(self, game: str) -> str:
        """Return the sentence about the first bot; empty if there is none."""
        return next((sentence for sentence in self.sentences(game) if not sentence.startswith("FAULTS")), "")

    def claim(self, game: str) -> str:
        """Return what the verdict says of the first bot: "won", "leads; b may be as good"; empty if nothing."""
        first = f"{short(self.boards[game][0]['bot'], 30)} " if self.boards.get(game) else ""
        verdict = self.verdict(game)
        return verdict.removeprefix(first).partition(". ")[0].rstrip(".") if first and verdict.startswith(first) else ""

    def title(self, game: str) -> str:
        """Return the title of a game."""
        return self.titles.get(game, game)


class Share(Struct, frozen=True):
    """A share of the variance of results, with its interval."""

    value: float
    low: float
    high: float

    @property
    def text(self) -> str:
        """The share in percent; an unbiased estimate of a small one may be below 0."""
        low, value, high = (round(100 * max(0.0, one)) for one in (self.low, self.value, self.high))
        return f"{value}% ({low}\N{EN DASH}{high})"


class Analysis(Struct, frozen=True):
    """What the page of a game shows of the figures of `arena analyse`."""

    game: str
    players: int
    bots: list[str]
    matches: int
    shares: dict[str, Share]
    skill_matches: float | None


def read_analysis(data: bytes, name: str) -> Analysis:
    """Return an analysis; raise UsageError if `data` is none. `name` is that of its file."""
    try:
        found = msgspec.json.decode(data, type=Analysis)
    except UNREADABLE as error:
        raise UsageError(f"{name} is not the data of an analysis: {error}.") from error
    if missing := {"bots", "deals", "seats", "rest"}.difference(found.shares):
        raise UsageError(f"{name} has no share of {', '.join(sorted(missing))}.")
    return found


@dataclass(frozen=True, slots=True)
class Opponent:
    """The results of a bot against another one in all runs."""

    bot: str
    met: int
    ahead: float


@dataclass(frozen=True, slots=True)
class InGame:
    """The results of a bot in one game."""

    game: str
    lines: list[Row]
    """Its row in the leaderboard of each run, newest first, with the run's name and folder."""
    best: list[Opponent]
    """The opponents that it beats most often."""
    worst: list[Opponent]
    """The opponents that beat it most often, without those in `best`."""
    form: list[tuple[int, int]]
    """Rank and number of players in each of its latest matches of the newest run, the latest last."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The results of a bot in all games."""

    bot: str
    games: list[InGame]


def profile(bot: str, runs: Sequence[Published]) -> Profile:
    """Return the results of a bot in each game it played; `runs` must be sorted, newest first."""
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
    best = [one for one in ranked[: min(OPPONENTS_SHOWN, (len(ranked) + 1) // 2)] if one.ahead > 0]
    # Of opponents that it beats equally often, none is the worst.
    behind = [one for one in ranked[len(best) :] if not best or one.ahead < best[0].ahead]
    worst = behind[: -OPPONENTS_SHOWN - 1 : -1]
    form = next((list(run.form[game][bot]) for run in runs if bot in run.form.get(game, {})), [])
    return InGame(game, lines, best, worst, form)


def _opponents(bot: str, game: str, runs: Sequence[Published]) -> list[Opponent]:
    """Return the opponents of a bot, those that it beats most often first."""
    sums: dict[str, list[float]] = {}
    alone = {run.started for run in runs if not run.parts}
    for run in runs:
        if not alone.isdisjoint(run.parts):
            continue  # runs counted together: one of them is published itself, and its matches would count twice
        for row in run.pairs.get(game, ()):
            if row["bot"] == bot:
                both = sums.setdefault(row["against"], [0.0, 0.0])
                both[0] += row["met"]
                both[1] += row["met"] * row["ahead"]
    ranked = [Opponent(other, int(met), ahead / met) for other, (met, ahead) in sums.items()]
    return sorted(ranked, key=lambda one: (-one.ahead, one.bot))


def newest_boards(runs: Sequence[Published], headline: str = "") -> list[tuple[str, Published, list[Row]]]:
    """Return each game with its newest run, or the run in the folder `headline` if it has the game, and the
    leaderboard of that run."""
    games = sorted({title for run in runs for title in run.boards})
    in_order = sorted(runs, key=lambda run: run.folder != headline)
    newest = [(game, next(run for run in in_order if game in run.boards)) for game in games]
    return [(game, run, run.boards[game]) for game, run in newest]


# Reading what was published before, and what has changed since.


def published(to: Path) -> list[Published]:
    """Return the runs of a site, newest first."""
    site = Folder(to)
    try:
        names = site.below(RUNS).names()
    except FileNotFoundError:
        names = []
    except OSError as error:
        raise cannot_read(to / RUNS, error) from error
    runs = [read_published(site, f"{RUNS}/{name}/{DATA}") for name in names if site.has_file(f"{RUNS}/{name}/{DATA}")]
    return sorted(runs, key=lambda run: (run.started, run.folder), reverse=True)


def read_published(site: Folder, name: str) -> Published:
    """Return what a site knows of a run, from a file that an earlier publication wrote."""
    try:
        return msgspec.json.decode(site.read(name, MAX_DATA_BYTES), type=Published)
    except OSError as error:
        raise cannot_read(site.path / name, error) from error
    except UNREADABLE as error:
        raise StoreError(
            f"{site.path / name} was not written by 'arena publish': {error}. Take its folder away."
        ) from error


def changes_of(before: Published | None, now: Published) -> list[Change]:
    """Return the bots that have another place than before, the greatest change first; newcomers last."""
    if before is None:
        return []
    found = []
    for game, rows in now.boards.items():
        old = {row["bot"]: row["place"] for row in before.boards.get(game, ())}
        if not old:
            continue
        for row in rows:
            place, was = row["place"], old.get(row["bot"]) or 0
            if place and was != place:
                unsure = row["best place"] is not None and row["best place"] <= was <= row["worst place"]
                found.append(Change(game, row["bot"], place, was, unsure=unsure))
    return sorted(found, key=lambda one: (not one.before, -abs(one.before - one.place), one.game, one.place))


# Versions of a bot in a league: names with a number behind an @.


@dataclass(frozen=True, slots=True)
class VersionPoint:
    """A version of a bot with its skill in the newest run that has it."""

    bot: str
    skill: float
    low: float | None
    high: float | None


def family_of(bot: str) -> str:
    """Return the name of a bot without the number of its version."""
    name, at, number = bot.rpartition("@")
    return name if at and number.isdecimal() else bot


def version_number(bot: str) -> int:
    """Return the number of a version; 0 for a bot without versions."""
    return int(bot.rpartition("@")[2]) if family_of(bot) != bot else 0


def versions_in(bot: str, rows: Sequence[Row]) -> list[VersionPoint]:
    """Return the versions of a bot on one leaderboard, the oldest first; nothing if there is only one."""
    family = family_of(bot)
    own = sorted((row for row in rows if family_of(row["bot"]) == family), key=lambda row: version_number(row["bot"]))
    points = [VersionPoint(row["bot"], row["skill"], row["skill low"], row["skill high"]) for row in own]
    return points if len(points) > 1 else []
