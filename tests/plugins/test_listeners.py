"""Plugins hear of what happens; one that is broken, slow or hangs is named, and the run goes on."""

from __future__ import annotations

import threading
from types import ModuleType

import pytest

import harness
from harness import Fault, LeagueChange, LeagueStatus, RunStatus, hookimpl
from harness.plugins import hooks as listeners_module
from harness.plugins import registry as plugins
from harness.plugins.hooks import ListenerPlugin, Listeners
from harness.plugins.registry import Registry
from harness.runs import runner, setup
from tests.ratings.simulate import record
from tests.support.cli import arena
from tests.support.waiting import wait_for, within

RUN = RunStatus(name="night", folder="results/night", format="swiss", games=("sim",), bots=("a", "b"), matches=3)


class Notebook:
    """Writes down all it hears."""

    def __init__(self):
        self.heard = []

    @hookimpl
    def arena_run_started(self, run):
        self.heard.append(("started", run))

    @hookimpl
    def arena_match_finished(self, run, record):
        self.heard.append(("match", run, record))

    @hookimpl
    def arena_fault(self, run, record, fault):
        self.heard.append(("fault", record.seats[fault.seat], fault))

    @hookimpl
    def arena_run_finished(self, run):
        self.heard.append(("finished", run))

    @hookimpl
    def arena_league_changed(self, league, change):
        self.heard.append(("league", league, change))

    def words(self):
        return [event[0] for event in self.heard]


class Broken(Notebook):
    """Hears the first match, and fails at it."""

    def __init__(self, error):
        super().__init__()
        self.error = error
        self.calls = 0

    @hookimpl
    def arena_match_finished(self, run, record):
        self.calls += 1
        raise self.error


class Stuck(Notebook):
    """Never comes back from its first match."""

    def __init__(self):
        super().__init__()
        self.release = threading.Event()

    @hookimpl
    def arena_match_finished(self, run, record):
        self.release.wait()


@pytest.fixture
def stuck():
    listener = Stuck()
    yield listener
    listener.release.set()


def listening(*plugins, grace=30.0):
    return Listeners([ListenerPlugin(f"pack-{n}", plugin) for n, plugin in enumerate(plugins, 1)], grace)


@pytest.fixture
def heard(monkeypatch):
    """Has all runs of this process heard by these listeners."""

    def hear(*listeners):
        load = plugins.load

        def with_listeners():
            registry = load()
            registry.listeners += [ListenerPlugin(f"pack-{n}", one) for n, one in enumerate(listeners, 1)]
            return registry

        monkeypatch.setattr(setup, "load", with_listeners)

    return hear


def test_a_listener_receives_all_events_in_order():
    notebook = Notebook()
    listeners = listening(notebook)
    fault = Fault(1, "exception", 4, "Traceback")
    failed = record("ab", (1, 2), faults=(fault, Fault(0, "disqualified", 0)))
    league, change = LeagueStatus(name="weekly", folder="weekly"), LeagueChange(what="joined", bot="c", version=2)
    listeners.run_started(RUN)
    listeners.match_finished(RUN, failed)
    listeners.run_finished(RUN)
    listeners.league_changed(league, change)
    assert listeners.close() == []
    assert notebook.heard == [
        ("started", RUN), ("match", RUN, failed), ("fault", "b", fault), ("finished", RUN), ("league", league, change),
    ]  # fmt: skip


class Unspeakable(Exception):
    def __str__(self):
        raise ValueError("no text")


ERRORS = [ValueError("no disk"), SystemExit(3), RecursionError(), KeyboardInterrupt(), Unspeakable()]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_hook_that_raises_is_named_once_and_not_called_again(error):
    broken, notebook = Broken(error), Notebook()
    listeners = listening(broken, notebook)
    for n in range(5):
        listeners.match_finished(RUN, record("ab", (1, 2), index=n))
    listeners.run_finished(RUN)
    [problem] = listeners.close()
    assert problem.startswith("arena_match_finished of the plugin pack-1 failed, and was not called again: ")
    assert type(error).__name__ in problem and "test_listeners.py, line" in problem
    assert broken.calls == 1
    assert broken.words() == ["finished"]  # its other hooks are
    assert notebook.words() == ["match"] * 5 + ["finished"]


def test_a_hook_that_hangs_does_not_block_other_listeners(stuck):
    notebook = Notebook()
    listeners = listening(stuck, notebook, grace=0.2)
    for n in range(5):
        listeners.match_finished(RUN, record("ab", (1, 2), index=n))
    wait_for(lambda: len(notebook.heard) == 5, "the other one to hear everything")
    [problem] = listeners.close()
    assert problem == "The plugin pack-1 was still busy at the end: 5 events were not delivered."
    assert notebook.words() == ["match"] * 5


def test_events_for_a_slow_listener_are_dropped_beyond_the_queue_limit(stuck, monkeypatch):
    monkeypatch.setattr(listeners_module, "MAX_QUEUED", 10)
    listeners = listening(stuck)
    for n in range(30):
        listeners.match_finished(RUN, record("ab", (1, 2), index=n))
    listeners.run_finished(RUN)
    stuck.release.set()
    [problem] = listeners.close()
    assert "pack-1 was too slow: " in problem and "more than 10 were queued" in problem
    assert stuck.words() == ["finished"]  # what is rare is always told


