"""Gnadenlos! under random and rule-of-thumb players: what must hold at every step of every game."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engines.gnadenlos import SKILL, Buy, Gnadenlos, GnadenlosState, GnadenlosView, Lay, Pay
from engines.gnadenlos.choices import choices
from engines.gnadenlos.state import MAX_TURNS
from harness import Action, Chance, Event, read_data_file

Policy = Callable[[GnadenlosView, Sequence[Action], Random], Action]


def at_random(_view: GnadenlosView, actions: Sequence[Action], rng: Random) -> Action:
    return actions[int(rng.random() * len(actions))]


def thrifty(view: GnadenlosView, actions: Sequence[Action], _rng: Random) -> Action:
    """Bids low, keeps what it owes, lays its best: games end at the goal or with the undertaker."""

    def worth(action: Action) -> int:
        if isinstance(action, Lay) and view.event:
            return action.adventurer[SKILL[view.event.kind]]
        return action.gold if isinstance(action, Buy) and action.gold <= view.my_gold - view.debt(view.seat) else 0

    return max(actions, key=worth)


def hoarder(view: GnadenlosView, actions: Sequence[Action], _rng: Random) -> Action:
    """Bids low and never buys: paydays are paid for ever and the undertaker ends the game."""
    return actions[0] if view.phase != "lay" else actions[-1]


def scribbler(view: GnadenlosView, actions: Sequence[Action], rng: Random) -> Action:
    """Bids with as much small paper as it can: hands run out of new sums."""
    if isinstance(actions[0], Pay):
        return max(actions, key=lambda pay: len(pay.ious) if isinstance(pay, Pay) else 0)
    return actions[min(3, len(actions) - 1)] if view.phase == "bid" else thrifty(view, actions, rng)


POLICIES: tuple[Policy, ...] = (at_random, thrifty, hoarder, scribbler)
ALIKE = st.builds(lambda policy, count: [policy] * count, st.sampled_from(POLICIES), st.integers(3, 4))
MIXED = st.lists(st.sampled_from(POLICIES), min_size=3, max_size=4)
TABLES = {
    "seed": st.integers(0, 2**32),
    "policies": st.one_of(ALIKE, MIXED),
    "variant": st.sampled_from(("basic", "experienced")),
    "tight": st.booleans(),
}


@pytest.fixture(scope="module")
def tight_box(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A box with few cards, some of them alike: bids, adventurers and the market run out all the time."""
    box = read_data_file("engines.gnadenlos", "gnadenlos.toml")
    box = re.sub(r"counts = .*", "counts = { 0 = 1, 1 = 2, 2 = 2 }", box)
    box = re.sub(r"columns = \d+", "columns = 2", box)
    box = re.sub(r"steps = \d+", "steps = 12", box)
    box = re.sub(r"(?s)skills = .*\]", f"skills = {[[1, 2, 3], [3, 1, 2], [2, 3, 1]] * 3}", box)
    path = tmp_path_factory.mktemp("gnadenlos") / "tight.toml"
    path.write_text(box, encoding="utf-8")
    return str(path)


def configured(tight_box: str, variant: str, tight: bool) -> Gnadenlos:
    return Gnadenlos.configure({"variant": variant, "components": tight_box if tight else ""})


def play(
    seed: int,
    policies: Sequence[Policy],
    game: Gnadenlos,
    each: Callable[[GnadenlosState, Random], None],
    log: list[Event] | None = None,
) -> GnadenlosState:
    """A game between these players; `each` is called at every choice and at the end."""
    rng = Random(seed)
    state = game.new(len(policies), Chance(seed), log)
    while state.legal:
        each(state, rng)
        state.apply(policies[state.seat](state.view(state.seat), state.legal, rng))
    each(state, rng)
    return state


def known(cards: Sequence[Any]) -> Counter[Any]:
    return Counter(card for card in cards if card is not None)


def all_adventurers(state: GnadenlosState) -> Counter[Any]:
    groups = (state.pile, state.discard, state.offers, *state.pairs, *state.crews)
    return Counter(card for group in groups for card in group)


def all_ious(state: GnadenlosState) -> Counter[Any]:
    groups = (state.market, *state.hands, *(bid or () for bid in state.bids))
    return Counter(iou for group in groups for iou in group)


