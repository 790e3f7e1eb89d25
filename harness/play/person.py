"""Help for a person at a table: the rules behind a choice, opponents, hints."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from harness.core.action import Action, View
from harness.core.bot import Bot, NoteBuffer
from harness.core.errors import ArenaError, UsageError
from harness.core.game import Game
from harness.core.records import Event
from harness.match.replay import HUMAN, note_text
from harness.plugins.entrants import Entrant
from harness.plugins.registry import LAST_FILLER, Registration, Registry, filler_bots

# The person, as an entrant.


PERSON = "a person"
"""Where a person comes from, in run.json."""


class Human(Bot):
    """A person at a terminal or a page. It is entered like a bot, and the session answers for its seat."""

    name = HUMAN
    by_default: ClassVar[bool] = False


def register_person(registry: Registry) -> None:
    """Register the person under a bot name; raises UsageError if a bot has it."""
    if HUMAN in registry.bots and registry.bots[HUMAN].source != PERSON:
        source = registry.bots[HUMAN].source
        raise UsageError(f"{source} has a bot called {HUMAN!r}, the name of the person here; rename that bot.")
    # A fixed digest: that of the class would change with every file of Arena.
    registry.bots[HUMAN] = Registration(Human, PERSON, "", digest=HUMAN)


# Rules, from the page of the game.


_ITEM = re.compile(r"^- ([A-Z]+-\d+) (.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)


class Rule(NamedTuple):
    """One numbered rule."""

    number: str
    text: str


def all_rules(game: Game[Any]) -> dict[str, Rule]:
    """Return the numbered rules of the game in order; empty if it has no page of rules."""
    items = _ITEM.findall(game.rules_text())
    return {number: Rule(number, " ".join(text.split())) for number, text in items}


def rules_for_phase(game: Game[Any], phase: str) -> list[Rule]:
    """Return the rules about choices of this phase."""
    rules = all_rules(game)
    return [rules[number] for number in game.rules_behind.get(phase, ()) if number in rules]


def find_rules(game: Game[Any], wanted: str) -> list[Rule]:
    """Return the rule with this number (`EP-9`, or just `9`), otherwise all rules that contain the word."""
    rules = all_rules(game)
    numbered = [rule for rule in rules.values() if wanted.upper() in (rule.number, rule.number.rpartition("-")[2])]
    return numbered or [rule for rule in rules.values() if wanted.lower() in rule.text.lower()]


# Opponents and hints.


HINT_BOTS = ("ismcts", "flat-mc")
"""Bots that give good hints in any game, best first."""
EXPLAIN = "explain"
"""Option of a bot that notes the reason for each choice: such a bot gives the hints of its game."""
MAX_DEFAULT_OPPONENTS = 3
"""Largest number of default opponents."""


class NoHintError(ArenaError):
    """No hint is available; the message says why."""


def choose_opponents(registry: Registry, game: type[Game[Any]], asked: Sequence[str]) -> list[str]:
    """Return the opponents: those that were requested, and others as far as the game needs them or if none was
    named."""
    entrants = registry.entrants(asked)
    for entrant in entrants:
        _check_plays(entrant, game.name)
    named = {entrant.name for entrant in entrants}
    needed = max(0, game.min_players - 1 - len(named))
    if asked:
        return [*asked, *filler_bots(registry, game.name, needed, named)]
    wanted = min(MAX_DEFAULT_OPPONENTS, game.max_players - 1)
    specialists = [bot for bot in registry.bots.values() if bot.cls.by_default and game.name in bot.cls.games]
    return filler_bots(registry, game.name, max(needed, min(wanted, len(specialists))))


def _check_plays(entrant: Entrant, game: str) -> None:
    if not entrant.plays(game):
        raise UsageError(f"{entrant.name} does not play {game}.", fix="bots-of-game", game=game)


def hint_bot(registry: Registry, game: str, asked: str | None) -> Entrant | None:
    """Return the bot for hints: the named one, or else one that explains its choices, or a search bot, or any; None if
    only random play is left."""
    if asked is not None:
        entrants = registry.entrants([asked])
        if len(entrants) != 1:
            raise UsageError(f"{asked} has {len(entrants)} bots; name one for hints: {asked}::NAME.")
        _check_plays(entrants[0], game)
        return entrants[0]
    for name, offer in sorted(registry.bots.items()):
        if game in offer.cls.games and any(option.name == EXPLAIN for option in offer.cls.options):
            return registry.entrants([f"{name}={name}:{EXPLAIN}=true"])[0]
    for name in [*HINT_BOTS, *sorted(registry.bots)]:
        if name in registry.bots and name != LAST_FILLER:
            [entrant] = registry.entrants([name])
            if entrant.plays(game):
                return entrant
    return None


def ask_for_hint(
    adviser: Entrant,
    game: Game[Any],
    view: View,
    players: int,
    actions: Sequence[Action],
    past: Sequence[Event],
    seed: int,
) -> tuple[Action, list[str]]:
    """Return what the bot would choose, knowing only what the person knows, and what it notes about it."""
    luck, notes = random.getstate(), NoteBuffer()
    try:
        bot = adviser.seat(game, view.seat, players, seed)
        bot._note_buffer = notes
        bot.start()
        # As the referee does: only a bot that overrides it gets events.
        if type(bot).observe is not Bot.observe:
            bot.observe(past)
        chosen = actions[actions.index(bot.choose(view, actions))]
        return chosen, list(map(note_text, notes.drain()))
    except KeyboardInterrupt:
        raise NoHintError(f"{adviser.name} was interrupted.") from None
    except BaseException as error:  # a bot may raise anything, and the match continues without the hint
        raise NoHintError(f"{adviser.name} failed: {type(error).__name__}: {error}") from error
    finally:
        random.setstate(luck)  # a hint must not change the play of bots that use the global generator
