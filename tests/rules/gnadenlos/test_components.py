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
        ({"road": {"start": 0}}, "hats start on field 0"),
        ({"road": {"start": 35}}, "hats start on field 35"),
        ({"road": {"fields": 40}}, "must end on field 39"),
        ({"zones": []}, "no zones"),
        ({"zones": [{"last": 9, "forward": 1, "back": 1}, {"last": 5, "forward": 1, "back": 1}]}, "not in the order"),
        ({"zones": [{"last": 34, "forward": -1, "back": 1}]}, "cannot be negative"),
        ({"events": {"gold_rush": [], "high_noon": 1, "cheating": 0}}, "at least two event cards"),
        ({"events": {"high_noon": -1}}, "fewer than no event cards"),
        ({"events": {"gold_rush": [[-3, 1], [1, 1]]}}, "less than nothing"),
        ({"undertaker": {"steps": 0}}, "at least one step"),
        ({"ious": {"counts": {}}}, "no IOUs"),
        ({"ious": {"counts": {str(value): 1 for value in range(9)}}}, "at most 8 different values"),
        ({"ious": {"counts": {"-1": 3, "1": 1, "2": 1}}}, "negative value"),
        ({"ious": {"counts": {"0": 0, "1": 1, "2": 1}}}, "at least once"),
        ({"start": {"market_ious": [1, 7]}}, "1 IOUs of value 7 go to the market, a colour has 0"),
        ({"start": {"gold": -1}}, "less than no gold"),
        ({"start": {"adventurers": -1}}, "fewer than no adventurers"),
        ({"start": {"adventurers": 8}}, "need at least 32 adventurers"),
        ({"payday": {"columns": 0}}, "at least one column"),
        ({"payday": {"fields_lost_when_broke": -1}}, "cannot be negative"),
        ({"payday": {"vultures_to_lose": 0}}, "at least 1"),
        ({"adventurers": {"skills": [[7, 1, 1]] * 29}}, "not from 1 to 6"),
        ({"adventurers": {"skills": [[1, 1, 1]] * 7}}, "need at least 8 adventurers"),
        ({"adventurers": {"skills": [[1, 1]]}}, "do not fit"),
        ({"saloon": {}}, "do not fit"),
    ],
)
def test_invalid_component_values_are_refused(blocks, trouble):
    with pytest.raises(BadComponents, match=re.escape(trouble)):
        load(changed(**blocks))


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
