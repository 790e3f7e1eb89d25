"""A race between actions: all are tried in the same imagined worlds, and significantly worse ones drop out."""

# mypyc compiles this module: plain classes with typed attributes, because it silently loses what makes structs and
# dataclasses frozen, and reads typed attributes like fields of a C struct.

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt

from bots.search.caution import CAUTION
from harness import Action

FIRST_LOOK, GROWTH = 4, 1.3
"""Worlds before the first elimination, and the growth until the next: each one is a chance to err."""
PRIOR = 4.0
"""Weight, in worlds, of the pooled variance in the variance of each action: few worlds give a poor estimate."""
ALIKE = 0.002
"""Actions whose rewards surely differ by less than this part of their scatter are alike."""


NEVER = float("inf")
"""Doubt with which nothing drops out."""


class Race:
    """The reward of each action, world by world. Luck is named, so a world is the same luck for all of them."""

    __slots__ = ("_doubt", "_look", "_margin", "_turn", "actions", "advice", "rewards", "running")

    def __init__(self, actions: Sequence[Action], advice: Action | None, doubt: float, margin: float = 0.0) -> None:
        self.actions, self.advice, self._doubt, self._margin = actions, advice, doubt, margin
        self.running: list[Action] = list(actions)
        if advice is not None:  # it is what the others are measured by
            self.running.remove(advice)
            self.running.insert(0, advice)
        self.rewards: dict[Action, list[float]] = {action: [] for action in actions}
        self._turn, self._look = 0, FIRST_LOOK

    def next(self) -> tuple[Action, int] | None:
        """Return the action to try now and the number of the world; None when the race is over."""
        if self._turn == len(self.running):
            self._turn = 0
            if len(self.rewards[self.running[0]]) >= self._look:
                self._look = int(self._look * GROWTH) + 1
                self._drop()
        if len(self.running) == 1:
            return None
        action = self.running[self._turn]
        self._turn += 1
        return action, len(self.rewards[action])

    def record(self, action: Action, reward: float) -> None:
        """Record the reward of a try."""
        self.rewards[action].append(reward)

    def best(self) -> Action:
        """Return the advice, unless something did better by the margin and a standard error; without any, the
        leader."""
        advice = self.advice
        if advice is None or advice not in self.running:
            leader = self._leader()
            if advice is not None and self._margin and self._against(leader, advice, 0.0)[0] < self._margin:
                return advice
            return leader
        best, most = advice, 0.0
        scatter = self._scatter(advice)
        for action in self.running:
            if action is not advice:
                gain, error = self._against(action, advice, scatter)
                if gain >= self._margin and gain - CAUTION * error > most:
                    best, most = action, gain - CAUTION * error
        return best

    def _leader(self) -> Action:
        """Return the action with the best mean of those still in the race."""
        return max(self.running, key=lambda action: _mean(self.rewards[action]))

    def _drop(self) -> None:
        """Drop actions that are significantly worse than the leader; keep only the leader if all others are like it."""
        leader = self._leader()
        scatter = self._scatter(leader)
        kept, alike = [], True
        for action in self.running:
            if action is not leader:
                gain, error = self._against(action, leader, scatter)
                if gain + self._doubt * error < 0:
                    continue
                alike = alike and self._doubt * error - gain < ALIKE
            kept.append(action)
        self.running = [self.advice if self.advice in kept else leader] if alike and len(kept) > 1 else kept

    def _scatter(self, reference: Action) -> float:
        """Return the mean square of how much the difference to the reference varies, over all that still run."""
        total, count, base = 0.0, 0, self.rewards[reference]
        for action in self.running:
            if action is not reference:
                rewards = self.rewards[action]
                tries = min(len(rewards), len(base))
                if tries > 1:
                    mean = 0.0
                    for i in range(tries):
                        mean += rewards[i] - base[i]
                    mean /= tries
                    for i in range(tries):
                        total += (rewards[i] - base[i] - mean) ** 2
                    count += tries - 1
        return total / count if count else float("inf")

    def _against(self, action: Action, reference: Action, scatter: float) -> tuple[float, float]:
        """Return an action's mean advantage over the reference in the same worlds, and its standard error."""
        rewards, base = self.rewards[action], self.rewards[reference]
        tries = min(len(rewards), len(base))
        if not tries or scatter == float("inf"):
            return 0.0, float("inf")
        mean = 0.0
        for i in range(tries):
            mean += rewards[i] - base[i]
        mean /= tries
        squares = PRIOR * scatter
        for i in range(tries):
            squares += (rewards[i] - base[i] - mean) ** 2
        return mean, sqrt(squares / (tries - 1 + PRIOR) / tries)


def _mean(rewards: Sequence[float]) -> float:
    return fsum(rewards) / len(rewards) if rewards else float("-inf")
