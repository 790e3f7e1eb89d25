"""Authors who use a type checker are helped by it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def mypy(text: str, tmp_path: Path) -> str:
    (tmp_path / "sprinter.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "sprinter.py"],
        cwd=tmp_path, env={**os.environ, "MYPYPATH": str(ROOT)}, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout + done.stderr


def readme_bot() -> str:
    return re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[0]


def test_the_bot_of_the_readme_passes_strictly(tmp_path):
    bot = readme_bot()
    assert "Bot[ElPasoView]" in bot
    assert "Success" in mypy(bot, tmp_path)


def test_a_field_that_the_view_does_not_have_is_found(tmp_path):
    assert '"ElPasoView" has no attribute "starz"' in mypy(readme_bot().replace("view.stars", "view.starz"), tmp_path)


def test_a_view_of_another_game_is_found(tmp_path):
    text = readme_bot().replace("Bot[ElPasoView]", "Bot[XPaschView]")
    text = text.replace("import ElPasoView", "import ElPasoView\nfrom engines.x_pasch import XPaschView")
    assert "incompatible with supertype" in mypy(text, tmp_path)


def test_a_bot_without_a_view_passes_strictly_too(tmp_path):
    text = (
        "from collections.abc import Sequence\nfrom typing import Any\n\nimport harness\n\n\n"
        "class Any_(harness.Bot):\n"
        "    def choose(self, view: Any, actions: Sequence[harness.Action]) -> harness.Action:\n"
        "        return actions[0]\n"
    )
    assert "Success" in mypy(text, tmp_path)
