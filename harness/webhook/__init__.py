"""A listener that posts events as JSON to a web address. It sends no seed, no deal and no moves.

It is called in the thread of a listener, so waiting for the server does not delay the run.
"""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from http.client import HTTPException
from ipaddress import ip_address
from time import sleep
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener
from uuid import uuid4

import msgspec

from harness._version import VERSION
from harness.core.errors import UnknownName, UsageError, printable
from harness.core.records import Fault, GameRecord
from harness.core.table import Table
from harness.plugins.hooks import LeagueChange, LeagueStatus, RunStatus, hookimpl

ADDRESS, SECRET, EVENTS = "ARENA_WEBHOOK", "ARENA_WEBHOOK_SECRET", "ARENA_WEBHOOK_EVENTS"
"""The environment variables."""
EVENT_NAMES = ("run-started", "match-finished", "fault", "run-finished", "league-changed")
DEFAULT_EVENTS = ("run-started", "fault", "run-finished", "league-changed")
TIMEOUT_S = 3.0
"""Time for an answer."""
RETRY_WAITS_S = (0.5, 1.5)
"""Time before each retry."""
RETRIED_STATUSES = (408, 425, 429)
"""Refusals that may be temporary, besides errors of the server (500 and above)."""
MAX_DETAIL_CHARS = 500
"""Characters of a bot's error message that are sent."""
MAX_TEXT_CHARS = 1900
"""Characters of the text of a message: Discord accepts 2,000."""
MAX_TABLE_ROWS = 20
MAX_NAMES = 8
"""Bots that a sentence names."""
TABLE_COLUMNS = ("place", "bot", "skill", "beats", "matches")
"""Columns of the tables in a message."""
MAX_REASON_CHARS = 100
"""Characters of a server's answer that are printed."""


