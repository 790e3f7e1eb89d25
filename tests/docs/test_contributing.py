"""CONTRIBUTING.md names what is there."""

from __future__ import annotations

import re
from pathlib import Path

from tests.architecture.test_imports import CORE, FEATURES, RANK

ROOT = Path(__file__).parents[2]


def test_every_folder_of_tests_is_listed():
    """The folders that are named after packages of harness share one row."""
    rows = re.findall(r"^\| (`\w+/`.*?) \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
    listed = {name for row in rows for name in re.findall(r"`(\w+)/`", row)}
    there = {path.parent.name for path in (ROOT / "tests").glob("*/__init__.py")}
    assert there - set(RANK) <= listed
    assert [name for name in listed if not (ROOT / "tests" / name).is_dir() and not (ROOT / name).is_dir()] == []


def test_links_of_the_top_level_pages_lead_to_existing_files():
    for page in ("CONTRIBUTING.md", "README.md", "SECURITY.md", "CODE_OF_CONDUCT.md"):
        targets = re.findall(r"\]\(([^)#:]+)\)", (ROOT / page).read_text(encoding="utf-8"))
        assert [target for target in targets if not (ROOT / target).exists()] == [], page


def test_every_package_of_harness_is_listed_in_the_order_of_imports():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`\w+/`.*?) \|", page, re.MULTILINE)
    listed = [name for row in rows for name in re.findall(r"`(\w+)/`", row)]
    assert listed[: len(CORE)] == list(CORE)
    assert sorted(listed[len(CORE) :]) == sorted(FEATURES)
