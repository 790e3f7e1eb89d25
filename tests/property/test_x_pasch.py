"""X-Pasch under random and rule-of-thumb players: what must hold at every step of every game."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations, permutations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.x_pasch import Company, Found, Move, Place, XPasch, XPaschState, XPaschView
from engines.x_pasch.boards import leader
from engines.x_pasch.choices import CHOICES
from harness import Action, Chance, Event, read_data_file

Policy = Callable[[XPasch, XPaschView, Sequence[Action], Random], Action]


def at_random(_game: XPasch, _view: XPaschView, actions: Sequence[Action], rng: Random) -> Action:
    return actions[int(rng.random() * len(actions))]


def thrifty(_game: XPasch, _view: XPaschView, actions: Sequence[Action], _rng: Random) -> Action:
    """Never spends a member: draws, and does nothing else."""
    return next((action for action in actions if action.kind == "draw"), actions[-1])


def builder(game: XPasch, view: XPaschView, actions: Sequence[Action], rng: Random) -> Action:
    """Puts down as many members as it can where the income is highest: runs out of them soon."""

    def worth(action: Action) -> tuple[int, int]:
        if isinstance(action, Found):
            return 2, game.companies[action.card].income
        if isinstance(action, Place):
            return 1, action.members * game.companies[action.company].income
        return 0, 0

    best = max(actions, key=worth)
    return best if worth(best) > (0, 0) else at_random(game, view, actions, rng)


def restless(game: XPasch, view: XPaschView, actions: Sequence[Action], rng: Random) -> Action:
    """Moves, swaps and re-rolls whenever it can."""
    busy = [action for action in actions if action.kind in ("move", "swap", "reroll")]
    return at_random(game, view, busy or actions, rng)


POLICIES: tuple[Policy, ...] = (at_random, thrifty, builder, restless)

TABLES = {
    "seed": st.integers(0, 2**32),
    "policies": st.lists(st.sampled_from(POLICIES), min_size=3, max_size=6),
    "target": st.sampled_from((0, 0, 10, 40, 300)),
    "tight": st.booleans(),
}


@pytest.fixture(scope="module")
def tight_box(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A box with few members and large hands: supplies run out and the pile is soon empty."""
    box = read_data_file("engines.x_pasch", "x_pasch.toml")
    box = re.sub(r"per_player = \d+", "per_player = 9", box)
    box = re.sub(r"hand_limit = \d+", "hand_limit = 12", box)
    path = tmp_path_factory.mktemp("x_pasch") / "tight.toml"
    path.write_text(box, encoding="utf-8")
    return str(path)


def configured(tight_box: str, target: int, tight: bool) -> XPasch:
    return XPasch.configure({"target": target, "components": tight_box if tight else ""})


def play(
    game: XPasch,
    seed: int,
    policies: Sequence[Policy],
    each: Callable[[XPaschState, Random], None],
    log: list[Event] | None = None,
) -> XPaschState:
    """A game between these players; `each` is called at every choice and at the end."""
    rng = Random(seed)
    state = game.new(len(policies), Chance(seed), log)
    while state.legal:
        each(state, rng)
        action = policies[state.seat](game, state.view(state.seat), state.legal, rng)
        state.apply(action)
    each(state, rng)
    return state


