"""Compare: two candidates at one table, in all seats and changed over, until it is known whether one is better."""

from __future__ import annotations

from msgspec.structs import replace

from harness.core.chance import Chance
from harness.core.errors import UsageError
from harness.core.format import Format, GamePlan, Outcome, Plan, RoundsOfMatches
from harness.core.types import MatchSpec, Option
from harness.ratings.comparison import MARGIN, Question, SequentialTest, duplicate_set
from harness.schedule.rounds import PIECE


def rounds(game: GamePlan, plan: Plan, _luck: Chance) -> RoundsOfMatches:
    """As many sets at a time as are needed at least; the answer may come with the last of them, and not before."""
    test = SequentialTest(question := Question.of(game, plan))
    size = question.set_size
    while not test.over:
        count = test.least(min(max(1, PIECE // size), question.most - test.sets))
        numbers = range(test.sets + 1, test.sets + count + 1)
        records = yield [spec for number in numbers for spec in set_of(game, plan, question, number)]
        for start in range(0, len(records), size):
            test.add(records[start : start + size])
    return Outcome(note=test.verdict().sentence)


def set_of(game: GamePlan, plan: Plan, question: Question, number: int) -> list[MatchSpec]:
    """A set with its places in the schedule: set by set through all games, also those that have ended by then.

    So every match keeps its place when a comparison is continued with more sets.
    """
    sizes = [Question.of(each, plan).set_size for each in plan.games]
    before = sum(sizes[: plan.games.index(game)]) + (number - 1) * (sum(sizes) - question.set_size)
    return [replace(spec, index=before + spec.index) for spec in duplicate_set(question, number)]


def count(game: GamePlan, plan: Plan) -> int | None:
    """Only the results can tell when it ends, unless it plays on."""
    question = Question.of(game, plan)
    return question.most * question.set_size if question.thorough else None


def check(game: GamePlan, plan: Plan) -> None:
    """Refuses anything but two candidates, with everybody at one table."""
    Question.of(game, plan)
    if len(game.entrants) != game.players:
        raise UsageError(
            f"A comparison of {game.name} seats all its {len(game.entrants)} bots at one table, not {game.players}."
        )


COMPARE = Format(
    "compare",
    "two candidates at one table, until it is known whether one is better: what 'arena compare' plays",
    rounds,
    count,
    adaptive=True,
    anytime=True,
    check=check,
    options=(
        Option(
            "margin",
            MARGIN,
            "a share of finishing ahead this near to one half is no difference",
            kind="float",
            minimum=0,
            maximum=0.499,
        ),
        Option("own-deals", False, "a deal of its own for each match of a set, instead of one for all", kind="bool"),
        Option("thorough", False, "play on to the last deal when the answer is known", kind="bool"),
    ),
    candidates=True,
)
