"""A newcomer takes the place of a bot in the table only if it is a version of it."""

from __future__ import annotations

import pytest

import harness
from harness.core.errors import UsageError
from tests.league.support import write_bot
from tests.support.cli import arena


@pytest.fixture
def autumn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arena("league", "init", "autumn", "--game", "el-paso")
    return harness.open_league("autumn")


def joined(*args: object, code: int = 0) -> str:
    done = arena("league", "add", *args, "-L", "autumn", code=code)
    return " ".join((done.stderr if code else done.stdout).split())


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((), ()),
        ((), ("--author", "Eve")),
        (("--author", "Ada"), ()),
        (("--author", "Ada"), ("--author", "Eve")),
        (("--team", "red"), ("--team", "blue")),
        (("--author", "Ada", "--team", "red"), ("--author", "Eve", "--team", "blue")),
        (("--author", "red"), ("--team", "red")),
    ],
)
def test_a_bot_of_another_author_cannot_take_the_name_of_a_bot(autumn, first, second):
    joined(write_bot("sprinter"), *first)
    stored = sorted((autumn.folder / "bots").iterdir())
    said = joined(write_bot("sprinter", 2), *second, code=2)
    assert "sprinter is the name of a bot in this league" in said
    assert "a new version needs the same author or team" in said
    assert "add --new-version-of sprinter; otherwise name it with --as NAME" in said
    assert autumn.bots == ("sprinter@1",)
    assert sorted((autumn.folder / "bots").iterdir()) == stored  # nothing of it was copied


@pytest.mark.parametrize("same", [("--author", "Ada"), ("--team", "red")])
def test_the_same_author_or_team_adds_the_next_version(autumn, same):
    joined(write_bot("sprinter"), "--author", "Ada", "--team", "red")
    assert joined(write_bot("sprinter", 2), *same) == "sprinter@2 joins."


def test_an_organizer_can_say_that_a_bot_is_the_next_version_of_another(autumn):
    joined(write_bot("sprinter"), "--author", "Ada")
    assert joined(write_bot("dash"), "--new-version-of", "sprinter") == "sprinter@2 joins."
    # It is the same bot, so it has the same author: her next version needs nothing else.
    assert joined(write_bot("sprinter", 3), "--author", "Ada") == "sprinter@3 joins."
    assert "Unknown bot of this league 'runner'" in joined(write_bot("runner"), "--new-version-of", "runner", code=2)
    said = joined(write_bot("runner"), "--new-version-of", "sprinter", "--as", "runner", code=2)
    assert "A new version of sprinter has that name; leave out any other." in said


def test_a_refused_bot_can_join_under_another_name(autumn):
    joined(write_bot("sprinter"), "--author", "Ada")
    assert joined(write_bot("sprinter", 2), "--author", "Eve", "--as", "dash") == "dash@1 joins."


def test_an_unchanged_bot_is_reported_as_such_for_any_author(autumn):
    joined(write_bot("sprinter"), "--author", "Ada")
    assert "identical to sprinter@1" in joined("sprinter.py", "--author", "Eve", code=2)


def test_the_rule_is_the_same_in_python(autumn):
    autumn.add(str(write_bot("sprinter")), author="Ada")
    with pytest.raises(UsageError, match="a new version needs the same author or team"):
        autumn.add(str(write_bot("sprinter", 2)), author="Eve")
    assert autumn.add("sprinter.py", author="Ada") == ("sprinter@2",)
    assert autumn.add(str(write_bot("sprinter", 3)), new_version_of="sprinter") == ("sprinter@3",)
