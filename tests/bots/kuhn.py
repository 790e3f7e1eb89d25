"""Kuhn poker: three cards, one chip each, one bet. Small enough to be solved by hand, so it is our ruler.

Jack, queen and king are worth 1, 2 and 3. Both put in one chip. Seat 0 passes or bets a chip; a bet is answered
by a call or a fold, a pass by a pass or a bet, and that bet again by a call or a fold. The value for seat 0 is -1/18.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from random import Random

from harness import NOBODY, SEAT_NAMES, Action, Chance, Event, Game, State, View

CARDS = (1, 2, 3)
OVER = ("pp", "pbp", "pbb", "bp", "bb")
VALUE = Fraction(-1, 18)
"""What seat 0 wins a game when both play well."""

Policy = Mapping[tuple[int, str], float]
"""How often a seat bets (or calls), by its card and what has been said."""


class KuhnView(View, frozen=True):
    """A seat's own card, what has been said, and after a showdown both cards."""

    cards: tuple[int | None, ...]
    said: str


class KuhnState(State[KuhnView]):
    """Two cards and what has been said: `p` for a pass or a fold, `b` for a bet or a call."""

    __slots__ = ("cards", "said")

    def __init__(self, game: Game[KuhnView], chance: Chance, cards: tuple[int, ...], said: str) -> None:
        self.game, self.players, self.chance, self.log = game, 2, chance, None
        self.cards, self.said = cards, said
        self._settle()

    def _settle(self) -> None:
        over = self.said in OVER
        self.seat = NOBODY if over else len(self.said) % 2
        self.phase, self.ending = ("over", "finished") if over else ("bet", "")
        self.legal = () if over else self.game.actions

    def step(self, action: Action) -> None:
        self.said += action.text[0]
        self._settle()

    def clone(self) -> KuhnState:
        return KuhnState(self.game, self.chance, self.cards, self.said)

    def view(self, seat: int) -> KuhnView:
        shown = self.said in ("pp", "pbb", "bb")
        cards = tuple(card if shown or at == seat else None for at, card in enumerate(self.cards))
        return KuhnView(seat, self.seat, self.phase, cards, self.said)

    def scores(self) -> tuple[int, ...]:
        won = payoff(self.cards, self.said) if self.said in OVER else 0
        return won, -won


class Kuhn(Game[KuhnView]):
    """Kuhn poker; the score is chips won."""

    name, title, version = "kuhn", "Kuhn poker", "1"
    min_players = max_players = 2
    view_type = KuhnView

    def __init__(self, settings: Mapping[str, str | int | bool], files: Mapping[str, str]) -> None:
        super().__init__(settings, files)
        table: list[Action] = []
        self.add(table, Action, "pass")
        self.add(table, Action, "bet")
        self.actions = tuple(table)

    def new(self, players: int, chance: Chance, log: list[Event] | None = None) -> KuhnState:
        cards = tuple(chance.shuffled(CARDS, "deal")[:2])
        if log is not None:
            log.extend(Event("card", {"seat": seat, "card": card}, to=(seat,)) for seat, card in enumerate(cards))
        return KuhnState(self, chance, cards, "")

    def imagine(self, view: KuhnView, rng: Random) -> KuhnState:
        unseen = [card for card in CARDS if card not in view.cards]
        rng.shuffle(unseen)
        cards = tuple(card or unseen.pop() for card in view.cards)
        return KuhnState(self, Chance(rng.getrandbits(48)), cards, view.said)

    def render(self, view: KuhnView, names: Sequence[str] = SEAT_NAMES) -> str:
        return f"cards {view.cards}, said {view.said!r}"


def payoff(cards: tuple[int, ...], said: str) -> int:
    """What seat 0 wins at the end of a game."""
    if said == "bp":
        return 1
    if said == "pbp":
        return -1
    stake = 1 if said == "pp" else 2
    return stake if cards[0] > cards[1] else -stake


def infosets() -> Iterator[tuple[int, str]]:
    """Every situation a player can be in: its card, and what has been said."""
    for said in ("", "p", "b", "pb"):
        for card in CARDS:
            yield card, said


def value(policy: tuple[Policy, Policy]) -> float:
    """What seat 0 wins a game on average, exactly."""
    deals = list(permutations(CARDS, 2))
    return sum(_value(cards, "", policy) for cards in deals) / len(deals)


def _value(cards: tuple[int, ...], said: str, policy: tuple[Policy, Policy]) -> float:
    if said in OVER:
        return payoff(cards, said)
    seat = len(said) % 2
    bets = policy[seat][cards[seat], said]
    return bets * _value(cards, said + "b", policy) + (1 - bets) * _value(cards, said + "p", policy)


def best_against(policy: Policy, seat: int) -> float:
    """What the best player in the other seat wins a game: tries all 64 of its pure policies."""
    other = 1 - seat
    sets = [key for key in infosets() if len(key[1]) % 2 == other]
    results = []
    for choice in range(2 ** len(sets)):
        pure = {key: float(choice >> at & 1) for at, key in enumerate(sets)}
        both = (policy, pure) if seat == 0 else (pure, policy)
        results.append(value(both) * (1 if other == 0 else -1))
    return max(results)


def equilibrium(bluff: float = 1 / 6) -> Policy:
    """An optimal policy for both seats; `bluff` from 0 to 1/3 says how often seat 0 opens with the jack."""
    return {
        (1, ""): bluff, (2, ""): 0.0, (3, ""): 3 * bluff,
        (1, "pb"): 0.0, (2, "pb"): bluff + 1 / 3, (3, "pb"): 1.0,
        (1, "p"): 1 / 3, (2, "p"): 0.0, (3, "p"): 1.0,
        (1, "b"): 0.0, (2, "b"): 1 / 3, (3, "b"): 1.0,
    }  # fmt: skip
