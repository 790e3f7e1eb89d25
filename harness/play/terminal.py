"""The dialogue at the terminal: prompts and choices."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from types import FrameType
from typing import Any, NamedTuple, Self

from harness.core.action import Action, View
from harness.core.errors import ArenaError
from harness.core.game import Game
from harness.core.records import Event
from harness.match.replay import sentences
from harness.output.text import Console
from harness.play.person import NoHintError, find_rules, rules_for_phase

# Ctrl-C: ends a prompt at once, but lets a bot finish its decision.


INTERRUPTED = 130
"""Exit code after Ctrl-C, as in shells."""


class Interrupts:
    """Within the `with` block, Ctrl-C raises KeyboardInterrupt in `prompting` and sets `pending` elsewhere.

    Elsewhere a bot's code is running, and the referee would take an exception for a fault of the bot.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self.pending = False
        self._say = say
        self._prompting = False
        self._before: Any = None

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGINT, self._on_sigint)
        return self

    def __exit__(self, *_error: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    @contextmanager
    def prompting(self) -> Iterator[None]:
        """Let Ctrl-C interrupt this block."""
        self._prompting = True
        try:
            if self.pending:
                raise KeyboardInterrupt
            yield
        finally:
            self._prompting = False

    def _on_sigint(self, _number: int, _frame: FrameType | None) -> None:
        if self._prompting:
            raise KeyboardInterrupt
        if self.pending:
            os._exit(INTERRUPTED)  # the bot hangs; the person's choices are on disk
        # The referee's audit raises KeyboardInterrupt after the bot's decision.
        self.pending = True
        self._say("\nWaiting for a bot to finish its decision; Ctrl-C once more to stop now.")


# Parsing a choice.


MAX_CHOICES_SHOWN = 6


class AmbiguousInput(ArenaError):
    """The input fits no choice or several; the message says what to type."""


def parse_choice(typed: str, actions: Sequence[Action]) -> Action:
    """Return the action with this number (from 1), this text, or words that fit no other action."""
    if typed.isdecimal():
        number = int(typed)
        if not 1 <= number <= len(actions):
            raise AmbiguousInput(f"There is no choice number {typed}: the numbers go from 1 to {len(actions)}.")
        return actions[number - 1]
    words = typed.lower().split()
    # From exact to loose, so that the full text of a choice wins over choices that contain it.
    for fits in (_equals, _starts_with, _has_words, _has_prefixes):
        found = [action for action in actions if words and fits(words, action.text.lower().split())]
        if len(found) == 1:
            return found[0]
        if found:
            raise AmbiguousInput(f"{typed!r} could be {_list_choices(found)}: type more of it, or its number.")
    near = get_close_matches(" ".join(words), [action.text.lower() for action in actions], n=1)
    suggestion = f" Did you mean {near[0]!r}?" if near else ""
    example = actions[0].text
    raise AmbiguousInput(
        f"{typed!r} is not a choice here.{suggestion} Type a number, words such as {example!r}, or ? for help."
    )


def _equals(typed: Sequence[str], text: Sequence[str]) -> bool:
    return typed == text


def _starts_with(typed: Sequence[str], text: Sequence[str]) -> bool:
    return " ".join(text).startswith(" ".join(typed))


def _has_words(typed: Sequence[str], text: Sequence[str]) -> bool:
    """Return whether the text has all typed words in this order."""
    rest = iter(text)
    return all(any(word == other for other in rest) for word in typed)


def _has_prefixes(typed: Sequence[str], text: Sequence[str]) -> bool:
    """Return whether each typed word is a prefix of a word of the text, in this order."""
    rest = iter(text)
    return all(any(other.startswith(word) for other in rest) for word in typed)


def _list_choices(found: Sequence[Action]) -> str:
    texts = [repr(action.text) for action in found[:MAX_CHOICES_SHOWN]]
    more = len(found) - len(texts)
    return " or ".join(texts) + (f" or {more} more" if more else "")


# The dialogue about one decision: events, table, choices, and what the person types.


MAX_RULES_SHOWN = 12
MAX_KEYS = 9
"""Number of choices up to which a digit plays one at once, without Enter."""

GetHint = Callable[[View, Sequence[Action]], tuple[str, Action, list[str]]]
"""Returns the name of a bot, its choice and its reasons; raises NoHintError."""

COMMANDS = (
    ("1 to 9", "at a terminal, where there are at most nine choices: plays that one at once"),
    ("NUMBER or WORDS", "choose; any words that fit one choice only, such as the last ones"),
    ("Enter", "play what you have chosen; until then it does not count"),
    ("undo", "take back a choice before it is played"),
    ("NUMBER!", "choose and play at once, without a chance to undo"),
    ("?", "this help, and the rules behind the choice"),
    ("rule [NUMBER or WORD]", "the rules behind the choice, or a rule by its number or a word in it"),
    ("hint", "what a bot would do, knowing what you know"),
    ("log", "what happened since your last choice; 'log all': since the deal"),
    ("table", "the table and the choices again"),
    ("quit", "leave; the match is saved and can be continued (also Ctrl-D and Ctrl-C)"),
)


class PlayerQuit(Exception):
    """The person has quit the match."""


class Turn(NamedTuple):
    """One decision of the person."""

    view: View
    actions: Sequence[Action]
    news: Sequence[Event]
    """Events that this seat saw since its last decision."""
    past: Sequence[Event]
    """Events that this seat saw since the deal."""


class Dialogue:
    """Asks a person for decisions. Only a confirmed choice is played, so undo reveals nothing."""

    def __init__(self, console: Console, game: Game[Any], names: Sequence[str], get_hint: GetHint) -> None:
        self.console, self.game, self.names, self.get_hint = console, game, names, get_hint
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
        """Return the confirmed choice; raises PlayerQuit if the person quits."""
        self._say_events(turn.news, turn.view.seat)
        self._table(turn, "")
        chosen: Action | None = None
        single = self.console.reads_keys and len(turn.actions) <= MAX_KEYS
        keys = "".join(map(str, range(1, len(turn.actions) + 1))) if single else ""
        while True:
            ask = f"Press 1-{len(turn.actions)} (? for help)> " if single else "Your choice (? for help)> "
            prompt = f"{chosen} - Enter plays it, undo takes it back> " if chosen else ask
            try:
                typed = self.console.ask(prompt, keys)
            except EOFError:
                self.console.say()
                raise PlayerQuit from None
            if chosen is not None and not typed:
                return chosen
            if len(typed) == 1 and typed in keys:
                return turn.actions[int(typed) - 1]
            word, _, rest = typed.lower().partition(" ")
            if word == "undo":
                nothing = "There is nothing to take back: your last choice has been played."
                self.console.say(nothing if chosen is None else f"Taken back: {chosen}.")
                chosen = None
            elif word in self._commands:
                self._commands[word](turn, rest.strip())
            elif picked := self._parse_input(typed.removesuffix("!").strip(), turn.actions):
                if typed.endswith("!"):
                    return picked
                chosen = picked

    def _parse_input(self, typed: str, actions: Sequence[Action]) -> Action | None:
        if not typed:
            self.console.say(f"Type a number from 1 to {len(actions)}, or words of a choice; ? for help.")
            return None
        try:
            return parse_choice(typed, actions)
        except AmbiguousInput as error:
            self.console.paragraph(str(error))
            return None

    def _table(self, turn: Turn, _rest: str) -> None:
        say = self.console.say
        say()
        say(self.game.render(turn.view, self.names))
        say()
        say(f"Choose ({turn.view.phase}):")
        width = len(str(len(turn.actions)))
        self.console.listed(f"{number:>{width}}  {action}" for number, action in enumerate(turn.actions, 1))

    def _log(self, turn: Turn, rest: str) -> None:
        self._say_events(turn.past if rest == "all" else turn.news, turn.view.seat)

    def _say_events(self, events: Sequence[Event], seat: int) -> None:
        self.console.say()
        news = sentences(self.game, events, self.names, seat)
        for sentence in news or ["Nothing has happened since your last choice."]:
            self.console.paragraph(sentence, indent="    ", first="  - ")

    def _help(self, turn: Turn, _rest: str) -> None:
        self.console.say()
        for typed, what in COMMANDS:
            self.console.paragraph(what, indent=" " * 26, first=f"  {typed:<24}")
        self._rule(turn, "")

    def _rule(self, turn: Turn, rest: str) -> None:
        found = find_rules(self.game, rest) if rest else rules_for_phase(self.game, turn.view.phase)
        self.console.say()
        if not found:
            self.console.say(f"No rule of {self.game.title} contains {rest!r}." if rest else self._no_rules())
        for rule in found[:MAX_RULES_SHOWN]:
            self.console.paragraph(rule.text, indent="    ", first=f"  {rule.number}  ")
        if len(found) > MAX_RULES_SHOWN:
            numbers = ", ".join(rule.number for rule in found[MAX_RULES_SHOWN:])
            self.console.paragraph(f"More rules with {rest!r}: {numbers}.")

    def _no_rules(self) -> str:
        if self.game.rules_text():
            return "No rule is listed for this choice; 'rule WORD' searches all rules."
        return f"{self.game.title} has no text of its rules."

    def _hint(self, turn: Turn, _rest: str) -> None:
        try:
            name, action, reasons = self.get_hint(turn.view, turn.actions)
        except NoHintError as error:
            self.console.paragraph(f"No hint: {error}")
            return
        self.console.say(f"{name} would choose {turn.actions.index(action) + 1}: {action}")
        for reason in reasons:
            self.console.paragraph(reason)

    def _quit(self, _turn: Turn, _rest: str) -> None:
        raise PlayerQuit
