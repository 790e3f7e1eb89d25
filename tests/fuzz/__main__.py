"""Fuzz formats: `python -m tests.fuzz run.json records --cases 20000`, or all of them without a name.

With --cli each case is a command in a separate process. Every case has a number, and the same number is always the
same case: --only repeats one of them.
"""

from __future__ import annotations

import argparse
import builtins
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

from harness.executors import base
from harness.isolation.entrants import IsolationPolicy
from harness.isolation.process import Process
from harness.match.faults import BotFault
from harness.plugins import registry
from harness.plugins.discovery import installed_plugins
from harness.runs import planning
from tests.fuzz.formats import FORMATS, IN_PROCESS, Format, check_output
from tests.fuzz.guard import MAX_CPU_S, ROOT, Guard

CLI_TIMEOUT_S = 60
EVIL = """#!/bin/sh
''':'
touch ../../outside/executed
exit
'''
import builtins
builtins.EVIL = True
raise SystemExit("it was executed")
"""
"""A file in the folder of each case, a Python module and a shell script: reading files must not run it."""


class Fuzzer:
    """Runs the cases of one format, each in a fresh copy of the example."""

    def __init__(self, kind: type[Format], home: Path, guard: Guard | None) -> None:
        """Without a `guard`, each case is a command in a separate process."""
        self.format, self.guard = kind(), guard
        self.example, self.folder, self.outside = home / f"{kind.name}-example", home / "inside/case", home / "outside"
        self.seen: set[str] = set()
        """Commands that were run before: no case is blamed for what they import."""
        self.example.mkdir()
        (self.example / "evil.py").write_text(EVIL)
        (self.example / "evil.py").chmod(0o755)
        os.chdir(self.example)
        self.format.prepare()

    def run_case(self, number: int) -> tuple[str, str]:
        """Return what a case came to, and what was found, "" if nothing."""
        rng = Random(f"{self.format.name}/{number}")
        command = self._pick(rng)
        self._renew()
        if self.guard is not None and command not in self.seen:
            self.seen.add(command)
            self._warm_up(command)
        try:
            self.format.write(rng)
        except RecursionError:
            return "too deep to be written", ""
        try:
            outcome = self._run(command, rng)
            assert os.listdir(self.outside) == ["kept.txt"], "a file was written outside"  # noqa: PTH208 - its names
            assert not hasattr(builtins, "EVIL"), "evil.py was executed in this process"
        except BaseException as error:
            vars(builtins).pop("EVIL", None)
            return "finding", f"arena {command}\n" + "".join(traceback.format_exception(error))
        return outcome, ""

    def _pick(self, rng: Random) -> str:
        kind, pick = self.format, rng.random()
        if self.guard is None:
            usual = [each for each in kind.commands if each not in IN_PROCESS]
            return rng.choice(kind.other_commands if kind.other_commands and (pick < 0.4 or not usual) else usual)
        return rng.choice(kind.slow_commands if kind.slow_commands and pick < 0.01 else kind.commands)

    def _renew(self) -> None:
        os.chdir(self.example)
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.example, self.folder)
        shutil.rmtree(self.outside, ignore_errors=True)
        self.outside.mkdir()
        (self.outside / "kept.txt").touch()
        os.chdir(self.folder)

    def _warm_up(self, command: str) -> None:
        """Run a command on the unchanged example, unwatched: the first time, libraries are loaded and fonts listed."""
        if command not in ("read", "page"):
            self.format.keep()
            self.format.run(command, Random(0))
            self._renew()

    def _run(self, command: str, rng: Random) -> str:
        if self.guard is not None:
            with self.guard.watched(MAX_CPU_S * (3 if command in self.format.slow_commands else 1)):
                return self.format.run(command, rng)
        arguments = [sys.executable, "-m", "harness", *shlex.split(command)]
        done = subprocess.run(
            arguments, capture_output=True, stdin=subprocess.DEVNULL, text=True, errors="replace", timeout=CLI_TIMEOUT_S
        )
        check_output(done.returncode, done.stdout + done.stderr)
        return f"exit code {done.returncode}"


def fuzz(fuzzer: Fuzzer, cases: range) -> Iterator[str]:
    """Run these cases; yield a text for each different finding, and at last the counts."""
    outcomes: Counter[str] = Counter()
    findings: set[str] = set()
    begin = time.monotonic()
    for number in cases:
        outcome, finding = fuzzer.run_case(number)
        outcomes[outcome] += 1
        if finding and (place := place_of_finding(finding)) not in findings:
            findings.add(place)
            yield f"--- {fuzzer.format.name}, case {number}: {finding[-4000:]}\n"
    counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    way = "through the command line" if fuzzer.guard is None else "in process"
    yield (
        f"{fuzzer.format.name}: {len(cases)} cases {way} in {time.monotonic() - begin:.0f} s: {counts}; "
        f"{len(findings)} different findings"
    )


def place_of_finding(finding: str) -> str:
    """Return what distinguishes findings: the innermost lines of Arena, and the kind of error."""
    frames = re.findall(r'File "[^"]*/((?:harness|engines)/[^"]*)", line (\d+)', finding)
    command, *_, last = finding.strip().splitlines()
    return f"{frames[-2:]} {last.partition(':')[0]}" if frames else f"{command[:20]} {re.sub('[0-9]+', '0', last)[:60]}"


def stay_in_process() -> None:
    """Start no workers and no sandboxes, load plugins once, keep trials short: that takes longer than most cases."""
    registry.installed_plugins = cache(installed_plugins)  # type: ignore[attr-defined]  # imported there
    base.CAN_FORK = False
    planning.MIN_TRIAL_S = 0.0

    def refuse(*_: object) -> Process:
        raise BotFault("exception", "no sandbox is started here")

    IsolationPolicy.start = refuse  # type: ignore[assignment, method-assign]


def main() -> int:
    """Parse the command line; the exit code is 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("formats", nargs="*", choices=[*FORMATS, []], metavar="FORMAT", help=", ".join(FORMATS))
    parser.add_argument("--cases", type=int, default=1000, help="cases of each format")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--only", type=int, help="one case, by its number")
    parser.add_argument("--cli", action="store_true", help="each case as a command in a separate process")
    given = parser.parse_args()
    cases = range(given.first, given.first + given.cases) if given.only is None else range(given.only, given.only + 1)
    found = 0
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        inside = home / "inside"
        inside.mkdir()
        os.environ["PYTHONPATH"] = str(ROOT)
        os.environ |= dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "TMPDIR"), str(inside))
        tempfile.tempdir = str(inside)
        guard = None
        if not given.cli:
            stay_in_process()
            guard = Guard(inside)
        for name in given.formats or FORMATS:
            if given.cli and not (FORMATS[name].other_commands or FORMATS[name].commands != ("read",)):
                continue
            for text in fuzz(Fuzzer(FORMATS[name], home, guard), cases):
                print(text, flush=True)  # noqa: T201 - the output of this program
                found += text.startswith("---")
        os.chdir(ROOT)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
