"""Is one bot better than another? A question for each game, and the matches that answer it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from harness.core.errors import UsageError
from harness.core.types import GameRecord, MatchSpec
from harness.executors.jobs import Job, choose_executor
from harness.plugins.entrants import Entrant
from harness.plugins.registry import Registry
from harness.ratings.comparison import MARGIN, MOST_SETS, Question, Verdict, compare
from harness.runs.request import BotLike, RunRequest
from harness.runs.run_setup import RunSetup, prepare


def questions(
    one: BotLike,
    other: BotLike,
    request: RunRequest,
    registry: Registry,
    *,
    most: int = MOST_SETS,
    margin: float = MARGIN,
    shared: bool = True,
    thorough: bool = False,
) -> tuple[list[Question], RunSetup]:
    """A question for each game that both play, and what is needed to play its matches.

    The request's bots are the others at the table; its games, options and seed count too.
    """
    first, second = _entrant(registry, one), _entrant(registry, other)
    setup = prepare(replace(request, bots=(one, other, *request.bots), players=None, deals=1), registry)
    asked = []
    for plan in setup.plan.games:
        game = setup.games[plan.name]
        missing = [bot for bot in (first.name, second.name) if bot not in plan.entrants]
        if missing and request.games:
            raise UsageError(f"{missing[0]} does not play {game.title}.")
        if missing:
            continue
        if len(plan.entrants) > game.max_players:
            raise UsageError(f"{game.title} is for at most {game.max_players} players, not {len(plan.entrants)}.")
        asked.append(
            Question(
                one=first.name,
                other=second.name,
                game=plan.name,
                settings=plan.settings,
                company=tuple(name for name in plan.entrants if name not in (first.name, second.name)),
                seed=setup.plan.seed,
                most=most,
                margin=margin,
                shared=shared,
                thorough=thorough,
            )
        )
    if not asked:
        raise UsageError(f"There is no game that {first.name} and {second.name} can play at one table.")
    return asked, setup


def answer(
    question: Question,
    setup: RunSetup,
    limits: Mapping[str, Any],
    workers: int | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    seen: Callable[[GameRecord], None] = lambda _record: None,
) -> Verdict:
    """Plays sets until the answer is known."""
    with choose_executor(setup.roster, limits, workers, should_stop) as executor:

        def play(specs: Iterable[MatchSpec]) -> Iterator[GameRecord]:
            return (played.record for played in executor.run(map(Job, specs)))

        return compare(question, play, seen)


def _entrant(registry: Registry, bot: BotLike) -> Entrant:
    found = registry.entrants([bot])
    if len(found) > 1:
        raise UsageError(f"{bot} has {len(found)} bots; say which: {', '.join(entrant.spec for entrant in found)}.")
    return found[0]
