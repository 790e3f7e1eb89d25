"""Any components file that is accepted gives matches that end, and scores that can be read.

Strategies are derived from the structs of each game, so a new figure without bounds fails here.
"""

from __future__ import annotations

import json
from random import Random
from time import process_time
from typing import Any

import msgspec.inspect as mi
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from engines.el_paso.components import Components as ElPasoComponents
from engines.el_paso.game import ElPaso
from engines.gnadenlos.components import MAX_GOLD
from engines.gnadenlos.components import Components as GnadenlosComponents
from engines.gnadenlos.game import Gnadenlos
from engines.x_pasch.components import Components as XPaschComponents
from engines.x_pasch.game import XPasch
from harness import BadComponents, Chance, Game, read_data_file
from harness.core.action import parse_toml
from harness.core.options import digest_of

BOXES: dict[type[Game[Any]], tuple[Any, dict[str, Any]]] = {
    ElPaso: (ElPasoComponents, parse_toml(read_data_file("engines.el_paso", "el_paso.toml"))),
    Gnadenlos: (GnadenlosComponents, parse_toml(read_data_file("engines.gnadenlos", "gnadenlos.toml"))),
    XPasch: (XPaschComponents, parse_toml(read_data_file("engines.x_pasch", "x_pasch.toml"))),
}
MAX_DECISIONS = 40_000
"""The largest boxes need about 7,000; a town of El Paso has no fixed end, only one that is certain in the long run."""


def bounded(low: int | None, high: int | None) -> tuple[int, int]:
    assert low is not None, "a figure without a lower bound"
    assert high is not None, "a figure without an upper bound"
    return low, high


def values(kind: mi.Type, shipped: Any = None) -> st.SearchStrategy[Any]:
    """Values of a type as msgspec describes it: often its least or its greatest. `shipped` is what the game's own file
    has there: for structs, some fields keep it."""
    match kind:
        case mi.IntType():
            low, high = bounded(kind.ge, kind.le)
            return st.sampled_from((low, high)) | st.integers(low, high)
        case mi.StrType():
            assert kind.max_length is not None, "a text without an upper bound"
            return st.text("aZ é\x1b\u202e", min_size=kind.min_length or 0, max_size=min(kind.max_length, 5))
        case mi.LiteralType():
            return st.sampled_from(kind.values)
        case mi.BoolType():
            return st.booleans()
        case mi.NoneType():
            return st.none()
        case mi.UnionType():
            return st.one_of([values(one) for one in kind.types])
        case mi.TupleType():
            return st.tuples(*[values(one) for one in kind.item_types]).map(list)
        case mi.VarTupleType():
            least = kind.min_length or 0
            most = kind.max_length
            if most is None:  # only choices, each at most once
                assert isinstance(kind.item_type, mi.LiteralType), "a list without an upper bound"
                return st.lists(values(kind.item_type), min_size=least, unique=True)
            items = values(kind.item_type)
            return st.sampled_from((least, most)).flatmap(lambda size: st.lists(items, min_size=size, max_size=size))
        case mi.DictType():
            assert kind.max_length is not None, "a table without an upper bound"
            keys = values(kind.key_type).map(str)
            return st.dictionaries(keys, values(kind.value_type), min_size=kind.min_length or 0, max_size=8)
        case mi.StructType():
            fields = {field.encode_name: field.type for field in kind.fields}
            have = shipped or {}
            return st.fixed_dictionaries(
                {
                    name: (st.just(have[name]) | values(one, have[name])) if name in have else values(one)
                    for name, one in fields.items()
                }
            )
    raise AssertionError(f"no strategy for {kind}")


def toml(value: Any) -> str:
    """A value as TOML writes it on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml(key)} = {toml(one)}" for key, one in value.items() if one is not None) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


def configured(game: type[Game[Any]], figures: dict[str, Any], options: dict[str, str]) -> Game[Any]:
    text = "\n".join(f"{name} = {toml(block)}" for name, block in figures.items())
    return game.configure({**options, "components": digest_of(text)}, {digest_of(text): text})


@pytest.mark.parametrize("game", BOXES, ids=lambda game: game.name)
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_matches_of_any_accepted_file_end_and_their_scores_can_be_read(
    game: type[Game[Any]], data: st.DataObject
) -> None:
    shape, shipped = BOXES[game]
    blocks = {field.encode_name: field.type for field in mi.type_info(shape).fields}
    changed = data.draw(st.sets(st.sampled_from(sorted(blocks)), min_size=1, max_size=3))
    figures = shipped | {name: data.draw(values(blocks[name], shipped[name])) for name in sorted(changed)}
    options = {
        option.name: str(data.draw(st.sampled_from(option.choices))) for option in game.options if option.choices
    }
    begin = process_time()
    try:
        box = configured(game, figures, options)
    except BadComponents as error:
        event("refused")
        assert process_time() - begin < 1
        assert "do not fit: " in str(error)
        return
    event("played")
    rng = Random(data.draw(st.integers(0, 2**32)))
    choose = data.draw(st.sampled_from((rng.choice, lambda legal: legal[0], lambda legal: legal[-1])))
    state = box.new(data.draw(st.integers(game.min_players, game.max_players)), Chance(rng.getrandbits(64)))
    decisions = 0
    while state.legal:
        decisions += 1
        assert decisions < MAX_DECISIONS
        state.apply(choose(state.legal))
    assert state.ending
    assert process_time() - begin < 10
    for seat, score in enumerate(state.scores()):
        assert box.score_text(score)
        if game is Gnadenlos and score:  # GN-39
            assert divmod(score, 1000) == (state.fame[seat], state.gold[seat])
            assert state.gold[seat] <= MAX_GOLD