def check_table(state: GnadenlosState) -> None:
    """Conservation, bounds and sound offers."""
    game, figures = state.game, state.game.figures
    assert all_adventurers(state) == Counter(game.adventurers)
    assert all_ious(state) == Counter(iou for hand in game.full_hands[: state.players] for iou in hand)
    assert Counter(state.event_pile + state.events_seen) == Counter(game.event_cards)
    assert min(state.gold) >= 0
    assert 0 <= state.undertaker <= figures.undertaker.steps
    for field, vultures in zip(state.fame, state.vultures, strict=True):
        assert 1 <= field <= figures.road.fields or (field == 0 and vultures == figures.payday.vultures_to_lose)
    assert len(set(state.legal)) == len(state.legal)
    assert bool(state.legal) == (state.ending == "") == (state.phase != "over")
    if state.legal:
        assert choices(state) == state.legal
    if state.phase in ("bid", "pay"):  # GN-25 and GN-26 once more, straight from their words and slowly
        ways = {ious for count in (1, 2, 3) for ious in combinations(state.hands[state.seat], count)}
        sums = {ious: sum(iou.value for iou in ious) for ious in ways}
        if state.phase == "bid":
            assert [bid.total for bid in state.legal] == sorted({*sums.values()} - {*state.totals})
        else:
            assert {pay.ious for pay in state.legal} == {ious for ious in ways if sums[ious] == state.announced}
    check_theft(state)
    if state.phase == "lay":  # a turn begins with less than a payday in the market
        assert len(state.market) < state.players * figures.payday.columns or state.number == 1


def check_theft(state: GnadenlosState) -> None:
    """GN-17: who is asked, who has answered, and what that has left of the market."""
    theft = state.theft
    assert (theft is not None) == (state.phase == "steal")
    if theft is None:
        return
    guns = {seat: card.gun for seat in state.from_start() if (card := theft.shown[seat]) is not None}
    assert len(set(guns.values())) > 1
    assert list(theft.thieves) == [seat for seat, gun in guns.items() if gun == max(guns.values())]
    assert [state.seat, *state.queue] == list(theft.thieves[len(theft.answers) :])
    assert list(theft.gaps) == sorted(set(theft.gaps))
    assert len(theft.gaps) == sum(theft.answers) * theft.each
    size = len(state.market) + len(theft.gaps)
    assert all(0 <= gap < size for gap in theft.gaps)
    assert size >= len(theft.thieves) * theft.each
    assert state.event is not None
    assert state.event.kind == "high noon"
    assert all(card is None or card in crew for card, crew in zip(theft.shown, state.known_crews, strict=True))


def check_knowledge(state: GnadenlosState) -> None:
    """GN-41: what all know is true, and the rest is what has not been seen."""
    secret_ious: Counter[Any] = Counter()
    secret_crews: Counter[Any] = Counter()
    for true, shown in zip((state.market, *state.hands), (state.known_market, *state.known_hands), strict=True):
        assert len(true) == len(shown)
        assert known(shown) <= Counter(true)
        secret_ious += Counter(true) - known(shown)
    assert all(shown in (None, iou) for iou, shown in zip(state.market, state.known_market, strict=True))
    assert secret_ious == Counter(state.unseen_ious)
    for crew, shown_crew in zip(state.crews, state.known_crews, strict=True):
        assert len(crew) == len(shown_crew)
        assert known(shown_crew) <= Counter(crew)
        secret_crews += Counter(crew) - known(shown_crew)
    assert Counter(state.unseen_adventurers) == secret_crews + Counter(() if state.reshuffles else state.pile)
    for hand in (*state.hands, *state.crews):
        assert list(hand) == sorted(hand)


@settings(deadline=None, max_examples=40)
@given(**TABLES)
@example(seed=4_294_967_295, policies=[at_random] * 3, variant="basic", tight=True)  # GN-40: nobody gets anywhere
def test_components_are_conserved_and_public_knowledge_is_correct(
    tight_box: str, seed: int, policies: list[Policy], variant: str, tight: bool
) -> None:
    gold = []

    def check(state: GnadenlosState, _rng: Random) -> None:
        check_table(state)
        check_knowledge(state)
        gold.append(sum(state.gold))

    log: list[Event] = []
    state = play(seed, policies, configured(tight_box, variant, tight), check, log)
    found = sum(int(str(event.data["found"])) for event in log if event.kind == "gold")
    spent = sum(int(str(event.data["paid"])) for event in log if event.kind in ("fame", "paid"))
    assert gold[-1] == gold[0] + found - spent
    stopped = state.ending == "truncated" and state.number == MAX_TURNS  # GN-40
    assert stopped or state.ending in ("vultures", "undertaker", "goal")
    assert (state.ending == "undertaker") == (state.undertaker == state.game.figures.undertaker.steps)


