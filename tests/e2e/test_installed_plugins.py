"""Plugin packages made by hand, installed with pip, used from the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.packages import PYPROJECT, install

GOOD = '''
import harness

class Sprinter(harness.Bot):
    """Leaves a town at the third star."""

    games = ("el-paso",)

    def choose(self, view, actions):
        if view.phase == "answer":
            return actions[view.stars >= 3]
        return actions[0]

@harness.hookimpl
def arena_bots():
    return [Sprinter]
'''
PACKAGES = {
    "good_pack": GOOD,
    "syntax_pack": "class Sprinter(:\n",
    "raising_pack": "import harness\n\n@harness.hookimpl\ndef arena_bots():\n    raise RuntimeError('no bots today')\n",
    "taken_pack": GOOD.replace("Sprinter", "Random"),
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with all these packages installed."""
    root = tmp_path_factory.mktemp("packages")
    for name, code in PACKAGES.items():
        folder = root / name
        folder.mkdir()
        (folder / "pyproject.toml").write_text(
            PYPROJECT.format(name=name, version="0.3", module=name, contents=f'py-modules = ["{name}"]')
        )
        (folder / f"{name}.py").write_text(code)
    target = root / "site"
    install(target, *(root / name for name in PACKAGES))
    return target


def arena(site: Path, *args: str) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("arena")
    return subprocess.run([program, *args], env={**os.environ, "PYTHONPATH": str(site)}, capture_output=True, text=True)


def test_a_bot_from_an_installed_package_is_listed_and_plays(site):
    listed = arena(site, "bots")
    assert listed.returncode == 0
    assert "sprinter" in listed.stdout
    assert "good-pack 0.3" in listed.stdout or "good_pack 0.3" in listed.stdout
    played = arena(site, "tournament", "--game", "el-paso", "--deals", "1", "--bot", "sprinter", "--bot", "random")
    assert played.returncode == 0, played.stderr
    assert "sprinter" in played.stdout


def test_broken_packages_are_named_and_the_rest_works(site):
    said = arena(site, "bots").stderr
    assert "syntax error in syntax_pack.py, line 1" in said
    assert "no bots today" in said
    assert "its bot 'random' is skipped, arena-harness has that name already" in said
    assert said.count("Warning: ") == 3
    assert "Traceback" not in said


@pytest.mark.parametrize("command", [["bots"], ["games"], ["tournament", "--deals", "1"]])
def test_strict_fails_on_broken_packages(site, command):
    result = arena(site, *command, "--strict")
    assert result.returncode == 2
    assert "syntax_pack" in result.stderr
    assert "Traceback" not in result.stderr
