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
    assert "outlaw is better than random at a table of two." in repr(found)
    assert "<p>" in found._repr_html_()
    with pytest.raises(harness.UsageError, match="Unknown game of this comparison"):
        _ = found["x-pasch"]


def test_a_class_is_compared_at_a_table_with_other_bots():
    found = harness.compare(First, "random", games=["el-paso"], bots=["skittish"], seed=1, most=3, workers=0)
    assert found[0].question.company == ("skittish",)
    assert found[0].matches <= 3


def test_options_of_the_command_line_are_available_from_python(capsys):
    found = harness.compare(
        "outlaw", "random", games="el-paso", bots=["diehard"], way="gauntlet", margin=0.2, seed=1, workers=0
    )
    assert (found[0].question.way, found[0].question.margin) == ("gauntlet", 0.2)
    assert "outlaw does better than random against diehard." in repr(found)
    assert "take turns at one place" in capsys.readouterr().err
    assert "margin=0.2, way='gauntlet'" in found.run.info.command
    harness.compare(resume=found.run.folder, workers=0, quiet=True)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("fields", [{"deals": 5}, {"most": 0}, {"most": "9"}, {"margin": 5.0}, {"margin": -1},
        {"way": "pear"}])  # fmt: skip
def test_invalid_options_are_refused(fields):
    with pytest.raises(harness.UsageError):
        harness.compare("outlaw", "random", games="el-paso", **fields)
