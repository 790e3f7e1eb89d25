"""The examples in the docstrings of the façade do what they show."""

from __future__ import annotations

import doctest

import pytest

import harness

CALLED = ("MatchStepper", "compare", "open_run", "play_match", "step_match", "tournament")


@pytest.mark.parametrize("name", CALLED)
def test_public_functions_have_working_examples(name):
    function = getattr(harness, name)
    [found] = doctest.DocTestFinder(recurse=False).find(function, name, globs=dict(vars(harness)) | {
        each: getattr(harness, each) for each in CALLED
    })  # fmt: skip
    assert found.examples
    assert doctest.DocTestRunner().run(found).failed == 0
