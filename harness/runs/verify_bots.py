"""Asks the bots of a run again: every match is played once more, and where it goes otherwise each bot is asked alone.

The rules cannot tell who chose an action. The bots can: a fault that nobody had, a move that somebody put in the place
of another, or a name that was swapped for a better one, all make a match that these bots do not play.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from harness.core.errors import ArenaError, ReplayError
from harness.core.game import Game
from harness.core.options import BotLimits
from harness.core.records import Fault, GameRecord
from harness.executors.base import Job, Roster, choose_executor, isolated
from harness.match.ask import AskedDecision, ask_again
from harness.match.replay import positions
from harness.plugins.discovery import shown
from harness.plugins.entrants import Entrant
from harness.plugins.registry import Registry
from harness.runs.setup import configure_run, enter_again, entrant_change, limits_of_run
from harness.runs.store import RunFolder

REPEATABLE = ("exception", "illegal")
"""Faults that come again when a bot is asked again. Time, memory and the death of a process are not the bot's alone."""


@dataclass(slots=True)
class BotFindings:
    """What the bots of a run say to its records."""

    asked: int = 0
    """Matches in which every bot that could be asked was asked."""
    problems: list[str] = field(default_factory=list)
    """Decisions and faults that are not the bots'."""
    unrepeatable: dict[str, str] = field(default_factory=dict)
    """Bots that do not decide the same when they are asked twice, with where they did not."""
    given_names: dict[str, str] = field(default_factory=dict)
    """Bots that were asked under names that somebody gave them, with what they are. A run with all its names changed,
    and those of its specs, too, is the run that somebody plays who enters the same bots under these names: nothing but
    a signature tells them apart, so a reader must see who is who."""
    unasked: dict[str, str] = field(default_factory=dict)
    """Bots that could not be asked, with why not."""
    unconfirmed: list[str] = field(default_factory=list)
    """Faults of time, memory or process that did not come again: they cannot be checked."""
    stopped: bool = False
    """Whether somebody stopped it before all were asked."""

    @property
    def fine(self) -> bool:
        """Whether every decision was made again as it is recorded."""
        told = (self.problems, self.unrepeatable, self.unasked, self.unconfirmed)
        return not any(told) and not self.stopped


def check_bots(
    run: RunFolder,
    registry: Registry,
    isolate: str = "on",
    workers: int | None = None,
    every: int = 1,
    broken: Collection[str] = (),
    should_stop: Callable[[], bool] = lambda: False,
    step: Callable[[], None] = lambda: None,
) -> BotFindings:
    """Asks the bots of one in `every` so many records, those that are `broken` aside; `step` is called after each.

    Bots are kept as `isolate` says, whatever the run did: the check may be of strangers' bots, and by a stranger.
    """
    found = BotFindings()
    entrants = _entrants(run, registry, found.unasked)
    found.given_names = dict(_given_names(run, registry, entrants))
    limits = replace(limits_of_run(run), isolate=isolate)
    roster = Roster(configure_run(run, registry), entrants)
    records = (
        record
        for number, record in enumerate(run.records([]))
        if not number % every and record.id not in broken and record.rules == roster.games[record.game].version
    )
    checking = _Checking(found, roster, limits, workers, should_stop, step)
    checking.play_again(records)
    checking.ask_alone()
    found.stopped = should_stop()
    return found


def _entrants(run: RunFolder, registry: Registry, unasked: dict[str, str]) -> dict[str, Entrant]:
    """The bots of a run that are here as they were; of the others, why they are not asked."""
    entrants = {}
    for old in run.info.entrants:
        try:
            [new] = enter_again(run, registry, [old])
        except ArenaError as error:
            unasked[old.name] = str(error)
            continue
        except ValueError:
            unasked[old.name] = f"{old.spec} is several bots"
            continue
        if new.name != old.name:
            unasked[old.name] = f"what the run calls {old.name} is entered as {old.spec}, and that is {new.name}"
        elif change := entrant_change(old, new):
            unasked[old.name] = change
        elif new.source != old.source:
            unasked[old.name] = f"the run says that it is of {shown(old.source)}, and it is of {shown(new.source)}"
        else:
            entrants[old.name] = new
    return entrants


