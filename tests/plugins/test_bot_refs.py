"""What is typed for a bot: parsed once, and written as it can be typed again."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.plugins.entrants import BotInfo, BotRef


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("sprinter", BotRef(bot="sprinter")),
        ("sprinter:stars=4,depth=2", BotRef(bot="sprinter", options="stars=4,depth=2")),
        ("v2=sprinter:stars=4", BotRef("v2", bot="sprinter", options="stars=4")),
        ("old/sprinter.py", BotRef(place="old/sprinter.py")),
        ("v1=old/sprinter.py::sprinter:a=1", BotRef("v1", place="old/sprinter.py", bot="sprinter", options="a=1")),
        ("package::sprinter", BotRef(place="package", bot="sprinter")),
        ("bots/", BotRef(place="bots/")),
        ("*.py", BotRef(place="*.py")),
        ("cmd:node bot.js", BotRef(command="node bot.js")),
        ("js:key=1=cmd:node bot.js", BotRef("js", command="node bot.js", options="key=1")),
        ("sprinter:book=sha256:12ab", BotRef(bot="sprinter", options="book=sha256:12ab")),
    ],
)
def test_a_bot_reference_survives_parsing_and_printing(text, ref):
    assert BotRef.parse(text) == ref
    assert str(ref) == text


def test_a_name_without_a_slash_is_a_folder_only_if_no_bot_has_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    assert BotRef.parse("mine", installed=()).place == "mine"
    assert BotRef.parse("mine", installed=("mine",)).bot == "mine"
    assert BotRef.parse("mine").bot == "mine"


def test_a_file_may_have_an_equals_sign_in_its_name(tmp_path):
    (tmp_path / "a=b.py").write_text("")
    assert BotRef.parse("a=b.py", start=tmp_path) == BotRef(place="a=b.py")
    assert BotRef.parse("a=b.py", start=Path("/")) == BotRef("a", place="b.py")


def test_a_recorded_bot_may_have_wildcard_characters_in_its_name():
    info = BotInfo("bot[1]", "bot[1]", "", "1", "sha256:0")
    assert info.ref == BotRef(bot="bot[1]")
    assert BotRef.parse("bot[1]", installed=("bot[1]",)) == info.ref


def test_copies_of_a_bot_in_two_places_have_the_same_bare_text():
    assert BotRef.parse("v1=old/x.py::x:a=1").bare == BotRef.parse("new/x.py::x:a=1").bare == "x:a=1"
    assert BotRef.parse("x=cmd:node old/x.js").bare == BotRef.parse("cmd:node new/x.js").bare
