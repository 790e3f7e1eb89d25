"""The site's Atom feed (RFC 4287): its newest runs, who won in each game, and when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import urlsplit
from uuid import UUID, uuid5
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from harness._version import VERSION
from harness.core.errors import UsageError
from harness.output.display_names import visible
from harness.output.pages.bot_profile import Published

FEED = "feed.xml"
ATOM = "http://www.w3.org/2005/Atom"
MOST_ENTRIES = 50
NAMES = UUID("6e0d0a52-5f2c-5a86-9f5a-3d2c9f6f4c11")
"""What ids are made from; it must never change."""
TITLE = "Bots at board games"
LONG_AGO = datetime.fromtimestamp(0, UTC)


def site_id(runs: Sequence[Published]) -> str:
    """An id for a site that has none yet: by its first run, so that it can be made again."""
    first = min(runs, key=lambda run: (run.started, run.folder), default=None)
    return _urn("site", first.started if first else "", first.folder if first else "")


def check_url(url: str) -> None:
    """Raises UsageError for what is no web address; empty is none."""
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and not (parts.query or parts.fragment)
    except ValueError:
        fits = False
    if url and not (fits and url.isascii() and url.isprintable() and " " not in url):
        raise UsageError(f"{url!r} is no address of a site: write it like --url https://example.org/arena/.")


def feed(runs: Sequence[Published], of_site: str, url: str = "") -> bytes:
    """The feed of these runs, newest first; links are relative, unless `url` says where the site is."""
    base = f"{url.rstrip('/')}/" if url else ""
    newest = sorted(runs, key=_updated, reverse=True)[:MOST_ENTRIES]
    root = Element("feed", xmlns=ATOM)
    _add(root, "title", TITLE)
    _add(root, "id", of_site)
    _add(root, "updated", _instant(max(map(_updated, newest), default=LONG_AGO)))
    _add(root, "generator", "arena", version=VERSION)
    _add(SubElement(root, "author"), "name", "arena")
    _add(root, "link", rel="alternate", type="text/html", href=f"{base}index.html")
    _add(root, "link", rel="self", type="application/atom+xml", href=f"{base}{FEED}")
    for run in newest:
        entry = SubElement(root, "entry")
        _add(entry, "title", run.name if run.finished else f"{run.name} (not finished)")
        _add(entry, "id", _urn("run", run.started, run.folder))
        _add(entry, "published", _instant(_time(run.started)))
        _add(entry, "updated", _instant(_updated(run)))
        _add(entry, "link", rel="alternate", type="text/html", href=f"{base}runs/{run.folder}/index.html")
        _add(entry, "content", "\n".join(_told(run)), type="text")
        for game in run.boards:
            _add(entry, "category", term=visible(game))
    indent(root)
    text: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _told(run: Published) -> list[str]:
    """What the tables of a run say, in their own sentences."""
    told = [f"{game}: {sentence}" for game, sentences in run.summaries.items() for sentence in sentences]
    if run.without:
        told.append(f"All matches of {', '.join(run.without)} are left out.")
    return told or ["No match has been played yet."]


def _add(parent: Element, tag: str, content: str | None = None, **attributes: str) -> None:
    SubElement(parent, tag, attributes).text = None if content is None else _readable(content)


def _readable(text: str) -> str:
    return "\n".join(map(visible, text.split("\n")))


def _urn(*parts: str) -> str:
    return uuid5(NAMES, "\n".join(parts).encode("utf-8", "replace").decode()).urn


def _updated(run: Published) -> datetime:
    return max(_time(run.updated), _time(run.finished), _time(run.started))


def _time(text: str) -> datetime:
    """What run.json has for a time; long ago if somebody has changed that."""
    try:
        time = datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return LONG_AGO


def _instant(time: datetime) -> str:
    return time.isoformat(timespec="seconds").replace("+00:00", "Z")
