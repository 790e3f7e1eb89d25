"""From a request to everything that is needed to play it: plan, games, entrants; and what a dry run reports."""

from __future__ import annotations

import dataclasses
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from itertools import combinations, count, islice
from pathlib import Path
from time import perf_counter
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from harness._version import VERSION
from harness.core.errors import ArenaError, PluginError, StoreError, UsageError
from harness.core.game import Game
from harness.core.options import BotLimits, run_options
from harness.core.plan import LEAGUE, GamePlan, Plan
from harness.core.records import GameRecord, Isolation, MatchSpec, Value
from harness.core.table import Table
from harness.executors.base import Roster, SandboxLoader
from harness.match.referee import play
from harness.plugins.discovery import shown
from harness.plugins.entrants import BotInfo, Entrant, check_distinct, split_options, unknown_games
from harness.plugins.features import Formats
from harness.plugins.hooks import ListenerPlugin
from harness.plugins.registry import Registry, load
from harness.plugins.trust import is_confined, untrusted_reason
from harness.runs.request import SAFE_BITS, RunRequest, draw_seed
from harness.runs.scheduler import Schedule
from harness.runs.store import RUN, RunFolder, RunInfo

# From what was asked to a plan with rules and bots behind its names, for a new run or one to be continued.


DEFAULT_PLAYERS = 4


@dataclass(frozen=True, slots=True)
class RunSetup:
    """Everything needed to play a plan: its schedule, and the rules and bots behind its names."""

    schedule: Schedule
    games: Mapping[str, Game[Any]]
    entrants: Mapping[str, Entrant]
    warnings: Sequence[str] = ()
    """What whoever asked for it should know."""
    listeners: Sequence[ListenerPlugin] = ()
    """Who wants to hear of what happens."""

    @property
    def plan(self) -> Plan:
        """The plan, with every option of its format set."""
        return self.schedule.plan

    @property
    def roster(self) -> Roster:
        """What executors need of it."""
        return Roster(self.games, self.entrants)


def installed(isolate: Isolation = "auto", strict: bool = False) -> Registry:
    """All plugins; a broken one is named in `problems`, or raised if `strict`.

    Bots that are to be confined, being named by a file or a command, are asked what they are in processes of their own.
    """
    registry = load()
    registry.outside = SandboxLoader(isolate)
    if registry.problems and strict:
        raise PluginError(" ".join(registry.problems))
    return registry


def prepare(request: RunRequest, registry: Registry) -> RunSetup:
    """Turns names into a plan; whatever does not fit is refused with what is allowed."""
    by_default = sorted(name for name, offer in registry.bots.items() if offer.cls.by_default)
    told = len(registry.problems)
    entrants = _entered(request, registry, by_default)
    broken = registry.problems[told:]
    unknown = unknown_games([(entrant.name, entrant.bot) for entrant in entrants], registry.games)
    if request.strict and (broken or unknown):
        raise UsageError(" ".join([*broken, *unknown]))
    configured = configured_games(request, registry)
    plans = []
    for name, game in configured.items():
        field = tuple(entrant.name for entrant in entrants if entrant.plays(name))
        if len(field) < game.min_players and not request.games:
            continue  # not asked for by name, and nobody to play it
        with _blaming(request, "bots" if request.players is None else "players"):
            try:
                seats = seats_for(game, request.players, field)
            except UsageError as error:
                raise UsageError(" ".join([str(error), *unknown]), error.fix, **error.data) from None
        plans.append(
            GamePlan(name=name, rules=game.version, settings=dict(game.settings), players=seats, entrants=field)
        )
    if not plans:
        raise UsageError("No game has enough bots to play it.", fix="bots")
    idle = [e.name for e in entrants if not any(e.name in plan.entrants for plan in plans)]
    if idle and request.bots:
        why = f"{', '.join(idle)} cannot play {' or '.join(plan.name for plan in plans)}."
        with _blaming(request, "bots", *_item_named(idle[0], request, registry)):
            raise UsageError(" ".join([why, *unknown]))
    candidates = tuple(_candidates(request, registry, entrants))
    format_name, _, rest = request.format.partition(":")
    with _blaming(request, "format"):
        plan = Plan(
            games=tuple(plans),
            deals=request.deals,
            seed=draw_seed() if request.seed is None else request.seed,
            format=format_name,
            settings=dict(split_options(request.format, rest)),
            candidates=candidates,
        )
        schedule = Schedule(plan, bound_formats(plan, lambda: configured, registry.formats))
    by_name = {entrant.name: entrant for entrant in entrants}
    warnings = [*broken, *unknown, *_guessable(request, entrants)]
    if request.file is not None and request.file.left_out and request.isolate == "auto":
        warnings.append(request.file.left_out)
    return RunSetup(schedule, configured, by_name, warnings, listeners=registry.listeners)


