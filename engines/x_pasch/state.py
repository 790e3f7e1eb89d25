"""One play of X-Pasch: what is on the table, and the sequence of a turn and a round."""

# mypyc compiles this module. `mypyc_attr` keeps methods overridable for plain Python subclasses. Structs and
# dataclasses are in other modules: mypyc silently loses what makes them frozen.

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mypy_extensions import mypyc_attr

from engines.x_pasch import cards, uses
from engines.x_pasch.boards import leader, lowest_alone, replaced
from engines.x_pasch.choices import FOUND, STAGES, reroll, swap, use_dice
from engines.x_pasch.dice import DICE, Dice
from engines.x_pasch.view import XPaschView
from harness import NOBODY, Action, Chance, Event, State

if TYPE_CHECKING:
    from engines.x_pasch.game import XPasch

ROUNDS: Final = 100  # XP-21
VIEW: Final = XPaschView
"""Compiled code reads constants faster than imported names."""


@mypyc_attr(allow_interpreted_subclasses=True)
class XPaschState(State[XPaschView]):
    """Everything on the table, hidden or not, as immutable values: views and clones only pass them on."""

    __slots__ = (
        "dice", "euros", "fresh", "hand_sizes", "hands", "income", "members", "moves", "pile", "placed", "round",
        "rules", "second_chance", "stage", "sunk", "supply", "swapped", "table", "under",
    )  # fmt: skip

    caches = frozenset({"moves"})
    # XP-23: a player who swapped a card knows what lies at the bottom until it is drawn, not who has drawn it.
    forgets = frozenset({"hands", "pile", "sunk"})

    rules: XPasch
    """The same as `game`, with its concrete type: mypyc then reads its attributes directly."""

    round: int
    stage: int
    """The first kind of dice use still open, as a position in STAGES."""
    dice: Dice
    second_chance: int
    euros: tuple[int, ...]
    income: tuple[int, ...]
    """The income of each seat now: follows every change of a board."""
    supply: tuple[int, ...]
    hands: tuple[tuple[int, ...], ...]
    hand_sizes: tuple[int, ...]
    table: tuple[int, ...]
    members: tuple[tuple[int, ...], ...]
    placed: tuple[int, ...]
    fresh: int
    pile: tuple[int, ...]
    """Top card first."""
    under: tuple[int, ...]
    sunk: tuple[tuple[int, ...], ...]
    """For each seat, what it put under the pile and is still there."""
    swapped: tuple[int, ...]
    moves: tuple[Action, ...] | None
    """The moves open to the player on turn; None when they must be computed again."""

    def __init__(self, game: XPasch, players: int, chance: Chance, log: list[Event] | None = None) -> None:
        """Create an empty table: `set_up`, `imagine` and `clone` fill it."""
        self.game = self.rules = game
        self.players, self.chance, self.log = players, chance, log

    def set_up(self) -> XPaschState:
        """Return the state, dealt, at its first choice."""
        self.ending = ""
        players = self.players
        self.round, self.second_chance, self.swapped = 0, NOBODY, (0,) * players
        self.euros = self.income = (0,) * players
        self.supply = (self.rules.tables.members,) * players
        self.table = self.members = ()
        cards.deal(self)
        self._start_round()
        return self

    def clone(self) -> XPaschState:
        """Return an independent copy."""
        # Written out, because search clones a lot. All values are immutable and shared.
        new = XPaschState(self.rules, self.players, self.chance)
        new.seat, new.phase, new.legal, new.ending = self.seat, self.phase, self.legal, self.ending
        new.round, new.stage, new.dice, new.second_chance = self.round, self.stage, self.dice, self.second_chance
        new.euros, new.income, new.supply = self.euros, self.income, self.supply
        new.hands, new.hand_sizes = self.hands, self.hand_sizes
        new.table, new.members, new.placed, new.fresh = self.table, self.members, self.placed, self.fresh
        new.pile, new.under, new.sunk, new.swapped = self.pile, self.under, self.sunk, self.swapped
        new.moves = self.moves
        return new

    def view(self, seat: int) -> XPaschView:
        """Return what this seat may know now."""
        return VIEW(
            seat, self.seat, self.phase, self.round, STAGES[self.stage], self.dice, self.second_chance, self.euros,
            self.income, self.supply, self.hand_sizes, self.hands[seat], self.table, self.members, self.placed,
            self.fresh, len(self.pile), self.under, self.sunk[seat], self.swapped,
        )  # fmt: skip

    def scores(self) -> tuple[int, ...]:
        """Return euros (XP-20)."""
        return self.euros

    def unseen(self) -> int:
        """Return the number of cards of the pile that no seat has put there."""
        return len(self.pile) - len(self.under)

    def redealt(self, chance: Chance) -> XPaschState:
        """Return a copy with different future luck; the pile is in a different order, except for cards that a seat put
        under it."""
        new = self.clone()
        new.chance = chance
        unseen = self.unseen()
        new.pile = (*chance.shuffled(self.pile[:unseen], "unseen"), *self.pile[unseen:])
        return new

    def step(self, action: Action) -> None:
        """Carry out a legal action and advance to the next choice."""
        phase = self.phase
        if phase == "dice":
            uses.use(self, action)
            if self.dice:
                self.legal = use_dice(self)
            else:
                self._dice_done()
        elif phase == "reroll":
            self._second_chance(action)
        else:
            cards.swap(self, action)
            self._pass_on()

    def change_leader(self, at: int, before: int, after: int) -> None:
        """Give the income of the company at this place of the table to another seat, or to `NOBODY` (XP-5)."""
        if before != after:
            worth = self.rules.tables.incomes[self.table[at]]
            income = list(self.income)
            if before != NOBODY:
                income[before] -= worth
            if after != NOBODY:
                income[after] += worth
            self.income = tuple(income)

    def _start_round(self) -> None:
        self.round += 1
        self.second_chance = lowest_alone(self.euros)  # XP-7
        if self.log is not None:
            holder = None if self.second_chance == NOBODY else self.second_chance
            self.log.append(Event("round", {"round": self.round, "second_chance": holder}))
        self._start_turn(0)

    def _start_turn(self, seat: int) -> None:
        self.seat = seat
        # Members that came from the supply may move again, and new companies are old ones now (XP-14).
        self.stage, self.fresh, self.placed = FOUND, 0, (0,) * len(self.table)
        self.moves = None
        self._collect(seat)
        if self.euros[seat] >= self.rules.tables.target:  # XP-6
            for later in range(seat + 1, self.players):  # XP-20
                self._collect(later)
            self._end("target")
            return
        first, second, third = self.chance.dice(DICE, 6, "dice", self.round, seat)
        self.dice = self.rules.tables.thrown[36 * first + 6 * second + third]
        if self.log is not None:
            self.log.append(Event("roll", {"seat": seat, "dice": list(self.dice)}))
        if seat == self.second_chance:
            self.phase = "reroll"
            self.legal = reroll(self)
        else:
            self.phase = "dice"
            self.legal = use_dice(self)

    def _collect(self, seat: int) -> None:
        income = self.income[seat]
        if income:
            self.euros = replaced(self.euros, seat, self.euros[seat] + income)
        if self.log is not None:
            incomes = self.rules.tables.incomes
            led = [c for c, board in zip(self.table, self.members, strict=True) if leader(board) == seat]
            self.log.append(
                Event(
                    "income",
                    {"seat": seat, "companies": [[c, incomes[c]] for c in led], "euros": self.euros[seat]},
                )
            )

    def _second_chance(self, action: Action) -> None:
        uses.second_chance(self, action)
        self.phase = "dice"
        self.legal = use_dice(self)

    def _dice_done(self) -> None:
        """End the use of dice: a seat that may swap a card is asked next (XP-16)."""
        if self.hand_sizes[self.seat] == self.rules.tables.hand_limit and self.pile:
            self.phase = "swap"
            self.legal = swap(self)
        else:
            self._pass_on()

    def _pass_on(self) -> None:
        if self.seat + 1 < self.players:
            self._start_turn(self.seat + 1)
        elif self.round < ROUNDS:
            self._start_round()
        else:
            self._end("truncated")

    def _end(self, why: str) -> None:
        self.seat, self.phase, self.legal, self.ending, self.dice = NOBODY, "over", (), why, ()
        if self.log is not None:
            self.log.append(Event("end", {"reason": why, "scores": list(self.euros)}))
