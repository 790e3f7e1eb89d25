"""From what was typed to the questions that it asks: one for each game that both bots play."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.core.errors import UsageError
from harness.plugins.entrants import Entrant
from harness.plugins.registry import Registry
from harness.ratings.comparison import Question
from harness.runs.run_setup import RunSetup, prepare


def questions(
    registry: Registry,
    one: str,
    other: str,
    *,
    company: Sequence[str],
    games: Sequence[str],
    options: Mapping[str, str],
    seed: int,
    most: int,
    margin: float,
    shared: bool = True,
    thorough: bool = False,
) -> tuple[list[Question], RunSetup]:
    """A question for each game, and what is needed to play its matches."""
    first, second = _entrant(registry, one), _entrant(registry, other)
    bots = [one, other, *company]
    setup = prepare(registry, games=games, bots=bots, options=options, players=None, deals=1, seed=seed)
    asked = []
    for plan in setup.plan.games:
        game = setup.games[plan.name]
        missing = [bot for bot in (first.name, second.name) if bot not in plan.entrants]
        if missing and games:
            raise UsageError(f"{missing[0]} does not play {game.title}.")
        if missing:
            continue
        if len(plan.entrants) > game.max_players:
            raise UsageError(f"{game.title} is for at most {game.max_players} players, not {len(plan.entrants)}.")
        others = tuple(name for name in plan.entrants if name not in (first.name, second.name))
        asked.append(
            Question(first.name, second.name, plan.name, plan.settings, others, seed, most, margin, shared, thorough)
        )
    if not asked:
        raise UsageError(f"There is no game that {first.name} and {second.name} can play at one table.")
    return asked, setup


def _entrant(registry: Registry, text: str) -> Entrant:
    found = registry.entrants([text])
    if len(found) > 1:
        raise UsageError(f"{text} has {len(found)} bots; say which: {', '.join(entrant.spec for entrant in found)}.")
    return found[0]