def configured_games(request: RunRequest, registry: Registry) -> dict[str, Game[Any]]:
    """The games that are asked for, with their options."""
    chosen = {}
    for number, name in enumerate(request.games or sorted(registry.games)):
        with _blaming(request, "games", number):
            chosen[name] = registry.game(name)
    try:
        return _configure(chosen, request.options)
    except ArenaError as error:
        _blame(error, request, "options", *_unfit_option(chosen, request.options))
        raise


@contextmanager
def _blaming(request: RunRequest, field: str, *item: str | int) -> Iterator[None]:
    """Whatever is wrong inside of this is told with the line of a file that asked for it."""
    try:
        yield
    except ArenaError as error:
        _blame(error, request, field, *item)
        raise


def _blame(error: ArenaError, request: RunRequest, field: str, *item: str | int) -> None:
    if request.file is not None:
        request.file.blame(error, request, field, *item)


def _entered(request: RunRequest, registry: Registry, by_default: Sequence[str]) -> list[Entrant]:
    """The bots of a request; no two have one name."""
    at = 0

    def one_by_one() -> Iterator[Any]:
        nonlocal at
        for at, bot in enumerate(request.bots or by_default):  # noqa: B007 - it is told if this bot cannot be entered
            yield bot

    try:
        entrants = registry.entrants((request.bots or by_default) if request.file is None else one_by_one())
    except ArenaError as error:
        _blame(error, request, "bots", at)
        raise
    try:
        check_distinct(entrants)
    except UsageError as error:
        twice = Counter(one.name for one in entrants).most_common(1)[0][0]
        _blame(error, request, "bots", *_item_named(twice, request, registry))
        raise
    return entrants


def _item_named(name: str, request: RunRequest, registry: Registry) -> tuple[int, ...]:
    """The last of the bots that were asked for which enters somebody of this name; none if they are told apart."""
    if request.file is None:
        return ()
    entered = [[one.name for one in registry.entrants([bot])] for bot in request.bots]
    return tuple(number for number, names in enumerate(entered) if name in names)[-1:]


def _unfit_option(chosen: Mapping[str, type[Game[Any]]], options: Mapping[str, Value]) -> tuple[str, ...]:
    """The option that no game takes, if it is one alone."""
    for key in options:
        try:
            _configure(chosen, {key: options[key]})
        except ArenaError:
            return (key,)
    return ()


def _guessable(request: RunRequest, entrants: Sequence[Entrant]) -> list[str]:
    """A sentence where bots that are kept from each other's cards could find out the seed, and with it all cards."""
    confined = any(is_confined(entrant.untrusted, request.isolate) for entrant in entrants)
    if not confined or request.seed is None or request.seed.bit_length() >= SAFE_BITS:
        return []
    return [
        f"The seed {request.seed} is so short that a bot can find it by trial, and then knows all cards. "
        f"For a contest give no seed: a long one is drawn, and kept in the run's folder."
    ]


def _candidates(request: RunRequest, registry: Registry, entrants: Sequence[Entrant]) -> Iterator[str]:
    """The names of the candidates, which may be typed as they were entered or by the names they have now."""
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
    """Configures those of arena's own among these games (none named: all), before workers are forked: then each has
    them at once. What cannot be configured is told when it is asked for in earnest."""
    with suppress(Exception):
        ours = {cls.name: cls for cls in import_module("engines").arena_games()}
        _configure({name: ours[name] for name in games or ours if name in ours}, options)


def _configure(chosen: Mapping[str, type[Game[Any]]], options: Mapping[str, Value]) -> dict[str, Game[Any]]:
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
            f"{len(field)} entered{listed}.",
            fix="bots",
        )
    return players


def seeded(request: RunRequest) -> RunRequest:
    """The request with a seed: its own, or one that is drawn."""
    return replace(request, seed=draw_seed()) if request.seed is None else request


