"""A newcomer finds the pages: four sections, in the site and in docs/README.md, and a reference of all commands."""

from __future__ import annotations

import re

import pytest

from harness.plugins.features import COMMANDS
from tests.docs.pages import DOCS
from tests.docs.prose import ROOT

yaml = pytest.importorskip("yaml", reason="comes with mkdocs: pip install 'arena-harness[docs]'")
SECTIONS = ["Get started", "Guides", "Reference", "Explanation"]


def listed(part):
    """The pages that a part of the nav names."""
    if isinstance(part, str):
        return [part]
    return [page for inner in (part.values() if isinstance(part, dict) else part) for page in listed(inner)]


def test_the_index_has_the_sections_and_pages_of_the_site():
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    assert [name for part in nav for name in part] == SECTIONS
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", index, re.MULTILINE) == SECTIONS
    texts = dict(zip(SECTIONS, index.split("\n## ")[1:], strict=True))
    for part in nav:
        for section, pages in part.items():
            wanted = [page for page in listed(pages) if "://" not in page and page != "README.md"]
            assert [page for page in wanted if f"]({page})" not in texts[section]] == []


def test_every_command_is_in_the_reference():
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if not re.search(rf"^\|.*`arena {name}\b", page, re.MULTILINE)] == []


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120
