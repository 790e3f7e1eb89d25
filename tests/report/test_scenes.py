"""The viewer's data is the match: what each seat saw, what it could choose, what it chose, how it ended."""

from __future__ import annotations

import base64
import gzip
import json

import msgspec
import pytest

from harness.core.records import MatchSpec
from harness.core.rng import Chance
from harness.match.referee import play
from harness.match.replay import Replay
from harness.report.scenes import ASKED, scene_data, scenes
from tests.bots.nim import Nim
from tests.support.games import REGISTRY, label, variants


def played(game, seed=3):
    """A match of bots that choose at random."""
    players = game.min_players + (game.max_players > game.min_players)
    entrant = REGISTRY.entrants(["random"])[0]
    spec = MatchSpec("m", 0, "s", game.name, dict(game.settings), seed, ("random",) * players)
    return play(spec, game, [entrant] * players)


def patched(old, difference):
    """A value after a difference, as the viewer puts them together."""
    if isinstance(difference, list):
        return difference[0]
    new = dict(enumerate(old)) if isinstance(old, list) else dict(old)
    keys = {int(key) if isinstance(old, list) else key: found for key, found in difference.items()}
    new |= {key: patched(new.get(key, {}), found) for key, found in keys.items()}
    return list(new.values()) if isinstance(old, list) else new


def grown(data):
    """The views of all seats at each step."""
    known = {"all": {}, "own": {}}
    for frame in data["frames"]:
        known = patched(known, frame)
        yield [{**known["all"], **known["own"].get(str(seat), {})} for seat in range(len(data["seats"]))]


@pytest.mark.parametrize("game", variants(), ids=label)
def test_every_frame_of_a_scene_equals_the_views_of_the_seats(game):
    record = played(game)
    data = json.loads(json.dumps(scene_data(game, record)))
    replay = Replay(game, record)
    frames = list(grown(data))
    assert len(frames) == len(data["steps"])
    for views, step in zip(frames, data["steps"], strict=True):
        for seat, view in enumerate(views):
            assert game.view_from_json(json.dumps(view)) == replay.state.view(seat)
        if replay.over:
            assert step.keys() == {"events"}
            break
        assert step["seat"] == replay.state.seat
        assert [data["texts"][str(code)] for code in step["legal"]] == [str(action) for action in replay.state.legal]
        assert step["taken"] == replay.next_action().code
        replay.step()
    assert replay.over
    assert tuple(data["end"]["scores"]) == record.scores == replay.state.scores()


def test_private_events_are_marked_with_the_seats_that_may_see_them():
    game = REGISTRY.game("x-pasch").configure()
    first = scene_data(game, played(game))["steps"][0]["events"]
    told = {json.dumps(to) for to, _ in first}
    assert told == {'"all"', "[]", "[0]", "[1]", "[2]", "[3]"}


def test_a_game_without_a_drawing_is_shown_as_text():
    game = Nim.configure()
    entrant = REGISTRY.entrants(["random"])[0]
    spec = MatchSpec("m", 0, "s", game.name, {}, 3, ("random",) * 2)
    record = play(spec, game, [entrant] * 2)
    data = scene_data(game, record)
    assert not data["drawn"]
    state = game.new(2, Chance(3))
    first = next(grown(json.loads(json.dumps(data))))
    assert first[0] == {"turn": 0, "phase": state.phase, "text": game.render(state.view(0), data["names"])}


def test_a_packed_scene_unpacks_to_its_data():
    game = REGISTRY.game("el-paso").configure()
    record = played(game)
    (scene,) = scenes({"el-paso": game}, [(record, "close")])
    unpacked = json.loads(gzip.decompress(base64.b64decode(scene.packed)))
    assert unpacked == json.loads(json.dumps(scene_data(game, record)))
    assert scene.trouble == ""


def test_the_scene_of_a_match_that_cannot_be_replayed_contains_the_reason():
    game = REGISTRY.game("el-paso").configure()
    record = played(game)
    old = msgspec.structs.replace(record, rules="0")
    (unknown,) = scenes({}, [(record, "close")])
    (aged,) = scenes({"el-paso": game}, [(old, "close")])
    assert unknown.trouble == "The game el-paso is not installed here."
    assert "version 0 of the rules" in aged.trouble
    assert unknown.packed == aged.packed == ""


def test_requested_matches_are_included_even_when_the_size_limit_is_reached(monkeypatch):
    game = REGISTRY.game("el-paso").configure()
    record = played(game)
    size = len(scenes({"el-paso": game}, [(record, "close")])[0].packed)
    monkeypatch.setattr("harness.report.scenes.MAX_SCENE_CHARS", size * 3 // 2)
    chosen = scenes({"el-paso": game}, [(record, ASKED), (record, "close"), (record, "upset"), (record, ASKED)])
    assert [scene.reason for scene in chosen] == [ASKED, "close", ASKED]