def create_run(request: RunRequest, registry: Registry, command: str) -> tuple[RunFolder, RunSetup]:
    """A new run folder for what was asked, and what is needed to play it; `command` says how to ask for it again."""
    setup = prepare(request, registry)
    if request.isolate == "strict" and not request.cluster:  # else it is for the nodes to say
        from harness.isolation.doctor import require_enforcement

        with _blaming(request, "isolate"):
            require_enforcement()  # before there is a folder of a run that cannot be played
    with _blaming(request, "name"):
        folder = run_folder(Path(request.results), request.name)
    run = RunFolder.create(folder, info_for(setup, command, asdict(request.limits)))
    run.warnings += setup.warnings
    return run, setup


def run_folder(results: Path, name: str | None) -> Path:
    """The folder of a new run: its name, or the time."""
    if name is None:
        stamp = datetime.now().astimezone().strftime("%Y-%m-%d-%H%M%S")
        numbered = (results / (f"{stamp}-{number}" if number else stamp) for number in count())
        return next(folder for folder in numbered if not folder.exists())
    if not name.strip() or name in (".", "..") or any(c in "/\\" or not c.isprintable() for c in name):
        raise UsageError(f"{name!r} cannot be the name of a folder.", fix="results")
    return results / name


def info_for(setup: RunSetup, command: str, limits: Mapping[str, Value]) -> RunInfo:
    """Return what run.json will say, with these limits."""
    files = {digest: text for game in setup.games.values() for digest, text in game.files.items()}
    files |= {digest: text for entrant in setup.entrants.values() for digest, text in entrant.contents.items()}
    return RunInfo(
        arena=VERSION,
        plan=setup.plan,
        entrants=tuple(entrant.info for entrant in setup.entrants.values()),
        files=files,
        limits=dict(limits),
        command=command,
        machine=this_machine(),
        started=now(),
    )


def this_machine() -> dict[str, str]:
    """What run.json says of where it was begun."""
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "processor": platform.machine(),
    }


