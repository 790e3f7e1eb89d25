"""Mutants: every kind is made, what is planted is found, and the tests notice most of them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from click.testing import CliRunner

from tests.mutation.__main__ import main, noticed, sample
from tests.mutation.equivalent import EQUIVALENT
from tests.mutation.mutator import mutants
from tests.mutation.targets import ROOT, TARGETS, modules, target_of
from tests.mutation.trial import Tree, Verdict, tree

FLOOR = 0.85
"""Share of mutants that the quick tests notice; they noticed more when this was measured (see below)."""


def changes(source: str) -> list[tuple[str, str]]:
    return [(mutant.old, mutant.new) for mutant in mutants(source)]


@pytest.mark.parametrize(
    ("source", "new"),
    [
        ("a < b", ["pass", "(a <= b)", "(a >= b)"]),
        ("a == b", ["pass", "(a != b)"]),
        ("a is not b", ["pass", "(a is b)"]),
        ("a in b", ["pass", "(a not in b)"]),
        ("a and b", ["pass", "(a or b)"]),
        ("not a", ["pass", "(a)"]),
        ("a + b", ["pass", "(a - b)"]),
        ("a // b", ["pass", "(a * b)"]),
        ("x = 7", ["x = 8", "x = 6"]),
        ("x = 0", ["x = 1", "x = (-1)"]),
        ("x = 0.25", ["x = 0.5"]),
        ("x = True", ["x = False"]),
        ("x = 'text'", []),
        ("x = a if b else c", ["x = (c if b else a)"]),
        ("x.y = a", ["pass"]),
        ("x += a", ["pass", "x -= a"]),
        ("raise a", ["pass"]),
        ("assert a < b", []),
        ("f(f'{a < b}')", ["pass"]),
        ('"""A docstring."""', []),
        ("def f(a: 1 = 2) -> 3: return a", ["def f(a: 1 = 3) -> 3: return a", "def f(a: 1 = 1) -> 3: return a",
                                            "def f(a: 1 = 2) -> 3: return None"]),
        ("if TYPE_CHECKING: x = 1", []),
        ("for a in b: continue", ["for a in b: pass"]),
    ],
)  # fmt: skip
def test_each_kind_of_mutant_is_made(source, new):
    assert [mutant.new for mutant in mutants(source)] == new


def test_a_mutant_differs_in_one_place_and_says_where():
    source = 'first = "Ärger"; second = "é" + str(1)\nthird = (first\n    or second)\n'
    assert changes(source) == [
        ('first = "Ärger"; second = "é" + str(1)', "first = \"Ärger\"; second = ('é' - str(1))"),
        ('first = "Ärger"; second = "é" + str(1)', 'first = "Ärger"; second = "é" + str(2)'),
        ('first = "Ärger"; second = "é" + str(1)', 'first = "Ärger"; second = "é" + str(0)'),
        ("first or second", "first and second"),
    ]
    assert [mutant.line for mutant in mutants(source)] == [1, 1, 1, 2]


def test_every_listed_module_test_and_equivalent_mutant_exists():
    for target in TARGETS:
        assert all((ROOT / name).exists() for name in (*target.modules, *target.quick, *target.slow))
    changed = {module: mutants((ROOT / module).read_text()) for module, _, _ in EQUIVALENT}
    known = {(module, mutant.old, mutant.new) for module, found in changed.items() for mutant in found}
    assert set(EQUIVALENT) <= known  # the code may have changed since


def plant(copy: Tree, module: str, old: str, new: str) -> str:
    """What becomes of a mutant that is chosen by hand."""
    [mutant] = [one for one in mutants((ROOT / module).read_text()) if (one.old, one.new) == (old, new)]
    return copy.fate(module, mutant, target_of(module).quick)


def judged(copy: Tree, size: int, *chosen: str, tests: Sequence[str] = ()) -> list[Verdict]:
    """What becomes of some mutants of each module, before these tests or else the quick ones."""
    return [
        Verdict(module, mutant, copy.fate(module, mutant, tests or target_of(module).quick))
        for module in chosen
        for mutant in sample(module, size, 1)
    ]


def test_a_few_mutants_are_killed():
    options, retry = "harness/core/options.py", "harness/executors/retry.py"
    with tree() as copy:
        assert plant(copy, options, "settings[name] = value", "pass") == "killed"
        verdicts = judged(copy, 2, options)
        verdicts += judged(copy, 2, retry, tests=["tests/executors/test_retry.py"])  # the others stop processes
    assert len(verdicts) == 4
    assert [str(verdict) for verdict in verdicts if verdict.fate == "lives"] == []


@pytest.mark.slow
def test_most_mutants_of_every_module_are_killed():
    with tree() as copy:
        assert plant(copy, "engines/el_paso/state.py", "return tuple(self.money)", "return None") == "killed"
        verdicts = judged(copy, 2, *(module for module in modules() if "gnadenlos" not in module))
    assert noticed(verdicts) > FLOOR, [str(verdict) for verdict in verdicts if verdict.fate == "lives"]


def test_the_command_refuses_modules_that_are_not_mutated():
    result = CliRunner().invoke(main, ["harness/nothing.py"])
    assert result.exit_code == 2
    assert "None of these is mutated. Choose from: harness/core/options.py" in result.output
