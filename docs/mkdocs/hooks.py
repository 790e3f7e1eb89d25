"""What mkdocs needs to show pages that are written for a forge: `hooks` in mkdocs.yml.

A page reads the same in the repository and on the site. So links are relative, including those that leave `docs/`, a
fence may name the file it shows, and a list may follow its paragraph directly, as GitHub's Markdown has it.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

CODE = re.compile(r"^(```.*?^```)$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(\]\()([^)\s:#]+)(#[^)\s]*)?(\))")
FENCE = re.compile(r"^```(\w+) (\S+)$", re.MULTILINE)
LIST = re.compile(r"^(?![-#|>\s])(.+\n)(?=- )", re.MULTILINE)
ENTRY = re.compile(r"<!-- made by tests\.docs\.make: api (\S+) -->\n.*?<!-- end -->", re.DOTALL)
OPTIONS = {"RunRequest": "\n    options:\n      inherited_members: true"}
"""What mkdocstrings needs to know about an entry."""


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The page as mkdocs understands it."""
    # The repository shows entries as text; the site makes better ones, with links, of the same docstrings.
    markdown = ENTRY.sub(lambda entry: f"::: harness.{entry[1]}{OPTIONS.get(entry[1], '')}", markdown)
    parts = CODE.split(markdown)
    for number, part in enumerate(parts):
        if number % 2:  # code stays as it is, but for its name
            parts[number] = FENCE.sub(r'```\1 title="\2"', part)
        else:
            part = LIST.sub(r"\1\n", part)
            parts[number] = LINK.sub(lambda link: _link(link, page, config, files), part)
    return "".join(parts)


def _link(link: re.Match[str], page: Page, config: MkDocsConfig, files: Files) -> str:
    """A link to something in the repository that is not on the site goes to the repository; others are left alone."""
    before, target, anchor, after = link.groups(default="")
    place = posixpath.normpath(posixpath.join(posixpath.dirname(page.file.src_uri), target))
    file = files.get_file_from_path(place)
    docs = Path(config.docs_dir)
    found = docs / place
    if (file and file.inclusion.is_included()) or not found.exists():  # mkdocs complains of what does not exist
        return link.group()
    kind = "tree" if found.is_dir() else "blob"
    path = found.resolve().relative_to(docs.parent).as_posix()
    return f"{before}{config.repo_url}/{kind}/main/{path}{anchor}{after}"
