import json
from collections.abc import Sequence
from dataclasses import replace as replaced
from itertools import islice
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.core.errors import PluginError, UnknownName, UsageError
from harness.core.plan import DuplicateSet, Format, GamePlan, Outcome, Plan
from harness.core.records import GameRecord, MatchSpec
from harness.core.rng import Chance
from harness.core.table import Table
from harness.plugins.features import FORMATS
from harness.runs.scheduler import Schedule, simulated_record
from tests.formats.support import even, game, names, of_games, plan, play, scheduled
from tests.support.schedules import follow

SETTINGS: dict[str, dict[str, Any]] = {
    "round-robin": {},
    "gauntlet": {"candidates": ("bot01",)},
    "swiss": {"rounds": 3},
    "knockout": {},
    "ladder": {"until_separated": 0.8, "max_matches": 200},
}
EVERY = pytest.mark.parametrize("form", sorted(SETTINGS))
ADAPTIVE = pytest.mark.parametrize("form", sorted(name for name in SETTINGS if FORMATS[name].adaptive))


def test_every_format_is_tested_here() -> None:
    """But for a comparison, which has one table and sets of its own: tests/comparison/test_sequential_test.py."""
    assert SETTINGS.keys() == FORMATS.keys() - {"compare"}


def of(form: str, bots: int = 7, seats: int = 3, **more: Any) -> Plan:
    return plan(bots, seats, form, deals=2, **SETTINGS[form], **more)


@EVERY
def test_the_same_plan_and_results_give_the_same_rounds(form: str) -> None:
    assert play(of(form), even(7, 0.3)) == play(of(form), even(7, 0.3))


@EVERY
def test_ids_are_unique_indices_are_consecutive_and_sets_are_rotations_of_one_deal(form: str) -> None:
    specs = [spec for part in play(of(form), even(7, 0.3))[0] for spec in part]
    assert [spec.index for spec in specs] == list(range(len(specs)))
    assert len({spec.id for spec in specs}) == len(specs)
    by_set: dict[str, list[MatchSpec]] = {}
    for spec in specs:
        by_set.setdefault(spec.set, []).append(spec)
    for name, rotated in by_set.items():
        assert [spec.id for spec in rotated] == [f"{name}.{turn}" for turn in (1, 2, 3)]
        assert len({spec.seed for spec in rotated}) == 1
        first = rotated[0].seats
        assert [spec.seats for spec in rotated] == [(*first[turn:], *first[:turn]) for turn in range(len(first))]
        assert len(set(rotated[0].seats)) == 3


@EVERY
def test_count_is_exact_or_an_upper_bound(form: str) -> None:
    played = sum(map(len, play(of(form), even(7, 0.3))[0]))
    counted = scheduled(of(form)).count()
    assert counted is not None
    assert played == counted or (form == "ladder" and played < counted)


@EVERY
def test_times_actions_and_endings_do_not_affect_the_schedule(form: str) -> None:
    def slow(record: GameRecord) -> GameRecord:
        return replace(record, time=(9.0,) * 3, slowest=(5.0,) * 3, actions=(1, 2), decisions=(7,) * 3, ending="other")

    assert play(of(form), even(7, 0.3), slow) == play(of(form), even(7, 0.3))


@ADAPTIVE
def test_results_change_the_rounds_of_adaptive_formats(form: str) -> None:
    assert play(of(form), even(7, 2.0))[0] != play(of(form), even(7, -2.0))[0]


@ADAPTIVE
@settings(deadline=None, max_examples=10)
@given(cut=st.integers(0, 10**6))
def test_a_run_interrupted_anywhere_continues_with_the_same_schedule(form: str, cut: int) -> None:
    asked, luck = of(form), Chance(1)
    whole = [spec for part in play(asked, even(7, 0.3))[0] for spec in part]
    kept = {spec.id: simulated_record(spec, even(7, 0.3), luck) for spec in whole[: cut % len(whole)]}
    seen: list[MatchSpec] = []
    missing = 0

    def results(specs: Sequence[MatchSpec]) -> list[GameRecord]:
        return [kept.get(spec.id) or simulated_record(spec, even(7, 0.3), luck) for spec in specs]

    for specs in follow(scheduled(asked), results):
        seen += specs
        missing += sum(spec.id not in kept for spec in specs)
    assert seen == whole
    assert missing == len(whole) - len(kept)


@ADAPTIVE
def test_outcomes_can_be_recomputed_from_the_records(form: str) -> None:
    rounds, ended = play(of(form), even(7, 0.3))
    records = [simulated_record(spec, even(7, 0.3), Chance(1)) for part in rounds for spec in part]
    assert scheduled(of(form)).outcomes(reversed(records)) == ended
    before = scheduled(of(form)).outcomes(records[:-1])
    assert before == {} or (before["game"].open and not before["game"].note)


