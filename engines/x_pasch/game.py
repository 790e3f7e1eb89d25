"""X-Pasch as a Game: its options, its figures, its table of actions."""

# mypyc compiles this module. `mypyc_attr` keeps methods overridable for plain Python subclasses. Structs and
# dataclasses are in other modules: mypyc silently loses what makes them frozen.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import msgspec
from mypy_extensions import mypyc_attr

from engines.x_pasch import event_text, text
from engines.x_pasch.components import MAX_PLAYERS, MAX_TARGET, TITLE, load
from engines.x_pasch.encoding import encoding
from engines.x_pasch.features import features
from engines.x_pasch.imagine import imagine
from engines.x_pasch.state import ROUNDS, XPaschState
from engines.x_pasch.tables import Tables
from engines.x_pasch.view import XPaschView
from harness import SEAT_NAMES, Chance, EncodingPart, Event, Game, Option, read_data_file


@mypyc_attr(allow_interpreted_subclasses=True)
class XPasch(Game[XPaschView]):
    """Found companies and pack their boards with the dice; most money wins."""

    name = "x-pasch"
    title = TITLE
    version = "1"
    min_players = 3
    max_players = MAX_PLAYERS
    options = (
        Option(
            "target",
            0,
            "euros that end the game; 0: as the components say (120)",
            kind="int",
            minimum=0,
            maximum=MAX_TARGET,
        ),
        Option("components", "", "another components file (TOML)", kind="file"),
    )
    view_type = XPaschView
    rules_behind = event_text.RULES_BEHIND
    rule_events = event_text.RULE_EVENTS

    def __init__(self, settings: Mapping[str, str | int | bool], files: Mapping[str, str]) -> None:
        super().__init__(settings, files)
        given = self.files.get(str(self.settings["components"]))
        self.figures = load(given if given is not None else read_data_file("engines.x_pasch", "x_pasch.toml"))
        """The content of the components file."""
        self.tables = Tables(self, self.figures, int(self.settings["target"]) or self.figures.game.target)
        """Tables that are computed from them once."""
        self.companies = self.tables.companies
        """The 55 companies by number; a card in a hand goes by the number of the first one printed alike, so
        `companies[card]` is the company of a card, too."""
        self.actions = self.tables.actions

    def new(self, players: int, chance: Chance, log: list[Event] | None = None) -> XPaschState:
        """Return a fresh state, dealt, with seat 0's first roll."""
        self.check_chance(chance)
        return XPaschState(self, players, chance, log).set_up()

    def imagine(self, view: XPaschView, rng: Random) -> XPaschState:
        """Return a complete state that gives the same view."""
        return imagine(self, view, rng)

    def render(self, view: XPaschView, names: Sequence[str] = SEAT_NAMES) -> str:
        """Return the view as text for a person."""
        return text.render(self, view, names)

    def event_text(self, event: Event, names: Sequence[str] = SEAT_NAMES) -> str:
        """Return the event as a sentence."""
        return event_text.event_text(self, event, names)

    def chapter(self, event: Event) -> str:
        """Return the number of a round that begins."""
        return f"round {event.data['round']}" if event.kind == "round" else ""

    def score_text(self, score: int | float) -> str:
        """Return a score in euros."""
        return f"{super().score_text(score)} euro"

    def rules_text(self) -> str:
        """Return the rules, as in docs/rules."""
        return read_data_file("engines.x_pasch", "rules.md")

    def viewer_script(self) -> str:
        """Return what draws the table in the replay viewer."""
        return read_data_file("engines.x_pasch", "board.js")

    def score_bounds(self, players: int) -> tuple[int, int]:
        """Return nothing, and the income of all companies for a player who had a euro less than the target."""
        return 0, self.tables.target - 1 + sum(self.tables.incomes)

    def max_decisions(self, players: int) -> int:
        """Return five choices of each seat a round: the second chance, three dice, a swap."""
        return ROUNDS * players * 5

    def view_bounds(self, players: int) -> Mapping[str, int]:
        """Return what the components file fixes."""
        return {
            "euros": self.score_bounds(players)[1],
            "hand": self.tables.hand_limit,
            "income": sum(self.tables.incomes),
            "members": self.tables.members,
        }

    def encoding(self, players: int) -> tuple[EncodingPart | str, ...]:
        """Return the compact encoding of a view."""
        return encoding(self, players)

    def features(self, views: Sequence[XPaschView], scores: Sequence[int]) -> list[list[float]]:
        """Return how each seat stands, as numbers."""
        return features(self, views)

    def value_data(self) -> str:
        """Return the value function that is learned as docs/ratings.md says."""
        return read_data_file("engines.x_pasch", "value.json")

    def components(self) -> dict[str, object]:
        """Return the target and the round limit in force, the companies by number, and the blocks of the components
        file."""
        data = {"target": self.tables.target, "rounds": ROUNDS, "companies": self.companies}
        data |= msgspec.structs.asdict(self.figures)
        plain: dict[str, object] = msgspec.json.decode(msgspec.json.encode(data))
        return plain
