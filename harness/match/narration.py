"""What happened, in words: events as sentences, and a recorded match told decision by decision."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from harness.core.game import Game
from harness.core.notes import DecisionNotes
from harness.core.types import Event, GameRecord
from harness.match.replay import Replay

HUMAN = "human"
"""A person's name in records and on leaderboards."""
ORDINALS = {1: "1st", 2: "2nd", 3: "3rd"}

_SEAT = re.compile(r"\b[Ss]eats? (\d+(?:(?:,| and|, and) \d+)*)(?!\w)")
_SEAT_IN_TABLE = re.compile(r"\b([Ss]eat (\d+))( \(you\))?(?!\w| {2}| \(you\))")
_YOU = re.compile(r" \(you\)( *)")


def sentences(
    game: Game[Any], events: Iterable[Event], seat: int | None = None, names: Sequence[str] = ()
) -> list[str]:
    """The events as sentences: those that a seat could see, or all of them with a note on who could.

    With `names`, seat by seat, they stand in place of the numbers.
    """
    if seat is None:
        told = [game.event_text(event) + _secrecy(event) for event in events]
    else:
        told = [game.event_text(event) for event in events if event.to is None or seat in event.to]
    return [named(sentence, names) for sentence in told] if names else told


def _secrecy(event: Event) -> str:
    if event.to is None:
        return ""
    return f"  (seat {', '.join(map(str, event.to))} only)" if event.to else "  (hidden)"


def to_you(text: str, seat: int) -> str:
    """The same sentence for the person in this seat."""
    return re.sub(rf"\b([Ss]eat {seat})\b", r"\1 (you)", text)


def names_at(seats: Sequence[str]) -> list[str]:
    """What to call each seat in a sentence: by its bot, and by its number too where the bot sits in several."""
    return [name if seats.count(name) == 1 else f"{name} (seat {seat})" for seat, name in enumerate(seats)]


def named(text: str, names: Sequence[str]) -> str:
    """The same sentence with "Seat 3" and "seats 0 and 2" by name."""

    def by_name(found: re.Match[str]) -> str:
        known = all(int(number) < len(names) for number in re.findall(r"\d+", found[1]))
        return re.sub(r"\d+", lambda number: names[int(number[0])], found[1]) if known else found[0]

    return _SEAT.sub(by_name, text)


def table_with_names(table: str, seats: Sequence[str], seat: int) -> str:
    """A table as a game draws it for this seat, with names; "(you)" stays only where a person sat.

    Columns stay where they are: a cell gets no name.
    """
    calls = ["you" if at == seat and name == HUMAN else name for at, name in enumerate(seats)]

    def with_name(found: re.Match[str]) -> str:
        return f"{found[1]} ({calls[int(found[2])]})" if int(found[2]) < len(calls) else found[0]

    def not_you(found: re.Match[str]) -> str:
        return " " * len(found[0]) if len(found[1]) > 1 else f" ({calls[seat]}){found[1]}"

    table = _SEAT_IN_TABLE.sub(with_name, table)
    return table if calls[seat] == "you" else _YOU.sub(not_you, table)


def note_text(said: object) -> str:
    """A note as a person may read it."""
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)


class Narration:
    """A recorded match on its way from decision to decision."""

    def __init__(self, game: Game[Any], record: GameRecord, notes: Sequence[DecisionNotes] = ()) -> None:
        self.game, self.record = game, record
        self.names = names_at(record.seats)
        self.replay = Replay(game, record)
        self._noted = {note.decision: note.said for note in notes}
        self._told = 0

    @property
    def over(self) -> bool:
        """Whether there is no decision left."""
        return self.replay.over

    @property
    def decision(self) -> int:
        """Number of the decision that comes now."""
        return self.replay.decision

    @property
    def seat(self) -> int:
        """Whose decision it is."""
        return self.replay.state.seat

    def heading(self) -> list[str]:
        """Which match this is and who sits where."""
        record = self.record
        seats = [f"  seat {seat}: {name}" for seat, name in enumerate(record.seats)]
        return [f"{record.id}: {self.game.title}, deal {record.seed}", *seats]

    def news(self, seat: int | None = None) -> list[str]:
        """Goes on to the next decision, or to the end; what happened on the way, as a seat could see it or in full."""
        replay, lines = self.replay, []
        while True:
            lines += sentences(self.game, replay.log[self._told :], seat, self.names)
            self._told = len(replay.log)
            legal = replay.state.legal
            if len(legal) != 1:
                break
            if seat in (None, self.seat):
                lines.append(f"{self.names[self.seat]} must {legal[0]}.")
            replay.step()
        if replay.over:
            replay.check_end()
        return lines

    def table(self, seat: int) -> str:
        """The table as this seat sees it now."""
        return table_with_names(self.game.render(self.replay.state.view(seat)), self.record.seats, seat)

    def choice(self) -> str:
        """What was chosen at this decision, by whom, and among what."""
        among = ", ".join(map(str, self.replay.state.legal))
        stand_in = " (stand-in)" if self.record.has_stand_in(self.seat, self.decision) else ""
        return f"{self.decision:4}  {self.names[self.seat]}{stand_in}: {self.replay.next_action()}  (of: {among})"

    def noted(self) -> list[str]:
        """What the bot noted at this decision."""
        return [note_text(said) for said in self._noted.get(self.decision, ())]

    def decide(self) -> None:
        """Carries out this decision as it was made."""
        self.replay.step()

    def result(self) -> list[str]:
        """How the match ended, the winner first, and what went wrong."""
        record = self.record
        by_rank = sorted(range(len(record.seats)), key=record.ranks.__getitem__)
        scores = [self.game.score_text(score) for score in record.scores]
        lines = [
            f"Ended: {record.ending}",
            *(f"  {record.ranks[seat]}. {record.seats[seat]} (seat {seat}): {scores[seat]}" for seat in by_rank),
        ]
        for fault in record.faults:
            lines.append(f"Fault of {self.names[fault.seat]} at decision {fault.decision}: {fault.kind}")
            lines += fault.detail.splitlines()
        return lines


def tell_match(
    game: Game[Any], record: GameRecord, seat: int | None = None, notes: Sequence[DecisionNotes] = ()
) -> Iterator[str]:
    """A whole match in words, line by line; with a seat also its table at each of its decisions."""
    narration = Narration(game, record, notes)
    yield from narration.heading()
    while True:
        for sentence in narration.news():
            yield f"      {sentence}"
        if narration.over:
            break
        if seat == narration.seat:
            yield f"\n{narration.table(seat)}\n"
        yield narration.choice()
        for note in narration.noted():
            yield f"      note: {note}"
        narration.decide()
    yield from narration.result()


def place_of(record: GameRecord, seat: int) -> str:
    """How a seat did: "2nd of 4"."""
    rank = record.ranks[seat]
    shared = ", shared" if record.ranks.count(rank) > 1 else ""
    return f"{ORDINALS.get(rank, f'{rank}th')} of {len(record.ranks)}{shared}"
