"""From a run back to what was asked for, so that it can be asked for again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from harness.core.errors import UsageError
from harness.core.options import DIGEST
from harness.core.types import Option, Value
from harness.plugins.bot_spec import named
from harness.plugins.entrants import BotEntry
from harness.plugins.registry import Registry
from harness.ratings.question import value_functions
from harness.runs.request import MOVE_TIME, RunRequest
from harness.runs.run_setup import changes_since, isolation_of_run, limits_of_run, prepare, refuse_era
from harness.runs.store import RUN, EntrantInfo, RunFolder


def fields_of_run(run: RunFolder) -> dict[str, Any]:
    """The fields of a RunRequest that a run was made by, its seed among them. How many processes played it, and where,
    is no part of a run."""
    refuse_era(run)
    plan, limits = run.info.plan, limits_of_run(run)
    options: dict[str, Value] = {}
    unasked: set[str] = set()
    for game in plan.games:
        for name, value in game.settings.items():
            if isinstance(value, str) and value.startswith(DIGEST):
                raise UsageError(
                    f"{run.folder / RUN} cannot be turned back: the option {name} of {game.name} named a file, of "
                    f"which the run keeps the text and not the place."
                )
            if options.setdefault(name, value) != value:
                unasked.add(name)  # one that was asked for is the same in all games that have it
    players = {game.players for game in plan.games}
    settings = ",".join(f"{name}={_word(value)}" for name, value in plan.settings.items())
    if limits["move_time"] == MOVE_TIME:
        del limits["move_time"]
    return {
        **limits,
        "games": tuple(game.name for game in plan.games),
        "bots": tuple(_entry(entrant, run) for entrant in run.info.entrants),
        "options": {name: value for name, value in options.items() if name not in unasked},
        "players": players.pop() if len(players) == 1 else None,
        "deals": plan.deals,
        "seed": plan.seed,
        "format": f"{plan.format}:{settings}" if settings else plan.format,
        "candidates": plan.candidates,
        "isolate": isolation_of_run(run),
    }


def request_of_run(run: RunFolder, registry: Registry) -> tuple[RunRequest, list[str]]:
    """The request that plays a run again, and in what rules and bots have changed meanwhile; refused in a sentence
    where there is none, as for a class that was typed in a notebook."""
    check_entrants(run, registry)
    request = without_defaults(RunRequest(**fields_of_run(run)), registry)
    setup = prepare(request, registry)
    asked, plan = setup.plan, run.info.plan
    same = replace(plan, design=asked.design, games=tuple(replace(game, rules="") for game in plan.games))
    if replace(asked, games=tuple(replace(game, rules="") for game in asked.games)) != same or value_functions(plan):
        how = f"not every {plan.format} can be asked for by one"
        if plan.before:
            how = "it was extended, and asked for at once its tables would have other deals"
        raise UsageError(
            f"{run.folder} cannot be turned back into a file: {how}. What made this one is: "
            f"{'; '.join([run.info.command, *run.info.extended])}"
        )
    return request, changes_since(run.info, setup)


def check_entrants(run: RunFolder, registry: Registry) -> None:
    """Refuses a run with bots that have no name here by which they could be entered again."""
    unknown = [entrant for entrant in run.info.entrants if _is_typed(entrant, registry)]
    if unknown:
        told = ", ".join(f"{entrant.name} (of {entrant.source})" for entrant in unknown)
        raise UsageError(
            f"{run.folder} cannot be turned back into a file: {told} is not installed, and in no file. A class that "
            f"was typed in Python must be in a file of its own to be named."
        )


def without_defaults(request: RunRequest, registry: Registry) -> RunRequest:
    """The request without options of games and of its format that say what is so anyway."""
    games = [registry.game(name).options for name in request.games]
    name, _, settings = request.format.partition(":")
    declared = {option.name: option for option in registry.formats[name].options} if name in registry.formats else {}
    kept = [part for part in settings.split(",") if part and not _is_default(part, declared)]
    unset = {key for key, value in request.options.items() if all(_has_default(key, value, each) for each in games)}
    return replace(
        request,
        format=":".join([name, ",".join(kept)]) if kept else name,
        options={key: value for key, value in request.options.items() if key not in unset},
    )


def _entry(entrant: EntrantInfo, run: RunFolder) -> str | BotEntry:
    if f"={DIGEST}" in entrant.spec:
        raise UsageError(
            f"{run.folder / RUN} cannot be turned back: an option of {entrant.name} named a file, of which the run "
            f"keeps the text and not the place."
        )
    told = entrant.team or entrant.author
    return BotEntry(entrant.spec, entrant.team, entrant.author) if told else entrant.spec


def _is_typed(entrant: EntrantInfo, registry: Registry) -> bool:
    """Whether a bot was a class or a function in somebody's program."""
    _, bot = named(entrant.spec)
    return (
        "cmd:" not in bot and "::" not in bot and bot.partition(":")[0] not in registry.bots and not Path(bot).exists()
    )


def _is_default(setting: str, declared: Mapping[str, Option]) -> bool:
    key, _, value = setting.partition("=")
    return key in declared and _word(declared[key].default) == value


def _has_default(key: str, value: Value, options: tuple[Option, ...]) -> bool:
    """Whether a game either has no such option, or has it so by itself."""
    return all(option.default == value for option in options if option.name == key)


def _word(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
