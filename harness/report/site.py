"""A static site of many runs: index, pages of bots, feed, badges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import UUID, uuid5
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import msgspec
from msgspec import Struct

from harness._version import VERSION
from harness.core.errors import StoreError, UsageError
from harness.output.columns import COLUMNS, without_interval_legend
from harness.output.leaderboard import KINDS, OVERALL_LEGEND, leaderboard_table, overall_tables, pairwise_table
from harness.output.outcome import FILES as OUTCOME_FILES
from harness.output.outcome import outcome_files
from harness.output.tables import file_name, text_of, visible
from harness.ratings.leaderboard import Leaderboard
from harness.report.facts import Facts, facts_of
from harness.report.page import render, shown_command, shown_seed, watched, without_seed
from harness.report.parts import asset, fill, script
from harness.runs.setup import now
from harness.runs.store import RunFolder, write_whole

if TYPE_CHECKING:
    from harness.report import PageParts


# Profiles: the results of one bot in all runs of a site, its opponents and its latest matches.


Row = dict[str, Any]
"""A row of a table as JSON fields."""

OPPONENTS_SHOWN = 3
"""Number of best and of worst opponents that are named."""


class Published(Struct, frozen=True):
    """Content of data.json: everything about a run that the other pages of the site need."""

    folder: str
    name: str
    arena: str
    command: str
    seed: int | None
    """None until the run is finished."""
    started: str
    finished: str
    matches: int
    boards: dict[str, list[Row]]
    """The leaderboard of each game."""
    pairs: dict[str, list[Row]]
    form: dict[str, dict[str, list[tuple[int, int]]]]
    """Game -> bot -> rank and number of players in each of its latest matches."""
    summaries: dict[str, list[str]]
    """Sentences about each leaderboard; the key "overall" is for several games together."""
    overall: list[Row]
    """A row for each bot, over several games."""
    without: list[str]
    """Bots whose matches are left out."""
    parts: list[str]
    """Start times of the runs that were counted together; empty for a single run."""
    updated: str = ""
    """Time of the last change of the published content; empty until it is known."""


@dataclass(frozen=True, slots=True)
class Opponent:
    """The results of a bot against another one in all runs."""

    bot: str
    met: int
    ahead: float


@dataclass(frozen=True, slots=True)
class InGame:
    """The results of a bot in one game."""

    game: str
    lines: list[Row]
    """Its row in the leaderboard of each run, newest first, with the run's name and folder."""
    best: list[Opponent]
    """The opponents that it beats most often."""
    worst: list[Opponent]
    """The opponents that beat it most often, none of them also in `best`."""
    form: list[tuple[int, int]]
    """Rank and number of players in each of its latest matches of the newest run, the latest last."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The results of a bot in all games."""

    bot: str
    games: list[InGame]


def profile(bot: str, runs: Sequence[Published]) -> Profile:
    """Return the results of a bot in each game it played; `runs` must be sorted, newest first."""
    games = sorted({title for run in runs for title in run.boards})
    return Profile(bot, [found for game in games if (found := _in_game(bot, game, runs)) is not None])


