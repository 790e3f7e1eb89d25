"""From what was asked to a plan with rules and bots behind its names, for a new run or one to be continued."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness import schedule
from harness._version import VERSION
from harness.core.errors import StoreError, UsageError
from harness.core.game import Game
from harness.core.options import remember
from harness.executors import Roster
from harness.plugins.entrants import Entrant, check_distinct
from harness.plugins.registry import Registry
from harness.runs.store import EntrantInfo, RunFolder, RunInfo
from harness.schedule import GamePlan, Plan

DEFAULT_PLAYERS = 4


@dataclass(frozen=True, slots=True)
class RunSetup:
    """Everything needed to play a plan: the rules and the bots behind its names."""

    plan: Plan
    games: Mapping[str, Game[Any]]
    entrants: Mapping[str, Entrant]

    @property
    def table(self) -> Roster:
        """What executors need of it."""
        return Roster(self.games, self.entrants)


def prepare(
    registry: Registry,
    games: Sequence[str],
    bots: Sequence[str],
    options: Mapping[str, str],
    players: int | None,
    deals: int,
    seed: int,
    **format_settings: Any,
) -> RunSetup:
    """Turns names into a plan; whatever does not fit is refused with what is allowed.

    `format_settings` are the fields of Plan that belong to a format.
    """
    if deals < 1:
        raise UsageError(f"There must be at least one deal, not {deals}.")
    entrants = registry.entrants(bots or sorted(name for name, offer in registry.bots.items() if offer.cls.by_default))
    check_distinct(entrants)
    chosen = {name: registry.game(name) for name in dict.fromkeys(games or sorted(registry.games))}
    configured = _configure(chosen, options)
    plans = []
    for name, game in configured.items():
        field = tuple(entrant.name for entrant in entrants if entrant.plays(name))
        if len(field) < game.min_players and not games:
            continue  # not asked for by name, and nobody to play it
        plans.append(GamePlan(name, game.version, dict(game.settings), seats_for(game, players, field), field))
    if not plans:
        raise UsageError("No game has enough bots to play it; enter more with --bot.")
    idle = [e.name for e in entrants if not any(e.name in plan.entrants for plan in plans)]
    if idle and bots:
        raise UsageError(f"{', '.join(idle)} cannot play {' or '.join(plan.name for plan in plans)}.")
    plan = Plan(tuple(plans), deals, seed, **format_settings)
    schedule.check(plan)
    return RunSetup(plan, configured, {entrant.name: entrant for entrant in entrants})


def _configure(chosen: Mapping[str, type[Game[Any]]], options: Mapping[str, str]) -> dict[str, Game[Any]]:
    """Each option goes to the games that have it; one that no game has is refused by the first game."""
    unknown = [key for key in options if not any(key in _names(cls) for cls in chosen.values())]
    configured = {}
    for name, cls in chosen.items():
        fitting = {key: value for key, value in options.items() if key in _names(cls) or key in unknown}
        configured[name] = cls.configure(fitting)
    return configured


def _names(cls: type[Game[Any]]) -> set[str]:
    return {option.name for option in cls.options}


def seats_for(game: Game[Any], asked: int | None, field: Sequence[str]) -> int:
    """How many sit at a table: as asked, or as many as the bots allow up to four."""
    low, high = game.min_players, game.max_players
    players = asked if asked is not None else max(low, min(high, DEFAULT_PLAYERS, len(field)))
    if not low <= players <= high:
        raise UsageError(f"{game.title} is for {low} to {high} players, not {players}.")
    if len(field) < players:
        listed = f" ({', '.join(field)})" if field else ""
        raise UsageError(
            f"{game.title} with {players} players needs at least {players} bots that play it; "
            f"{len(field)} entered{listed}. Enter more with --bot, or the same one with other options."
        )
    return players


def info_for(setup: RunSetup, command: str, limits: Mapping[str, int | float | str] | None = None) -> RunInfo:
    """What run.json will say."""
    files = {digest: text for game in setup.games.values() for digest, text in game.files.items()}
    entrants = tuple(EntrantInfo(e.name, e.spec, e.source, e.version) for e in setup.entrants.values())
    machine = {
        "python": platform.python_version(),
        "system": platform.system(),
        "processor": platform.machine(),
    }
    return RunInfo(VERSION, setup.plan, entrants, files, dict(limits or {}), command, machine, now())


def now() -> str:
    """The time as it is written into run.json."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def reopen(folder: Path, registry: Registry, force: bool = False) -> tuple[RunFolder, RunSetup]:
    """A run to be continued, with its bots and rules as they are installed now; refuses it if they changed."""
    run = RunFolder.open(folder)
    setup = restore(run, registry)
    changes = _changes(run.info, setup)
    if changes and not force:
        raise StoreError(f"{folder} cannot be continued: {'; '.join(changes)}. Use --force to go on all the same.")
    run.warnings += [f"continued although {change}." for change in changes]
    return run, setup


def restore(run: RunFolder, registry: Registry) -> RunSetup:
    """The rules and bots of a run, as installed now."""
    entrants = {entrant.name: entrant for entrant in registry.entrants(info.spec for info in run.info.entrants)}
    return RunSetup(run.info.plan, configure_run(run, registry), entrants)


def configure_run(run: RunFolder, registry: Registry) -> dict[str, Game[Any]]:
    """The games of a run with their recorded settings."""
    for digest, text in run.info.files.items():
        remember(digest, text)
    return {plan.name: registry.game(plan.name).configure(plan.settings) for plan in run.info.plan.games}


def _changes(info: RunInfo, setup: RunSetup) -> list[str]:
    changes = [
        f"the rules of {plan.name} are version {setup.games[plan.name].version} now, the run has {plan.rules}"
        for plan in info.plan.games
        if setup.games[plan.name].version != plan.rules
    ]
    for old in info.entrants:
        new = setup.entrants.get(old.name)
        if new is None:
            changes.append(f"the bot {old.name} is gone")
        elif new.version != old.version:
            changes.append(f"the bot {old.name} is version {new.version} now, the run has {old.version}")
    return changes
