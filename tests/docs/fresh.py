"""A fresh environment in which arena is installed and nothing else that a newcomer would not have."""

from __future__ import annotations

import os
import subprocess
import sysconfig
import venv
from pathlib import Path


class Fresh:
    """Runs command lines as a person would who has just installed arena; packages go into its own site folder."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "work"
        self.folder.mkdir(parents=True)
        self._bin = root / "env" / "bin"
        venv.create(root / "env", with_pip=False)
        [site] = (root / "env").glob("lib/python*/site-packages")
        ours = sysconfig.get_path("purelib")
        (site / "arena-under-test.pth").write_text(f"import site; site.addsitedir({ours!r})\n")
        python = self._bin / "python"
        self._script("arena", "from harness.cli import main\nmain()", python)
        # No network in tests: what a package needs to be built is there already.
        quiet = "--quiet --no-deps --no-build-isolation --disable-pip-version-check --root-user-action=ignore"
        self._script("pip", f'exec {python} -m pip "$@" {quiet}')

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
            env={**kept, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "100"},
            capture_output=True,
            text=True,
        )

    def succeed(self, command: str, folder: Path | None = None) -> str:
        """What a command line printed that must not fail."""
        result = self.run(command, folder)
        assert result.returncode == 0, f"$ {command}\n{result.stdout}{result.stderr}"
        return result.stdout
