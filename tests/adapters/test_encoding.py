"""Views as numbers: nothing merged but what a game lists, within bounds, the same for lists and arrays."""

from __future__ import annotations

import pickle
from functools import cache
from random import Random
from typing import Annotated, Any

import numpy as np
import pytest
from msgspec import Meta

from docs.examples.games.liars_dice import LiarsDice
from harness import Chance, EncodingPart, Game, Number, UsageError, View, encoding_of
from harness.adapters.encoding import _encoding
from harness.adapters.fields import OutOfBounds, check_view, view_kinds
from tests.support.games import label, variants

GAMES = [*variants(), LiarsDice.configure()]
COMPACT = [game for game in GAMES if game.name != "liars-dice"]


@cache
def some_views(game: Game[Any], players: int, wanted: int) -> list[View]:
    """Different views of matches at random."""
    views: dict[View, None] = {}
    rng = Random(7)
    for match in range(1000):
        state = game.new(players, Chance(match))
        while True:
            views.update((state.view(seat), None) for seat in range(players))
            if len(views) >= wanted:
                return list(views)[:wanted]
            if not state.legal:
                break
            state.step(rng.choice(state.legal))
    raise AssertionError(f"{game.name} has too few views")


def tables(games: list[Game[Any]]) -> list[Any]:
    return [
        pytest.param(game, players, id=f"{label(game)}-{players}")
        for game in games
        for players in range(game.min_players, game.max_players + 1)
    ]


@pytest.mark.parametrize("game", GAMES, ids=label)
def test_the_generic_encoding_merges_no_views(game):
    views = some_views(game, game.max_players - 1, 10_000)
    encoding = encoding_of(game, game.max_players - 1, "generic")
    assert len({encoding.array(view).tobytes() for view in views}) == len(views) == 10_000


@pytest.mark.parametrize(("game", "players"), tables(GAMES))
@pytest.mark.parametrize("name", ["generic", "auto"])
def test_numbers_are_within_their_bounds_and_the_same_in_lists_and_arrays(game, players, name):
    views = some_views(game, players, 500)
    encoding = encoding_of(game, players, name)
    scaled = encoding_of(game, players, name, scaled=True)
    low, high = np.array(encoding.low, "float32"), np.array(encoding.high, "float32")
    labels = [number.label for number in encoding.numbers]
    assert len(set(labels)) == len(labels) == encoding.size
    for view in views:
        array, numbers = encoding.array(view), encoding.encode(view)
        assert array.dtype == np.float32
        assert array.shape == (encoding.size,)
        assert array.flags.writeable
        assert not np.isnan(array).any()
        assert (low <= array).all()
        assert (array <= high).all()
        assert all(type(number) is int for number in numbers)
        assert array.tolist() == numbers
        between = scaled.array(view)
        assert np.abs(between).max() <= 1
        assert np.allclose(between, array / np.maximum(np.maximum(np.abs(low), np.abs(high)), 1), rtol=1e-5)


@pytest.mark.parametrize("game", GAMES, ids=label)
def test_equal_views_have_equal_numbers_even_after_json_and_in_another_encoding(game):
    for name in ("generic", "auto"):
        encoding = encoding_of(game, game.min_players, name)
        again = pickle.loads(pickle.dumps(encoding))  # noqa: S301 - our own bytes
        assert again.name == encoding.name
        for view in some_views(game, game.min_players, 200):
            same = game.view_from_json(game.view_to_json(view))
            assert encoding.encode(view) == again.encode(same)


@pytest.mark.parametrize("game", COMPACT, ids=label)
def test_compact_encodings_are_smaller_and_merge_little(game):
    players = game.max_players - 1
    compact, generic = (encoding_of(game, players, name) for name in ("compact", "generic"))
    assert compact.name == "compact"
    assert compact.size < 0.8 * generic.size
    views = some_views(game, players, 10_000)
    assert len({tuple(compact.encode(view)) for view in views}) > 9_900


@pytest.mark.parametrize("game", GAMES, ids=label)
def test_numbers_depend_on_nothing_but_the_view(game):
    players = game.max_players
    generic, auto = (encoding_of(game, players, name) for name in ("generic", "auto"))
    views = some_views(game, players, 1000)
    Random(5).shuffle(views)
    for count, view in enumerate(views):
        field_by_field = list[float]()
        for name, kind in view_kinds(game, players).items():
            kind.put(getattr(view, name), view.seat, field_by_field)
        assert generic.encode(view) == field_by_field
        after_others = auto.encode(view)
        if count % 20 == 0:
            new: Any = _encoding.__wrapped__(game, players, "auto", False)
            assert new.encode(view) == after_others


def test_the_view_of_a_seat_begins_with_its_own_items_and_counts_seats_from_itself():
    game = LiarsDice.configure()
    encoding = encoding_of(game, 3)
    state = game.new(3, Chance(1))
    state.step(game.bids[4])
    state.points = (5, 6, 4)
    of = {seat: encoding.encode(state.view(seat)) for seat in range(3)}
    assert of[1][encoding.slices["points"]] == [6, 4, 5]
    assert of[0][encoding.slices["bidder"]] == [1, 0, 0]
    assert of[2][encoding.slices["bidder"]] == [0, 1, 0]
    assert of[2][encoding.slices["seat"]] == [0, 0, 1]
    assert [number.label for number in encoding.numbers[encoding.slices["points"]]] == [
        "points[me]", "points[+1]", "points[+2]",
    ]  # fmt: skip


