"""Errors below the command line make sense in Python: what to type is in one table, in cli/main.py."""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter

import dill
import pytest

import harness
from harness.cli.main import ADVICE, full_message
from harness.core.errors import StoreError, UnknownName, UsageError

HARNESS = Path(harness.__file__).parent
FLAG = re.compile(r"(?<![\w-])(?<!var\()--[a-z]")
"""A command-line flag; not a variable of a style sheet, as in var(--ink)."""

ALLOWED = {
    "browser/files.py": "the options of npm and pip",
    "browser/table.py": "the command in run.json",
    "core/options.py": "the help texts of the options of a run",
    "doctor/__init__.py": "a command and its answers",
    "luck/run.py": "the options of arena learn-values, whose command is in the same file",
    "match/stdio.py": "the text of a fault, which is in records and so must not change",
    "output/text.py": "sentences about isolation, which commands and Python print alike",
    "new_package/files.py": "the commands in the README of a new package",
    "report/page.py": "hides the seed in a command that was typed",
    "runs/merged.py": "hides the seed in a command that was typed",
}
"""Files that may mention flags, each with its reason."""


@cache
def modules() -> list[tuple[str, ast.Module]]:
    paths = sorted(HARNESS.rglob("*.py"))
    return [(path.relative_to(HARNESS).as_posix(), ast.parse(path.read_text(encoding="utf-8"))) for path in paths]


def is_command(name: str) -> bool:
    return name.startswith(("cli/", "bench/")) or name.endswith("/cli.py")


def messages(tree: ast.Module) -> Iterator[str]:
    """Yield all strings of a module but those that are statements: documentation."""
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.value


def fixes() -> Iterator[tuple[str, str, set[str] | None]]:
    """Yield the place and the key of every `fix` in the harness, and the names of the data beside it, if known."""
    for name, tree in modules():
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            for value in (keyword.value for keyword in call.keywords if keyword.arg == "fix"):
                data = {keyword.arg for keyword in call.keywords if keyword.arg}
                known = data if all(keyword.arg for keyword in call.keywords) else None
                for node in (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,):
                    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value:
                        yield f"{name}, line {call.lineno}", node.value, known


def test_messages_below_the_command_line_mention_no_flags():
    found = {name for name, tree in modules() if not is_command(name) and any(map(FLAG.search, messages(tree)))}
    assert found - ALLOWED.keys() == set(), 'say what is wrong, and what to type with fix="..."'
    assert ALLOWED.keys() <= found, "converted: remove it from the list"


def test_every_fix_has_its_advice():
    for place, key, data in fixes():
        assert key in ADVICE, f"{place}: {key} is not in cli/main.py"
        needed = {field for _, field, _, _ in Formatter().parse(ADVICE[key]) if field}
        assert data is None or needed <= data, f"{place}: {key} needs {needed}"


def test_every_advice_is_used():
    assert set(ADVICE) == {key for _, key, _ in fixes()}


@pytest.mark.parametrize("library", [pickle, dill])
def test_errors_keep_their_data_between_processes(library):
    for error in (
        UsageError("No.", fix="resume-tournament", folder="a b"),
        StoreError("No."),
        UnknownName("bot", "x", ["y"], fix="bots"),
    ):
        same = library.loads(library.dumps(error))
        assert (type(same), str(same), same.fix, same.data) == (type(error), str(error), error.fix, error.data)


def test_the_command_line_appends_what_to_type():
    error = UsageError("This is not a comparison.", fix="resume-tournament", folder="results/a")
    assert str(error) == "This is not a comparison."
    assert full_message(error) == "This is not a comparison. Continue it with: arena tournament --resume results/a"
    assert full_message(UsageError("No.")) == "No."
