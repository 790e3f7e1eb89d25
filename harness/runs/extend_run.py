"""More of a run: more deals, more rounds, or bots that come late, where its format allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace as replaced
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from harness.core.errors import UsageError
from harness.core.format import GamePlan, Plan
from harness.core.options import resolve
from harness.plugins.entrants import Entrant, check_distinct, split_options, unknown_games
from harness.plugins.registry import Registry
from harness.runs.duel_judges import judged_formats
from harness.runs.request import check_field
from harness.runs.run_setup import RunSetup, changes_since, entrant_info, reopen
from harness.runs.signing import SIGNATURE
from harness.runs.store import RunFolder
from harness.schedule import Schedule


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
        return self != RunExtension()


def extend_run(
    run: RunFolder, registry: Registry, wanted: RunExtension, command: str, force: bool = False
) -> tuple[RunSetup, list[str]]:
    """The run with what is wanted in its run.json, ready to be played, and sentences on what has become of it. How that
    was asked for is the `command`. Refused, with nothing changed, where the format does not allow it.

    What the run has already is no reason to refuse: who was interrupted may ask again.
    """
    setup = reopen(run, registry, force, noting=False)
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
    schedule = Schedule(form.extend(plan, asked), judged_formats(registry.formats, setup.judges))
    finished = run.info.finished
    run.force(changes)
    run.extend(
        schedule.plan,
        entrants=(*run.info.entrants, *map(entrant_info, late)),
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
        elif (_bot_in(one.spec), one.digest) == (_bot_in(there[one.name].spec), there[one.name].digest):
            known.append(f"{one.name} is in this run already.")
        else:
            raise UsageError(
                f"There is a {one.name} in {run.folder} already, and it is another bot; give the new one a name of its "
                f"own: --bot NAME={one.spec.removeprefix(f'{one.name}=')}"
            )
    return late, known


def _bot_in(spec: str) -> str:
    """Which bot of a file is meant, with its options, wherever the file is; the whole of what is typed for others."""
    return spec.rpartition("::")[2]


def _asked(
    run: RunFolder, registry: Registry, wanted: RunExtension, late: Sequence[Entrant], entered: Sequence[Entrant]
) -> Plan:
    """The plan of a run that has what is wanted: some of those who are `entered` for it come `late`."""
    plan = run.info.plan
    if wanted.deals is not None:
        check_field("deals", wanted.deals)
    if wanted.deals is not None and wanted.deals < plan.deals:
        raise UsageError(f"{run.folder} has {plan.deals:,} deals; it can get more, not {wanted.deals:,}.")
    games = tuple(_joined(game, late) for game in plan.games)
    for one in late:
        if not any(one.name in game.entrants for game in games):
            raise UsageError(f"{one.name} cannot play {' or '.join(game.name for game in games)}.")
    candidates = tuple(_late_candidates(plan, wanted.candidates, entered))
    name, _, rest = (wanted.format or plan.format).partition(":")
    if name != plan.format:
        raise UsageError(f"{run.folder} is a {plan.format}, and stays one; leave out --format {name}.")
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
                f"{typed} cannot become a candidate: only a bot that comes late can, entered with --bot; who has "
                "played in the field has met the others otherwise."
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
    if finished and new.claims_allow_for != "anytime":
        told.append(
            "Who is told apart is claimed for a length that was chosen beforehand. Going on because nobody was told "
            "apart yet, and looking again, finds somebody too often."
        )
    return told
