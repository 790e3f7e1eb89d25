"""Extend a run by deals, bots or rounds, or ask for the same run again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace as replaced
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from harness.core.errors import UsageError
from harness.core.options import DEFAULT_MOVE_TIME_S, DIGEST, RunOptions, resolve, run_options
from harness.core.plan import GamePlan, Plan
from harness.core.records import Option, Value
from harness.plugins.entrants import BotEntry, BotInfo, Entrant, check_distinct, split_options, unknown_games
from harness.plugins.registry import Registry
from harness.runs.request import RunRequest
from harness.runs.scheduler import Schedule
from harness.runs.setup import (
    RunSetup,
    bound_formats,
    changes_since,
    isolation_of_run,
    limits_of_run,
    prepare,
    refuse_era,
    reopen,
)
from harness.runs.signing import SIGNATURE
from harness.runs.store import RUN, RunFolder

# More of a run: more deals, more rounds, or bots that come late, where its format allows.


class RunExtension(Struct, frozen=True, kw_only=True):
    """What a run is to have more of than it was asked for."""

    deals: int | None = None
    """Deals in all, those of before included."""
    bots: tuple[Any, ...] = ()
    """Who comes late."""
    candidates: tuple[str, ...] = ()
    """Those of them whom the run is about, in a gauntlet."""
    format: str = ""
    """The run's format with options that are to be larger: `swiss:rounds=7`."""

    def __bool__(self) -> bool:
        return any((self.deals is not None, self.bots, self.candidates, self.format))


def resume_run(
    run: RunFolder, registry: Registry, wanted: RunExtension, command: str, force: bool = False
) -> tuple[RunSetup, list[str]]:
    """Return what is needed to play the rest of a run, and sentences on how it was extended, if anything is wanted.

    An extension is written to run.json together with the `command` that asked for it. If the format does not allow it,
    nothing is changed. What the run has already may be asked for again, because the first attempt may have been
    interrupted.
    """
    setup = reopen(run, registry, force, noting=not wanted)
    if not wanted:
        return setup, []
    entered = registry.entrants(wanted.bots) if wanted.bots else []
    late, known = _late(run, entered)
    asked = _asked(run, registry, wanted, late, entered)
    plan = run.info.plan
    changes = changes_since(run.info, setup)
    if replace(asked, before=plan.before) == plan:
        run.force(changes)
        return setup, known or ["The run is as large as that already."]
    form = registry.formats[plan.format]
    if form.extend is None:
        raise UsageError(
            f"The format {plan.format} does not say how its runs could be extended; play another run: 'arena "
            f"leaderboard' rates several together."
        )
    longer = form.extend(plan, asked)
    schedule = Schedule(longer, bound_formats(longer, lambda: setup.games, registry.formats))
    finished = run.info.finished
    run.force(changes)
    run.extend(
        schedule.plan,
        entrants=(*run.info.entrants, *(one.info for one in late)),
        files=run.info.files | {digest: text for one in late for digest, text in one.contents.items()},
        extended=(*run.info.extended, command),
    )
    entrants = {**setup.entrants, **{one.name: one for one in late}}
    unknown = unknown_games([(one.name, one.bot) for one in late], registry.games)
    told = [*known, *unknown, *_told(run, plan, schedule.plan, setup.schedule.count(), schedule.count(), finished)]
    return replaced(setup, schedule=schedule, entrants=entrants), told


def _late(run: RunFolder, entered: list[Entrant]) -> tuple[list[Entrant], list[str]]:
    """Those who are not in the run yet, and a sentence on each who is."""
    check_distinct(entered)
    there = {info.name: info for info in run.info.entrants}
    late, known = [], []
    for one in entered:
        if one.name not in there:
            late.append(one)
        elif (one.ref.bare, one.digest) == (there[one.name].ref.bare, there[one.name].digest):
            known.append(f"{one.name} is in this run already.")
        else:
            raise UsageError(
                f"There is a {one.name} in {run.folder} already, and it is another bot; give the new one its own name.",
                fix="other-bot",
                bot=str(one.ref.unnamed),
            )
    return late, known


