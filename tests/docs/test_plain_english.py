"""Pages and code are written in plain English: a list of words that we once used instead of the usual ones.

A word is on the list if it is never the right one here, so that the test has no false alarms. In pages, code, quoted
output and parts that are generated from the code are not checked. Inline code is not either: it names things. In
modules, docstrings, comments and string literals are checked: see tests/docs/code_text.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.docs.code_text import PACKAGES, english, modules
from tests.docs.prose import ROOT, pages, prose, table_rows

CLEAN = ("docs", "README.md", "CONTRIBUTING.md", "SECURITY.md", "results/README.md")
"""Pages in which the words are banned. All modules are checked."""
BANNED = {
    "told": "printed, reported, sent; two bots are separated",
    "tells": "says, reports, shows",
    "nobody": "no bot, no player, no user",
    "somebody": "a user, another bot, or the passive",
    "whoever": "a subject: the user who ...",
    "whomever": "a subject",
    "strangers?": "untrusted",
    "mend(?:s|ed|ing)?": "fix",
    "anew": "again",
    r"of (?:its|their|one's|your) own(?=\s*[.,;:)|])": "own, separate, private",
    "so many": "n",
    "afresh": "again",
    "hearken|heed(?:s|ed)?": "follow",
    "beforehand": "in advance",
    "whence|henceforth|wherein|whereby|thereof|hitherto": "short sentences",
    "dear(?:er)?": "expensive",
    "of ours|of theirs|of arena's": "our, their",
    r"(?:goes|go|went|going) on(?=\s*[.,;:)|])": "continues, is played",
    "to be had|can be had|cannot be had": "available",
    "as ever": "as usual",
    "the house": "the architecture; bundled bots",
    "^takes in": "add ...: the imperative",
    "also (?:if|when|where|with|without|after|those)": "even if, even without, including",
    r"\w+[,.;] else": "otherwise",
    "(?<!there )(?:is|was) no (?:action|bot|choice|command|comparison|decision|number|signature)": "is not a ...",
    "(?:has|have|had) not (?:the|a|an|yet the)": "does not have",
    r"behind --[a-z-]+": "after, to",
    "in place of": "instead of",
    "a text(?! file)": "a string, text, a sentence",
    "says so that": "the subject with its clause, then the verb",
    "(?:code|files?|lines?) of other people|of strangers": "from others, other users' ...",
    "everybody against everybody|by lots|lots decide": "round-robin, at random",
    "one (?:object|file|line|match|run) an? (?:era|file|format|game|line|match|rotation|round|seat)": "for each, per",
}
QUOTED = {("ratings.md", "told")}
"""Words that a page may name: where it explains what the program prints."""


def is_clean(page: Path) -> bool:
    path = page.relative_to(ROOT)
    return path.as_posix() in CLEAN or path.parts[0] in CLEAN


def found_in(line: str) -> list[str]:
    """The banned words of a line, without inline code and the targets of links."""
    text = re.sub(r"`[^`]*`|\]\([^)]*\)", "", line)
    return [word for word in BANNED if re.search(rf"\b(?:{word})\b", text, re.IGNORECASE)]


def problems_of(path: Path, lines: Iterable[tuple[int, str]]) -> list[str]:
    """Return a sentence for each banned word."""
    return [
        f"{path.relative_to(ROOT)}:{number}: {word!r}, better: {BANNED[word]}"
        for number, line in lines
        for word in found_in(line)
        if (path.name, word) not in QUOTED
    ]


@pytest.mark.parametrize("page", [page for page in pages() if is_clean(page)], ids=lambda page: page.name)
def test_pages_use_the_usual_words(page):
    assert problems_of(page, [*prose(page), *table_rows(page)]) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_comments_and_messages_use_the_usual_words(package):
    checked = [path for path in modules() if path.relative_to(ROOT).parts[0] == package]
    assert checked
    assert [problem for path in checked for problem in problems_of(path, english(path))] == []


def test_docstrings_comments_and_literals_are_read_and_keys_are_not(tmp_path):
    module = tmp_path / "module.py"
    module.write_text('"""Mend it.\n\n"""\nKEY = {"told": "not told apart", "x": f"nobody {1} else"}  # anew\n')
    lines = list(english(module))
    assert sorted((number, word) for number, line in lines for word in found_in(line)) == [
        (1, "mend(?:s|ed|ing)?"),
        (4, "anew"),
        (4, "nobody"),
    ]


def test_a_banned_word_is_found_and_code_is_not_read():
    assert found_in("Nobody mends a stranger's bot.") == ["nobody", "strangers?", "mend(?:s|ed|ing)?"]
    assert len(found_in("It has a process of its own, and goes on.")) == 2
    assert found_in("Its own process reads `told` and [links](x.md#of-its-own); of its own files; amend.") == []


def test_translated_constructions_are_found_and_correct_ones_are_not():
    found = found_in("It has not the rights, else it stops, also if it is no bot in place of a text behind --bot.")
    assert len(found) == 7
    assert found_in("There is no bot; a text file, one match a second; who else is also known.") == []
