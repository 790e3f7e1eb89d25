"""How well bots are told apart, by the ratings of a book; and what telling them apart takes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, hypot
from statistics import NormalDist

from harness.ratings import Book
from harness.ratings.skill import BETA, MU, SIGMA
from harness.types import GameRecord

_NORMAL = NormalDist()


class Skills:
    """What is known of the bots of one game: normal beliefs about their skill, from the records so far."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.book = Book()

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
        """Neighbours in the order that are not told apart with this probability, or of which one has not played."""
        return [
            pair
            for pair in pairwise(self.order())
            if self.certainty(*pair) < wanted or not self.book.lines.keys() >= set(pair)
        ]

    def worth(self, one: str, two: str) -> float:
        """How much a meeting would tell, from 0 to 1: how open their order is, times how little is known of it."""
        better = self.certainty(one, two)
        known = self.sigma(one) ** 2 + self.sigma(two) ** 2
        # Rounded, so that the last bits of another machine's arithmetic do not seat other tables.
        return round(4 * better * (1 - better) * known / (known + 2 * BETA**2), 9)


def matches_of_round_robin(skills: Skills, wanted: float, seats: int) -> int:
    """An estimate of the matches after which a plain round-robin would separate the same bots as surely.

    It takes the skills for true and lets every bot learn as much from a match as it did here, but gives all
    bots equally many matches, as a round-robin must: as many as the closest neighbours need.
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
    return ceil(most * len(skills.names) / seats)
