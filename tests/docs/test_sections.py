"""What pages show of the code is what the code says, and the code says something about everything."""

from __future__ import annotations

import pytest

from harness import Bot, View
from harness.plugins.registry import load
from tests.docs import fields
from tests.docs.pages import DOCS
from tests.docs.sections import EXAMPLE, GAMES, MADE, made, pages, sections


def test_pages_are_up_to_date():
    stale = [f"{page.name}: {what}" for page in pages() for what, text in sections(page).items() if text != made(what)]
    assert stale == [], "renew them: python -m tests.docs.make"


def test_every_generated_section_is_in_exactly_one_page():
    shown = [what for page in pages() for what in sections(page) if not what.startswith(EXAMPLE)]
    assert sorted(shown) == sorted(MADE)


def test_every_bundled_game_has_a_page():
    ours = [name for name, offer in load().games.items() if offer.source == "arena-harness"]
    assert sorted(ours) == [page.game for page in GAMES]


@pytest.mark.parametrize("page", GAMES, ids=lambda page: page.game)
def test_every_field_of_views_and_actions_is_described(page):
    bare = [name for name, text in fields.every_description(page) if not text]
    assert bare == [], "give these a docstring below them"
    # What is read from the source is what there is.
    assert [each.name for each in fields.fields_of(page.view)] == list(page.view.__struct_fields__[3:])
    assert {type(action) for action in load().game(page.game).configure().actions} <= set(page.actions)


def test_everything_about_a_bot_is_described():
    found = [*fields.fields_of(Bot), *fields.settings_of(Bot), *fields.methods_of(Bot, properties=False)]
    found += [*fields.methods_of(Bot, properties=True), *fields.fields_of(View)]
    assert [each.name for each in found if not each.text] == []


def test_the_page_for_bot_authors_names_every_hook():
    page = (DOCS / "bots.md").read_text(encoding="utf-8")
    hooks = [each.name.partition("(")[0] for each in fields.methods_of(Bot, properties=False)]
    assert [name for name in hooks if f"`{name}(" not in page] == []


def test_a_field_without_a_docstring_is_detected():
    class Bare:
        told: int
        """What it is."""
        untold: tuple[int | None, ...]

        def method(self, seat: int) -> int:
            return seat

    assert fields.fields_of(Bare) == [("told", "int", "What it is."), ("untold", "tuple[int or None, ...]", "")]
    assert fields.methods_of(Bare, properties=False) == [("method(seat)", "int", "")]