@settings(deadline=None, max_examples=20)
@given(**TABLES)
def test_imagined_states_are_indistinguishable_from_the_real_one(
    tight_box: str, seed: int, policies: list[Policy], variant: str, tight: bool
) -> None:
    def check(state: GnadenlosState, rng: Random) -> None:
        game = state.game
        for seat in range(state.players):
            view = state.view(seat)
            world = game.imagine(view, rng)
            assert world.view(seat) == view
            assert world.ending == state.ending
            assert (world.seat, world.phase, world.totals) == (state.seat, state.phase, state.totals)
            check_table(world)
            check_knowledge(world)
            if seat == state.seat:
                assert world.legal == state.legal
        if rng.random() < 0.05:
            assert game.view_from_json(game.view_to_json(view)) == view
            assert game.render(view)
            while world.legal:
                world.apply(at_random(view, world.legal, rng))
                check_table(world)
                check_knowledge(world)

    play(seed, policies, configured(tight_box, variant, tight), check)


@settings(deadline=None, max_examples=40)
@given(**TABLES)
def test_clones_are_independent(tight_box: str, seed: int, policies: list[Policy], variant: str, tight: bool) -> None:
    kept: list[tuple[GnadenlosState, list[GnadenlosView], tuple[Action, ...]]] = []

    def check(state: GnadenlosState, rng: Random) -> None:
        if state.legal and rng.random() < 0.05:
            kept.append((state.clone(), [state.view(seat) for seat in range(state.players)], state.legal))
            twin, other = state.clone(), state.clone()
            assert other.log is None
            for _ in range(20):
                if other.legal:
                    action = at_random(other.view(0), other.legal, rng)
                    other.apply(action)
                    twin.apply(action)
            assert all(other.view(seat) == twin.view(seat) for seat in range(other.players))
            assert [state.view(seat) for seat in range(state.players)] == kept[-1][1]

    play(seed, policies, configured(tight_box, variant, tight), check)
    for clone, views, legal in kept:
        assert ([clone.view(seat) for seat in range(clone.players)], clone.legal) == (views, legal)


