"""Matches as Plackett and Luce read them: who is the best of the table, who is the best of the rest, and so on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from harness.ratings.skill_update import order

MOST_SPELT = 8
"""Up to so many tied bots every order of them is spelt out: no bundled game seats more. Their number doubles with each
bot; beyond it a stage among tied bots is a `WideStage`."""

MOST_STAGES = 20_000
"""Different stages that are kept. A large field at sampled tables has more; the matches after that are left out."""


class WideStage(NamedTuple):
    """ "Who is the best?" among `others` and any `left` of those `tied`: bits for bots, as in the key of a stage."""

    others: int
    tied: int
    left: int


Stage = int | WideStage
"""A stage is "who is the best of these?"; a number has a bit for each bot left."""


class Stages:
    """How often each group of bots was a stage, and how often each bot was chosen at one."""

    __slots__ = ("chosen", "counts")

    def __init__(self) -> None:
        self.counts: dict[Stage, float] = {}
        self.chosen: dict[int, float] = {}

    def add(self, bots: Sequence[int], ranks: tuple[int, ...]) -> None:
        """Best of all, best of the rest, ...; tied bots count as every order of them, with equal weights."""
        counts, chosen = self.counts, self.chosen
        if len(counts) >= MOST_STAGES:
            return
        seats, ties = order(ranks)
        left = 0
        for bot in bots:
            left |= 1 << bot
        if not any(ties):
            for seat in seats[:-1]:
                bot = bots[seat]
                counts[left] = counts.get(left, 0.0) + 1
                chosen[bot] = chosen.get(bot, 0.0) + 1
                left ^= 1 << bot
            return
        for rank in sorted(set(ranks)):
            tied = [bot for bot, its in zip(bots, ranks, strict=True) if its == rank]
            if len(tied) > MOST_SPELT:
                left = self._add_wide(left, tied)
                continue
            for gone in range(len(tied)):
                ways = list(combinations(tied, gone))
                for way in ways:
                    self._add_way(left ^ _bits(way), set(tied) - set(way), 1 / len(ways))
            left ^= _bits(tied)

    def _add_way(self, stage: int, tied: set[int], weight: float) -> None:
        """A stage at which each of those tied is as likely as another to be chosen."""
        if stage & (stage - 1):  # the last bot alone is no choice
            self.counts[stage] = self.counts.get(stage, 0.0) + weight
            for bot in tied:
                self.chosen[bot] = self.chosen.get(bot, 0.0) + weight / len(tied)

    def _add_wide(self, left: int, tied: Sequence[int]) -> int:
        """The stages of many tied bots: each of them is as likely as another to be chosen; returns who is left."""
        bits = _bits(tied)
        others = left ^ bits
        for remaining in range(len(tied), 0 if others else 1, -1):
            stage = left if remaining == len(tied) else WideStage(others, bits, remaining)
            self.counts[stage] = self.counts.get(stage, 0.0) + 1
            for bot in tied:
                self.chosen[bot] = self.chosen.get(bot, 0.0) + 1 / len(tied)
        return others


def _bits(bots: Sequence[int]) -> int:
    return sum(1 << bot for bot in bots)