@settings(deadline=None, max_examples=80)
@given(**TABLES)
def test_components_are_conserved_and_every_legal_action_is_valid(
    tight_box: str, seed: int, policies: list[Policy], target: int, tight: bool
) -> None:
    def check(state: XPaschState, _rng: Random) -> None:
        tables = state.game.tables
        cards = [*state.pile, *(card for hand in state.hands for card in hand)]
        assert Counter(cards) + Counter(tables.deck[c] for c in state.table) == Counter(tables.deck)
        assert len(set(state.table)) == len(state.table)
        for seat in range(state.players):
            assert state.supply[seat] + sum(board[seat] for board in state.members) == tables.members
            led = [c for c, board in zip(state.table, state.members, strict=True) if leader(board) == seat]
            assert state.income[seat] == sum(tables.incomes[c] for c in led)
        assert min(state.supply) >= 0
        assert min(map(min, state.members), default=0) >= 0
        assert state.hand_sizes == tuple(map(len, state.hands))
        assert max(state.hand_sizes) <= tables.hand_limit
        assert len(state.under) == sum(map(len, state.sunk)) <= len(state.pile)
        assert len(set(state.legal)) == len(state.legal)
        assert bool(state.legal) == (state.ending == "")
        before, state.moves = state.legal, None
        assert CHOICES[state.phase](state) == before, "a kept list has gone stale"

    state = play(configured(tight_box, target, tight), seed, policies, check)
    assert state.ending == ("target" if max(state.scores()) >= state.game.tables.target else "truncated")


@settings(deadline=None, max_examples=40)
@given(**TABLES)
def test_imagined_states_are_indistinguishable_from_the_real_one(
    tight_box: str, seed: int, policies: list[Policy], target: int, tight: bool
) -> None:
    def check(state: XPaschState, rng: Random) -> None:
        game = state.game
        for seat in range(state.players):
            view = state.view(seat)
            world = game.imagine(view, rng)
            assert world.view(seat) == view
            assert world.ending == state.ending
            assert Counter([*world.pile, *(c for hand in world.hands for c in hand)]) == Counter(
                [*state.pile, *(c for hand in state.hands for c in hand)]
            )
            if seat == state.seat:
                assert world.legal == state.legal
        if rng.random() < 0.1:
            assert game.view_from_json(game.view_to_json(view)) == view
            assert game.render(view)
            while world.legal:
                world.apply(at_random(game, view, world.legal, rng))

    play(configured(tight_box, target, tight), seed, policies, check)


@settings(deadline=None, max_examples=40)
@given(**TABLES)
def test_clones_are_independent(tight_box: str, seed: int, policies: list[Policy], target: int, tight: bool) -> None:
    kept: list[tuple[XPaschState, list[XPaschView], tuple[Action, ...]]] = []

    def check(state: XPaschState, rng: Random) -> None:
        if state.legal and rng.random() < 0.05:
            kept.append((state.clone(), [state.view(seat) for seat in range(state.players)], state.legal))
            other = state.clone()
            assert other.log is None
            for _ in range(20):
                if other.legal:
                    other.apply(at_random(other.game, other.view(0), other.legal, rng))
            assert [state.view(seat) for seat in range(state.players)] == kept[-1][1]

    play(configured(tight_box, target, tight), seed, policies, check)
    for clone, views, legal in kept:
        assert ([clone.view(seat) for seat in range(clone.players)], clone.legal) == (views, legal)


def meets(dice: tuple[int, ...], company: Company) -> bool:
    """XP-9 once more, straight from its words."""
    equal = len(set(dice)) == 1
    if company.pair == "x" and equal and len(dice) in (2, 3):
        return True
    if company.pair is not None and company.pair != "x" and dice == (int(company.pair),) * 2:
        return True
    return company.number is not None and sum(dice) == company.number


