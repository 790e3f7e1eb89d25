"""Where things stand in a TOML file."""

from __future__ import annotations

import tomllib
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.runs.toml_places import Place, places_in

TEXT = '''# c = 1 [x]
games = ["el-paso", # a ] comment
  "x,]pasch" ,]
"quo ted".'k=[' = """a = 1
[b] \\""" "" """
s = \'\'\'x\'\'\'\'\'
d = 1979-05-27 07:32:00 # y
inl = { a.b = 1, c = [ {d = "="}, 2 ], e = {} }
[[ bots ]] # z
name = "a"
[bots . opt]
x=1
[[bots]]
name = 'b'
[options]
"\\u0061"."b" = 2
'''


def paths(data, path=()):
    if path:
        yield path
    for key, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield from paths(value, (*path, key))


def test_every_key_and_item_has_a_line_and_column():
    places = places_in(TEXT)
    assert set(places) == set(paths(tomllib.loads(TEXT)))
    assert places["games", 1] == Place(3, 3)
    assert places["quo ted", "k=["] == Place(4, 11)
    assert places["s",] == Place(6, 1)
    assert places["inl", "c", 0, "d"] == Place(8, 25)
    assert places["bots", 0, "opt", "x"] == Place(12, 1)
    assert places["bots", 1, "name"] == Place(14, 1)
    assert places["options", "a", "b"] == Place(16, 10)


def test_places_in_a_long_file_are_found_quickly():
    began = process_time()
    assert places_in("a = [\n" + "1,\n" * 60_000 + "]\n")["a", 59_999] == Place(60_001, 1)
    assert process_time() - began < 2  # 4.4 s where each place counted the lines before it


@pytest.mark.parametrize(
    "value",
    [
        '""',
        "''",
        '"""',
        "'''",
        '"\\\\"',
        '"\\""',
        '"# no comment"',
        "'a\\'",
        '"""a\n"b\n"""',
        '""""a"""""',
        "'''''a'''",
    ],
)
def test_keys_after_any_string_are_located(value):
    value = {'"""': '""""""', "'''": "''''''"}.get(value, value)
    text = f"a = {value}\nb = [{value}, 1, {{c = {value}}}]\nd = 3\n"
    places = places_in(text)
    assert set(places) == set(paths(tomllib.loads(text)))
    assert places["d",].line == text.count("\n")


KEYS = st.text(st.characters(codec="utf-8", exclude_characters="\x7f", min_codepoint=32), max_size=6)
LEAVES = st.integers() | st.booleans() | st.floats(allow_nan=False) | KEYS.map("{}=[#".format)
VALUES = st.recursive(
    LEAVES, lambda more: st.lists(more, max_size=3) | st.dictionaries(KEYS, more, max_size=3), max_leaves=9
)


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def written(value, gap):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list):
        return f"[{gap}" + "".join(f"{written(one, gap)}{gap},{gap}" for one in value) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f" {quoted(key)} = {written(one, gap)} " for key, one in value.items()) + "}"
    return repr(value)


@given(st.dictionaries(KEYS, VALUES, max_size=4), st.sampled_from(["", " ", "\n", " # ], } = '\n"]))
def test_keys_are_located_in_any_file(data, gap):
    text = "".join(f"{quoted(key)} = {written(value, gap)} # {key.splitlines()[:1]}\n\n" for key, value in data.items())
    assert tomllib.loads(text) == data
    places = places_in(text)
    assert set(places) == set(paths(data))
    lines = text.split("\n")
    for path, place in places.items():
        if isinstance(path[-1], str):
            assert lines[place.line - 1][place.column - 1 :].startswith(quoted(path[-1]))
