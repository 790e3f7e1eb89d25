"""Continue a run as it was asked for or extend it by deals, bots or rounds; recover the request of a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from harness.core.errors import StoreError, UsageError
from harness.core.options import DEFAULT_MOVE_TIME_S, DIGEST, RunOptions, resolve, run_options
from harness.core.plan import Plan
from harness.core.records import Value
from harness.plugins.discovery import shown
from harness.plugins.entrants import BotEntry, BotInfo, Entrant, check_distinct, split_options, unknown_games
from harness.plugins.registry import Registry
from harness.runs.config_file import FilePlaces
from harness.runs.request import RunRequest
from harness.runs.scheduler import Schedule
from harness.runs.setup import RunSetup, bound_formats, configure_run, isolation_of_run, limits_of_run, prepare
from harness.runs.store import RUN, SIGNATURE, RunFolder, RunInfo, refuse_era

# Continuing a run with the rules and bots that are installed now.


def reopen(run: RunFolder, registry: Registry, force: bool = False, noting: bool = True) -> RunSetup:
    """Return the setup of a run to be continued, with the bots and rules that are installed now.

    Raise StoreError if they have changed since the run was played, unless `force` is set. The changes are then recorded
    in run.json; with `noting=False` the caller does that.
    """
    setup = restore(run, registry)
    absent = sorted({name for plan in setup.plan.games for name in plan.entrants} - setup.entrants.keys())
    if absent:
        raise StoreError(
            f"{run.folder} cannot be continued, not even by force: the plan in {RUN} has the bots "
            f"{', '.join(map(shown, absent))}, but its entrants are {', '.join(map(shown, setup.entrants))}."
        )
    changes = changes_since(run.info, setup)
    if changes and not force:
        raise StoreError(f"{run.folder} cannot be continued: {'; '.join(changes)}.", fix="force")
    if noting:
        run.force(changes)
    run.warnings += [f"continued although {change}." for change in changes]
    return setup


def restore(run: RunFolder, registry: Registry) -> RunSetup:
    """Return the schedule of a run with the rules and bots that are installed now, changed or not."""
    refuse_era(run, "run")
    for info in run.info.entrants:
        if info.ref.place and not Path(info.ref.place).exists():
            raise UsageError(
                f"There is no file {info.ref.place}. Put the file back, or continue from the folder in which the run "
                f"was begun."
            )
    entrants = {entrant.name: entrant for entrant in enter_again(run, registry, run.info.entrants)}
    games = configure_run(run, registry)
    schedule = Schedule(run.info.plan, bound_formats(run.info.plan, lambda: games, registry.formats))
    return RunSetup(schedule, games, entrants, listeners=registry.listeners)


def enter_again(run: RunFolder, registry: Registry, entrants: Iterable[BotInfo]) -> list[Entrant]:
    """Return these bots of a run as they are installed now, with the contents of option files that the run recorded.

    The run may be untrusted, so lists and patterns in its references are not expanded and no other files are read.
    Python files that it names are untrusted even if the user owns them: the user typed the name of the run, not theirs.
    """
    named = dataclasses.replace(registry.for_names_in(RUN), contents=run.info.files)
    return named.entrants(info.ref for info in entrants)


def changes_since(info: RunInfo, setup: RunSetup) -> list[str]:
    """Return a clause for each way in which the installed rules and bots differ from those of the run."""
    changes = [
        f"the rules of {plan.name} are version {setup.games[plan.name].version} now, the run has {plan.rules}"
        for plan in info.plan.games
        if setup.games[plan.name].version != plan.rules
    ]
    found = (entrant_change(old, setup.entrants.get(old.name)) for old in info.entrants)
    return changes + [change for change in found if change]


def entrant_change(old: BotInfo, new: Entrant | None) -> str:
    """Return a clause that says how an installed bot differs from the one of the run; empty if it is the same."""
    if new is None:
        return f"the bot {old.name} is gone"
    if new.version != old.version:
        return f"the bot {old.name} is version {new.version} now, the run has {old.version}"
    if new.digest != old.digest:
        return f"the source of the bot {old.name} has been changed ({new.digest} now, not {old.digest})"
    return ""


# Extension of a run by deals, rounds or late bots, if its format allows it.


class RunExtension(Struct, frozen=True, kw_only=True):
    """What to add to a run."""

    deals: int | None = None
    """The new total number of deals."""
    bots: tuple[Any, ...] = ()
    """Bots that join the run."""
    candidates: tuple[str, ...] = ()
    """Those of the new bots that become candidates, in a gauntlet."""
    format: str = ""
    """The run's format with larger values for its options: `swiss:rounds=7`."""

    def __bool__(self) -> bool:
        return any((self.deals is not None, self.bots, self.candidates, self.format))


