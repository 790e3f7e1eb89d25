"""Recorded matches as the replay viewer wants them: what every seat saw at each choice, packed tight."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.core.errors import ArenaError
from harness.core.game import Game
from harness.core.types import Event, GameRecord
from harness.match.replay import Replay, stream
from harness.output.pages.withheld import STILL_OPEN

ROOM = 1_500_000
"""Characters of a page that chosen matches may take up; those that were asked for by name come on top."""

Frame = list[dict[str, object]]
"""For each seat the fields of its view that have changed since the frame before."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One match in the viewer."""

    record: GameRecord
    reason: str
    packed: str
    """Its data: JSON, compressed, as base64. "" if the match cannot be shown."""
    trouble: str = ""
    """Why it cannot be shown."""


def scenes(
    games: Mapping[str, Game[Any]], chosen: Iterable[tuple[GameRecord, str]], withheld: Collection[str] = ()
) -> list[Scene]:
    """The matches, packed; the last ones are left out when they would make the page too large, and those that are
    `withheld` if nobody asked for them by name."""
    packed: list[Scene] = []
    room = ROOM
    for record, reason in chosen:
        if record.id in withheld:
            packed += [Scene(record, reason, "", STILL_OPEN)] if reason == ASKED else []
            continue
        scene = _scene(games, record, reason)
        if reason != ASKED:
            room -= len(scene.packed)
            if room < 0:
                continue
        packed.append(scene)
    return packed


ASKED = "asked for"
"""Why a match is shown that was named on the command line."""


def _scene(games: Mapping[str, Game[Any]], record: GameRecord, reason: str) -> Scene:
    game = games.get(record.game)
    if game is None:
        return Scene(record, reason, "", f"The game {record.game} is not installed here.")
    try:
        data = scene_data(game, record)
    except ArenaError as error:
        return Scene(record, reason, "", str(error))
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return Scene(record, reason, base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode())


def scene_data(game: Game[Any], record: GameRecord) -> dict[str, object]:
    """What the viewer needs of a match: docs/report.md has the schema."""
    replay = Replay(game, record)  # walks beside the stream: that one tells what happened, this one what was seen
    head: dict[str, Any] = {}
    texts: dict[int, str] = {}
    steps: list[dict[str, object]] = []
    frames: list[Frame] = []
    before: Frame = [{} for _ in record.seats]
    events: list[object] = []
    for line in stream(game, record):
        if line["type"] == "event":
            events.append([line["to"], _sentence(game, line)])
            continue
        if line["type"] == "match":
            head = line
            continue
        now = _views(replay)
        frames.append([_changes(old, new) for old, new in zip(before, now, strict=True)])
        before = now
        steps.append({**_step(line, texts), "events": events})
        events = []
        if line["type"] == "choice":
            replay.step()
    return {
        "id": record.id,
        "game": record.game,
        "title": game.title,
        "seats": record.seats,
        "figures": head["components"],
        "drawn": bool(game.viewer_script()),
        "texts": texts,
        "steps": steps,
        "frames": frames,
        "end": {
            "scores": record.scores,
            "ranks": record.ranks,
            "ending": record.ending,
            "faults": [[fault.seat, fault.kind, fault.decision] for fault in record.faults],
        },
    }


def _sentence(game: Game[Any], line: dict[str, Any]) -> str:
    to = None if line["to"] == "all" else tuple(line["to"])
    return game.event_text(Event(line["event"], line["data"], to))


def _views(replay: Replay) -> Frame:
    game, state = replay.game, replay.state
    views = [state.view(seat) for seat in range(state.players)]
    if game.viewer_script():
        return [json.loads(game.view_to_json(view)) for view in views]
    return [{"turn": state.seat, "phase": state.phase, "text": game.render(view)} for view in views]


def _changes(old: dict[str, object], new: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in new.items() if key not in old or old[key] != value}


def _step(line: dict[str, Any], texts: dict[int, str]) -> dict[str, object]:
    if line["type"] == "end":
        return {}
    for action in line["legal"]:
        texts[action["code"]] = action["text"]
    return {
        "seat": line["seat"],
        "kind": line["kind"],
        "by": line["by"],
        "decision": line["decision"],
        "legal": [action["code"] for action in line["legal"]],
        "taken": line["taken"],
    }
