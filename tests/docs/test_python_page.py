"""docs/python.md: its cells work one after the other, and show what the page says."""

from __future__ import annotations

import pytest

import harness
from tests.docs import cells
from tests.docs.pages import DOCS, blocks, commands, matches
from tests.support.cli import arena

PAGE = DOCS / "python.md"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_cells_of_the_page_show_the_printed_output(folder):
    pytest.importorskip("pandas", reason="the page needs pandas: pip install 'arena-harness[notebook]'")
    told = 0
    for cell, text, shown in cells.follow(PAGE, folder):
        assert bool(text) == bool(shown), f"what a cell shows stands below it:\n{cell.text}"
        if text is not None:
            told += 1
            assert matches(text.text.splitlines(), shown), cell.text + "\n" + "\n".join(shown)
    assert told >= 7


def test_the_config_file_of_the_page_starts_a_run(folder):
    for block in blocks(PAGE):
        if block.path:
            (folder / block.path).write_text(block.text)
    [(command, _)] = [each for block in blocks(PAGE) if block.language == "console" for each in commands(block)]
    program, *words = command.split()
    assert program == "arena"
    arena(*words, "--name", "asked")
    run = harness.open_run("asked")
    assert run.info.plan.deals == 2
    assert run.info.plan.settings == {"rounds": 2}
    assert run.info.limits["move_time"] == 2.0


@pytest.mark.parametrize("cls", [harness.Match, harness.Run])
def test_the_page_names_every_attribute_of_a_match_and_a_run(cls):
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in vars(cls) if not name.startswith("_") and f"`{name}" not in page] == []
