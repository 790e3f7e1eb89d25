"""Bots as somebody types them into a notebook."""

from __future__ import annotations

import harness


class First(harness.Bot):
    """Takes the first action."""

    games = ("el-paso",)

    def choose(self, view, actions):
        return actions[0]


class Crashing(harness.Bot):
    """Fails at its third decision."""

    def start(self):
        self.asked = 0

    def choose(self, view, actions):
        self.asked += 1
        if self.asked == 3:
            raise RuntimeError("out of ideas")
        return actions[0]


def take_last(view, actions):
    """Takes the last action."""
    return actions[-1]


class Needy(First):
    """Cannot be made without an argument."""

    def __init__(self, strength):
        self.strength = strength
