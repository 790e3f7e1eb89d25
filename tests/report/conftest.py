"""Fixtures of the tests of pages and sites."""

from __future__ import annotations

import pickle

import pytest

from harness.report import charts as module


@pytest.fixture(autouse=True, scope="package")
def _charts_are_drawn_once():
    """Nine tenths of the time of a page are its charts, and tests make many pages of the same run."""
    drawn: dict[bytes, list[object]] = {}
    draw = module.charts

    def charts(board, facts):
        figures = pickle.dumps((board, facts))
        if figures not in drawn:
            drawn[figures] = list(draw(board, facts))
        return iter(drawn[figures])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "charts", charts)
        yield
