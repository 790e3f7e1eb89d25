"""A match in the page: a person at one seat, bots at the others, and the run folder that it becomes."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from itertools import count
from typing import Any

import msgspec
from msgspec import Struct

from harness._version import VERSION
from harness.core.action import Action
from harness.core.bot import encode_notes
from harness.core.errors import UsageError
from harness.core.game import Game
from harness.core.plan import DuplicateSet, GamePlan, Plan
from harness.core.records import LAYOUT, MatchSpec, Value, with_sum
from harness.core.rng import Chance
from harness.match.replay import HUMAN, describe_action, seat_names
from harness.match.stepper import MatchStepper
from harness.play.person import ask_for_hint, choose_opponents, hint_bot, register_person, rules_for_phase
from harness.plugins.entrants import Entrant
from harness.plugins.registry import Registry

MAX_NEWS = 200
"""Most sentences in one answer: no game has more between two choices of a person."""


class Setting(Struct, frozen=True):
    """What determines a match besides the person's choices: enough to play it again from them."""

    game: str
    bots: tuple[str, ...]
    """Opponents, as typed; empty: those that `arena play` would choose."""
    seat: int
    seed: int
    """The seed of the run, from which that of the deal is derived."""
    options: dict[str, Value] = {}


class PersonsTable:
    """One match of the person."""

    def __init__(self, registry: Registry, setting: Setting, choices: Sequence[int] = ()) -> None:
        """Deal the match and play the person's earlier `choices` again; raise UsageError if they do not fit."""
        self.registry = registry
        self.game: Game[Any] = registry.game(setting.game).configure(setting.options)
        register_person(registry)
        names = choose_opponents(registry, type(self.game), setting.bots)
        self.entrants = registry.entrants([HUMAN, *names])
        self.spec, self.plan = _only_match(self.game, self.entrants, setting)
        self.seat = self.spec.seats.index(HUMAN)
        self.names = seat_names(self.spec.seats, self.seat)
        self.adviser = hint_bot(registry, self.game.name, None)
        self.started = _now()
        self.shown = 0
        """How many of the person's events were shown."""
        by_name = {entrant.name: entrant for entrant in self.entrants}
        bots = [None if name == HUMAN else by_name[name] for name in self.spec.seats]
        self.match = MatchStepper(self.spec, self.game, bots, audit=lambda: None)
        self.match.advance()
        for code in choices:
            self.shown = len(self.match.events(self.seat))
            self._answer(code)

    def choose(self, code: int) -> None:
        """Make the person's decision and let the bots play up to the next one."""
        self._answer(code)

    def _answer(self, code: int) -> None:
        action = next((action for action in self.match.legal if action.code == code), None)
        if action is None:
            raise UsageError("The match does not continue as it was saved: a bot or the rules have changed.")
        self.match.answer(action)
        self.match.advance()

    def shown_table(self) -> dict[str, object]:
        """Return what the page draws: the table as the person sees it, the legal actions, what happened since."""
        match, game = self.match, self.game
        view = match.view(self.seat)
        events = match.events(self.seat)
        news, self.shown = events[self.shown :], len(events)
        state: dict[str, object] = {
            "game": game.name,
            "seat": self.seat,
            "names": self.names,
            "view": json.loads(game.view_to_json(view)),
            "text": game.render(view, self.names),
            "phase": view.phase,
            "kinds": [] if match.over else descriptions(match.legal),
            "scores": [game.score_text(score) for score in match.scores],
            "news": [[e.kind, text] for e in news if (text := game.event_text(e, self.names))][-MAX_NEWS:],
            "legal": [] if match.over else list(map(describe_action, match.legal)),
            "over": match.over,
        }
        if match.over:
            record = match.record()
            state |= {"ranks": record.ranks, "ending": record.ending}
            state["faults"] = [[fault.seat, fault.kind, fault.detail] for fault in record.faults]
        return state

    def fixed_part(self) -> dict[str, object]:
        """Return what stays the same in the match."""
        return {
            "title": self.game.title,
            "figures": self.game.components(),
            "drawn": bool(self.game.viewer_script()),
            "bots": [entrant.spec for entrant in self.entrants if entrant.name != HUMAN],
            "adviser": self.adviser.name if self.adviser else "",
            "id": self.spec.id,
        }

    def rules(self) -> list[tuple[str, str]]:
        """Return the numbered rules behind the choice."""
        return [(rule.number, rule.text) for rule in rules_for_phase(self.game, self.match.view(self.seat).phase)]

    def hint(self) -> dict[str, object]:
        """Return the choice of a bot that knows only what the person knows, and its notes about that choice."""
        if self.adviser is None:
            raise UsageError(f"No bot can give hints for {self.game.title}.")
        match = self.match
        luck = Chance(self.spec.seed).derive("hint", match.decision)
        view, legal, past = match.view(), match.legal, match.events()
        chosen, reasons = ask_for_hint(self.adviser, self.game, view, len(self.names), legal, past, luck)
        return {"bot": self.adviser.name, "action": describe_action(chosen), "reasons": reasons}

    def run_files(self) -> dict[str, str]:
        """Return the files of the run folder with this match, for `arena replay` and `arena verify`."""
        record = self.match.record()
        line = with_sum(msgspec.json.encode(record))
        notes = encode_notes(record.id, self.match.notes)
        notes_file = notes + b"\n"
        info = {
            "arena": VERSION,
            "plan": self.plan,
            "entrants": [entrant.info for entrant in self.entrants],
            "files": {**self.game.files},
            "limits": {"isolate": "off"},
            "command": f"arena play {self.game.name} --browser",
            "machine": {"python": platform.python_version(), "system": platform.system(), "processor": "wasm32"},
            "started": self.started,
            "finished": _now(),
            "records": f"sha256:{sha256(sha256(line).digest()).hexdigest()}",
            "notes": f"sha256:{sha256(notes_file).hexdigest()}" if notes else "",
            "layout": LAYOUT,
        }
        files = {
            "run.json": msgspec.json.format(msgspec.json.encode(info), indent=2) + b"\n",
            "games.jsonl": line + b"\n",
        }
        if notes:
            files["notes.jsonl"] = notes_file
        return {name: content.decode() for name, content in files.items()}


