"""Gnadenlos! as a Game: its options, its figures, its table of actions."""

# mypyc compiles this module. `mypyc_attr` keeps methods overridable for plain Python subclasses. Structs and
# dataclasses are in other modules: mypyc silently loses what makes them frozen.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import msgspec
from mypy_extensions import mypyc_attr

from engines.gnadenlos import event_text, text
from engines.gnadenlos.actions import MAX_BID_IOUS, MAX_FAME_GOLD, MAX_LAST_FAME_GOLD
from engines.gnadenlos.bags import minus
from engines.gnadenlos.bids import Bids
from engines.gnadenlos.cards import CHEATING, COLOURS, GOLD_RUSH, HIGH_NOON, Adventurer, EventCard, Iou
from engines.gnadenlos.components import TITLE, load
from engines.gnadenlos.encoding import encoding
from engines.gnadenlos.features import features
from engines.gnadenlos.imagine import imagine
from engines.gnadenlos.state import MAX_CREW_TO_HIRE, MAX_TURNS, GnadenlosState
from engines.gnadenlos.table import GnadenlosActions
from engines.gnadenlos.view import GnadenlosView, Ious
from harness import SEAT_NAMES, Chance, EncodingPart, Event, Game, Option, read_data_file


@mypyc_attr(allow_interpreted_subclasses=True)
class Gnadenlos(Game[GnadenlosView]):
    """Hire adventurers with IOUs, buy reputation with their gold, and be solvent on payday; farthest hat wins."""

    name = "gnadenlos"
    title = TITLE
    version = "2"
    min_players = 3
    max_players = len(COLOURS)
    options = (
        Option("variant", "basic", "how adventurers are had at the start", choices=("basic", "experienced")),
        Option("components", "", "another components file (TOML)", kind="file"),
    )
    view_type = GnadenlosView
    rules_behind = event_text.RULES_BEHIND
    rule_events = event_text.RULE_EVENTS

    def __init__(self, settings: Mapping[str, str | int | bool], files: Mapping[str, str]) -> None:
        super().__init__(settings, files)
        given = self.files.get(str(self.settings["components"]))
        self.figures = load(given if given is not None else read_data_file("engines.gnadenlos", "gnadenlos.toml"))
        """The content of the components file."""
        self.experienced = self.settings["variant"] == "experienced"
        """Whether the experienced variant is played."""
        figures = self.figures
        self.goal = figures.road.fields
        """The last field of the road (GN-1)."""
        self.undertaker_steps = figures.undertaker.steps
        """Steps of the undertaker that end the game (GN-36)."""
        self.columns = figures.payday.columns
        """Columns of the market, and faces of the die (GN-5)."""
        self.fields_lost_when_broke = figures.payday.fields_lost_when_broke
        """Fields that a player who cannot pay moves back (GN-33)."""
        self.vultures_to_lose = figures.payday.vultures_to_lose
        """Vultures with which a player has lost (GN-36)."""
        self.first_adventurers = figures.start.adventurers
        """Adventurers that each player is dealt (GN-6)."""
        kinds = {row: Adventurer(*row) for row in figures.adventurers.skills}
        self.adventurers = tuple(sorted(kinds[row] for row in figures.adventurers.skills))
        """All adventurers (GN-2); equal ones are one object, as are equal IOUs."""
        events = self.figures.events
        self.event_cards = (
            *(EventCard(GOLD_RUSH, first, second) for first, second in events.gold_rush),
            *(EventCard(HIGH_NOON),) * events.high_noon,
            *(EventCard(CHEATING),) * events.cheating,
        )
        """All event cards (GN-4)."""
        counts = figures.ious.counts
        self.ious = tuple(sorted(Iou(value, seat) for value in counts for seat in range(len(COLOURS))))
        """One IOU of each kind."""
        self.full_hands = tuple(
            tuple(iou for iou in self.ious if iou.colour == seat for _ in range(counts[iou.value]))
            for seat in range(len(COLOURS))
        )
        """All IOUs of each colour (GN-3)."""
        first = [
            [next(iou for iou in hand if iou.value == value) for value in figures.start.market_ious]
            for hand in self.full_hands
        ]
        self.first_hands = tuple(minus(hand, ious) for hand, ious in zip(self.full_hands, first, strict=True))
        """The IOUs of each colour that players of the basic variant begin with (GN-7)."""
        self.first_market: tuple[Ious, ...] = tuple(
            tuple(sorted(iou for own in first[:players] for iou in own)) for players in range(self.max_players + 1)
        )
        # Number of players -> the IOUs that go to the market first, sorted (GN-7).
        zones = [
            next(zone for zone in self.figures.zones if field <= zone.last)
            for field in range(1, self.figures.road.fields)
        ]
        self.forward = (0, *(zone.forward for zone in zones))
        """How far a cheat moves forward from each field (GN-20)."""
        self.back = (0, *(-zone.back for zone in zones))
        """How far a cheat who was caught moves from each field: not a positive number (GN-20)."""
        self.orders = tuple(
            tuple(tuple((start + offset) % players for offset in range(players)) for start in range(players))
            for players in range(self.max_players + 1)
        )
        # Number of players -> the seats clockwise from each start player.
        self.table = GnadenlosActions(self)
        self.actions = self.table.all
        self.bids = Bids(self.table.bid, self.table.pay)

    def new(self, players: int, chance: Chance, log: list[Event] | None = None) -> GnadenlosState:
        """Return a fresh state, dealt, at its first choice."""
        self.check_chance(chance)
        return GnadenlosState(self, players, chance, log).set_up()

    def imagine(self, view: GnadenlosView, rng: Random) -> GnadenlosState:
        """Return a complete state that gives the same view."""
        return imagine(self, view, rng)

    def render(self, view: GnadenlosView, names: Sequence[str] = SEAT_NAMES) -> str:
        """Return the view as text for a person."""
        return text.render(self, view, names)

    def event_text(self, event: Event, names: Sequence[str] = SEAT_NAMES) -> str:
        """Return the event as a sentence."""
        return event_text.event_text(self, event, names)

    def chapter(self, event: Event) -> str:
        """Return the number of a turn that begins, or that there is a payday."""
        return f"turn {event.data['number']}" if event.kind == "turn" else event.kind if event.kind == "payday" else ""

    def score_text(self, score: int | float) -> str:
        """Return a score as fields, then gold (GN-39); in a mean a gold is a thousandth of a field."""
        if not isinstance(score, int):
            return f"{score / 1000:.1f} fields"
        fields, gold = divmod(score, 1000)
        return f"{fields} fields and {gold} gold" if score else "0 (three vultures)"

    def rules_text(self) -> str:
        """Return the rules, as in docs/rules."""
        return read_data_file("engines.gnadenlos", "rules.md")

    def viewer_script(self) -> str:
        """Return what draws the table in the replay viewer."""
        return read_data_file("engines.gnadenlos", "board.js")

    def score_bounds(self, players: int) -> tuple[int, int]:
        """Return nothing (three vultures), and all gold at the goal (GN-39)."""
        return 0, 1000 * self.goal + self.figures.max_gold

    def max_decisions(self, players: int) -> int:
        """Return five choices of each seat a turn, one more before the first and one after the last."""
        return (MAX_TURNS + 1) * 5 * players

    def view_bounds(self, players: int) -> Mapping[str, int]:
        """Return what the components file fixes."""
        events, values = self.figures.events, self.figures.ious.counts
        ious = players * sum(values.values())
        return {
            "IOU": max(values),
            "IOUs": ious,
            "adventurers": len(self.adventurers),
            "event cards": len(self.event_cards),
            "field": self.goal,
            "gold": self.figures.max_gold,
            "gold rush": max([max(rush) for rush in events.gold_rush], default=0),
            "place": ious - 1,
            "sum": MAX_BID_IOUS * max(values),
            "undertaker": self.undertaker_steps,
            "vultures": self.vultures_to_lose,
        }

    def encoding(self, players: int) -> tuple[EncodingPart | str, ...]:
        """Return the compact encoding of a view."""
        return encoding(self, players)

    def features(self, views: Sequence[GnadenlosView], scores: Sequence[int]) -> list[list[float]]:
        """Return how each seat stands, as numbers."""
        return features(self, views)

    def value_data(self) -> str:
        """Return the value function that is learned as docs/ratings.md says."""
        return read_data_file("engines.gnadenlos", "value.json")

    def components(self) -> dict[str, object]:
        """Return all figures of the components file, the variant, and the figures that the rules fix."""
        figures: dict[str, object] = msgspec.json.decode(msgspec.json.encode(self.figures))
        return {
            "variant": self.settings["variant"],
            "colours": list(COLOURS),
            "most_fame": MAX_FAME_GOLD,
            "most_last_fame": MAX_LAST_FAME_GOLD,
            "most_ious": MAX_BID_IOUS,
            "hires_below": MAX_CREW_TO_HIRE + 1,
            "most_turns": MAX_TURNS,
            **figures,
        }
