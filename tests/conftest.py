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


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    # pytest rewrites the asserts of all tests, which is most of the time of a collection. Where Python is told not to
    # write bytecode, each worker of each session would do that again.
    told, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    try:
        return (yield)
    finally:
        sys.dont_write_bytecode = told


def pytest_collection_finish():
    # Runs collect garbage at their end. They need not look at all tests and what those import each time.
    gc.collect()
    gc.freeze()


LONGEST = (
    "isolation/test_isolated.py",
    "isolation/test_fresh.py",
    "executors/test_pool.py",
    "isolation/test_filter.py",
    "conformance/test_laws.py",
    "isolation/test_zoo.py",
    "runs/test_adaptive_feed.py",
    "isolation/test_check.py",
    "mutation/test_mutation.py",
    "cli/test_ask.py",
    "docs/test_site.py",
    "isolation/test_forgeries.py",
    "ratings/test_truth.py",
    "league/test_matchmaking.py",
    "runs/test_multi_game.py",
    "luck/test_luck_adjusted.py",
    "bots/test_search_law.py",
    "output/test_outcome.py",
    "cli/test_verify.py",
    "formats/test_round_robin.py",
    "cli/test_breakpoints.py",
    "comparison/test_sequential_test.py",
    "oracles/test_gnadenlos.py",
    "comparison/test_cli.py",
    "cli/test_mistakes.py",
    # Not measured: they start servers, clusters, browsers or environments.
    "e2e/test_survival.py",
    "e2e/test_shipped_packages.py",
    "e2e/test_installed_plugins.py",
    "e2e/test_new_bot.py",
    "e2e/test_killed_extension.py",
    "cluster/test_survival_there.py",
    "cluster/test_hostile_there.py",
    "cluster/test_same_records.py",
    "cluster/test_shared_nodes.py",
    "cluster/test_network_cut.py",
    "cluster/test_two_runs.py",
    "cluster/test_examples.py",
    "docs/test_pages.py",
    "architecture/test_quality.py",
    "results/test_reference.py",
    "results/test_search.py",
    "report/test_browser.py",
    "serve/test_live_browser.py",
    "conformance/test_planted_bugs.py",
    "isolation/test_untrusted_runs.py",
    "isolation/test_tidiness.py",
    "isolation/test_safe_default.py",
    "runs/test_long_runs.py",
    "league/test_month.py",
)
"""Test files in the order in which they are given to workers, by the time they take; the others follow."""


def pytest_configure(config):
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False  # files in our order, not by their number of tests
    # Tests start hundreds of processes. Where Python is told not to write bytecode, as in many containers, each of them
    # would compile Arena's sources again, which doubles what it costs to start one.
    if sys.dont_write_bytecode and not hasattr(config, "workerinput"):
        for package in ("harness", "engines", "bots"):
            compileall.compile_dir(Path(__file__).parents[1] / package, quiet=2)


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="also run the long soak tests")


def pytest_collection_modifyitems(config, items):
    if hasattr(config, "workerinput"):
        # The last file that is given out keeps one worker busy while the others have nothing to do.
        places = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST)}
        items.sort(key=lambda item: places.get(item.path, len(places)))
    if not config.getoption("--slow"):
        for item in items:
            if "slow" in item.keywords:
                item.add_marker(pytest.mark.skip(reason="long soak: run with --slow"))


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """Every test works in a folder of its own."""
    monkeypatch.chdir(tmp_path)
