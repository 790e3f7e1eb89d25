"""The loops that may run in another version of Arena know its façade, and nothing behind it but the referee."""

from __future__ import annotations

import ast
from importlib import import_module
from runpy import run_path

import harness
from tests.architecture.seed_strings import ROOT

LOOPS = [ROOT / "harness" / "bench" / "loops" / name for name in ("arena.py", "arena_parts.py")]


def test_benchmark_loops_import_only_names_of_the_facade() -> None:
    for path in LOOPS:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert not [each.name for each in node.names if each.name.startswith("harness.")], path.name
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "harness":
                assert node.module == "harness", path.name
                assert {each.name for each in node.names} <= set(harness.__all__), path.name


def test_the_referee_is_where_the_benchmark_loop_expects_it() -> None:
    paths = [
        (path.name, node.value)
        for path in LOOPS
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("harness.")
    ]
    assert paths == [("arena.py", run_path(str(LOOPS[0]))["REFEREE"])]
    assert callable(import_module(paths[0][1]).play)
