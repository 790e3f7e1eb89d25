"""What is mutated, and which tests ought to notice."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
APART = {"__init__", "actions", "components", "game", "event_text", "imagine", "text", "view"}
"""Modules of an engine that are not its rules: names, texts, data, what is shown."""


class Target(NamedTuple):
    """Modules, the quick tests that every mutant of them meets, and slow ones for those that live through that."""

    modules: tuple[str, ...]
    quick: tuple[str, ...]
    slow: tuple[str, ...] = ()


def _modules(folder: str) -> tuple[str, ...]:
    found = [path for path in sorted((ROOT / folder).glob("*.py")) if path.stem not in APART]
    return tuple(f"{folder}/{path.name}" for path in found)


def _engine(name: str) -> Target:
    return Target(
        _modules(f"engines/{name}"),
        (f"tests/rules/{name}", "tests/golden"),
        (f"tests/property/test_{name}.py", f"tests/oracles/test_{name}.py"),
    )


TARGETS = (
    Target(
        ("harness/core/options.py",),
        ("tests/core/test_options.py", "tests/runs/test_run_options.py"),
        ("tests/plugins/test_registry.py", "tests/cli")
    ),
    Target(
        ("harness/executors/retry.py",),
        ("tests/executors/test_retry.py", "tests/isolation/test_crash_without_blame.py"),
        ("tests/executors",),
    ),
    Target(
        ("harness/match/referee.py",),
        ("tests/match/test_referee.py", "tests/match/test_stepper.py"),
        ("tests/executors", "tests/play"),
    ),
    Target(
        _modules("harness/ratings"),
        (*(f"tests/ratings/test_{name}.py" for name in
           ("anytime", "counts", "skill", "statistics", "leaderboard", "overall")),
         "tests/comparison/test_sequential_test.py", "tests/output/test_tables.py"),
        ("tests/ratings", "tests/formats", "tests/comparison"),
    ),
    *map(_engine, ("el_paso", "x_pasch", "gnadenlos")),
)  # fmt: skip


def target_of(module: str) -> Target:
    """The target that a module belongs to."""
    return next(target for target in TARGETS if module in target.modules)


def modules() -> list[str]:
    """Every module that is mutated."""
    return [module for target in TARGETS for module in target.modules]
