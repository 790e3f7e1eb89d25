"""What happened, in words: events as sentences, and a recorded match told decision by decision."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from harness.core.game import Game
from harness.core.types import Event, GameRecord
from harness.match.replay import Replay

ORDINALS = {1: "1st", 2: "2nd", 3: "3rd"}


def sentences(game: Game[Any], events: Iterable[Event], seat: int | None = None) -> list[str]:
    """The events as sentences: those that a seat could see, or all of them with a note on who could."""
    if seat is None:
        return [game.event_text(event) + _secrecy(event) for event in events]
    return [game.event_text(event) for event in events if event.to is None or seat in event.to]


def _secrecy(event: Event) -> str:
    if event.to is None:
        return ""
    return f"  (seat {', '.join(map(str, event.to))} only)" if event.to else "  (hidden)"


def to_you(text: str, seat: int) -> str:
    """The same sentence for the person in this seat."""
    return re.sub(rf"\b([Ss]eat {seat})\b", r"\1 (you)", text)


class Narration:
    """A recorded match on its way from decision to decision."""

    def __init__(self, game: Game[Any], record: GameRecord) -> None:
        self.game, self.record = game, record
        self.replay = Replay(game, record)
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
            lines += sentences(self.game, replay.log[self._told :], seat)
            self._told = len(replay.log)
            legal = replay.state.legal
            if len(legal) != 1:
                break
            if seat in (None, self.seat):
                lines.append(f"Seat {self.seat} must {legal[0]}.")
            replay.step()
        if replay.over:
            replay.check_end()
        return lines

    def table(self, seat: int) -> str:
        """The table as this seat sees it now."""
        return self.game.render(self.replay.state.view(seat))

    def choice(self) -> str:
        """What was chosen at this decision, and among what."""
        among = ", ".join(map(str, self.replay.state.legal))
        return f"{self.decision:4}  seat {self.seat}: {self.replay.next_action()}  (of: {among})"

    def decide(self) -> None:
        """Carries out this decision as it was made."""
        self.replay.step()

    def result(self) -> list[str]:
        """How the match ended, the winner first, and what went wrong."""
        record = self.record
        by_rank = sorted(range(len(record.seats)), key=record.ranks.__getitem__)
        lines = [
            f"Ended: {record.ending}",
            *(f"  {record.ranks[seat]}. {record.seats[seat]} (seat {seat}): {record.scores[seat]}" for seat in by_rank),
        ]
        for fault in record.faults:
            lines.append(f"Fault of seat {fault.seat} at decision {fault.decision}: {fault.kind}")
            lines += fault.detail.splitlines()
        return lines


def tell_match(game: Game[Any], record: GameRecord, seat: int | None = None) -> Iterator[str]:
    """A whole match in words, line by line; with a seat also its table at each of its decisions."""
    narration = Narration(game, record)
    yield from narration.heading()
    while True:
        for sentence in narration.news():
            yield f"      {sentence}"
        if narration.over:
            break
        if seat == narration.seat:
            yield f"\n{narration.table(seat)}\n"
        yield narration.choice()
        narration.decide()
    yield from narration.result()


def place_of(record: GameRecord, seat: int) -> str:
    """How a seat did: "2nd of 4"."""
    rank = record.ranks[seat]
    shared = ", shared" if record.ranks.count(rank) > 1 else ""
    return f"{ORDINALS.get(rank, f'{rank}th')} of {len(record.ranks)}{shared}"
