"""The packages of the page play as CPython does, in the same order of time."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.browser.support import ROOT, in_node, needs_runtime, unpacked_wheels

MODULE = "tests.browser.same_records"


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    return unpacked_wheels(tmp_path_factory.mktemp("packages"))


@needs_runtime
@pytest.mark.parametrize("matches", [
    "quick 20 search 1",
    pytest.param("quick 1000 search 20", marks=pytest.mark.slow),
])  # fmt: skip
def test_matches_in_the_browsers_python_have_the_same_records(packages, matches):
    done = in_node(MODULE, matches, packages, ROOT)
    there = json.loads(done.stdout or pytest.fail(done.stderr))
    command = [sys.executable, "-m", MODULE, *matches.split()]
    here = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    assert not sys.version.startswith(there["python"])
    assert {game: found["digest"] for game, found in there["games"].items()} == {
        game: found["digest"] for game, found in here["games"].items()
    }
