"""The whole tree is typed and lint-clean, and authors who use a type checker are helped by it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import arena

ROOT = Path(__file__).parents[2]
GAMES = ("el-paso", "gnadenlos", "x-pasch")
README_BOT = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[0]
OTHER_VIEW = README_BOT.replace("Bot[ElPasoView]", "Bot[XPaschView]").replace(
    "import ElPasoView", "import ElPasoView\nfrom engines.x_pasch import XPaschView"
)
WITHOUT_VIEW = (
    "from collections.abc import Sequence\nfrom typing import Any\n\nimport harness\n\n\n"
    "class Any_(harness.Bot):\n"
    "    def choose(self, view: Any, actions: Sequence[harness.Action]) -> harness.Action:\n"
    "        return actions[0]\n"
)
BOTS = {
    "readme": README_BOT,
    "misspelt": README_BOT.replace("view.stars", "view.starz"),
    "other_view": OTHER_VIEW,
    "without_view": WITHOUT_VIEW,
}


@pytest.mark.parametrize("check", [["ruff", "check"], ["ruff", "format", "--check"], ["mypy"]], ids=" ".join)
def test_the_code_passes_every_check(check):
    result = subprocess.run([sys.executable, "-m", *check], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.fixture(scope="module")
def errors(tmp_path_factory):
    """The errors that mypy finds in each file, as strictly as in the tree, whose cache it has from the test above."""
    folder = tmp_path_factory.mktemp("typed")
    for name, text in BOTS.items():
        (folder / f"{name}.py").write_text(text)
    for game in GAMES:
        arena("new-bot", f"tidy-{game}", "--game", game, "--into", folder)
    arena("new-game", "tidy-game", "--into", folder)
    files = [str(path) for path in sorted(folder.rglob("*.py")) if "test_" not in path.name]
    command = [sys.executable, "-m", "mypy", "--strict", *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert f"checked {len(files)} source files)" in done.stdout, done.stdout + done.stderr
    found: dict[str, list[str]] = {Path(file).stem: [] for file in files}
    for line in done.stdout.splitlines()[:-1]:
        found[Path(line.partition(":")[0]).stem].append(line)
    return found


def test_the_bot_of_the_readme_passes_strictly(errors):
    assert "Bot[ElPasoView]" in README_BOT
    assert errors["readme"] == []


def test_a_field_that_the_view_does_not_have_is_found(errors):
    assert '"ElPasoView" has no attribute "starz"' in "".join(errors["misspelt"])


def test_a_view_of_another_game_is_found(errors):
    assert "incompatible with supertype" in "".join(errors["other_view"])


def test_a_bot_without_a_view_passes_strictly_too(errors):
    assert errors["without_view"] == []


@pytest.mark.parametrize("game", GAMES)
def test_new_python_bots_pass_strictly(errors, game):
    assert errors[f"tidy_{game.replace('-', '_')}_bot"] == []


def test_a_new_game_passes_strictly(errors):
    assert errors["tidy_game_game"] == []
