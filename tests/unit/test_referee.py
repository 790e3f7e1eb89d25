"""The referee survives whatever a bot does, blames the right one, and repeats a match exactly."""

from __future__ import annotations

import random
from math import inf

import msgspec
import pytest

from engines.el_paso import ElPaso
from harness import Bot
from harness.core.types import GameRecord, MatchSpec
from harness.match import referee
from harness.match.referee import DEADLINE, SLOTS, Limits, play
from harness.match.replay import verify
from harness.plugins.entrants import enter
from tests.support import zoo

GAME = ElPaso.configure()


class First(Bot):
    """Takes the first action."""

    def choose(self, view, actions):
        return actions[0]


class Dice(Bot):
    """Uses its own generator."""

    def choose(self, view, actions):
        return self.rng.choice(actions)


class Burner(Dice):
    """Burns random numbers of its own and of the global generator."""

    def choose(self, view, actions):
        burnt = random.Random(view.town).randrange(5)
        for _ in range(burnt):
            random.random()
        return actions[0]


class GlobalDice(Bot):
    """Uses the global generator, against all advice."""

    def choose(self, view, actions):
        return random.choice(actions)


def match(*bots, seed=11, limits=None, game=GAME, **more):
    entrants = [enter(bot, {}, "", "test", "1") for bot in bots]
    spec = MatchSpec("m", 0, "s", game.name, dict(game.settings), seed, tuple(e.name for e in entrants))
    return play(spec, game, entrants, limits or Limits(), **more)


