"""Sum of the trees of a value function, by a loop that is fast only when this module is compiled.

mypyc compiles this module: it keeps plain lists of numbers and typed locals, which become C loops. Structs stay in
value_function.py, because mypyc silently loses frozen=True.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

DEPTH: Final = 4
"""Number of comparisons in each tree."""

IS_COMPILED: Final = not __file__.endswith(".py")


class TreeEnsemble:
    """Trees with four comparisons each, stored one after another."""

    def __init__(self, features: Sequence[int], thresholds: Sequence[float], leaves: Sequence[float]) -> None:
        self._features: list[int] = list(features)
        """Four for each tree: the index of the feature that is compared."""
        self._thresholds: list[float] = list(thresholds)
        """The comparison is true above this value."""
        self._leaves: list[float] = list(leaves)
        """Sixteen for each tree: the value of each combination of results; the first comparison is the lowest bit."""

    def total(self, row: list[float]) -> float:
        """Return the sum of all trees for a row of features."""
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
