"""Plays matches of every game with bundled bots and prints a digest of their records, and the time they took.

    python -m tests.browser.same_records quick 1000
    python -m tests.browser.same_records quick 20 search 2

Under CPython and under Pyodide it prints the same digests: tests/browser/test_same_records.py compares them.
"""

from __future__ import annotations

import hashlib
import json
import sys
from time import perf_counter, process_time

SEARCH = ("ismcts:iterations=20", "flat-mc:iterations=20")


def tables(registry, game, kind):
    """The bots of each match in turn: every bot of this kind meets every other, at tables of every size."""
    quick = sorted(name for name, offer in registry.bots.items() if offer.cls.by_default and name != "random")
    quick = [name for name in quick if game.name in registry.bots[name].cls.games]
    names = [*quick, "random"] if kind == "quick" else [*SEARCH, *quick]
    number = 0
    while True:
        players = game.min_players + number % (min(game.max_players, len(names)) - game.min_players + 1)
        yield [names[(number + k) % len(names)] for k in range(players)]
        number += 1


def digest_of(registry, game, kind, matches):
    """The digest of the records of so many matches."""
    from harness.core.records import MatchSpec
    from harness.match.referee import play

    total, entrants = hashlib.sha256(), {}
    for seed, names in zip(range(matches), tables(registry, game, kind), strict=False):
        for name in names:
            if name not in entrants:
                [entrants[name]] = registry.entrants([name])
        table = [entrants[name] for name in names]
        spec = MatchSpec.single(f"m{seed}", game.name, game.settings, seed, [one.name for one in table])
        record = play(spec, game, table).without_timing()
        same = [record.scores, record.ranks, record.ending, record.actions, record.decisions, record.faults]
        total.update(json.dumps(same).encode())
    return total.hexdigest()


def main(*kinds_and_matches):
    """Prints JSON: a digest for each game and kind of bots, and seconds (under Pyodide of wall time)."""
    began = perf_counter()
    from harness.plugins.registry import load

    registry = load()
    loaded, found = perf_counter() - began, {}
    for kind, matches in zip(kinds_and_matches[::2], kinds_and_matches[1::2], strict=True):
        for name in sorted(registry.games):
            before = process_time()
            digest = digest_of(registry, registry.game(name).configure(), kind, int(matches))
            found[f"{name}, {kind}"] = {"digest": digest, "seconds": process_time() - before}
    sys.stdout.write(json.dumps({"python": sys.version, "loaded": loaded, "games": found}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