def resume_run(
    run: RunFolder, registry: Registry, wanted: RunExtension, command: str, force: bool = False
) -> tuple[RunSetup, list[str]]:
    """Return the setup of the rest of a run, and sentences about how it was extended, if `wanted` is not empty.

    An extension is written to run.json together with the `command` that requested it. If the format does not allow it,
    nothing is changed. It is not an error to request what the run already has: the first attempt may have been
    interrupted.
    """
    # An extension can still be refused. Changes of bots and rules are recorded only after that, by run.force below.
    setup = reopen(run, registry, force, noting=not wanted)
    if not wanted:
        return setup, []
    entered = registry.entrants(wanted.bots) if wanted.bots else []
    late, known = _late(run, entered)
    asked = _asked(run, registry, wanted, late, entered)
    plan = run.info.plan
    changes = changes_since(run.info, setup)
    # An interrupted extension was written to run.json before its first match: the same command then only continues.
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
    # The format may still refuse the plan here. From the next line on the folder is changed: first what had changed in
    # bots and rules, then the plan together with the new bots, in one write.
    schedule = Schedule(longer, bound_formats(longer, lambda: setup.games, registry.formats))
    finished = run.info.finished  # read before run.extend clears it
    run.force(changes)
    run.extend(
        schedule.plan,
        entrants=(*run.info.entrants, *(one.info for one in late)),
        files=run.info.files | {digest: text for one in late for digest, text in one.contents.items()},
        extended=(*run.info.extended, command),
    )
    entrants = {**setup.entrants, **{one.name: one for one in late}}
    unknown = unknown_games([(one.name, one.bot) for one in late], registry.games)
    sentences = [*known, *unknown, *_changes_of(run, setup.schedule, schedule, finished)]
    return dataclasses.replace(setup, schedule=schedule, entrants=entrants), sentences


def _late(run: RunFolder, entered: list[Entrant]) -> tuple[list[Entrant], list[str]]:
    """Return the entrants that are not in the run yet, and a sentence for each that is.

    Raise UsageError if the run has a different bot of the same name.
    """
    check_distinct(entered)
    there = {info.name: info for info in run.info.entrants}
    late, known = [], []
    for one in entered:
        if one.name not in there:
            late.append(one)
        # The same name for another bot would mix the records of both. The folder of a file does not matter.
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
    """Return the plan of the run with the extension. `late` are those of the `entered` bots that the run lacks."""
    plan = run.info.plan
    if wanted.deals is not None:
        run_options(RunOptions)["deals"].check(wanted.deals)
    if wanted.deals is not None and wanted.deals < plan.deals:
        raise UsageError(f"{run.folder} has {plan.deals:,} deals; it can get more, not {wanted.deals:,}.")
    games = tuple(
        replace(game, entrants=(*game.entrants, *(one.name for one in late if one.plays(game.name))))
        for game in plan.games
    )
    for one in late:
        if not any(one.name in game.entrants for game in games):
            raise UsageError(f"{one.name} cannot play {' or '.join(game.name for game in games)}.")
    candidates = tuple(_late_candidates(plan, wanted.candidates, entered))
    name, _, rest = (wanted.format or plan.format).partition(":")
    if name != plan.format:
        raise UsageError(f"{run.folder} is a {plan.format}; its format cannot change.", fix="same-format")
    settings, _ = resolve(name, registry.formats[name].options, {**plan.settings, **split_options(wanted.format, rest)})
    deals = plan.deals if wanted.deals is None else wanted.deals
    return replace(plan, games=games, deals=deals, candidates=(*plan.candidates, *candidates), settings=settings)


def _late_candidates(plan: Plan, asked: Sequence[str], entered: Sequence[Entrant]) -> list[str]:
    """Return the names of the bots that become candidates; those that already are candidates are left out."""
    there = {name for game in plan.games for name in game.entrants}
    found = []
    for typed in asked:
        if typed in plan.candidates:
            continue
        meant = [one.name for one in entered if typed in (one.name, one.spec, one.source)]
        new = [name for name in meant if name not in plan.candidates]
        if not meant or not there.isdisjoint(new):
            raise UsageError(
                f"{typed} cannot become a candidate: only a bot that joins now can, because the others have already "
                "played as part of the field.",
                fix="late-bot",
            )
        found += new
    return found


def _changes_of(run: RunFolder, before: Schedule, after: Schedule, finished: str) -> list[str]:
    """Return sentences about how the run was extended, and what that means for its signature, seed and claims."""
    old, new, count, longer = before.plan, after.plan, before.count(), after.count()
    matches = f": {longer:,} matches instead of {count:,}" if count is not None and longer is not None else ""
    parts = [f"{new.deals:,} deals instead of {old.deals:,}"] if new.deals != old.deals else []
    parts += [f"{name}={value}" for name, value in new.settings.items() if value != old.settings.get(name)]
    there = {name for game in old.games for name in game.entrants}
    joined = dict.fromkeys(name for game in new.games for name in game.entrants if name not in there)
    parts += [f"{', '.join(joined)} joined"] if joined else []
    sentences = [f"The run is extended ({'; '.join(parts)}){matches}."]
    if (run.folder / SIGNATURE).exists():
        sentences.append(f"Its signature is no longer valid. Sign it again: arena sign {run.folder}")
    if finished:
        sentences.append("Pages of a finished run show its seed, and anyone who has it knows the new deals in advance.")
    if finished and new.design != "anytime":
        sentences.append(
            "The error rate of 5 in 100 holds if the length of a run is chosen in advance. If you extend a run because "
            "no bots were separated, and look again, wrong claims become more frequent."
        )
    return sentences


