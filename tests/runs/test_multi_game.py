"""Games go on as soon as their own results allow, and nothing else changes: not who plays, nor where a match stands."""

from collections.abc import Callable
from itertools import islice
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.core.errors import PluginError
from harness.core.plan import DuplicateSet, Format, GamePlan, OpenRound, Outcome, Plan, Scheduler
from harness.core.records import GameRecord, MatchSpec
from harness.core.rng import Chance
from harness.formats.common import BATCH_MATCHES
from harness.plugins.features import FORMATS
from harness.runs.scheduler import MAX_AHEAD_MATCHES, Schedule, simulated_record
from tests.formats.support import even, game, names, of_games
from tests.support.schedules import follow

Pick = Callable[[list[MatchSpec]], int]
"""Which of the matches that are out ends next."""


def _by_lot(rng: Random) -> Pick:
    return lambda out: rng.randrange(len(out))


def hill(game: GamePlan, plan: Plan, luck: Chance) -> Any:
    """A stranger's format: nobody knows its lists beforehand, and it ends by results."""
    rounds = 0
    for number in range(1, plan.deals + 3):
        sets = [DuplicateSet(number, table, (number, table), game.entrants[: game.players]) for table in (1, 2)]
        records = yield sets[: 1 + number % 2]
        rounds += 1
        if records[0].ranks[0] == 1 and rounds > 1:
            break
    return Outcome(note=f"{rounds} rounds")


HILL = Format("hill", "", hill, lambda _game, _plan: None, adaptive=True, anytime=True)
ALL = {**FORMATS, "hill": HILL}
ASKED: dict[str, dict[str, Any]] = {
    "swiss": {},
    "knockout": {},
    "ladder": {"max_matches": 50},
    "ladder until": {"until_separated": 0.8, "max_matches": 90},
    "compare": {"candidates": names(2)},
    "compare pairs": {"candidates": names(2), "way": "pairs"},
    "compare thorough": {"candidates": names(2), "thorough": True},
    "hill": {},
}
ADAPTIVE = pytest.mark.parametrize("form", ASKED)
ORDERS: dict[str, Callable[[], Pick]] = {
    "first first": lambda: lambda _out: 0,
    "last first": lambda: lambda out: len(out) - 1,
    "by lot": lambda: _by_lot(Random(1)),
    "the first game last": lambda: lambda out: max(range(len(out)), key=lambda at: (out[at].game != "one", -at)),
    "the last game last": lambda: lambda out: max(range(len(out)), key=lambda at: (out[at].game != "three", at)),
}


def of(form: str, deals: int = 3) -> Schedule:
    """Three games that are not alike."""
    if form.startswith("compare"):
        games, deals = (game(4, 4, "one"), game(3, 3, "two"), game(2, 2, "three")), 60
    else:
        games = (game(9, 3, "one"), game(5, 2, "two"), game(8, 4, "three"))
    return Schedule(of_games(games, deals, 1, form.split()[0], **ASKED[form]), ALL)


def result(spec: MatchSpec) -> GameRecord:
    return simulated_record(spec, even(9, 0.3), Chance(1))


def step_by_step(schedule: Schedule) -> tuple[list[MatchSpec], dict[str, Outcome]]:
    """As it is if all games wait for each other after every list."""
    specs: list[MatchSpec] = []
    going = follow(schedule, lambda asked: [result(spec) for spec in asked])
    while True:
        try:
            specs += next(going)
        except StopIteration as end:
            return specs, end.value


def play(scheduler: Scheduler, pick: Pick, most: int = 10**9) -> tuple[list[MatchSpec], list[MatchSpec]]:
    """Play what a scheduler gives out, each result as late as possible; all matches, and those without a result."""
    given: list[MatchSpec] = []
    out: list[MatchSpec] = []
    for _ in range(most):
        while more := scheduler.next_matches():
            given += more
            out += more
        if not out:
            break
        scheduler.add_result(result(out.pop(pick(out))))
    return given, out


