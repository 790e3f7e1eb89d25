"""Several runs read as one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count, groupby
from pathlib import Path

from msgspec.structs import replace

from harness.core.bot import DecisionNotes
from harness.core.errors import StoreError, UnknownName, UsageError
from harness.core.plan import SEVERAL, Design, GamePlan, Plan
from harness.core.records import GameRecord
from harness.plugins.entrants import BotInfo
from harness.runs.reader import GAMES, RecordLine, ordered_results, sorted_lines
from harness.runs.store import RunFolder, RunInfo, Seen

# Whether a name stands for the same bot in several runs: by the digest of its source, and by its options.


def check_same_bots(runs: Sequence[RunFolder], besides: Collection[str] = ()) -> None:
    """Raise UsageError if a name stands for two bots, unless that bot is left out (`besides`)."""
    known: dict[str, tuple[BotInfo, RunFolder]] = {}
    for run in runs:
        for bot in run.info.entrants:
            old, where = known.setdefault(bot.name, (bot, run))
            differs = difference(old, bot)
            if differs and bot.name not in besides:
                raise UsageError(
                    f"{bot.name} is not the same bot in {where.folder} and in {run.folder} ({differs}). Rate the runs "
                    f"separately, or leave the bot out.",
                    fix="same-name",
                    bot=bot.name,
                )


def difference(one: BotInfo, other: BotInfo) -> str:
    """Return how two entrants with the same name differ, "" if they are the same bot; its folder does not matter."""
    if one.digest != other.digest:
        return f"its source is {one.digest} and {other.digest}"
    first, second = one.ref.bare, other.ref.bare
    return f"entered as {first} and {second}" if first != second else ""


# Several runs read as one: runs of the same games and bots, or parts of one run that were played on several machines.
#
# A match that is in two folders counts once. Matches of different runs can have equal ids, so ids start with the
# folder: `monday/el-paso-1.1.1`. Parts of one run keep their ids.


DESIGNS: Sequence[Design] = ("fixed", "seated", "anytime")
"""In this order less can be claimed: results decide more of what is played."""
_SEED = re.compile(r"(--seed[ =]|seed=)\d+")


class MergedRuns(RunFolder):
    """Runs that are read together; made by `merge`."""

    def __init__(
        self, runs: Sequence[RunFolder], info: RunInfo, name: str, parts: bool, besides: Collection[str]
    ) -> None:
        super().__init__(Path(name), info)
        self._besides = frozenset(besides)
        for run in runs:  # they share one list of warnings
            self.warnings += run.warnings
            run.warnings = self.warnings
        self.runs, self.merged, self.several = tuple(runs), True, not parts
        self._labels = {run.folder: label for run, label in zip(runs, labels(runs), strict=True)}

    def ordered(self) -> Iterator[GameRecord]:
        """Yield all results, run by run, and those of one seed deal by deal; a match in two folders is yielded once."""
        groups: dict[int, list[RunFolder]] = {}
        for run in self.runs:
            groups.setdefault(run.info.plan.seed, []).append(run)
        places = count()
        for group in groups.values():
            single = ((group[0], result) for result in ordered_results(group[0])) if len(group) == 1 else None
            for run, result in single or _once(group, self._besides):
                yield self._named(run, result, next(places))

    def results(self, damaged: list[str] | None = None, seen: Seen = lambda *_: None) -> Iterator[GameRecord]:
        """Yield the same; a damaged line always raises StoreError."""
        yield from self.ordered()

    def records(self, damaged: list[str] | None = None, seen: Seen = lambda *_: None) -> Iterator[GameRecord]:
        """Yield all records, run by run, in file order."""
        known = {result.id: result.index for result in self.ordered()}
        for run in self.runs:
            for record in run.records():
                place = known.pop(self._name(run, record.id), None)
                if place is not None:
                    yield self._named(run, record, place)

    def record(self, match: str | int) -> GameRecord:
        """Return the record of a match, by its id here or its place."""
        wanted = str(match)
        if wanted.isdecimal():
            wanted = next((result.id for result in self.ordered() if str(result.index) == wanted), wanted)
        found = self.chosen([wanted])
        if not found:
            shown = [result.id for result, _ in zip(self.ordered(), range(20), strict=False)]
            raise UnknownName(f"match of {self.folder}", wanted, shown)
        return found[wanted]

    def chosen(self, ids: Collection[str]) -> dict[str, GameRecord]:
        """Return the records of these matches, by their ids here."""
        found: dict[str, GameRecord] = {}
        for run in self.runs:
            own = {self._own(run, name): name for name in ids if self._own(run, name)}
            for record in run.chosen(own.keys()).values() if own else ():
                found.setdefault(own[record.id], self._named(run, record, record.index))
        return found

    def notes(self, match: str) -> tuple[DecisionNotes, ...]:
        """Return what bots noted in a match."""
        own = ((run, self._own(run, match)) for run in self.runs)
        return next((noted for run, name in own if name and (noted := run.notes(name))), ())

    def split(self, records: Iterable[GameRecord]) -> list[tuple[RunFolder, list[GameRecord]]]:
        """Return these records grouped by run; parts of one run are one group."""
        asked = list(records)
        if not self.several:
            return [(self, asked)]
        return [(run, [record for record in asked if self._own(run, record.id)]) for run in self.runs]

    def parts(self) -> Sequence[RunInfo]:
        """Return the content of run.json of each run that is read here."""
        return [run.info for run in self.runs]

    def size(self) -> int:
        """Return the bytes of all records."""
        return sum(run.size() for run in self.runs)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Raise StoreError: each run has its own folder."""
        raise StoreError(f"{self.folder} are several runs, which are read together; to continue one, name it alone.")
        yield  # makes this function a generator, as contextmanager requires

    def _name(self, run: RunFolder, own: str) -> str:
        return own if not self.several else f"{self._labels[run.folder]}/{own}"

    def _own(self, run: RunFolder, name: str) -> str:
        """Return the id of a match in this run, "" if it belongs to another."""
        if not self.several:
            return name
        before = f"{self._labels[run.folder]}/"
        return name.removeprefix(before) if name.startswith(before) else ""

    def _named(self, run: RunFolder, record: GameRecord, place: int) -> GameRecord:
        if not self.several:
            return record
        return replace(record, id=self._name(run, record.id), set=self._name(run, record.set), index=place)


