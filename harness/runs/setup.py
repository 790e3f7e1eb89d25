"""Turn a request into everything that is needed to play it: plan, games, entrants.

Also what a run folder says about its games and limits. `runs/resume.py` continues a run.
"""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

from msgspec.structs import asdict, replace

from harness._version import VERSION
from harness.core.errors import ArenaError, PluginError, StoreError, UsageError
from harness.core.game import Game
from harness.core.options import DEFAULT_DEALS, BotLimits, run_options
from harness.core.plan import LEAGUE, GamePlan, Plan
from harness.core.records import GameRecord, Isolation, Value
from harness.executors.base import Roster, SandboxLoader
from harness.plugins.entrants import Entrant, check_distinct, is_confined, split_options, unknown_games
from harness.plugins.features import Formats
from harness.plugins.hooks import ListenerPlugin
from harness.plugins.registry import Registry, load
from harness.plugins.trust import untrusted_reason
from harness.runs.request import SAFE_BITS, RunRequest, draw_seed
from harness.runs.scheduler import Schedule
from harness.runs.store import RUN, RunFolder, RunInfo, now

# Setup of a new run from a request, and of an existing run from its folder.


DEFAULT_PLAYERS = 4


@dataclass(frozen=True, slots=True)
class RunSetup:
    """Everything needed to play a plan: its schedule, and the rules and bots behind its names."""

    schedule: Schedule
    games: Mapping[str, Game[Any]]
    entrants: Mapping[str, Entrant]
    warnings: Sequence[str] = ()
    """Sentences for the user."""
    listeners: Sequence[ListenerPlugin] = ()
    """Plugins that are notified of events of the run."""

    @property
    def plan(self) -> Plan:
        """The plan, with every option of its format set."""
        return self.schedule.plan

    @property
    def roster(self) -> Roster:
        """The games and entrants, as executors need them."""
        return Roster(self.games, self.entrants)


def installed(isolate: Isolation = "auto", strict: bool = False) -> Registry:
    """Return a registry of all installed plugins.

    Broken plugins are listed in `problems`; if `strict`, PluginError is raised instead. Bots that are named by a file
    or a command and have to be isolated are loaded in separate processes, even to read their names and options.
    """
    registry = load()
    # Plugins were installed by the user and are loaded here. What is typed later, files and programs, goes through
    # this.
    registry.outside = SandboxLoader(isolate)
    if registry.problems and strict:
        raise PluginError(" ".join(registry.problems))
    return registry