def test_options_narrow_the_bounds_of_a_view():
    short, long = (encoding_of(LiarsDice.configure({"rounds": rounds}), 3) for rounds in (2, 50))
    assert [each.numbers[each.slices["points"]][0].high for each in (short, long)] == [2, 50]


def test_a_value_out_of_bounds_is_an_error_that_names_the_field():
    game = LiarsDice.configure()
    state = game.new(3, Chance(1))
    state.points = (0, 0, 7)
    with pytest.raises(OutOfBounds, match=r"DiceView\.points does not fit its type"):
        check_view(game, 3, state.view(0))
    with pytest.raises(OutOfBounds, match=r"7 is not between 0 and 6"):
        encoding_of(game, 3).encode(state.view(0))


class _VagueView(View, frozen=True):
    phase: Annotated[str, Meta(max_length=9)]
    cards: tuple[int, ...]
    bid: int | str


def test_fields_without_bounds_are_listed_with_what_to_declare():
    class Vague(LiarsDice):
        name, view_type = "vague", _VagueView

    with pytest.raises(UsageError) as caught:
        encoding_of(Vague.configure(), 3)
    text = str(caught.value)
    assert "phase: a string needs words" in text
    assert "cards: a tuple needs Meta(max_length" in text
    assert "bid: only a union with None" in text


def test_wrong_requests_are_refused():
    game = LiarsDice.configure()
    with pytest.raises(UsageError, match="no compact encoding"):
        encoding_of(game, 3, "compact")
    with pytest.raises(UsageError, match="no encoding 'best'"):
        encoding_of(game, 3, "best")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="2 to 6 players, not 9"):
        encoding_of(game, 9)
    with pytest.raises(UsageError, match="for 2 players"):
        encoding_of(game, 2).encode(game.new(3, Chance(1)).view(2))


def test_an_encode_that_makes_a_wrong_count_of_numbers_is_refused():
    for items in (0, 3):
        numbers = tuple(Number(f"number {place}", 0, 6) for place in range(2 * max(1, items)))

        class Wrong(LiarsDice):
            def encoding(self, players, numbers=numbers, items=items):
                return ("phase", EncodingPart("points", ("points",), numbers, lambda _: [1], items=items))

        game = Wrong.configure()
        for encode in (encoding_of(game, 3).encode, encoding_of(game, 3).array):
            with pytest.raises(UsageError, match="points has 2 numbers, and its encode made 1"):
                encode(game.new(3, Chance(1)).view(0))


class _PlacesView(View, frozen=True):
    at: tuple[int, ...]
    points: tuple[Any, ...]


@pytest.mark.parametrize("by_seat", [False, True])
def test_items_with_places_are_encoded_where_they_belong_whatever_was_there_before(by_seat):
    class Places(LiarsDice):
        view_type = _PlacesView

        def encoding(self, players):
            numbers = tuple(Number(f"place {place}", 0, 9) for place in range(4))
            return (EncodingPart("points", ("at", "points"), numbers, lambda each: [each], by_seat=by_seat, items=4),)

    encoding, rng = encoding_of(Places.configure(), 2), Random(3)
    for _ in range(100):
        at = rng.sample(range(4), rng.randrange(5))
        points = [(rng.randrange(10), rng.randrange(10)) for _ in at]
        wanted = [(0, 0)] * 4
        for place, pair in zip(at, points, strict=True):
            wanted[place] = pair
        view = _PlacesView(1, 1, "bid", tuple(at), tuple(points if by_seat else [mine for mine, _ in points]))
        flat = [number for mine, other in wanted for number in ((other, mine) if by_seat else (mine,))]
        assert encoding.encode(view) == encoding.array(view).tolist() == flat


def test_a_refused_view_leaves_nothing_behind():
    game = LiarsDice.configure()
    encoding = encoding_of(game, 3)
    state = game.new(3, Chance(1))
    before = encoding.encode(state.view(0))
    right, state.points = state.points, (0, 3, 7)
    with pytest.raises(OutOfBounds):
        encoding.encode(state.view(0))
    state.points = right
    assert encoding.encode(state.view(0)) == before


def test_fields_of_several_seats_and_a_single_part_can_be_encoded():
    points = EncodingPart("points", ("points",), (Number("", 0, 9),), lambda each: [each], by_seat=True)
    both = EncodingPart("both", ("points", "points"), (Number("", 0, 9),), lambda one, two: [one + two], by_seat=True)

    for parts, wanted in (((points,), [2, 3, 1]), ((points, both), [2, 3, 1, 4, 6, 2])):

        class Some(LiarsDice):
            def encoding(self, players, parts=parts):
                return parts

        game = Some.configure()
        state = game.new(3, Chance(1))
        state.points = (1, 2, 3)
        for _ in range(2):
            assert encoding_of(game, 3).encode(state.view(1)) == wanted