def merge(runs: Sequence[RunFolder], name: str = "", besides: Collection[str] = ()) -> RunFolder:
    """Return these runs as one; a single run is returned as it is.

    Raises UsageError if they do not have the same rules and bots; bots that are left out (`besides`) may differ.
    """
    once = list({run.folder.resolve(): run for run in runs}.values())
    if len(once) == 1 and not name:
        return once[0]
    _check_same_rules(once)
    check_same_bots(once, besides)
    # The plan contains the seed: two runs with equal plans are parts of one schedule, not two samples.
    parts = all(run.info.plan == once[0].info.plan for run in once)
    called = " + ".join(dict.fromkeys(run.folder.resolve().name for run in once))
    merged = MergedRuns(once, _merged_info(once, parts), name or called, parts, besides)
    merged.warnings += _other_limits(once)
    merged.warnings += [f"{run.folder} was continued although {change}." for run in once for change in run.info.forced]
    return merged


def labels(runs: Sequence[RunFolder]) -> list[str]:
    """Return the shortest ends of the runs' paths that are different."""
    ways = [run.folder.resolve().parts for run in runs]
    for depth in range(1, max(map(len, ways)) + 1):
        found = ["/".join(way[-depth:]) for way in ways]
        if len(set(found)) == len(found):
            break
    return found


def _once(group: Sequence[RunFolder], besides: frozenset[str]) -> Iterator[tuple[RunFolder, GameRecord]]:
    """Yield the results of runs that may have matches in common, each once, without those of bots that are left out."""
    lines = ((run, line, line.result()) for run, line in sorted_lines(group, by_deal=True))
    # The same match has the same deal in both runs, so only the matches of one deal are held and compared.
    for _, deal in groupby(lines, key=lambda one: one[2].seed):
        kept: list[tuple[RunFolder, RecordLine, GameRecord]] = []
        for run, line, result in deal:
            if not besides.isdisjoint(result.seats):
                continue
            rivals = [one for one in kept if one[0] is not run and one[2].seats == result.seats]
            # Actions are decoded only if another run has a match with the same deal and seats.
            record = _played(line) if rivals else None
            if any(_played(other) == record for _, other, _ in rivals):
                continue
            for other, _, rival in rivals:
                if rival.id == result.id:
                    raise StoreError(
                        f"{result.id} is not the same match in {other.folder / GAMES} and in {run.folder / GAMES}, "
                        f"with the same deal and the same bots in the same seats. 'arena verify {run.folder} "
                        f"{other.folder}' has details; leave one of the two runs out."
                    )
            kept.append((run, line, result))
            yield run, result