def prepare(request: RunRequest, registry: Registry) -> RunSetup:
    """Return the setup of a new run. Raise an ArenaError that names the allowed values if the request is invalid."""
    # The order of checks is that of the messages: bots first, then games, seats, candidates and the format.
    # Plugins that failed to load are in the list already. Only problems with the bots of this request become warnings.
    known = len(registry.problems)
    registry = _for_file(request, registry)
    by_default = sorted([name for name, offer in registry.bots.items() if offer.cls.by_default])
    entrants = _entered(request, registry, request.bots or by_default)
    broken = registry.problems[known:]
    unknown = unknown_games([(entrant.name, entrant.bot) for entrant in entrants], registry.games)
    if request.strict and (broken or unknown):
        raise UsageError(" ".join([*broken, *unknown]))
    configured = configured_games(request, registry)
    plans, unplayed = [], []
    for name, game in configured.items():
        field = tuple([entrant.name for entrant in entrants if entrant.plays(name)])
        refused = [entrant.refusal(game) for entrant in entrants if entrant.consulted and not entrant.plays(name)]
        if len(field) < game.min_players and not request.games:
            # Not requested by name, and too few bots can play it. An author whose bot is made for it wonders why.
            if request.bots and any(name in entrant.bot.games for entrant in entrants):
                unplayed.append(
                    f"{game.title} is not played: it needs {game.min_players} bots, and only {' and '.join(field)} "
                    f"{'play' if len(field) > 1 else 'plays'} it."
                )
            continue
        with _blaming(request, "bots" if request.players is None else "players"):
            try:
                seats = seats_for(game, request.players, field)
            except UsageError as error:
                said = [str(error), *_others(request, entrants, name), *refused, *unknown]
                raise UsageError(" ".join(said), error.fix, **error.data) from None
        plans.append(
            GamePlan(name=name, rules=game.version, settings=dict(game.settings), players=seats, entrants=field)
        )
    if not plans:
        raise UsageError(" ".join(["No game has enough bots to play it.", *unplayed, *unknown]), fix="bots")
    idle = [e for e in entrants if not any(e.name in plan.entrants for plan in plans)]
    candidates = tuple(_candidates(request, registry, entrants))
    left_out = []
    if idle and request.bots:
        names = [e.name for e in idle]
        why = f"{', '.join(names)} cannot play {' or '.join(plan.name for plan in plans)}"
        if not _chosen_from_file(request):
            refused = [e.refusal(configured[plan.name]) for e in idle if e.consulted for plan in plans]
            with _blaming(request, "bots", find=lambda: _item_named(idle[0].name, request, registry)):
                said = refused if len(idle) == 1 and refused else [f"{why}.", *refused]
                raise UsageError(" ".join([*said, *unknown]))
        left_out = [f"{why}; left out."]
        entrants = [entrant for entrant in entrants if entrant not in idle]
        candidates = tuple([name for name in candidates if name not in names])
    format_name, _, rest = request.format.partition(":")
    with _blaming(request, "format"):
        plan = Plan(
            games=tuple(plans),
            deals=request.deals or DEFAULT_DEALS,
            seed=draw_seed() if request.seed is None else request.seed,
            format=format_name,
            settings=dict(split_options(request.format, rest)),
            candidates=candidates,
        )
        schedule = Schedule(plan, bound_formats(plan, lambda: configured, registry.formats))
        if request.for_ or request.matches_each:
            from harness.runs.planning import check_length, deals_for_matches  # loads the monitor and the ratings

            check_length(schedule)
        if request.matches_each:
            schedule = schedule.with_deals(deals_for_matches(schedule, request.matches_each))
    by_name = {entrant.name: entrant for entrant in entrants}
    warnings = [*broken, *unknown, *unplayed, *left_out, *_guessable(request, entrants)]
    if request.file is not None and request.file.left_out and request.isolate == "auto":
        warnings.append(request.file.left_out)
    return RunSetup(schedule, configured, by_name, warnings, listeners=registry.listeners)


def _for_file(request: RunRequest, registry: Registry) -> Registry:
    """Return the registry that enters the bots of a request: files that a config file or a run names are untrusted."""
    file = request.file
    if file is None or not (file.names(request, "bots") or file.names(request, "candidates")):
        return registry
    return registry.for_names_in(Path(file.path).name)


def _chosen_from_file(request: RunRequest) -> bool:
    """Return whether the bots are those of a config file and the games are not: some bots may be for other games."""
    file = request.file
    return bool(request.games) and file is not None and file.names(request, "bots") and not file.names(request, "games")


def configured_games(request: RunRequest, registry: Registry) -> dict[str, Game[Any]]:
    """Return the requested games by name, with their options set; all installed games if the request names none."""
    chosen = {}
    for number, name in enumerate(request.games or sorted(registry.games)):
        with _blaming(request, "games", number):
            chosen[name] = registry.game(name)
    with _blaming(request, "options", find=lambda: _unfit_option(chosen, request.options)):
        return _configure(chosen, request.options)


@contextmanager
def _blaming(
    request: RunRequest, field: str, *item: str | int, find: Callable[[], tuple[str | int, ...]] | None = None
) -> Iterator[None]:
    """Prefix errors raised in this block with the line of the config file that has the field, if there is one.

    `find` returns the item of the field that the error is about, if that is not known before.
    """
    try:
        yield
    except ArenaError as error:
        if request.file is not None:
            request.file.blame(error, request, field, *(find() if find else item))
        raise


