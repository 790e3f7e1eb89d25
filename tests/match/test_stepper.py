"""A match that is stepped from outside is the match that the referee plays."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from itertools import cycle, islice

import pytest

import harness
from harness import NOBODY, Bot, Chance, IllegalAction, MatchSpec, UsageError
from harness.match.referee import play
from harness.match.replay import verify
from harness.match.stepper import MatchStepper
from harness.plugins.entrants import enter
from harness.plugins.registry import load
from tests.support import zoo

VARIANTS = [
    ("el-paso", {"edition": "de"}),
    ("el-paso", {"edition": "nl"}),
    ("el-paso", {"edition": "bg"}),
    ("gnadenlos", {"variant": "basic"}),
    ("gnadenlos", {"variant": "experienced"}),
    ("x-pasch", {}),
]
TABLES = [
    (name, options, players)
    for name, options in VARIANTS
    for players in range(load().game(name).min_players, load().game(name).max_players + 1)
]


class Dice(Bot):
    """Draws from its own generator."""

    def choose(self, view, actions):
        return self.rng.choice(actions)


class Listener(Bot):
    """Decides by what it has seen."""

    seen = 0

    def observe(self, events):
        self.seen += sum(len(event.kind) + len(event.data) for event in events)

    def choose(self, view, actions):
        return actions[self.seen % len(actions)]


class GlobalDice(Bot):
    """Draws from the generator of the whole process."""

    def choose(self, view, actions):
        return random.choice(actions)


def entered(*bots):
    return [enter(bot, {}, "", "test", "1") for bot in bots]


def match_spec(game, entrants, seed=5):
    return MatchSpec.single("m", game.name, game.settings, seed, [entrant.name for entrant in entrants])


def stepped(spec, game, entrants, outside):
    """Return the record of a match in which the bots of some seats are asked by this function."""
    match = MatchStepper(spec, game, [None if seat in outside else entrants[seat] for seat in range(len(entrants))])
    bots = {}
    for seat in outside:
        seed = Chance(spec.seed).derive("bot", spec.id, seat, entrants[seat].name)
        bots[seat] = entrants[seat].seat(game, seat, len(entrants), seed)
        bots[seat].start()
    while match.advance():
        bot = bots[match.seat]
        bot.observe(match.news())
        match.answer(bot.choose(match.view(), match.legal))
        random.random()  # the caller may use it: bots that do have their own
    return match.record()


@pytest.mark.parametrize(("name", "options", "players"), TABLES)
def test_the_record_is_that_of_the_referee_whichever_seats_are_answered_from_outside(name, options, players):
    game = load().game(name).configure(options)
    experts = [
        entrant for entrant in load().entrants(["random", "skittish", "miser", "founder"]) if entrant.plays(name)
    ]
    table = list(islice(cycle([*entered(Listener, GlobalDice, Dice), *experts]), players))
    spec = match_spec(game, table)
    expected = play(spec, game, table).without_timing()
    assert not expected.faults
    inside = {seat for seat, entrant in enumerate(table) if entrant.bot is GlobalDice}
    outside = [seat for seat in range(players) if seat not in inside]
    for seats in ([], *([seat] for seat in outside), outside):
        assert stepped(spec, game, table, seats).without_timing() == expected
    verify(game, expected)


@pytest.mark.parametrize("bad", zoo.FAULTS, ids=lambda bot: bot.__name__)
@pytest.mark.parametrize("name", ["el-paso", "gnadenlos", "x-pasch"])
def test_bots_that_fail_are_blamed_as_by_the_referee(name, bad):
    game = load().game(name).configure()
    table = entered(Dice, bad, Listener)
    spec = match_spec(game, table)
    expected = play(spec, game, table).without_timing()
    assert [fault.kind for fault in expected.faults] == [zoo.FAULTS[bad]]
    assert stepped(spec, game, table, [0]).without_timing() == expected
    assert stepped(spec, game, table, [0, 2]).without_timing() == expected


def finish(match):
    """Play on: the seats without a bot take the last action."""
    while match.advance():
        match.answer(match.legal[-1])
    return match.record().without_timing()


@pytest.mark.parametrize("name", ["el-paso", "gnadenlos", "x-pasch"])
def test_a_clone_continues_as_the_original_would_and_changes_nothing_in_it(name):
    game = load().game(name).configure()
    table = entered(Listener, GlobalDice, zoo.Raises, Dice)
    spec = match_spec(game, table)
    match = MatchStepper(spec, game, [*table[:3], None])
    clones, others = [], []
    while match.advance():
        if match.decision % 5 == 0:
            clones.append(match.clone())
            other = match.clone()
            other.answer(other.legal[0])
            others.append(finish(other))
        match.answer(match.legal[-1])
    expected = match.record().without_timing()
    assert len(clones) > 2
    assert [finish(clone) for clone in clones] == [expected] * len(clones)
    assert any(other != expected for other in others)


def test_a_bot_that_cannot_be_copied_is_refused_and_the_match_continues():
    class Streaming(Dice):
        def start(self):
            self.lines = (line for line in "abc")

    game = load().game("el-paso").configure()
    table = entered(Streaming, Dice)
    match = MatchStepper(match_spec(game, table), game, [table[0], None])
    match.advance()
    with pytest.raises(UsageError, match="cannot be copied: TypeError: cannot pickle 'generator' object"):
        match.clone()
    finish(match)


def step(**more):
    return harness.step_match("el-paso", ["skittish", None], seed=7, **more)


def position(match):
    return match.seat, match.legal, match.scores, match.events(0), match.events(1), match.view(0), match.view(1)


def test_wrong_use_is_refused_and_changes_nothing():
    match = step()
    before = position(match)
    with pytest.raises(UsageError, match=r"No seat waits for an answer: call advance\(\) first"):
        match.answer(match.legal[0])
    with pytest.raises(UsageError, match="not over"):
        match.record()
    assert position(match) == before
    assert match.advance()
    assert match.advance()  # once more is the same
    asked = position(match)
    for wrong in (next(action for action in match.game.actions if action not in match.legal), "stay", None):
        with pytest.raises(IllegalAction, match="is not legal now; legal: play"):
            match.answer(wrong)
    with pytest.raises(UsageError, match="seats 0 to 1, not 2"):
        match.view(2)
    assert position(match) == asked
    match.answer(match.legal[-1])
    with pytest.raises(UsageError, match="No seat waits"):  # answered twice
        match.answer(asked[1][0])
    record = finish(match)
    assert (match.seat, match.legal, match.over, match.advance()) == (NOBODY, (), True, False)
    with pytest.raises(UsageError, match="The match is over"):
        match.answer(asked[1][0])
    with pytest.raises(UsageError, match="The match is over"):
        match.view()
    assert match.record().without_timing() == record == finish(step())


def test_views_events_and_scores_are_those_of_the_match():
    match = step()
    seen = []
    while match.advance():
        assert match.view().seat == match.seat == 1
        seen += match.news()
        assert match.events() == seen
        match.answer(match.legal[-1])
    assert match.record().scores == match.scores
    assert match.record().seats == ("skittish", "external")
    assert all(event.to is None or 1 in event.to for event in match.events(1))
    assert {event.kind for event in match.events(0)} & {event.kind for event in seen}


def test_the_caller_and_the_bots_do_not_share_random_numbers():
    random.seed(3)
    expected = [random.random() for _ in range(3)]
    random.seed(3)
    game = load().game("el-paso").configure()
    match = MatchStepper(match_spec(game, entered(GlobalDice, Dice)), game, [*entered(GlobalDice), None])
    drawn = []
    while match.advance():
        drawn.append(random.random())
        match.answer(match.legal[-1])
    assert drawn[:3] == expected


def test_what_bots_print_goes_to_stderr_with_their_name(capsys):
    match = harness.step_match("el-paso", [zoo.Chatty, None], seed=7)
    finish(match)
    out, err = capsys.readouterr()
    assert out == ""
    assert "[chatty el-paso-1.1.1]" in err


def test_a_bot_in_a_separate_process_plays_the_same_and_cannot_be_copied(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "from harness import Bot\nclass Mine(Bot):\n    def choose(self, view, actions):\n        return actions[-1]\n"
    )
    with harness.step_match("el-paso", [str(file), None], seed=1, isolate="on") as match:
        with pytest.raises(UsageError, match="mine plays in a separate process, which cannot be copied"):
            match.clone()
        apart = finish(match)
    assert apart == finish(harness.step_match("el-paso", [str(file), None], seed=1))
    with pytest.raises(UsageError, match="was closed"):
        match.advance()
    assert match.record().without_timing() == apart


def test_ctrl_c_ends_a_match_without_a_fault(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import harness\n"
        "def stuck(view, actions):\n"
        "    print('thinking', flush=True)\n"
        "    while True: pass\n"
        "match = harness.step_match('el-paso', [stuck, None], seed=1)\n"
        "try:\n"
        "    match.advance()\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
        "match.advance()\n"
    )
    process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr.readline() == "[stuck el-paso-1.1.1] thinking\n"
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out == "interrupted\n"
    assert err.endswith("UsageError: The match was interrupted and cannot continue.\n")


@pytest.mark.parametrize("name", ["el-paso", "gnadenlos", "x-pasch"])
def test_new_says_what_it_takes(name):
    game = load().game(name).configure()
    with pytest.raises(TypeError, match="Chance"):
        game.new(3, 5)
