"""A components file that breaks the game is refused with what is wrong."""

from __future__ import annotations

import json
import re

import msgspec
import pytest

from engines.gnadenlos import Adventurer, Gnadenlos
from engines.gnadenlos.components import load
from harness import BadComponents, Chance, read_data_file
from tests.rules.gnadenlos.scenario import GAME

TEXT = read_data_file("engines.gnadenlos", "gnadenlos.toml")


def changed(**blocks):
    """The bundled figures with some entries replaced: `road={"start": 0}`."""
    figures = msgspec.toml.decode(TEXT)
    for name, block in blocks.items():
        figures[name] = {**figures.get(name, {}), **block} if isinstance(block, dict) else block
    return "\n".join(f"{name} = {written(block)}" for name, block in figures.items())


def written(value):
    """A value as TOML writes it on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}" = {written(entry)}' for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return json.dumps(value)


@pytest.mark.parametrize(
    ("blocks", "trouble"),
    [
        ({"road": {"start": 0}}, "Expected `int` >= 1 - at `$.road.start`"),
        ({"road": {"start": 35}}, "the hats start on field 35 of a road of 35 - at `$.road`"),
        ({"road": {"fields": 40}}, "must end on field 39"),
        ({"zones": []}, "length >= 1 - at `$.zones`"),
        ({"zones": [{"last": 9, "forward": 1, "back": 1}, {"last": 5, "forward": 1, "back": 1}]}, "not in the order"),
        ({"zones": [{"last": 34, "forward": -1, "back": 1}]}, ">= 0 - at `$.zones[0].forward`"),
        (
            {"events": {"gold_rush": [], "high_noon": 1, "cheating": 0}},
            "at least two event cards are needed - at `$.events`",
        ),
        ({"events": {"high_noon": -1}}, ">= 0 - at `$.events.high_noon`"),
        ({"events": {"gold_rush": [[-3, 1], [1, 1]]}}, ">= 0 - at `$.events.gold_rush[0][0]`"),
        ({"undertaker": {"steps": 0}}, ">= 1 - at `$.undertaker.steps`"),
        ({"ious": {"counts": {}}}, "length >= 1 - at `$.ious.counts`"),
        ({"ious": {"counts": {str(value): 1 for value in range(9)}}}, "length <= 8 - at `$.ious.counts`"),
        ({"ious": {"counts": {"-1": 3, "1": 1, "2": 1}}}, ">= 0 - at `key` in `$.ious.counts`"),
        ({"ious": {"counts": {"0": 0, "1": 1, "2": 1}}}, ">= 1 - at `$.ious.counts[...]`"),
        (
            {"start": {"market_ious": [1, 7]}},
            "1 IOUs of value 7 go to the market (`start.market_ious`), a colour has 0",
        ),
        ({"start": {"gold": -1}}, ">= 0 - at `$.start.gold`"),
        ({"start": {"adventurers": -1}}, ">= 0 - at `$.start.adventurers`"),
        ({"start": {"adventurers": 8}}, "need at least 32 adventurers"),
        ({"payday": {"columns": 0}}, ">= 1 - at `$.payday.columns`"),
        ({"payday": {"fields_lost_when_broke": -1}}, ">= 0 - at `$.payday.fields_lost_when_broke`"),
        ({"payday": {"vultures_to_lose": 0}}, ">= 1 - at `$.payday.vultures_to_lose`"),
        ({"adventurers": {"skills": [[7, 1, 1]] * 29}}, "<= 6 - at `$.adventurers.skills[0][0]`"),
        ({"adventurers": {"skills": [[1, 1, 1]] * 7}}, "need at least 8 adventurers"),
        ({"adventurers": {"skills": [[1, 1]]}}, "do not fit"),
        ({"saloon": {}}, "do not fit"),
        ({"road": {"fields": 100}}, "<= 99 - at `$.road.fields`"),
        ({"ious": {"counts": {"1": 21, "2": 1}}}, "<= 20 - at `$.ious.counts[...]`"),
        ({"ious": {"counts": {"1": 1, "2": 1, str(2**40): 1}}}, "<= 99 - at `key` in `$.ious.counts`"),
        ({"start": {"gold": 1000}}, "<= 999 - at `$.start.gold`"),
        ({"payday": {"columns": 2**40}}, "<= 20 - at `$.payday.columns`"),
        ({"adventurers": {"skills": [[1, 1, 1]] * 101}}, "length <= 100 - at `$.adventurers.skills`"),
    ],
)
def test_invalid_component_values_are_refused(blocks, trouble):
    with pytest.raises(BadComponents, match=re.escape(trouble)):
        load(changed(**blocks))


@pytest.mark.parametrize(
    ("blocks", "max_gold"),
    [
        # Four piles: after three, the undertaker has taken six of his seven steps.
        ({"events": {"gold_rush": [[99, 1], [99, 1], [51, 60]]}}, 10 + 4 * (99 + 99 + 60)),
        ({"start": {"gold": 950}, "events": {"gold_rush": [[13, 1]]}}, 950 + 4 * 13),
        # Without high noons only the turns end the game: 400 of them turn 100 piles of five cards.
        ({"events": {"gold_rush": [[4, 0]] * 3, "high_noon": 0}}, 10 + 100 * 12),
    ],
)
def test_gn39_gold_that_would_count_as_a_field_is_refused(blocks, max_gold):
    with pytest.raises(BadComponents, match=f"a player may have {max_gold:,} gold, a score has room for 999"):
        load(changed(**blocks))


def test_gn39_a_score_has_room_for_999_gold():
    load(changed(start={"gold": 951}, events={"gold_rush": [[12, 1]]}))


def test_a_file_that_is_not_toml_is_refused():
    with pytest.raises(BadComponents, match="not TOML"):
        load("road = ")


def test_another_components_file_can_be_played(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        changed(
            ious={"counts": {"0": 2, "1": 2, "2": 9, "6": 1}},
            adventurers={"skills": [[1, 2, 3]] * 6 + [[3, 2, 1]] * 6},
            start={"adventurers": 1, "gold": 4},
        )
    )
    game = Gnadenlos.configure({"components": str(file)})
    assert set(game.table.lay) == {Adventurer(1, 2, 3), Adventurer(3, 2, 1)}
    for seed in range(20):
        state = game.new(4, Chance(seed))
        while state.legal:
            assert len(set(state.legal)) == len(state.legal)
            state.apply(state.legal[-1 if seed % 2 else 0])
        assert state.ending


def test_the_description_is_json_with_all_components():
    description = GAME.components()
    assert json.loads(json.dumps(description)) == description
    assert {"road", "zones", "events", "undertaker", "ious", "start", "payday", "adventurers"} <= set(description)


def test_the_table_of_actions_is_fixed_and_readable():
    assert [action.code for action in GAME.actions] == list(range(len(GAME.actions)))
    assert len({action.text for action in GAME.actions}) == len(GAME.actions)
