"""Run one loop and measure it on request: `python server.py LOOP WORKLOAD`, one line of JSON for each line.

It is started by path, in environments without Arena: standard library only.
"""

from __future__ import annotations

import json
import os
import platform
import runpy
import sys
from collections.abc import Callable
from time import process_time

Play = Callable[[int], int]
"""Plays the match of this seed and returns how many choices of two or more actions it had."""
BLINK = 0.005
"""Seconds between two looks at the clock, at least: looking must cost nothing compared with short games."""


def main(path: str, workload: str) -> None:
    """Says what it runs, then plays as each line asks: {"first": seed, "games": n} or {"first": seed, "seconds": s}."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)  # what a library prints is not an answer
        loop = runpy.run_path(path)
        play: Play = loop["prepare"](workload)
        play(0)
        hello = {"python": platform.python_version(), "versions": loop["versions"]()}
        print(json.dumps(hello), file=answers, flush=True)
        for line in sys.stdin:
            print(json.dumps(measure(play, **json.loads(line))), file=answers, flush=True)


def measure(play: Play, first: int, games: int = 0, seconds: float = 0.0) -> dict[str, float]:
    """Play this many matches, or for this many seconds of processor time, from this seed on."""
    choices = played = 0
    batch = games or 1
    began = process_time()
    while True:
        looked = process_time()
        for seed in range(first + played, first + played + batch):
            choices += play(seed)
        played += batch
        now = process_time()
        if games or now - began >= seconds:
            return {"games": played, "choices": choices, "seconds": now - began}
        if now - looked < BLINK:
            batch *= 2


if __name__ == "__main__":
    main(*sys.argv[1:])