def offers(state: XPaschState) -> set[tuple[object, ...]]:
    """XP-8 to XP-18 once more, straight from their words and slowly."""
    view, companies = state.view(state.seat), state.game.companies
    seat, triple = view.seat, state.game.figures.game.triple_members
    stage = ("found", "place", "move", "draw").index(view.stage)
    expected: set[tuple[object, ...]] = {("stop",)}
    if view.pile and len(view.hand) < state.game.figures.game.hand_limit:
        expected.add(("draw",))
    if stage <= 2:
        fresh = view.table[len(view.table) - view.fresh :]
        mine = {c: board[seat] for c, board in zip(view.table, view.members, strict=True)}
        put = dict(zip(view.table, view.placed, strict=True))
        expected |= {
            ("move", a, b)
            for a, b in permutations(view.table, 2)
            if mine[b] and companies[b].income <= companies[a].income and b not in fresh and mine[a] > put[a]
        }
    if not view.supply[seat]:
        return expected
    for dice in {part for count in (1, 2, 3) for part in combinations(view.dice, count)}:
        is_triple = len(dice) == 3 and len(set(dice)) == 1
        if stage == 0:
            expected |= {("found", c, dice) for c in view.hand if is_triple or meets(dice, companies[c])}
        if stage <= 1:
            gifts = {(c, len(dice)) for c in view.table if meets(dice, companies[c])}
            gifts |= {(c, triple) for c in view.table if is_triple}
            expected |= {("place", c, dice, min(count, view.supply[seat])) for c, count in gifts}
    return expected


def offered(state: XPaschState, action: Action) -> tuple[object, ...]:
    match action:
        case Found():
            return "found", action.card, action.dice
        case Place():
            return "place", action.company, action.dice, min(action.members, state.supply[state.seat])
        case Move():
            return "move", action.source, action.target
        case _:
            return (action.kind,)


@settings(deadline=None, max_examples=60)
@given(**TABLES)
def test_legal_dice_uses_are_exactly_those_of_the_rules(
    tight_box: str, seed: int, policies: list[Policy], target: int, tight: bool
) -> None:
    def check(state: XPaschState, _rng: Random) -> None:
        if state.phase == "dice":
            found = [offered(state, action) for action in state.legal]
            assert len(found) == len(set(found))
            assert set(found) == offers(state)

    play(configured(tight_box, target, tight), seed, policies, check)


@settings(deadline=None, max_examples=30)
@given(**TABLES)
def test_no_two_actions_have_the_same_outcome(
    tight_box: str, seed: int, policies: list[Policy], target: int, tight: bool
) -> None:
    def check(state: XPaschState, rng: Random) -> None:
        if state.phase not in ("dice", "swap") or rng.random() > 0.3:
            return
        outcomes = set()
        for action in state.legal:
            after = state.clone()
            after.step(action)
            cards = after.hands, after.pile, after.swapped
            outcomes.add((after.seat, after.phase, after.dice, cards, after.table, after.members))
        assert len(outcomes) == len(state.legal)

    play(configured(tight_box, target, tight), seed, policies, check)


