"""Isolated bots: the same records as in one process, whatever becomes of workers and bots."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from harness.core.errors import UsageError
from harness.executors.base import Roster, default_workers
from harness.executors.pool import LocalPool
from harness.executors.serial import SerialExecutor
from harness.match.faults import Limits
from harness.plugins.entrants import enter
from tests.isolation.support import BUNDLED, GAMES, PATIENT, REGISTRY, job, left_of, processes, seated
from tests.support import wild, zoo
from tests.support.cli import arena
from tests.support.waiting import within

from .isolation_speed import measure_isolated_workers, measure_isolation

HURRIED = Limits(move_time=1, margin=0.2)
"""For tables with a bot that uses processor time until it is killed."""
SLOW = {"flat-mc": "flat-mc:iterations=4", "ismcts": "ismcts:iterations=4"}


def plain(played):
    return {record.id: record.without_timing() for record, *_ in played}


def field(game):
    """Every bundled bot that plays the game; the slow ones think a little."""
    names = [name for name in BUNDLED if game in (REGISTRY.bots[name].cls.games or GAMES)]
    return REGISTRY.entrants(SLOW.get(name, name) for name in names)


def rotations(game, entrants, players):
    names = [entrant.name for entrant in entrants]
    for number in range(len(names)):
        yield job(number, game, *(names[number:] + names[:number])[:players])


@pytest.mark.parametrize("game", sorted(GAMES))
def test_all_bundled_bots_play_the_same_isolated(game):
    entrants = field(game)
    players = max(GAMES[game].min_players, 3)
    here = Roster(GAMES, {entrant.name: entrant for entrant in entrants})
    # One worker: each of them starts a process for every bot.
    with LocalPool(seated(entrants, limits=PATIENT, memory=2000, game=game), PATIENT, 1) as pool:
        isolated = plain(pool.run(rotations(game, entrants, players)))
    assert isolated == plain(SerialExecutor(here).run(rotations(game, entrants, players)))
    assert not any(record.faults for record in isolated.values())
    assert len(isolated) == len(entrants)


@pytest.fixture(scope="module")
def failing():
    """A match of every bot that fails in an orderly way: isolated, and here."""
    entrants = [*REGISTRY.entrants(["random"]), *(enter(bad, {}, "", "test", "1") for bad in zoo.FAULTS)]
    jobs = [job(number, "el-paso", "random", bad.name) for number, bad in enumerate(zoo.FAULTS)]
    with LocalPool(seated(entrants, limits=PATIENT), PATIENT, 2) as pool:
        isolated = plain(pool.run(iter(jobs)))
    here = plain(SerialExecutor(Roster(GAMES, {entrant.name: entrant for entrant in entrants})).run(iter(jobs)))
    return {bad: (isolated[f"m{number}"], here[f"m{number}"]) for number, bad in enumerate(zoo.FAULTS)}


@pytest.mark.parametrize(("bad", "kind"), zoo.FAULTS.items(), ids=lambda value: getattr(value, "__name__", value))
def test_faults_are_reported_the_same_way_when_isolated(failing, bad, kind):
    isolated, here = failing[bad]
    assert isolated == here
    assert [fault.kind for fault in isolated.faults] == [kind]


DEADLY = {
    wild.HangsInC: "timeout",
    wild.HangsAtStart: "timeout",
    wild.HangsAtTheEnd: "timeout",
    wild.Leaves: "crash",
    wild.LeavesAtStart: "crash",
    wild.Segfaults: "crash",
    wild.ClosesEverything: "crash",
    wild.ForksAndDies: "crash",
    wild.EatsMemory: "memory",
}


@pytest.fixture(scope="module")
def deadly():
    """Two matches of every bot that kills or hangs its process, and one of every rude one; what was left of them."""
    hanging = [bot for bot, kind in DEADLY.items() if kind == "timeout"]
    dying = [bot for bot, kind in DEADLY.items() if kind != "timeout"]
    played, losses, left = [], [], []
    for limits, bots in ((HURRIED, hanging * 2), (PATIENT, [*dying * 2, *wild.HARMLESS])):
        strange = [enter(bot, {}, "", "test", "1") for bot in dict.fromkeys(bots)]
        table = seated([*REGISTRY.entrants(["random"]), *strange], limits=limits, memory=400)
        homes = [entrant.sessions.home for entrant in table.entrants.values()]
        jobs = [job(number, "el-paso", "random", bot.name) for number, bot in enumerate(bots)]
        with LocalPool(table, limits, 2, sweep=True) as pool:
            played += [record for record, *_ in pool.run(jobs)]
            losses += pool.losses
        left += left_of(*homes)
    return played, losses, left


@pytest.mark.parametrize(("bad", "kind"), DEADLY.items(), ids=lambda value: getattr(value, "__name__", value))
def test_only_the_bot_that_kills_or_hangs_its_process_is_blamed(deadly, bad, kind):
    records = [record for record in deadly[0] if bad.name in record.seats]
    assert len(records) == 2
    for record in records:
        [fault] = record.faults
        assert (record.seats[fault.seat], fault.kind) == (bad.name, kind), fault.detail


@pytest.mark.parametrize("rude", wild.HARMLESS, ids=lambda bot: bot.__name__)
def test_a_misbehaving_isolated_bot_that_breaks_no_rule_is_not_blamed(deadly, rude):
    assert [record.faults for record in deadly[0] if rude.name in record.seats] == [()]


def test_no_worker_was_lost_and_no_process_is_left(deadly):
    _, losses, left = deadly
    assert losses == []
    assert left == []


def test_bot_processes_end_when_their_worker_is_killed():
    entrants = REGISTRY.entrants(["random", "skittish"])
    table = seated(entrants, limits=PATIENT)
    homes = [entrant.sessions.home for entrant in table.entrants.values()]
    jobs = [job(number, "el-paso", "random", "skittish") for number in range(60)]
    with LocalPool(table, PATIENT, 2, sweep=True) as pool:
        played = []
        for one in pool.run(iter(jobs)):
            played.append(one)
            if len(played) in (5, 25):
                os.kill(next(iter(pool._workers.values())).pid, signal.SIGKILL)
    assert left_of(*homes) == []
    assert not any(Path(home).exists() for home in homes)
    here = Roster(GAMES, {entrant.name: entrant for entrant in entrants})
    assert plain(played) == plain(SerialExecutor(here).run(iter(jobs)))


def test_one_process_serves_many_matches_and_is_replaced_after_a_fault():
    table = seated([*REGISTRY.entrants(["random"]), enter(wild.Leaves, {}, "", "test", "1")], limits=PATIENT)
    with SerialExecutor(table, PATIENT) as executor:
        seen = []
        for _ in executor.run(job(number, "el-paso", "random", "leaves") for number in range(3)):
            [program] = table.entrants["random"].sessions.idle
            seen.append((program.process.pid, len(table.entrants["leaves"].sessions.idle)))
    assert len({pid for pid, _ in seen}) == 1
    assert [idle for _, idle in seen] == [0, 0, 0]


@pytest.mark.parametrize(("bad", "kept"), [(zoo.Raises, True), (zoo.Hoarder, False)], ids=["exception", "memory"])
def test_a_process_is_kept_after_an_exception_but_not_after_running_out_of_memory(bad, kept):
    table = seated([*REGISTRY.entrants(["random"]), enter(bad, {}, "", "test", "1")], limits=PATIENT)
    sessions = table.entrants[bad.name].sessions
    with SerialExecutor(table, PATIENT) as executor:
        for record, *_ in executor.run(job(number, "el-paso", "random", bad.name) for number in range(2)):
            assert [fault.kind for fault in record.faults] == [zoo.FAULTS[bad]]
            assert bool(sessions.idle) == kept
            assert bool(processes(sessions.home) if kept else left_of(sessions.home)) == kept


def test_an_isolated_bot_observes_the_same_events_as_in_arenas_process(tmp_path):
    (tmp_path / "gossip.py").write_text(
        "import harness, zlib\n"
        "class Gossip(harness.Bot):\n"
        "    def start(self): self.heard = b''\n"
        "    def observe(self, events): self.heard += repr(events).encode()\n"
        "    def choose(self, view, actions): return actions[zlib.crc32(self.heard) % len(actions)]\n"
    )
    entrants = REGISTRY.entrants(["random", str(tmp_path / "gossip.py")])
    jobs = [job(number, "gnadenlos", "random", "gossip", "gossip") for number in range(2)]
    with SerialExecutor(seated(entrants, limits=PATIENT, game="gnadenlos"), PATIENT) as executor:
        isolated = plain(executor.run(iter(jobs)))
    assert isolated == plain(
        SerialExecutor(Roster(GAMES, {entrant.name: entrant for entrant in entrants})).run(iter(jobs))
    )
    assert not any(record.faults for record in isolated.values())


def test_a_class_inside_a_function_cannot_be_isolated():
    class Local(wild.Wild):
        pass

    with pytest.raises(UsageError, match="put it into a file"):
        seated([enter(Local, {}, "", "test", "1")])


def test_startup_time_has_its_own_limit_apart_from_the_move_time(tmp_path, monkeypatch):
    monkeypatch.delenv("TMPDIR", raising=False)  # which every isolated process has
    quick, tables = Limits(move_time=3), []
    for seconds in (4, 9999):
        bot = tmp_path / str(seconds) / "sleeper.py"
        bot.parent.mkdir()
        bot.write_text(
            f"import os, time, harness\nif 'TMPDIR' in os.environ: time.sleep({seconds})\n"
            "class Sleeper(harness.Bot):\n    def choose(self, view, actions): return actions[0]\n"
        )
        tables.append(seated(REGISTRY.entrants(["random", str(bot)]), limits=quick))
    with SerialExecutor(tables[0], quick) as executor:
        [(record, *_)] = executor.run([job(1, "el-paso", "random", "sleeper")])
    assert record.faults == ()
    table = tables[1]
    [entrant] = [one for one in table.entrants.values() if one.name == "sleeper"]
    hurried = entrant.policy.__class__("on", quick, start_time=0.4)
    object.__setattr__(entrant, "policy", hurried)
    with within(), SerialExecutor(table, quick) as executor:
        [(record, *_)] = executor.run([job(1, "el-paso", "random", "sleeper")])
    [fault] = record.faults
    assert (fault.kind, fault.decision) == ("timeout", 0)
    assert "had not said hello after 0.4 s" in fault.detail


@pytest.mark.slow
def test_isolated_bots_reach_a_third_of_echo_speed_and_workers_scale():
    """Ratios, in one run, with a fresh copy for each match; on a machine with something else to do they say nothing."""
    game = GAMES["el-paso"]
    assert measure_isolation(game, 4, 8.0)["isolated / echo"] >= 0.33
    if default_workers() > 1:
        assert measure_isolated_workers(game, 3, 2, 12.0)["isolated, 2 workers against 1"] >= 1.6


def test_the_benchmark_measures_all_it_promises():
    speed = measure_isolation(GAMES["el-paso"], 2, 0.4) | measure_isolated_workers(GAMES["el-paso"], 2, 2, 0.4)
    assert all(value > 0 for value in speed.values())
    assert {"isolated / echo", "isolated, 2 workers against 1"} <= set(speed)


WRITES_AT_IMPORT = """
from pathlib import Path
import harness

try:
    (Path(__file__).parent / "was-here").write_text("at import")
except OSError:
    pass

class Guest(harness.Bot):
    games = ("el-paso",)
    def choose(self, view, actions):
        return actions[0]
"""


@pytest.mark.parametrize("workers", [0, 1])
def test_nothing_of_an_isolated_file_runs_in_arenas_own_processes(tmp_path, workers):
    """Neither in the one that enters it, nor in a worker."""
    (tmp_path / "guest.py").write_text(WRITES_AT_IMPORT)
    arena("tournament", "--game", "el-paso", "--bot", tmp_path / "guest.py", "--bot", "random", "--deals", 1,
          "--isolate=on", "--workers", workers, "--results", tmp_path / "results", "--strict")  # fmt: skip
    assert not (tmp_path / "was-here").exists()
