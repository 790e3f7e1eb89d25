"""Every bundled bot plays as recorded, under this Python and under another one."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import msgspec
import mypy_extensions
import pytest

import bots
import harness
from harness.core.tree_ensemble import IS_COMPILED
from tests.golden.bots import specs

CHECK = "tests.golden.bots"
RUNTIME = os.environ.get("ARENA_PYODIDE", "")
ROOT = Path(__file__).parents[2]
CODE = Path(bots.__file__).parents[1]
OF_INTEGERS = {
    "bots/network/train.py": "thresholds are counted; no match runs it",
    "engines/el_paso/event_text.py": "tiles are counted",
    "engines/x_pasch/event_text.py": "incomes are whole euros",
    "engines/el_paso/state.py": "dice are counted",
    **{
        f"engines/{game}/{module}.py": "bounds and encodings are whole numbers"
        for game in ("el_paso", "gnadenlos", "x_pasch")
        for module in ("encoding", "game")
    },
}
"""Modules with a sum that no golden match reaches, and why it adds no floats."""


def test_every_bundled_bot_has_golden_matches_in_its_games():
    seated = Counter((spec.game, seat.partition(":")[0]) for spec in specs() for seat in spec.seats)
    for bot in bots.arena_bots():
        for game in bot.games or ["el-paso"]:
            assert seated[game, bot.name], f"{bot.name} has no match of {game} in tests/golden/bots.py"


@pytest.fixture(scope="module")
def checked():
    """In a fresh process, in which no result of a sum is cached."""
    done = subprocess.run([sys.executable, "-m", CHECK, "check"], cwd=ROOT, capture_output=True, text=True)
    return json.loads(done.stdout or pytest.fail(done.stderr))


def test_the_bots_play_their_golden_matches(checked):
    assert checked["differ"] == [], f"if the change is meant, run python -m {CHECK}"


@pytest.mark.skipif(IS_COMPILED, reason="compiled code does not call the sum of Python")
def test_no_sum_in_bots_and_engines_adds_floats(checked):
    """Since Python 3.12 `sum` adds floats more exactly, so that a choice can depend on the version."""
    assert [call[:2] for call in checked["sums"] if call[2]] == [], "use math.fsum"
    seen = {tuple(call[:2]) for call in checked["sums"]}
    assert unseen_sums(seen) == [], "no golden match reaches these: use math.fsum, or add them to OF_INTEGERS"


def unseen_sums(seen):
    """The statements of bots and engines that use `sum` and are not among those that were executed."""
    found = []
    for path in [*(CODE / "bots").rglob("*.py"), *(CODE / "engines").rglob("*.py")]:
        statements = {}  # the innermost one of each use: `walk` comes to it last
        for statement in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(statement, ast.stmt):
                uses = [node for node in ast.walk(statement) if isinstance(node, ast.Name) and node.id == "sum"]
                statements.update(dict.fromkeys(uses, statement))
        for statement in set(statements.values()):
            lines = range(statement.lineno, statement.end_lineno + 1)
            if not any((str(path), line) in seen for line in lines):
                found.append((path.relative_to(CODE).as_posix(), statement.lineno))
    return [place for place in found if place[0] not in OF_INTEGERS]


@pytest.mark.skipif(not RUNTIME, reason="no other Python: run .ci/pyodide FOLDER and set ARENA_PYODIDE=FOLDER")
def test_the_bots_play_their_golden_matches_under_another_python():
    folders = [ROOT, *(Path(module.__file__).parents[1] for module in (harness, msgspec))]
    folders.append(Path(mypy_extensions.__file__).parent)  # a module, not a package
    command = ["node", str(ROOT / "tests" / "support" / "pyodide.mjs"), RUNTIME, CHECK, "check"]
    done = subprocess.run([*command, *map(str, dict.fromkeys(folders))], capture_output=True, text=True)
    found = json.loads(done.stdout or pytest.fail(done.stderr))
    assert not sys.version.startswith(found["python"])
    assert found["differ"] == []
