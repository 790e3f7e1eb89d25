"""Comparing from Python."""

from __future__ import annotations

import json

import pytest

import harness
from tests.api.bots import First
from tests.support.cli import arena


def test_the_verdict_is_that_of_the_command_line():
    found = harness.compare("outlaw", "random", games="el-paso", seed=7, workers=2)
    said = json.loads(arena("compare", "outlaw", "random", "--game", "el-paso", "--seed", 7, "--json").stdout)
    assert len(found) == len(said) == 1
    assert (found[0].answer, found[0].matches, found[0].ahead) == (
        said[0]["answer"],
        said[0]["matches"],
        said[0]["ahead"],
    )
    assert found["el-paso"] is found[0]
    assert "outlaw is better than random." in repr(found)
    assert "<p>" in found._repr_html_()
    with pytest.raises(harness.UsageError, match="Unknown game of this comparison"):
        _ = found["x-pasch"]


def test_a_class_is_compared_in_company():
    found = harness.compare(First, "random", games=["el-paso"], bots=["skittish"], seed=1, most=3, workers=0)
    assert found[0].question.company == ("skittish",)
    assert found[0].sets <= 3


@pytest.mark.parametrize("fields", [{"deals": 5}, {"most": 0}, {"most": "9"}, {"margin": 5.0}, {"margin": -1}])
def test_what_does_not_count_is_refused(fields):
    with pytest.raises(harness.UsageError):
        harness.compare("outlaw", "random", games="el-paso", **fields)
