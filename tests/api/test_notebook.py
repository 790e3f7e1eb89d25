"""A notebook: a class typed into a cell plays a tournament with workers, and the leaderboard shows as a table."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

CELLS = [
    "import harness\n\n"
    "class Typed(harness.Bot):\n"
    '    games = ("el-paso",)\n'
    "    def choose(self, view, actions):\n"
    "        return actions[0]\n\n"
    "def typed_too(view, actions):\n"
    "    return actions[-1]",
    'run = harness.tournament("el-paso", [Typed, typed_too, "random"], deals=2, seed=1, workers=2)\nrun',
    "run.leaderboard()",
    "run.to_pandas().shape",
    'harness.play_match("el-paso", [Typed, typed_too], seed=1)',
]
EXECUTE = """
import sys, nbformat
from nbclient import NotebookClient
book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in {cells!r}])
NotebookClient(book, timeout=300, kernel_name="python3").execute()
print(nbformat.writes(book))
"""


def test_a_notebook_plays_and_shows_tables(tmp_path):
    pytest.importorskip("nbclient", reason="needs nbclient and ipykernel")
    pytest.importorskip("ipykernel", reason="needs nbclient and ipykernel")
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE.format(cells=CELLS)], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    cells = json.loads(done.stdout)["cells"]
    shown = ["".join(out["data"].get("text/html", "")) for cell in cells for out in cell["outputs"] if "data" in out]
    run, board, _, match = shown
    assert "<table>" in run
    assert board.count("<table>") == 1
    assert "typed-too" in board
    assert "typed" in match
    assert "(18, 11)" in json.dumps(cells[3]["outputs"])
