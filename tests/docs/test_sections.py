"""What pages show of the code is what the code says, and the code says something about everything."""

from __future__ import annotations

from operator import attrgetter

import pytest

import harness
from harness import Bot, View, conformance
from harness.plugins.registry import load
from tests.docs import fields
from tests.docs.pages import DOCS
from tests.docs.sections import API, EXAMPLE, GAMES, MADE, made, pages, sections


def test_pages_are_up_to_date():
    stale = [f"{page.name}: {what}" for page in pages() for what, text in sections(page).items() if text != made(what)]
    assert stale == [], "renew them: python -m tests.docs.make"


def test_every_generated_section_is_in_exactly_one_page():
    shown = [what for page in pages() for what in sections(page) if not what.startswith((EXAMPLE, API))]
    assert sorted(shown) == sorted(MADE)


def test_the_reference_has_every_public_name_once_with_its_signature_and_docstring():
    names = [what.removeprefix(API) for what in sections(DOCS / "api.md")]
    assert sorted(names) == sorted([*harness.__all__, *(f"conformance.{name}" for name in conformance.__all__)])
    assert "play_match(game: " in made("api play_match")
    assert "Play one match" in made("api play_match")
    assert "| `choose(view, actions)` | `Action` |" in made("api Bot")
    assert "Value = str" in made("api Value")
    bare = [name for name in names if len(made(API + name).splitlines()) < 5]
    assert bare == ["__version__"]  # the page says what it is


def test_every_bundled_game_has_a_page():
    ours = [name for name, offer in load().games.items() if offer.source == "arena-harness"]
    assert sorted(ours) == [page.game for page in GAMES]


@pytest.mark.parametrize("page", GAMES, ids=lambda page: page.game)
def test_every_field_of_views_and_actions_is_described(page):
    bare = [name for name, text in fields.every_description(page) if not text]
    assert bare == [], "give these a docstring below them"
    # What is read from the source is what there is.
    assert [each.name for each in fields.fields_of(page.view)] == list(page.view.__struct_fields__[2:])  # from "phase"
    assert {type(action) for action in load().game(page.game).configure().actions} <= set(page.actions)


def test_figures_of_each_game_are_shown_with_names_that_bots_can_read():
    shown = {page.game: made(f"{page.game} figures") for page in GAMES}
    for game, table in shown.items():
        rules = load().game(game).configure()
        names = [row.split("`")[1] for row in table.splitlines()[2:]]
        assert len(names) > 10
        for name in names:
            attrgetter(name.partition("[i]")[0])(rules)
    for name in ("number", "pair", "income", "founding", "ways"):
        assert f"| `companies[i].{name}` |" in shown["x-pasch"]
    assert "| `figures.zones[i].forward` | `5, 4, 3, 2` |" in shown["gnadenlos"]
    assert "| `goal` | `35` |" in shown["gnadenlos"]


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
