"""Play one run of each kind and write down what must not change when the code is rearranged.

    python -m tests.support.recorded_runs before.json --python ../old/.venv/bin/python
    python -m tests.support.recorded_runs after.json
    python -m tests.support.recorded_runs before.json after.json

The first two commands play a tournament, a swiss, a knockout, a ladder, a gauntlet, a comparison and a league with
versions, and keep their records (without times and checksums) and every figure of their leaderboards. The third
compares two such files and lists the differences.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

CHANGING = ("time", "slowest", "cpu", "sum")
"""Fields of a record that differ between two plays of the same match, and the checksum over them."""
GAINED = ("round", "table")
"""Fields that records of older code do not have: left out, so that recordings of old and new code can be compared."""
TIMES = (*CHANGING, "joined", "ms/decision", "slowest ms")
"""Fields of tables that measure time, or say when something happened."""

RUNS = {
    "tournament": "tournament --seed 2026 --deals 60",
    "swiss": "tournament --seed 11 --game x-pasch --players 4 --format swiss:rounds=4 --deals 5",
    "knockout": "tournament --seed 12 --game x-pasch --players 3 --format knockout --deals 6",
    "ladder": "tournament --seed 13 --game el-paso --players 3 --format ladder:max-matches=240",
    "gauntlet": "tournament --seed 14 --game gnadenlos --format gauntlet --candidate broker --deals 8",
    "comparison": "compare outlaw diehard --game el-paso --seed 15 --most 600",
    "compared pairs": "compare tycoon hustler --game x-pasch --bot raider --seed 16 --most 900 --way pairs",
}
LEAGUE = (
    "league init league --game el-paso --game x-pasch --seed 17",
    "league add first=bot.py --as red --author ann --league league",
    "league add outlaw --league league",
    "league add diehard --league league",
    "league add skittish --league league",
    "league add tycoon --league league",
    "league add raider --league league",
    "league add founder --league league",
    "league run --matches 260 --quiet --league league",
    "league add first=bot.py --as red --author ann --league league",
    "league run --matches 120 --quiet --league league",
    "league retire skittish --league league",
    "league run --matches 60 --quiet --league league",
    "league show --league league --table-format json",
)
BOT = '''from harness import Bot


class First(Bot):
    """Takes one of the first actions."""

    def choose(self, view, actions):
        return actions[min({index}, len(actions) - 1)]
'''


def record_runs(python: str) -> dict[str, Any]:
    """Play every run with this Python and return what was recorded, by run."""
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    found: dict[str, Any] = {}
    with TemporaryDirectory() as folder:

        def arena(arguments: str) -> str:
            command = [python, "-m", "harness", *arguments.split()]
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
            if done.returncode not in (0, 1):
                sys.exit(f"arena {arguments}\n{done.stderr}")
            return done.stdout

        for name, command in RUNS.items():
            run = name.replace(" ", "-")
            arena(f"{command} --name {run} --quiet")
            found[name] = contents(Path(folder) / "results" / run)
            sys.stderr.write(f"{name}: {len(found[name]['records'])} records\n")
        for number, command in enumerate(LEAGUE):
            (Path(folder) / "bot.py").write_text(BOT.format(index=number // 5))
            shown = arena(command)
        found["league"] = contents(Path(folder) / "league") | {"shown": without_times(json.loads(shown))}
        sys.stderr.write(f"league: {len(found['league']['records'])} records\n")
    return found


def contents(folder: Path) -> dict[str, Any]:
    """Return the records below a folder by file and match, and every leaderboard file as rows."""
    records, tables = {}, {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.name == "games.jsonl":
            for line in path.read_text().splitlines():
                record = {key: value for key, value in json.loads(line).items() if key not in CHANGING + GAINED}
                text = json.dumps(record, sort_keys=True)
                records[f"{name} {record['id']}"] = sha256(text.encode()).hexdigest()[:16]
        elif path.suffix == ".json" and path.name != "run.json":
            tables[name] = without_times(json.loads(path.read_text()))
        elif path.suffix == ".csv":
            tables[name] = without_times(list(csv.DictReader(path.read_text().splitlines())))
    return {"records": records, "tables": tables}


def without_times(value: Any) -> Any:
    """Return the value without the fields that measure time."""
    if isinstance(value, dict):
        return {key: without_times(inner) for key, inner in value.items() if key not in TIMES}
    return [without_times(inner) for inner in value] if isinstance(value, list) else value


def differences(one: Any, other: Any, where: str = "") -> list[str]:
    """Return a line for each place at which two recordings differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = dict.fromkeys([*one, *other])
        pairs = [(f"{where}/{key}", one.get(key), other.get(key)) for key in keys]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = [(f"{where}/{index}", *both) for index, both in enumerate(zip(one, other, strict=True))]
    else:
        return [] if one == other else [f"{where}: {one!r} != {other!r}"]
    return [line for path, left, right in pairs for line in differences(left, right, path)]


def main() -> None:
    """Record, or compare two recordings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--python", default=sys.executable, help="the Python whose arena plays")
    asked = parser.parse_args()
    if len(asked.files) == 1:
        asked.files[0].write_text(json.dumps(record_runs(asked.python), indent=1) + "\n")
        return
    lines = differences(*(json.loads(file.read_text()) for file in asked.files[:2]))
    sys.stdout.write("\n".join(lines[:100]) + f"\n{len(lines)} differences\n")
    sys.exit(bool(lines))


if __name__ == "__main__":
    main()
