"""Two-finger Morra: a simultaneous choice in the way engines present one, seat after seat and hidden until all are in.

Both show one or two fingers. Seat 0 wins the sum when it is even, seat 1 when it is odd. Well played, both show
one finger seven times in twelve, and seat 0 loses 1/12 a game. Whoever saw the other's hand would win every time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from random import Random

from harness import NOBODY, SEAT_NAMES, Action, Chance, Event, Game, State, View

VALUE = Fraction(-1, 12)
"""What seat 0 wins a game when both play well."""
ONE_FINGER = Fraction(7, 12)
"""How often both show one finger then."""


class MorraView(View, frozen=True):
    """The fingers that this seat may see: its own, and all when both are shown."""

    fingers: tuple[int | None, ...]
    shown: int
    """How many have chosen."""


class MorraState(State[MorraView]):
    """The fingers chosen so far."""

    __slots__ = ("fingers",)

    def __init__(self, game: Game[MorraView], chance: Chance, fingers: tuple[int, ...]) -> None:
        self.game, self.players, self.chance, self.log = game, 2, chance, None
        self.fingers = fingers
        self._settle()

    def _settle(self) -> None:
        over = len(self.fingers) == 2
        self.seat = NOBODY if over else len(self.fingers)
        self.phase, self.ending = ("over", "finished") if over else ("show", "")
        self.legal = () if over else self.game.actions

    def step(self, action: Action) -> None:
        self.fingers += (action.code + 1,)
        self._settle()

    def clone(self) -> MorraState:
        return MorraState(self.game, self.chance, self.fingers)

    def view(self, seat: int) -> MorraView:
        chosen = len(self.fingers)
        fingers = tuple(self.fingers[at] if at < chosen and (at == seat or chosen == 2) else None for at in range(2))
        return MorraView(seat, self.seat, self.phase, fingers, chosen)

    def scores(self) -> tuple[int, ...]:
        won = 0
        if len(self.fingers) == 2:
            won = sum(self.fingers) * (1 if sum(self.fingers) % 2 == 0 else -1)
        return won, -won


class Morra(Game[MorraView]):
    """Two-finger Morra; the score is what was won."""

    name, title, version = "morra", "Two-finger Morra", "1"
    min_players = max_players = 2
    view_type = MorraView

    def __init__(self, settings: Mapping[str, str | int | bool], files: Mapping[str, str]) -> None:
        super().__init__(settings, files)
        table: list[Action] = []
        self.add(table, Action, "one finger")
        self.add(table, Action, "two fingers")
        self.actions = tuple(table)

    def new(self, players: int, chance: Chance, log: list[Event] | None = None) -> MorraState:
        return MorraState(self, chance, ())

    def imagine(self, view: MorraView, rng: Random) -> MorraState:
        fingers = tuple(view.fingers[at] or 1 + int(rng.random() * 2) for at in range(view.shown))
        return MorraState(self, Chance(rng.getrandbits(48)), fingers)

    def render(self, view: MorraView, names: Sequence[str] = SEAT_NAMES) -> str:
        return f"fingers {view.fingers}"