def now() -> str:
    """The time as it is written into run.json."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def limits_of_run(run: RunFolder) -> BotLimits:
    """Return what the bots of a run may use, as its run.json says; what it does not say, as where a person plays, has
    its default."""
    known: dict[str, Any] = {key: run.info.limits[key] for key in run_options(BotLimits) if key in run.info.limits}
    try:
        return BotLimits(**known)
    except UsageError as error:
        raise StoreError(f"{run.folder / RUN} was not written by arena: {error}") from None


def isolation_of_run(run: RunFolder) -> Isolation:
    """How the bots of a run that is continued are kept, if nobody says it now.

    The folder may come from a stranger: that programs play with our rights is for whoever continues it to say, and what
    another user has written leaves no bot unconfined. The records are the same either way.
    """
    said = limits_of_run(run).isolate
    if untrusted_reason([run.folder / RUN]):
        return "strict" if said == "strict" else "on"
    return "auto" if said == "off" else said


_STRENGTH: Sequence[Isolation] = ("off", "auto", "on", "strict")


def resumed_limits(run: RunFolder, given: Mapping[str, Any], force: bool = False) -> BotLimits:
    """Return the limits that a run is continued with: its own, but for those that are `given` now.

    A limit that differs from the run's is refused without `force`, unless it isolates bots more strictly.
    """
    begun = limits_of_run(run)
    other = {name: getattr(begun, name) for name, value in given.items() if value != getattr(begun, name)}
    if "isolate" in other and _STRENGTH.index(given["isolate"]) >= _STRENGTH.index(begun.isolate):
        del other["isolate"]
    if other and not force:
        shown = ", ".join(f"{name}={value!r}" for name, value in other.items())
        raise UsageError(f"The run was begun with {shown}; leave that as it is.", fix="force")
    return replace(begun, **{"isolate": isolation_of_run(run), **given})


def kept_otherwise(run: RunFolder, isolate: Isolation, entrants: Iterable[Entrant]) -> str:
    """A sentence where bots of a run that is continued are confined, and its run.json says that they are not."""
    said = limits_of_run(run).isolate
    if not any(is_confined(one.untrusted, isolate) and not is_confined(one.untrusted, said) for one in entrants):
        return ""
    return (
        f"{run.folder / RUN} says isolate={said}, but its bots are isolated as with isolate={isolate}. If you trust "
        f"them, say isolate={said} when you continue the run."
    )


def reopen(run: RunFolder, registry: Registry, force: bool = False, noting: bool = True) -> RunSetup:
    """A run to be continued, with its bots and rules as they are installed now; refuses it if they changed. That it is
    continued all the same is noted in its run.json, unless whoever asks does so later (`noting`)."""
    setup = restore(run, registry)
    absent = sorted({name for plan in setup.plan.games for name in plan.entrants} - setup.entrants.keys())
    if absent:
        raise StoreError(
            f"{run.folder} cannot be continued, not even by force: {RUN} has {', '.join(map(shown, absent))} play, "
            f"and what it enters is {', '.join(map(shown, setup.entrants))}."
        )
    changes = changes_since(run.info, setup)
    if changes and not force:
        raise StoreError(f"{run.folder} cannot be continued: {'; '.join(changes)}.", fix="force")
    if noting:
        run.force(changes)
    run.warnings += [f"continued although {change}." for change in changes]
    return setup


def restore(run: RunFolder, registry: Registry) -> RunSetup:
    """The schedule, rules and bots of a run, as installed now."""
    refuse_era(run)
    for info in run.info.entrants:
        if info.ref.place and not Path(info.ref.place).exists():
            raise UsageError(
                f"There is no file {info.ref.place}. Paths are those of the folder in which the run was begun: "
                f"go on from there."
            )
    entrants = {entrant.name: entrant for entrant in enter_again(run, registry, run.info.entrants)}
    games = configure_run(run, registry)
    schedule = Schedule(run.info.plan, bound_formats(run.info.plan, lambda: games, registry.formats))
    return RunSetup(schedule, games, entrants, listeners=registry.listeners)


def refuse_era(run: RunFolder) -> None:
    """Refuses the era of a league, which is not played by itself."""
    if run.info.plan.format == LEAGUE.name:
        raise UsageError(f"{run.folder} is an era of a league and is played by the league.", fix="league-run")


def enter_again(run: RunFolder, registry: Registry, entrants: Iterable[BotInfo]) -> list[Entrant]:
    """Return these bots of a run, as they are installed now; for files that their options name, the run has the texts.

    The run may be untrusted: so no lists and patterns in its references are expanded, and no other files are read.
    """
    return dataclasses.replace(registry, contents=run.info.files).entrants(info.ref for info in entrants)


def configure_run(run: RunFolder, registry: Registry) -> dict[str, Game[Any]]:
    """The games of a run with their recorded settings."""
    info = run.info
    return {plan.name: registry.game(plan.name).configure(plan.settings, info.files) for plan in info.plan.games}


def bound_formats(plan: Plan, games: Callable[[], Mapping[str, Game[Any]]], formats: Formats) -> Formats:
    """Return the formats as a plan needs them: its own may be bound to the plan and its games."""
    form = formats.get(plan.format)
    if form is None or form.bind is None:
        return formats
    return formats | {plan.format: form.bind(plan, games)}


def formats_of(run: RunFolder, registry: Registry) -> Formats:
    """Return the formats as this run needs them; the format of a league's era is in no list."""
    plan = run.info.plan
    if plan.format == LEAGUE.name:
        return registry.formats | {LEAGUE.name: LEAGUE}
    return bound_formats(plan, lambda: configure_run(run, registry), registry.formats)


def installed_games(run: RunFolder, registry: Registry) -> tuple[dict[str, Game[Any]], list[str]]:
    """The games of a run as far as they are installed, and a sentence on each that is not: its replays are missed."""
    games: dict[str, Game[Any]] = {}
    problems = []
    for plan in run.info.plan.games:
        try:
            games[plan.name] = registry.game(plan.name).configure(plan.settings, run.info.files)
        except ArenaError as error:
            problems.append(f"There are no replays of {plan.name}: {error}")
    return games, problems


def game_of(run: RunFolder, registry: Registry, record: GameRecord) -> Game[Any]:
    """The game of a record with its settings in this run."""
    games = configure_run(run, registry)
    if record.game not in games:
        raise StoreError(f"{run.folder}: {record.id} is a match of {record.game}, which this run does not play.")
    return games[record.game]


def changes_since(info: RunInfo, setup: RunSetup) -> list[str]:
    """In what rules and bots are not those that played, in clauses."""
    changes = [
        f"the rules of {plan.name} are version {setup.games[plan.name].version} now, the run has {plan.rules}"
        for plan in info.plan.games
        if setup.games[plan.name].version != plan.rules
    ]
    told = (entrant_change(old, setup.entrants.get(old.name)) for old in info.entrants)
    return changes + [change for change in told if change]


