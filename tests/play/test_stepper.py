"""Stepping through a recorded match."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from harness.cli.replay import Stepper
from harness.core.records import Fault, GameRecord, MatchSpec
from harness.match.referee import play
from harness.match.replay import Narration, narrate_match
from harness.plugins.registry import load
from tests.play.support import GAMES, Script, game


def match(name: str, seed: int = 4) -> GameRecord:
    played = game(name)
    seats = ["random"] * played.min_players
    spec = MatchSpec("m", 0, "s", name, dict(played.settings), seed, tuple(seats))
    return play(spec, played, load().entrants(seats))


@pytest.mark.parametrize("name", GAMES)
def test_a_match_printed_has_every_decision_in_order_and_the_scores(name):
    record, console = match(name), Script()
    for line in narrate_match(game(name), record):
        console.say(line)
    lines = console.output.getvalue().splitlines()
    numbers = [int(line[:4]) for line in lines if line[:4].strip().isdigit() and line[4:6] == "  "]
    assert numbers == list(range(len(record.actions)))
    for seat, score in enumerate(record.scores):
        assert f"random (seat {seat}): {game(name).score_text(score)}" in console.said


@pytest.mark.parametrize("name", GAMES)
def test_every_decision_can_be_reached_forward_backward_and_by_number(name):
    record = match(name)
    last = len(record.actions)
    console = Script("", "", "back", f"{last - 1}", "next", "next", "start", "back", "end", "quit")
    Stepper(console, game(name), record, None).run()
    shown = [line for line in console.output.getvalue().splitlines() if line.startswith("Decision ")]
    assert [int(line.split()[1]) for line in shown] == [0, 1, 2, 1, last - 1, 0]
    assert console.said.count("Ended: ") == 2
    assert "This is the end" in console.said
    assert "This is the first decision." in console.said


def test_a_replay_as_a_seat_shows_only_what_the_seat_could_see():
    record = match("el-paso")
    console = Script(*[""] * len(record.actions))
    Stepper(console, game(), record, seat=1).run()
    said = console.output.getvalue()
    assert "random (seat 1) is dealt" in said
    assert "random (seat 0) is dealt" not in said
    assert "(hidden)" not in said
    assert "Decision 0: random (seat 0) chooses." in said
    narration = Narration(game(), record)
    narration.advance()
    assert str(narration.next_action()) not in said.partition("Decision 1 ")[0]


def test_the_seat_can_be_changed_during_a_replay():
    console = Script("seat 1", "seat", "seat 7", "seat x", "table 0", "table", "table 9", "quit")
    Stepper(console, game(), match("el-paso"), None).run()
    assert "[0 of" in console.said
    assert "as random (seat 1)>" in console.said
    assert console.said.count("is not a seat of this match") == 3
    assert console.said.count("As random (seat 0) saw it:") == 2


def test_a_replay_as_a_seat_shows_only_its_own_forced_moves():
    def forced(seat: int | None) -> set[str]:
        narration = Narration(game("x-pasch"), match("x-pasch"))
        told = narration.advance(seat)
        while not narration.over:
            narration.step()
            told += narration.advance(seat)
        return {sentence.split(" must ")[0] for sentence in told if " must " in sentence}

    assert forced(None) == {"random (seat 0)", "random (seat 1)", "random (seat 2)"}
    assert forced(1) == {"random (seat 1)"}


def test_faults_are_shown_at_the_end():
    record = match("el-paso")
    fault = Fault(0, "exception", 3, "bot.py:1 in choose\nValueError: no")
    failed = replace(record, ranks=(2, 1), faults=(fault,))
    console = Script()
    for line in narrate_match(game(), failed):
        console.say(line)
    assert "Fault of random (seat 0) at decision 3: exception bot.py:1 in choose ValueError: no" in console.said
