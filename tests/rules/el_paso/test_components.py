"""A components file with figures that no box has is refused with the path of the key."""

from __future__ import annotations

import re

import pytest

from engines.el_paso.components import load
from harness import BadComponents, read_data_file

BOX = read_data_file("engines.el_paso", "el_paso.toml")
FACES = 'faces = ["star", "star", "brand", "brand", "six", "six"]'


@pytest.mark.parametrize(
    ("was", "becomes", "says"),
    [
        ("count = 5", f"count = {2**40}", "Expected `int` <= 20 - at `$.dice.count`"),
        ("count = 5", "count = 0", "Expected `int` >= 1 - at `$.dice.count`"),
        (FACES, f"faces = {['star'] + ['six'] * 5_000}", "length <= 20 - at `$.dice.faces`"),
        (FACES, f"faces = {['star'] + ['six'] * 6}", "at least one star in 6 die faces - at `$.dice`"),
        ("5, 6, 7, 8]", "5, 6, 7, 100]", "<= 99 - at `$.cards.values[7]`"),
        ("5, 6, 7, 8]", f"{[*range(5, 32)]}"[1:], "length <= 30 - at `$.cards.values`"),
        ("hotel     = [1, 2, 3, 4, 4, 5]", f"hotel = {[1] * 31}", "length <= 30 - at `$.tiles.hotel`"),
        ("hotel     = [1, 2, 3, 4, 4, 5]", "hotel = [1, 100]", "<= 99 - at `$.tiles.hotel[1]`"),
        ('name = "Cheyenne"\nrate = 4', 'name = "Cheyenne"\nrate = 100', "<= 99 - at `$.towns[1].rate`"),
        ('name = "Deadwood"', f'name = "{"x" * 41}"', "length <= 40 - at `$.towns[0].name`"),
        ('[[towns]]\nname = "Deadwood"', '[[towns]]\nname = "x"\nrate = 1\nsites = ["bank"]\n' * 14 +
         '[[towns]]\nname = "Deadwood"', "length <= 20 - at `$.towns`"),
        ("tiles_per_town = 18", "tiles_per_town = 181", "<= 180 - at `$.editions.bg.tiles_per_town`"),
        ('source = "reported"', f'source = "{"x" * 201}"', "length <= 200 - at `$.dice.source`"),
    ],
)  # fmt: skip
def test_figures_out_of_bounds_are_refused_with_the_path_of_the_key(was: str, becomes: str, says: str) -> None:
    assert was in BOX
    with pytest.raises(BadComponents, match=re.escape(says)):
        load(BOX.replace(was, becomes, 1))


def test_ep3_a_die_may_have_one_star_in_six_faces() -> None:
    assert load(BOX.replace(FACES, f"faces = {['star'] + ['six'] * 5}", 1)).dice.faces.count("star") == 1
