"""The pages make a site: nothing is missing from it, and nothing in it leads nowhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import harness
import harness.conformance

pytest.importorskip("mkdocs", reason="the site needs mkdocs: pip install 'arena-harness[docs]'")
yaml = pytest.importorskip("yaml", reason="comes with mkdocs")

ROOT = Path(__file__).parents[2]
REPOSITORY = re.compile(r'href="https://github.com/arena-harness/arena/(?:blob|tree|edit)/main/([^"#]+)')


def build(folder, root=ROOT):
    """Builds strictly, in a process of its own: mkdocs and its plugins warn of things that are not ours."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=root,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built") / "site"
    result = build(folder)
    assert result.returncode == 0, result.stderr
    assert "WARNING" not in result.stderr
    return folder


def listed(part):
    """The pages that a part of the nav names."""
    if isinstance(part, str):
        return [part]
    return [page for inner in (part.values() if isinstance(part, dict) else part) for page in listed(inner)]


def test_every_page_is_in_the_nav_once():
    nav = listed(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert sorted(page for page in nav if "://" not in page) == sorted(pages)


def test_every_page_is_built(site):
    for page in (ROOT / "docs").rglob("*.md"):
        place = page.relative_to(ROOT / "docs").with_suffix("")
        folder = place.parent if place.name == "README" else place
        assert (site / folder / "index.html").exists(), page


@pytest.mark.parametrize("name", harness.__all__)
def test_the_reference_has_every_name_of_the_facade_once(site, name):
    page = (site / "api" / "index.html").read_text(encoding="utf-8")
    assert page.count(f'id="harness.{name}"') == 1


@pytest.mark.parametrize("name", harness.conformance.__all__)
def test_the_reference_has_every_name_of_the_kit_once(site, name):
    page = (site / "api" / "index.html").read_text(encoding="utf-8")
    assert len(re.findall(rf'<h3 id="harness\.conformance\.(?:\w+\.)*{name}"', page)) == 1


def test_the_reference_says_what_the_docstrings_and_signatures_say(site):
    page = (site / "api" / "index.html").read_text(encoding="utf-8")
    text = " ".join(re.sub(r"<[^>]+>", "", page).split())
    assert "A player. Subclass it, list the games it plays, write choose." in text
    assert "ranks_of(scores: Sequence[int])" in text.replace("( ", "(")


def test_links_that_leave_the_site_lead_to_files_of_the_repository(site):
    found = {place for page in site.rglob("*.html") for place in REPOSITORY.findall(page.read_text(encoding="utf-8"))}
    assert {"CONTRIBUTING.md", "results/README.md", "docs/examples/bots"} <= found
    missing = [place for place in found if not (ROOT / place).exists()]
    assert not missing


def test_a_page_loads_nothing_from_other_sites(site):
    fetched = re.compile(
        r'<(?:script|img|iframe)[^>]* src="(https?:[^"]+)|<link[^>]* rel="stylesheet"[^>]* href="(https?:[^"]+)'
    )
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not fetched.findall(text)
        assert 'data-md-component="source"' not in text  # its script would ask the forge for stars


MISTAKES = (
    ("docs/stray.md", "# A page that nobody listed\n", "stray.md"),
    ("docs/luck.md", "[gone](../NOWHERE.md)\n", "NOWHERE.md"),
    ("docs/luck.md", "[gone](ratings.md#no-such-part)\n", "no-such-part"),
)
"""Where each is made, what is written there, and what the build must name."""


def test_mistakes_fail_the_build_and_each_is_named(tmp_path):
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    for name in (
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "results/README.md",
        "results/reference/leaderboard.md",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    reference = tmp_path / "docs" / "api.md"  # its headings are enough: most of a build goes into its docstrings
    headings = [line for line in reference.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    reference.write_text("\n\n".join(headings) + "\n", encoding="utf-8")
    for path, text, _ in MISTAKES:
        with (tmp_path / path).open("a", encoding="utf-8") as page:
            page.write(text)
    result = build(tmp_path / "site", tmp_path)
    assert result.returncode != 0
    assert [complaint for _, _, complaint in MISTAKES if complaint not in result.stderr] == []