def _entered(request: RunRequest, registry: Registry, bots: Sequence[Any]) -> list[Entrant]:
    """Return the entrants of a request. Raise UsageError if two have the same name."""
    # If the bots come from a file, an iterator tracks which of them is being entered, so that an error can name its
    # line. They are still entered in one call: the registry renames bots in files that have the same name.
    at = 0

    def one_by_one() -> Iterator[Any]:
        nonlocal at
        for at, bot in enumerate(bots):  # noqa: B007 - read when an error is raised
            yield bot

    with _blaming(request, "bots", find=lambda: (at,)):
        entrants = registry.entrants(bots if request.file is None else one_by_one())

    def twice() -> tuple[int, ...]:
        return _item_named(Counter(one.name for one in entrants).most_common(1)[0][0], request, registry)

    with _blaming(request, "bots", find=twice):
        check_distinct(entrants)
    return entrants


def _item_named(name: str, request: RunRequest, registry: Registry) -> tuple[int, ...]:
    """Return the index of the last requested bot that enters a bot of this name; empty if there is none.

    There is none if the name was changed because two bots had the same one.
    """
    entered = [[one.name for one in registry.entrants([bot])] for bot in request.bots]
    return tuple(number for number, names in enumerate(entered) if name in names)[-1:]


def _unfit_option(chosen: Mapping[str, type[Game[Any]]], options: Mapping[str, Value]) -> tuple[str, ...]:
    """Return the first option that is invalid by itself; empty if each of them is valid alone."""
    for key in options:
        try:
            _configure(chosen, {key: options[key]})
        except ArenaError:
            return (key,)
    return ()


def _others(request: RunRequest, entrants: Sequence[Entrant], game: str) -> Iterator[str]:
    """Yield a sentence about the bots that were asked for and do not play this game."""
    names = [each.name for each in entrants if not each.consulted and not each.plays(game)]
    if names and request.bots:
        yield f"{', '.join(names)} {'does' if len(names) == 1 else 'do'} not play it."


def _guessable(request: RunRequest, entrants: Sequence[Entrant]) -> list[str]:
    """Return a warning if isolated bots could guess the seed by brute force and so know all cards; otherwise
    nothing."""
    if request.seed is None or request.seed.bit_length() >= SAFE_BITS:
        return []
    if not [entrant for entrant in entrants if is_confined(entrant.untrusted, request.isolate)]:
        return []
    return [
        f"The seed {request.seed} is so short that a bot can find it by trial, and then knows all cards. "
        f"For a contest give no seed: a long one is drawn, and kept in the run's folder."
    ]


def _candidates(request: RunRequest, registry: Registry, entrants: Sequence[Entrant]) -> Iterator[str]:
    """Yield the names of the candidates. Each may be given by its name as an entrant or as in the list of bots."""
    names = {entrant.name for entrant in entrants}
    for number, candidate in enumerate(request.candidates):
        if candidate in names:
            yield candidate
            continue
        with _blaming(request, "candidates", number):
            found = registry.entrants([candidate])
        for one in found:
            same = [e.name for e in entrants if (e.bot, e.settings, e.source) == (one.bot, one.settings, one.source)]
            yield same[0] if len(same) == 1 else one.name


def configure_early(games: Iterable[str], options: Mapping[str, Value]) -> None:
    """Configure the bundled ones of these games (all if none is named) before workers are forked.

    The workers then inherit them and do not have to configure them again.
    """
    with suppress(Exception):  # `prepare` configures the same games again and reports what is wrong
        ours = {cls.name: cls for cls in import_module("engines").arena_games()}
        _configure({name: ours[name] for name in games or ours if name in ours}, options)


def _configure(chosen: Mapping[str, type[Game[Any]]], options: Mapping[str, Value]) -> dict[str, Game[Any]]:
    """Return the games, each with those options that it declares.

    An option that no game declares is passed to all of them, so that the first raises an error that lists its options.
    """
    unknown = [key for key in options if not any(key in _names(cls) for cls in chosen.values())]
    configured = {}
    for name, cls in chosen.items():
        fitting = {key: value for key, value in options.items() if key in _names(cls) or key in unknown}
        configured[name] = cls.configure(fitting)
    return configured


