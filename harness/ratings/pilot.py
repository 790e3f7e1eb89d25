"""Which way to play: the pilot of a comparison.

If the cards decide, whoever has the good ones wins, and when the two bots exchange seats on the same deal the other one
does: a pair of such matches is split, and says more than two matches with different deals. If a deal suits one bot's
way of playing, it wins in either seat, and the second match only repeats the first. So a comparison begins with some
matches that have deals of their own (enough to settle clear cases) and some pairs; if more of the pairs were split than
were won twice by the same bot, it goes on with pairs, else with matches of their own. To be exact: bets on values y
between -1 and 1 grow by (mean y)^2 / (2 mean y^2) each, and that is larger for pairs, match for match, if and only if
the product of both results of a pair is negative on average.

All of this is fixed beforehand, and all of it counts: units of both kinds have the same mean, and which kind comes next
depends on nothing but what was seen before. A bet that was fair stays fair.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from harness.ratings.question import Unit, Way

PILOT_MATCHES = 16
PILOT_PAIRS = 24


class PilotResult(Struct, frozen=True):
    """What the pilot's pairs have shown."""

    split: int
    """Pairs in which each bot finished ahead once."""
    twice: int
    """Pairs in which the same bot did both times."""
    chosen: Unit

    @property
    def pairs(self) -> bool:
        """Whether exchanged pairs go on."""
        return self.chosen == "pair"


class Pilot:
    """Says which unit is the next, in a given way of playing."""

    def __init__(self, way: Way) -> None:
        self.result: PilotResult | None = None
        self._seen: list[float] = []
        self._units = 0
        self._always: Unit | None = _ALWAYS.get(way)

    @property
    def unit(self) -> Unit:
        """The next unit."""
        if self._always:
            return self._always
        if self.result:
            return self.result.chosen
        return "match" if self._units < PILOT_MATCHES else "pair"

    @property
    def alike(self) -> int | None:
        """How many units of this kind come at least before another could; None if no other will."""
        if self._always or self.result:
            return None
        return (PILOT_MATCHES if self._units < PILOT_MATCHES else PILOT_MATCHES + PILOT_PAIRS) - self._units

    def add(self, results: Sequence[float]) -> None:
        """A unit of the kind that was the next has been played, with these results, match for match."""
        if self._always or self.result:
            return
        if self.unit == "pair":
            first, second = results
            self._seen.append((2 * first - 1) * (2 * second - 1))
        self._units += 1
        if len(self._seen) == PILOT_PAIRS:
            self.result = PilotResult(
                split=sum(product < 0 for product in self._seen),
                twice=sum(product > 0 for product in self._seen),
                chosen="pair" if sum(self._seen) < 0 else "match",
            )


_ALWAYS: dict[Way, Unit] = {
    "pairs": "pair",
    "own-deals": "match",
    "gauntlet": "turns",
    "sets": "set",
    "sets-own-deals": "set",
}
