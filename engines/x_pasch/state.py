"""One play of X-Pasch: what is on the table, and the sequence of a turn and a round."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engines.x_pasch import cards, uses
from engines.x_pasch.boards import leader, lowest_alone, replaced
from engines.x_pasch.choices import CHOICES, FOUND, STAGES, Servings
from engines.x_pasch.dice import DICE, FACES, Dice
from engines.x_pasch.view import XPaschView
from harness import NOBODY, Action, Chance, Event, State

if TYPE_CHECKING:
    from engines.x_pasch.game import XPasch

ROUNDS = 100  # XP-21


class XPaschState(State[XPaschView]):
    """Everything on the table, hidden or not, as immutable values: views and clones only pass them on."""

    __slots__ = (
        "dice", "euros", "fresh", "hand_sizes", "hands", "income", "members", "moves", "pile", "placed", "round",
        "second_chance", "servings", "stage", "sunk", "supply", "swapped", "table", "under",
    )  # fmt: skip

    caches = frozenset({"moves", "servings"})
    # XP-23: who swapped a card knows what lies at the bottom until it is drawn, not who has drawn it.
    forgets = frozenset({"hands", "pile", "sunk"})

    game: XPasch

    round: int
    stage: int
    """The first kind of dice use still open, as a position in STAGES."""
    dice: Dice
    second_chance: int
    euros: tuple[int, ...]
    income: tuple[int, ...]
    """What each seat would collect: follows every change of a board."""
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
    servings: Servings
    """What each set of dice can place on this table, as far as it was asked for; clones share it until a founding."""
    moves: tuple[Action, ...] | None
    """The moves open to the player on turn; None when they must be worked out anew."""

    def __init__(self, game: XPasch, players: int, chance: Chance, log: list[Event] | None) -> None:
        self.game, self.players, self.chance, self.log = game, players, chance, log
        self.ending = ""
        self.round, self.second_chance, self.swapped = 0, NOBODY, (0,) * players
        self.euros = self.income = (0,) * players
        self.supply = (game.tables.members,) * players
        self.table = self.members = ()
        self.servings = {}
        cards.deal(self)
        self._start_round()

    @classmethod
    def blank(cls, game: XPasch, players: int, chance: Chance) -> XPaschState:
        """A state with no contents yet, for `imagine` and `clone` to fill in."""
        state = cls.__new__(cls)
        state.game, state.players, state.chance, state.log = game, players, chance, None
        return state

    def clone(self) -> XPaschState:
        """An independent copy."""
        new = self.blank(self.game, self.players, self.chance)
        new.seat, new.phase, new.legal, new.ending = self.seat, self.phase, self.legal, self.ending
        new.round, new.stage, new.dice, new.second_chance = self.round, self.stage, self.dice, self.second_chance
        new.euros, new.income, new.supply = self.euros, self.income, self.supply
        new.hands, new.hand_sizes = self.hands, self.hand_sizes
        new.table, new.members, new.placed, new.fresh = self.table, self.members, self.placed, self.fresh
        new.pile, new.under, new.sunk, new.swapped = self.pile, self.under, self.sunk, self.swapped
        new.servings, new.moves = self.servings, self.moves
        return new

    def view(self, seat: int) -> XPaschView:
        """What this seat may know now."""
        return XPaschView(
            seat, self.seat, self.phase, self.round, STAGES[self.stage], self.dice, self.second_chance, self.euros,
            self.income, self.supply, self.hand_sizes, self.hands[seat], self.table, self.members, self.placed,
            self.fresh, len(self.pile), self.under, self.sunk[seat], self.swapped,
        )  # fmt: skip

    def scores(self) -> tuple[int, ...]:
        """Euros (XP-20)."""
        return self.euros

    def unseen(self) -> int:
        """Cards of the pile that nobody has put there."""
        return len(self.pile) - len(self.under)

    def redealt(self, chance: Chance) -> XPaschState:
        """A copy with other luck to come; the pile lies in another order, but for cards that somebody put under it."""
        new = self.clone()
        new.chance = chance
        unseen = self.unseen()
        new.pile = (*chance.shuffled(self.pile[:unseen], "unseen"), *self.pile[unseen:])
        return new

    def step(self, action: Action) -> None:
        """Carry out a legal action and go on to the next choice."""
        phase = self.phase
        if phase == "dice":
            uses.USES[action.kind](self, action)
            if self.dice:
                self.legal = CHOICES["dice"](self)
            else:
                self._dice_done()
        elif phase == "reroll":
            self._second_chance(action)
        else:
            cards.swap(self, action)
            self._pass_on()

    def set_board(self, at: int, board: tuple[int, ...]) -> None:
        """Change the members on the company at this place of the table; the incomes follow."""
        before, after = leader(self.members[at]), leader(board)
        if before != after:
            worth = self.game.tables.incomes[self.table[at]]
            income = list(self.income)
            if before != NOBODY:
                income[before] -= worth
            if after != NOBODY:
                income[after] += worth
            self.income = tuple(income)
        self.members = replaced(self.members, at, board)

    def _start_round(self) -> None:
        self.round += 1
        self.second_chance = lowest_alone(self.euros)  # XP-7
        if self.log is not None:
            holder = None if self.second_chance == NOBODY else self.second_chance
            self.log.append(Event("round", {"round": self.round, "second_chance": holder}))
        self._start_turn(0)

    def _start_turn(self, seat: int) -> None:
        self.seat = seat
        self.stage, self.fresh, self.placed = FOUND, 0, (0,) * len(self.table)
        self.moves = None
        self._collect(seat)
        if self.euros[seat] >= self.game.tables.target:  # XP-6
            for later in range(seat + 1, self.players):  # XP-20
                self._collect(later)
            self._end("target")
            return
        self.dice = tuple(sorted([FACES[face] for face in self.chance.dice(DICE, 6, "dice", self.round, seat)]))
        if self.log is not None:
            self.log.append(Event("roll", {"seat": seat, "dice": list(self.dice)}))
        self.phase = "reroll" if seat == self.second_chance else "dice"
        self.legal = CHOICES[self.phase](self)

    def _collect(self, seat: int) -> None:
        self.euros = replaced(self.euros, seat, self.euros[seat] + self.income[seat])
        if self.log is not None:
            incomes = self.game.tables.incomes
            led = [c for c, board in zip(self.table, self.members, strict=True) if leader(board) == seat]
            self.log.append(
                Event(
                    "income",
                    {"seat": seat, "companies": [[c, incomes[c]] for c in led], "euros": self.euros[seat]},
                )
            )

    def _second_chance(self, action: Action) -> None:
        uses.SECOND_CHANCE[action.kind](self, action)
        self.phase = "dice"
        self.legal = CHOICES["dice"](self)

    def _dice_done(self) -> None:
        """XP-16 comes next for those it is open to."""
        if self.hand_sizes[self.seat] == self.game.tables.hand_limit and self.pile:
            self.phase = "swap"
            self.legal = CHOICES["swap"](self)
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