def entrant_change(old: BotInfo, new: Entrant | None) -> str:
    """In what a bot is not the one that played, in a clause; empty if it is."""
    if new is None:
        return f"the bot {old.name} is gone"
    if new.version != old.version:
        return f"the bot {old.name} is version {new.version} now, the run has {old.version}"
    if new.digest != old.digest:
        return f"the source of the bot {old.name} has been changed ({new.digest} now, not {old.digest})"
    return ""


# How even a schedule is: who plays how often, in which seats, and against whom. For `--dry-run`, and for tests.


MOST_LOOKED_AT, MOST_SIMULATED = 100_000, 10_000
"""Matches of a plan that a report looks at, unless told otherwise; results to simulate take longer."""


class BotBalance(Struct, frozen=True):
    """One bot's part of a schedule."""

    bot: str
    matches: int
    seats: tuple[int, ...]
    """Matches in each seat."""
    least: int
    """Meetings with the opponent met least often, of all bots of the game that play at all."""
    most: int
    """Meetings with the opponent met most often."""


class GameBalance(Struct, frozen=True):
    """One game's part of a schedule."""

    game: str
    matches: int
    bots: tuple[BotBalance, ...]


def report(schedule: Schedule, most: int | None = None) -> list[GameBalance]:
    """The balance of the first `most` matches of a schedule; of adaptive formats, of a simulation with equal bots."""
    if most is None:
        most = MOST_SIMULATED if schedule.adaptive else MOST_LOOKED_AT
    return measure(islice(schedule.simulated(), most))


def measure(specs: Iterable[MatchSpec]) -> list[GameBalance]:
    """The balance of these matches, game by game."""
    games: dict[str, _Counts] = {}
    for spec in specs:
        games.setdefault(spec.game, _Counts()).add(spec.seats)
    return [counts.balance(game) for game, counts in games.items()]


class _Counts:
    def __init__(self) -> None:
        self.matches = 0
        self.seats: dict[str, dict[int, int]] = {}
        self.met: dict[str, dict[str, int]] = {}
        self.players = 0

    def add(self, seats: tuple[str, ...]) -> None:
        self.matches += 1
        self.players = max(self.players, len(seats))
        for seat, bot in enumerate(seats):
            sat = self.seats.setdefault(bot, {})
            sat[seat] = sat.get(seat, 0) + 1
        for one, two in combinations(seats, 2):
            for bot, other in ((one, two), (two, one)):
                met = self.met.setdefault(bot, {})
                met[other] = met.get(other, 0) + 1

    def balance(self, game: str) -> GameBalance:
        bots = []
        for bot in sorted(self.seats):
            seats = tuple(self.seats[bot].get(seat, 0) for seat in range(self.players))
            meetings = [self.met.get(bot, {}).get(other, 0) for other in self.seats if other != bot] or [0]
            bots.append(BotBalance(bot, sum(seats), seats, min(meetings), max(meetings)))
        return GameBalance(game, self.matches, tuple(bots))


def balance_tables(balances: Iterable[GameBalance]) -> Iterator[Table]:
    """Yield the balance of each game as a table."""
    for each in balances:
        seats = [f"seat {seat}" for seat in range(len(each.bots[0].seats) if each.bots else 0)]
        rows = [[bot.bot, bot.matches, *bot.seats, bot.least, bot.most] for bot in each.bots]
        title = f"{each.game}: {each.matches:,} matches of {len(each.bots)} bots"
        yield Table(title, ["bot", "matches", *seats, "met least", "met most"], rows)


# How long a run will take, from a few of its matches.


MOST_MATCHES = 12
MOST_SECONDS = 5.0


def seconds_per_match(schedule: Schedule, roster: Roster) -> float:
    """How long a match of this schedule takes on one core, from a few of them; at least one is played."""
    specs = list(islice(schedule.simulated(), 2000))
    step = max(1, len(specs) // MOST_MATCHES)
    spent, played = 0.0, 0
    try:
        for spec in specs[::step]:
            seats = roster.seats(spec)  # starts the processes of bots that have their own: not part of a match
            began = perf_counter()
            play(spec, roster.games[spec.game], seats)
            spent, played = spent + perf_counter() - began, played + 1
            if spent > MOST_SECONDS:
                break
    finally:
        roster.close()
    return spent / played
