"""The referee survives whatever a bot does, blames the right one, and repeats a match exactly."""

from __future__ import annotations

import random
from math import inf

import msgspec
import pytest

from engines.el_paso import ElPaso
from harness import Bot, Chance
from harness.core.records import Fault, GameRecord, MatchSpec
from harness.match import referee
from harness.match.faults import BotFault, Limits
from harness.match.referee import ASKING, DEADLINE, IDLE, MATCH, SLOTS, play, ranks_with_faults
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


def test_a_bot_that_draws_random_numbers_does_not_change_the_luck_of_others():
    assert match(First, Dice, First).actions == match(Burner, Dice, First).actions


@pytest.mark.parametrize(("bad", "kind"), zoo.FAULTS.items(), ids=lambda value: getattr(value, "__name__", value))
def test_a_bot_that_fails_is_blamed_and_ranked_last_and_the_match_continues(bad, kind):
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


def test_an_exception_after_the_end_is_not_a_fault():
    assert match(zoo.SoreLoser, First).faults == ()


def test_the_detail_says_where_the_bot_failed():
    [fault] = match(First, zoo.Raises).faults
    assert "zoo.py" in fault.detail
    assert "ZeroDivisionError: on purpose" in fault.detail
    assert "/" not in fault.detail.split(":")[0]  # no machine path
    [fault] = match(First, zoo.Nonsense).faults
    assert "'the queen of hearts', which is not one of: play" in fault.detail


def test_a_decision_that_is_too_slow_is_a_timeout(clock):
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
def test_the_deadline_in_the_status_covers_move_time_and_match_time(clock, limits, left):
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


def test_by_default_there_is_no_time_limit_and_the_margin_is_a_tenth_of_a_second():
    assert Limits() == Limits(move_time=0, game_time=0, margin=0.1)


def test_without_a_limit_there_is_no_deadline(clock):
    board, seen = [0.0] * SLOTS, set()

    class Slow(Bot):
        def choose(self, view, actions):
            seen.add(board[DEADLINE])
            clock.now += 1000
            return actions[0]

    assert match(First, Slow, status=board).faults == ()
    assert seen == {inf}


def test_a_bot_can_observe_events():
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


def test_every_seat_receives_all_its_events_from_the_first_one_on():
    heard = {0: [], 1: []}

    class Listener(First):
        def observe(self, events):
            heard[self.seat] += events

    match(Listener, Listener)
    for seat, events in heard.items():
        log = []
        GAME.new(2, Chance(11), log)
        opening = [event for event in log if event.to is None or seat in event.to]
        assert events[: len(opening)] == opening
        assert len(events) == len({id(event) for event in events})


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


def test_a_bot_that_changes_its_events_does_not_affect_other_bots():
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


def test_the_result_that_a_bot_receives_does_not_identify_the_deal():
    told = []

    class Collector(First):
        def finish(self, record):
            told.append(record)

    record = match(Collector, Dice)
    assert told[0].scores == record.scores
    assert (told[0].seed, told[0].id, told[0].set) == (0, "", "")


class Noted(Bot):
    """Notes at which decisions of the match it was asked, and whether it was told the result."""

    def __init__(self):
        type(self).asked, type(self).over, type(self).born = [], False, True

    def choose(self, view, actions):
        type(self).asked.append(type(self).board[ASKING])
        return actions[-1]

    def finish(self, record):
        type(self).over = True


@pytest.fixture
def noted():
    class Watched(Noted):
        board, born = [0.0] * SLOTS, False

    return Watched


def test_every_value_in_the_status_has_its_own_slot():
    assert sorted((MATCH, ASKING, DEADLINE)) == list(range(SLOTS))


