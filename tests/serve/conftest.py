"""Runs that several tests look at."""

from __future__ import annotations

import pytest

from tests.output.support import play

SEED = 314159265358979323846264338327
FAILING = """
from harness import Bot
class Failing(Bot):
    "Fails at its third decision."
    asked = 0
    def choose(self, view, actions):
        self.asked += 1
        return actions[0] if self.asked < 3 else 1 / 0  # nobody-may-read-this
"""
BOTS = [arg for bot in ("random", "diehard", "miser", "tycoon") for arg in ("--bot", bot)]


@pytest.fixture(scope="session")
def played(tmp_path_factory):
    """A run of three games, complete, in which a bot fails."""
    folder = tmp_path_factory.mktemp("serve")
    (folder / "failing.py").write_text(FAILING)
    return play(
        folder / "results" / "three", "--deals", 2, "--players", 3, "--seed", SEED, *BOTS,
        "--bot", folder / "failing.py", "--bot", "r2=random",
    )  # fmt: skip
