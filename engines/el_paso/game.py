"""El Paso as a Game: its options, its figures, its table of actions."""

# mypyc compiles this module. `mypyc_attr` keeps methods overridable for plain Python subclasses. Structs and
# dataclasses are in other modules: mypyc silently loses what makes them frozen.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import msgspec

from engines.el_paso import event_text, text
from engines.el_paso.components import MAX_PLAYERS, SITES, TITLE, Edition, load
from engines.el_paso.features import features
from engines.el_paso.imagine import imagine
from engines.el_paso.state import ElPasoState
from engines.el_paso.table import ElPasoActions
from engines.el_paso.view import BySite, ElPasoView
from harness import Chance, Event, Game, Option, mypyc_attr, read_data_file


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

    def __init__(self, settings: Mapping[str, str | int | bool], files: Mapping[str, str]) -> None:
        super().__init__(settings, files)
        given = self.files.get(str(self.settings["components"]))
        self.figures = load(given if given is not None else read_data_file("engines.el_paso", "el_paso.toml"))
        self.edition: Edition = getattr(self.figures.editions, str(self.settings["edition"]))
        self.tiles: BySite = self.figures.tiles.by_site()
        self.kinds: list[tuple[int, int]] = [
            (site, value) for site, values in enumerate(self.tiles) for value in dict.fromkeys(values)
        ]
        """Site and value of all tiles; equal ones are one kind."""
        self.kind_of: list[dict[int, int]] = [
            {value: kind for kind, (at, value) in enumerate(self.kinds) if at == site} for site in SITES
        ]
        """The number of a tile's kind, by its site and value."""
        self.copies: tuple[tuple[int, int], ...] = tuple(
            [
                (self.kind_of[site][value], values[:i].count(value))
                for site, values in enumerate(self.tiles)
                for i, value in enumerate(values)
            ]
        )
        """Every tile as (its kind, which of its equals)."""
        self.towns: int = len(self.figures.towns)
        self.rates: tuple[int, ...] = tuple([town.rate for town in self.figures.towns])
        self.sites_of: tuple[frozenset[int], ...] = tuple(
            [frozenset([int(site) for site in SITES if town.has(site)]) for town in self.figures.towns]
        )
        """The sites of each town."""
        self.dice: int = self.figures.dice.count
        self.faces: tuple[str, ...] = self.figures.dice.faces
        self.tiles_per_town: int = self.edition.tiles_per_town
        self.returns_to_bag: bool = self.edition.tiles_return_to == "bag"
        self.table = ElPasoActions(self, self.figures)
        self.actions = self.table.all

    def new(self, players: int, chance: Chance, log: list[Event] | None = None) -> ElPasoState:
        """Return a fresh state, dealt, in the first town."""
        return ElPasoState(self, players, chance, log).set_up()

    def imagine(self, view: ElPasoView, rng: Random) -> ElPasoState:
        """Return a complete state that gives the same view."""
        return imagine(self, view, rng)

    def render(self, view: ElPasoView) -> str:
        """Return the view as text for a person."""
        return text.render(self, view)

    def event_text(self, event: Event) -> str:
        """Return the event as a sentence."""
        return event_text.event_text(self, event)

    def score_text(self, score: float) -> str:
        """Return a score in gold."""
        return f"{super().score_text(score)} nuggets"

    def rules_text(self) -> str:
        """Return the rules, as in docs/rules."""
        return read_data_file("engines.el_paso", "rules.md")

    def viewer_script(self) -> str:
        """Return what draws the table in the replay viewer."""
        return read_data_file("engines.el_paso", "board.js")

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