# The request of an existing run, so that it can be played again.


def fields_of_run(run: RunFolder) -> dict[str, Any]:
    """Return the fields of the RunRequest that a run was created by, including its seed and where they come from.

    The number of workers and the cluster are not part of a run, so they are not included. Raise UsageError if an option
    named a file: the run has its contents, but not its path.
    """
    refuse_era(run, "run")
    plan, limits = run.info.plan, asdict(limits_of_run(run))
    options: dict[str, Value] = {}
    unasked: set[str] = set()
    for game in plan.games:
        for name, value in game.settings.items():
            if isinstance(value, str) and value.startswith(DIGEST):
                raise UsageError(
                    f"{run.folder / RUN} cannot be turned into a config file: the option {name} of {game.name} was a "
                    f"file, and the run stores its content but not its path."
                )
            if options.setdefault(name, value) != value:
                unasked.add(name)  # a default: a requested option has the same value in all games that declare it
    players = {game.players for game in plan.games}
    # All settings, including defaults: a later version may have other defaults, and this must be the same run.
    settings = ",".join(f"{name}={_word(value)}" for name, value in plan.settings.items())
    if limits["move_time"] == DEFAULT_MOVE_TIME_S:
        del limits["move_time"]
    fields = {
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
    return {**fields, "file": FilePlaces(str(run.folder / RUN), fields, {})}


def request_of_run(run: RunFolder, registry: Registry) -> tuple[RunRequest, list[str]]:
    """Return the request that plays a run again, and how rules and bots have changed since then.

    Raise UsageError if there is no such request, for example because a bot is a class that was defined in a notebook.
    """
    # Classes and functions of a Python program are neither installed nor in a file: no name enters them.
    unknown = [
        f"{entrant.name} (of {entrant.source})"
        for entrant in run.info.entrants
        if entrant.ref.command is None and not entrant.ref.place
        and entrant.ref.bot not in registry.bots and not Path(entrant.ref.bot).exists()
    ]  # fmt: skip
    if unknown:
        raise UsageError(
            f"{run.folder} cannot be turned into a config file: {', '.join(unknown)} is not installed, and not in a "
            f"file. Move a class that was defined at a Python prompt to a file."
        )
    request = without_defaults(RunRequest(**fields_of_run(run)), registry)
    setup = prepare(request, registry)
    for old in run.info.entrants:
        # A program gets the files that its words name, and run.json may be from others: with another file of this user
        # among them it is another version.
        if old.ref.command is not None and (change := entrant_change(old, setup.entrants.get(old.name))):
            raise UsageError(f"{run.folder} cannot be played once more: {change}.", fix="late-bot")
    asked, plan = setup.plan, run.info.plan
    # Versions of rules are left out of the comparison: changes_since reports them.
    same = replace(plan, games=tuple(replace(game, rules="") for game in plan.games))
    if replace(asked, games=tuple(replace(game, rules="") for game in asked.games)) != same:
        how = f"not every {plan.format} can be described by one"
        if plan.before:
            how = "it was extended, and a run of this length played in one go would have other deals at its tables"
        raise UsageError(
            f"{run.folder} cannot be turned into a config file: {how}. It was made by: "
            f"{'; '.join([run.info.command, *run.info.extended])}"
        )
    return request, changes_since(run.info, setup)


def without_defaults(request: RunRequest, registry: Registry) -> RunRequest:
    """Return the request without those options of its games and format that have their default values."""
    name, _, settings = request.format.partition(":")
    declared = registry.formats[name].options if name in registry.formats else ()
    unset = {f"{option.name}={_word(option.default)}" for option in declared}
    kept = [part for part in settings.split(",") if part and part not in unset]
    # An option is left out only if no game has another default for it.
    defaults = [option for game in request.games for option in registry.game(game).options]
    options = {
        key: value
        for key, value in request.options.items()
        if any(option.default != value for option in defaults if option.name == key)
    }
    return replace(request, format=":".join([name, ",".join(kept)]) if kept else name, options=options)


def _entry(entrant: BotInfo, run: RunFolder) -> str | BotEntry:
    if f"={DIGEST}" in entrant.spec:
        raise UsageError(
            f"{run.folder / RUN} cannot be turned into a config file: an option of {entrant.name} was a file, and the "
            f"run stores its content but not its path."
        )
    is_credited = entrant.team or entrant.author
    return BotEntry(entrant.spec, entrant.team, entrant.author) if is_credited else entrant.spec


def _word(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
