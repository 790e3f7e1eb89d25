"""The cards of the game as plain values, and how they are written."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Annotated, Final, NamedTuple

from msgspec import Meta

from harness import Seat, words

COLOURS = ("red", "blue", "green", "yellow")
"""The colour of each seat's hat and IOUs."""

GOLD_RUSH: Final = "gold rush"
HIGH_NOON: Final = "high noon"
CHEATING: Final = "cheating"

SKILL = {GOLD_RUSH: 0, HIGH_NOON: 1, CHEATING: 2}
"""Which of an adventurer's skills counts in an event (GN-14)."""


Skill = Annotated[int, Meta(ge=1, le=6)]
"""A skill of an adventurer."""
MAX_FIGURE = 99
"""The highest value of an IOU, gain of a gold rush, and number of fields that a components file may have."""


class Adventurer(NamedTuple):
    """A hired hand with three skills from 1 to 6 (GN-2). Two of the same skills are the same card."""

    gold: Skill
    """What counts in a gold rush."""
    gun: Skill
    """What counts at high noon."""
    cards: Skill
    """What counts in cheating."""

    def __str__(self) -> str:
        return f"{self.gold}/{self.gun}/{self.cards}"


class Iou(NamedTuple):
    """A promise to pay (GN-3). IOUs sort as GN-29 lays them: by value, then by colour."""

    value: Annotated[int, Meta(ge=0, le=MAX_FIGURE, title="IOU")]
    """The gold that is promised."""
    colour: Seat
    """The seat that has to pay it to its holder."""

    def __str__(self) -> str:
        return f"{COLOURS[self.colour]} {self.value}"


class EventCard(NamedTuple):
    """One of the event cards (GN-4)."""

    kind: Annotated[str, words(GOLD_RUSH, HIGH_NOON, CHEATING)]
    """"gold rush", "high noon" or "cheating"."""
    first: Annotated[int, Meta(ge=0, le=MAX_FIGURE, title="gold rush")] = 0
    """Gold for the highest value in a gold rush."""
    second: Annotated[int, Meta(ge=0, le=MAX_FIGURE, title="gold rush")] = 0
    """Gold for the second-highest value in a gold rush."""

    def __str__(self) -> str:
        return f"{self.kind} {self.first}/{self.second}" if self.kind == GOLD_RUSH else self.kind


def ious_text(ious: Iterable[Iou]) -> str:
    """Return IOUs for a person, colour by colour: "red 1+3, blue 2"."""
    by_colour = sorted(ious, key=lambda iou: (iou.colour, iou.value))
    return ", ".join(
        f"{COLOURS[colour]} {'+'.join(str(iou.value) for iou in group)}"
        for colour, group in groupby(by_colour, key=lambda iou: iou.colour)
    )