RULE_NUMBERS = re.compile(r" \([A-Z]+-\d+(, [A-Z]+-\d+)*\)")


def descriptions(actions: Iterable[Action]) -> list[str]:
    """Return what each kind of action among these does: the first sentence of its docstring."""
    texts = [(kind.__doc__ or "").strip().split("\n")[0] for kind in dict.fromkeys(map(type, actions))]
    return [RULE_NUMBERS.sub("", text) for text in texts if text]


def _only_match(game: Game[Any], entrants: Sequence[Entrant], setting: Setting) -> tuple[MatchSpec, Plan]:
    """Return the match of a run of one deal in which the person has this seat, and the plan of that run."""
    names = tuple(entrant.name for entrant in entrants)
    players = len(names)
    if not game.min_players <= players <= game.max_players:
        raise UsageError(f"{game.title} is for {game.min_players} to {game.max_players} players, not {players}.")
    if setting.seat not in range(players):
        raise UsageError(f"This table has seats 0 to {players - 1}, not {setting.seat}.")
    for entrant in entrants:
        if not entrant.plays(game.name):
            raise UsageError(entrant.refusal(game))
    one = GamePlan(name=game.name, rules=game.version, settings=dict(game.settings), players=players, entrants=names)
    luck = Chance(setting.seed)
    # As the format round-robin does it, for which a table of all bots is the only one: `arena verify` compares.
    table = DuplicateSet(1, 1, (1, 1), one.seating(names, luck, 1, 1))
    plan = Plan((one,), deals=1, seed=setting.seed, settings={"tables": 0})
    spec = next(spec for spec in table.matches(one, luck, count()) if spec.seats[setting.seat] == HUMAN)
    return spec, plan


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
