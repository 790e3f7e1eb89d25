"""The trees of a value function added up in a loop: quick where this module is compiled, and only there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

DEPTH: Final = 4
"""Questions that a tree asks."""

IS_COMPILED: Final = not __file__.endswith(".py")


class TreeEnsemble:
    """Trees of four questions each, laid out one after another."""

    def __init__(self, features: Sequence[int], thresholds: Sequence[float], leaves: Sequence[float]) -> None:
        self._features: list[int] = list(features)
        """Four for each tree: which number of a row it asks about."""
        self._thresholds: list[float] = list(thresholds)
        """Above which the answer is yes."""
        self._leaves: list[float] = list(leaves)
        """Sixteen for each tree: what each way to answer adds; the first question is the lowest bit."""

    def total(self, row: list[float]) -> float:
        """What all trees add for a row of features."""
        features, thresholds, leaves = self._features, self._thresholds, self._leaves
        total, leaf, at = 0.0, 0, 0
        while at < len(features):
            way = leaf
            if row[features[at]] > thresholds[at]:
                way += 1
            if row[features[at + 1]] > thresholds[at + 1]:
                way += 2
            if row[features[at + 2]] > thresholds[at + 2]:
                way += 4
            if row[features[at + 3]] > thresholds[at + 3]:
                way += 8
            total += leaves[way]
            at += DEPTH
            leaf += 1 << DEPTH
        return total