def test_the_status_shows_which_seat_is_asked_at_which_decision(noted):
    record = match(First, noted, status=noted.board)
    assert len(noted.asked) == record.decisions[1] > 3
    assert {int(note) % 64 for note in noted.asked} == {1}
    whose = [int(note) // 64 for note in noted.asked]
    assert whose == sorted(set(whose))
    assert all(0 <= decision < len(record.actions) for decision in whose)
    assert noted.board[ASKING] == IDLE


def test_a_seat_that_forfeits_from_the_start_gets_no_bot(noted):
    fault = Fault(1, "crash", 0, "it died")
    record = match(First, noted, forfeits=[fault])
    assert record.faults == (fault,)
    assert not noted.born
    assert record.ranks == (1, 2)
    assert record.decisions[1] > 3
    assert record.time[1] == 0
    verify(GAME, record)


@pytest.mark.parametrize("place", [1, 5, -1])
def test_a_seat_that_forfeits_is_not_asked_from_that_decision_on(noted, place):
    match(First, noted, status=noted.board)
    [*_, at] = noted.asked[: place % len(noted.asked) + 1]
    before = [note for note in noted.asked if note < at]
    fault = Fault(1, "timeout", int(at) // 64, "it hung")
    record = match(First, noted, status=noted.board, forfeits=[fault])
    assert noted.asked == before
    assert record.faults == (fault,)
    assert not noted.over
    assert record.ranks == (1, 2)
    assert match(First, noted, status=noted.board, forfeits=[fault]).without_timing() == record.without_timing()
    verify(GAME, record)


def test_a_seat_that_forfeits_at_the_result_plays_to_the_end_and_does_not_receive_it(noted):
    whole = match(First, noted, status=noted.board)
    assert noted.over
    fault = Fault(1, "timeout", len(whole.actions), "it hung")
    record = match(First, noted, status=noted.board, forfeits=[fault])
    assert not noted.over
    assert record.actions == whole.actions
    assert record.faults == (fault,)
    assert record.ranks == (1, 2)


def test_a_failed_seat_plays_at_random_independently_of_its_bot():
    forfeits = [Fault(seat, "crash", 0, "") for seat in (0, 1)]
    one = match(First, First, forfeits=forfeits)
    assert match(Dice, GlobalDice, forfeits=forfeits).actions == one.actions
    assert match(First, First, forfeits=forfeits, seed=12).actions != one.actions
    entrants = [enter(First, {}, "", "test", "1")] * 2
    other = play(MatchSpec("other", 0, "s", GAME.name, {}, 11, ("first", "first")), GAME, entrants, forfeits=forfeits)
    assert other.actions != one.actions


def test_the_audit_runs_after_every_answer_while_the_status_still_shows_the_seat(clock):
    board, notes = [0.0] * SLOTS, []

    class Finisher(First):
        def finish(self, record):
            clock.now += 0

    record = match(First, Finisher, status=board, audit=lambda: notes.append(int(board[ASKING])))
    assert notes[:2] == [0, 1]  # they have started
    assert notes[-1] == 64 * len(record.actions) + 1  # told the result
    assert len(notes) == 2 + len(record.actions) + 1
    assert notes[2:-1] == sorted(notes[2:-1])
    assert IDLE not in notes


def test_start_and_finish_have_the_time_of_a_move(clock):
    board, left = [0.0] * SLOTS, {}

    class Finisher(First):
        def start(self):
            clock.now += 1
            left["start"] = board[DEADLINE] - clock.now, board[ASKING]

        def finish(self, record):
            clock.now += 1
            left["finish"] = board[DEADLINE] - clock.now, board[ASKING] % 64

    for limits, started, finished in (
        (Limits(move_time=4, game_time=9, margin=0.5), 3.5, 3.5),
        (Limits(game_time=9, margin=0.5), 8.5, 7.5),
        (Limits(), inf, inf),
    ):
        record = match(First, Finisher, limits=limits, status=board)
        assert record.faults == ()
        assert record.time == (0.0, 2.0)
        assert left == {"start": (started, 1), "finish": (finished, 1)}


@pytest.mark.parametrize("slow", ["start", "finish"])
def test_start_and_finish_count_into_the_time_of_a_match(clock, slow):
    class Slow(First):
        def start(self):
            clock.now += 3 if slow == "start" else 1

        def finish(self, record):
            clock.now += 1 if slow == "start" else 2

    record = match(First, Slow, limits=Limits(game_time=2))
    [fault] = record.faults
    assert (fault.seat, fault.kind) == (1, "timeout")
    assert fault.decision == (0 if slow == "start" else len(record.actions))
    assert record.ranks == (1, 2)


def test_a_bot_whose_process_dies_at_the_result_is_blamed_and_ranked_last():
    class Dies(First):
        def finish(self, record):
            raise BotFault("crash", "its process ended")

    record = match(Dies, First)
    assert record.faults == (Fault(0, "crash", len(record.actions), "its process ended"),)
    assert record.ranks == (2, 1)


def test_a_fault_has_the_decision_at_which_it_happened():
    class Third(Bot):
        def start(self):
            self.asked = 0

        def choose(self, view, actions):
            self.asked += 1
            return actions[0] if self.asked < 3 else None

    record = match(Third, First)
    [fault] = record.faults
    whole = match(First, First)
    assert record.actions[: fault.decision] == whole.actions[: fault.decision]
    assert 2 < fault.decision < len(record.actions)


def test_total_and_slowest_time_are_recorded_in_microseconds(clock):
    class Rising(Bot):
        def start(self):
            self.step = 0.0

        def choose(self, view, actions):
            self.step = 1.00000049 if self.step == 0 else 0.5
            clock.now += self.step
            return actions[0]

    record = match(First, Rising)
    assert record.slowest == (0, 1)
    assert record.time == (0, round(1.00000049 + 0.5 * (record.decisions[1] - 1), 6))


@pytest.mark.parametrize(
    ("scores", "failed", "ranks"),
    [
        ((5, 3, 9), (), (2, 3, 1)),
        ((5, 3, 9), (2,), (1, 2, 3)),
        ((5, 3, 9), (1,), (2, 3, 1)),
        ((5, 5, 5), (0,), (3, 1, 1)),
        ((-4, -4, 0), (2, 0), (2, 1, 2)),
        ((0, 0), (0, 1), (1, 1)),
    ],
)
def test_failed_seats_share_the_last_rank(scores, failed, ranks):
    assert ranks_with_faults(scores, [Fault(seat, "crash", 0) for seat in failed]) == ranks
