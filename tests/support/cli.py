"""Runs `arena` in this process."""

from __future__ import annotations

from click.testing import CliRunner, Result

from harness.cli.main import main


def arena(*args: object, code: int = 0) -> Result:
    """Runs a command line and checks its exit code; an error is one sentence, never a traceback."""
    result = CliRunner().invoke(main, [str(arg) for arg in args])
    assert result.exit_code == code, f"exit code {result.exit_code}\n{result.output}\n{result.stderr}"
    assert "Traceback" not in result.output
    if code == 2:
        assert result.stdout == ""
        assert len([line for line in result.stderr.splitlines() if line.startswith("Error: ")]) == 1
    return result
