"""Every numbered rule has a test that carries its number."""

from __future__ import annotations

import pytest

from tests.rules.coverage import GAMES, PAGE, covering_tests, page, rules


@pytest.mark.parametrize("prefix", GAMES)
def test_every_rule_has_a_test(prefix):
    untested = [number for number, names in covering_tests(prefix).items() if not names]
    assert not untested, f"rules without a test: {', '.join(f'{prefix}-{number}' for number in untested)}"


@pytest.mark.parametrize("prefix", GAMES)
def test_no_test_names_a_rule_that_does_not_exist(prefix):
    assert list(covering_tests(prefix)) == rules(prefix)


def test_the_table_in_the_docs_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.rules.coverage"