def _given_names(run: RunFolder, registry: Registry, entrants: Mapping[str, Entrant]) -> Iterator[tuple[str, str]]:
    for info in run.info.entrants:
        own = str(info.ref.unnamed)
        if info.name in entrants and own != info.spec:
            not_that = ", not the installed bot of that name" if info.name in registry.bots else ""
            yield info.name, f"{shown(own)} ({entrants[info.name].digest}){not_that}"


class _Checking:
    def __init__(
        self,
        found: BotFindings,
        roster: Roster,
        limits: BotLimits,
        workers: int | None,
        should_stop: Callable[[], bool],
        step: Callable[[], None],
    ) -> None:
        self.found, self.roster, self.limits, self.workers = found, roster, limits, workers
        self.should_stop, self.step = should_stop, step
        self.to_ask: dict[str, tuple[GameRecord, GameRecord | None]] = {}
        """Matches that are to be asked decision by decision, and what came of playing them again, if they were."""
        self.alone = limits.isolate == "off" and workers == 0
        """Whether a bot that hangs or dies would take us with it."""

    def play_again(self, records: Iterator[GameRecord]) -> None:
        """Plays all matches again whose bots are all here."""
        again: list[GameRecord] = []

        def first() -> Iterator[tuple[GameRecord, tuple[Fault, ...]]]:
            for record in records:
                if set(record.seats) <= set(self.roster.entrants):
                    yield record, _given(record, self.alone)
                else:
                    self.to_ask[record.id] = record, None

        for record, played in self._played(first()):
            doubtful = _doubtful(record)
            if doubtful and not self.alone and not _same(record, played):
                again.append(record)
            else:
                self._compare_plays(record, played, doubtful if self.alone else ())
        for record, played in self._played((record, _given(record, all_doubtful=True)) for record in again):
            self._compare_plays(record, played, _doubtful(record))

    def _compare_plays(self, record: GameRecord, played: GameRecord, taken: Iterable[Fault]) -> None:
        """What came of playing a match again; the faults `taken` were not waited for."""
        self._note_unchecked(record, taken)
        if _same(record, played):
            self._asked()
        else:
            self.to_ask[record.id] = record, played

    def _played(
        self, wanted: Iterator[tuple[GameRecord, tuple[Fault, ...]]]
    ) -> Iterator[tuple[GameRecord, GameRecord]]:
        """Each record with what came of playing its match again; seats of these faults are given up there."""
        waiting: dict[str, GameRecord] = {}

        def jobs() -> Iterator[Job]:
            for record, given in wanted:
                waiting[record.id] = record
                yield Job(record.spec, given)

        with choose_executor(self.roster, self.limits, self.workers, self.should_stop) as executor:
            for played in executor.run(jobs()):
                yield waiting.pop(played.record.id), played.record
        for name in executor.given_up:
            self.found.unconfirmed.append(f"{name} could not be played again: its processes died.")

    def _asked(self) -> None:
        self.found.asked += 1
        self.step()

    def _note_unchecked(self, record: GameRecord, faults: Iterable[Fault]) -> None:
        self.found.unconfirmed += [
            f"{record.id}, decision {fault.decision}: that {record.seats[fault.seat]} failed ({fault.kind}) "
            f"{'is not checked' if self.alone else 'did not come again; not checked'}."
            for fault in faults
        ]

    def ask_alone(self) -> None:
        """Asks each bot by itself about the matches that went otherwise, or in which somebody is missing."""
        if not self.to_ask or self.should_stop():
            return
        placed = isolated(self.roster, self.limits)
        try:
            with redirect_stdout(sys.stderr):  # what bots print is not our output
                for record, played in self.to_ask.values():
                    if self.should_stop():
                        return
                    self._ask_about(placed, record, played)
                    self._asked()
        finally:
            placed.close()

    def _ask_about(self, placed: Roster, record: GameRecord, played: GameRecord | None) -> None:
        game, blamed = placed.games[record.game], False
        if played is None:
            self._note_unchecked(record, _doubtful(record))
        for seat, name in enumerate(record.seats):
            if name not in placed.entrants:
                continue
            try:
                blamed = self._ask_seat(game, record, seat, placed.entrants[name]) or blamed
            except ReplayError as error:
                self.found.problems.append(str(error))
                return
        if played is not None and not blamed:
            self._blame_play(game, record, played)

    def _ask_seat(self, game: Game[Any], record: GameRecord, seat: int, entrant: Entrant) -> bool:
        """Asks a bot twice at the decisions of its seat; whether something is to be told of it."""
        fault = next((fault for fault in record.faults if fault.seat == seat), None)
        if fault is not None and fault.decision == 0 and fault.kind not in REPEATABLE:
            return False  # not asked at all
        until = None if fault is None or fault.kind in REPEATABLE else fault.decision - 1
        answers = []
        for _ in range(2):
            entrant.warm_up()
            answers.append(_decided(ask_again(game, record, entrant, seat, until=until), fault))
        name, (one, other) = record.seats[seat], answers
        if one != other:
            where = min(decision for decision, _ in one.items() ^ other.items())
            self.found.unrepeatable.setdefault(name, f"{record.id}, decision {where}")
            return True
        return self._compare(game, record, seat, fault, one)

    def _compare(
        self, game: Game[Any], record: GameRecord, seat: int, fault: Fault | None, now: dict[int, int | str]
    ) -> bool:
        """Whether what a bot decides now is not what the record has."""
        name = record.seats[seat]
        for decision, answer in now.items():
            then: int | str = record.actions[decision]
            if fault is not None and decision >= fault.decision:
                then = fault.kind
            if answer != then:
                self.found.problems.append(
                    f"{record.id}, decision {decision}: the record says that {name} {_said(game, then)}, "
                    f"and asked again it {_said(game, answer)}."
                )
                return True
        if fault is not None and fault.kind in REPEATABLE and fault.kind not in now.values():
            self.found.problems.append(
                f"{record.id}, decision {fault.decision}: the record says that {name} {_said(game, fault.kind)}, "
                f"and asked again it does not."
            )
            return True
        return False

    def _blame_play(self, game: Game[Any], record: GameRecord, played: GameRecord) -> None:
        """Every bot by itself agrees with the record, and yet together they played otherwise: who began?"""
        unlike = [at for at, (then, now) in enumerate(zip(record.actions, played.actions, strict=False)) if then != now]
        if unlike:
            seat = next(position.seat for position in positions(game, record) if position.decision == unlike[0])
            self.found.unrepeatable.setdefault(record.seats[seat], f"{record.id}, decision {unlike[0]}")
            return
        for fault in {_bare(fault): fault for fault in (*record.faults, *played.faults)}.values():
            if _bare(fault) not in set(map(_bare, record.faults)) & set(map(_bare, played.faults)):
                when = "recorded" if fault in record.faults else "new"
                self.found.unconfirmed.append(
                    f"{record.id}, decision {fault.decision}: that {record.seats[fault.seat]} failed ({fault.kind}) "
                    f"is {when}, and was so in one of two plays; not checked."
                )