def _in_game(bot: str, game: str, runs: Sequence[Published]) -> InGame | None:
    lines = [
        {"run": run.name, "folder": run.folder, "started": run.started, **row}
        for run in runs
        for row in run.boards.get(game, ())
        if row["bot"] == bot
    ]
    if not lines:
        return None
    ranked = _opponents(bot, game, runs)
    best = ranked[: min(OPPONENTS_SHOWN, (len(ranked) + 1) // 2)]
    worst = ranked[: -min(OPPONENTS_SHOWN, len(ranked) // 2) - 1 : -1]
    form = next((list(run.form[game][bot]) for run in runs if bot in run.form.get(game, {})), [])
    return InGame(game, lines, best, worst, form)


def _opponents(bot: str, game: str, runs: Sequence[Published]) -> list[Opponent]:
    """Return the opponents of a bot, those that it beats most often first."""
    sums: dict[str, list[float]] = {}
    alone = {run.started for run in runs if not run.parts}
    for run in runs:
        if not alone.isdisjoint(run.parts):
            continue  # runs counted together: one of them is published itself, and its matches would count twice
        for row in run.pairs.get(game, ()):
            if row["bot"] == bot:
                both = sums.setdefault(row["against"], [0.0, 0.0])
                both[0] += row["met"]
                both[1] += row["met"] * row["ahead"]
    ranked = [Opponent(other, int(met), ahead / met) for other, (met, ahead) in sums.items()]
    return sorted(ranked, key=lambda one: (-one.ahead, one.bot))


def newest_boards(runs: Sequence[Published]) -> list[tuple[str, Published, list[Row]]]:
    """Return each game with its newest run and the leaderboard of that run."""
    games = sorted({title for run in runs for title in run.boards})
    newest = [(game, next(run for run in runs if game in run.boards)) for game in games]
    return [(game, run, run.boards[game]) for game, run in newest]


# Atom feed (RFC 4287): the newest runs with a summary of their leaderboards.


FEED = "feed.xml"
ATOM = "http://www.w3.org/2005/Atom"
MAX_FEED_ENTRIES = 50
NAMES = UUID("6e0d0a52-5f2c-5a86-9f5a-3d2c9f6f4c11")
"""Namespace of the ids; it must never change, or feed readers would show all entries as new."""
TITLE = "Bots at board games"
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


def feed(runs: Sequence[Published], of_site: str, url: str = "") -> bytes:
    """Return the feed of these runs as XML, newest first; links are relative unless the `url` of the site is given."""
    base = f"{url.rstrip('/')}/" if url else ""
    newest = sorted(runs, key=_entry_time, reverse=True)[:MAX_FEED_ENTRIES]
    root = Element("feed", xmlns=ATOM)
    _add_element(root, "title", TITLE)
    _add_element(root, "id", of_site)
    _add_element(root, "updated", _instant(max(map(_entry_time, newest), default=LONG_AGO)))
    _add_element(root, "generator", "arena", version=VERSION)
    _add_element(SubElement(root, "author"), "name", "arena")
    _add_element(root, "link", rel="alternate", type="text/html", href=f"{base}index.html")
    _add_element(root, "link", rel="self", type="application/atom+xml", href=f"{base}{FEED}")
    for run in newest:
        entry = SubElement(root, "entry")
        _add_element(entry, "title", run.name if run.finished else f"{run.name} (not finished)")
        _add_element(entry, "id", _urn("run", run.started, run.folder))
        _add_element(entry, "published", _instant(_time(run.started)))
        _add_element(entry, "updated", _instant(_entry_time(run)))
        _add_element(entry, "link", rel="alternate", type="text/html", href=f"{base}runs/{run.folder}/index.html")
        _add_element(entry, "content", "\n".join(_summary_sentences(run)), type="text")
        for game in run.boards:
            _add_element(entry, "category", term=visible(game))
    indent(root)
    text: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _summary_sentences(run: Published) -> list[str]:
    """Return the sentences of a run's entry in the feed."""
    told = [f"{game}: {sentence}" for game, sentences in run.summaries.items() for sentence in sentences]
    if run.without:
        told.append(f"All matches of {', '.join(run.without)} are left out.")
    return told or ["No match has been played yet."]


def _add_element(parent: Element, tag: str, content: str | None = None, **attributes: str) -> None:
    text = None if content is None else "\n".join(map(visible, content.split("\n")))
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
    """Return the badges by file name without extension; places are those in the newest run of each game."""
    best: dict[str, tuple[float, str, Badge]] = {}
    found: dict[str, Badge] = {}
    for game, bot, row, field in _places(runs):
        found[game_badge_name(bot, game)] = _badge(visible(game), row, field)
        overall = (row["place"] / field, game, _badge("arena", row, field, f" in {visible(game)}"))
        best[bot] = min(best.get(bot, overall), overall, key=lambda one: one[:2])
    return found | {badge_name(bot): badge for bot, (_, _, badge) in best.items()}


def badge_name(bot: str) -> str:
    """Return the file name of a bot's badge, without extension; no other badge has the same name."""
    # The space makes `file_name` add a digest, so that the name cannot equal that of a game's badge.
    return file_name(f"{bot} " if BADGE_SEPARATOR in bot else bot)


def game_badge_name(bot: str, game: str) -> str:
    """Return the file name of a bot's badge for a game, without extension."""
    return f"{badge_name(bot)}{BADGE_SEPARATOR}{file_name(game)}"


def _places(runs: Sequence[Published]) -> Iterator[tuple[str, str, Row, int]]:
    for game, _, rows in newest_boards(runs):
        for row in rows:
            yield game, str(row["bot"]), row, len(rows)


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


# The site: each run has a folder with its page and its data; the other pages are built from the data of all runs.


_OURS = re.compile(r"\w+/[a-z0-9][a-z0-9_.-]*")
"""Pattern of files that this module creates. site.json is untrusted input: other files it names are never deleted."""
LEAGUE = "league.html"
"""The page of a league, if the site has one."""
RUNS, BOTS, DATA, SITE = "runs", "bots", "data.json", "site.json"


def publish_runs(
    runs: Sequence[PageParts], to: Path, url: str = "", beside: Mapping[str, bytes] | None = None
) -> list[str]:
    """Add runs to a site, or update them, and write all pages of the site again; return warnings.

    `beside` has further files for the site by name. Raise StoreError if the folder has a site that Arena did not make.
    """
    check_url(url)
    if (to / "index.html").exists() and not (to / SITE).exists():
        raise StoreError(f"{to} holds a site that arena did not make; publish to another folder.")
    problems = []
    for parts in runs:
        _add(parts, to)
        problems += [*parts.problems, *parts.run.warnings]
    for name, data in (beside or {}).items():
        write_whole(to / name, data)
    _refresh(to, published(to), url)
    return problems


def published(to: Path) -> list[Published]:
    """Return the runs of a site, newest first."""
    runs = [_read(path) for path in (to / RUNS).glob(f"*/{DATA}")]
    return sorted(runs, key=lambda run: (run.started, run.folder), reverse=True)


def _read(path: Path) -> Published:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Published)
    except msgspec.MsgspecError as error:
        raise StoreError(f"{path} was not written by 'arena publish': {error}. Take its folder away.") from error


def _add(parts: PageParts, to: Path) -> None:
    run, games, results, without = parts.run, parts.games, parts.results, parts.without
    facts = facts_of(run, without)
    boards = facts.counts.boards(run.info.end)
    about = _published(run, facts, boards, _folder(run, to), without)
    folder = to / RUNS / about.folder
    about = msgspec.structs.replace(about, updated=_updated(about, folder / DATA))
    folder.mkdir(parents=True, exist_ok=True)
    bots = sorted({bot for board in boards for bot in board.counts.totals})
    links = {bot: f"../../{BOTS}/{file_name(bot)}.html" for bot in bots}
    shown = watched(run, games, facts, (), formats=parts.formats)
    page = render(run, games, facts, boards, shown, "../../index.html", links, results, without, parts.formats)
    write_whole(folder / "index.html", page.encode())
    outcomes = outcome_files(results)
    for name in OUTCOME_FILES:
        if name in outcomes:
            write_whole(folder / name, outcomes[name])
        else:
            (folder / name).unlink(missing_ok=True)
    for kind, make_tables in KINDS.items():
        for ending in ("csv", "json"):
            write_whole(folder / f"{kind}.{ending}", text_of(make_tables(boards), ending).encode() + b"\n")
    write_whole(folder / DATA, _json(about))  # last: a folder with this file counts as published


def _folder(run: RunFolder, to: Path) -> str:
    """Return the folder in which a run was published before, or a new one."""
    wanted = file_name(run.title)
    for number in count(1):
        folder = wanted if number == 1 else f"{wanted}-{number}"
        path = to / RUNS / folder / DATA
        if not path.exists():
            return folder
        other = _read(path)
        if _is_of(other, run):
            return folder
        if run.several and other.parts and other.name == run.title:
            return folder
    raise AssertionError("there is always another number")


def _is_of(other: Published, run: RunFolder) -> bool:
    """Return whether a published run is this run."""
    info, first = run.info, other.command.partition("\n")[0]  # the other lines are commands that extended it
    # An unfinished run was published without its seed, so there is none to compare.
    if other.seed is None:
        return (other.started, first) == (info.started, without_seed(info.command))
    return (other.started, other.seed, first) == (info.started, info.plan.seed, info.command)


def _updated(about: Published, path: Path) -> str:
    """Return when the published content last changed: the end of the run if it is new, now if it has changed."""
    if not path.exists():
        return about.finished or now()
    before = _read(path)
    return before.updated if msgspec.structs.replace(before, updated="") == about else now()


def _published(
    run: RunFolder, facts: Facts, boards: Sequence[Leaderboard], folder: str, without: Sequence[str]
) -> Published:
    info = run.info
    form: dict[str, dict[str, list[tuple[int, int]]]] = {}
    for (game, bot), results in sorted(facts.form.items()):
        form.setdefault(game, {})[bot] = list(results)
    return Published(
        folder=folder,
        name=run.title,
        arena=info.arena,
        command=shown_command(info),
        seed=shown_seed(info),
        parts=[info.started for info in run.parts()] if run.several else [],
        started=info.started,
        finished=info.finished,
        matches=facts.matches,
        boards={board.title: leaderboard_table(board, entrants=info.entrants).rows for board in boards},
        pairs={board.title: pairwise_table(board).rows for board in boards},
        form=form,
        summaries={
            table.title: list(table.summary) for table in (*map(leaderboard_table, boards), *overall_tables(boards))
        },
        overall=[row for table in overall_tables(boards) for row in table.rows],
        without=list(without),
    )


def _refresh(to: Path, runs: Sequence[Published], url: str) -> None:
    before = _before(to)
    (to / BOTS).mkdir(exist_ok=True)
    (to / BADGES).mkdir(exist_ok=True)
    bots = sorted({str(row["bot"]) for run in runs for rows in run.boards.values() for row in rows})
    files = {bot: file_name(bot) for bot in bots}
    made = badges(runs)
    _delete_stale(to, before, files.values(), made)
    for name, badge in made.items():
        write_whole(to / BADGES / f"{name}.json", _json(badge))
    for bot in bots:
        told = profile(bot, runs)
        write_whole(to / BOTS / f"{files[bot]}.json", _json(told))
        own = {game.game: game_badge_name(bot, game.game) for game in told.games}
        shown = {game: name for game, name in own.items() if name in made}
        page = fill("bot.html", script(), bot=bot, told=told, files=files, badge=badge_name(bot), badges=shown)
        write_whole(to / BOTS / f"{files[bot]}.html", page.encode())
    newest = newest_boards(runs)
    matrix = next((run for run in runs if run.overall), None)
    league = (to / LEAGUE).exists()
    page = fill(
        "index.html", script(asset("page.js")), runs=runs, newest=newest, matrix=matrix, bots=bots, files=files,
        league=league, has_ranges=_has_ranges, legend=_legend, overall_legend=OVERALL_LEGEND,
    )  # fmt: skip
    of_site, base = before.id or site_id(runs), url or before.url
    write_whole(to / FEED, feed(runs, of_site, base))
    about = {"arena": VERSION, "id": of_site, "url": base, "runs": [_summary(run) for run in runs], "bots": files}
    # site.json before index.html: a folder with only index.html counts as a site that Arena did not make.
    write_whole(to / SITE, _json({**about, "badges": sorted(made)}))
    write_whole(to / "index.html", page.encode())


def _has_ranges(rows: Sequence[Row]) -> bool:
    """Return whether any place is ruled out for any bot; as `Leaderboard.has_ranges`."""
    known = [row for row in rows if row["best place"] is not None]
    return any(row["worst place"] - row["best place"] + 1 < len(known) for row in known)


def _legend(rows: Sequence[Row]) -> str:
    """Return the legend of the columns on the front page."""
    names = ("range", "skill", "beats") if _has_ranges(rows) else ("skill", "beats")
    columns = [column for column in COLUMNS if column.name in names]
    if all(row["skill high"] is None for row in rows):
        columns = list(map(without_interval_legend, columns))
    return " ".join(column.legend for column in columns)


class _Before(msgspec.Struct, frozen=True):
    """Content of site.json; empty if there is no such file or it is invalid."""

    id: str = ""
    url: str = ""
    bots: dict[str, str] = {}
    badges: list[str] = []


def _before(to: Path) -> _Before:
    with suppress(FileNotFoundError, msgspec.MsgspecError, UnicodeDecodeError):
        return msgspec.json.decode((to / SITE).read_bytes(), type=_Before)
    return _Before()


def _delete_stale(to: Path, before: _Before, pages: Iterable[str], made: Iterable[str]) -> None:
    """Delete the pages and badges of bots that are no longer in any run."""
    gone = {f"{BOTS}/{name}" for name in {*before.bots.values()}.difference(pages)}
    gone |= {f"{BADGES}/{name}" for name in {*before.badges}.difference(made)}
    for place in filter(_OURS.fullmatch, gone):
        for ending in ("html", "json"):
            (to / f"{place}.{ending}").unlink(missing_ok=True)


def _summary(run: Published) -> dict[str, object]:
    keys = ("folder", "name", "started", "finished", "seed", "matches", "without", "boards")
    return {key: getattr(run, key) for key in keys}


def _json(value: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"
