"""CONTRIBUTING.md names what is there."""

from __future__ import annotations

import re
from pathlib import Path

from tests.unit.test_architecture import RANK

ROOT = Path(__file__).parents[2]


def test_every_folder_of_tests_is_told():
    told = re.findall(r"^\| `(\w+)/` \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
    there = {path.parent.name for path in (ROOT / "tests").glob("*/__init__.py")}
    assert there <= set(told)
    assert [name for name in told if not (ROOT / "tests" / name).is_dir() and not (ROOT / name).is_dir()] == []


def test_links_lead_somewhere():
    for page in ("CONTRIBUTING.md", "README.md", "SECURITY.md", "CODE_OF_CONDUCT.md"):
        targets = re.findall(r"\]\(([^)#:]+)\)", (ROOT / page).read_text(encoding="utf-8"))
        assert [target for target in targets if not (ROOT / target).exists()] == [], page


def test_every_package_of_harness_is_told_in_the_order_of_imports():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| `harness/(\w+)/` \|", page, re.MULTILINE)
    assert sorted(told) == sorted(RANK)
    assert told == sorted(told, key=RANK.__getitem__)
