"""Compare: two candidates at one table, exchanging seats, until it is known whether one is better."""

from __future__ import annotations

from msgspec.structs import replace

from harness.core.chance import Chance
from harness.core.errors import UsageError
from harness.core.format import Format, GamePlan, Outcome, Plan, RoundsOfMatches
from harness.core.types import MatchSpec, Option
from harness.ratings.comparison import SequentialTest
from harness.ratings.question import MARGIN, WAYS, Question, Unit
from harness.ratings.units import matches_of
from harness.schedule.rounds import PIECE


def rounds(game: GamePlan, plan: Plan, _luck: Chance) -> RoundsOfMatches:
    """As many units at a time as are needed at least; the answer may come with the last of them, and not before."""
    test = SequentialTest(question := Question.of(game, plan))
    while not test.over:
        unit, size = test.unit, question.size(test.unit)
        firsts = range(test.matches, test.matches + size * test.least(PIECE), size)
        numbered = enumerate(firsts, test.played + 1)
        records = yield [spec for number, first in numbered for spec in placed(game, plan, unit, number, first)]
        for start in range(0, len(records), size):
            test.add(records[start : start + size])
    return Outcome(note=test.verdict().sentence)


def placed(game: GamePlan, plan: Plan, unit: Unit, number: int, first: int) -> list[MatchSpec]:
    """A unit with its places in the schedule: the games take turns, also those that have ended by then.

    So every match keeps its place when a comparison is continued with more.
    """
    question, turn = Question.of(game, plan), plan.games.index(game)
    specs = matches_of(question, unit, number, first)
    if not question.former:
        return [replace(spec, index=spec.index * len(plan.games) + turn) for spec in specs]
    sizes = [Question.of(each, plan).size(unit) for each in plan.games]
    before = sum(sizes[:turn]) + (number - 1) * (sum(sizes) - sizes[turn])
    return [replace(spec, index=before + spec.index) for spec in specs]


def count(game: GamePlan, plan: Plan) -> int | None:
    """Only the results can tell when it ends, unless it plays on."""
    question = Question.of(game, plan)
    if not question.thorough:
        return None
    return question.most * question.size("set") if question.former else question.most


def check(game: GamePlan, plan: Plan) -> None:
    """Refuses anything but two candidates, with everybody at one table."""
    question = Question.of(game, plan)
    if question.seats != game.players and question.way == "gauntlet":
        raise UsageError(
            f"A gauntlet of {game.name} seats one of the two candidates with {len(question.company)} others at a "
            f"table, not {game.players}."
        )
    if question.seats != game.players:
        raise UsageError(
            f"A comparison of {game.name} seats all its {len(game.entrants)} bots at one table, not {game.players}."
        )
    if not SequentialTest(question).room:
        raise UsageError("A deal that is played twice takes 2 matches: --most (of a tournament --deals) must be 2.")


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
            "a share of finishing ahead this near to one half is no difference",
            kind="float",
            minimum=0,
            maximum=0.499,
        ),
        Option(
            "indifference",
            0.0,
            "if not 0, ask only whether there is a difference of at least this, with bounds for both errors",
            kind="float",
            minimum=0,
            maximum=0.499,
        ),
        Option("way", "auto", "how the matches are laid out; the last two are those of earlier versions", choices=WAYS),
        Option("thorough", False, "play on to the last match when the answer is known", kind="bool"),
    ),
    candidates=True,
    anytime=True,
)
