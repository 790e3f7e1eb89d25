"""Networks and policies of other libraries as entrants, in this process and sandboxed."""

from __future__ import annotations

import numpy as np
import pytest

from harness import encoding_of, play_match, tournament
from harness.adapters import policy_bot
from harness.plugins.registry import load

EL_PASO = load().game("el-paso").configure()
SIZE, ACTIONS = encoding_of(EL_PASO, 2).size, len(EL_PASO.actions)
FILE = '''
from functools import cache
from pathlib import Path

import numpy as np

from harness.adapters import PolicyBot


@cache
def weights():
    return np.load(Path(__file__).with_name("weights.npy"))


class Net(PolicyBot):
    """A network with one layer."""

    games = ("el-paso",)
    files = ("weights.npy",)

    def make_policy(self):
        return lambda numbers, mask: weights() @ numbers
'''


@pytest.fixture
def net(tmp_path):
    np.save(tmp_path / "weights.npy", np.random.default_rng(0).normal(size=(ACTIONS, SIZE)).astype("float32"))
    (tmp_path / "net.py").write_text(FILE, encoding="utf-8")
    return str(tmp_path / "net.py")


def test_a_network_in_a_file_plays_the_same_sandboxed_or_not(net, tmp_path):
    plays = [play_match("el-paso", [net, "outlaw"], seed=5, isolate=isolate) for isolate in ("off", "on")]
    assert plays[0].faults == plays[1].faults == ()
    assert plays[0].record.actions == plays[1].record.actions
    run = tournament(games=["el-paso"], bots=[net, "random"], deals=1, workers=1, results=str(tmp_path / "results"))
    assert not list(run.faults())


def test_the_bot_plays_the_legal_action_with_the_highest_value():
    values = np.arange(ACTIONS, dtype=np.float32)

    def highest():
        return lambda _numbers, _mask: values[None, :]

    match = play_match("el-paso", [policy_bot(highest), "random"], seed=5)
    assert match.bots[0] == "highest"
    assert all(one.chosen is max(one.legal, key=lambda action: action.code) for one in match.positions(0))


def test_a_policy_may_return_the_code_of_an_action():
    def first():
        return lambda _numbers, mask: np.flatnonzero(mask)[0]

    match = play_match("el-paso", [policy_bot(first), "random"], seed=5)
    assert not match.faults
    assert all(one.chosen is min(one.legal, key=lambda action: action.code) for one in match.positions(0))


def test_the_policy_gets_the_encoding_that_was_asked_for():
    shapes = set()

    def recording():
        def ask(numbers, mask):
            shapes.add((len(numbers), float(np.abs(numbers).max()) <= 1))
            return int(mask.argmax())

        return ask

    generic = encoding_of(EL_PASO, 2, "generic").size
    play_match("el-paso", [policy_bot(recording, encoding="generic", scaled=False), "random"], seed=5)
    assert {size for size, _ in shapes} == {generic}
    assert not all(scaled for _, scaled in shapes)


@pytest.mark.parametrize(
    ("answer", "message"),
    [(lambda _numbers, mask: int(mask.argmin()), "not legal"), (lambda numbers, _mask: numbers[:3], "3 values")],
)
def test_a_wrong_answer_is_a_fault_that_says_what_was_wrong(answer, message):
    def wrong():
        return answer

    match = play_match("el-paso", [policy_bot(wrong), "random"], seed=5)
    assert match.faults[0].seat == 0
    assert message in match.faults[0].detail