class Webhook:
    """Posts events. A message that fails temporarily is tried again a little later; one that is refused is not. After
    one was given up, the next ones have one try each until one is delivered."""

    def __init__(
        self,
        address: str,
        secret: str = "",
        events: Sequence[str] = DEFAULT_EVENTS,
        timeout: float = TIMEOUT_S,
        waits: Sequence[float] = RETRY_WAITS_S,
    ) -> None:
        self._address, self._secret, self._events = address, secret.encode(), tuple(events)
        self._timeout, self._waits, self._opener = timeout, waits, _opener(address)
        self._sent = self._failed = 0
        self._reason = ""
        self._down = False
        self._faults: Counter[tuple[str, str, str]] = Counter()
        """Faults by run, bot and kind."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Webhook:
        """Return the webhook that environment variables describe; raises UsageError if they are invalid."""
        address = environment[ADDRESS].strip()
        _check_address(address)
        asked = [word for word in environment.get(EVENTS, "").replace(",", " ").split() if word]
        for word in asked:
            if word not in EVENT_NAMES:
                raise UnknownName(f"event in {EVENTS}:", word, EVENT_NAMES)
        return cls(address, environment.get(SECRET, ""), asked or DEFAULT_EVENTS)

    def __dir__(self) -> list[str]:
        """Return the hooks of the chosen events: pluggy finds hooks by `dir`, so the others are not called."""
        return [f"arena_{event.replace('-', '_')}" for event in self._events] + ["arena_events_ended"]

    @hookimpl
    def arena_run_started(self, run: RunStatus) -> None:
        """Post that a run starts or continues."""
        planned = f", {run.planned:,} matches" if run.planned is not None else ""
        if run.matches:
            how = f"continues, {_count(run)} played so far"
        else:
            how = f"{len(run.bots):,} bots play {', '.join(run.games)}{planned}"
        self._post("run-started", f"{run.name}: {how}.", run=_status(run))

    @hookimpl
    def arena_match_finished(self, run: RunStatus, record: GameRecord) -> None:
        """Post how a match ended."""
        order = sorted(range(len(record.seats)), key=lambda seat: (record.ranks[seat], seat))
        result = ", ".join(f"{record.seats[seat]} {record.scores[seat]}" for seat in order)
        self._post("match-finished", f"{run.name}: {record.id}: {result}.", run=_status(run), match=_match(record))

    @hookimpl
    def arena_fault(self, run: RunStatus, record: GameRecord, fault: Fault) -> None:
        """Post the first fault of each kind of a bot, the tenth, the hundredth and so on: a bot that always fails
        would bury all other messages."""
        bot = record.seats[fault.seat]
        self._faults[run.name, bot, fault.kind] += 1
        count = self._faults[run.name, bot, fault.kind]
        if str(count).strip("0") != "1":
            return
        sent = _fault(record, fault)
        often = "failed" if count == 1 else f"has failed {count:,} times, last"
        text = f"{run.name}: {bot} {often} in {record.id} ({fault.kind}): {sent['said']}"
        self._post("fault", text, run=_status(run), match=_match(record), fault={**sent, "count": count})

    @hookimpl
    def arena_run_finished(self, run: RunStatus) -> None:
        """Post that a run is over: which bot won or leads, and the tables."""
        how = f"finished, {run.matches:,} matches" if run.finished else f"stopped, {_count(run)} played so far"
        standings = [{"game": table.title, "summary": table.summary, "rows": table.rows} for table in run.tables]
        lines = [f"{run.name}: {how}.", *(line for table in run.tables for line in _table_lines(table))]
        self._post("run-finished", *lines, run=_status(run), standings=standings)

    @hookimpl
    def arena_league_changed(self, league: LeagueStatus, change: LeagueChange) -> None:
        """Post a change of a league; of bots that join at once, one message."""
        version = f"@{change.version}" if change.version else ""
        if change.together and f"{change.bot}{version}" != change.together[0]:
            return
        what = "begins" if change.what == "era" else change.what
        about = f"{change.bot}{version}: {what}" if change.bot else f"era {league.era} {what}"
        if len(change.together) > 1:
            more = len(change.together) - MAX_NAMES
            named = ", ".join(change.together[:MAX_NAMES]) + (f" and {more} more" if more > 0 else "")
            about = f"{len(change.together)} bots joined: {named}"
        text = f"{league.name}: {about}{f' ({change.reason})' if change.reason else ''}."
        self._post("league-changed", text, league=_status(league), change=msgspec.structs.asdict(change))

    @hookimpl
    def arena_events_ended(self) -> str | None:
        """Return a sentence about messages that could not be delivered."""
        if not self._failed:
            return None
        total = self._sent + self._failed
        what = f"{self._failed:,} of {total:,} message{'' if total == 1 else 's'}"
        return f"{what} could not be delivered to {_origin(self._address)} ({ADDRESS}): {self._reason}."

    def _post(self, event: str, *lines: str, **content: Any) -> None:
        at = datetime.now(UTC).isoformat(timespec="seconds")
        text = chat_text(lines)
        # Slack, Mattermost and others show `text`, Discord shows `content` and would notify people named in it.
        chat = {"text": text, "content": text, "allowed_mentions": {"parse": ()}}
        message = {"event": event, "id": uuid4().hex, "at": at, **chat, **content}
        request = self._request(event, msgspec.json.encode(message))
        # While the server is down each message is tried once: with all waits, ten thousand matches would take hours.
        waits = () if self._down else self._waits
        for wait in (*waits, None):
            self._reason, again = self._try(request)
            if not self._reason:
                self._sent += 1
                self._down = False
                return
            if not again or wait is None:
                break
            sleep(wait)
        self._failed += 1
        self._down = True

    def _request(self, event: str, body: bytes) -> Request:
        headers = {"Content-Type": "application/json", "User-Agent": f"arena/{VERSION}", "X-Arena-Event": event}
        if self._secret:
            headers["X-Arena-Signature"] = f"sha256={hmac.new(self._secret, body, 'sha256').hexdigest()}"
        return Request(self._address, body, headers)  # noqa: S310 - only http and https get here

    def _try(self, request: Request) -> tuple[str, bool]:
        """Return why the message was not delivered, empty if it was, and whether a retry may help."""
        try:
            with self._opener.open(request, timeout=self._timeout):
                return "", False
        except HTTPError as error:
            # An HTTPError is also the open response: without this its connection stays open.
            error.close()
            return (
                f"it answered {error.code} {printable(str(error.reason), MAX_REASON_CHARS)}",
                error.code >= 500 or error.code in RETRIED_STATUSES,
            )
        except URLError as error:
            return _cause(error.reason), True
        except (OSError, HTTPException, ValueError) as error:
            return _cause(error), True


class _NoRedirects(HTTPRedirectHandler):
    """Follows no redirects: urllib would repeat the request without its body."""

    def redirect_request(self, *_redirect: Any) -> None:
        """Return nothing, so that a redirect counts as an error."""


def _opener(address: str) -> OpenerDirector:
    """Return what sends messages: through the proxy of the environment, except to this machine."""
    return build_opener(_NoRedirects, *([ProxyHandler({})] if _is_here(address) else []))


def _is_here(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check_address(address: str) -> None:
    try:
        parts = urlsplit(address)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        fits = False
    if not fits or not address.isascii() or not address.isprintable() or " " in address:
        raise UsageError(f"{ADDRESS} is not a web address: write it like https://example.org/arena.")
    if parts.username is not None:
        raise UsageError(f"{ADDRESS} has a name or a password in it, which is not sent: sign with {SECRET} instead.")


def _origin(address: str) -> str:
    """Return the address without its path, which is often the secret of a webhook."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def _cause(error: object) -> str:
    if isinstance(error, TimeoutError):
        return "it did not answer in time"
    text = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    return text.strip().rstrip(".")