@ADAPTIVE
@pytest.mark.parametrize("order", ORDERS)
def test_the_same_matches_are_played_for_any_order_of_results(form: str, order: str) -> None:
    expected, outcomes = step_by_step(of(form))
    scheduler = of(form).scheduler()
    given, _ = play(scheduler, ORDERS[order]())
    assert sorted(given, key=lambda spec: spec.index) == sorted(expected, key=lambda spec: spec.index)
    assert len({spec.index for spec in given}) == len(given)
    assert scheduler.outcome() == outcomes != {}


@ADAPTIVE
def test_playing_one_batch_at_a_time_follows_the_schedule_order(form: str) -> None:
    scheduler, given = of(form).scheduler(), list[MatchSpec]()
    while more := scheduler.next_matches():
        given += more
        for spec in more:
            scheduler.add_result(result(spec))
    assert given == step_by_step(of(form))[0]


@pytest.mark.parametrize("form", [form for form in ASKED if form not in ("ladder until", "hill")])
@pytest.mark.parametrize("slow", ["one", "two", "three"])
def test_a_game_without_results_does_not_block_another_game(form: str, slow: str) -> None:
    scheduler, schedule = of(form).scheduler(), of(form)
    given: list[MatchSpec] = []
    while more := scheduler.next_matches():
        given += more
        for spec in more:
            if spec.game != slow:
                scheduler.add_result(result(spec))
    for name in {"one", "two", "three"} - {slow}:
        expected = [spec for spec in step_by_step(schedule)[0] if spec.game == name]
        assert [spec for spec in given if spec.game == name] == expected
    assert scheduler.outcome() == {}


@pytest.mark.parametrize("form", ["ladder until", "hill"])
def test_if_results_decide_the_length_other_games_are_at_most_one_batch_ahead(form: str) -> None:
    scheduler, lists = of(form).scheduler(), {"one": 0, "two": 0, "three": 0}
    while more := scheduler.next_matches():
        lists[more[0].game] += 1
        for spec in more:
            if spec.game != "three":
                scheduler.add_result(result(spec))
    assert lists == {"one": 2, "two": 2, "three": 1}


@pytest.mark.parametrize("form", ["swiss", "knockout", "ladder"])
@settings(deadline=None, max_examples=25)
@given(bots=st.integers(2, 13), seats=st.integers(2, 5), deals=st.integers(1, 400), most=st.integers(0, 99))
def test_sizes_equal_the_lengths_of_the_scheduled_lists(
    form: str, bots: int, seats: int, deals: int, most: int
) -> None:
    bots, deals = max(bots, seats), deals if form != "ladder" else min(deals, 7)
    more = {"max_matches": max(most, seats)} if form == "ladder" and most else {}
    schedule = Schedule(of_games((game(bots, seats),), deals, 1, form, **more), FORMATS)
    lists = [len(specs) for specs in follow(schedule, lambda asked: [result(spec) for spec in asked])]
    sizes = schedule.format.sizes(schedule.plan.games[0], schedule.plan)
    assert sizes is not None
    assert list(sizes) == lists


def test_batches_of_a_round_overlap_up_to_a_limit() -> None:
    schedule = Schedule(of_games((game(8, 4),), 10**9, 1, "swiss"), FORMATS)
    scheduler, given = schedule.scheduler(), list[MatchSpec]()
    while more := scheduler.next_matches():
        assert len(more) <= BATCH_MATCHES
        given += more
    assert MAX_AHEAD_MATCHES <= len(given) < MAX_AHEAD_MATCHES + BATCH_MATCHES
    for spec in given[1:]:
        scheduler.add_result(result(spec))
    assert scheduler.next_matches() == []
    scheduler.add_result(result(given[0]))
    assert scheduler.next_matches()


