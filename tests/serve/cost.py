"""What a live page costs: `python -m tests.serve.cost 100000` measures it with a run of so many records."""

from __future__ import annotations

import http.client
import json
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from harness.bench.records import make_run
from harness.serve.live_run import LiveRun
from tests.serve.support import GrowingRun, Server, followed
from tests.support.games import REGISTRY

READERS = 200
LATER = 400
"""Matches that are not there at first."""


def seconds(work) -> float:
    """Processor time of a call."""
    before = process_time()
    work()
    return process_time() - before


def read_all(live: LiveRun) -> None:
    while not live.caught_up:
        live.read_updates()


def measure(records: int, folder: Path) -> dict[str, str]:
    """What it takes to follow a run, in this process."""
    growing = GrowingRun(make_run(folder / "made", records, REGISTRY).folder, folder / "live")
    first = len(growing) - LATER
    growing.add(*range(first))
    live = followed(growing.folder)
    told = {"first reading": f"{seconds(lambda: read_all(live)):.2f} s"}
    told["a look, nothing new"] = f"{1000 * seconds(lambda: [live.read_updates() for _ in range(100)]) / 100:.2f} ms"
    live._standings_due = float("inf")
    growing.add(*range(first, first + 10))
    told["ten new matches"] = f"{1000 * seconds(live.read_updates):.2f} ms"
    live._standings_due = 0.0
    growing.add(first + 10)
    told["standings anew"] = f"{seconds(live.read_updates):.2f} s"
    live._standings_due = 0.0
    growing.add(*range(first + 20, first + 60))
    told["standings, 40 out of order"] = f"{seconds(live.read_updates):.2f} s"
    return told


def measure_readers(run: Path) -> dict[str, str]:
    """What the server takes, in a process of its own, with many readers."""
    with Server(run, "--port", 0) as server:
        status, spent = Path(f"/proc/{server.process.pid}/status"), Path(f"/proc/{server.process.pid}/stat")

        def megabytes() -> int:
            return (
                int(next(line for line in status.read_text().splitlines() if line.startswith("VmRSS")).split()[1])
                // 1024
            )

        def cpu() -> float:
            return sum(map(int, spent.read_text().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")

        asked = http.client.HTTPConnection("127.0.0.1", server.port)
        asked.request("GET", "/api/standings")
        json.loads(asked.getresponse().read())
        told, readers = {"memory": f"{megabytes()} MB"}, []
        for _ in range(READERS):
            reader = http.client.HTTPConnection("127.0.0.1", server.port)
            reader.request("GET", "/events")
            news = reader.getresponse()
            while b"event: progress" not in news.readline():
                pass
            readers.append((reader, news))
        told[f"memory, {READERS} readers"] = f"{megabytes()} MB"
        before = cpu()
        time.sleep(5)
        told["processor, nothing happening"] = f"{1000 * (cpu() - before) / 5:.0f} ms a second"
        for reader, _ in readers:
            with suppress(OSError):
                reader.close()
        return told


if __name__ == "__main__":
    with TemporaryDirectory() as scratch:
        for number in map(int, sys.argv[1:] or ("10000", "100000")):
            place = Path(scratch) / str(number)
            place.mkdir()
            found = measure(number, place) | measure_readers(place / "made")
            sys.stdout.write(f"{number:,} records: {found}\n")
