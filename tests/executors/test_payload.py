"""What is typed in a notebook gets to another process, with whatever it names."""

from __future__ import annotations

import dill

import harness
from harness.executors.worker import dumps


def test_a_pickled_class_refers_to_installed_modules_by_name():
    class Asks(harness.Bot):
        def choose(self, view, actions):
            return harness.__all__, actions[0]

    packed = dumps("It", Asks, "another process")
    assert len(packed) < 10_000  # the module's name, and not what is in it
    arrived = dill.loads(packed)  # noqa: S301
    assert arrived.choose(None, None, "a") == (harness.__all__, "a")
    assert dill.loads(dumps("It", harness, "another process")) is harness  # noqa: S301
