"""What the tests of the page share: the runtime, its folder as it is served, a browser that counts requests."""

from __future__ import annotations

import os
import subprocess
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

from harness.browser.files import Runtime, arena_wheel
from harness.cluster.wheels import wheels_for

ROOT = Path(__file__).parents[2]
RUNTIME = os.environ.get("ARENA_PYODIDE", "")
TOOLS = os.environ.get("ARENA_NODE", "")
needs_runtime = pytest.mark.skipif(
    not RUNTIME, reason="no Python for browsers: run .ci/pyodide FOLDER and set ARENA_PYODIDE=FOLDER"
)
needs_tools = pytest.mark.skipif(
    not TOOLS, reason="no tools for scripts: run .ci/node FOLDER and set ARENA_NODE=FOLDER"
)


def runtime() -> Runtime:
    """The runtime that CI installs."""
    return Runtime(Path(RUNTIME))


def unpacked_wheels(folder: Path) -> Path:
    """A folder with the packages that the page loads, besides msgspec."""
    for content in [arena_wheel()[1], *wheels_for(["mypy_extensions", "pluggy"]).values()]:
        with ZipFile(BytesIO(content)) as wheel:
            wheel.extractall(folder)
    return folder


def in_node(module: str, arguments: str, *folders: Path) -> subprocess.CompletedProcess[str]:
    """Runs a module under Pyodide in node, with these folders as its path of imports."""
    command = ["node", str(ROOT / "tests" / "support" / "pyodide.mjs"), RUNTIME, module, arguments, *map(str, folders)]
    return subprocess.run(command, capture_output=True, text=True)
