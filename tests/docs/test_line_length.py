"""Prose is wrapped, so that a change of a page can be reviewed line by line."""

from __future__ import annotations

import pytest

from tests.docs.prose import ROOT, pages, prose

MAX_COLUMNS = 110


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_lines_of_prose_are_wrapped(page):
    long = [f"{page.name}:{number}: {len(line)}" for number, line in prose(page) if len(line) > MAX_COLUMNS]
    assert long == [], f"wrap these at about 100 columns, at most {MAX_COLUMNS}"


def test_code_tables_and_generated_parts_are_not_prose(tmp_path):
    page = tmp_path / "page.md"
    lines = ["# Title", "", "text", "```sh", "code", "```", "| table |", "", "    code", "", "    code", "- item"]
    page.write_text("\n".join([*lines, "  more", "<!-- made by tests.docs.make: x -->", "made", "<!-- end -->", "end"]))
    shown = [(number, line) for number, line in prose(page) if line]
    assert shown == [(1, "# Title"), (3, "text"), (12, "- item"), (13, "  more"), (17, "end")]
