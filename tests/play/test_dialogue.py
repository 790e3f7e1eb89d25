"""The conversation about a decision."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest

from harness import Bot
from harness.output.text import Console
from harness.play.person import NoHintError, ask_for_hint, choose_opponents, hint_bot
from harness.play.terminal import COMMANDS, PlayerQuit
from harness.plugins.entrants import enter
from harness.plugins.registry import load
from tests.play.support import first_turn, game, talk


def test_a_choice_counts_when_enter_is_pressed_once_more():
    console, chosen = talk("2", "")
    assert str(chosen) in console.said
    assert chosen is first_turn(game()).actions[1]


def test_undo_takes_back_a_choice_and_another_choice_replaces_it():
    actions = first_turn(game()).actions
    assert talk("2", "undo", "3", "")[1] is actions[2]
    assert talk("2", "4", "")[1] is actions[3]
    assert talk("2", "castle", "")[1] is actions[1]
    console, chosen = talk("2", "undo", "", "undo", "1", "")
    assert chosen is actions[0]
    assert f"Taken back: {actions[1]}." in console.said
    assert "nothing to take back" in console.said


def test_an_exclamation_mark_plays_at_once():
    actions = first_turn(game()).actions
    assert talk("2!")[1] is actions[1]
    assert talk("2 !")[1] is actions[1]
    assert talk(f"{actions[2]}!")[1] is actions[2]
    assert "Type a number from 1 to 6" in talk("!", "1!")[0].said


def test_commands_that_only_print_do_not_cancel_a_pending_choice():
    actions = first_turn(game()).actions
    console, chosen = talk("2", "?", "log", "log all", "table", "rule", "hint", "")
    assert chosen is actions[1]
    assert console.said.count("Choose (play)") == 2
    assert console.said.count("is dealt") == 3


def test_help_names_every_command():
    said = talk("help", "1!")[0].said
    for typed, what in COMMANDS:
        assert typed in said
        assert what in said


@pytest.mark.parametrize("lines", [(), ("2",), ("quit",), ("2", "QUIT"), ("99", "?")])
def test_quit_and_the_end_of_input_leave_the_table(lines):
    with pytest.raises(PlayerQuit):
        talk(*lines)


def test_a_hint_names_the_bot_and_the_choice():
    console, _ = talk("hint", "1!", get_hint=lambda _view, actions: ("sage", actions[3], ["It is wise."]))
    assert f"sage would choose 4: {first_turn(game()).actions[3]}" in console.said
    assert "It is wise." in console.said
    assert "No hint: nobody is asked in this test." in talk("hint", "1!")[0].said


def test_many_choices_are_listed_in_columns_within_80_characters():
    output = io.StringIO()
    Console(io.StringIO(), output).listed([f"{n:2}  place 3+3 on #{n}" for n in range(1, 31)])
    lines = output.getvalue().splitlines()
    assert len(lines) == 10
    assert max(map(len, lines)) <= 80
    assert lines[0].split()[:1] == ["1"]
    assert lines[1].split()[:1] == ["2"]
    assert sum(line.count("place") for line in lines) == 30


def test_printed_text_has_no_control_characters_and_fits_the_encoding():
    raw = io.BytesIO()
    poor = io.TextIOWrapper(raw, encoding="ascii")
    Console(io.StringIO(), poor).say("a bot called \x1b[2J\x07 \u2603")
    assert raw.getvalue() == b"a bot called ?[2J? ?\n"


def test_undecodable_input_does_not_raise():
    console = Console(io.TextIOWrapper(io.BytesIO(b"\xff\xfe\n"), encoding="utf-8"), io.StringIO())
    assert console.ask("> ") == "\ufffd"


def test_opponents_are_bots_of_the_game_and_reach_the_minimum_number_of_players():
    registry = load()
    el_paso, x_pasch = registry.game("el-paso"), registry.game("x-pasch")
    assert set(choose_opponents(registry, el_paso, ())) >= {"diehard", "skittish"}
    assert "random" not in choose_opponents(registry, el_paso, ())
    assert choose_opponents(registry, el_paso, ("random",)) == ["random"]
    filled = choose_opponents(registry, x_pasch, ("founder",))
    assert filled[0] == "founder"
    assert len(filled) == 2
    registry.bots = {"random": registry.bots["random"], "flat-mc": registry.bots["flat-mc"]}
    assert choose_opponents(registry, el_paso, ()) == ["random"]
    assert choose_opponents(registry, x_pasch, ()) == ["random", "flat-mc"]  # slow ones sooner than an empty chair
    assert choose_opponents(registry, x_pasch, ("flat-mc:iterations=9",)) == ["flat-mc:iterations=9", "random"]


def test_hints_come_from_a_bot_that_explains_itself_unless_one_is_named():
    registry = load()
    expert = hint_bot(registry, "el-paso", None)
    assert expert is not None
    assert (expert.name, expert.settings) == ("outlaw", {"explain": True})
    del registry.bots["outlaw"]
    searching = hint_bot(registry, "el-paso", None)
    assert searching is not None
    assert searching.name == "ismcts"
    assert hint_bot(registry, "el-paso", "skittish:stars=3").name == "skittish:stars=3"
    with pytest.raises(Exception, match="founder does not play el-paso"):
        hint_bot(registry, "el-paso", "founder")
    registry.bots = {"random": registry.bots["random"]}
    assert hint_bot(registry, "el-paso", None) is None
    Path("two.py").write_text(
        "from harness import Bot\n"
        "class One(Bot):\n    def choose(self, view, actions): return actions[0]\n"
        "class Two(One):\n    def choose(self, view, actions): return actions[1]\n"
    )
    with pytest.raises(Exception, match="name one for hints"):
        hint_bot(registry, "el-paso", "two.py")


class Gambler(Bot):
    """Uses up the luck of everybody else."""

    heard = 0

    def observe(self, events):
        type(self).heard = len(events)

    def choose(self, view, actions):
        random.seed(1)
        self.note("a hunch")
        return random.choice(actions)


class Fails(Bot):
    """Ends the program."""

    def choose(self, view, actions):
        raise SystemExit(3)


class Nonsense(Bot):
    """Answers with something that is not a choice."""

    def choose(self, view, actions):
        return "the queen of hearts"


def hint_from(bot):
    turn = first_turn(game())
    adviser = enter(bot, {}, "", "here", "")
    return ask_for_hint(adviser, game(), turn.view, 2, turn.actions, turn.past, 1)


def test_a_hint_bot_observes_events_and_does_not_change_the_random_state():
    before = random.getstate()
    chosen, reasons = hint_from(Gambler)
    assert chosen in first_turn(game()).actions
    assert reasons == ["a hunch"]
    assert random.getstate() == before
    assert Gambler.heard == len(first_turn(game()).past) > 0


@pytest.mark.parametrize("bot", [Fails, Nonsense])
def test_a_hint_bot_that_fails_gives_no_hint(bot):
    with pytest.raises(NoHintError, match="failed"):
        hint_from(bot)