@pytest.mark.parametrize("form", ["swiss", "knockout", "gauntlet"])
@settings(deadline=None, max_examples=10)
@given(cut=st.integers(0, 10**6), seed=st.integers(0, 2**48))
def test_partial_outcomes_do_not_depend_on_matches_finished_early(form: str, cut: int, seed: int) -> None:
    asked = of(form)
    records = [simulated_record(spec, {}, Chance(1)) for part in play(asked)[0] for spec in part]
    kept = records[: cut % len(records)]
    outcome = scheduled(asked).outcomes(kept)["game"]
    assert outcome.open
    assert outcome.note == ""
    # Later matches that workers have finished already change nothing but what is said to be open.
    early = Chance(seed).shuffled(records[len(kept) + 1 :], "early")[:2]
    later = scheduled(asked).outcomes([*kept, *early])["game"]
    assert later.standing == outcome.standing


def test_a_broken_tracker_raises_a_plugin_error() -> None:
    class Broken:
        def add(self, record: GameRecord) -> None:
            raise KeyError("oops")

        def outcome(self) -> Outcome:
            return Outcome()

    form = replaced(FORMATS["swiss"], name="own", track=lambda _game, _plan: Broken())
    schedule = Schedule(plan(4, 2, "own"), {"own": form})
    records = [simulated_record(spec, {}, Chance(1)) for spec in next(follow(schedule, lambda _specs: None))]
    with pytest.raises(PluginError, match="format own is broken: KeyError"):
        schedule.outcomes(records)


def test_a_table_with_too_few_values_in_a_line_is_refused() -> None:
    with pytest.raises(ValueError, match="a line of 1 values under 2 headers"):
        Table("hill", ("bot", "held"), [("a",)])


def test_a_format_may_schedule_only_entered_bots() -> None:
    def rounds(game: GamePlan, plan: Plan, luck: Chance) -> Any:
        yield [MatchSpec.single("game-1", game.name, {}, 1, ("bot00", "stranger", "bot01"))]

    form = Format("own", "", rounds, lambda _game, _plan: None, adaptive=True)
    with pytest.raises(PluginError, match="stranger"):
        next(follow(Schedule(plan(3, 3, "own"), {"own": form}), lambda _specs: None))


def test_a_format_without_a_separate_standing_has_an_empty_outcome() -> None:
    assert scheduled(of("round-robin")).outcomes([]) == {"game": Outcome()}


@EVERY
def test_two_games_are_scheduled_side_by_side_until_each_ends(form: str) -> None:
    two = of_games((game(9, 3, "long"), game(4, 2, "short")), 2, 1, form, **SETTINGS[form])
    rounds, outcomes = play(two, even(9, 0.3))
    assert {spec.game for part in rounds[:2] for spec in part} == {"long", "short"}
    assert [spec.index for part in rounds for spec in part] == list(range(sum(map(len, rounds))))
    assert set(outcomes) == {"long", "short"}
    # Each game goes as it would alone: the other one changes nothing but the index.
    alone = play(of_games((game(4, 2, "short"),), 2, 1, form, **SETTINGS[form]), even(9, 0.3))
    together = [replace(spec, index=0) for part in rounds for spec in part if spec.game == "short"]
    assert together == [replace(spec, index=0) for part in alone[0] for spec in part]
    assert outcomes["short"] == alone[1]["short"]


@pytest.mark.parametrize("form", ["round-robin", "gauntlet"])
def test_the_flat_schedule_equals_the_schedule_by_rounds(form: str) -> None:
    two = of_games((game(9, 3, "one"), game(4, 2, "two")), 3, 1, form, **SETTINGS[form])
    assert not scheduled(two).adaptive
    assert list(scheduled(two).matches()) == [spec for part in play(two)[0] for spec in part]


@ADAPTIVE
def test_an_adaptive_format_has_no_fixed_schedule_but_can_be_simulated(form: str) -> None:
    assert scheduled(of(form)).adaptive
    with pytest.raises(UsageError, match="depends on the results"):
        scheduled(of(form)).matches()
    rehearsed = list(scheduled(of(form)).simulated(even(7, 0.3)))
    assert rehearsed == [spec for part in play(of(form), even(7, 0.3))[0] for spec in part]


@EVERY
def test_a_plan_is_read_back_from_json_unchanged(form: str) -> None:
    assert msgspec.json.decode(msgspec.json.encode(of(form)), type=Plan) == of(form)


def test_a_plan_without_a_format_is_a_round_robin() -> None:
    old = {"games": [], "deals": 3, "seed": 1}
    assert msgspec.json.decode(json.dumps(old), type=Plan) == Plan((), 3, 1, "round-robin")


@EVERY
def test_a_billion_deals_are_counted_and_started_immediately(form: str) -> None:
    asked = replace(of(form), deals=10**9)
    counted = scheduled(asked).count()
    assert counted is not None
    assert counted > 10**9 or form == "ladder"
    assert len(list(islice(scheduled(asked).simulated(), 50))) == 50


def refused(**changes: Any) -> str:
    with pytest.raises(UsageError) as caught:
        scheduled(replace(plan(4, 2), **changes))
    return str(caught.value)


