"""One match does not wander through the code: docs/architecture.md follows it, and this keeps it short."""

from __future__ import annotations

import json
import re
import subprocess
import sys

from tests.architecture.trace import ROOT

MAX_FILES, MAX_SWITCHES = 43, 377
"""A change that needs more raises the number in the same commit and says why."""
MAX_GAMES_MODULES = 50
"""Modules of harness that `arena games` may load."""


def test_a_match_crosses_few_files():
    command = [sys.executable, "-m", "tests.architecture.trace"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    *walked, summary = done.stdout[done.stdout.index("harness/") :].splitlines()
    files, functions, switches = map(int, re.findall(r"\d+", summary))
    assert len(walked) == files <= MAX_FILES
    assert switches <= MAX_SWITCHES
    assert functions > files
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    missing = [file for file in walked if file.removeprefix("harness/") not in page]
    assert not missing, "docs/architecture.md does not follow a match through these"


def test_listing_games_loads_few_modules():
    code = (
        "import json, sys; from harness.cli.main import main; main(['games'], standalone_mode=False);"
        "print(json.dumps([name for name in sys.modules if name.partition('.')[0] == 'harness']))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "el-paso" in done.stdout
    loaded = json.loads(done.stdout.splitlines()[-1])
    assert len(loaded) <= MAX_GAMES_MODULES, loaded
