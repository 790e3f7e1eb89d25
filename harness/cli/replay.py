"""The `arena replay` command: print a match, or step through it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from harness.cli.options import RUN, load_plugins, open_folder, results_option
from harness.core.bot import DecisionNotes
from harness.core.game import Game
from harness.core.records import GameRecord
from harness.match.replay import Narration, narrate_match, stream
from harness.output.tables import escape_json, terminal_width
from harness.output.text import Console
from harness.runs.setup import game_of

# arena replay.


@click.command("replay")
@click.argument("run", type=RUN)
@click.argument("match")
@click.option(
    "--json", "as_json", is_flag=True, help="Everything that happened, one JSON object per line (docs/replay.md)."
)
@click.option("--all", "print_all", is_flag=True, help="Print the whole match, even at a terminal.")
@click.option(
    "--seat",
    type=int,
    help="Step: see what this seat saw. Print: show its table at each of its decisions; with --json its view.",
)
@results_option
def command(run: str, match: str, as_json: bool, print_all: bool, seat: int | None, results: Path) -> None:
    """Step through a MATCH of a RUN, or print it in words.

    At a terminal, step forward and back, jump to a decision and look at what a seat saw; ? lists the commands.
    Without a terminal, or with --all, the whole match is printed. Notes of bots are shown with their decisions.

    \b
    arena replay my-run el-paso-3.1.2
    arena replay my-run el-paso-3.1.2 --seat 0 --all
    arena replay my-run el-paso-3.1.2 --json | jq 'select(.type == "choice")'
    arena replay my-run el-paso-3.1.2 --json --seat 0 | jq 'select(.view).view'
    """
    opened = open_folder(results, run)
    record = opened.record(match)
    game = game_of(opened, load_plugins(), record)
    if seat is not None and not 0 <= seat < len(record.seats):
        raise click.UsageError(f"{record.id} has seats 0 to {len(record.seats) - 1}, not {seat}.")
    notes = opened.notes(record.id)
    console = Console(sys.stdin, sys.stdout)
    if as_json:
        for line in stream(game, record, notes, seat):
            click.echo(escape_json(msgspec.json.encode(line)))
    # A script that pipes the output must not wait for a key.
    elif print_all or not (sys.stdin.isatty() and sys.stdout.isatty()):
        for sentence in narrate_match(game, record, seat, notes, terminal_width(sys.stdout)):
            console.say(sentence)
    else:
        Stepper(console, game, record, seat, notes).run()


# Step through a recorded match at a terminal.


COMMANDS = (
    ("Enter, next", "the next decision"),
    ("back", "the decision before"),
    ("NUMBER", "that decision, counted from 0"),
    ("start, end", "the first decision; the end of the match"),
    ("seat N", "from now on see only what seat N saw; 'seat' alone shows everything again"),
    ("table [N]", "the table as the seat on turn, or seat N, saw it at this moment"),
    ("?", "this help"),
    ("quit", "leave (so do Ctrl-D and Ctrl-C)"),
)


class Stepper:
    """Shows one moment of a recorded match at a time: just before a decision, or the end."""

    def __init__(
        self,
        console: Console,
        game: Game[Any],
        record: GameRecord,
        seat: int | None,
        notes: Sequence[DecisionNotes] = (),
    ) -> None:
        self.console, self.game, self.record, self.seat, self.notes = console, game, record, seat, notes
        self.last = len(record.actions)
        """Number of the moment after the last decision."""
        self.narration = Narration(game, record, notes)
        self.news: list[str] = []
        self._commands: dict[str, Callable[[str], None]] = {
            "": lambda _rest: self._next(),
            "next": lambda _rest: self._next(),
            "back": lambda _rest: self._back(),
            "start": lambda _rest: self.go(0),
            "end": lambda _rest: self.go(self.last),
            "seat": self._as_seat,
            "table": self._table,
            "?": lambda _rest: self._help(),
            "help": lambda _rest: self._help(),
        }

    def run(self) -> None:
        """Read and execute commands until the user quits."""
        for line in self.narration.heading():
            self.console.say(line)
        self.console.say(f"{self.last} decisions. Enter steps on, ? lists the commands.")
        self.go(0)
        while True:
            try:
                typed = self.console.ask(f"[{self.narration.decision} of {self.last}]{self._whose()}> ")
            except (EOFError, KeyboardInterrupt):
                self.console.say()
                return
            word, _, rest = typed.lower().partition(" ")
            if word == "quit":
                return
            if word.isdecimal():
                self.go(int(word))
            elif word in self._commands:
                self._commands[word](rest.strip())
            else:
                self.console.say(f"{typed!r} is not a command here; ? lists them.")

    def _whose(self) -> str:
        return "" if self.seat is None else f" as {self.narration.names[self.seat]}"

    def go(self, decision: int) -> None:
        """Show the moment before this decision; the number of decisions is the end."""
        if not 0 <= decision <= self.last:
            self.console.say(f"Decisions go from 0 to {self.last - 1}; 'end' shows the end.")
            return
        # A narration only moves forward, so the match is replayed from its start.
        self.narration = Narration(self.game, self.record, self.notes)
        self.news = self.narration.advance(self.seat)
        while self.narration.decision < decision:
            self.narration.step()
            self.news = self.narration.advance(self.seat)
        self._show()

    def _show(self) -> None:
        narration, say = self.narration, self.console.say
        say()
        for sentence in self.news:
            self.console.paragraph(sentence, indent="    ", first="  - ")
        say()
        if narration.over:
            for line in narration.result():
                say(line)
            return
        say(narration.table(narration.seat if self.seat is None else self.seat))
        say()
        if self.seat in (None, narration.seat):
            self.console.paragraph(narration.choice().strip(), indent="      ", first="Decision ")
            for note in narration.note_lines():
                self.console.paragraph(note, indent="      ", first="Note  ")
        else:
            say(f"Decision {narration.decision}: {narration.names[narration.seat]} chooses.")

    def _next(self) -> None:
        if self.narration.over:
            self.console.say("This is the end; 'back' and 'start' lead back, 'quit' leaves.")
        else:
            self.go(self.narration.decision + 1)

    def _back(self) -> None:
        if self.narration.decision == 0:
            self.console.say("This is the first decision.")
        else:
            self.go(self.narration.decision - 1)

    def _as_seat(self, rest: str) -> None:
        if not rest:
            self.seat = None
        elif (seat := self._numbered(rest)) is not None:
            self.seat = seat
        else:
            return
        self.go(self.narration.decision)

    def _table(self, rest: str) -> None:
        on_turn = 0 if self.narration.over else self.narration.seat
        seat = self._numbered(rest) if rest else on_turn if self.seat is None else self.seat
        if seat is not None:
            self.console.say(f"\nAs {self.narration.names[seat]} saw it:\n\n{self.narration.table(seat)}\n")

    def _numbered(self, text: str) -> int | None:
        most = len(self.record.seats) - 1
        if text.isdecimal() and int(text) <= most:
            return int(text)
        self.console.say(f"{text!r} is not a seat of this match: seats go from 0 to {most}.")
        return None

    def _help(self) -> None:
        self.console.say()
        for typed, what in COMMANDS:
            self.console.paragraph(what, indent=" " * 16, first=f"  {typed:<14}")
