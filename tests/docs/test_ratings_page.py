"""The figures of the ratings page that tell TrueSkill fitted to all matches from the trueskill package."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO
from math import erfc, exp

import pytest

from harness.ratings.skill import BETA, MU, SIGMA, PairGraph, fit_skills
from tests.docs.pages import DOCS, blocks

PAGE = DOCS / "ratings.md"


def exact_mean(wins: int, losses: int) -> float:
    """Return the posterior mean of the first of two skills, by integration over their difference."""
    weights = weighted = 0.0
    for step in range(-4000, 4001):
        gap = step / 100
        ahead = 0.5 * erfc(-gap / (2 * BETA))
        density = exp(-((gap / SIGMA) ** 2) / 4) * ahead**wins * (1 - ahead) ** losses
        weights += density
        weighted += density * gap
    return MU + weighted / weights / 2


def test_the_package_rates_a_winner_low_that_lost_last():
    shown = list(blocks(PAGE))
    [at] = [number for number, block in enumerate(shown) if block.language == "python"]
    printed = StringIO()
    with redirect_stdout(printed):
        exec(shown[at].text, {})  # noqa: S102 - the code of our own page
    assert printed.getvalue() == shown[at + 1].text == "19.3 30.7\n"


def test_the_fit_is_near_the_exact_posterior_in_any_order():
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    exact = exact_mean(60, 40)
    assert f"posterior is {exact:.1f} for the winner and {2 * MU - exact:.1f} for the other" in text
    winner, loser = fit_skills(PairGraph([(2, 0, 1, 60.0, 0.0, 40.0)], 2)).mu
    assert f"({winner:.1f} and {loser:.1f} here" in text
    assert winner == pytest.approx(exact, abs=0.1)
