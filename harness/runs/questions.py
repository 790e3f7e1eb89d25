"""Is one bot better than another? A run that asks it, for each game that both play, and what its records answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace as replaced
from itertools import groupby
from pathlib import Path

from msgspec.structs import replace

from harness.core.errors import UnknownName, UsageError
from harness.core.format import Plan
from harness.core.types import GameRecord, Value
from harness.plugins.entrants import Entrant
from harness.plugins.house_bots import house_bots
from harness.plugins.registry import Registry
from harness.ratings.comparison import Verdict
from harness.ratings.duel_judge import DuelJudge
from harness.ratings.question import FORMER, MARGIN, OFFERED
from harness.runs.duel_judges import judged_formats, judges_of, luck_setting
from harness.runs.request import BotLike, RunRequest
from harness.runs.run_setup import RunSetup, info_for, prepare, reopen, run_folder
from harness.runs.store import RunFolder
from harness.schedule import Schedule
from harness.schedule.compare import COMPARE, NO_JUDGES, sequential_test


def question_settings(
    margin: float | None, indifference: float | None, way: str | None, thorough: bool
) -> dict[str, Value]:
    """The options of the format `compare` for what was asked; None is the default."""
    if margin is not None and indifference is not None:
        raise UsageError("A margin or an indifference, not both: they are different questions; see docs/ratings.md.")
    if way is not None and way not in OFFERED:
        raise UnknownName("way to compare", way, OFFERED)
    return {
        "margin": MARGIN if margin is None else margin,
        "indifference": 0.0 if indifference is None else indifference,
        "way": way or "auto",
        "thorough": thorough,
    }


def create_comparison(
    one: BotLike,
    other: BotLike,
    request: RunRequest,
    registry: Registry,
    command: str,
    settings: dict[str, Value],
    luck_adjusted: bool = False,
) -> tuple[RunFolder, RunSetup]:
    """A new run folder for a comparison, and what is needed to play it.

    The request's bots are the others at the table, its deals the most matches that are played; `settings` are options
    of the format `compare`; `luck_adjusted` takes luck out of the results, by the value functions that games bring.
    """
    setup = prepare_comparison(one, other, request, registry, settings, luck_adjusted)
    folder = run_folder(Path(request.results), request.name)
    return RunFolder.create(folder, info_for(setup, command, request.limits)), setup


def prepare_comparison(
    one: BotLike,
    other: BotLike,
    request: RunRequest,
    registry: Registry,
    settings: dict[str, Value],
    luck_adjusted: bool = False,
) -> RunSetup:
    """Each game that both bots play, at a table with the request's bots and as many house bots as it lacks."""
    entered = _entered(registry, one, other, request.bots)
    games = _games(registry, request.games, entered[:2])
    absent_one = 1 if settings.get("way") == "gauntlet" else 0  # the two take turns at one place
    fillers = {}
    for name in games:
        there = [entrant.name for entrant in entered if entrant.plays(name)]
        lacking = max(0, registry.game(name).min_players + absent_one - len(there))
        fillers[name] = house_bots(registry, name, lacking, {entrant.name for entrant in entered})
    house = tuple(dict.fromkeys(bot for bots in fillers.values() for bot in bots))
    bots = (one, other, *request.bots, *house)
    setup = prepare(replace(request, games=tuple(games), bots=bots, players=None, format="round-robin"), registry)
    names = list(setup.entrants)
    named = dict(zip(house, names[len(names) - len(house) :], strict=True))
    plans = []
    for plan in setup.plan.games:
        absent = {named[bot] for bot in house if bot not in fillers[plan.name]}
        table = tuple(name for name in plan.entrants if name not in absent)
        game = setup.games[plan.name]
        players = len(table) - absent_one
        if players > game.max_players:
            raise UsageError(f"{game.title} is for at most {game.max_players} players, not {players}.")
        plans.append(replace(plan, players=players, entrants=table))
    if luck_adjusted:
        settings = {**settings, "luck": luck_setting(setup.games[plan.name] for plan in plans)}
    asked = replace(
        setup.plan, games=tuple(plans), format=COMPARE.name, settings=settings, candidates=(names[0], names[1])
    )
    return _scheduled(setup, asked, registry)


def _scheduled(setup: RunSetup, asked: Plan, registry: Registry) -> RunSetup:
    judges = judges_of(asked, setup.games)
    return replaced(setup, schedule=Schedule(asked, judged_formats(registry.formats, judges)), judges=judges)


def _entered(registry: Registry, one: BotLike, other: BotLike, company: Iterable[BotLike]) -> list[Entrant]:
    """Those who were named, the two first, by the names they have beside each other."""
    for bot in (one, other):
        registry.entrant(bot)  # it must be one
    return registry.entrants([one, other, *company])


def _games(registry: Registry, asked: Iterable[str], pair: list[Entrant]) -> list[str]:
    """The games that are asked for, or all that both play."""
    for name in dict.fromkeys(asked):
        for bot in pair:
            if not bot.plays(registry.game(name).name):
                raise UsageError(f"{bot.name} does not play {registry.game(name).title}.")
    games = list(dict.fromkeys(asked)) or [name for name in sorted(registry.games) if all(b.plays(name) for b in pair)]
    if not games:
        raise UsageError(f"There is no game that both {pair[0].name} and {pair[1].name} play.")
    return games


def reopen_comparison(
    run: RunFolder, registry: Registry, force: bool = False, most: int | None = None, thorough: bool = False
) -> RunSetup:
    """A comparison to be continued: as it was asked for, or with more matches.

    That may be decided after seeing the results: the test holds whenever one looks and however one decides to go on, as
    long as the matches go on where they were. So nothing else of the question can be changed.
    """
    plan = run.info.plan
    if plan.format != COMPARE.name:
        raise UsageError(f"{run.folder} is no comparison; continue it with: arena tournament --resume {run.folder}")
    if most is not None and most < plan.deals:
        what = counted(plan)
        raise UsageError(f"{run.folder} goes up to {plan.deals:,} {what}; with --most it can have more, not {most:,}.")
    setup = reopen(run, registry, force)
    settings = plan.settings | ({"thorough": True} if thorough else {})
    asked = replace(plan, deals=plan.deals if most is None else most, settings=settings)
    if asked == plan:
        return setup
    run.extend(asked)
    return _scheduled(setup, asked, registry)


def counted(plan: Plan) -> str:
    """What --most counts in a comparison: matches, but sets in one that an earlier arena began."""
    return "sets" if plan.settings["way"] in FORMER else "matches"


def verdicts(plan: Plan, records: Iterable[GameRecord], judges: Mapping[str, DuelJudge] = NO_JUDGES) -> list[Verdict]:
    """What the records of a comparison say, game by game; of one that is not complete, its first whole units.

    Of a game whose luck is to be taken out nothing is said unless there is a judge for it.
    """
    kept = records if judges else (replace(record, actions=()) if record.actions else record for record in records)
    known = sorted(kept, key=lambda record: record.index)
    found = []
    for game in plan.games:
        test = sequential_test(game, plan, judges)
        if test is None:
            continue
        units = groupby((record for record in known if record.game == game.name), key=lambda record: record.set)
        for number, (name, played) in enumerate(units, 1):
            matches = list(played)
            if name != f"{game.name}-{number}" or len(matches) < test.question.size(test.unit):
                break  # somebody stopped the run in the middle of a unit
            test.add(matches)
        if test.matches:
            found.append(test.verdict())
    return found
