"""The conversation about one decision: what happened, the table, the choices, and what the person types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from harness.core.action import Action
from harness.core.game import Game
from harness.core.types import Event
from harness.core.view import View
from harness.match.narration import sentences, to_you
from harness.play import rules
from harness.play.advice import NoHint
from harness.play.console import Console
from harness.play.parse_choice import Unclear, parse_choice

MOST_RULES = 12

Advise = Callable[[View, Sequence[Action]], tuple[str, Action]]
"""Gives the name of a bot and what it would do; raises NoHint."""

COMMANDS = (
    ("NUMBER or WORDS", "choose; any words that fit one choice only, such as the last ones"),
    ("Enter", "play what you have chosen: only now it counts"),
    ("undo", "take back what you have chosen and not yet played"),
    ("NUMBER!", "choose and play at once, without a chance to undo"),
    ("?", "this help, and the rules behind the choice"),
    ("rule [NUMBER or WORD]", "the rules behind the choice, or a rule by its number or a word in it"),
    ("hint", "what a bot would do, knowing what you know"),
    ("log", "what happened since your last choice; 'log all': since the deal"),
    ("table", "the table and the choices again"),
    ("quit", "leave; the match is kept and can be continued (so do Ctrl-D and Ctrl-C)"),
)


class PersonLeft(Exception):
    """The person has left the table."""


class Turn(NamedTuple):
    """One decision of the person."""

    view: View
    actions: Sequence[Action]
    news: Sequence[Event]
    """What this seat could see since its last decision."""
    past: Sequence[Event]
    """What this seat could see since the deal."""


class Dialogue:
    """Asks a person for decisions. Nothing typed counts before it is confirmed, so undo can reveal nothing."""

    def __init__(self, console: Console, game: Game[Any], advise: Advise) -> None:
        self.console, self.game, self.advise = console, game, advise
        self._commands: dict[str, Callable[[Turn, str], None]] = {
            "?": self._help,
            "help": self._help,
            "rule": self._rule,
            "hint": self._hint,
            "log": self._log,
            "table": self._table,
            "quit": self._quit,
        }

    def choose(self, turn: Turn) -> Action:
        """What the person has chosen and confirmed; raises Left when they go instead."""
        self._say_events(turn.news, turn.view.seat)
        self._table(turn, "")
        held: Action | None = None
        while True:
            prompt = f"{held} - Enter plays it, undo takes it back> " if held else "Your choice (? for help)> "
            try:
                typed = self.console.ask(prompt)
            except EOFError:
                self.console.say()
                raise PersonLeft from None
            if held is not None and not typed:
                return held
            word, _, rest = typed.lower().partition(" ")
            if word == "undo":
                self._undone(held)
                held = None
            elif word in self._commands:
                self._commands[word](turn, rest.strip())
            elif chosen := self._picked(typed.removesuffix("!").strip(), turn.actions):
                if typed.endswith("!"):
                    return chosen
                held = chosen

    def _picked(self, typed: str, actions: Sequence[Action]) -> Action | None:
        if not typed:
            self.console.say(f"Type a number from 1 to {len(actions)}, or words of a choice; ? for help.")
            return None
        try:
            return parse_choice(typed, actions)
        except Unclear as error:
            self.console.paragraph(str(error))
            return None

    def _undone(self, held: Action | None) -> None:
        if held is None:
            self.console.say("There is nothing to take back: what you chose before has been played.")
        else:
            self.console.say(f"Taken back: {held}.")

    def _table(self, turn: Turn, _rest: str) -> None:
        say = self.console.say
        say()
        say(self.game.render(turn.view))
        say()
        say(f"You are seat {turn.view.seat}. Choose ({turn.view.phase}):")
        width = len(str(len(turn.actions)))
        self.console.listed(f"{number:>{width}}  {action}" for number, action in enumerate(turn.actions, 1))

    def _log(self, turn: Turn, rest: str) -> None:
        self._say_events(turn.past if rest == "all" else turn.news, turn.view.seat)

    def _say_events(self, events: Sequence[Event], seat: int) -> None:
        self.console.say()
        for sentence in sentences(self.game, events, seat) or ["Nothing has happened since your last choice."]:
            self.console.paragraph(to_you(sentence, seat), indent="    ", first="  - ")

    def _help(self, turn: Turn, _rest: str) -> None:
        self.console.say()
        for typed, what in COMMANDS:
            self.console.paragraph(what, indent=" " * 26, first=f"  {typed:<24}")
        self._rule(turn, "")

    def _rule(self, turn: Turn, rest: str) -> None:
        found = rules.find(self.game, rest) if rest else rules.behind(self.game, turn.view.phase)
        self.console.say()
        if not found:
            self.console.say(f"No rule of {self.game.title} has {rest!r} in it." if rest else self._no_rules())
        for rule in found[:MOST_RULES]:
            self.console.paragraph(rule.text, indent="    ", first=f"  {rule.number}  ")
        if len(found) > MOST_RULES:
            numbers = ", ".join(rule.number for rule in found[MOST_RULES:])
            self.console.paragraph(f"More rules with {rest!r}: {numbers}.")

    def _no_rules(self) -> str:
        if self.game.rules_text():
            return "No rule is noted for this choice; 'rule WORD' finds rules."
        return f"{self.game.title} brings no text of its rules."

    def _hint(self, turn: Turn, _rest: str) -> None:
        try:
            name, action = self.advise(turn.view, turn.actions)
        except NoHint as error:
            self.console.paragraph(f"No hint: {error}")
            return
        self.console.say(f"{name} would choose {turn.actions.index(action) + 1}: {action}")

    def _quit(self, _turn: Turn, _rest: str) -> None:
        raise PersonLeft
