"""Packages of plugins, as strangers make and install them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PIP = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-compile",
       "--no-index", "--disable-pip-version-check", "--root-user-action=ignore", "--target"]  # fmt: skip
PYPROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "{version}"

[project.entry-points.arena]
{module} = "{module}"

[tool.setuptools]
{contents}
"""


def install(target: Path, *projects: Path | str) -> None:
    """Has pip install projects or wheels into a folder, without a network; what follows "-e" in place."""
    subprocess.run([*PIP, str(target), *map(str, projects)], check=True, capture_output=True)
