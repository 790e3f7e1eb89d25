"""The folder of a league: its config file, its eras, and the events that listeners receive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import asdict, replace

from harness._version import VERSION
from harness.core.errors import StoreError, UsageError
from harness.core.files import Folder, cannot_write, limited_lines, write_whole
from harness.core.game import Game
from harness.core.options import SIZES, BotLimits, RunOptions, run_options
from harness.core.plan import LEAGUE, GamePlan, Plan
from harness.core.records import Value
from harness.league.journal import (
    JOURNAL,
    BotEvent,
    BotJoined,
    Decision,
    EntriesSeen,
    EraBegun,
    Journal,
    JournalEntry,
)
from harness.league.members import Membership, split_version
from harness.plugins.entrants import BotInfo
from harness.plugins.hooks import LeagueChange, LeagueStatus, Listeners
from harness.plugins.registry import Registry
from harness.runs.config_file import write_config_file
from harness.runs.reader import GAMES
from harness.runs.request import RunRequest, draw_seed
from harness.runs.setup import configured_games, seats_for, this_machine
from harness.runs.store import RUN, RunFolder, RunInfo, lock, now

# Eras, the seasons of a league. An era lasts as long as games, rules, options and limits stay the same, and has a run
# folder. Files, seeds and commands use the word "era".


ERAS = "eras"
LIMITS_WITHOUT_ERA = ("isolate", "keep_processes", "ponder", "max_faults")
"""Limits that may change within an era: matches are the same with any value of them."""


@dataclass(frozen=True, slots=True)
class SeasonConfig:
    """The games, rules and limits of an era."""

    plans: tuple[GamePlan, ...]
    """Games with rules, options and seats, without entrants: these are in the journal."""
    limits: BotLimits
    """Without the number of workers: the limits of a league do not depend on the machine."""
    files: Mapping[str, str]
    """Digest -> content of files that options of games name."""
    games: Mapping[str, Game[Any]]

    @classmethod
    def from_request(cls, request: RunRequest, registry: Registry) -> SeasonConfig:
        """Return the config for a request from a league's config file, with the installed rules."""
        games = configured_games(request, registry)
        plans = tuple(
            GamePlan(
                name=name,
                rules=game.version,
                settings=dict(game.settings),
                players=seats_for(game, request.players),
                entrants=(),
            )
            for name, game in sorted(games.items())
        )
        files = {digest: text for game in games.values() for digest, text in game.files.items()}
        return cls(plans, replace(request, workers=None).limits, files, games)

    def is_of_era(self, era: EraBegun) -> bool:
        """Return whether an era was begun with this config."""
        return self.plans == era.plans and not _changed_limits(era, self)


def describe_change(old: EraBegun, config: SeasonConfig) -> str:
    """Return how a config differs from that of an era, as clauses."""
    said = []
    before = {plan.name: plan for plan in old.plans}
    for plan in config.plans:
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
    for key in _changed_limits(old, config):
        now_value, then = _text(getattr(config.limits, key)), _text(getattr(old.limits or BotLimits(), key))
        said.append(f"{key.replace('_', ' ')} is {now_value} instead of {then}")
    return "; ".join(said)


def _changed_limits(era: EraBegun, config: SeasonConfig) -> list[str]:
    """Return the names of the limits that matches depend on and that differ from those of an era."""
    names = (name for name in BotLimits.__struct_fields__ if name not in LIMITS_WITHOUT_ERA)
    then = era.limits or BotLimits()
    return [name for name in names if getattr(then, name) != getattr(config.limits, name)]


def _text(value: Value) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def era_folder(league: Path, era: int) -> Folder:
    """Return the run folder of an era."""
    return Folder(league).below(f"{ERAS}/{era}")


def create_era(league: Path, era: int, config: SeasonConfig, seed: int | None) -> RunFolder:
    """Create the run folder of an era."""
    seed = draw_seed() if seed is None else seed
    plan = Plan(games=config.plans, deals=1, seed=seed, format=LEAGUE.name, design=LEAGUE.design)
    info = RunInfo(
        arena=VERSION, plan=plan, entrants=(), files=dict(config.files), limits=asdict(config.limits),
        command="arena league run", machine=this_machine(), started=now(),
    )  # fmt: skip
    return RunFolder.create(era_folder(league, era), info)


def open_era(league: Path, era: int) -> RunFolder:
    """Open the run folder of an era."""
    folder = era_folder(league, era)
    if not folder.has_file(RUN):
        raise StoreError(
            f"{folder.path} is missing, but the journal says that era {era} was played. Restore the folder."
        )
    return RunFolder.open(folder)


def write_entrants(
    run: RunFolder, entrants: Sequence[BotInfo], membership: Membership, files: Mapping[str, str]
) -> None:
    """Write the entrants of an era into its run.json."""
    plan = run.info.plan
    games = tuple(replace(game, entrants=membership.all_entrants(game.name)) for game in plan.games)
    run.admit(replace(plan, games=games), tuple(entrants), {**run.info.files, **files})


SETTINGS = "arena.toml"
COMMENT = "# What this league plays. A change of games, options or time control begins an era: arena league run"
NOT_FOR_LEAGUES = {
    "bots": "bots join a league later, one by one",
    "candidates": "a league has none",
    **dict.fromkeys(SIZES, "arena league run has options for the number of matches"),
    "format": "a league has its own way to seat bots",
    "name": "a league is named after its folder",
    "results": "a league keeps its records in its own folder",
    "show_output": "what bots print is in the logs of each era",
}
"""Keys of a run's config file that are not allowed in that of a league, and what to do instead."""


