"""Notebooks: a class typed into a cell plays, leaderboards show as tables and matches as boards; the example runs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.docs.pages import DOCS
from tests.report.browser import browser

BOOK = DOCS / "examples" / "notebooks" / "train_a_bot.ipynb"
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
book = nbformat.read({book!r}, 4) if {book!r} else nbformat.v4.new_notebook(
    cells=[nbformat.v4.new_code_cell(cell) for cell in {cells!r}]
)
NotebookClient(book, timeout=300, kernel_name="python3").execute()
print(nbformat.writes(book))
"""


def executed(folder, cells=(), book=""):
    """Return the cells of a notebook after they were executed in this folder."""
    pytest.importorskip("nbclient", reason="needs nbclient and ipykernel")
    pytest.importorskip("ipykernel", reason="needs nbclient and ipykernel")
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE.format(cells=list(cells), book=str(book))],
        capture_output=True, text=True, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["cells"]


def html_of(cell):
    return "".join("".join(out["data"].get("text/html", "")) for out in cell["outputs"] if "data" in out)


def test_a_notebook_plays_and_shows_tables(tmp_path):
    cells = executed(tmp_path, CELLS)
    shown = ["".join(out["data"].get("text/html", "")) for cell in cells for out in cell["outputs"] if "data" in out]
    run, board, _, match = shown
    assert "<table>" in run
    assert board.count("<table>") == 1
    assert "typed-too" in board
    assert "typed" in match
    assert "(18, 11)" in json.dumps(cells[3]["outputs"])


def test_the_example_notebook_trains_a_bot_that_beats_random_and_shows_its_match(tmp_path):
    for needed in ("gymnasium", "numpy", "pandas", "pyarrow", "jinja2", "matplotlib"):
        pytest.importorskip(needed, reason=f"needs {needed}")
    cells = [cell for cell in executed(tmp_path, book=BOOK) if cell["cell_type"] == "code"]
    assert all(out["output_type"] != "error" for cell in cells for out in cell["outputs"])
    *_, board, match = map(html_of, cells)
    places = [board.find(f"<td>{bot}") for bot in ("pupil", "random")]
    assert -1 < places[0] < places[1]
    page = tmp_path / "match.html"
    page.write_text(f"<!doctype html><meta charset=utf-8>{match}", encoding="utf-8")
    with browser() as opened:
        opened.open(page)
        opened.driver.switch_to.frame(0)
        opened.wait("return viewer.dataset.open !== undefined")
        assert opened.js("return document.querySelectorAll('[data-part=table] svg').length") >= 1
        before = opened.js("return document.querySelector('[data-part=table]').innerHTML")
        opened.js("document.querySelector('[data-part=next]').click()")
        opened.wait("return document.querySelector('[data-part=table]').innerHTML !== arguments[0]", before)


def test_the_example_notebook_is_stored_without_outputs():
    """They would change with every execution."""
    cells = [cell for cell in json.loads(BOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells)