def _doubtful(record: GameRecord) -> list[Fault]:
    """Faults that may not come again, though the bot had them."""
    return [fault for fault in record.failures if fault.kind not in REPEATABLE]


def _given(record: GameRecord, all_doubtful: bool) -> tuple[Fault, ...]:
    """Faults that are taken as they are recorded: who was disqualified before, and what may not come again."""
    taken = _doubtful(record) if all_doubtful else []
    return tuple(fault for fault in record.faults if fault.kind == "disqualified" or fault in taken)


def _bare(fault: Fault) -> tuple[int, str, int]:
    """A fault without what was said: a bot in a process of its own says it in other words."""
    return fault.seat, fault.kind, fault.decision


def _same(record: GameRecord, played: GameRecord) -> bool:
    """Whether a match was played again as it is recorded, times and the words of faults aside."""
    return (
        record.actions == played.actions
        and record.scores == played.scores
        and record.ranks == played.ranks
        and sorted(map(_bare, record.faults)) == sorted(map(_bare, played.faults))
    )


def _decided(asked: list[AskedDecision], fault: Fault | None) -> dict[int, int | str]:
    """What a bot answers, by the number of the decision: an action's code, or how it fails. After the decision at
    which it failed in the match there is nothing to compare with."""
    answers: dict[int, int | str] = {}
    for one in asked:
        decision = one.position.decision
        answers[decision] = one.failure.kind if one.failure else one.now.code if one.now else ""
        if fault is not None and decision >= fault.decision:
            break
    return answers


def _said(game: Game[Any], answer: int | str) -> str:
    """`chose "pass"` or `failed (illegal)`."""
    return f"failed ({answer})" if isinstance(answer, str) else f"chose {str(game.actions[answer])!r}"
