"""Leagues with many entrants and records: what it takes to show one and to go on with it, and how that grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import cycle
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from msgspec.structs import asdict, replace

from harness.bench.record_speed import GROWTH, REAL, Reading, read
from harness.core.types import GameRecord, MatchSpec
from harness.league.eras import EraTerms, begin_era
from harness.league.journal import JournalEntry
from harness.league.league_course import LeagueCourse
from harness.league.league_folder import LeagueFolder
from harness.league.runner import read_rounds
from harness.league.segments import Segments
from harness.match.referee import play
from harness.plugins.registry import Registry
from harness.runs.request import RunRequest
from harness.runs.run_files import with_sum
from harness.runs.store import GAMES, encode

BOT = "random"
"""Who plays under all names."""
MORE = 200
READING: Mapping[str, Sequence[str]] = {
    "show": ("league", "show", "--league", "{run}"),
    "show, again": ("league", "show", "--league", "{run}"),
    f"run --matches {MORE}": ("league", "run", "-q", "--workers", "0", "--matches", str(MORE), "--league", "{run}"),
    f"run --matches {MORE}, again": (
        "league", "run", "-q", "--workers", "0", "--matches", str(MORE), "--league", "{run}",
    ),
}  # fmt: skip
"""What is measured, in this order: the first of each without a memory of it."""


def make_league(folder: Path, entrants: int, records: int, registry: Registry, game: str = "el-paso") -> LeagueFolder:
    """A league with so many bots and at least so many records, of rounds that are all complete. Results are copied from
    a few matches; only the last two rounds are seated as a league seats them, which is what it looks at."""
    request = RunRequest(games=(game,), seed=7, workers=0)
    league = LeagueFolder.create(folder, request, registry)
    league.journal.add(*(_joins(number, registry, game) for number in range(1, entrants + 1)))
    terms = EraTerms.of(request, registry)
    run = begin_era(folder, 1, terms, 7)
    league.journal.add(
        JournalEntry(what="era", era=1, plans=terms.plans, limits=dict(terms.limits)),
    )
    seated = Segments(1, terms.plans, league.journal.entries).after(entrants)
    league.journal.add(JournalEntry(what="seen", era=1, round=1, upto=entrants, size=seated.size))
    segments = Segments(1, terms.plans, league.journal.entries)
    [plan], size = terms.plans, seated.size
    rounds = max(3, -(-records // size))
    lots, real = Random(7), cycle([_played(terms, registry, number) for number in range(REAL)])
    names = seated.fields[game].seekers
    place = run.folder / GAMES
    with place.open("ab") as file:
        for number in range(rounds - 2):
            for table in range(size):
                name = f"{game}-{number + 1}.{table + 1}"
                seats = tuple(lots.sample(names, plan.players))
                place_in_all, deal = number * size + table, lots.getrandbits(48)
                record = replace(next(real), id=f"{name}.1", set=name, index=place_in_all, seats=seats, seed=deal)
                file.write(with_sum(encode(record)) + b"\n")
    course = LeagueCourse(run.info.plan, segments, partial(read_rounds, run))
    for number in (rounds - 1, rounds):
        specs = course.planned(number)
        with place.open("ab") as file:
            for spec in specs:
                record = GameRecord(**asdict(next(real)) | asdict(spec))
                file.write(with_sum(encode(record)) + b"\n")
                course.take(record)
    return league


def _joins(number: int, registry: Registry, game: str) -> JournalEntry:
    entrant = registry.entrant(BOT)
    return JournalEntry(
        what="joined", bot=f"b{number:04}", version=1, spec=BOT, source=entrant.source, declared=entrant.version,
        digest=entrant.digest, games=(game,),
    )  # fmt: skip


def _played(terms: EraTerms, registry: Registry, number: int) -> GameRecord:
    [plan], entrant = terms.plans, registry.entrant(BOT)
    spec = MatchSpec.single(f"m{number}", plan.name, plan.settings, number, [BOT] * plan.players)
    return play(spec, terms.games[plan.name], [entrant] * plan.players)


def measure_league(entrants: int, records: int, registry: Registry, game: str) -> dict[str, dict[str, float]]:
    """What commands take with a league of so many records, and with one of a tenth and a hundredth of them."""
    found: dict[str, dict[str, float]] = {}
    for number in (records, records // GROWTH, records // GROWTH**2):
        readings = _readings(entrants, number, registry, game)
        found[f"seconds with {number:,}"] = {name: took.seconds for name, took in readings.items()}
        found[f"megabytes with {number:,}"] = {name: took.megabytes for name, took in readings.items()}
    return found


def _readings(entrants: int, records: int, registry: Registry, game: str) -> dict[str, Reading]:
    with TemporaryDirectory(prefix="arena-bench-") as scratch:
        league = make_league(Path(scratch) / "league", entrants, records, registry, game)
        return {name: read(league.folder, command, Path(scratch)) for name, command in READING.items()}
