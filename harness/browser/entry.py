"""The calls of the page to its worker: every call is a function with JSON-ready arguments and a JSON-ready result.

Everything that this module imports is loaded before a person can play, so it imports engines, bots, core, match,
plugins and `play/person.py` only; a test checks that.
"""

from __future__ import annotations

import ast
import inspect
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

import msgspec

from harness._version import VERSION
from harness.browser.table import PersonsTable, Setting, descriptions
from harness.browser.workshop import BrokenBot, Trial, example, explain, house_bots, package
from harness.core.action import View
from harness.core.errors import ArenaError, PluginError, UsageError
from harness.core.options import MAX_DEALS
from harness.core.records import GameRecord, fits_seats
from harness.match.replay import HUMAN, verify
from harness.play.person import all_rules, hint_bot
from harness.plugins.registry import Registry, load

MAX_TRIAL = 5000
"""Matches of one trial of a typed bot."""
BOTS = Path("published")
"""Folder of bots whose sources the site has, besides those in packages."""
Report = Callable[[int], None]


class Page:
    """The state of the worker between calls: plugins and the match."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self.published: dict[str, str] = {}
        """Bots in files of the site: name -> how to enter them."""
        self.table: PersonsTable | None = None

    def about(self) -> dict[str, object]:
        """Return the games, and the bots that play each."""
        games = []
        for name in sorted(self.registry.games):
            game, adviser = self.registry.game(name).configure(), hint_bot(self.registry, name, None)
            games.append(
                {
                    "name": name,
                    "title": game.title,
                    "about": doc_line(type(game)),
                    "introduction": game.rules_text().partition("\n## ")[0].partition("\n")[2].strip(),
                    "choices": descriptions(game.actions),
                    "players": [game.min_players, game.max_players],
                    "bots": self._bots_of(name),
                    "house": house_bots(self.registry, game),
                    "adviser": adviser.name if adviser else "",
                }
            )
        return {"arena": VERSION, "games": games, "problems": self.registry.problems}

    def _bots_of(self, game: str) -> list[dict[str, object]]:
        entered = {
            **{name: name for name in self.registry.bots if name != HUMAN},
            **self.published,
        }
        found = []
        for name, typed in sorted(entered.items()):
            entrant = self.registry.entrant(typed)
            if entrant.plays(game):
                about = inspect.getdoc(entrant.bot) or ""
                found.append(
                    {
                        "name": name,
                        "typed": typed,
                        "about": about.split("\n\n")[0].replace("\n", " "),
                        "for_any_game": not entrant.bot.games,
                        "quick": bool(self.registry.bots[name].cls.by_default) if name in self.registry.bots else True,
                        "source": entrant.source,
                    }
                )
        return found

    def add_bots(self, files: Mapping[str, Mapping[str, str]]) -> list[str]:
        """Write the sources of published bots (name -> file -> text) and enter them; return problems."""
        problems = []
        for name, texts in files.items():
            folder = BOTS / name
            for file, text in texts.items():
                path = folder / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            typed = f"{name}={folder / next(iter(texts))}"
            try:
                self.registry.entrant(typed)
            except ArenaError as error:
                problems.append(f"{name}: {error}")
            else:
                self.published[name] = typed
        return problems

    def start(self, setting: Mapping[str, Any], choices: Sequence[int] = ()) -> dict[str, object]:
        """Deal a match, or continue one from the person's choices."""
        self.table = PersonsTable(self.registry, msgspec.convert(setting, Setting), choices)
        return {**self.table.fixed_part(), **self.table.shown_table()}

    def _open_table(self) -> PersonsTable:
        if self.table is None:
            raise UsageError("No match was started.")
        return self.table

    def choose(self, code: int) -> dict[str, object]:
        """Make the person's decision."""
        table = self._open_table()
        table.choose(code)
        return table.shown_table()

    def hint(self) -> dict[str, object]:
        """Return a bot's advice."""
        return self._open_table().hint()

    def all_rules(self, game: str) -> list[tuple[str, str]]:
        """Return the numbered rules of a game."""
        return [(rule.number, rule.text) for rule in all_rules(self.registry.game(game).configure()).values()]

    def rules(self) -> list[tuple[str, str]]:
        """Return the rules behind the choice."""
        return self._open_table().rules()

    def run_files(self) -> dict[str, str]:
        """Return the run folder of the finished match."""
        return self._open_table().run_files()

    def verify(self, text: str) -> dict[str, object]:
        """Play a record again by the rules: whether it is true, or where it differs."""
        try:
            record = msgspec.json.decode(text, type=GameRecord)
        except msgspec.MsgspecError as error:
            return {"true": False, "why": f"This is not a record: {error}."}
        if not fits_seats(record):
            return {"true": False, "why": "This is not a record: it does not fit its seats."}
        about = {"id": record.id, "game": record.game, "seats": record.seats, "scores": record.scores}
        if record.game not in self.registry.games:
            return {**about, "true": None, "why": f"The game {record.game} is not part of this site."}
        try:
            game = self.registry.game(record.game).configure(record.options)
            verify(game, record)
        except ArenaError as error:
            return {**about, "true": False, "why": explain(error).removeprefix(f"{record.id}: ")}
        return {**about, "true": True, "why": "", "decisions": len(record.actions)}

    def reference(self, game: str) -> dict[str, object]:
        """Return the fields of the game's view and of its actions with their descriptions, and an example bot."""
        rules = self.registry.game(game)
        kinds = {type(action): action for action in reversed(rules.configure().actions)}
        actions = [
            {
                "class": kind.__name__,
                "kind": kind.kind,
                "about": doc_line(kind),
                "fields": fields_of(kind),
                "example": str(one),
            }
            for kind, one in reversed(kinds.items())
        ]
        view = {field[0]: field for field in [*fields_of(View), *fields_of(rules.view_type)]}
        return {
            "view": list(view.values()),
            "view_type": rules.view_type.__name__,
            "actions": actions,
            "example": example(self.registry, game),
        }

    def try_bot(
        self, game: str, source: str, matches: int, seed: int, rivals: Sequence[str], report: Report
    ) -> dict[str, object]:
        """Play matches with a typed bot."""
        if not 0 < matches <= min(MAX_TRIAL, MAX_DEALS):
            raise UsageError(f"Matches must be 1 to {MAX_TRIAL:,}, not {matches}.")
        trial = Trial(self.registry, game, source, rivals)
        trial.play(matches, seed, report)
        return trial.data()

    def package(self, game: str, source: str) -> tuple[str, dict[str, str]]:
        """Return the typed bot as the files of a package."""
        return package(self.registry, game, source)


