"""Fills in page templates: everything is escaped, and only our own scripts may run."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import resources

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from harness._version import VERSION
from harness.output.columns import letters
from harness.output.display_names import short, visible
from harness.output.durations import duration


@dataclass(frozen=True, slots=True)
class Script:
    """The script of a page, and what the page's security policy says about it."""

    text: Markup
    allowed: Markup


def asset(name: str) -> str:
    """The text of one of our own files."""
    return (resources.files("harness.output.pages") / "assets" / name).read_text(encoding="utf-8")


def script(*sources: str) -> Script:
    """One script of these sources. The policy names it by its digest, so no other script runs in the page."""
    # Each source is a block of its own, but for the names that are meant for all of them.
    text = "\n".join(sources).replace("</", "<\\/")
    if not text:
        return Script(Markup(), Markup("'none'"))
    digest = base64.b64encode(sha256(text.encode()).digest()).decode()
    return Script(_trusted(text), _trusted(f"'sha256-{digest}'"))


def _trusted(text: str) -> Markup:
    """Text that we wrote or drew ourselves: charts, styles, scripts."""
    return Markup(text)  # noqa: S704 - this is the one place that says so


@cache
def page_environment(*packages: str) -> Environment:
    """What fills in our templates; also those that other `packages` have among their assets."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name, "assets") for name in (*packages, "harness.output.pages")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"visible": visible, "short": short, "trusted": _trusted, "duration": duration}
    environment.filters |= {"letters": letters}
    return environment


def fill(template: str, page_script: Script, **values: object) -> str:
    """The page that a template makes of these values."""
    page = page_environment().get_template(template)
    style = asset("style.css") + asset("outcome.css")
    return page.render(style=_trusted(style), script=page_script, version=VERSION, **values)