class Bookkeeper:
    """Follows a game by its events alone."""

    def __init__(self) -> None:
        self.hands: list[Counter[Any]] = []
        self.crews: list[Counter[Any]] = []
        self.market: list[Any] = []
        self.pile: list[Any] = []
        self.early = 0
        self.discard: list[Any] = []
        self.gold: list[int] = []
        self.fame: list[int] = []
        self.vultures: list[int] = []
        self.thief: int | None = None

    def read(self, game: Gnadenlos, log: Sequence[Event]) -> Bookkeeper:
        for event in log:
            follow = getattr(self, "on_" + event.kind.replace(" ", "_").replace("-", "_"), None)
            if follow is not None:
                follow(game, **{key + "_" * (key == "from"): value for key, value in event.data.items()})
        return self

    def on_set_up(self, game: Gnadenlos, players: int, gold: int, field: int, **_: Any) -> None:
        self.gold, self.fame, self.vultures = [gold] * players, [field] * players, [0] * players
        self.hands = [Counter(game.full_hands[seat]) for seat in range(players)]
        self.crews = [Counter() for _ in range(players)]

    def on_adventurers(self, _game: Gnadenlos, reshuffle: int, order: list[list[int]]) -> None:
        if reshuffle:  # what was left of the old pile has been turned up already
            self.early, self.discard = len(self.pile), []
        self.pile = list(map(tuple, order))

    def on_dealt(self, _game: Gnadenlos, seat: int, adventurers: list[list[int]]) -> None:
        self.crews[seat] += Counter(map(tuple, adventurers))
        del self.pile[: len(adventurers)]

    def on_market_order(self, _game: Gnadenlos, ious: list[list[int]]) -> None:
        self.market = list(map(tuple, ious))
        for iou in self.market:
            self.hands[iou[1]][iou] -= 1

    def on_pairs(self, _game: Gnadenlos, pairs: list[list[list[int]]]) -> None:
        del self.pile[: 2 * len(pairs)]

    def on_offers(self, _game: Gnadenlos, adventurers: list[list[int]]) -> None:
        del self.pile[: len(adventurers) - self.early]
        self.early = 0

    def on_hired(self, _game: Gnadenlos, seat: int, adventurers: list[list[int]]) -> None:
        self.crews[seat] += Counter(map(tuple, adventurers))

    def on_discarded(self, _game: Gnadenlos, seat: int, adventurer: list[int], why: str) -> None:
        self.crews[seat][tuple(adventurer)] -= 1
        self.discard.append(tuple(adventurer))

    def on_gold(self, _game: Gnadenlos, seat: int, found: int, gold: int) -> None:
        self.gold[seat] += found
        assert self.gold[seat] == gold

    def on_fame(self, _game: Gnadenlos, seat: int, paid: int, gold: int, field: int) -> None:
        self.gold[seat] -= paid
        self.fame[seat] += paid
        assert (self.gold[seat], self.fame[seat]) == (gold, field)

    def on_hat(self, _game: Gnadenlos, seat: int, from_: int, to: int) -> None:
        assert self.fame[seat] == from_
        self.fame[seat] = to

    def on_theft(self, _game: Gnadenlos, seat: int, steals: bool) -> None:
        self.thief = seat if steals else None

    def on_stolen(self, _game: Gnadenlos, seat: int, place: int, iou: list[int] | None) -> None:
        assert self.thief == seat  # nobody steals unasked
        self.hands[seat][self.market[place]] += 1
        assert iou is None or tuple(iou) == self.market[place]

    def on_stolen_secret(self, _game: Gnadenlos, seat: int, place: int, iou: list[int]) -> None:
        assert self.market[place] == tuple(iou)

    def on_market_closed_up(self, _game: Gnadenlos, moves: list[list[int]], size: int) -> None:
        for source, target in moves:
            self.market[target] = self.market[source]
        del self.market[size:]

    def on_bid(self, _game: Gnadenlos, seat: int, total: int, ious: list[list[int]]) -> None:
        self.hands[seat] -= Counter(map(tuple, ious))
        assert sum(value for value, _ in ious) == total

    def on_no_bid(self, _game: Gnadenlos, seat: int, hand: list[list[int]]) -> None:
        assert +self.hands[seat] == Counter(map(tuple, hand))

    def on_bid_back(self, _game: Gnadenlos, seat: int, ious: list[list[int]]) -> None:
        self.hands[seat] += Counter(map(tuple, ious))

    def on_to_market(self, _game: Gnadenlos, seat: int, place: int, ious: list[list[int]]) -> None:
        assert len(self.market) == place
        self.market += map(tuple, ious)

    def on_die(self, _game: Gnadenlos, column: int, place: int | None, iou: list[int] | None) -> None:
        assert place is None or (iou is not None and self.market[place] == tuple(iou))

    def on_paid(self, _game: Gnadenlos, seat: int, paid: int, gold: int) -> None:
        self.gold[seat] -= paid
        assert self.gold[seat] == gold

    def on_vulture(self, _game: Gnadenlos, seat: int, vultures: int, field: int) -> None:
        self.vultures[seat], self.fame[seat] = vultures, field

    def on_returned(self, _game: Gnadenlos, seat: int, ious: list[list[int]]) -> None:
        self.hands[seat] += Counter(map(tuple, ious))

    def on_lost(self, _game: Gnadenlos, seat: int) -> None:
        self.fame[seat] = 0


@settings(deadline=None, max_examples=40)
@given(**TABLES)
def test_replaying_the_log_gives_the_same_table(
    tight_box: str, seed: int, policies: list[Policy], variant: str, tight: bool
) -> None:
    log: list[Event] = []
    state = play(seed, policies, configured(tight_box, variant, tight), lambda _state, _rng: None, log)
    book = Bookkeeper().read(state.game, log)
    assert (tuple(book.gold), tuple(book.fame), tuple(book.vultures)) == (state.gold, state.fame, state.vultures)
    assert [+hand for hand in book.hands] == [Counter(hand) for hand in state.hands]
    assert [+crew for crew in book.crews] == [Counter(crew) for crew in state.crews]
    assert book.market == list(state.market)
    assert (book.pile, book.discard) == (list(state.pile), list(state.discard))
    assert (
        play(seed, policies, configured(tight_box, variant, tight), lambda _state, _rng: None).scores()
        == state.scores()
    )
