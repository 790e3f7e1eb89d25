"""A generated face for each bot, and pictures for link previews."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from harness.core.errors import printable
from harness.output.tables import short
from harness.report.parts import asset

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

# Faces: a hash of the name chooses colours and parts. assets/faces.js does the same in the browser.


Shape = list[Any]
"""Its kind, its figures on a square of 32 units, and which colour fills it."""
INK = "#1d2330"


class _Parts(msgspec.Struct):
    colours: list[str]
    lights: list[str]
    parts: list[list[list[Shape]]]


@cache
def _parts() -> _Parts:
    return msgspec.json.decode(asset("faces.json"), type=_Parts)


def faces_script() -> str:
    """Return the script that draws faces in the browser: `arena.face(name)`."""
    return f"const FACES = {asset('faces.json').strip()};\n{asset('faces.js')}"


def name_hash(name: str) -> int:
    """Return a hash of 32 bits of a name: FNV-1a, mixed as in MurmurHash3."""
    found = 0x811C9DC5
    for byte in name.encode("utf-8", "replace"):
        found = (found ^ byte) * 0x01000193 & 0xFFFFFFFF
    found = (found ^ found >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    found = (found ^ found >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return found ^ found >> 16


def _shapes(name: str) -> tuple[str, list[tuple[Shape, str]]]:
    """Return the background of a face, and its shapes with their colours."""
    left, parts = name_hash(name), _parts()

    def choose(options: Sequence[Any]) -> Any:
        nonlocal left
        left, at = divmod(left, len(options))
        return options[at]

    colour = choose(parts.colours)
    fills = {"colour": colour, "light": choose(parts.lights), "ink": INK, "white": "#ffffff", "dark": INK}
    return colour, [(shape, fills[shape[-1]]) for part in parts.parts for shape in choose(part)]


@lru_cache(4096)
def face_svg(name: str) -> str:
    """Return the face of a bot as an SVG element; it contains nothing of the name."""
    colour, shapes = _shapes(name)
    drawn = [f'<rect width="32" height="32" rx="7" fill="{colour}"/>']
    for (kind, *figures, _), fill in shapes:
        if kind == "rect":
            x, y, width, height, radius = figures
            drawn.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="{radius}" fill="{fill}"/>')
        elif kind == "circle":
            x, y, radius = figures
            drawn.append(f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{fill}"/>')
        else:
            drawn.append(f'<polygon points="{" ".join(map(str, figures[0]))}" fill="{fill}"/>')
    return f'<svg viewBox="0 0 32 32" class="face" aria-hidden="true">{"".join(drawn)}</svg>'


def favicon() -> bytes:
    """Return the icon of a site: a die."""
    places = ((9, 9), (23, 9), (16, 16), (9, 23), (23, 23))
    pips = "".join(f'<circle cx="{x}" cy="{y}" r="3" fill="#fff"/>' for x, y in places)
    shape = f'<rect width="32" height="32" rx="7" fill="{ACCENT}"/>{pips}'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">{shape}</svg>\n'.encode()


# Pictures for link previews: PNG, because services that show previews do not take SVG.


class Line(NamedTuple):
    """A line of a picture: a bot with its face, and what is written at the right."""

    bot: str
    figure: str = ""
    note: str = ""


MAX_PICTURE_LINES = 6
PAGE, SOFT, ACCENT = "#f6f8fa", "#556677", "#0b5cad"
COLOURS_OF_PICTURE = 64


def picture(title: str, subtitle: str, lines: Sequence[Line], width: int = 1200) -> bytes:
    """Return a PNG, nearly twice as wide as high, with a title and up to six bots."""
    from PIL import Image as images  # noqa: N813 - the module has the name of its class
    from PIL import ImageDraw as drawing  # noqa: N813 - likewise

    unit = width / 1200
    image = images.new("RGB", (width, round(630 * unit)), PAGE)
    draw = drawing.Draw(image)
    draw.rectangle((0, 0, width, 14 * unit), fill=ACCENT)
    right = width - 60 * unit
    _write(draw, (60 * unit, 44 * unit), printable(title), 54 * unit, INK, bold=True, room=right - 60 * unit)
    _write(draw, (60 * unit, 118 * unit), printable(subtitle), 30 * unit, SOFT, room=right - 60 * unit)
    shown = lines[:MAX_PICTURE_LINES]
    step = min(110.0, 430 / max(1, len(shown)))
    for place, line in enumerate(shown):
        top, size = (178 + step * place) * unit, (step - 12) * unit
        _draw_face(draw, line.bot, 60 * unit, top, size)
        text = min(44 * unit, size * 0.62)
        at = top + (size - text * 1.25) / 2
        used = _write(draw, (right, at), line.figure, text, INK, bold=True, end=True) if line.figure else 0.0
        room = right - used - 90 * unit - size
        _write(draw, (84 * unit + size, at), short(printable(line.bot), 40), text, INK, room=room)
    out = io.BytesIO()
    image.quantize(COLOURS_OF_PICTURE, method=images.Quantize.FASTOCTREE, dither=images.Dither.NONE).save(out, "PNG")
    return out.getvalue()


@cache
def _font(size: int, bold: bool) -> FreeTypeFont:
    # matplotlib brings this font along, so the picture is the same on every machine.
    import matplotlib as mpl
    from PIL import ImageFont

    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return ImageFont.truetype(str(Path(mpl.get_data_path()) / "fonts" / "ttf" / name), size)


def _write(
    draw: ImageDraw,
    at: tuple[float, float],
    text: str,
    size: float,
    fill: str,
    *,
    bold: bool = False,
    end: bool = False,
    room: float = 0.0,
) -> float:
    """Write text that starts or ends at a point, cut to fit into the room, and return its width."""
    font = _font(max(8, round(size)), bold)
    while room and len(text) > 1 and font.getlength(text) > room:
        text = f"{text.rstrip(chr(0x2026))[:-1]}\N{HORIZONTAL ELLIPSIS}"
    width = font.getlength(text)
    draw.text((at[0] - width if end else at[0], at[1]), text, font=font, fill=fill)
    return width


def _draw_face(draw: ImageDraw, name: str, left: float, top: float, size: float) -> None:
    colour, shapes = _shapes(name)
    unit = size / 32

    def box(x: float, y: float, width: float, height: float) -> tuple[float, float, float, float]:
        return left + x * unit, top + y * unit, left + (x + width) * unit, top + (y + height) * unit

    draw.rounded_rectangle(box(0, 0, 32, 32), 7 * unit, fill=colour)
    for (kind, *figures, _), fill in shapes:
        if kind == "rect":
            x, y, width, height, radius = figures
            draw.rounded_rectangle(box(x, y, width, height), radius * unit, fill=fill)
        elif kind == "circle":
            x, y, radius = figures
            draw.ellipse(box(x - radius, y - radius, 2 * radius, 2 * radius), fill=fill)
        else:
            places = figures[0]
            points = [(left + x * unit, top + y * unit) for x, y in zip(places[::2], places[1::2], strict=True)]
            draw.polygon(points, fill=fill)