class LeagueFolder:
    """A league on disk. `create` and `open` return one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.journal = Journal(folder)

    @classmethod
    def create(cls, folder: Path, request: RunRequest, registry: Registry) -> LeagueFolder:
        """Create a league that plays what is requested."""
        if (folder / JOURNAL).exists():
            raise StoreError(f"{folder} already contains a league.")
        _check_request(request)
        SeasonConfig.from_request(request, registry)  # report mistakes before there is a folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(folder, error) from error
        if not (folder / SETTINGS).exists():
            write_config_file(request, folder / SETTINGS, comment=COMMENT)
        # The journal comes last: it makes the folder a league, so a crash before this leaves none.
        write_whole(Folder(folder), JOURNAL, b"")
        return cls(folder)

    @classmethod
    def open(cls, folder: Path) -> LeagueFolder:
        """Open a league and read its journal."""
        if not (folder / JOURNAL).exists():
            what = "is not a league: it has no journal.jsonl" if folder.is_dir() else "does not exist"
            raise StoreError(f"{folder} {what}.", fix="league-init", folder=str(folder))
        found = cls(folder)
        found.journal.read()
        return found

    def request(self, **given: Any) -> RunRequest:
        """Return the request in the config file, with fields replaced by those in `given`."""
        request = RunRequest.from_file(self.folder / SETTINGS, **given)
        _check_request(request)
        return request

    def request_with(self, **given: Any) -> RunRequest:
        """Return the request with those of these fields that are not None: the file has the rest."""
        return self.request(**{name: value for name, value in given.items() if value is not None})

    @property
    def membership(self) -> Membership:
        """The current members of the league."""
        return Membership.after_entries(self.journal.entries)

    @property
    def eras(self) -> list[EraBegun]:
        """The eras that have begun, in order."""
        return [entry for entry in self.journal.entries if isinstance(entry, EraBegun)]

    def played_eras(self) -> list[EraBegun]:
        """Return the eras in which bots were seated: these have folders."""
        begun = {entry.era for entry in self.journal.entries if isinstance(entry, EntriesSeen)}
        return [era for era in self.eras if era.era in begun]

    def games(self, registry: Registry) -> tuple[str, ...]:
        """Return the games that the config file names."""
        return tuple(plan.name for plan in SeasonConfig.from_request(self.request(), registry).plans)

    def add_decision(self, kind: type[Decision], name: str, reason: str = "") -> JournalEntry:
        """Retire, ban or readmit a bot with all its versions, or one of them (`sprinter@2`); return the entry."""
        with self.journal.lock() as append_entries:
            members = self.membership.find_members(name)
            bot = members[0].entry.bot
            decision = kind(bot=bot, version=0 if name == bot else split_version(name)[1], reason=reason)
            if all(decision.is_in_force(member) for member in members):
                raise UsageError(f"{name} {decision.already}.")
            append_entries(decision)
        return self.journal.entries[-1]

    @contextmanager
    def lock_for_running(self) -> Iterator[None]:
        """Keep other processes from playing in this league; bots may still join and leave."""
        try:
            with lock(Folder(self.folder)):
                yield
        except StoreError as error:
            if "another process" in str(error):
                hint = "Only one arena league run works at a time; add and retire work while it runs."
                raise StoreError(f"{error} {hint}") from None
            raise


def _check_request(request: RunRequest) -> None:
    """Raise UsageError for keys that are not allowed in a league's config file."""
    plain = RunRequest()
    for name, why in NOT_FOR_LEAGUES.items():
        if getattr(request, name) != getattr(plain, name):
            error = UsageError(
                f"The config file of a league cannot have {run_options(RunOptions)[name].key}: {why}.",
                fix="league-config" if name in ("bots", *SIZES) else "",
            )
            if request.file is not None:
                request.file.blame(error, request, name)
            raise error


# Events for listeners


def announce_changes(league: LeagueFolder, entries: Iterable[JournalEntry], registry: Registry) -> list[str]:
    """Send changes to all installed listeners; return a sentence for each listener that failed."""
    with open_listeners(registry) as listeners:
        send_changes(listeners, league, entries)
    return listeners.problems


@contextmanager
def open_listeners(registry: Registry) -> Iterator[Listeners]:
    """Yield the installed listeners, and wait at the end until they have handled all events."""
    listeners = Listeners(registry.listeners)
    try:
        yield listeners
    finally:
        listeners.close()


def send_changes(listeners: Listeners, league: LeagueFolder, entries: Iterable[JournalEntry]) -> None:
    """Send journal entries to listeners."""
    entries = tuple(entries)
    joined = tuple(entry.name for entry in entries if isinstance(entry, BotJoined))
    status = _status(league)
    for entry in entries:
        bot, version = (entry.bot, entry.version or None) if isinstance(entry, BotEvent) else ("", None)
        reason = getattr(entry, "reason", "")
        together = joined if isinstance(entry, BotJoined) else ()
        change = LeagueChange(what=entry.what, bot=bot, version=version, at=entry.at, reason=reason, together=together)
        listeners.league_changed(status, change)


def _status(league: LeagueFolder) -> LeagueStatus:
    eras, membership = league.eras, league.membership
    name, folder, era = league.folder.resolve().name, str(league.folder), eras[-1].era if eras else 0
    bots = tuple(name for name in membership.members if membership.standing(name) == "plays")
    matches = sum(_count_records(league, era.era) for era in eras)
    return LeagueStatus(name=name, folder=folder, era=era, bots=bots, matches=matches)


def _count_records(league: LeagueFolder, era: int) -> int:
    try:
        with era_folder(league.folder, era).open_to_read(GAMES) as file:
            return sum(line.endswith(b"\n") for line in limited_lines(file))
    except OSError:
        return 0