def _asked(
    run: RunFolder, registry: Registry, wanted: RunExtension, late: Sequence[Entrant], entered: Sequence[Entrant]
) -> Plan:
    """The plan of a run that has what is wanted: some of those who are `entered` for it come `late`."""
    plan = run.info.plan
    if wanted.deals is not None:
        run_options(RunOptions)["deals"].check(wanted.deals)
    if wanted.deals is not None and wanted.deals < plan.deals:
        raise UsageError(f"{run.folder} has {plan.deals:,} deals; it can get more, not {wanted.deals:,}.")
    games = tuple(_joined(game, late) for game in plan.games)
    for one in late:
        if not any(one.name in game.entrants for game in games):
            raise UsageError(f"{one.name} cannot play {' or '.join(game.name for game in games)}.")
    candidates = tuple(_late_candidates(plan, wanted.candidates, entered))
    name, _, rest = (wanted.format or plan.format).partition(":")
    if name != plan.format:
        raise UsageError(f"{run.folder} is a {plan.format}, and stays one.", fix="same-format")
    settings, _ = resolve(name, registry.formats[name].options, {**plan.settings, **split_options(wanted.format, rest)})
    deals = plan.deals if wanted.deals is None else wanted.deals
    return replace(plan, games=games, deals=deals, candidates=(*plan.candidates, *candidates), settings=settings)


def _joined(game: GamePlan, late: Sequence[Entrant]) -> GamePlan:
    return replace(game, entrants=(*game.entrants, *(one.name for one in late if one.plays(game.name))))


def _late_candidates(plan: Plan, asked: Sequence[str], entered: Sequence[Entrant]) -> list[str]:
    """Those who become candidates, and are none yet."""
    there = {name for game in plan.games for name in game.entrants}
    found = []
    for typed in asked:
        if typed in plan.candidates:
            continue
        meant = [one.name for one in entered if typed in (one.name, one.spec, one.source)]
        new = [name for name in meant if name not in plan.candidates]
        if not meant or not there.isdisjoint(new):
            raise UsageError(
                f"{typed} cannot become a candidate: only a bot that is entered now can; one that has played in the "
                "field has met the others otherwise.",
                fix="late-bot",
            )
        found += new
    return found


def _told(run: RunFolder, old: Plan, new: Plan, before: int | None, after: int | None, finished: str) -> list[str]:
    """What the run has become."""
    matches = f": {after:,} matches instead of {before:,}" if before is not None and after is not None else ""
    parts = [f"{new.deals:,} deals instead of {old.deals:,}"] if new.deals != old.deals else []
    parts += [f"{name}={value}" for name, value in new.settings.items() if value != old.settings.get(name)]
    there = {name for game in old.games for name in game.entrants}
    joined = dict.fromkeys(name for game in new.games for name in game.entrants if name not in there)
    parts += [f"{', '.join(joined)} joined"] if joined else []
    told = [f"The run is extended ({'; '.join(parts)}){matches}."]
    if (run.folder / SIGNATURE).exists():
        told.append(f"Its signature was for what it was before and does not fit any more: arena sign {run.folder}")
    if finished:
        told.append("Pages of a finished run tell its seed: whoever has read it there knows the deals that come now.")
    if finished and new.design != "anytime":
        told.append(
            "Who is told apart is claimed for a length that was chosen beforehand. Going on because nobody was told "
            "apart yet, and looking again, finds somebody too often."
        )
    return told


# From a run back to what was asked for, so that it can be asked for again.


def fields_of_run(run: RunFolder) -> dict[str, Any]:
    """The fields of a RunRequest that a run was made by, its seed among them. How many processes played it, and where,
    is no part of a run."""
    refuse_era(run)
    plan, limits = run.info.plan, asdict(limits_of_run(run))
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
    if limits["move_time"] == DEFAULT_MOVE_TIME_S:
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
    same = replace(plan, games=tuple(replace(game, rules="") for game in plan.games))
    if replace(asked, games=tuple(replace(game, rules="") for game in asked.games)) != same:
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


def _entry(entrant: BotInfo, run: RunFolder) -> str | BotEntry:
    if f"={DIGEST}" in entrant.spec:
        raise UsageError(
            f"{run.folder / RUN} cannot be turned back: an option of {entrant.name} named a file, of which the run "
            f"keeps the text and not the place."
        )
    told = entrant.team or entrant.author
    return BotEntry(entrant.spec, entrant.team, entrant.author) if told else entrant.spec


def _is_typed(entrant: BotInfo, registry: Registry) -> bool:
    """Whether a bot was a class or a function in somebody's program."""
    ref = entrant.ref
    return ref.command is None and not ref.place and ref.bot not in registry.bots and not Path(ref.bot).exists()


def _is_default(setting: str, declared: Mapping[str, Option]) -> bool:
    key, _, value = setting.partition("=")
    return key in declared and _word(declared[key].default) == value


def _has_default(key: str, value: Value, options: tuple[Option, ...]) -> bool:
    """Whether a game either has no such option, or has it so by itself."""
    return all(option.default == value for option in options if option.name == key)


def _word(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