def test_invalid_plans_are_refused_with_one_sentence() -> None:
    assert refused(deals=0) == "There must be at least one deal, not 0."
    assert refused(deals=-3) == "There must be at least one deal, not -3."
    assert refused(games=()) == "There is no game to play."
    assert refused(games=(GamePlan("game", "1", {}, 2, ()),)) == "No bots are entered for game."
    assert refused(games=(game(3, 4),)) == (
        "game at tables of 4 needs at least 4 bots; 3 entered (bot00, bot01, bot02)."
    )
    assert refused(games=(GamePlan("game", "1", {}, 2, ("a", "b", "a")),)).startswith("a is entered twice for game")
    assert refused(games=(game(3, 1),)) == "A table of game needs at least 2 bots, not 1."
    assert refused(games=(game(3, 2), game(3, 2))) == "A run plays each game once; this one has game, game."
    assert refused(seed=-1).startswith("The seed is a number from 0")
    assert refused(seed=2**128).startswith("The seed is a number from 0")
    tables = "option tables cannot be '{}': it takes a whole number from 0 to 100000."
    assert refused(settings={"tables": -1}) == "round-robin's " + tables.format(-1)
    assert refused(settings={"tables": 10**6}) == "round-robin's " + tables.format(10**6)
    assert refused(format="ladder", settings={"tables": 10**6}) == "ladder's " + tables.format(10**6)
    assert refused(format="swiss", settings={"rounds": -1}).startswith("swiss's option rounds cannot be '-1'")
    assert "max-matches cannot be '-5'" in refused(format="ladder", settings={"max-matches": -5})
    for bad in (-0.5, float("nan"), 2, "often"):
        said = refused(format="ladder", settings={"until-separated": bad})
        assert said == f"ladder's option until-separated cannot be '{bad}': it takes a number from 0 to 1."
    assert refused(games=(game(3000, 3),)).startswith("3,000 bots are too many")


def test_settings_of_another_format_are_refused() -> None:
    assert refused(settings={"rounds": 3}) == "Unknown option of round-robin 'rounds'. Choose from: tables."
    assert (
        refused(candidates=("bot01",))
        == "Candidates are for gauntlet, ladder, compare; a round-robin has no use for them."
    )
    assert refused(format="knockout", settings={"tables": 3}) == "Unknown option of knockout 'tables'. There are none."


def test_an_unknown_format_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'swiss'"):
        scheduled(plan(4, 2, "swis"))


def test_a_candidate_must_be_entered() -> None:
    with pytest.raises(UnknownName, match="Unknown candidate 'bot99'"):
        scheduled(plan(4, 2, "gauntlet", candidates=("bot00", "bot99")))
    assert scheduled(plan(4, 2, "gauntlet", candidates=names(1))).count() == 6


def pair(number: int, *names: str, group: int = 1) -> DuplicateSet:
    return DuplicateSet(group, number, (number,), names)


@pytest.mark.parametrize("adaptive", [True, False])
@pytest.mark.parametrize(
    ("rounds", "said"),
    [
        ([[pair(1, "bot00", "bot01"), pair(1, "bot00", "bot02")]], "must go up"),
        ([[pair(2, "bot00", "bot01"), pair(1, "bot00", "bot02", group=2)]], "sets of one follow each other"),
        ([[pair(1, "bot00")]], "are not 2 different bots"),
        ([[pair(1, "bot00", "bot00")]], "are not 2 different bots"),
        ([[pair(1, "bot00", "stranger")]], "are not 2 different bots"),
        ([[]], "instead of the sets"),
        ([None], "instead of the sets"),
        ([["bot00"]], "is no DuplicateSet"),
        ([ZeroDivisionError("oops")], "ZeroDivisionError: oops"),
    ],
)
def test_a_format_that_is_broken_is_named(adaptive: bool, rounds: list[Any], said: str) -> None:
    def broken(_game: GamePlan, _plan: Plan, _luck: Chance) -> Any:
        for sets in rounds:
            if isinstance(sets, Exception):
                raise sets
            yield sets
        return Outcome()

    made = Format("broken", "", broken, lambda _game, _plan: None, adaptive=adaptive)
    asked = Schedule(replace(plan(4, 2), format="broken"), {"broken": made})
    with pytest.raises(PluginError, match=rf"The format broken is broken: .*{said}"):
        list(asked.simulated())


def test_a_format_that_ends_without_an_outcome_or_too_early_is_named() -> None:
    def early(_game: GamePlan, _plan: Plan, _luck: Chance) -> Any:
        yield [pair(1, "bot00", "bot01")]

    for adaptive, said in ((True, "instead of an Outcome"), (False, "instead of an Outcome")):
        made = Format("early", "", early, lambda _game, _plan: None, adaptive=adaptive)
        asked = Schedule(replace(plan(4, 2), format="early", deals=2), {"early": made})
        with pytest.raises(PluginError, match=said):
            list(asked.simulated())
