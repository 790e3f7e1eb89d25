"""The folder tree is the architecture: imports run one way, modules stay small, the façade is complete."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import harness

ROOT = Path(__file__).parents[2]
MODULES = sorted(path for top in ("harness", "engines", "bots") for path in (ROOT / top).rglob("*.py"))
LOWEST = {"harness.core.types", "harness.core.errors", "harness.core.chance", "harness._version"}


def imported(path: Path) -> set[str]:
    """Modules that a file imports, those for type checkers alone left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(
                f"{node.module}.{alias.name}" for alias in node.names if (ROOT / node.module.replace(".", "/")).is_dir()
            )
    return names


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def local(names: set[str]) -> set[str]:
    return {name for name in names if name.split(".")[0] in ("harness", "engines", "bots")}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_run_one_way(path):
    name, names = name_of(path), local(imported(path))
    top = name.split(".")[0]
    if name in LOWEST:
        assert not names
    elif top == "harness":
        assert not {other for other in names if other.split(".")[0] in ("engines", "bots")}
        if not name.startswith("harness.cli"):
            assert not {other for other in names if other.startswith("harness.cli")}
    elif top == "engines":
        game = ".".join(name.split(".")[:2])
        if name != "engines":
            allowed = {other for other in names if other == game or other.startswith(game + ".")}
            facade = {"harness", *(f"harness.{public}" for public in harness.__all__)}
            assert names - allowed - facade == set()
    else:
        internal = {n for n in names if n.startswith("harness.") and n.split(".")[1] not in harness.__all__}
        assert not internal


def test_no_module_is_past_its_seam():
    long = {str(path.relative_to(ROOT)): n for path in MODULES if (n := len(path.read_text().splitlines())) > 500}
    assert not long


def test_the_facade_is_sorted_and_complete():
    assert sorted(harness.__all__) == sorted(set(harness.__all__))
    assert all(getattr(harness, name) is not None for name in harness.__all__)
    assert dir(harness) == sorted(harness.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Robot'"):
        _ = harness.Robot


def test_importing_the_facade_loads_nothing_heavy():
    heavy = ("click", "trueskill", "pluggy", "tabulate", "msgspec")
    code = f"import sys, harness; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_no_machine_path_in_the_tree():
    for path in [*MODULES, *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        assert str(ROOT.parent) + "/" not in path.read_text(encoding="utf-8"), path