def _names(cls: type[Game[Any]]) -> set[str]:
    return {option.name for option in cls.options}


def seats_for(game: Game[Any], asked: int | None, field: Sequence[str] | None = None) -> int:
    """Return the number of players in a match: as requested, or as many as there are bots, up to DEFAULT_PLAYERS.

    Raise UsageError if the game does not allow this number, or if the bots that play it (`field`) are too few. In a
    league more bots may join, so it gives no field.
    """
    low, high = game.min_players, game.max_players
    most = DEFAULT_PLAYERS if field is None else min(DEFAULT_PLAYERS, len(field))
    players = asked if asked is not None else max(low, min(high, most))
    if not low <= players <= high:
        raise UsageError(f"{game.title} is for {low} to {high} players, not {players}.")
    if field is not None and len(field) < players:
        listed = f" ({', '.join(field)})" if field else ""
        raise UsageError(
            f"{game.title} with {players} players needs at least {players} bots that play it; "
            f"{len(field)} entered{listed}.",
            fix="bots",
        )
    return players


def seeded(request: RunRequest) -> RunRequest:
    """Return the request with a seed: its own, or a random one if it has none."""
    return replace(request, seed=draw_seed()) if request.seed is None else request


def create_run(request: RunRequest, setup: RunSetup, command: str) -> RunFolder:
    """Create a run folder for a request with this setup, and return it. `command` is recorded in run.json."""
    if request.isolate == "strict" and not request.cluster:  # bots of a cluster run are isolated by its nodes
        from harness.isolation.doctor import require_enforcement  # takes 14 ms, which only strict runs need

        with _blaming(request, "isolate"):
            require_enforcement()  # before the folder is created: a run that cannot be played leaves none behind
    with _blaming(request, "name"):
        folder = run_folder(Path(request.results), request.name)
    # Everything was checked by now: what can be refused leaves no folder behind.
    run = RunFolder.create(folder, info_for(setup, command, asdict(request.limits)))
    run.warnings += setup.warnings
    return run


def run_folder(results: Path, name: str | None) -> Path:
    """Return the path of a new run folder, named after the current time if `name` is None.

    Raise UsageError if `name` cannot be the name of a folder.
    """
    if "\0" in str(results):
        raise UsageError(f"{str(results)!r} cannot be the name of a folder.")
    if name is None:
        stamp = datetime.now().astimezone().strftime("%Y-%m-%d-%H%M%S")
        numbered = (results / (f"{stamp}-{number}" if number else stamp) for number in count())
        return next(folder for folder in numbered if not folder.exists())
    if not name.strip() or name in (".", "..") or any(c in "/\\" or not c.isprintable() for c in name):
        raise UsageError(f"{name!r} cannot be the name of a folder.", fix="results")
    return results / name


def info_for(setup: RunSetup, command: str, limits: Mapping[str, Value]) -> RunInfo:
    """Return the content of run.json for a new run with these limits."""
    files = {digest: text for game in setup.games.values() for digest, text in game.files.items()}
    files |= {digest: text for entrant in setup.entrants.values() for digest, text in entrant.contents.items()}
    return RunInfo(
        arena=VERSION,
        plan=setup.plan,
        entrants=tuple([entrant.info for entrant in setup.entrants.values()]),
        files=files,
        limits=dict(limits),
        command=command,
        machine=this_machine(),
        started=now(),
    )


def this_machine() -> dict[str, str]:
    """Return the description of this machine that is recorded in run.json."""
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "processor": platform.machine(),
    }


