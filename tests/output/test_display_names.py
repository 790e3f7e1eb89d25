"""Names that strangers chose do no harm in charts, pages and file names."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.errors import printable
from harness.output.tables import MAX_FILE_NAME_CHARS, MAX_SHORT_CHARS, file_name, short
from tests.output.support import NASTY


@given(st.text(min_size=1, max_size=400))
def test_every_name_has_a_safe_file_name(name):
    made = file_name(name)
    assert re.fullmatch(r"[a-z0-9][a-z0-9_-]*(\.[0-9a-f]{10})?", made)
    assert len(made) <= MAX_FILE_NAME_CHARS


@given(st.sets(st.text(alphabet="aA-./:<_ \u00e4", min_size=1, max_size=5), min_size=2, max_size=40))
def test_different_names_have_different_files_even_on_case_insensitive_systems(names):
    assert len({file_name(name).casefold() for name in names}) == len(names)


@pytest.mark.parametrize(("name", "made"), [("skittish", "skittish"), ("flat-mc", "flat-mc"), ("a_1", "a_1")])
def test_plain_names_are_used_as_file_names(name, made):
    assert file_name(name) == made


@pytest.mark.parametrize("name", ["con", "nul", "com1", "..", ".", "-", "UPPER", *NASTY])
def test_dangerous_names_get_a_hash_suffix(name):
    assert re.search(r"\.[0-9a-f]{10}$", file_name(name))


def test_shortened_names_keep_both_ends():
    assert short("ismcts") == "ismcts"
    shown = short("ismcts:iterations=500,exploration=0.7")
    assert len(shown) == MAX_SHORT_CHARS
    assert shown.startswith("ismcts:")
    assert shown.endswith("=0.7")


def test_invisible_characters_are_replaced():
    assert printable("a\u202eb\x00c") == "a?b?c"