class Clock:
    """Goes on only when a bot takes its time, whatever else the machine has to do."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(referee, "perf_counter", made)
    return made


def test_a_record_holds_the_whole_match():
    record = match(First, Dice, Dice)
    assert len(record.actions) == sum(record.decisions)
    assert len(record.time) == len(record.slowest) == 3
    assert all(total >= slowest > 0 for total, slowest in zip(record.time, record.slowest, strict=True))
    assert record.ending == "finished"
    verify(GAME, record)


def test_the_same_match_gives_the_same_record_timing_aside():
    bots = (Dice, GlobalDice, First, GlobalDice)
    assert match(*bots).without_timing() == match(*bots).without_timing()
    assert match(*bots).actions != match(*bots, seed=12).actions


def test_a_bot_that_burns_random_numbers_changes_nobodys_luck():
    assert match(First, Dice, First).actions == match(Burner, Dice, First).actions


@pytest.mark.parametrize(("bad", "kind"), zoo.FAULTS.items(), ids=lambda value: getattr(value, "__name__", value))
def test_a_bot_that_fails_is_blamed_ranked_last_and_the_match_goes_on(bad, kind):
    record = match(First, bad, Dice)
    [fault] = record.faults
    assert (fault.seat, fault.kind) == (1, kind)
    assert fault.detail
    assert record.ranks[1] == 3
    assert sorted(record.ranks) in ([1, 2, 3], [1, 1, 3])
    assert record.decisions[1] > 1  # its seat played on
    verify(GAME, record)
    assert msgspec.json.decode(msgspec.json.encode(record), type=GameRecord) == record
    assert record.without_timing() == match(First, bad, Dice).without_timing()


def test_several_bots_may_fail_in_one_match():
    record = match(zoo.Raises, zoo.Nonsense, zoo.Exits, First)
    assert {fault.seat: fault.kind for fault in record.faults} == {0: "exception", 1: "illegal", 2: "exception"}
    assert record.ranks == (2, 2, 2, 1)


def test_an_object_that_equals_everything_counts_as_the_first_legal_action():
    assert match(zoo.Liar, First).actions == match(First, First).actions


def test_a_failure_after_the_end_is_nobodys_business():
    assert match(zoo.SoreLoser, First).faults == ()


def test_the_detail_says_where_the_bot_failed():
    [fault] = match(First, zoo.Raises).faults
    assert "zoo.py" in fault.detail
    assert "ZeroDivisionError: on purpose" in fault.detail
    assert "/" not in fault.detail.split(":")[0]  # no machine path
    [fault] = match(First, zoo.Nonsense).faults
    assert "'the queen of hearts', which is not one of: play" in fault.detail


def test_too_slow_a_decision_is_a_timeout(clock):
    class Sleeper(Bot):
        def choose(self, view, actions):
            clock.now += 3 if view.town == 1 else 0
            return actions[0]

    record = match(First, Sleeper, limits=Limits(move_time=2.5, margin=0.25))
    [fault] = record.faults
    assert (fault.seat, fault.kind) == (1, "timeout")
    assert fault.detail == "took 3.000 s for one decision; 2.5 s are allowed"
    assert record.slowest[1] == record.time[1] == 3
    for limits in (Limits(move_time=2.5, margin=0.5), Limits(move_time=3, margin=0), Limits(margin=0)):
        assert match(First, Sleeper, limits=limits).faults == ()


@pytest.mark.parametrize(
    ("limits", "left"),
    [
        (Limits(move_time=4, game_time=10, margin=0.25), [4.25, 4.25, 4.25, 1.25]),
        (Limits(game_time=10, margin=0.25), [10.25, 7.25, 4.25, 1.25]),
        (Limits(game_time=9, margin=0), [9, 6, 3, 0]),
    ],
)
def test_a_bot_is_told_off_when_the_move_or_the_bank_is_used_up_and_the_board_says_when(clock, limits, left):
    board, seen = [0.0] * SLOTS, []

    class Slow(Bot):
        def choose(self, view, actions):
            seen.append(board[DEADLINE] - clock.now)
            clock.now += 3
            return actions[0]

    record = match(First, Slow, limits=limits, status=board)
    assert seen == left
    [fault] = record.faults
    assert (fault.seat, fault.kind) == (1, "timeout")
    assert fault.detail == f"took 12.000 s for the match so far; {limits.game_time:g} s are allowed"
    assert record.time == (0, 12)


def test_without_a_limit_there_is_no_deadline(clock):
    board, seen = [0.0] * SLOTS, set()

    class Slow(Bot):
        def choose(self, view, actions):
            seen.add(board[DEADLINE])
            clock.now += 1000
            return actions[0]

    assert match(First, Slow, status=board).faults == ()
    assert seen == {inf}


def test_a_bot_may_follow_what_happens():
    heard = []

    class ListeningRemoteBot(Bot):
        def observe(self, events):
            heard.append(events)

        def choose(self, view, actions):
            return actions[0]

    record = match(First, ListeningRemoteBot, Dice)
    assert len(heard) == record.decisions[1]
    events = [event for batch in heard for event in batch]
    assert {event.to for event in events} <= {None, (1,)}
    kinds = [event.kind for event in events]
    assert kinds[:2] == ["hand", "town"]
    assert {"roll", "cards", "answer", "sale"} <= set(kinds)
    assert record.actions == match(First, First, Dice).actions  # being listened to changes nothing


def test_a_bot_knows_its_seat_and_the_rules():
    known = {}

    class Curious(Bot):
        def start(self):
            known[self.seat] = (self.players, self.game, dict(self.settings), self.seed)

        def choose(self, view, actions):
            assert view.seat == self.seat == view.turn
            assert len(actions) > 1
            return actions[-1]

        def finish(self, record):
            known["over"] = record.ranks

    record = match(Curious, First, Curious)
    assert record.faults == ()
    assert known[0][:3] == known[2][:3] == (3, GAME, {})
    assert known[0][3] != known[2][3]
    assert known["over"] == record.ranks


def test_what_one_bot_does_to_its_news_does_not_reach_another():
    heard = []

    class Forger(Bot):
        def observe(self, events):
            for event in events:
                event.data.clear()

        def choose(self, view, actions):
            return actions[0]

    class Reader(First):
        def observe(self, events):
            heard.extend(events)

    assert match(Forger, Reader).faults == ()
    assert heard
    assert all(event.data for event in heard)


def test_a_bot_is_not_told_which_deal_it_was():
    told = []

    class Collector(First):
        def finish(self, record):
            told.append(record)

    record = match(Collector, Dice)
    assert told[0].scores == record.scores
    assert (told[0].seed, told[0].id, told[0].set) == (0, "", "")
