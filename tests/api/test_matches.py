"""A match from Python: who plays, what comes back, what is refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import msgspec
import pytest

import harness
from tests.api.bots import Crashing, First, Needy, take_last


def test_names_classes_objects_and_functions_are_seated_in_the_given_order():
    match = harness.play_match("el-paso", ["outlaw", First, take_last, Crashing()], seed=7)
    assert match.bots == ("outlaw", "first", "take-last", "crashing")
    assert [fault.seat for fault in match.faults] == [3]
    assert "out of ideas" in match.faults[0].detail
    assert match.ranks[3] == 4
    assert len(match.scores) == 4


def test_the_same_seed_gives_the_same_match_and_without_one_it_is_drawn(monkeypatch):
    one, again = (harness.play_match("x-pasch", ["random"] * 3, seed=5).record for _ in range(2))
    assert one.without_timing() == again.without_timing()
    drawn = iter((11, 12))
    monkeypatch.setattr("harness.api.matches.draw_seed", lambda _bits: next(drawn))
    assert [harness.play_match("el-paso", ["random", First]).record.seed for _ in range(2)] == [11, 12]


def test_game_options_are_applied():
    match = harness.play_match("el-paso", ["random", "skittish"], seed=1, options={"edition": "nl"})
    assert match.record.options["edition"] == "nl"


def test_a_match_can_be_read_as_text_as_data_and_by_decision():
    match = harness.play_match("gnadenlos", ["miser", "debtor", "random"], seed=3)
    story = match.story()
    assert story.startswith("gnadenlos-1.1.1: Gnadenlos!")
    assert "Ended: " in story
    assert len(match.story(seat=0)) > len(story)
    data = list(match.replay())
    assert (data[0]["type"], data[-1]["type"]) == ("match", "end")
    decisions = match.positions()
    assert [one.decision for one in decisions] == list(range(len(match.record.actions)))
    assert tuple(one.chosen.code for one in decisions) == match.record.actions
    assert all(one.view.seat == one.seat == one.view.turn and len(one.legal) > 1 for one in decisions)
    mine = match.positions(seat=1)
    assert len(mine) == match.record.decisions[1]
    assert match.view(mine[0].decision) == mine[0].view
    with pytest.raises(harness.UsageError, match="has decisions 0 to"):
        match.view(10**6)


def test_the_html_of_a_match_is_a_table_with_escaped_names():
    match = harness.play_match("el-paso", [First, Crashing], seed=1)
    assert "first" in repr(match)
    assert "exception" in repr(match)
    strange = harness.Match(match.game, msgspec.structs.replace(match.record, id="<b>", seats=("<i>", "b")))
    assert "<b>" not in strange._repr_html_()
    assert "<i>" not in strange._repr_html_()
    assert "<table>" in strange._repr_html_()


@pytest.mark.parametrize(
    ("bots", "said"),
    [
        (["random"], "2 to 5 players, not 1"),
        (["outlaw", "outlow"], "Did you mean 'outlaw'"),
        (["outlaw", "founder"], "founder does not play El Paso"),
        (["outlaw", lambda _view, actions: actions[0]], "function without a name"),
        (["outlaw", int], "not a subclass of harness.Bot"),
        (["outlaw", None], "None is not a bot"),
        ("outlaw", "are a list"),
        ([First, type("First", (First,), {})], "Two different bots are called first"),
        (["random", Needy], "needs arguments"),
    ],
)
def test_invalid_bots_are_refused_with_one_sentence(bots, said):
    with pytest.raises(harness.ArenaError, match=said):
        harness.play_match("el-paso", bots)


@pytest.mark.parametrize(
    "asked", [{"seed": -1}, {"seed": 2**200}, {"seed": 1.5}, {"move_time": -1}, {"move_time": "x"}, {"isolate": True}]
)
def test_invalid_arguments_are_refused(asked):
    with pytest.raises(harness.UsageError):
        harness.play_match("el-paso", ["random", First], **asked)


def test_a_bot_object_with_attributes_is_refused_because_only_its_class_is_used():
    bot = First()
    bot.strength = 3
    with pytest.raises(harness.UsageError, match="has set strength"):
        harness.play_match("el-paso", [bot, "random"])


def test_the_same_bot_may_take_two_seats():
    assert harness.play_match("el-paso", [First, First, take_last, take_last], seed=1).bots[:2] == ("first", "first")


def test_a_nonexistent_seat_is_refused():
    match = harness.play_match("el-paso", [First, "random"], seed=1)
    for look in (match.story, match.positions):
        with pytest.raises(harness.UsageError, match="has seats 0 to 1, not 9"):
            look(seat=9)


def test_output_of_bots_goes_to_stderr(capsys):
    def noisy(_view, actions):
        print("here I am")  # noqa: T201 - that is what it is for
        return actions[0]

    harness.play_match("el-paso", [noisy, First], seed=1)
    out, err = capsys.readouterr()
    assert out == ""
    assert "here I am" in err


def test_a_bot_may_be_isolated(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "import harness\nclass Mine(harness.Bot):\n    def choose(self, view, actions):\n        return actions[0]\n"
    )
    apart = harness.play_match("el-paso", [str(file), "random"], seed=1, isolate="on")
    here = harness.play_match("el-paso", [str(file), "random"], seed=1)
    assert apart.record.without_timing() == here.record.without_timing()


def test_a_class_of_the_main_program_cannot_be_isolated(monkeypatch):
    monkeypatch.setattr(First, "__module__", "__main__")
    with pytest.raises(harness.UsageError, match="put it into a file"):
        harness.play_match("el-paso", [First, "random"], seed=1, isolate="on")


def test_ctrl_c_ends_a_match_without_a_fault(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import harness\n"
        "def stuck(view, actions):\n"
        "    print('thinking', flush=True)\n"
        "    while True: pass\n"
        "try:\n"
        "    harness.play_match('el-paso', [stuck, 'random'], seed=1)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr.readline() == "[stuck el-paso-1.1.1] thinking\n"
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out == "interrupted\n", err


def test_a_match_can_be_played_in_another_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(harness.play_match("el-paso", [First, "random"], seed=1)))
    thread.start()
    thread.join()
    assert (
        found[0].record.without_timing()
        == harness.play_match("el-paso", [First, "random"], seed=1).record.without_timing()
    )
