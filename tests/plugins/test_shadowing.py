"""A folder called bots or engines in the way of ours is named, with what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def arena(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """`python -m harness` from a folder, which Python puts first on its path."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])}
    return subprocess.run(
        [sys.executable, "-m", "harness", *args], cwd=folder, env=environment, capture_output=True, text=True
    )


@pytest.mark.parametrize("name", ["bots", "engines"])
@pytest.mark.parametrize("content", [None, "", "raise RuntimeError('mine')"], ids=["no package", "empty", "raising"])
def test_a_folder_that_shadows_an_arena_package_is_reported(tmp_path, name, content):
    (tmp_path / name).mkdir()
    (tmp_path / name / "mine.py").write_text("")
    if content is not None:
        (tmp_path / name / "__init__.py").write_text(content)
    said = arena(tmp_path, "bots")
    if content is None:  # a folder that is not a package stands behind every package of that name
        assert said.returncode == 0, said.stderr
        return
    assert said.returncode == 2
    assert f"{tmp_path / name} hides Arena's own package {name!r}" in said.stderr
    assert "rename that" in said.stderr
    assert "Traceback" not in said.stderr


def test_a_module_that_shadows_an_arena_package_is_reported(tmp_path):
    (tmp_path / "bots.py").write_text("")
    said = arena(tmp_path, "tournament")
    assert said.returncode == 2
    assert f"{tmp_path / 'bots.py'} hides Arena's own package" in said.stderr


def test_a_bundled_package_without_its_hooks_is_an_error(monkeypatch):
    import bots
    from harness.core.errors import PluginError
    from harness.plugins.registry import load

    monkeypatch.delattr(bots, "arena_bots")
    with pytest.raises(PluginError, match="hides Arena's own package 'bots'"):
        load()


def test_python_m_harness_runs_arena(tmp_path):
    said = arena(tmp_path, "--version")
    assert said.stdout.startswith("arena, version ")
