"""Laws of El Paso in whole games: random players, and players who stay while it pays."""

from __future__ import annotations

from collections import Counter
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from engines.el_paso import SITES, ElPaso, ElPasoState
from harness import Chance, Event

EDITIONS = ("de", "nl", "bg")
BOLD = 5
"""A player of this nerve never leaves; one of nerve 0 leaves as soon as it may."""


def whole_game(seed: int, players: int, edition: str, nerve: int | None, log: list[Event] | None = None):
    """Yields the state at every choice. With `nerve` None everyone is random, else all leave at so many stars."""
    state = ElPaso.configure({"edition": edition}).new(players, Chance(seed), log)
    rng = Random(seed)
    while state.legal:
        yield state
        if nerve is not None and state.phase == "answer":
            state.apply(state.legal[state.stars >= nerve])
        elif nerve is not None and state.phase == "play":
            state.apply(max(state.legal, key=lambda a: (bool(state.stacks[a.site]), rng.random())))
        else:
            state.apply(rng.choice(state.legal))
    yield state


games = settings(max_examples=30, deadline=None)
deals = {
    "seed": st.integers(0, 2**48 - 1),
    "players": st.integers(2, 5),
    "edition": st.sampled_from(EDITIONS),
    "nerve": st.sampled_from([None, 0, 2, 3, 4, BOLD]),
}


def all_tiles(state: ElPasoState) -> Counter[tuple[int, int]]:
    places = [state.bag, state.box, state.stacks, *state.tiles]
    return Counter((site, value) for place in places for site in SITES for value in place[site])


def all_cards(state: ElPasoState) -> Counter[tuple[int, int]]:
    places = [state.piles, state.discards, *state.hands]
    return Counter((site, value) for place in places for site in SITES for value in place[site])


@games
@given(**deals)
def test_36_tiles_and_48_cards_at_every_step_and_scores_never_fall(seed, players, edition, nerve):
    tiles = cards = None
    scores = (0,) * players
    for state in whole_game(seed, players, edition, nerve):
        if tiles is None:
            tiles, cards = all_tiles(state), all_cards(state)
            assert (tiles.total(), cards.total()) == (36, 48)
        assert all_tiles(state) == tiles
        assert all_cards(state) == cards
        assert all(new >= old for new, old in zip(state.scores(), scores, strict=True))
        scores = state.scores()
        laying = state.phase == "play"
        hand = [sum(map(len, cards_of)) for cards_of in state.hands]
        drawing = {state.seat, *state.queue} if state.phase == "draw" else set()
        assert hand == [5 if seat in drawing else 6 for seat in range(players)]
        assert laying or not any(state.laid)


@games
@given(**deals)
def test_money_comes_only_from_sales(seed, players, edition, nerve):
    log: list[Event] = []
    last = list(whole_game(seed, players, edition, nerve, log))[-1]
    earned = [0] * players
    for event in log:
        if event.kind == "sale":
            earned[event.data["seat"]] += event.data["paid"]
        elif event.kind == "final-sale":
            earned[event.data["seat"]] += sum(map(sum, event.data["sold"]))
    assert tuple(earned) == last.scores()


@games
@given(**deals)
def test_public_knowledge_of_hands_and_piles_is_correct(seed, players, edition, nerve):
    for state in whole_game(seed, players, edition, nerve):
        for hand, shown in zip(state.hands, state.shown, strict=True):
            for values, seen in zip(hand, shown, strict=True):
                assert len(values) == len(seen)
                assert {value for value in seen if value} <= set(values)
        for pile, faces in zip(state.piles, state.faces, strict=True):
            assert faces in (pile, (0,) * len(pile))


@games
@given(seed=st.integers(0, 2**48 - 1), players=st.integers(2, 5))
def test_the_dice_of_a_deal_do_not_depend_on_decisions(seed, players):
    rolls: dict[tuple[int, int], tuple[str, ...]] = {}
    for nerve in (None, 2, BOLD):
        town = number = 0
        log: list[Event] = []
        for _ in whole_game(seed, players, "de", nerve, log):
            pass
        for event in log:
            if event.kind == "town":
                town, number = event.data["town"], 0
            elif event.kind == "roll":
                number += 1
                faces = tuple(event.data["faces"])
                before = rolls.setdefault((town, number), faces)
                shared = min(len(faces), len(before))
                assert faces[:shared] == before[:shared]


@games
@given(seed=st.integers(0, 2**48 - 1))
def test_the_same_deal_with_the_same_bag_gives_the_same_stock(seed):
    stocks = []
    for nerve in (0, 0, 1):
        log: list[Event] = []
        for state in whole_game(seed, 2, "de", nerve, log):
            if state.town == 1 and state.round == 1:
                break
        carried = sum(map(len, state.tiles[0])) + sum(map(len, state.tiles[1]))
        stocks.append((carried, [event.data["drawn"] for event in log if event.kind == "town"][1]))
    whole = [drawn for carried, drawn in stocks if not carried]
    assert all(drawn == whole[0] for drawn in whole)


def test_bold_players_empty_towns_that_random_ones_do_not():
    emptied = Counter[str]()
    for seed in range(60):
        log: list[Event] = []
        for _ in whole_game(seed, 5, "de", BOLD, log):
            pass
        emptied.update(event.data["why"] for event in log if event.kind == "town-over")
    assert emptied["nothing to plunder"] > 0  # EP-23
    assert emptied["everyone has left"] == 0
    assert emptied["sheriffs"] > 0
