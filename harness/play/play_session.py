"""One match with a person in it: the referee leads it, a dialogue asks the person, a file keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b

from harness.core.action import Action
from harness.core.chance import Chance
from harness.core.notes import DecisionNotes, encode_notes
from harness.core.types import Event, GameRecord
from harness.core.view import View
from harness.match.narration import HUMAN, Narration, place_of, sentences, to_you
from harness.match.referee import play
from harness.play.advice import NoHint, hint
from harness.play.console import Console
from harness.play.dialogue import Dialogue, Turn
from harness.play.human import Human, human_at
from harness.play.interrupts import Interrupts
from harness.play.saves import SavedChoice, SavedMatch
from harness.plugins.entrants import Entrant


class PlaySession:
    """A person's match from the first choice, or from where it was left, to the end."""

    def __init__(self, console: Console, interrupts: Interrupts, saved: SavedMatch, adviser: Entrant | None) -> None:
        self.console, self.interrupts, self.saved = console, interrupts, saved
        self.adviser = saved.placed({adviser.name: adviser})[adviser.name] if adviser else None
        self.spec = saved.match.spec
        self.game = saved.setup.games[self.spec.game]
        self.dialogue = Dialogue(console, self.game, self._advise)
        self.choices = list(saved.match.choices)
        self.made = 0
        """How many of the choices have been played."""
        self.past: list[Event] = []
        self.news: Sequence[Event] = ()
        self.seed = 0
        self.ended: BaseException | None = None

    def play(self) -> GameRecord:
        """Plays the match to its end and records it; raises Left or KeyboardInterrupt if the person goes."""
        here = self.saved.setup.roster
        roster = here._replace(entrants={**here.entrants, **self.saved.placed(self.saved.opponents)})
        entrants = [
            replace(entrant, bot=human_at(self)) if entrant.name == HUMAN else entrant
            for entrant in roster.seats(self.spec)
        ]
        notes: list[DecisionNotes] = []
        try:
            record = play(self.spec, self.game, entrants, audit=self._stop_if_ended, notes=notes)
        finally:
            self.ended = None  # it holds the bots at the table, whose processes are to end
        self.saved.record(record, encode_notes(record.id, notes))
        return record

    def _stop_if_ended(self) -> None:
        """Ends the match from outside the bots: what is raised inside `answer` the referee would take for a fault."""
        if self.ended is not None:
            raise self.ended
        if self.interrupts.pending:
            raise KeyboardInterrupt

    def sit(self, bot: Human) -> None:
        """The match begins."""
        self.seed = bot.seed

    def hear(self, events: Sequence[Event]) -> None:
        """What the person could see since the last decision."""
        self.news = events
        self.past += events

    def answer(self, view: View, actions: Sequence[Action]) -> Action:
        """The person's decision: the one kept from before, or what they choose now."""
        try:
            action = self._again(view, actions) or self._ask(view, actions)
        except BaseException as error:
            self.ended = error
            return actions[0]
        self.made += 1
        return action

    def _again(self, view: View, actions: Sequence[Action]) -> Action | None:
        if self.made == len(self.choices):
            return None
        choice = self.choices[self.made]
        action = next((action for action in actions if action.code == choice.code), None)
        if action is None or choice.seen != self._digest(view):
            del self.choices[self.made :]
            self.console.paragraph(
                "A bot has not played as it did before, so your later choices no longer fit: go on from here."
            )
            return None
        return action

    def _ask(self, view: View, actions: Sequence[Action]) -> Action:
        with self.interrupts.prompting():
            action = self.dialogue.choose(Turn(view, actions, self.news, self.past))
        self.choices.append(SavedChoice(self._digest(view), action.code))
        self.saved.keep(self.choices)
        return action

    def _digest(self, view: View) -> str:
        return blake2b(self.game.view_to_json(view), digest_size=8).hexdigest()

    def _advise(self, view: View, actions: Sequence[Action]) -> tuple[str, Action]:
        if self.adviser is None:
            raise NoHint("no bot is installed that plays this game better than by chance; name one with --hint-bot.")
        seed = Chance(self.seed).derive("hint", self.made)
        return self.adviser.name, hint(self.adviser, self.game, view, len(self.spec.seats), actions, self.past, seed)

    def greet(self) -> None:
        """Says who sits where, and how to get help."""
        say, seats = self.console.say, self.spec.seats
        say(f"{self.game.title}: {self.spec.id}, you against {', '.join(name for name in seats if name != HUMAN)}.")
        for seat, name in enumerate(seats):
            say(f"  seat {seat}: {'you' if name == HUMAN else name}")
        say("Type ? for help, quit to leave (the match is kept).")
        if self.choices:
            say(f"Your {len(self.choices)} choices so far are played again ...")

    def farewell(self, record: GameRecord) -> None:
        """Says what happened after the person's last choice, and how the match ended."""
        seat, say = self.saved.seat, self.console.say
        narration = Narration(self.game, record)
        narration.news()
        while not narration.over:
            narration.decide()
            narration.news()
        seen = sentences(self.game, narration.replay.log, seat)
        say()
        for sentence in seen[len(self.past) :]:
            self.console.paragraph(to_you(sentence, seat), indent="    ", first="  - ")
        say()
        say(narration.table(seat))
        say()
        for line in narration.result():
            say(line.replace(f"{HUMAN} (seat {seat})", f"you (seat {seat})"))
        say(f"You are {place_of(record, seat)}.")