class Witness:
    """Follows a game by its events alone."""

    def __init__(self, game: XPasch) -> None:
        self.game = game
        self.boards: dict[int, list[int]] = {}
        self.dice: list[int] = []
        self.turn = -1

    def hear(self, event: Event) -> None:
        getattr(self, f"_{event.kind}")(**event.data)

    def _deal(self, players: int, hand: int, pile: int) -> None:
        self.size, self.pile_size = hand, pile
        self.euros = [0] * players
        self.supply = [self.game.figures.members.per_player] * players

    def _deck(self, cards: list[int]) -> None:
        self.hands = [cards[seat * self.size : (seat + 1) * self.size] for seat in range(len(self.euros))]
        self.pile = cards[len(self.euros) * self.size :]
        assert len(self.pile) == self.pile_size

    def _hand(self, seat: int, cards: list[int]) -> None:
        assert sorted(self.hands[seat]) == cards

    def _round(self, round: int, second_chance: int | None) -> None:  # noqa: A002 - the event's own word
        self.round = round
        alone = self.euros.count(min(self.euros)) == 1
        assert second_chance == (self.euros.index(min(self.euros)) if alone else None)

    def _income(self, seat: int, companies: list[list[int]], euros: int) -> None:
        led = [c for c, board in self.boards.items() if board[seat] > max(board[:seat] + board[seat + 1 :])]
        assert companies == [[c, self.game.companies[c].income] for c in led]
        self.euros[seat] += sum(income for _, income in companies)
        assert self.euros[seat] == euros

    def _roll(self, seat: int, dice: list[int]) -> None:
        self.turn, self.dice = seat, dice

    def _reroll(self, seat: int, die: int, face: int, dice: list[int]) -> None:
        kept = list(self.dice)
        kept.remove(die)
        assert sorted([*kept, face]) == dice
        self._roll(seat, dice)

    def _keep(self, seat: int, what: str) -> None:
        assert seat == self.turn
        assert what in ("dice", "hand")

    def _found(self, seat: int, card: int, company: int, dice: list[int], members: int, supply: int) -> None:
        self.hands[seat].remove(card)
        assert company not in self.boards
        self.boards[company] = [0] * len(self.euros)
        self._place(seat, company, dice, members, supply)

    def _place(self, seat: int, company: int, dice: list[int], members: int, supply: int) -> None:
        self.dice = list((Counter(self.dice) - Counter(dice)).elements())
        self.boards[company][seat] += members
        self.supply[seat] -= members
        assert self.supply[seat] == supply

    def _move(self, seat: int, source: int, target: int) -> None:
        self.boards[source][seat] -= 1
        self.boards[target][seat] += 1
        self.dice = sorted(self.dice)[1:]

    def _draw(self, seat: int, pile: int) -> None:
        self.hands[seat].append(self.pile.pop(0))
        self.dice = sorted(self.dice)[1:]
        assert len(self.pile) == pile

    def _drawn(self, seat: int, card: int) -> None:
        assert self.hands[seat][-1] == card

    def _stop(self, seat: int, dice: list[int]) -> None:
        assert (seat, sorted(self.dice)) == (self.turn, dice)
        self.dice = []

    def _swap(self, seat: int, pile: int) -> None:
        assert (seat, len(self.pile)) == (self.turn, pile)

    def _swapped(self, seat: int, put: int, took: int) -> None:
        self.hands[seat].remove(put)
        self.pile.append(put)
        assert self.pile.pop(0) == took
        self.hands[seat].append(took)

    def _end(self, reason: str, scores: list[int]) -> None:
        assert self.euros == scores
        assert reason == ("target" if max(scores) >= self.game.tables.target else "truncated")
        self.dice = []


@settings(deadline=None, max_examples=40)
@given(**TABLES)
def test_the_game_can_be_reconstructed_from_its_events(
    tight_box: str, seed: int, policies: list[Policy], target: int, tight: bool
) -> None:
    log: list[Event] = []
    game = configured(tight_box, target, tight)
    witness = Witness(game)

    def check(state: XPaschState, _rng: Random) -> None:
        while log:
            witness.hear(log.pop(0))
        assert witness.euros == list(state.euros)
        assert witness.supply == list(state.supply)
        assert witness.round == state.round
        assert {c: tuple(board) for c, board in witness.boards.items()} == dict(
            zip(state.table, state.members, strict=True)
        )
        assert tuple(witness.boards) == state.table
        assert tuple(sorted(witness.dice)) == state.dice
        assert tuple(witness.pile) == state.pile
        assert tuple(tuple(sorted(hand)) for hand in witness.hands) == state.hands

    play(game, seed, policies, check, log)


def test_unknown_cards_are_spread_evenly_over_the_unknown_places() -> None:
    game = XPasch.configure()
    view = game.new(3, Chance(7)).view(0)
    rng = Random(1)
    worlds = [game.imagine(view, rng) for _ in range(2000)]
    card = next(c.card for c in game.companies if c.card not in view.hand and game.tables.deck.count(c.card) == 1)
    unknown = len(game.companies) - len(view.hand)
    in_hand = sum(card in world.hands[1] for world in worlds) / len(worlds)
    on_top = sum(card == world.pile[0] for world in worlds) / len(worlds)
    assert abs(in_hand - view.hand_sizes[1] / unknown) < 0.02
    assert abs(on_top - 1 / unknown) < 0.02