def _status(of: RunStatus | LeagueStatus) -> dict[str, object]:
    """Return the state of a run or a league without its folder and its tables."""
    return {name: value for name, value in msgspec.structs.asdict(of).items() if name not in ("folder", "tables")}


def _count(run: RunStatus) -> str:
    """Return `"60 of 180 matches"`, without the second number if it is unknown."""
    of = f" of {run.planned:,}" if run.planned is not None else ""
    return f"{run.matches:,}{of} match{'' if run.matches == 1 and not of else 'es'}"


FENCE = "```"
"""Begins and ends a part of a chat message that is shown in one width."""
_HARMLESS = {
    "<": "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}",
    ">": "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}",
    "`": "'",
    "*": "\N{ASTERISK OPERATOR}",
    "~": "\N{TILDE OPERATOR}",
    "@": "@\N{ZERO WIDTH SPACE}",
    "://": ":\N{ZERO WIDTH SPACE}//",
    "www.": "www\N{ZERO WIDTH SPACE}.",
    "](": "]\N{ZERO WIDTH SPACE}(",
    "||": "|\N{ZERO WIDTH SPACE}|",
}
"""Characters that a chat would take for a mention, markup or a link, and their substitutes."""
_AT_START = ("#", "-#")
"""What makes a heading of a line, or a line of small print."""


def chat_text(asked: Iterable[str]) -> str:
    """Return lines as text for a chat; names of bots in it do not notify anyone, link anywhere or end a table.

    Lines that are FENCE stay as they are. A long text is cut between lines.
    """
    lines, room, fenced = [], MAX_TEXT_CHARS, False
    for line in asked:
        if line != FENCE:
            line = printable(line, MAX_TEXT_CHARS)
            for bad, harmless in _HARMLESS.items():
                line = line.replace(bad, harmless)
            if line.startswith(_AT_START):
                line = f"\N{ZERO WIDTH SPACE}{line}"
        room -= len(line) + 1
        if room < 0:
            lines += ["...", *([FENCE] if fenced else [])]
            break
        fenced ^= line == FENCE
        lines.append(line)
    return "\n".join(lines)


def _table_lines(table: Table) -> Iterator[str]:
    """Yield the sentences of a table, and its first lines between two fences."""
    yield from (f"{table.title}: {sentence}" for sentence in table.summary)
    places = [table.headers.index(name) for name in TABLE_COLUMNS if name in table.headers]
    shown = [["-" if line[at] is None else str(line[at]) for at in places] for line in table.cells[:MAX_TABLE_ROWS]]
    if not shown or len(places) < 2:
        return
    cells = [[table.headers[at] for at in places], *shown]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    yield FENCE
    yield from (
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells
    )
    yield FENCE
    if len(table.cells) > MAX_TABLE_ROWS:
        yield f"and {len(table.cells) - MAX_TABLE_ROWS:,} more"


def _match(record: GameRecord) -> dict[str, object]:
    """Return a record without anything that identifies its deal."""
    return {
        "id": record.id,
        "game": record.game,
        "rules": record.rules,
        "bots": record.seats,
        "scores": record.scores,
        "ranks": record.ranks,
        "ending": record.ending,
    }


def _fault(record: GameRecord, fault: Fault) -> dict[str, object]:
    return {
        "bot": record.seats[fault.seat],
        "seat": fault.seat,
        "kind": fault.kind,
        "decision": fault.decision,
        "phase": fault.phase,
        "said": fault.detail.strip().rpartition("\n")[2][:MAX_DETAIL_CHARS],
    }
