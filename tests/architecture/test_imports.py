"""The folder tree is the architecture: imports run one way, the core knows no feature, the façade is complete."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import harness
from harness.plugins.features import (
    ASK_BOT,
    CHECK_RUN_SIGNATURE,
    CLUSTER_CHECKUP,
    COMMANDS,
    COMPLETION,
    COMPLETIONS,
    EXECUTORS,
    FORMATS,
    LUCK_ADJUSTED_LEADERBOARDS,
    MATCH_FRAME,
    PLAY_IN_BROWSER,
    PLAYABLE_PAGE,
    SIGN_RUN,
    VERIFY_RUN,
    WEBHOOK,
    load_object,
)

ROOT = Path(__file__).parents[2]
MODULES = sorted(path for top in ("harness", "engines", "bots") for path in (ROOT / top).rglob("*.py"))
CORE = (
    "core", "plugins", "match", "isolation", "executors", "ratings", "formats", "runs", "output", "api", "cli",
)  # fmt: skip
FEATURES = (
    "ask", "play", "verify", "adapters", "luck", "comparison", "report", "league", "cluster", "serve", "new_package",
    "browser", "analysis", "export", "conformance", "bench", "completion", "doctor", "webhook",
)  # fmt: skip
RANK = {package: rank for rank, package in enumerate((*CORE, *FEATURES))}
"""A package imports only packages before it: the core knows no feature, and features are ranked among themselves."""
FEATURE_TABLE = "harness.plugins.features"
"""The one module that names modules of every package, as text."""
LOOSE = {"__init__", "__main__", "_version"}
"""Modules outside all packages: the façade, `python -m harness`, and the version, which imports nothing."""


def imported(path: Path, types: bool = True) -> set[str]:
    """Modules that a file imports, also lazily and, with `types`, for type checkers, and those that a text names."""
    names: set[str] = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in [] if types else ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = [ast.Pass()]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update("harness.__all__" if alias.name == "harness" else alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level:
            names.add("harness.relative")  # written out, an import can be ranked
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(
                f"{node.module}.{alias.name}" for alias in node.names if (ROOT / node.module.replace(".", "/")).is_dir()
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.update(re.findall(r"^(harness(?:\.\w+)+)(?![\w(])", node.value))
    return names


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def local(names: set[str]) -> set[str]:
    return {name for name in names if name.split(".")[0] in ("harness", "engines", "bots")}


def goes_up(package: str, name: str) -> bool:
    """Whether an import of this name leads out of the package to one that is not below it."""
    top, *parts = name.split(".")
    if top != "harness":
        return True
    if not parts or parts[0] == package:
        return False
    return parts[0] != "_version" and RANK.get(parts[0], len(RANK)) >= RANK[package]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_packages_import_only_lower_packages(path):
    name, names = name_of(path), local(imported(path))
    top, *parts = name.split(".")
    if name == FEATURE_TABLE:
        return
    if path.parent.name == "loops":  # run by path beside any version of arena: what they may import has a test
        return
    if top == "harness":
        if path.stem in LOOSE and path.parent == ROOT / "harness":
            assert path.stem != "_version" or not names
            return
        assert parts[0] in RANK, f"harness.{parts[0]} has no rank: add it to CORE or FEATURES"
        if parts[0] == "api":  # Match.ask and Run.verify return what features define, and load these when called
            names = local(imported(path, types=False))
        assert [other for other in sorted(names) if goes_up(parts[0], other)] == []
    elif top == "engines":
        game = ".".join(name.split(".")[:2])
        names -= {"harness.__all__"}
        if name != "engines":
            allowed = {other for other in names if other == game or other.startswith(game + ".")}
            facade = {"harness", *(f"harness.{public}" for public in harness.__all__)}
            assert names - allowed - facade == set()
    else:
        names -= {"harness.__all__"}
        internal = {n for n in names if n.startswith("harness.") and n.split(".")[1] not in harness.__all__}
        assert not internal


def test_an_import_of_a_higher_package_is_detected_in_every_form(tmp_path):
    for text in (
        "import harness.cli", "from ..cli import run", "from .. import cli", "import harness\nharness.tournament()",
        "def f():\n    from harness.runs import store", 'X = "harness.api.runs:Run"',
    ):  # fmt: skip
        path = tmp_path / "module.py"
        path.write_text(text)
        assert any(goes_up("match", name) for name in imported(path)), text
    assert goes_up("cli", "harness.report.page")
    assert goes_up("core", "bots.random")
    assert not goes_up("runs", "harness.core.records")


def test_harness_is_a_facade_and_packages():
    found = {path.stem for path in (ROOT / "harness").iterdir() if path.suffix == ".py"}
    assert found == LOOSE
    assert {path.name for path in (ROOT / "harness").iterdir() if (path / "__init__.py").exists()} == set(RANK)


def test_the_feature_table_names_what_exists():
    assert {name: load_object(command.where).name for name, command in COMMANDS.items()} == {
        name: name for name in COMMANDS
    }
    assert {name: form.name for name, form in FORMATS.items()} == {name: name for name in FORMATS}
    methods = (ASK_BOT, VERIFY_RUN, SIGN_RUN, CHECK_RUN_SIGNATURE, MATCH_FRAME)
    for where in (*EXECUTORS.values(), *methods, LUCK_ADJUSTED_LEADERBOARDS, PLAYABLE_PAGE, PLAY_IN_BROWSER):
        assert callable(load_object(where)), where
    assert load_object(WEBHOOK)
    assert all(import_module(module) for module in (CLUSTER_CHECKUP, COMPLETION, COMPLETIONS))
    assert all((ROOT / "harness" / package / "__init__.py").exists() for package in (*CORE, *FEATURES))


def test_the_facade_is_sorted_and_complete():
    assert sorted(harness.__all__) == sorted(set(harness.__all__))
    assert all(getattr(harness, name) is not None for name in harness.__all__)
    assert dir(harness) == sorted(harness.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Robot'"):
        _ = harness.Robot


def test_importing_the_facade_loads_nothing_heavy():
    heavy = ("click", "trueskill", "pluggy", "tabulate", "msgspec", "multiprocess", "harness.core", "harness.api")
    code = f"import sys, harness; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_no_machine_path_in_the_tree():
    for path in [*MODULES, *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        assert str(ROOT.parent) + "/" not in path.read_text(encoding="utf-8"), path
