"""Parts of pages that are made from the code: tables of fields and columns, and examples as they are.

A page has them between two comments, and `python -m tests.docs.make` writes them anew:

<!-- made by tests.docs.make: el-paso actions -->
<!-- end -->
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from harness.analysis import profile as analysis_profile
from harness.analysis import run as analysis_run
from harness.export.rows import TABLES
from harness.isolation import seccomp as system_calls_policy
from harness.output.columns import COLUMNS
from tests.docs import fields
from tests.docs.pages import DOCS
from tests.docs.reference import entry

SECTION = re.compile(r"(<!-- made by tests\.docs\.make: (.+?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
EXAMPLE = "example "
API = "api "
GAMES = tuple(fields.Page(path.stem) for path in sorted((DOCS / "games").glob("*.md")))


def columns() -> str:
    """The columns of a leaderboard."""
    return fields.table(("column", "what it says"), ((column.name, column.meaning) for column in COLUMNS))


def system_calls() -> str:
    """What the filter of system calls denies."""
    plain = ((one.what, ", ".join(one.calls), _answer(one.error), one.why) for one in system_calls_policy.DENIED)
    by_argument = [*system_calls_policy.DENIED_ARGUMENTS, system_calls_policy.NON_UNIX_SOCKETS]
    by_argument += system_calls_policy.ALL_SOCKETS
    rest = ((one.what, one.call, _answer(one.error), one.why) for one in by_argument)
    return fields.table(("denied", "calls", "answer", "why"), (*plain, *rest))


def analysis() -> str:
    """The data of an analysis: the fields of each of its structs."""
    structs: tuple[type, ...] = (
        analysis_run.Analysis, analysis_run.Shares, analysis_run.SeatLine, analysis_run.BotLine,
        analysis_profile.Profile, analysis_profile.Distribution, analysis_profile.Choices, analysis_profile.RuleUse,
    )  # fmt: skip
    return "\n".join(
        fields.table((f"`{struct.__name__}`", "type", "what it is"), fields.rows(fields.fields_of(struct)))
        for struct in structs
    )


def export_table(name: str) -> str:
    """The columns of an exported table."""
    rows = ((f"`{column.name}`", column.type, column.text) for column in TABLES[name])
    return fields.table(("column", "type", "what it is"), rows)


def _answer(error: int) -> str:
    return errno.errorcode[error]


MADE: dict[str, Callable[[], str]] = {
    "analysis": analysis,
    **{f"export {name}": partial(export_table, name) for name in TABLES},
    "columns": columns,
    "system calls": system_calls,
    "every view": fields.common_fields,
    "settings of a bot": fields.bot_settings,
    "attributes of a bot": fields.bot_attributes,
    **{f"{page.game} actions": page.action_table for page in GAMES},
    **{f"{page.game} figures": page.figures_table for page in GAMES},
    **{f"{page.game} view": page.view_table for page in GAMES},
    **{f"{page.game} types": page.type_table for page in GAMES},
}
"""What can be made, by the words in the comment; besides these, any file below docs/examples, and
the entry of any name in the API reference."""


def made(what: str) -> str:
    """What belongs between the comments: a table, or the text of an example as a file of its name."""
    if what.startswith(API):
        return entry(what.removeprefix(API))
    if what.startswith(EXAMPLE):
        file = DOCS / "examples" / what.removeprefix(EXAMPLE)
        return f"```python {file.name}\n{file.read_text(encoding='utf-8')}```\n"
    return MADE[what]()


def sections(page: Path) -> dict[str, str]:
    """What a page has between such comments."""
    return {what: text for _, what, text, _ in SECTION.findall(page.read_text(encoding="utf-8"))}


def renew_sections(page: Path) -> None:
    """Writes a page's sections anew."""
    text = page.read_text(encoding="utf-8")
    page.write_text(SECTION.sub(lambda found: found[1] + made(found[2]) + found[4], text), encoding="utf-8")


def pages() -> list[Path]:
    """The pages that have such sections."""
    return [page for page in sorted(DOCS.rglob("*.md")) if sections(page)]
