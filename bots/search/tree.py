"""A search tree for several players who do not all know the same.

The choices of a seat are remembered under what that seat knows when it makes them, never under what is true: a
seat that lays its card after ours cannot answer ours, because its memory is the same whichever card we laid.
"""

# mypyc compiles this module: plain classes with typed attributes, because it silently loses what makes structs and
# dataclasses frozen, and reads typed attributes like fields of a C struct.

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import fsum, sqrt

from bots.search.caution import unless_refuted
from bots.search.rewards import Rewards, Spread
from harness import Action, View

ENOUGH = 2
"""Visits for each legal action after which a seat's own memory is preferred to the shared one."""
MIN_EXPLORATION, MAX_EXPLORATION, CALMING = 0.1, 0.9, 0.1
"""How often another seat chooses by UCB, at least and at first, and how fast that falls: Smooth UCT's figures."""
TRUST = 0.5
"""How much of the first tries goes to what a guide advises; the other actions share the rest."""

Advise = Callable[[View, Sequence[Action]], Action]
"""The choice of a guide for a view."""

_harmonic = [0.0]


def harmonic(n: int) -> float:
    """Return 1 + 1/2 + ... + 1/n: instead of a logarithm, whose last digits differ between machines."""
    while len(_harmonic) <= n:
        _harmonic.append(_harmonic[-1] + 1 / len(_harmonic))
    return _harmonic[n]


class Arm:
    """One action at a node: how often it could be chosen, how often it was, and its rewards."""

    __slots__ = ("offered", "pulls", "total")

    def __init__(self) -> None:
        self.offered = self.pulls = 0
        self.total = 0.0


class Node:
    """The statistics that are stored for one view."""

    __slots__ = ("advice", "arms", "visits")

    def __init__(self, advice: Action | None = None) -> None:
        self.advice = advice
        self.visits = 0
        self.arms: dict[Action, Arm] = {}

    def visit(self, legal: Sequence[Action]) -> None:
        """Count a decision among these actions; which ones are there depends on hands that were imagined."""
        self.visits += 1
        arms = self.arms
        for action in legal:
            arm = arms.get(action)
            if arm is None:
                arm = arms[action] = Arm()
            arm.offered += 1


class Step:
    """A decision on the way down: who chose what, and the nodes that remember it."""

    __slots__ = ("action", "nodes", "seat")

    def __init__(self, seat: int, action: Action, nodes: tuple[Node, Node]) -> None:
        self.seat, self.action, self.nodes = seat, action, nodes


class Tree:
    """All nodes of one search.

    Each decision is remembered twice: under the seat's whole view, which is exact but, in games with many hands,
    hardly ever comes again; and under the part of it that is public, which pools the hands a seat may have. A seat
    chooses by its exact memory as soon as that has seen enough, by the pooled one before; or, if there is a guide to
    ask in a situation that is new, by its exact memory alone.
    """

    def __init__(
        self,
        seat: int,
        public_part: Callable[[View], object],
        exploration: float,
        random: Callable[[], float],
        advise: Advise | None = None,
    ) -> None:
        self._seat = seat
        self._public_part = public_part
        self._exploration = exploration
        self._random = random
        self._advise = advise
        self._exact: dict[View, Node] = {}
        self._pooled: dict[object, Node] = {}
        self._spread = Spread()

    def node(self, view: View) -> Node:
        """Return the exact memory of a view that was visited."""
        return self._exact[view]

    def choose(self, view: View, legal: Sequence[Action]) -> tuple[Step, bool]:
        """Return a choice for the seat with this view, and whether the tree knew the situation already."""
        key = self._public_part(view)
        pooled = self._pooled.get(key)
        known = pooled is not None
        if pooled is None:
            pooled = self._pooled[key] = Node()
        exact = self._exact.get(view)
        if exact is None:
            exact = self._exact[view] = Node(self._advise(view, legal) if self._advise else None)
        memory = exact if exact.advice or exact.visits >= ENOUGH * len(legal) else pooled
        pooled.visit(legal)
        exact.visit(legal)
        return Step(view.seat, self._pick(memory, view.seat, legal), (exact, pooled)), known

    def best(self, view: View, legal: Sequence[Action]) -> Action:
        """Return what to play with a view that was searched: the action tried most, or the advice unless it is
        refuted."""
        node = self._exact[view]
        arms = node.arms
        if not node.advice:
            return max(legal, key=lambda action: arms[action].pulls)
        outcomes = {action: (arms[action].total, arms[action].pulls) for action in legal}
        return unless_refuted(node.advice, outcomes, self._spread.deviation)

    def learn(self, path: Sequence[Step], rewards: Rewards) -> None:
        """Update the nodes on a path: each seat learns from its own reward."""
        self._spread.include(rewards)
        for step in path:
            for node in step.nodes:
                arm = node.arms[step.action]
                arm.pulls += 1
                arm.total += rewards[step.seat]

    def _pick(self, node: Node, seat: int, legal: Sequence[Action]) -> Action:
        """Return an action by confidence bounds; other seats increasingly often repeat their average.

        With UCB alone, seats that choose at the same time would react to each other in cycles, and the search would
        learn to beat these cycles. Opponents who keep to their average stay as mixed as the game makes them.
        """
        arms, random = node.arms, self._random
        if not node.advice:
            untried = [action for action in legal if not arms[action].pulls]
            if untried:
                return untried[int(random() * len(untried))]
        if seat != self._seat and random() >= max(MIN_EXPLORATION, MAX_EXPLORATION / (1 + CALMING * sqrt(node.visits))):
            return self._average(node, legal)
        return self._advised(node, node.advice, legal) if node.advice else self._ucb(node, legal)

    def _ucb(self, node: Node, legal: Sequence[Action]) -> Action:
        """Return the highest upper confidence bound, by how often an action could be chosen rather than by visits."""
        arms, exploration = node.arms, self._exploration * self._spread.deviation
        best, most = legal[0], float("-inf")
        for action in legal:
            arm = arms[action]
            bound = arm.total / arm.pulls + exploration * sqrt(harmonic(arm.offered) / arm.pulls)
            if bound > most:
                best, most = action, bound
        return best

    def _advised(self, node: Node, advice: Action, legal: Sequence[Action]) -> Action:
        """Return the advice first; the others as the visits grow, and as what they bring bears it out (PUCT)."""
        tried = [node.arms[action] for action in legal]
        pulls = sum([arm.pulls for arm in tried])
        if not pulls:
            return advice
        usual = fsum([arm.total for arm in tried]) / pulls
        curiosity = self._exploration * self._spread.deviation * sqrt(node.visits)
        doubt = (1 - TRUST) / (len(legal) - 1)
        best, most = legal[0], float("-inf")
        for action, arm in zip(legal, tried, strict=True):
            mean = arm.total / arm.pulls if arm.pulls else usual
            bound = mean + curiosity * (TRUST if action is advice else doubt) / (1 + arm.pulls)
            if bound > most:
                best, most = action, bound
        return best

    def _average(self, node: Node, legal: Sequence[Action]) -> Action:
        """Return any action, as likely as it was chosen before; advice counts as one choice."""
        arms = node.arms
        weights = [arms[action].pulls + (action is node.advice) for action in legal]
        rest = self._random() * sum(weights)
        for action, weight in zip(legal, weights, strict=True):
            rest -= weight
            if rest < 0:
                return action
        return legal[-1]
