"""Eras of a league: as long as games, rules, options and limits stay the same. Each is a run folder of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from harness._version import VERSION
from harness.core.errors import StoreError, UsageError
from harness.core.format import GamePlan, Plan
from harness.core.game import Game
from harness.core.types import Value
from harness.league.journal import JournalEntry
from harness.league.members import Membership
from harness.plugins.registry import Registry
from harness.runs.request import RunRequest, draw_seed
from harness.runs.run_setup import DEFAULT_PLAYERS, configured_games, now, this_machine
from harness.runs.store import RUN, EntrantInfo, RunFolder, RunInfo
from harness.schedule.league_format import LEAGUE

ERAS = "eras"


@dataclass(frozen=True, slots=True)
class EraTerms:
    """What bots play by in an era."""

    plans: tuple[GamePlan, ...]
    """Games with rules, options and seats; who plays them is for the journal to say."""
    limits: Mapping[str, Value]
    """Those of a league do not depend on who plays it, and where."""
    files: Mapping[str, str]
    """Digest -> content of files that options of games name."""
    games: Mapping[str, Game[Any]]

    @classmethod
    def of(cls, request: RunRequest, registry: Registry) -> EraTerms:
        """What a league's file asks for, with the rules as they are installed."""
        games = configured_games(request, registry)
        plans = tuple(
            GamePlan(
                name=name,
                rules=game.version,
                settings=dict(game.settings),
                players=_seats(game, request.players),
                entrants=(),
            )
            for name, game in sorted(games.items())
        )
        files = {digest: text for game in games.values() for digest, text in game.files.items()}
        return cls(plans, replace(request, workers=None).limits, files, games)

    def begun_by(self, era: JournalEntry) -> bool:
        """Whether an era was begun by these very terms. How bots are kept, and when they are retired, is no part of
        them: matches are the same either way."""
        kept = {key: value for key, value in era.limits.items() if key not in NO_TERMS}
        mine = {key: value for key, value in self.limits.items() if key not in NO_TERMS}
        return self.plans == era.plans and kept == mine


NO_TERMS = ("isolate", "keep_processes", "ponder", "max_faults")


def _seats(game: Game[Any], asked: int | None) -> int:
    """Bots at a table: a league does not know yet how many will come."""
    low, high = game.min_players, game.max_players
    players = max(low, min(high, DEFAULT_PLAYERS)) if asked is None else asked
    if not low <= players <= high:
        raise UsageError(f"{game.title} is for {low} to {high} players, not {players}.")
    return players


def change_of(old: JournalEntry, terms: EraTerms) -> str:
    """In what an era differs from the terms that hold now, in a clause."""
    said = []
    before = {plan.name: plan for plan in old.plans}
    for plan in terms.plans:
        was = before.pop(plan.name, None)
        if was is None:
            said.append(f"{plan.name} is played")
        elif was.rules != plan.rules:
            said.append(f"the rules of {plan.name} are version {plan.rules} instead of {was.rules}")
        elif was.settings != plan.settings:
            said.append(f"the options of {plan.name} are others")
        elif was.players != plan.players:
            said.append(f"{plan.players} instead of {was.players} sit at a table of {plan.name}")
    said += [f"{name} is no longer played" for name in before]
    for key, value in terms.limits.items():
        if key not in NO_TERMS and old.limits.get(key) != value:
            said.append(f"{key.replace('_', ' ')} is {_text(value)} instead of {_text(old.limits.get(key))}")
    return "; ".join(said)


def _text(value: Value | None) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def era_folder(league: Path, era: int) -> Path:
    """Where the records of an era are."""
    return league / ERAS / str(era)


def begin_era(league: Path, era: int, terms: EraTerms, seed: int | None) -> RunFolder:
    """The run folder of a new era."""
    folder = era_folder(league, era)
    plan = Plan(
        games=terms.plans,
        deals=1,
        seed=draw_seed() if seed is None else seed,
        format=LEAGUE.name,
        design=LEAGUE.design,
    )
    info = RunInfo(
        arena=VERSION,
        plan=plan,
        entrants=(),
        files=dict(terms.files),
        limits=dict(terms.limits),
        command="arena league run",
        machine=this_machine(),
        started=now(),
    )
    return RunFolder.create(folder, info)


def open_era(league: Path, era: int) -> RunFolder:
    """The run folder of an era that has begun."""
    folder = era_folder(league, era)
    if not (folder / RUN).exists():
        raise StoreError(
            f"{folder} is missing: the journal says that era {era} has begun, and nothing is played in it."
        )
    run = RunFolder.open(folder)
    run.title = f"{league.resolve().name}, era {era}"
    return run


def tell_entrants(
    run: RunFolder, entrants: Sequence[EntrantInfo], membership: Membership, files: Mapping[str, str]
) -> None:
    """Lets the run folder of an era know who plays in it."""
    plan = run.info.plan
    games = tuple(replace(game, entrants=membership.entered(game.name)) for game in plan.games)
    run.admit(replace(plan, games=games), tuple(entrants), {**run.info.files, **files})
