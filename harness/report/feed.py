"""Feeds of a site and of each bot (Atom), and badges of bots."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import urlsplit
from uuid import UUID, uuid5
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from harness._version import VERSION
from harness.core.errors import LINES, UsageError, printable
from harness.core.table import Table
from harness.output.tables import file_name, grid_text, paragraph, short
from harness.report.published import Published, Row, newest_boards
from harness.report.site_pages import SiteSettings

# Atom feed (RFC 4287): the newest runs with a summary of their leaderboards.


FEED = "feed.xml"
ATOM = "http://www.w3.org/2005/Atom"
MAX_FEED_ENTRIES = 50
MAX_FEED_ROWS = 20
FEED_COLUMNS = ("place", "bot", "skill", "beats", "matches")
NAMES = UUID("6e0d0a52-5f2c-5a86-9f5a-3d2c9f6f4c11")
"""Namespace of the ids; it must never change, or feed readers would show all entries as new."""
LONG_AGO = datetime.fromtimestamp(0, UTC)


def site_id(runs: Sequence[Published]) -> str:
    """Return the id of a new site; it is derived from the first run, so that it is reproducible."""
    first = min(runs, key=lambda run: (run.started, run.folder), default=None)
    return _urn("site", first.started if first else "", first.folder if first else "")


def check_url(url: str) -> None:
    """Raise UsageError if the text is neither empty nor the address of a website."""
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and not (parts.query or parts.fragment)
    except ValueError:
        fits = False
    if url and not (fits and url.isascii() and url.isprintable() and " " not in url):
        raise UsageError(f"{url!r} is not the address of a site; write it like https://example.org/arena/.")


def feed(runs: Sequence[Published], site: SiteSettings) -> bytes:
    """Return the feed of these runs as XML, newest first; links are relative unless the site has a URL."""
    newest = sorted(runs, key=_entry_time, reverse=True)[:MAX_FEED_ENTRIES]
    root = _feed_head(site.shown_title, site.id, newest, _base(site), "index.html", FEED)
    for run in newest:
        title = run.name if run.finished else f"{run.name} (not finished)"
        entry = _add_entry(root, title, _urn("run", run.started, run.folder), run, _base(site))
        _add_element(entry, "content", "\n".join(_summary_parts(run)), type="html")
        for game in run.boards:
            _add_element(entry, "category", term=printable(run.title(game)))
    return _xml(root)


def bot_feed(bot: str, runs: Sequence[Published], site: SiteSettings) -> bytes:
    """Return the feed of a bot: how it stands in each run, and where it moved."""
    own = [run for run in runs if any(row["bot"] == bot for rows in run.boards.values() for row in rows)]
    newest = sorted(own, key=_entry_time, reverse=True)[:MAX_FEED_ENTRIES]
    base, file = _base(site, "../"), file_name(bot)
    title = f"{short(bot)} at {site.shown_title}"
    root = _feed_head(title, _urn("bot", site.id, bot), newest, base, f"bots/{file}.html", f"bots/{file}.xml")
    for run in newest:
        places = [
            f"{run.title(game)}: place {row['place'] or 'not known'} of {len(rows)}"
            for game, rows in run.boards.items()
            for row in rows
            if row["bot"] == bot
        ]
        moves = [
            f"{run.title(one.game)}: moved from place {one.before} to place {one.place}."
            for one in run.changes
            if one.bot == bot and one.before
        ]
        identity = _urn("bot", bot, run.started, run.folder)
        entry = _add_entry(root, f"{run.name}: {', '.join(places)}", identity, run, base)
        _add_element(entry, "content", "\n".join(paragraph(text, "html") for text in moves or places), type="html")
    return _xml(root)


def _base(site: SiteSettings, root: str = "") -> str:
    return f"{site.url.rstrip('/')}/" if site.url else root


def _feed_head(title: str, identity: str, newest: Sequence[Published], base: str, page: str, address: str) -> Element:
    root = Element("feed", xmlns=ATOM)
    _add_element(root, "title", title)
    _add_element(root, "id", identity)
    _add_element(root, "updated", _instant(max(map(_entry_time, newest), default=LONG_AGO)))
    _add_element(root, "generator", "arena", version=VERSION)
    _add_element(SubElement(root, "author"), "name", "arena")
    _add_element(root, "link", rel="alternate", type="text/html", href=f"{base}{page}")
    _add_element(root, "link", rel="self", type="application/atom+xml", href=f"{base}{address}")
    return root


def _add_entry(root: Element, title: str, identity: str, run: Published, base: str) -> Element:
    entry = SubElement(root, "entry")
    _add_element(entry, "title", title)
    _add_element(entry, "id", identity)
    _add_element(entry, "published", _instant(_time(run.started)))
    _add_element(entry, "updated", _instant(_entry_time(run)))
    _add_element(entry, "link", rel="alternate", type="text/html", href=f"{base}runs/{run.folder}/index.html")
    return entry


def _xml(root: Element) -> bytes:
    indent(root)
    text: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _summary_parts(run: Published) -> list[str]:
    """Return the entry of a run in the feed as HTML: which bot won or leads, and the table, of each game."""
    parts = []
    for game in run.summaries:
        rows = run.boards.get(game, [])[:MAX_FEED_ROWS]
        parts += [paragraph(f"{run.title(game)}: {sentence}", "html") for sentence in run.sentences(game)]
        # A data.json of a site may have been edited, so no row need have all columns.
        cells = [[_feed_cell(column, row.get(column)) for column in FEED_COLUMNS] for row in rows]
        parts += [grid_text(Table(run.title(game), FEED_COLUMNS, cells), "html")] if cells else []
    moved = [one for one in run.changes if one.before][:MAX_FEED_ROWS]
    parts += [
        paragraph(f"{run.title(one.game)}: {one.bot} moved from place {one.before} to place {one.place}.", "html")
        for one in moved
    ]
    if run.without:
        parts.append(paragraph(f"All matches of {', '.join(run.without)} are left out.", "html"))
    return parts or [paragraph("No match has been played yet.", "html")]


def _feed_cell(column: str, value: object) -> object:
    return f"{value:.0%}" if column == "beats" and isinstance(value, float) else value


def _add_element(parent: Element, tag: str, content: str | None = None, **attributes: str) -> None:
    text = None if content is None else printable(content, keep=LINES)
    SubElement(parent, tag, attributes).text = text


def _urn(*parts: str) -> str:
    return uuid5(NAMES, "\n".join(parts).encode("utf-8", "replace").decode()).urn


def _entry_time(run: Published) -> datetime:
    return max(_time(run.updated), _time(run.finished), _time(run.started))


def _time(text: str) -> datetime:
    """Return a time of run.json in UTC; LONG_AGO if it is invalid, because the file may have been edited."""
    try:
        time = datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return LONG_AGO


def _instant(time: datetime) -> str:
    return time.isoformat(timespec="seconds").replace("+00:00", "Z")


# Badges of bots as JSON for the endpoint of shields.io: the place in each game, and the best place of all games.


BADGES = "badges"
BADGE_SEPARATOR = "--"
"""Separates the bot from the game in file names."""
Badge = dict[str, str | int]


def badges(runs: Sequence[Published]) -> dict[str, Badge]:
    """Return the badges by file name without extension: the best place of each bot and, if it plays several games,
    its place in each. Places are those in the newest run of each game."""
    of_bot: dict[str, list[tuple[float, str, Row, int]]] = {}
    titles = {}
    for game, run, rows in newest_boards(runs):
        titles[game] = printable(run.title(game))
        for row in rows:
            of_bot.setdefault(str(row["bot"]), []).append((row["place"] / len(rows), game, row, len(rows)))
    found: dict[str, Badge] = {}
    for bot, places in of_bot.items():
        _, game, row, field = min(places, key=lambda one: one[:2])
        found[badge_name(bot)] = _badge("arena", row, field, f" in {titles[game]}")
        for _, game, row, field in places if len(places) > 1 else ():
            found[game_badge_name(bot, game)] = _badge(titles[game], row, field)
    return found


def badge_name(bot: str) -> str:
    """Return the file name of a bot's badge, without extension; no other badge has the same name."""
    # The space makes `file_name` add a digest, so that the name cannot equal that of a game's badge.
    return file_name(f"{bot} " if BADGE_SEPARATOR in bot else bot)


def game_badge_name(bot: str, game: str) -> str:
    """Return the file name of a bot's badge for a game, without extension."""
    return f"{badge_name(bot)}{BADGE_SEPARATOR}{file_name(game)}"


def _badge(label: str, row: Row, field: int, where: str = "") -> Badge:
    place, low, high = row["place"], row["best place"], row["worst place"]
    open_to = f" (may be {low}\N{EN DASH}{high})" if low is not None and low < high else ""
    return {
        "schemaVersion": 1,
        "label": label,
        "message": f"place {place} of {field}{where}{open_to}",
        "color": _colour(place, field),
    }


def _colour(place: int, field: int) -> str:
    if place == 1:
        return "brightgreen"
    share = place / field
    return "green" if share <= 1 / 3 else "yellowgreen" if share <= 2 / 3 else "lightgrey"