def _played(line: RecordLine) -> GameRecord:
    """Return what is the same each time the match is played, without its id."""
    record = line.record()
    faults = tuple(replace(fault, detail="") for fault in record.faults)  # details can contain paths and times
    return replace(record.without_timing(), id="", set="", index=0, faults=faults)


def _check_same_rules(runs: Sequence[RunFolder]) -> None:
    known: dict[str, tuple[GamePlan, RunFolder]] = {}
    for run in runs:
        for game in run.info.plan.games:
            old, where = known.setdefault(game.name, (game, run))
            differs = [f"rules {old.rules} and {game.rules}"] if old.rules != game.rules else []
            options = sorted({*old.settings, *game.settings})
            differs += [
                f"{option} {_shown(old.settings, option)} and {_shown(game.settings, option)}"
                for option in options
                if old.settings.get(option) != game.settings.get(option)
            ]
            if differs:
                raise UsageError(
                    f"{where.folder} and {run.folder} cannot be rated together: {game.name} was not the same game "
                    f"({'; '.join(differs)}). Rate them apart."
                )


def _shown(settings: Mapping[str, object], option: str) -> str:
    return repr(settings.get(option, "nothing"))


def _other_limits(runs: Sequence[RunFolder]) -> list[str]:
    """Return a warning if bots did not have the same time and memory in all runs."""
    names = ("move_time", "game_time", "memory")
    found = {name: {str(run.info.limits.get(name, "unknown")) for run in runs} for name in names}
    differ = [f"{name.replace('_', ' ')} {' and '.join(sorted(many))}" for name, many in found.items() if len(many) > 1]
    return [f"Bots did not have the same limits in these runs: {'; '.join(differ)}."] if differ else []


def _merged_info(runs: Sequence[RunFolder], parts: bool) -> RunInfo:
    infos = [run.info for run in runs]
    first = infos[0]
    ended = [info.finished for info in infos]
    if parts:
        # Each part may lack matches that another one has. Whether they are complete together is counted where claims
        # are made (`standings.py`).
        finished = max(infos, key=lambda info: info.finished)
        return replace(first, finished=finished.finished, records="", notes="", started=min(i.started for i in infos))
    entrants: dict[str, BotInfo] = {}
    for one in (one for info in infos for one in info.entrants):
        entrants.setdefault(one.name, one)
    commands = [line for info in infos for line in _commands(info)]
    return replace(
        first,
        plan=_merged_plan([info.plan for info in infos]),
        entrants=tuple(entrants.values()),
        files={digest: text for info in infos for digest, text in info.files.items()},
        limits={name: value for name, value in first.limits.items() if all(i.limits.get(name) == value for i in infos)},
        command="\n".join(dict.fromkeys(commands)),
        machine={name: text for name, text in first.machine.items() if all(i.machine.get(name) == text for i in infos)},
        started=min(info.started for info in infos),
        finished=max(ended) if all(ended) else "",
        records="",
        notes="",
        forced=tuple(dict.fromkeys(change for info in infos for change in info.forced)),
        extended=(),
        ends=max((info.ends for info in infos), key=len),
    )


def _commands(info: RunInfo) -> list[str]:
    """Return the commands of a run, without the seed if it is still being played."""
    lines = [info.command, *info.extended]
    return lines if info.finished else [_SEED.sub(r"\1...", line) for line in lines]


def _merged_plan(plans: Sequence[Plan]) -> Plan:
    games: dict[str, GamePlan] = {}
    for plan in plans:
        for game in plan.games:
            old = games.get(game.name, game)
            games[game.name] = replace(old, entrants=tuple(dict.fromkeys((*old.entrants, *game.entrants))))
    # The run with the weakest claims decides what may be claimed of all.
    design = max((plan.design for plan in plans), key=DESIGNS.index)
    deals = sum(plan.deals for plan in plans)
    return Plan(games=tuple(games.values()), deals=deals, seed=0, format=SEVERAL, design=design)
