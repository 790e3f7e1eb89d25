"""A fresh environment in which arena is installed, what it requires, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

from tests.docs.offline_pip import bring

ROOT = Path(__file__).parents[2]


class Fresh:
    """Runs command lines as a person would who has just installed arena; packages go into its own site folder."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "work"
        self.folder.mkdir(parents=True)
        self._bin = root / "env" / "bin"
        venv.create(root / "env", with_pip=False)
        python = self._bin / "python"
        bring(python, ["arena-harness", "setuptools"])  # the latter builds packages, where pip would fetch it
        self._script("arena", "from harness.cli import run\nrun()", python)
        self._script("pip", f'PYTHONPATH={ROOT} exec {sys.executable} -m tests.docs.offline_pip {python} "$@"')

    def _script(self, name: str, text: str, interpreter: Path = Path("/bin/sh")) -> None:
        path = self._bin / name
        path.write_text(f"#!{interpreter}\n{text}\n")
        path.chmod(0o755)

    def run(self, command: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
        """What a command line printed; stderr, which has notes and progress, is kept apart."""
        path = os.pathsep.join([str(self._bin), os.environ.get("PATH", "")])
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON"))}
        return subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=folder or self.folder,
            env={**kept, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "80"},
            capture_output=True,
            text=True,
        )

    def succeed(self, command: str, folder: Path | None = None) -> str:
        """What a command line printed that must not fail."""
        result = self.run(command, folder)
        assert result.returncode == 0, f"$ {command}\n{result.stdout}{result.stderr}"
        return result.stdout
