"""The short form of the fuzzer: a few cases of every format. `python -m tests.fuzz --help` has the long one."""

from __future__ import annotations

import subprocess
import sys

from tests.fuzz.formats import FORMATS
from tests.fuzz.guard import ROOT


def test_no_format_has_a_traceback_a_hang_or_a_file_outside_its_folder() -> None:
    command = [sys.executable, "-m", "tests.fuzz", "--cases", "15"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(": 15 cases in process") == len(FORMATS)
