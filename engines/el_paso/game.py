"""El Paso as a Game: its options, its figures, its table of actions."""

# mypyc compiles this module. `mypyc_attr` keeps methods overridable for plain Python subclasses. Structs and
# dataclasses are in other modules: mypyc silently loses what makes them frozen.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, log
from random import Random

import msgspec
from mypy_extensions import mypyc_attr

from engines.el_paso import event_text, text
from engines.el_paso.components import MAX_PLAYERS, SITES, TITLE, Edition, load
from engines.el_paso.encoding import encoding
from engines.el_paso.features import features
from engines.el_paso.imagine import imagine
from engines.el_paso.state import ElPasoState
from engines.el_paso.table import ElPasoActions
from engines.el_paso.values import BySite
from engines.el_paso.view import ElPasoView
from harness import SEAT_NAMES, Chance, EncodingPart, Event, Game, Option, read_data_file


@mypyc_attr(allow_interpreted_subclasses=True)
class ElPaso(Game[ElPasoView]):
    """Plunder seven towns and be gone before the sheriffs come; most money wins."""

    name = "el-paso"
    title = TITLE
    version = "1"
    min_players = 2
    max_players = MAX_PLAYERS
    options = (
        Option("edition", "de", "which printed rule sheet to follow", choices=("de", "nl", "bg")),
        Option("components", "", "another components file (TOML)", kind="file"),
    )
    view_type = ElPasoView
    rules_behind = event_text.RULES_BEHIND
    rule_events = event_text.RULE_EVENTS

    def __init__(self, settings: Mapping[str, str | int | bool], files: Mapping[str, str]) -> None:
        super().__init__(settings, files)
        given = self.files.get(str(self.settings["components"]))
        self.figures = load(given if given is not None else read_data_file("engines.el_paso", "el_paso.toml"))
        """The content of the components file."""
        self.edition: Edition = getattr(self.figures.editions, str(self.settings["edition"]))
        """Where the printed rule sheets differ, for the edition that is played."""
        self.tiles: BySite = self.figures.tiles.by_site()
        """The values of all tiles, by site (EP-2)."""
        self.kinds: list[tuple[int, int]] = [
            (site, value) for site, values in enumerate(self.tiles) for value in dict.fromkeys(values)
        ]
        # Site and value of all tiles; equal ones are one kind.
        self.kind_of: list[list[int]] = [[-1] * (max(values) + 1) for values in self.tiles]
        # The number of a tile's kind, by its site and value.
        for kind, (site, value) in enumerate(self.kinds):
            self.kind_of[site][value] = kind
        self.copies: tuple[tuple[int, int], ...] = tuple(
            [
                (self.kind_of[site][value], values[:i].count(value))
                for site, values in enumerate(self.tiles)
                for i, value in enumerate(values)
            ]
        )
        # Every tile as (its kind, which of its equals).
        self.orders: tuple[tuple[tuple[int, ...], ...], ...] = tuple(
            [
                tuple([(*range(first, players), *range(first)) for first in range(players)])
                for players in range(self.max_players + 1)
            ]
        )
        # Number of players -> the seats clockwise from each lookout.
        self.towns: int = len(self.figures.towns)
        """The number of towns."""
        self.rates: tuple[int, ...] = tuple([town.rate for town in self.figures.towns])
        """The exchange rate of each town (EP-4)."""
        self.sites_of: tuple[frozenset[int], ...] = tuple(
            [frozenset([int(site) for site in SITES if town.has(site)]) for town in self.figures.towns]
        )
        """The sites of each town."""
        self.dice: int = self.figures.dice.count
        """The number of dice (EP-3)."""
        self.faces: tuple[str, ...] = self.figures.dice.faces
        """The faces of each die."""
        self.tiles_per_town: int = self.edition.tiles_per_town
        self.returns_to_bag: bool = self.edition.tiles_return_to == "bag"
        dodged = 1 - self.faces.count("star") / len(self.faces)
        unlikely = log(1e-15 / (self.towns * self.dice))
        self.max_rounds: int = 1 if not dodged else ceil(unlikely / log(dodged))
        # Rounds of a town: no dice stay free of stars longer in any town, but once in 10**15 matches.
        self.table = ElPasoActions(self, self.figures)
        self.actions = self.table.all

    def new(self, players: int, chance: Chance, log: list[Event] | None = None) -> ElPasoState:
        """Return a fresh state, dealt, in the first town."""
        self.check_chance(chance)
        return ElPasoState(self, players, chance, log).set_up()

    def imagine(self, view: ElPasoView, rng: Random) -> ElPasoState:
        """Return a complete state that gives the same view."""
        return imagine(self, view, rng)

    def render(self, view: ElPasoView, names: Sequence[str] = SEAT_NAMES) -> str:
        """Return the view as text for a person."""
        return text.render(self, view, names)

    def event_text(self, event: Event, names: Sequence[str] = SEAT_NAMES) -> str:
        """Return the event as a sentence."""
        return event_text.event_text(self, event, names)

    def chapter(self, event: Event) -> str:
        """Return the name of a town that opens."""
        return str(event.data["name"]) if event.kind == "town" else ""

    def score_text(self, score: int | float) -> str:
        """Return a score in gold."""
        return f"{super().score_text(score)} nuggets"

    def rules_text(self) -> str:
        """Return the rules, as in docs/rules."""
        return read_data_file("engines.el_paso", "rules.md")

    def viewer_script(self) -> str:
        """Return what draws the table in the replay viewer."""
        return read_data_file("engines.el_paso", "board.js")

    def score_bounds(self, players: int) -> tuple[int, int]:
        """Return no money, and the money of a seat that gets all tiles of every town and sells them at their value."""
        values = sorted([value for site in self.tiles for value in site])
        towns = self.towns if self.returns_to_bag else 1  # tiles that go to the box are sold once (EP-21)
        return 0, min(towns * sum(values[-self.tiles_per_town :]), self.towns * sum(values))

    def max_decisions(self, players: int) -> int:
        """Return three choices of each seat a round, and the tiles that are carried out of each town."""
        tiles = sum([len(site) for site in self.tiles])
        return self.towns * (self.max_rounds * 3 * players + tiles + players)

    def view_bounds(self, players: int) -> Mapping[str, int]:
        """Return what the components file fixes."""
        return {
            "card": max(self.figures.cards.values),
            "cards of a site": len(self.figures.cards.values),
            "dice": self.dice,
            "money": self.score_bounds(players)[1],
            "round": self.max_rounds,
            "tile": max([max(site) for site in self.tiles]),
            "tiles of a site": max([len(site) for site in self.tiles]),
            "town": self.towns - 1,
        }

    def encoding(self, players: int) -> tuple[EncodingPart | str, ...]:
        """Return the compact encoding of a view."""
        return encoding(self, players)

    def features(self, views: Sequence[ElPasoView], scores: Sequence[int]) -> list[list[float]]:
        """Return how each seat stands, as numbers."""
        return features(self, views)

    def value_data(self) -> str:
        """Return the value function that is learned as docs/ratings.md says."""
        return read_data_file("engines.el_paso", "value.json")

    def components(self) -> dict[str, object]:
        """Return all figures of the components file, the edition and the order of sites."""
        figures: dict[str, object] = msgspec.to_builtins(self.figures)
        return {"sites": [site.name.lower() for site in SITES], "edition": self.settings["edition"], **figures}
