"""Components files that are no usual TOML: refused with one sentence, within a second."""

from __future__ import annotations

from time import process_time

import pytest
from msgspec import Struct

from harness import BadComponents, read_components


class Box(Struct):
    size: int


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("size = ", "are not TOML: Invalid value"),
        ("#" * 200_001, "are not TOML: It is longer than 200,000 characters"),
        ("\n" + "a." * 49_000 + "a = 1", r"are not TOML: More than 100 dots \(at line 2, column 1\)"),
        ("a." * 90 + "a = 1\n[[a]]", "are not TOML: "),
        ("size = " + "[" * 90_000, "are not TOML: It has too many brackets inside each other"),
        ("size = " + "9" * 5_000, "are not TOML: Exceeds the limit"),
        ("size = " + "[" * 300 + "]" * 300, "do not fit: Expected `int`, got `array` - at `.size`"),
        ("size = '1'", "do not fit: Expected `int`, got `str` - at `.size`"),
        ('size = "' + "x" * 90_000 + '"', "do not fit: Expected `int`, got `str` - at `.size`"),
    ],
    ids=lambda value: value[:20],
)
def test_text_that_is_not_a_usual_toml_file_is_refused_within_a_second(text: str, says: str) -> None:
    before = process_time()
    with pytest.raises(BadComponents, match=says.replace("`.size", r"`\$.size")):
        read_components("Box", text, Box)
    assert process_time() - before < 1


def test_a_message_quotes_no_control_characters_and_no_long_names_of_the_file() -> None:
    class Strict(Struct, forbid_unknown_fields=True):
        size: int

    with pytest.raises(BadComponents) as raised:
        read_components("Box", f'size = 1\n"\\u001b[31m{"x" * 5_000}" = 1', Strict)
    assert "unknown field `?[31mxxx" in str(raised.value)
    assert len(str(raised.value)) < 400
