"""docs/config-file.md: its example is played, and it names every key."""

from __future__ import annotations

import shlex
from pathlib import Path

import harness
from harness.core.options import RunOptions, run_options
from tests.docs.pages import DOCS, blocks, change, commands
from tests.support.cli import arena

PAGE = DOCS / "config-file.md"


def test_the_example_of_the_page_runs():
    for block in blocks(PAGE):
        if block.path:
            change(Path(block.path), block)
    shown = []
    for command, _ in (each for block in blocks(PAGE) if block.language == "console" for each in commands(block)):
        program, *words = shlex.split(command)
        assert program == "arena"
        shown.append(arena(*words).stdout)
    assert "Reds  Ann" in shown[-1]
    run = harness.open_run("spring")
    assert run.complete
    assert (run.info.plan.deals, harness.open_run("short").info.plan.deals) == (2, 1)
    assert run.info.limits["memory"] == 1024
    arena("tournament", "results/spring", "--save", "again.toml")
    assert harness.RunRequest.from_file("again.toml").bots == run.request().bots


def test_the_page_names_every_key():
    page = PAGE.read_text(encoding="utf-8")
    keys = [option.key for option in run_options(RunOptions).values()]
    assert [key for key in keys if f"`{key}`" not in page] == []
