"""Plays matches of every game and variant and prints a digest of their records.

    python -m tests.support.same_records 1000

With `pure` behind the number, compiled modules are left aside and their sources are run. Two trees, or two forms of one
tree, play by the same rules if they print the same.
"""

from __future__ import annotations

import hashlib
import json
import sys
from importlib.util import spec_from_file_location
from itertools import product


class SourcesFirst:
    """Finds the sources of modules that may be compiled."""

    def __init__(self):
        from harness.core.compiled import ROOT, hot_modules

        self.files = {module.removesuffix(".py").replace("/", "."): ROOT / module for module in hot_modules()}

    def find_spec(self, name, _path=None, _target=None):
        return spec_from_file_location(name, self.files[name]) if name in self.files else None


def variants(game):
    """All settings that have choices, in all combinations."""
    chosen = [option for option in game.options if option.choices]
    for values in product(*(option.choices for option in chosen)):
        yield {option.name: value for option, value in zip(chosen, values, strict=True)}


def digest(game, options, matches):
    """Of all that is the same in every play: scores, ranks, endings, every action."""
    from harness.core.records import MatchSpec
    from harness.match.referee import play
    from harness.plugins.registry import load

    configured, total = game.configure(options), hashlib.sha256()
    entrant = load().entrants(["random"])[0]
    for seed in range(matches):
        players = configured.min_players + seed % (configured.max_players - configured.min_players + 1)
        spec = MatchSpec.single(f"m{seed}", game.name, options, seed, ("random",) * players)
        record = play(spec, configured, [entrant] * players).without_timing()
        told = [record.scores, record.ranks, record.ending, record.actions, record.decisions, record.faults]
        total.update(json.dumps(told).encode())
    return total.hexdigest()[:16]


def main(matches, form=""):
    """A line for each game and variant."""
    if form == "pure":
        sys.meta_path.insert(0, SourcesFirst())
    from harness.match import referee
    from harness.plugins.registry import load

    sys.stderr.write(f"form {'pure' if referee.__file__.endswith('.py') else 'compiled'}\n")
    registry = load()
    for name in sorted(registry.games):
        game = registry.game(name)
        for options in variants(game):
            sys.stdout.write(f"{name} {json.dumps(options, sort_keys=True)} {digest(game, options, int(matches))}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