def doc_line(cls: type) -> str:
    """Return the first sentence of a class's docstring."""
    return (inspect.getdoc(cls) or "").split("\n\n")[0].replace("\n", " ")


def fields_of(cls: type) -> list[tuple[str, str, str]]:
    """Return name, type and description of each field that a class declares."""
    [node] = ast.parse(dedent(inspect.getsource(cls))).body
    assert isinstance(node, ast.ClassDef)
    found = []
    for each, after in zip(node.body, [*node.body[1:], None], strict=True):
        if not isinstance(each, ast.AnnAssign) or not isinstance(each.target, ast.Name):
            continue
        kind = ast.unparse(WithoutLimits().visit(each.annotation))
        if not kind.startswith("ClassVar"):
            below = after.value if isinstance(after, ast.Expr) else None
            text = below.value if isinstance(below, ast.Constant) and isinstance(below.value, str) else ""
            found.append((each.target.id, kind, " ".join(text.split())))
    return found


class WithoutLimits(ast.NodeTransformer):
    """Makes `type` of `Annotated[type, ...]`: the rest is for readers of views, not for authors of bots."""

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """Return the type without its limits."""
        if ast.unparse(node.value) == "Annotated" and isinstance(node.slice, ast.Tuple):
            return self.visit(node.slice.elts[0])
        return self.generic_visit(node)


CALLS = (
    "about",
    "add_bots",
    "all_rules",
    "choose",
    "hint",
    "package",
    "reference",
    "rules",
    "run_files",
    "start",
    "try_bot",
    "verify",
)
REPORTING = ("try_bot",)
"""Calls that report progress."""


def opened() -> Page:
    """Return the page's state, with all plugins that the site has."""
    warnings.simplefilter("ignore")  # the page shows `problems`, and has no stderr
    return Page(load())


def call(page: Page, name: str, arguments: str, report: Report) -> str:
    """Call one of `CALLS` with JSON arguments; return JSON with its result, or with the error and its line."""
    if name not in CALLS:
        return json.dumps({"error": f"There is no call {name!r}.", "line": 0})
    given = json.loads(arguments)
    try:
        result = getattr(page, name)(*given, *([report] if name in REPORTING else []))
        return msgspec.json.encode({"result": result}).decode()
    except BrokenBot as error:
        return json.dumps({"error": explain(error), "line": error.line})
    except (ArenaError, PluginError) as error:
        return json.dumps({"error": explain(error), "line": 0})
