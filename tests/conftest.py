"""Options and fixtures of the whole suite."""

from __future__ import annotations

import compileall
import gc
import sys
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from harness.plugins import discovery
from harness.runs import setup

# How long an example takes says more of what else the machine has to do than of the code.
settings.register_profile("arena", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("arena")

draw_seed = setup.draw_seed
"""The real one; in tests a run without a seed has seed 1."""


@pytest.fixture(autouse=True, scope="session")
def _same_seed():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(setup, "draw_seed", lambda: 1)
        yield


@cache
def _read_entry_points(group, _folders):
    return entry_points(group=group)


def _entry_points_here(group):
    """Return the installed entry points; they are read again when a folder of `sys.path` has changed."""
    folders = [(path, Path(path).stat().st_mtime_ns) for path in sys.path if path and Path(path).exists()]
    return _read_entry_points(group, tuple(folders))


@pytest.fixture(autouse=True, scope="session")
def _installed_once():
    """A process of Arena reads the metadata of all installed packages once; so do the tests, which run hundreds of
    commands in one process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(discovery, "entry_points", _entry_points_here)
        yield


def pytest_collection_finish():
    # Runs collect garbage at their end. They need not look at all tests and what those import each time.
    gc.collect()
    gc.freeze()


def pytest_configure(config):
    # Tests start hundreds of processes. Where Python is told not to write bytecode, as in many containers, each of them
    # would compile Arena's sources again, which doubles what it costs to start one.
    if sys.dont_write_bytecode and not hasattr(config, "workerinput"):
        for package in ("harness", "engines", "bots"):
            compileall.compile_dir(Path(__file__).parents[1] / package, quiet=2)


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="also run the long soak tests")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--slow"):
        for item in items:
            if "slow" in item.keywords:
                item.add_marker(pytest.mark.skip(reason="long soak: run with --slow"))


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """Every test works in a folder of its own."""
    monkeypatch.chdir(tmp_path)
