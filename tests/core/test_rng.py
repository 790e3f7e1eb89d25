from __future__ import annotations

import pickle
from collections import Counter
from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import Chance
from harness.core.rng import _MAX_ENCODED, _encoded

seeds = st.integers(0, 2**63)


def test_the_numbers_are_what_the_docs_say():
    digest = blake2b(b"dice/3/2", key=(7).to_bytes(16, "big")).digest()
    number = int.from_bytes(digest, "big")
    luck = Chance(7)
    assert luck.number("dice", 3, 2) == number
    assert luck.pick(10, "dice", 3, 2) == number % 10
    assert luck.dice(3, 6, "dice", 3, 2) == (number % 6, number // 6 % 6, number // 36 % 6)
    assert luck.derive("dice", 3, 2) == number % 2**48


def test_known_draws_stay_what_they_are():
    luck = Chance(2026)
    assert luck.dice(5, 6, "dice", 0, 1) == GOLDEN_DICE
    assert luck.shuffled(range(8), "pile", "bank") == GOLDEN_PILE


@given(seeds, st.integers(0, 200))
def test_a_shuffle_keeps_every_item(seed, n):
    assert sorted(Chance(seed).shuffled(range(n), "x")) == list(range(n))


@given(seeds, st.integers(1, 20), st.integers(2, 20))
def test_the_first_dice_are_the_same_for_any_count(seed, count, sides):
    luck = Chance(seed)
    assert luck.dice(count, sides, "d") == luck.dice(20, sides, "d")[:count]


@given(seeds, st.integers(2, 90), st.integers(0, 220))
def test_quick_draws_are_the_digits_that_the_docs_describe(seed, sides, count):
    luck = Chance(seed)
    assert luck.dice(count, sides, "d") == tuple(luck._digits([sides] * count, ("d",)))
    order = list(range(sides))
    for i, j in zip(range(sides - 1, 0, -1), luck._digits(range(sides, 1, -1), ("s",)), strict=True):
        order[i], order[j] = order[j], order[i]
    assert luck.shuffled(range(sides), "s") == order


def test_no_draw_depends_on_an_earlier_one():
    one, other = Chance(5), Chance(5)
    for i in range(100):
        one.pick(6, "burnt", i)
    assert one.dice(5, 6, "dice", 1, 1) == other.dice(5, 6, "dice", 1, 1)


def test_names_and_seeds_give_different_luck():
    draws = {
        Chance(seed).number(*name) for seed in range(20) for name in (("a",), ("b",), ("a", 1), ("a", 2), ("a", 1, 2))
    }
    assert len(draws) == 100


def test_dice_and_shuffles_are_fair():
    faces = Counter(face for seed in range(3000) for face in Chance(seed).dice(5, 6, "dice"))
    assert all(abs(faces[face] / 15000 - 1 / 6) < 0.015 for face in range(6))
    orders = Counter(tuple(Chance(seed).shuffled(range(3), "order")) for seed in range(3000))
    assert len(orders) == 6
    assert all(abs(count / 3000 - 1 / 6) < 0.04 for count in orders.values())
    long = Counter(Chance(seed).shuffled(range(150), "long").index(0) // 50 for seed in range(3000))
    assert all(abs(count / 3000 - 1 / 3) < 0.04 for count in long.values())


def test_it_pickles():
    assert pickle.loads(pickle.dumps(Chance(9))).number("x") == Chance(9).number("x")  # noqa: S301


GOLDEN_DICE = (4, 5, 2, 2, 0)
GOLDEN_PILE = [4, 3, 5, 0, 1, 7, 2, 6]


def test_equal_names_have_equal_numbers():
    """Names are kept as they are hashed, so what is drawn first must not matter: 1 and True are one key."""
    for first, then in (("x", True), ("x", 1)), (("y", 1), ("y", True)):
        assert Chance(5).number(*first) == Chance(5).number(*then) == Chance(5).number(f"{first[0]}/1")
    with pytest.raises((TypeError, ValueError)):
        Chance(5).number("z", 1.5)
    for number in range(2 * _MAX_ENCODED):
        Chance(5).number("z", number)
    assert len(_encoded) <= _MAX_ENCODED
