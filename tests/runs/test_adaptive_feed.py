"""Runs whose results decide what is played: the same records whoever plays them, and in whatever order they end."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from time import monotonic, sleep
from typing import Any

import pytest
from msgspec.structs import replace

import harness
from harness.core.errors import StoreError
from harness.executors.base import Executor, Job, Keep, Played
from harness.executors.serial import SerialExecutor
from harness.plugins.registry import load
from harness.runs.reader import GAMES as GAMES_FILE
from harness.runs.request import RunRequest
from harness.runs.runner import Tournament, play_run
from harness.runs.setup import create_run, prepare
from harness.runs.store import RunFolder
from tests.support.monitors import CallingMonitor
from tests.support.waiting import PATIENCE

GAMES = ("el-paso", "gnadenlos", "x-pasch")
FORMATS: dict[str, dict[str, Any]] = {
    "swiss": {},
    "knockout": {},
    "ladder:max-matches=24": {},
    "ladder:until-separated=0.7,max-matches=30": {},
    "compare": {"candidates": ("a", "b"), "deals": 24, "players": 4, "bots": 4},
}
EVERY = pytest.mark.parametrize("form", FORMATS)
ORDERS: dict[str, Callable[[Random, int], int]] = {
    "last first": lambda _rng, many: many - 1,
    "by lot": lambda rng, many: rng.randrange(many),
}


class AnyOrder(SerialExecutor):
    """Takes all jobs that there are, plays one of them, and asks again; after so many it is told to stop."""

    def __init__(self, setup: Any, order: str, most: int = 10**9, lost: Iterable[str] = ()) -> None:
        super().__init__(setup.roster)
        self.order, self.most, self.lost, self.rng = ORDERS[order], most, set(lost), Random(1)

    def run(self, jobs: Iterable[Job], keep: Keep = lambda _lines: None) -> Iterator[Played]:
        waiting, held = iter(jobs), list[Job]()
        while self.most:
            held.extend(waiting)
            if not held:
                return
            job = held.pop(self.order(self.rng, len(held)))
            if job.spec.id in self.lost:
                self.given_up.append(job.spec.id)
                continue
            self.most -= 1
            yield from super().run([job], keep)


def asked(form: str, seed: int = 5) -> RunRequest:
    more = {"players": 3, "deals": 2, "bots": 7, **FORMATS[form]}
    bots = tuple(f"{name}=random" for name in "abcdefg"[: more.pop("bots")])
    return RunRequest(games=GAMES, bots=bots, format=form, seed=seed, isolate="off", **more)


def new_run(folder: Path, request: RunRequest) -> tuple[RunFolder, Any]:
    request = replace(request, results=str(folder), name="run")
    setup = prepare(request, load())
    return create_run(request, setup, "arena tournament"), setup


def play(run: RunFolder, setup: Any, executor: Executor) -> bool:
    with executor:
        return Tournament(run, setup).play(executor)


def plain(run: RunFolder) -> dict[str, Any]:
    return {record.id: record.without_timing() for record in run.records()}


@pytest.fixture(scope="module")
def serial(tmp_path_factory) -> Callable[[str], dict[str, Any]]:
    known: dict[str, dict[str, Any]] = {}

    def records(form: str) -> dict[str, Any]:
        if form not in known:
            run, setup = new_run(tmp_path_factory.mktemp("serial"), asked(form))
            assert play(run, setup, SerialExecutor(setup.roster))
            known[form] = plain(run)
            # One after the other, matches are played in the order of the schedule; a comparison's games take turns.
            indices = [record.index for record in run.records()]
            assert form == "compare" or indices == list(range(len(indices)))
        return known[form]

    return records


@EVERY
@pytest.mark.parametrize("order", ORDERS)
def test_records_equal_those_of_a_serial_run_for_any_order_of_results(tmp_path, serial, form, order):
    run, setup = new_run(tmp_path, asked(form))
    assert play(run, setup, AnyOrder(setup, order))
    assert plain(run) == serial(form)
    assert run.info.finished


@EVERY
@pytest.mark.parametrize("order", ORDERS)
def test_a_run_stopped_many_times_ends_with_the_same_records(tmp_path, serial, form, order):
    run, setup = new_run(tmp_path, asked(form))
    stops = 0
    while not play(run, setup, AnyOrder(setup, order, most=7)):
        stops += 1
        assert len(plain(run)) == 7 * stops
        assert not run.info.finished
        setup = prepare(asked(form), load())
    assert plain(run) == serial(form)
    assert stops == (len(serial(form)) - 1) // 7


def test_an_executor_stopped_before_its_start_plays_nothing(tmp_path):
    run, setup = new_run(tmp_path, asked("swiss"))
    assert not play(run, setup, AnyOrder(setup, "last first", most=0))
    assert not play(run, setup, SerialExecutor(setup.roster, should_stop=lambda: True))
    assert plain(run) == {}


def test_an_unplayable_match_blocks_only_its_own_game(tmp_path, serial):
    run, setup = new_run(tmp_path, asked("swiss"))
    lost = next(name for name in serial("swiss") if name.startswith("el-paso-1."))
    assert not play(run, setup, AnyOrder(setup, "by lot", lost=[lost]))
    played, whole = plain(run), serial("swiss")
    assert played.keys() - {lost} == {name for name in whole if not name.startswith("el-paso") or "-1." in name} - {
        lost
    }
    assert play(run, setup, SerialExecutor(setup.roster))
    assert plain(run) == whole


def test_records_that_do_not_follow_from_earlier_results_are_refused(tmp_path):
    def lines(request: RunRequest, name: str) -> list[bytes]:
        run, setup = new_run(tmp_path / name, request)
        assert play(run, setup, SerialExecutor(setup.roster))
        return (run.folder / GAMES_FILE).read_bytes().splitlines(keepends=True)

    whole, other = lines(asked("knockout"), "whole"), lines(asked("knockout", seed=6), "other")
    longer = lines(replace(asked("swiss"), format="swiss:rounds=5"), "longer")
    run, setup = new_run(tmp_path, asked("knockout"))
    for spoilt, said in (
        ([*whole, whole[-1]], "is there twice"),
        ([*whole[:-1], other[-1]], "does not belong to this run"),
        ([*whole, longer[-1]], "x-pasch-5.*does not belong to this run"),
    ):
        (run.folder / GAMES_FILE).write_bytes(b"".join(spoilt))
        with pytest.raises(StoreError, match=said):
            play(RunFolder.open(run.folder), setup, SerialExecutor(setup.roster))


def test_a_slow_game_does_not_block_another_game(tmp_path):
    """Three of four workers wait in one game until the last round of the other has been played."""
    go, patience = str(tmp_path / "go"), PATIENCE

    class Waiting(harness.Bot):
        """Waits for a file."""

        games = ("el-paso",)

        def choose(self, view, actions):
            until = monotonic() + patience
            while not os.path.exists(go):  # noqa: PTH110 - it plays in another process, with little imported
                assert monotonic() < until, "the other game was held up"
                sleep(0.01)
            return actions[0]

    bots = (*(f"{name}=random" for name in "abcde"), Waiting)
    request = RunRequest(games=("el-paso", "x-pasch"), bots=bots, format="swiss:rounds=3", players=3, deals=1, seed=1)
    run, setup = new_run(tmp_path, request)
    seen: list[str] = []

    def saw(record):
        seen.append(record.id)
        if [name[:9] for name in seen].count("x-pasch-3") == 3:
            Path(go).touch()

    assert play_run(run, setup, request.limits, workers=4, monitor=CallingMonitor(saw))
    assert [record.id for record in run.records() if record.faults] == []
    held = {record.id for record in run.records() if "waiting" in record.seats}
    assert len(held) == 9
    assert max(map(seen.index, (name for name in seen if name[0] == "x"))) < min(map(seen.index, held))
