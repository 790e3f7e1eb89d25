"""The scripts of the page: bundled from their sources, and with types that fit."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.browser.support import ROOT, TOOLS, needs_tools

SOURCES = ROOT / "harness" / "browser" / "src"
ASSETS = ROOT / "harness" / "browser" / "assets"


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_tools
def test_the_committed_scripts_are_what_their_sources_give(tmp_path):
    run("node", SOURCES / "build.mjs", TOOLS, tmp_path)
    for made in tmp_path.iterdir():
        again = f"bundle them again: node {SOURCES.relative_to(ROOT)}/build.mjs FOLDER"
        assert made.read_bytes() == (ASSETS / made.name).read_bytes(), again
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in ASSETS.glob("*.js")}


@needs_tools
def test_the_types_of_the_scripts_fit(tmp_path):
    # The packages that a script imports are looked up in the folders above it.
    for source in SOURCES.iterdir():
        (tmp_path / source.name).write_bytes(source.read_bytes())
    (tmp_path / "node_modules").symlink_to(Path(TOOLS).resolve() / "node_modules")
    run(Path(TOOLS) / "node_modules" / ".bin" / "tsc", "-p", tmp_path)


@needs_tools
def test_a_script_with_a_wrong_type_does_not_pass(tmp_path):
    for source in SOURCES.iterdir():
        (tmp_path / source.name).write_bytes(source.read_bytes())
    (tmp_path / "node_modules").symlink_to(Path(TOOLS).resolve() / "node_modules")
    with (tmp_path / "page.js").open("a") as file:
        file.write("\npercent('a');\n")
    with pytest.raises(AssertionError, match="not assignable"):
        run(Path(TOOLS) / "node_modules" / ".bin" / "tsc", "-p", tmp_path)


ASKED = """
import { asksFirst, meant } from "./choices.js";
const byKey = new Map(["place:4", "move:4:9", "move:41:9"].map((text, code) => [text, { code, kind: "", text }]));
const mark = "place:4 move:4?", found = meant(mark, byKey);
console.log(JSON.stringify(found.map(({ text }) => [text, asksFirst(mark, text)])));
"""


@needs_tools
def test_a_tap_asks_first_where_the_mark_says_so():
    command = ["node", "--input-type=module", "-e", ASKED.replace('"./', f'"{SOURCES.as_posix()}/')]
    done = subprocess.run(command, capture_output=True, text=True)
    assert json.loads(done.stdout or pytest.fail(done.stderr)) == [["place:4", False], ["move:4:9", True]]
