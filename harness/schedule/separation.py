"""How well bots are told apart, by the ratings of a book; and what telling them apart takes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, hypot
from statistics import NormalDist

from harness.ratings import Book
from harness.ratings.skill import BETA, MU, SIGMA
from harness.ratings.standing import certainty
from harness.types import GameRecord

_NORMAL = NormalDist()


class Skills:
    """What is known of the bots of one game: normal beliefs about their skill, from the records so far."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.book = Book()
        self._doubts: set[frozenset[str]] = set()
        """Neighbours that the ratings tell apart, but not what was seen over the deals, when it was last looked at."""

    def add(self, record: GameRecord) -> None:
        """Learns from one match."""
        self.book.add(record)

    def mu(self, name: str) -> float:
        """The skill it probably has."""
        line = self.book.lines.get(name)
        return line.mu if line else MU

    def sigma(self, name: str) -> float:
        """How uncertain that is."""
        line = self.book.lines.get(name)
        return line.sigma if line else SIGMA

    def order(self) -> list[str]:
        """Best first; names decide between equals."""
        return sorted(self.names, key=lambda name: (-self.mu(name), name))

    def certainty(self, one: str, two: str) -> float:
        """The probability that `one` is the better of the two."""
        return _NORMAL.cdf((self.mu(one) - self.mu(two)) / hypot(self.sigma(one), self.sigma(two)))

    def undecided(self, wanted: float) -> list[tuple[str, str]]:
        """Neighbours in the order that are not told apart with this probability, or of which one has not played.

        Told apart by the ratings, which assume a model of luck, and also by what was seen over the deals: a few
        matches can look clear to the one and not to the other.
        """
        self._doubts.clear()
        neighbours = list(pairwise(self.order()))
        open_ones = [
            pair for pair in neighbours if self.certainty(*pair) < wanted or not self.book.lines.keys() >= set(pair)
        ]
        if open_ones:
            return open_ones
        sure = certainty(self.book)
        open_ones = [pair for pair in neighbours if (sure(*pair) or 0.0) < wanted]
        self._doubts.update(map(frozenset, open_ones))
        return open_ones

    def worth(self, one: str, two: str) -> float:
        """How much a meeting would tell, from 0 to 1: how open their order is, times how little is known of it."""
        if frozenset((one, two)) in self._doubts:
            return 1.0
        better = self.certainty(one, two)
        known = self.sigma(one) ** 2 + self.sigma(two) ** 2
        # Rounded, so that the last bits of another machine's arithmetic do not seat other tables.
        return round(4 * better * (1 - better) * known / (known + 2 * BETA**2), 9)


def matches_of_round_robin(skills: Skills, wanted: float, seats: int) -> int:
    """An estimate of the matches after which a plain round-robin would separate the same bots as surely.

    It takes what was found for true and lets every bot tell as much by a match as it did here, but gives all bots
    equally many matches, as a round-robin must: as many as the closest neighbours need.
    """
    prior = SIGMA**-2
    gain = {name: (skills.sigma(name) ** -2 - prior) / skills.book.lines[name].matches for name in skills.names}
    far = _NORMAL.inv_cdf(wanted)

    def enough(matches: int) -> bool:
        spread = {name: (prior + matches * gain[name]) ** -0.5 for name in skills.names}
        return all(
            skills.mu(better) - skills.mu(worse) >= far * hypot(spread[better], spread[worse])
            for better, worse in pairwise(skills.order())
        )

    most = 1
    while not enough(most):
        most *= 2
    least = most // 2
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (least, middle) if enough(middle) else (middle, most)
    return ceil(max(most, _matches_seen(skills, far)) * len(skills.names) / seats)


def _matches_seen(skills: Skills, far: float) -> float:
    """Matches of each bot after which what is seen over the deals separates all neighbours: errors shrink with the
    square root of the matches."""
    sure = certainty(skills.book)
    needed = 0.0
    for pair in pairwise(skills.order()):
        seen = min(max(sure(*pair) or 0.0, 0.5 + 1e-9), 1 - 1e-12)
        played = min(skills.book.lines[name].matches for name in pair)
        needed = max(needed, played * (far / _NORMAL.inv_cdf(seen)) ** 2)
    return needed