def test_a_comparison_schedules_more_matches_before_the_whole_batch_is_finished() -> None:
    scheduler = Schedule(of_games((game(2, 2),), 400, 1, "compare", candidates=names(2)), FORMATS).scheduler()
    first = scheduler.next_matches()
    assert scheduler.next_matches() == []
    scheduler.add_result(simulated_record(first[1], {}, Chance(1)))
    assert scheduler.next_matches() == []  # the second result is not looked at before the first
    level = replace(simulated_record(first[0], {}, Chance(1)), ranks=(1, 1))
    scheduler.add_result(level)
    assert scheduler.next_matches()


@ADAPTIVE
@settings(deadline=None, max_examples=8)
@given(cut=st.integers(0, 10**6), seed=st.integers(0, 2**32))
def test_records_of_an_interrupted_run_lead_to_all_its_pending_matches(form: str, cut: int, seed: int) -> None:
    schedule, rng = of(form), Random(seed)
    total = len(step_by_step(schedule)[0])
    given, out = play(schedule.scheduler(), _by_lot(rng), cut % total)
    left = {spec.id for spec in out}
    played = [result(spec) for spec in given if spec.id not in left]
    rng.shuffle(played)
    specs, ended = schedule.led_by(played)
    assert set(map(str, given)) <= set(map(str, specs))
    assert ended == {}


class Stages(OpenRound):
    """Two sets at once, and another after each result."""

    def __init__(self, sets: int) -> None:
        self.left = iter([DuplicateSet(1, number, (number,), names(2)) for number in range(1, sets + 1)])
        self.room, self.taken = 2, list[str]()

    def next_matches(self) -> list[DuplicateSet]:
        room, self.room = self.room, 0
        return list(islice(self.left, room))

    def add_result(self, record: GameRecord) -> None:
        self.taken.append(record.id)
        self.room += 1


@pytest.mark.parametrize("order", ORDERS)
def test_an_open_round_receives_results_in_schedule_order(order: str) -> None:
    def rounds(_game: GamePlan, _plan: Plan, _luck: Chance) -> Any:
        stages = Stages(9)
        assert (yield stages) == ()
        return Outcome(standing=tuple(stages.taken))

    form = Format("own", "", rounds, lambda _game, _plan: None, adaptive=True)
    scheduler = Schedule(of_games((game(2, 2),), 1, 1, "own"), {"own": form}).scheduler()
    given, _ = play(scheduler, ORDERS[order]())
    ids = [f"game-1.{number}.{turn}" for number in range(1, 10) for turn in (1, 2)]
    assert sorted(spec.id for spec in given) == ids
    assert scheduler.outcome()["game"].standing == tuple(ids)


def test_a_format_that_violates_its_contract_is_named() -> None:
    def asks(*lists: Any, sizes: Any = lambda _game, _plan: None) -> None:
        def rounds(_game: GamePlan, _plan: Plan, _luck: Chance) -> Any:
            for asked in lists:
                _ = yield asked
            return Outcome()

        form = Format("own", "", rounds, lambda _game, _plan: None, adaptive=True, sizes=sizes)
        play(Schedule(of_games((game(2, 2),), 1, 1, "own"), {"own": form}).scheduler(), ORDERS["first first"]())

    class Failing(Stages):
        def add_result(self, record: GameRecord) -> None:
            raise KeyError("oops")

    pair, match = DuplicateSet(1, 1, (1,), names(2)), MatchSpec.single("game-1", "game", {}, 1, names(2))
    with pytest.raises(PluginError, match="own is broken: by its sizes there are 4 matches now, and it asks for 2"):
        asks([pair], sizes=lambda _game, _plan: iter([4]))
    with pytest.raises(PluginError, match="own is broken: it yields both sets and matches"):
        asks([match], [pair])
    with pytest.raises(PluginError, match="own is broken: KeyError: 'oops'"):
        asks(Failing(1))
    with pytest.raises(PluginError, match="own is broken: by its sizes there are 0 matches now, and it asks for 2"):
        asks([pair], [pair._replace(number=2)], sizes=lambda _game, _plan: iter([2]))
