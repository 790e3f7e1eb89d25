"""Verifies the decisions of a run: every match is played again, and where it differs each bot is asked alone.

The rules do not show which bot chose an action. The bots do: an invented fault, a replaced move, or a name that was
swapped for a better one all make a match that these bots do not play.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from harness.ask.decisions import AskedDecision, ask_again
from harness.core.errors import ArenaError, ReplayError
from harness.core.game import Game
from harness.core.options import BotLimits
from harness.core.records import Fault, GameRecord
from harness.executors.base import Job, Roster, choose_executor, isolated
from harness.match.replay import HUMAN, positions
from harness.play.person import PERSON
from harness.plugins.discovery import shown
from harness.plugins.entrants import Entrant
from harness.plugins.registry import Registry
from harness.runs.resume import enter_again, entrant_change
from harness.runs.setup import configure_run, limits_of_run
from harness.runs.store import RunFolder

REPEATABLE = ("exception", "illegal")
"""Faults that repeat when a bot is asked again. Time, memory and crashes also depend on the machine."""


@dataclass(slots=True)
class BotFindings:
    """The result of asking the bots of a run again."""

    asked: int = 0
    """Matches in which every bot that could be asked was asked."""
    problems: list[str] = field(default_factory=list)
    """Decisions and faults that the bots do not repeat, though they decide the same each time."""
    unrepeatable: dict[str, str] = field(default_factory=dict)
    """Bots that decide differently when they are asked twice, and where."""
    given_names: dict[str, str] = field(default_factory=dict)
    """Bots that were entered under other names, and what they are. A run in which all names were exchanged looks like a
    run with the same bots under these names. Only a signature shows the difference, so a reader must see which bot is
    which."""
    unasked: dict[str, str] = field(default_factory=dict)
    """Bots that could not be asked, and why."""
    people: list[str] = field(default_factory=list)
    """Entrants that the run says are people: they are not asked, and the reader must see which they are."""
    unconfirmed: list[str] = field(default_factory=list)
    """Faults of time, memory or process that did not repeat: they cannot be checked."""
    stopped: bool = False
    """Whether it was stopped before all matches were checked."""

    @property
    def fine(self) -> bool:
        """Return whether every decision was repeated as it is recorded."""
        return not (self.problems or self.unrepeatable or self.unasked or self.unconfirmed or self.stopped)


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
    """Ask the bots of every n-th record (n = `every`), except for those that are `broken`; `step` is called after each.

    Bots are isolated as `isolate` says, whatever the run did: the bots and the run may be untrusted.
    """
    found = BotFindings()
    entrants = _entrants(run, registry, found)
    found.given_names = dict(_given_names(run, registry, entrants))
    roster = Roster(configure_run(run, registry), entrants)
    ask_bots(run, roster, found, isolate, workers, every, broken, should_stop, step)
    return found


def ask_bots(
    run: RunFolder,
    roster: Roster,
    found: BotFindings,
    isolate: str,
    workers: int | None,
    every: int,
    broken: Collection[str],
    should_stop: Callable[[], bool],
    step: Callable[[], None],
) -> None:
    """Ask the bots of a roster as `check_bots` does, and add to `found` what they answer."""
    # The limits of the run decide which faults happen; isolation decides what a bot can do to this machine.
    limits = replace(limits_of_run(run), isolate=isolate)
    records = (
        record
        for number, record in enumerate(run.records([]))
        if not number % every and record.id not in broken and record.rules == roster.games[record.game].version
    )
    checking = _Checking(found, roster, limits, workers, should_stop, step)
    checking.play_again(records)
    checking.ask_alone()
    found.stopped = should_stop()


def _entrants(run: RunFolder, registry: Registry, found: BotFindings) -> dict[str, Entrant]:
    """Return the bots of a run that are unchanged; add the others to `found.unasked`, with the reason."""
    entrants, unasked = {}, found.unasked
    for old in run.info.entrants:
        if old.name == HUMAN and old.source == PERSON and HUMAN not in registry.bots:
            found.people.append(old.name)
            continue
        try:
            [new] = enter_again(run, registry, [old])  # alone, so that one missing bot does not keep others from it
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


@dataclass
class _Checking:
    found: BotFindings
    roster: Roster
    limits: BotLimits
    workers: int | None
    should_stop: Callable[[], bool]
    step: Callable[[], None]
    to_ask: dict[str, tuple[GameRecord, GameRecord | None]] = field(default_factory=dict)
    """Matches to ask about decision by decision, and the record of playing them again, if they were."""

    @property
    def alone(self) -> bool:
        """Whether a bot that hangs or crashes would do so in this process."""
        return self.limits.isolate == "off" and self.workers == 0

    def play_again(self, records: Iterator[GameRecord]) -> None:
        """Play all matches again whose bots can all be asked."""
        again: list[GameRecord] = []

        def first() -> Iterator[tuple[GameRecord, tuple[Fault, ...]]]:
            for record in records:
                if set(record.seats) <= set(self.roster.entrants):
                    yield record, _given(record, self.alone)
                else:
                    self.to_ask[record.id] = record, None

        # Playing a whole match again is fast, and enough if nothing differs. Only matches that differ are asked about
        # decision by decision, to find out which bot it was and whether that bot is deterministic.
        for record, played in self._played(first()):
            doubtful = _doubtful(record)
            if doubtful and not self.alone and not _same(record, played):
                again.append(record)
            else:
                self._compare_plays(record, played, doubtful if self.alone else ())
        # Faults of time, memory or process may not repeat. These matches are played once more with the recorded faults
        # as given, so that the other decisions can be compared.
        for record, played in self._played((record, _given(record, all_doubtful=True)) for record in again):
            self._compare_plays(record, played, _doubtful(record))

    def _compare_plays(self, record: GameRecord, played: GameRecord, taken: Iterable[Fault]) -> None:
        """Compare a match with its repetition, in which the faults `taken` were not repeated but assumed."""
        self._note_unchecked(record, taken)
        if _same(record, played):
            self._asked()
        else:
            self.to_ask[record.id] = record, played

    def _played(
        self, wanted: Iterator[tuple[GameRecord, tuple[Fault, ...]]]
    ) -> Iterator[tuple[GameRecord, GameRecord]]:
        """Yield each record with the record of its repetition, in which the seats of these faults give up there."""
        waiting: dict[str, GameRecord] = {}

        def jobs() -> Iterator[Job]:
            for record, given in wanted:
                if record.id not in waiting:  # two matches of one id: the check of the records has reported that
                    waiting[record.id] = record
                    yield Job(record.spec, given)

        with choose_executor(self.roster, self.limits, self.workers, self.should_stop) as executor:
            for played in executor.run(jobs()):
                yield waiting.pop(played.record.id), played.record
        for name in executor.given_up:
            self.found.unconfirmed.append(f"{name} could not be played again: its processes crashed.")

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
        """Ask each bot alone about the matches that differ, or in which a bot is missing."""
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
        """Ask a bot twice at the decisions of its seat; return whether it was found to differ."""
        fault = next((fault for fault in record.faults if fault.seat == seat), None)
        if fault is not None and fault.decision == 0 and fault.kind not in REPEATABLE:
            return False  # not asked at all
        until = None if fault is None or fault.kind in REPEATABLE else fault.decision - 1
        answers = []
        for _ in range(2):  # a bot whose two answers differ is not deterministic, so a difference proves nothing
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
        """Return whether a bot decides differently from its record, and note that."""
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
        """Note which bot differed first in a repetition, though every bot alone agrees with the record."""
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
    """Return the faults that may not repeat although the bot had them."""
    return [fault for fault in record.failures if fault.kind not in REPEATABLE]


def _given(record: GameRecord, all_doubtful: bool) -> tuple[Fault, ...]:
    """Return the faults that are assumed as recorded: earlier disqualifications, and faults that may not repeat."""
    taken = _doubtful(record) if all_doubtful else []
    return tuple(fault for fault in record.faults if fault.kind == "disqualified" or fault in taken)


def _bare(fault: Fault) -> tuple[int, str, int]:
    """Return a fault without its text, which differs for a bot in a separate process."""
    return fault.seat, fault.kind, fault.decision


def _same(record: GameRecord, played: GameRecord) -> bool:
    """Return whether a match was repeated as recorded, except for times and texts of faults."""
    return (
        record.actions == played.actions
        and record.scores == played.scores
        and record.ranks == played.ranks
        and sorted(map(_bare, record.faults)) == sorted(map(_bare, played.faults))
    )


def _decided(asked: list[AskedDecision], fault: Fault | None) -> dict[int, int | str]:
    """Return a bot's answers by the number of the decision: the code of an action, or the kind of a fault.

    They end with the decision at which it failed in the match: there is nothing to compare after that.
    """
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
