"""Options and fixtures of the whole suite."""

from __future__ import annotations

import compileall
import gc
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from harness.isolation import entrants
from harness.plugins import discovery
from harness.plugins.bot_files import sources_of
from harness.plugins.snapshots import bot_snapshot, declared_in
from harness.runs import planning, setup

draw_seed = setup.draw_seed
"""The real one; in tests a run without a seed has seed 1."""
MIN_TRIAL_S = planning.MIN_TRIAL_S
"""The real one; in tests a dry run times no more matches than it must."""


@pytest.fixture(autouse=True, scope="session")
def _same_seed():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(setup, "draw_seed", lambda: 1)
        yield


@pytest.fixture(autouse=True, scope="session")
def _short_trials():
    """A dry run keeps all workers busy for two seconds, to estimate how long a run takes. Dozens of tests make one for
    something else; those of the estimate have simulated time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planning, "MIN_TRIAL_S", 0.0)
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


@pytest.fixture(autouse=True, scope="session")
def _described_once():
    """A bot file is described by a sandboxed process, 0.1 s of processor time. Hundreds of commands name the same
    file: it is described once. The tests of the sandbox start a process each time."""
    describe, described = entrants.bots_in, {}

    def describe_once(path, isolate):
        if "tests/isolation/" in os.environ.get("PYTEST_CURRENT_TEST", ""):
            return describe(path, isolate)
        sources = sources_of(path)
        snapshot = bot_snapshot(path, sources, declared_in(path, sources))
        key = snapshot.digest, snapshot.start, isolate
        if key not in described:
            described[key] = describe(path, isolate)
        return list(described[key])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entrants, "bots_in", describe_once)
        yield


@pytest.fixture(autouse=True, scope="session")
def _no_power_cuts():
    """A run waits for the disk eight times, some milliseconds each; the tests, which play thousands, need not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: os.fstat(descriptor) and None)  # no such file: an error, too
        yield


@contextmanager
def _writing_bytecode():
    """pytest rewrites the asserts of all tests and of its plugins, also of hypothesis: most of the time of a
    collection. Where Python is told not to write bytecode, each worker of each session would do that again."""
    told, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    try:
        yield
    finally:
        sys.dont_write_bytecode = told


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    gc.disable()  # all that is made now stays until the end
    try:
        with _writing_bytecode():
            return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def _frozen():
    """Each run collects garbage at its end. It need not look at all tests, and at what earlier ones have imported."""
    gc.collect()
    gc.freeze()


TOGETHER = ("cluster",)
"""Folders whose files share something that takes seconds to start: one worker runs them all, one after the other."""
LONGEST = (
    *TOGETHER,
    "browser/test_page.py",
    "report/test_browser.py",
    "executors/test_pool.py",
    "isolation/test_isolated.py",
    "conformance/test_laws.py",
    "isolation/test_fresh.py",
    "isolation/test_filter.py",
    "e2e/test_survival.py",
    "e2e/test_new_package.py",
    "browser/test_same_records.py",
    "report/test_site_journey.py",
    "verify/test_verify.py",
    "isolation/test_crash_without_blame.py",
    "isolation/test_zoo.py",
    "league/test_month.py",
    "isolation/test_safe_default.py",
    "runs/test_untrusted_files.py",
    "cli/test_event_files.py",
    "bench/test_cluster_speed.py",
    "architecture/test_quality.py",
    "comparison/test_runs.py",
    "docs/test_pages.py",
    "play/test_saves.py",
    "isolation/test_stored_bots.py",
    "isolation/test_untrusted_runs.py",
    "executors/test_fork_unsafe.py",
    "ask/test_ask.py",
    "comparison/test_luck_adjusted.py",
    "e2e/test_shipped_packages.py",
    "league/test_league_commands.py",
    "cli/test_breakpoints.py",
    "bench/test_peers.py",
    "isolation/test_examples.py",
    "play/test_terminal.py",
    "serve/test_live_browser.py",
    "conformance/test_small_games.py",
    "conformance/test_planted_bugs.py",
    "isolation/test_entering.py",
    "isolation/test_check.py",
    "e2e/test_plugin_game.py",
    "docs/test_site.py",
    "league/test_league_damage.py",
    "isolation/test_tidiness.py",
    "isolation/test_snapshots.py",
    "api/test_notebook.py",
    "api/test_runs.py",
    "cli/test_damage.py",
    "mutation/test_mutation.py",
    "adapters/test_encoding.py",
    "verify/test_signatures.py",
    "docs/test_sections.py",
    "runs/test_multi_game.py",
)
"""Folders and files in the order in which they are given to workers, by the time they take; the others follow."""


@pytest.hookimpl(optionalhook=True)  # where pytest-xdist is not installed there is no such hook
def pytest_xdist_make_scheduler(config, log):
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            return next((folder for folder in TOGETHER if file.startswith(f"tests/{folder}/")), file)

    return Scheduling(config, log)


def pytest_configure(config):
    # Not at the top: its asserts are rewritten, which takes three seconds unless the result may be written.
    with _writing_bytecode():
        from hypothesis import HealthCheck, settings
    # How long an example takes says more of what else the machine has to do than of the code.
    settings.register_profile("arena", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("arena")
    # What a script starts in the background ignores Ctrl-C, and so does all that it starts; tests send it.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False  # files in our order, not by their number of tests
    here = Path(__file__).parent
    # Of a fresh clone each worker would rewrite the asserts of all tests: 7 seconds of processor time.
    whole = getattr(config.option, "numprocesses", None) and not config.option.file_or_dir
    if whole and not (here / "rules" / "__pycache__").exists():
        collect = [sys.executable, "-m", "pytest", "--collect-only", "--quiet"]
        subprocess.run(collect, cwd=here.parent, stdout=subprocess.DEVNULL)
    # Tests start hundreds of processes. Where Python is told not to write bytecode, as in many containers, each of them
    # would compile Arena's sources again, which doubles what it costs to start one.
    if sys.dont_write_bytecode and not hasattr(config, "workerinput"):
        for package in ("harness", "engines", "bots", "tests/support"):
            compileall.compile_dir(here.parent / package, quiet=2)


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="also run the long soak tests")


def pytest_collection_modifyitems(config, items):
    if hasattr(config, "workerinput"):
        # The last file that is given out keeps one worker busy while the others have nothing to do.
        places = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST)}
        items.sort(key=lambda item: places.get(item.path, places.get(item.path.parent, len(places))))
    if not config.getoption("--slow"):
        for item in items:
            if "slow" in item.keywords:
                item.add_marker(pytest.mark.skip(reason="long soak: run with --slow"))


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """Every test works in a separate folder, and no terminal is known in which sentences would be wrapped."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
