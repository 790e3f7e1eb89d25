"""The format `compare`: two candidates play until it is known whether one is better."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace as replaced
from functools import partial
from typing import Any

from msgspec.structs import replace

from harness.comparison.sampling_units import (
    MARGIN,
    WAYS,
    ComparisonSpec,
    LuckAdjuster,
    unit_matches,
    unit_size,
    value_functions,
)
from harness.comparison.sequential_test import SequentialTest, Verdict
from harness.core.errors import StoreError, UsageError
from harness.core.game import Game
from harness.core.plan import Format, GamePlan, OpenRound, Outcome, Plan, RoundsOfMatches
from harness.core.records import GameRecord, MatchSpec, Option
from harness.core.rng import Chance
from harness.core.value_function import value_function_of
from harness.formats.common import BATCH_MATCHES, same_field, same_settings

NO_JUDGES: Mapping[str, LuckAdjuster] = {}


def rounds(
    game: GamePlan, plan: Plan, _luck: Chance, judges: Mapping[str, LuckAdjuster] = NO_JUDGES
) -> RoundsOfMatches:
    """Yield one open round with the units of a comparison; return its answer in a sentence."""
    test = sequential_test(game, plan, judges)
    if test is None:
        raise UsageError(f"Only a comparison can adjust {game.name} for luck.", fix="compare-command")
    yield _Units(game, plan, test)
    return Outcome(note=test.verdict().sentence)


class _Units(OpenRound):
    """The units of a comparison, released in batches.

    The test cannot stop before the end of a batch, so a batch can be played in parallel. Results may show that more
    units are needed before the batch is complete: these are released at once, which does not change the answer.
    """

    def __init__(self, game: GamePlan, plan: Plan, test: SequentialTest) -> None:
        self._games, self._turn, self._test = len(plan.games), plan.games.index(game), test
        self._given = 0
        self._looked = -1

    def next_matches(self) -> list[MatchSpec]:
        test = self._test
        if self._looked == test.units_played or test.over:
            return []  # no unit was completed since the last call: the batch is still the same
        self._looked = test.units_played
        last = test.units_played + test.next_batch(BATCH_MATCHES)
        numbers = range(self._given + 1, last + 1)
        self._given = max(self._given, last)
        return [spec for number in numbers for spec in self._matches(number)]

    def _matches(self, number: int) -> Iterator[MatchSpec]:
        """Return the matches of a unit with their indexes in the schedule.

        The indexes alternate between the games, including those that have ended. So every match keeps its index when a
        comparison is continued with more matches.
        """
        test = self._test
        first = test.matches + (number - test.units_played - 1) * unit_size(test.unit)
        for spec in unit_matches(test.spec, test.unit, number, first):
            yield replace(spec, index=spec.index * self._games + self._turn)

    def add_result(self, record: GameRecord) -> None:
        self._test.add(record)


def sequential_test(game: GamePlan, plan: Plan, judges: Mapping[str, LuckAdjuster]) -> SequentialTest | None:
    """Return the test of one game of a plan; None if it needs a luck adjustment that is not in `judges`."""
    question = ComparisonSpec.from_plan(game, plan)
    if not question.luck:
        return SequentialTest(question)
    return SequentialTest(question, judges[game.name].pair_score()) if game.name in judges else None


def count(game: GamePlan, plan: Plan) -> int | None:
    """Return the number of matches of a game; None if the results decide when it ends."""
    question = ComparisonSpec.from_plan(game, plan)
    return question.most if question.thorough else None


def check(game: GamePlan, plan: Plan) -> None:
    """Raise UsageError if the plan does not seat all bots at one table, or if its options do not fit together.

    In a gauntlet, one of the two candidates sits at the table with all others.
    """
    question = ComparisonSpec.from_plan(game, plan)
    if question.seats != game.players and question.way == "gauntlet":
        raise UsageError(
            f"A gauntlet of {game.name} seats one of the two candidates with {len(question.company)} others at a "
            f"table, not {game.players}."
        )
    if question.seats != game.players:
        raise UsageError(
            f"A comparison of {game.name} seats all its {len(game.entrants)} bots at one table, not {game.players}."
        )
    if value_functions(plan) and not question.luck:
        raise UsageError(f"A comparison adjusts all its games for luck or none, and {game.name} is left out.")
    if question.luck and question.way == "gauntlet":
        raise UsageError(
            "Results cannot be adjusted for luck in the way gauntlet: choose auto, pairs or own-deals.",
            fix="compare-luck",
        )
    if not SequentialTest(question).units_allowed:
        raise UsageError("A deal that is played twice takes 2 matches: at least 2 must be allowed.", fix="compare-most")


def verdicts(
    plan: Plan, records: Iterable[GameRecord], judges: Mapping[str, LuckAdjuster] = NO_JUDGES
) -> list[Verdict]:
    """Return the verdict of each game from the records of a comparison.

    If the comparison is not complete, its complete units up to the first gap count. A game that needs a luck adjustment
    is left out if `judges` has none for it.
    """
    # Only the luck adjustment reads actions. Without them the records need much less memory.
    kept = records if judges else (replace(record, actions=()) if record.actions else record for record in records)
    found = {game.name: sequential_test(game, plan, judges) for game in plan.games}
    for record in sorted(kept, key=lambda record: record.index):
        if test := found.get(record.game):
            test.add(record)
    return [test.verdict() for test in found.values() if test and test.matches]


class ComparedPair:
    """The claim of a comparison about its two bots in one game, for leaderboards: the verdict of the comparison.

    There is no claim if luck was removed: that verdict needs the rules of the game, which a leaderboard does not have.
    Nor is there one if the two did not meet.
    """

    def __init__(self, game: GamePlan, plan: Plan) -> None:
        self._test = sequential_test(game, plan, NO_JUDGES)

    def add(self, record: GameRecord) -> None:
        """Add one match."""
        if self._test:
            self._test.add(record)

    def claims(self, _level: float) -> list[tuple[str, str]]:
        """Return the pair, the better bot first, if the two have met and the verdict says that one is better."""
        if self._test is None or self._test.spec.way == "gauntlet":
            return []
        one, other = self._test.spec.one, self._test.spec.other
        return {"better": [(one, other)], "worse": [(other, one)]}.get(self._test.answer, [])


def judges_of(plan: Plan, games: Mapping[str, Game[Any]]) -> dict[str, LuckAdjuster]:
    """Return the luck adjusters that the plan requires, by game.

    Raise StoreError if an installed value function is not the one that the comparison started with.
    """
    judges = {}
    for name, digest in value_functions(plan).items():
        if name not in games:
            raise StoreError(f"{name} is to be adjusted for luck, but this comparison does not play it.")
        function = value_function_of(games[name], {})
        if function.digest != digest:
            raise StoreError(
                f"This comparison adjusts {name} for luck by the value function {digest}, but {function.digest} is "
                f"installed: a comparison keeps its value function, even by force. Begin another."
            )
        judges[name] = LuckAdjuster(games[name], function)
    return judges


def bind(plan: Plan, games: Callable[[], Mapping[str, Game[Any]]]) -> Format:
    """Return the format for a plan. A luck-adjusted comparison needs the value functions of its games."""
    if not value_functions(plan):
        return COMPARE
    return replaced(COMPARE, rounds=partial(rounds, judges=judges_of(plan, games())), reads_actions=True)


def longer_comparison(plan: Plan, asked: Plan) -> Plan:
    """Return the plan of a comparison with more matches; raise UsageError for a change of its bots or options.

    More matches are always allowed: the result is valid whenever the comparison stops.
    """
    same_field(plan, asked, "it is about two bots")
    same_settings(plan, asked, "thorough")
    return asked


COMPARE = Format(
    "compare",
    "two candidates at one table, until it is known whether one is better: what 'arena compare' plays",
    rounds,
    count,
    adaptive=True,
    check=check,
    options=(
        Option(
            "margin",
            MARGIN,
            "equally good: each finishes ahead in at most one half of the matches plus this share",
            kind="float",
            minimum=0,
            maximum=0.499,
        ),
        Option("way", "auto", "how the matches are laid out", choices=WAYS),
        Option("thorough", False, "continue to the last match after the answer is known", kind="bool"),
        Option("luck", "", "set by 'arena compare': value functions of the luck adjustment, as GAME:DIGEST"),
    ),
    candidates=True,
    anytime=True,
    extend=longer_comparison,
    bind=bind,
    claims=ComparedPair,
)
