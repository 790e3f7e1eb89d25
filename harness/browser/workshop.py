"""A bot typed into the page: load it, play matches with it against other bots, explain what failed, package it."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import sqrt
from pathlib import Path
from typing import Any, cast

from harness.core.bot import Bot
from harness.core.errors import LINES, ArenaError, PluginError, UsageError, printable
from harness.core.game import Game
from harness.core.records import GameRecord, MatchSpec
from harness.core.rng import Chance
from harness.match.referee import play
from harness.new_package.files import bot_contents, check_name, company, module_name
from harness.plugins.entrants import Entrant
from harness.plugins.registry import Registry, filler_bots

FILE = "my_bot.py"
HOME = Path("typed")
"""Folder of the typed bot, in the working directory of Pyodide's file system."""
MAX_FAULTS = 3
"""Matches with a fault after which the others are not played: the reason is the same, as a rule."""
LEVEL_Z = 1.96
"""Normal quantile of intervals that hold the true value in 95 of 100 cases."""


class BrokenBot(ArenaError):
    """A typed bot that cannot be loaded; `line` is the line of its source to look at, 0 if unknown."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def load_typed(registry: Registry, source: str) -> Entrant:
    """Return the entrant of the bot in this text; raise BrokenBot if it cannot be loaded or defines several."""
    HOME.mkdir(exist_ok=True)
    path = HOME / FILE
    path.write_text(source, encoding="utf-8")
    registry.files.pop(str(path), None)  # of the text before
    try:
        return registry.entrant(str(path))
    except PluginError as error:
        cause = error.__cause__
        raise BrokenBot(str(error).replace(f"{HOME}/", ""), _line_of(cause) if cause else 0) from error


def _line_of(error: BaseException) -> int:
    """Return the line of the typed text in which this exception was raised; 0 if it was not."""
    if isinstance(error, SyntaxError):
        return error.lineno or 0
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith(FILE)]
    return lines[-1] or 0 if lines else 0


@dataclass(slots=True)
class Share:
    """How often the typed bot finished ahead of another one; half for a shared place."""

    bot: str
    matches: int = 0
    ahead: float = 0.0
    deals: set[int] = field(default_factory=set)

    def data(self) -> dict[str, object]:
        """Return the share with its interval."""
        low, high = interval(self.ahead / self.matches, len(self.deals))
        share = self.ahead / self.matches
        return {"bot": self.bot, "matches": self.matches, "share": share, "low": low, "high": high}


def interval(share: float, deals: int) -> tuple[float, float]:
    """Return Wilson's interval of 95% for a share that is a mean over deals.

    Matches of a deal have the same luck, so the deal counts as one trial. The outcome of a deal varies at most as much
    as that of a trial which is won or lost: the interval is rather too wide than too narrow.
    """
    z2 = LEVEL_Z**2 / deals
    middle = (share + z2 / 2) / (1 + z2)
    half = LEVEL_Z * sqrt(share * (1 - share) / deals + z2 / (4 * deals)) / (1 + z2)
    return max(0.0, middle - half), min(1.0, middle + half)


class Trial:
    """Matches of a typed bot against bundled ones: each deal with the bot in every seat."""

    def __init__(self, registry: Registry, game: str, source: str, rivals: Sequence[str] = ()) -> None:
        self.game: Game[Any] = registry.game(game).configure()
        self.mine = load_typed(registry, source)
        if not self.mine.plays(game):
            raise UsageError(self.mine.refusal(self.game))
        named = list(rivals) or house_bots(registry, self.game)
        self.rivals = registry.entrants([name for name in named if name != self.mine.name])
        self.shares = {rival.name: Share(rival.name) for rival in self.rivals}
        self.faults: list[dict[str, object]] = []
        self.matches = self.won = 0

    def play(self, matches: int, seed: int, report: Callable[[int], None]) -> None:
        """Play up to this many matches; `report` is called with the number of matches so far."""
        for deal, spec, table in islice(self._specs(seed), matches):
            record = play(spec, self.game, table)
            self._count(deal, record)
            self.matches += 1
            report(self.matches)
            if len(self.faults) >= MAX_FAULTS:
                return

    def _specs(self, seed: int) -> Iterator[tuple[int, MatchSpec, list[Entrant]]]:
        players, luck, deal = self.game.min_players, Chance(seed), 0
        while True:
            # The next rivals in turn, so that each is met equally often.
            others = [self.rivals[(deal * (players - 1) + k) % len(self.rivals)] for k in range(players - 1)]
            for seat in range(players):
                table = [*others[:seat], self.mine, *others[seat:]]
                names = [entrant.name for entrant in table]
                deals_seed = luck.derive("deal", deal)
                name = f"{self.game.name}-{deal + 1}.{seat + 1}"
                yield deal, MatchSpec.single(name, self.game.name, self.game.settings, deals_seed, names), table
            deal += 1

    def _count(self, deal: int, record: GameRecord) -> None:
        mine = record.seats.index(self.mine.name)
        self.won += record.ranks[mine] == 1
        for seat, name in enumerate(record.seats):
            if seat != mine:
                share = self.shares[name]
                share.matches += 1
                share.deals.add(deal)
                share.ahead += (
                    0.5 if record.ranks[mine] == record.ranks[seat] else record.ranks[mine] < record.ranks[seat]
                )
        for fault in record.faults:
            if fault.seat == mine:
                self.faults.append(
                    {
                        "match": record.id,
                        "decision": fault.decision,
                        "kind": fault.kind,
                        "detail": fault.detail,
                        "line": line_in(fault.detail),
                    }
                )

    def data(self) -> dict[str, object]:
        """Return the results so far."""
        shares = [share.data() for share in self.shares.values() if share.matches]
        return {
            "bot": self.mine.name, "matches": self.matches, "won": self.won, "shares": shares, "faults": self.faults,
        }  # fmt: skip


def line_in(detail: str) -> int:
    """Return the line of the typed text that the last frame of a fault's traceback names; 0 if none does."""
    lines = re.findall(rf"^{re.escape(FILE)}:(\d+) in ", detail, re.MULTILINE)
    return int(lines[-1]) if lines else 0


