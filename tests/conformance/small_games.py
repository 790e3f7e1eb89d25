"""Kuhn poker and liar's dice for the laws to be tried on: sound as they are, and broken in one way by each bug.

In games this small much coincides by chance, so that leaks look like luck and luck like leaks.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path
from random import Random
from typing import Any

from msgspec.structs import replace

from harness import NOBODY, SEAT_NAMES, Action, Chance, Event, Game, Option, State, Value, View

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "examples" / "games"))

from liars_dice import CUP, Bid, DiceState, DiceView, LiarsDice

CARDS = (1, 2, 3)
OVER = ("pp", "pbp", "pbb", "bp", "bb")
BUG = Option("bug", "", "what is wrong with it")

KUHN_BUGS = {
    "card event to all": "seats_learn_no_more_than_views_show",
    "card event to the other seat": "seats_learn_no_more_than_views_show",
    "event says whether a card is high": "seats_learn_no_more_than_views_show",
    "bet event has the card": "seats_learn_no_more_than_views_show",
    "antes in the order of cards": "seats_learn_no_more_than_views_show",
    "action text has the card": "seats_learn_no_more_than_views_show",
    "view shows both cards": "seats_learn_no_more_than_views_show",
    "view shows both cards, imagine ignores it": "imagined_states_fit_the_view",
    "no bet against a king": "imagined_states_fit_the_view",
    "legal order shows the card": "imagined_states_fit_the_view",
    "imagines my card for the other seat": "imagined_states_are_possible",
    "imagines two cards a seat": "imagined_states_are_possible",
    "imagines an ace": "imagined_states_are_possible",
    "never imagines a king": "imagined_states_are_possible",
    "always imagines the same": "imagined_states_are_possible",
    "clones share": "clones_are_independent",
}
DICE_BUGS = {
    "roll event to all": "seats_learn_no_more_than_views_show",
    "bid event has the dice": "seats_learn_no_more_than_views_show",
    "antes in the order of dice": "seats_learn_no_more_than_views_show",
    "view shows all cups": "seats_learn_no_more_than_views_show",
    "no lie against a pair of sixes": "imagined_states_fit_the_view",
    "imagines three dice": "imagined_states_are_possible",
    "imagines a seven": "imagined_states_are_possible",
    "imagines my dice for all": "imagined_states_are_possible",
    "imagines unsorted cups": "imagined_states_are_possible",
    "imagines from a fixed seed": "imagined_states_are_possible",
    "view has points above their bound": "declared_bounds_hold",
    "view names a seat that does not exist": "declared_bounds_hold",
    "bounds of scores are too narrow": "declared_bounds_hold",
    "more decisions than declared": "declared_bounds_hold",
    "luck has the bid in its name": "luck_does_not_depend_on_play",
    "luck has the points in its name": "luck_does_not_depend_on_play",
    "luck has negative points in its name": "luck_does_not_depend_on_play",
    "luck counts choices": "luck_does_not_depend_on_play",
    "luck from a generator in the state": "luck_does_not_depend_on_play",
    "clones share": "clones_are_independent",
}


class KuhnView(View, frozen=True):
    cards: tuple[Any, ...]
    """0 for a card that this seat does not see."""
    said: str


class KuhnState(State[KuhnView]):
    """Jack, queen and king are 1, 2, 3. `said` has `p` for a pass or a fold and `b` for a bet or a call."""

    __slots__ = ("cards", "said")
    game: Kuhn

    def __init__(self, game: Kuhn, chance: Chance, cards: tuple[Any, ...], log: list[Event] | None) -> None:
        self.game, self.players, self.chance, self.log = game, 2, chance, log
        self.cards: Any = cards
        self.said = [""] if game.bug == "clones share" else ""
        self.ask()

    def ask(self) -> None:
        said = "".join(self.said)
        over = said in OVER
        self.seat = NOBODY if over else len(said) % 2
        self.phase, self.ending = ("over", "finished") if over else ("bet", "")
        passes, bets, big = self.game.actions
        self.legal = () if over else (passes, bets)
        if over:
            return
        bug, other = self.game.bug, self.cards[1 - self.seat]
        if bug == "no bet against a king" and other == 3:
            self.legal = (passes,)
        if bug == "legal order shows the card" and other == 1:
            self.legal = (bets, passes)
        if bug == "action text has the card" and self.cards[self.seat] == 3:
            self.legal = (passes, big)

    def step(self, action: Action) -> None:
        if self.log is not None:
            more = {"card": self.cards[self.seat]} if self.game.bug == "bet event has the card" else {}
            says = action.text if self.game.bug == "action text has the card" else action.text.split()[0]
            self.log.append(Event("says", {"seat": self.seat, "says": says, **more}))
        if isinstance(self.said, list):
            self.said.append(action.text[0])
        else:
            self.said += action.text[0]
        self.ask()
        if self.log is not None and "".join(self.said) in ("pp", "pbb", "bb"):
            self.log.append(Event("showdown", {"cards": list(self.cards)}))

    def clone(self) -> KuhnState:
        new = copy(self)
        new.log = None
        return new

    def view(self, seat: int) -> KuhnView:
        said = "".join(self.said)
        shown = said in ("pp", "pbb", "bb") or self.game.bug.startswith("view shows both cards")
        cards = tuple(card if shown or at == seat else 0 for at, card in enumerate(self.cards))
        return KuhnView(seat, self.seat, self.phase, cards, said)

    def scores(self) -> tuple[int, ...]:
        said = "".join(self.said)
        if said not in OVER:
            return 0, 0
        stake = 1 if said == "pp" else 2
        won = {"bp": 1, "pbp": -1}.get(said, stake if self.cards[0] > self.cards[1] else -stake)
        return won, -won


class Kuhn(Game[KuhnView]):
    name, title, version = "kuhn-bugs", "Kuhn poker", "1"
    min_players = max_players = 2
    options = (BUG,)
    view_type = KuhnView

    def __init__(self, settings: Mapping[str, Value], files: Mapping[str, str]) -> None:
        super().__init__(settings, files)
        self.bug = str(settings["bug"])
        table: list[Action] = []
        for text in ("pass", "bet", "bet big"):
            self.add(table, Say, text)
        self.actions = tuple(table)

    def new(self, players: int, chance: Chance, log: list[Event] | None = None) -> KuhnState:
        cards = tuple(chance.shuffled(CARDS, "deal")[:2])
        if log is not None:
            by_card = sorted((0, 1), key=lambda seat: cards[seat])
            for seat in by_card if self.bug == "antes in the order of cards" else (0, 1):
                log.append(Event("ante", {"seat": seat}))
            for seat, card in enumerate(cards):
                to = {"card event to all": None, "card event to the other seat": (1 - seat,)}.get(self.bug, (seat,))
                log.append(Event("card", {"seat": seat, "card": card}, to=to))
            if self.bug == "event says whether a card is high":
                log.append(Event("start", {"high": cards[0] == 3}))
        return KuhnState(self, chance, cards, log)

    def imagine(self, view: KuhnView, rng: Random) -> KuhnState:
        unseen = [card for card in CARDS if card not in view.cards]
        rng.shuffle(unseen)
        cards: tuple[Any, ...] = tuple(card or unseen.pop() for card in view.cards)
        hidden = 0 in view.cards
        mine, other = cards[view.seat], 1 - view.seat
        match self.bug:
            case "view shows both cards, imagine ignores it":
                unseen = [card for card in CARDS if card != mine]
                cards = _with(cards, other, rng.choice(unseen))
            case "imagines my card for the other seat" if hidden:
                cards = (mine, mine) if rng.random() < 0.5 else cards
            case "imagines two cards a seat" if hidden:
                cards = _with(cards, other, (cards[other], rng.choice(CARDS)))
            case "imagines an ace" if hidden:
                cards = _with(cards, other, rng.choice([card for card in (*CARDS, 4) if card != mine]))
            case "never imagines a king" if hidden and mine != 3:
                cards = _with(cards, other, 3 - mine)
            case "always imagines the same" if hidden:
                cards = _with(cards, other, mine % 3 + 1)
        state = KuhnState(self, Chance(rng.getrandbits(48)), cards, None)
        state.said = [*view.said] if self.bug == "clones share" else view.said
        state.ask()
        return state

    def render(self, view: KuhnView, names: Sequence[str] = SEAT_NAMES) -> str:
        return f"cards {view.cards}, said {view.said!r}"


class Say(Action):
    kind = "say"


def _with(cards: tuple[Any, ...], seat: int, card: object) -> tuple[Any, ...]:
    return (*cards[:seat], card, *cards[seat + 1 :])


class OpenView(DiceView, frozen=True):
    """All cups, with one of the bugs."""

    cups: tuple[Any, ...] = ()


class BrokenState(DiceState):
    __slots__ = ("choices", "generator", "last")
    game: Dice  # type: ignore[assignment]

    def __init__(self, game: Any, players: int, chance: Chance, log: list[Event] | None) -> None:
        self.choices: Any = [] if game.bug == "clones share" else 0
        self.last = -1
        if game.bug == "luck from a generator in the state":
            self.generator = chance.rng("dice")
        super().__init__(game, players, chance, log)

    def step(self, action: Action) -> None:
        if isinstance(self.choices, list):
            self.choices.append(action.code)
        elif self.game.bug == "luck counts choices":
            self.choices += 1
        if self.log is not None and self.game.bug == "bid event has the dice":
            self.log.append(Event("look", {"seat": self.seat, "dice": list(self.cups[self.seat])}))
        if self.game.bug == "luck has the bid in its name":
            self.last = self.bid
        super().step(action)

    def _cup(self, seat: int) -> Any:
        match self.game.bug:
            case "luck has the bid in its name":
                where: tuple[Any, ...] = (self.round, seat, self.last)
            case "luck has the points in its name":
                where = (self.round, seat, self.points[0])
            case "luck has negative points in its name":
                where = (self.round, seat, self.points[0] - self.points[1])
            case "luck counts choices":
                where = (self.choices, seat)
            case "luck from a generator in the state":
                return tuple(sorted(self.generator.choices(range(1, 7), k=CUP)))
            case _:
                where = (self.round, seat)
        return tuple(sorted(face + 1 for face in self.chance.dice(CUP, 6, "cup", *where)))

    def _roll(self, first: int) -> None:
        super()._roll(first)
        if self.log is None:
            return
        if self.game.bug == "roll event to all":
            self.log += [Event("dice", {"seat": seat, "dice": list(dice)}) for seat, dice in enumerate(self.cups)]
        by_dice = sorted(range(self.players), key=lambda seat: sum(self.cups[seat]))
        order = by_dice if self.game.bug == "antes in the order of dice" else range(self.players)
        self.log += [Event("ante", {"seat": seat}) for seat in order]

    def _ask(self, seat: int) -> None:
        super()._ask(seat)
        if self.game.bug == "no lie against a pair of sixes" and self.cups[seat - 1] == (6, 6):
            self.legal = tuple(action for action in self.legal if isinstance(action, Bid)) or self.legal

    def view(self, seat: int) -> DiceView:
        base = super().view(seat)
        match self.game.bug:
            case "view has points above their bound":
                return replace(base, points=(99, *base.points[1:]))
            case "view names a seat that does not exist":
                return replace(base, bidder=self.players)
        if self.game.bug != "view shows all cups":
            return base
        return OpenView(*(getattr(base, name) for name in DiceView.__struct_fields__), cups=self.cups)


class Dice(LiarsDice):
    name = "dice-bugs"
    options = (*LiarsDice.options, BUG)

    def __init__(self, settings: Mapping[str, Value], files: Mapping[str, str]) -> None:
        super().__init__(settings, files)
        self.bug = str(settings["bug"])
        if self.bug == "view shows all cups":
            self.view_type = OpenView  # type: ignore[misc]

    def score_bounds(self, players: int) -> tuple[int, int]:
        return (0, 0) if self.bug == "bounds of scores are too narrow" else super().score_bounds(players)

    def max_decisions(self, players: int) -> int:
        return 3 if self.bug == "more decisions than declared" else super().max_decisions(players)

    def new(self, players: int, chance: Chance, log: list[Event] | None = None) -> DiceState:
        return BrokenState(self, players, chance, log)

    def imagine(self, view: DiceView, rng: Random) -> DiceState:
        if self.bug == "imagines from a fixed seed":
            rng = Random(str(view))
        state = BrokenState(self, len(view.points), Chance(rng.getrandbits(48)), None)
        size = 3 if self.bug == "imagines three dice" else CUP
        faces = range(1, 8 if self.bug == "imagines a seven" else 7)
        cups: list[Any] = [tuple(sorted(rng.choices(faces, k=size))) for _ in view.points]
        if self.bug == "imagines unsorted cups":
            cups = [tuple(rng.sample(cup, k=CUP)) for cup in cups]
        if self.bug == "imagines my dice for all":
            cups = [view.dice for _ in cups]
        cups[view.seat] = view.dice
        state.cups = view.cups if isinstance(view, OpenView) else tuple(cups)
        state.round, state.points = view.round, view.points
        state.bid, state.bidder, state.phase = view.bid, view.bidder, view.phase
        state._ask(view.turn)
        if view.phase == "over":
            state.legal, state.ending = (), "finished"
        return state


GAMES: dict[str, tuple[type[Game[Any]], Mapping[str, str]]] = {"kuhn": (Kuhn, KUHN_BUGS), "dice": (Dice, DICE_BUGS)}