def limits_of_run(run: RunFolder) -> BotLimits:
    """Return the limits of the bots of a run, from its run.json.

    Limits that are not recorded there, as in a run of a person's matches, have their defaults.
    """
    known: dict[str, Any] = {key: run.info.limits[key] for key in run_options(BotLimits) if key in run.info.limits}
    try:
        return BotLimits(**known)
    except UsageError as error:
        raise StoreError(f"{run.folder / RUN} was not written by arena: {error}") from None


def isolation_of_run(run: RunFolder) -> Isolation:
    """Return how the bots of a continued run are isolated if the user does not specify it.

    The folder may be untrusted, so its run.json cannot turn isolation off: only the user who continues the run can. If
    another user could have written run.json, all bots are isolated. Isolation does not change the records.
    """
    said = limits_of_run(run).isolate
    if untrusted_reason([run.folder / RUN]):
        return "strict" if said == "strict" else "on"
    return "auto" if said == "off" else said


def resumed_limits(run: RunFolder, given: Mapping[str, Any], force: bool = False) -> BotLimits:
    """Return the limits with which a run is continued: its own, except for those that are `given` now.

    Raise UsageError if one differs from that of the run and `force` is not set. Isolation may always differ: matches
    are the same with any.
    """
    # Other limits could give other results, and the run would be of two kinds of matches.
    begun = limits_of_run(run)
    other = {name: getattr(begun, name) for name, value in given.items() if value != getattr(begun, name)}
    other.pop("isolate", None)
    if other and not force:
        shown = ", ".join(f"{name}={value!r}" for name, value in other.items())
        raise UsageError(f"The run was started with {shown}, which cannot change.", fix="force")
    return replace(begun, **{"isolate": isolation_of_run(run), **given})


def kept_otherwise(run: RunFolder, isolate: Isolation, entrants: Iterable[Entrant]) -> str:
    """Return a sentence if bots of a continued run are isolated although its run.json says otherwise; "" if not."""
    said = limits_of_run(run).isolate
    if not any(is_confined(one.untrusted, isolate) and not is_confined(one.untrusted, said) for one in entrants):
        return ""
    return (
        f"{run.folder / RUN} says isolate={said}, but its bots are isolated as with isolate={isolate}. If you trust "
        f"them, say isolate={said} when you continue the run."
    )


def configure_run(run: RunFolder, registry: Registry) -> dict[str, Game[Any]]:
    """Return the games of a run by name, with their recorded settings."""
    info = run.info
    return {plan.name: registry.game(plan.name).configure(plan.settings, info.files) for plan in info.plan.games}


def bound_formats(plan: Plan, games: Callable[[], Mapping[str, Game[Any]]], formats: Formats) -> Formats:
    """Return the formats, with the one of this plan bound to the plan and its games if it has a `bind` function."""
    form = formats.get(plan.format)
    if form is None or form.bind is None:
        return formats
    return formats | {plan.format: form.bind(plan, games)}


def formats_of(run: RunFolder, registry: Registry) -> Formats:
    """Return the formats for this run, including that of league eras, which is not registered."""
    plan = run.info.plan
    if plan.format == LEAGUE.name:
        return registry.formats | {LEAGUE.name: LEAGUE}
    return bound_formats(plan, lambda: configure_run(run, registry), registry.formats)


def installed_games(run: RunFolder, registry: Registry) -> tuple[dict[str, Game[Any]], list[str]]:
    """Return the games of a run that are installed, and a sentence for each missing one: it has no replays."""
    games: dict[str, Game[Any]] = {}
    problems = []
    for plan in run.info.plan.games:
        try:
            games[plan.name] = registry.game(plan.name).configure(plan.settings, run.info.files)
        except ArenaError as error:
            problems.append(f"There are no replays of {plan.name}: {error}")
    return games, problems


def game_of(run: RunFolder, registry: Registry, record: GameRecord) -> Game[Any]:
    """Return the game of a record with its settings in this run. Raise StoreError if the run does not play it."""
    games = configure_run(run, registry)
    if record.game not in games:
        raise StoreError(f"{run.folder}: {record.id} is a match of {record.game}, which this run does not play.")
    return games[record.game]