def house_bots(registry: Registry, game: Game[Any]) -> list[str]:
    """Return the quick bots of a game, to try another one against; as many as there are, at least a table."""
    quick = [name for name, offer in registry.bots.items() if offer.cls.by_default and game.name in offer.cls.games]
    others = game.min_players - 1
    names = filler_bots(registry, game.name, max(others, len(quick) + 1))
    return [name for name in names if "=" not in name] if len(names) > others else names


def example(registry: Registry, game: str) -> str:
    """Return the source of the example bot of a game."""
    files = bot_contents("my-bot", registry.game(game), "python", company(registry, registry.game(game)))
    return files[f"{module_name('my-bot')}.py"]


def package(registry: Registry, game: str, source: str) -> tuple[str, dict[str, str]]:
    """Return the name of the typed bot and the files of an installable package with it, as `arena new-bot` makes it."""
    mine = load_typed(registry, source)
    taken = {name: offer for name, offer in registry.bots.items() if name != mine.name}
    if mine.name in registry.bots:
        raise UsageError(f"There is a bot called {mine.name} already: rename your class, or set its `name`.")
    check_name("bot", mine.name, taken, module_name(mine.name))
    rules = registry.game(game)
    files = bot_contents(mine.name, rules, "python", company(registry, rules))
    module, made_for = module_name(mine.name), _class_in(files[f"{module_name(mine.name)}.py"])
    cls = cast("type[Bot]", mine.bot).__name__
    files[f"{module}.py"] = _with_hook(source, cls)
    test = f"test_{module}.py"
    files[test] = re.sub(rf"\b{re.escape(made_for)}\b", cls, files[test])
    return mine.name, files


def _class_in(template: str) -> str:
    found = re.search(r"^class (\w+)\(", template, re.MULTILINE)
    assert found is not None
    return found[1]


HOOK = '''

@hookimpl
def arena_bots():
    """What this package offers."""
    return [{cls}]
'''


def _with_hook(source: str, cls: str) -> str:
    """Return the text with the function by which Arena finds the bots of an installed package."""
    if re.search(r"^def arena_bots\(", source, re.MULTILINE):
        return source
    hook = HOOK.format(cls=cls)
    if not re.search(r"\bhookimpl\b", source):
        hook = hook.replace("\n\n@", "\n\nfrom harness import hookimpl\n\n\n@", 1)
    return source.rstrip("\n") + "\n" + hook


def explain(error: BaseException) -> str:
    """Return an error as text for the page."""
    if isinstance(error, ArenaError):
        return printable(str(error), keep=LINES)
    return printable("".join(traceback.format_exception_only(error)).strip(), keep=LINES)
