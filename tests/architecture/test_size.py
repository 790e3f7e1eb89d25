"""The code stays as large as it needs to be: budgets for modules and lines, and small modules with their reasons."""

from __future__ import annotations

from statistics import median

from tests.architecture.size import sizes
from tests.architecture.test_imports import FEATURES

MAX_MODULES = 220
MAX_LINES = 37_200
MAX_CORE_LINES = 18_500
MIN_MEDIAN_LINES = 150
"""A change that needs more raises the number in the same commit and says why."""
MIN_LINES = 100
MAX_MODULE_LINES = 510

SMALL = {
    "__main__.py": "python -m harness",
    "_version.py": "read by the build, so it imports nothing",
    "adapters/play.py": "what the three adapters share",
    "adapters/policy.py": "networks as bots, loaded without the libraries of the adapters",
    "ask/cost.py": "an estimate that only `arena ask --worst` loads",
    "analysis/cli.py": "a command, loaded without what plays and measures",
    "browser/server.py": "loaded by one option of a command",
    "core/compiled.py": "which modules are compiled, and what their classes need",
    "core/errors.py": "every error of ours, imported everywhere",
    "core/table.py": "the value that everything prints, below all that make one",
    "core/tree_ensemble.py": "compiled, apart from the structs that it evaluates",
    "export/cli.py": "a command, loaded without what replays and writes",
    "executors/retry.py": "whom to blame and what to play again",
    "executors/serial.py": "one executor",
    "isolation/doctor.py": "what this machine can enforce",
    "isolation/limits.py": "the part of a launch that each bot's process needs, so it loads little",
    "match/faults.py": "what a fault of a bot is, for the referee and every process that runs bots",
    "new_package/cli.py": "two commands",
    "new_package/files.py": "the page of typed bots must not load commands",
    "plugins/features.py": "the table of features, read by arena --help",
    "play/person.py": "what a terminal and a page give a person; the page must not load the terminal",
    "ratings/betting.py": "one statistical test, for ladders and comparisons",
    "report/picks.py": "which matches are worth watching",
    "report/site_pages.py": "how a page of a site is written, for all that write one",
    "runs/request.py": "the request itself, apart from the files that hold it",
    "runs/standings.py": "the leaderboards of a run",
    "serve/cli.py": "a command, loaded without the web server's libraries",
}
"""Modules below MIN_LINES, each with its reason. Not listed: `__init__.py`, one file a command in `cli/`, and the loops
of `bench/loops/`, which run by path in other environments."""


def needs_reason(name: str) -> bool:
    return not name.endswith("__init__.py") and not name.startswith(("cli/", "bench/loops/"))


def test_harness_stays_within_its_budget():
    found = sizes("harness")
    assert len(found) <= MAX_MODULES
    assert sum(found.values()) <= MAX_LINES
    core = sum(lines for name, lines in found.items() if name.partition("/")[0] not in FEATURES)
    assert core <= MAX_CORE_LINES
    assert median(lines for name, lines in found.items() if not name.endswith("__init__.py")) >= MIN_MEDIAN_LINES


def test_small_modules_have_a_reason():
    small = {name for name, lines in sizes("harness").items() if lines < MIN_LINES and needs_reason(name)}
    assert small == set(SMALL)


def test_no_module_is_too_long():
    long = {f"{top}/{name}": lines for top in ("harness", "engines", "bots") for name, lines in sizes(top).items()
            if lines > MAX_MODULE_LINES}  # fmt: skip
    assert not long


def test_lines_of_code_leave_out_comments_and_documentation(tmp_path):
    from tests.architecture.size import code_lines

    path = tmp_path / "module.py"
    path.write_text('"""Two\nlines."""\n\nX = 1  # one\n"""What X is."""\n\n# nothing\nTEXT = """a\nb"""\n')
    assert code_lines(path) == 3
