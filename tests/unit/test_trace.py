"""One match does not wander through the house: docs/architecture.md walks it, and this keeps it short."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.trace import ROOT

MOST_FILES, MOST_SWITCHES = 71, 515


def test_a_match_crosses_few_files():
    done = subprocess.run([sys.executable, "-m", "tests.trace"], cwd=ROOT, capture_output=True, text=True, check=True)
    *walked, summary = done.stdout[done.stdout.index("harness/") :].splitlines()
    files, functions, switches = map(int, re.findall(r"\d+", summary))
    assert len(walked) == files <= MOST_FILES
    assert switches <= MOST_SWITCHES
    assert functions > files
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    missing = [file for file in walked if file.removeprefix("harness/") not in page]
    assert not missing, "docs/architecture.md does not walk through these"