def test_a_listener_can_return_a_message_at_the_end():
    class Counter:
        heard = 0

        @hookimpl
        def arena_match_finished(self):
            self.heard += 1

        @hookimpl
        def arena_events_ended(self):
            return f"{self.heard} matches were counted."

    listeners = listening(Counter(), Notebook())
    listeners.match_finished(RUN, record("ab", (1, 2)))
    assert listeners.close() == ["1 matches were counted."]


def test_plugins_with_listener_hooks_are_found_and_an_invalid_hook_is_reported():
    good, wrong = ModuleType("good"), ModuleType("wrong")
    good.__file__ = wrong.__file__ = "pack.py"

    def fits(run, fault):
        return run, fault

    def does_not(run, mistake):
        return run, mistake

    good.arena_fault, wrong.arena_fault = hookimpl(fits), hookimpl(does_not)
    registry = Registry()
    registry.add(good, "good", "1")
    registry.add(wrong, "wrong", "1")
    assert [listener.source for listener in registry.listeners] == ["good"]
    [problem] = registry.problems
    assert "Plugin wrong is skipped" in problem and "mistake" in problem
    assert Listeners(registry.listeners).close() == []


def test_there_are_no_listeners_by_default():
    assert plugins.load().listeners == []


@pytest.mark.parametrize("workers", [0, 2])
def test_a_listener_receives_the_events_of_a_whole_run(heard, workers):
    notebook = Notebook()
    heard(notebook)
    run = harness.tournament(
        "el-paso", ["outlaw", "random"], deals=2, seed=7, workers=workers, name="night", quiet=True
    )
    assert notebook.words() == ["started", *["match"] * 4, "finished"]
    started, *matches, finished = (event[1] for event in notebook.heard)
    assert (started.name, started.format, started.games) == ("night", "round-robin", ("el-paso",))
    assert (started.bots, started.matches, started.planned, started.finished) == (("outlaw", "random"), 0, 4, "")
    assert [status.matches for status in matches] == [1, 2, 3, 4]
    assert (finished.matches, finished.finished) == (4, run.info.finished)
    assert sorted((event[2] for event in notebook.heard if event[0] == "match"), key=lambda one: one.index) == sorted(
        run, key=lambda one: one.index
    )


def test_a_resumed_run_reports_its_match_count_and_a_complete_run_sends_no_events(heard):
    notebook = Notebook()
    run = harness.tournament("el-paso", ["outlaw", "random"], deals=2, seed=7, workers=0, quiet=True)
    heard(notebook)
    harness.tournament(resume=run.folder, workers=0, quiet=True)
    assert notebook.heard == []
    games = run.folder / "games.jsonl"
    games.write_bytes(b"".join(games.read_bytes().splitlines(keepends=True)[:-1]))
    harness.tournament(resume=run.folder, workers=0, quiet=True)
    assert [(event[0], event[1].matches) for event in notebook.heard] == [("started", 3), ("match", 4), ("finished", 4)]


def test_a_listener_receives_faults(heard):
    class Clumsy(harness.Bot):
        def choose(self, view, actions):
            raise ValueError("oops")

    notebook = Notebook()
    heard(notebook)
    harness.tournament("el-paso", [Clumsy, "random"], deals=1, seed=7, workers=0, quiet=True)
    assert notebook.words() == ["started", "match", "fault", "match", "fault", "finished"]
    assert {event[1] for event in notebook.heard if event[0] == "fault"} == {"clumsy"}


def test_a_run_with_a_broken_listener_completes_and_names_the_plugin(heard):
    heard(Broken(SystemExit("enough")))
    said = arena("tournament", "--game", "el-paso", "--bot", "outlaw", "--bot", "random", "--deals", 2, "--workers", 0)
    assert (
        "arena_match_finished of the plugin pack-1 failed, and was not called again: SystemExit: enough" in said.stderr
    )
    assert said.stderr.count("pack-1") == 1
    assert "outlaw" in said.stdout


def test_a_listener_receives_the_events_of_a_comparison(heard):
    notebook = Notebook()
    heard(notebook)
    found = harness.compare("outlaw", "random", games="el-paso", seed=7, workers=0, quiet=True)
    words = notebook.words()
    assert (words[0], words[-1]) == ("started", "finished")
    assert words.count("match") == len(found.run)
    assert notebook.heard[0][1].format == "compare"


def test_an_interrupted_run_does_not_wait_for_listeners(heard, stuck, monkeypatch):
    def interrupted(*_args):
        raise KeyboardInterrupt

    monkeypatch.setattr(listeners_module, "GRACE_S", 600.0)
    monkeypatch.setattr(runner.RunEvents, "run_finished", interrupted)
    heard(stuck)
    with within(60), pytest.raises(KeyboardInterrupt):
        harness.tournament("el-paso", ["outlaw", "random"], deals=1, seed=7, workers=0, quiet=True)
