"""What a session says on its channel, field by field, and how it takes what comes back."""

from __future__ import annotations

import json

import pytest
from msgspec import Raw

from harness.core.records import Event, GameRecord
from harness.isolation.protocol import (
    Choice,
    FaultReport,
    Introduction,
    InvalidMessage,
    Ready,
    Session,
    decode_descriptions,
    encode,
)
from harness.match.faults import BotFault, Limits
from tests.isolation.support import GAMES

GAME = GAMES["el-paso"]
LIMITS = Limits(move_time=7.0, game_time=70.0, margin=0.25)


class Script:
    """A channel whose answers are known beforehand."""

    def __init__(self, *answers):
        self.answers, self.sent, self.alive, self.grace = list(answers), [], True, None

    def exchange(self, line, deadline, awaited="answered"):
        self.sent.append(json.loads(line))
        return encode(self.answers.pop(0))

    def dismiss(self, line, grace):
        if self.alive:
            self.sent.append(json.loads(line))
            self.alive, self.grace = False, grace

    def kill(self):
        self.alive = False


def session(*answers, wants=("actions", "components", "engine", "events", "result", "texts")):
    return Session(Script(Introduction(1, "n", "v", wants=wants), *answers), LIMITS, 5.0)


def test_every_field_of_a_question_is_what_its_name_says():
    """Questions are built by position, for speed: two fields that change places are found here."""
    first, second = GAME.actions[3], GAME.actions[5]
    asked = session(Choice(1, second.code))
    event = Event("seen", {"what": 11}, (2,))
    assert asked.choose(Raw(b'{"turn":13}'), (first, second), 6.5, [event]) is second
    assert asked.channel.sent[-1] == {
        "type": "choose",
        "id": 1,
        "legal": [first.code, second.code],
        "time": 6.5,
        "view": {"turn": 13},
        "texts": [first.text, second.text],
        "actions": [{"code": 3, "kind": "draw", "site": 1}, {"code": 5, "kind": "draw", "site": 3}],
        "events": [{"kind": "seen", "data": {"what": 11}, "to": [2]}],
    }


def test_every_field_of_a_new_game_is_what_its_name_says():
    asked = session(Ready(0))
    asked.new_game(GAME, seat=2, players=4, seed=99, options={"level": "3"})
    sent = asked.channel.sent[-1]
    assert sent.pop("components")
    assert sent == {
        "type": "new-game",
        "id": 0,
        "game": GAME.name,
        "rules": GAME.version,
        "settings": dict(GAME.settings),
        "seat": 2,
        "players": 4,
        "seed": 99,
        "options": {"level": "3"},
        "move_time": 7.0,
        "game_time": 70.0,
        "engine": {"cls": f"{type(GAME).__module__}:{type(GAME).__qualname__}", "files": {}},
    }


def test_every_field_of_a_result_is_what_its_name_says():
    asked = session(Ready(1))
    asked.game_over(
        GameRecord(
            id="m", index=1, set="s", game="g", rules="r", options={}, seed=2, seats=("a", "b"), scores=(10, 20),
            ranks=(2, 1), ending="why", actions=(4,), decisions=(6, 7),
        )
    )  # fmt: skip
    assert asked.channel.sent[-1] == {
        "type": "game-over", "id": 1, "ending": "why", "scores": [10, 20], "ranks": [2, 1], "decisions": [6, 7],
    }  # fmt: skip


def test_a_program_that_wants_nothing_receives_only_the_required_fields():
    asked = session(Ready(0), Choice(1, GAME.actions[3].code), wants=())
    asked.new_game(GAME, 0, 2, 1, {})
    asked.choose(Raw(b"{}"), (GAME.actions[3], GAME.actions[5]), float("inf"), None)
    assert not {"components", "engine"} & set(asked.channel.sent[1])
    assert list(asked.channel.sent[2]) == ["type", "id", "legal", "time", "view"]
    assert asked.channel.sent[2]["time"] is None


@pytest.mark.parametrize(
    ("answer", "lives"),
    [(FaultReport(1, "exception", "why"), True), (FaultReport(1, "memory", "why"), False), (Ready(1), False),
     (Choice(2, 3), False), (Choice(1, 10**6), False), (["?"], False)],
)  # fmt: skip
def test_a_program_is_kept_only_after_an_exception_that_it_reports_itself(answer, lives):
    asked = session(answer)
    with pytest.raises(BotFault):
        asked.choose(Raw(b"{}"), (GAME.actions[3], GAME.actions[5]), 1.0, None)
    assert asked.alive is lives


def test_closing_sends_bye_once_with_a_grace_period():
    asked = session()
    asked.close()
    asked.close()
    assert asked.channel.sent[1:] == [{"type": "bye"}]
    assert asked.channel.grace > 0


@pytest.mark.parametrize("line", [b"", b"{}", b'[{"name":1}]', b'[{"x":' + b"[" * 50_000, b"\xff"])
def test_invalid_descriptions_raise_invalid_message(line):
    with pytest.raises(InvalidMessage):
        decode_descriptions(line)


def test_no_result_is_sent_to_a_python_bot_that_does_not_use_it():
    asked = session(wants=("engine",))
    asked.game_over(
        GameRecord(
            id="m", index=1, set="s", game="g", rules="r", options={}, seed=2, seats=("a",), scores=(1,), ranks=(1,),
            ending="", actions=(), decisions=(0,),
        )
    )  # fmt: skip
    assert [sent["type"] for sent in asked.channel.sent] == ["hello"]
