"""Compare: two candidates at one table, exchanging seats, until it is known whether one is better."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace as replaced
from functools import partial

from msgspec.structs import replace

from harness.core.chance import Chance
from harness.core.errors import UsageError
from harness.core.format import Format, GamePlan, OpenRound, Outcome, Plan, RoundsOfMatches
from harness.core.types import GameRecord, MatchSpec, Option
from harness.ratings.comparison import SequentialTest
from harness.ratings.duel_judge import DuelJudge
from harness.ratings.question import MARGIN, WAYS, Question, Unit, value_functions
from harness.ratings.units import matches_of
from harness.schedule.rounds import PIECE

NO_JUDGES: Mapping[str, DuelJudge] = {}


def rounds(game: GamePlan, plan: Plan, _luck: Chance, judges: Mapping[str, DuelJudge] = NO_JUDGES) -> RoundsOfMatches:
    """As many units at once as are needed at least; the answer may come with the last of them, and not before."""
    test = sequential_test(game, plan, judges)
    if test is None:
        raise UsageError(f"To take the luck out of {game.name} is for 'arena compare --luck-adjusted'.")
    yield _Units(game, plan, test)
    return Outcome(note=test.verdict().sentence)


class _Units(OpenRound):
    """The units of a comparison. Results may say that more of them are needed before all that are being played have
    ended: these can be played at once, and the answer is the same."""

    def __init__(self, game: GamePlan, plan: Plan, test: SequentialTest) -> None:
        self._game, self._plan, self._test = game, plan, test
        self._given = 0
        self._looked = -1
        self._unit: list[GameRecord] = []

    def more(self) -> list[MatchSpec]:
        test = self._test
        if self._looked == test.played or test.over:
            return []
        self._looked = test.played
        unit, size, last = test.unit, test.question.size(test.unit), test.played + test.least(PIECE)
        numbers = range(self._given + 1, last + 1)
        self._given = max(self._given, last)
        firsts = ((number, test.matches + (number - test.played - 1) * size) for number in numbers)
        return [spec for number, first in firsts for spec in placed(self._game, self._plan, unit, number, first)]

    def take(self, record: GameRecord) -> None:
        self._unit.append(record)
        if len(self._unit) == self._test.question.size(self._test.unit):
            self._test.add(self._unit)
            self._unit = []


def sequential_test(game: GamePlan, plan: Plan, judges: Mapping[str, DuelJudge]) -> SequentialTest | None:
    """What a game of a plan is to be tested by; None if its luck is to be taken out and nobody here can."""
    question = Question.of(game, plan)
    if not question.luck:
        return SequentialTest(question)
    return SequentialTest(question, judges[game.name].duel()) if game.name in judges else None


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
    if value_functions(plan) and not question.luck:
        raise UsageError(f"Luck is taken out of all games of a comparison or of none, and {game.name} is left out.")
    if question.luck and (question.way == "gauntlet" or question.former):
        raise UsageError(
            "Luck can be taken out where the two bots meet on deals of their own or exchange seats, not in the way "
            f"{question.way}: leave out --luck-adjusted, or choose auto, pairs or own-deals."
        )
    if not SequentialTest(question).room:
        raise UsageError("A deal that is played twice takes 2 matches: --most (of a tournament --deals) must be 2.")


def extend(plan: Plan, asked: Plan) -> Plan:
    """More matches."""
    from harness.schedule.longer_runs import longer_comparison  # few runs are extended

    return longer_comparison(plan, asked)


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
        Option("luck", "", "what 'arena compare --luck-adjusted' takes luck out by: value functions as GAME:DIGEST"),
    ),
    candidates=True,
    anytime=True,
    extend=extend,
)


def judged_by(judges: Mapping[str, DuelJudge]) -> Format:
    """The format for plans whose luck is taken out: by these, game by game."""
    return replaced(COMPARE, rounds=partial(rounds, judges=judges), reads_actions=True)
