"""A race between actions: tried in the same imagined worlds, those drop out that are worse beyond doubt."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from bots.search.caution import CAUTION
from harness import Action

FIRST_LOOK, GROWTH = 4, 1.3
"""Worlds before anybody drops out, and how many times as many before the next look: each look is a chance to err."""
PRIOR = 4.0
"""Worlds that the scatter of all differences counts for in that of each: few worlds say little about scatter."""
ALIKE = 0.002
"""Actions whose rewards surely differ by less than this part of their scatter are alike."""


NEVER = float("inf")
"""Doubt with which nothing drops out."""


class Race:
    """What each action has brought, world by world. Luck is named, so a world is the same luck for all of them."""

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
        """What to try now, and in the how manieth world; None when the race is over."""
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
        """Take in what came of a try."""
        self.rewards[action].append(reward)

    def best(self) -> Action:
        """The advice, unless something did better by the margin and a standard error; without any, the leader."""
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
        """What did best so far of those that still run."""
        return max(self.running, key=lambda action: _mean(self.rewards[action]))

    def _drop(self) -> None:
        """Leave out what is worse than the leader beyond doubt; only the leader, if all others are like it."""
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
        """The mean square of how much the difference to the reference varies, over all that still run."""
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
        """By how much an action did better than the reference in the same worlds, and the standard error of that."""
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
    return sum(rewards) / len(rewards) if rewards else float("-inf")
