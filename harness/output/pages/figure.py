"""Turns a matplotlib figure into SVG that lives inside a page: its colours follow light and dark, its text is text."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

INK, FAINT = "#010203", "#040506"
"""Stand-ins for colours of the page: the SVG gets the style sheet's variables in their place."""
_VARIABLES = {INK: "var(--ink)", FAINT: "var(--faint)"}

# Okabe and Ito's colours, told apart by people with any kind of colour vision; those that vanish on white or
# on black are left out.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
WIDTH = 4.9
"""Inches: two figures side by side on a desk, one on a phone with its text still readable."""

_STYLE: dict[Any, Any] = {
    "axes.edgecolor": FAINT,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "figure.facecolor": "none",
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "grid.color": FAINT,
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "text.color": INK,
    "text.parse_math": False,  # a bot may be called $\frac{$
    "xtick.color": INK,
    "ytick.color": INK,
}


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart for those who see it, and the same as words and numbers."""

    name: str
    title: str
    summary: str
    """What it shows and how to read it, in a sentence or two."""
    svg: str
    headers: Sequence[str]
    rows: Sequence[Sequence[str]]


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        # The reader's browser has the letters of all scripts; matplotlib only measures them.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def draw(name: str, title: str, summary: str, height: float, paint: Callable[[Figure], None]) -> str:
    """The SVG of what `paint` puts on a figure; `name` is unique in the page."""
    unique = "c" + sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    with mpl.rc_context({**_STYLE, "svg.hashsalt": unique}), _quiet():
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        FigureCanvasSVG(figure)
        paint(figure)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return _for_page(out.getvalue(), unique, title, summary)


def _for_page(svg: str, unique: str, title: str, summary: str) -> str:
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", svg, count=1, flags=re.DOTALL)  # it styles all the page
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)
    svg = re.sub(r"\b([mp][0-9a-f]{10})\b", rf"{unique}\1", svg)
    for colour, variable in _VARIABLES.items():
        svg = svg.replace(colour, variable)
    svg = re.sub(r"\s*\n\s*", "\n", svg)
    size = re.search(r'viewBox="[^"]*"', svg)
    assert size is not None, "matplotlib says how large its picture is"
    return (
        f'<svg {size[0]} role="img" aria-labelledby="{unique}-t {unique}-d" '
        'xmlns:xlink="http://www.w3.org/1999/xlink">'
        f'<title id="{unique}-t">{escape(title)}</title><desc id="{unique}-d">{escape(summary)}</desc>'
        + svg[svg.index(">") + 1 :]
    )
