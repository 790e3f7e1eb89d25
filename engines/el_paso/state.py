"""One play of El Paso: what is on the table, and the sequence of a town and a round."""

# mypyc compiles this module. `mypyc_attr` keeps methods overridable for plain Python subclasses. Structs and
# dataclasses are in other modules: mypyc silently loses what makes them frozen.

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mypy_extensions import mypyc_attr

from engines.el_paso import leaving, plunder, town
from engines.el_paso.choices import ask_next
from engines.el_paso.values import NOTHING, BySite, Values
from engines.el_paso.view import ElPasoView
from harness import NOBODY, Action, Chance, Event, State

if TYPE_CHECKING:
    from engines.el_paso.game import ElPaso

VIEW: Final = ElPasoView
"""Compiled code reads constants faster than imported names."""


@mypyc_attr(allow_interpreted_subclasses=True)
class ElPasoState(State[ElPasoView]):
    """Everything on the table, hidden or not. What a view shows is in immutable values, which it just refers to; the
    rest is in short lists of them."""

    __slots__ = (
        "bag", "box", "carried", "choosable", "discards", "faces", "groups", "hands", "laid", "leaving", "left",
        "limit", "lookout", "money", "piles", "played", "queue", "roll", "round", "rules", "shown", "stacks", "stars",
        "tiles", "town",
    )  # fmt: skip

    rules: ElPaso
    """The same as `game`, with its concrete type: mypyc then reads its attributes directly."""

    town: int
    round: int
    lookout: int
    stars: int
    roll: tuple[str, ...]
    left: Values
    groups: int
    leaving: tuple[int, ...]
    queue: tuple[int, ...]
    limit: int
    carried: BySite
    choosable: tuple[tuple[int, int], ...]
    """Tiles (site, value) of the leaver on turn that EP-19's order still lets them carry."""
    money: Values
    tiles: tuple[BySite, ...]
    stacks: BySite
    bag: BySite
    box: BySite
    hands: list[BySite]
    """The cards in each hand."""
    shown: tuple[BySite, ...]
    """What is public of them: 0 for a hidden value."""
    laid: list[tuple[int, int] | None]
    piles: list[Values]
    """The piles, top card first."""
    faces: BySite
    """What is public of them: 0 for a hidden value."""
    discards: BySite
    played: tuple[tuple[int, int] | None, ...]

    def __init__(self, game: ElPaso, players: int, chance: Chance, log: list[Event] | None = None) -> None:
        """Create an empty table: `set_up`, `imagine` and `clone` fill it."""
        self.game = self.rules = game
        self.players, self.chance, self.log = players, chance, log

    def set_up(self) -> ElPasoState:
        """Return the state, dealt, at its first choice."""
        self.ending = ""
        players = self.players
        self.bag = self.rules.tiles
        self.box = NOTHING
        self.money = (0,) * players
        self.tiles = (NOTHING,) * players
        self.town = self.lookout = 0
        town.deal(self)
        self._open()
        return self

    def clone(self) -> ElPasoState:
        """Return an independent copy."""
        # Written out, because search clones a lot. The lists hold immutable values, so that slices are enough.
        new = ElPasoState(self.rules, self.players, self.chance)
        new.seat, new.phase, new.legal, new.ending = self.seat, self.phase, self.legal, self.ending
        new.town, new.round, new.lookout = self.town, self.round, self.lookout
        new.stars, new.roll, new.groups, new.leaving = self.stars, self.roll, self.groups, self.leaving
        new.queue, new.limit, new.carried, new.choosable = self.queue, self.limit, self.carried, self.choosable
        new.left, new.money, new.tiles = self.left, self.money, self.tiles
        new.stacks, new.bag, new.box = self.stacks, self.bag, self.box
        new.hands, new.shown, new.laid = self.hands[:], self.shown, self.laid[:]
        new.piles, new.faces, new.discards = self.piles[:], self.faces, self.discards
        new.played = self.played
        return new

    def view(self, seat: int) -> ElPasoView:
        """Return what this seat may know now."""
        return VIEW(
            seat, self.seat, self.phase, self.town, self.round, self.lookout, self.stars, self.roll,
            self.left, self.groups, self.leaving, self.queue, self.limit, self.carried,
            self.money, self.tiles, self.stacks, self.bag, self.hands[seat], self.laid[seat], self.shown,
            self.faces, self.discards, self.played,
        )  # fmt: skip

    def scores(self) -> tuple[int, ...]:
        """Return money (EP-27)."""
        return self.money

    def unseen(self) -> int:
        """Return the number of cards in the piles that no seat has seen (EP-28)."""
        return sum([faces.count(0) for faces in self.faces])

    def redealt(self, chance: Chance) -> ElPasoState:
        """Return a copy with different future luck; cards of a pile that no seat has seen are in a different order."""
        new = self.clone()
        new.chance = chance
        for site, faces in enumerate(self.faces):
            if 0 in faces:  # then none of them is known: a pile is turned over as a whole (EP-17)
                new.piles[site] = tuple(chance.shuffled(self.piles[site], "unseen", site))
        return new

    def step(self, action: Action) -> None:
        """Carry out a legal action and advance to the next choice."""
        phase = self.phase
        if phase == "answer":
            leaving.answer(self, action)
            if not ask_next(self, "answer"):
                self._answered()
        elif phase == "play":
            plunder.lay(self, action)
            if not ask_next(self, "play"):
                plunder.resolve(self)
                if not ask_next(self, "draw"):
                    self._round_over()
        elif phase == "draw":
            plunder.draw(self, action)
            if not ask_next(self, "draw"):
                self._round_over()
        else:
            leaving.choose_tile(self, action)
            if not leaving.ask_tile(self):
                self._gone()

    def from_lookout(self) -> tuple[int, ...]:
        """Return the seats still in town, from the lookout's clockwise."""
        left = self.left
        return tuple([seat for seat in self.rules.orders[self.players][self.lookout] if not left[seat]])

    def _open(self) -> None:
        if town.open_town(self):
            self._round()
        else:  # EP-26
            self._leave(self.from_lookout(), 2)

    def _round(self) -> None:
        self.round += 1
        self.queue = self.from_lookout()
        if self.round == 1 and not self.rules.edition.may_leave_in_first_round:  # EP-9
            ask_next(self, "play")
        else:
            ask_next(self, "answer")

    def _answered(self) -> None:
        if self.leaving:
            self._leave(self.leaving, self.groups + 1)
        else:
            self._lay_cards()

    def _leave(self, seats: tuple[int, ...], limit: int) -> None:
        leaving.leave(self, seats, limit)
        if not leaving.ask_tile(self):
            self._gone()

    def _gone(self) -> None:
        """Continue after the leavers have sold and gone (EP-10, EP-11)."""
        self.limit = 0
        if 0 in self.left:
            self._lay_cards()
        else:
            self._town_over("everyone has left" if self.stacks != NOTHING else "nothing to plunder")

    def _lay_cards(self) -> None:
        self.queue = self.from_lookout()
        ask_next(self, "play")

    def _round_over(self) -> None:
        if self.stars == self.rules.dice:
            self._town_over("sheriffs")
        elif self.stacks != NOTHING:
            self._round()
        else:  # EP-23
            as_group = self.rules.edition.carry_when_empty == "next_group" and self.groups > 0
            self._leave(self.from_lookout(), self.groups + 1 if as_group else 2)

    def _town_over(self, why: str) -> None:
        town.close(self, why)
        if self.town + 1 < self.rules.towns:
            self.town += 1
            self.lookout = (self.lookout + 1) % self.players  # EP-25
            self._open()
        else:
            town.final_sale(self)
            self.seat, self.phase, self.legal, self.queue = NOBODY, "over", (), ()
            self.ending = "finished"
