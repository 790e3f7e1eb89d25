"""Actions as data: what a program is sent of each, and that it can play by it."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from msgspec import Raw

from harness.core.bot import function_bot
from harness.executors.serial import SerialExecutor
from harness.isolation.entrants import enter_command
from harness.isolation.protocol import Choice, Introduction, Session
from harness.plugins.entrants import BotRef
from tests.isolation.support import PATIENT, REGISTRY, job, seated
from tests.isolation.test_session import LIMITS, Script
from tests.support.games import label, variants

PAGES = Path(__file__).parents[2] / "docs" / "games"


def sent_of(game):
    """What the wire says of every action of a game."""
    channel = Script(Introduction(1, "n", "v", wants=("actions",)), Choice(1, 0))
    Session(channel, LIMITS, 5.0).choose(Raw(b"{}"), game.actions, 1.0, None)
    assert channel.sent[-1]["legal"] == [action.code for action in game.actions]
    return channel.sent[-1]["actions"]


def documented_fields(game):
    """Kind of action -> its fields, by the tables of the game's page."""
    page = (PAGES / f"{game.name}.md").read_text(encoding="utf-8")
    documented = {}
    [table] = re.findall(r"^\| `kind` \| class \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", page, re.MULTILINE)
    for row in table.splitlines():
        [kind] = re.findall(r"^\| `([\w ]+)` \|", row)
        documented[kind] = re.findall(r"`(\w+)` \(`", row.split("|")[-2])
    return documented


@pytest.mark.parametrize("game", variants(), ids=label)
def test_every_action_of_every_game_is_sent_with_its_documented_fields(game):
    documented = documented_fields(game)
    sent = sent_of(game)
    assert [action["code"] for action in sent] == list(range(len(game.actions)))
    for action, fields in zip(game.actions, sent, strict=True):
        assert list(fields) == ["code", "kind", *documented[action.kind]]
        own = {name: getattr(action, name) for name in documented[action.kind]}
        assert fields == {"code": action.code, "kind": action.kind, **json.loads(json.dumps(own))}
    played = {action["kind"] for action in sent}
    assert played == set(documented) - ({"take pair"} if label(game) == "gnadenlos-basic" else set())


def test_no_two_actions_of_a_game_have_the_same_fields():
    for game in variants():
        without_codes = [json.dumps({**fields, "code": 0}) for fields in sent_of(game)]
        assert len(set(without_codes)) == len(without_codes)


NODE = """
const rate = (a) => a.kind === "play" ? a.value * 10 + a.site : a.kind === "leave" ? 5 : 0;
const say = (message) => process.stdout.write(JSON.stringify(message) + "\\n");
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const m = JSON.parse(line);
  if (m.type === "hello") say({ type: "hello", protocol: 1, games: ["el-paso"], wants: ["actions"] });
  else if (m.type === "choose")
    say({ type: "choice", id: m.id, code: m.actions.reduce((a, b) => (rate(b) > rate(a) ? b : a)).code });
  else if (m.type === "bye") process.exit(0);
  else say({ type: "ready", id: m.id });
});
"""
PYTHON = """
import json, sys
def rate(a):
    return a["value"] * 10 + a["site"] if a["kind"] == "play" else 5 if a["kind"] == "leave" else 0
for line in sys.stdin:
    m = json.loads(line)
    if m["type"] == "hello":
        said = {"type": "hello", "protocol": 1, "games": ["el-paso"], "wants": ["actions"]}
    elif m["type"] == "choose":
        assert "texts" not in m
        said = {"type": "choice", "id": m["id"], "code": max(m["actions"], key=rate)["code"]}
    elif m["type"] == "bye":
        break
    else:
        said = {"type": "ready", "id": m["id"]}
    print(json.dumps(said), flush=True)
"""


def rating(action):
    return action.value * 10 + action.site if action.kind == "play" else 5 if action.kind == "leave" else 0


@pytest.mark.parametrize(("language", "source"), [("python", PYTHON), ("node", NODE)])
def test_a_program_that_reads_action_fields_plays_like_the_same_python_bot(tmp_path, language, source):
    if language == "node" and shutil.which("node") is None:
        pytest.skip("node is not installed")
    (tmp_path / "program").write_text(source)
    command = f"{sys.executable if language == 'python' else 'node'} {tmp_path / 'program'}"

    def player(view, actions):
        return max(actions, key=rating)

    [twin] = REGISTRY.entrants([function_bot(player)])
    records = []
    for entrant in (twin, enter_command(BotRef("player", command=command), "off")):
        table = seated([*REGISTRY.entrants(["skittish"]), entrant], "off", PATIENT, memory=2000)
        with SerialExecutor(table, PATIENT) as executor:
            [(record, *_)] = executor.run([job(1, "el-paso", "skittish", "player")])
        assert record.faults == ()
        records.append((record.actions, record.scores))
    assert records[0] == records[1]
    assert len(records[0][0]) > 20
