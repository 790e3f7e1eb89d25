"""A site of many runs: index, bots, feed, badges."""

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
from harness.output.leaderboard import KINDS, leaderboard_table, overall_tables, pairwise_table
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


# Profiles: one bot in all runs of a site, with its record in each game, its opponents and its latest results


Row = dict[str, Any]
"""A line of a table, as programs read it."""

OPPONENTS_SHOWN = 3
"""Number of best and of worst opponents that are named."""


class Published(Struct, frozen=True):
    """What a site keeps of a run: enough to make every page but the run's own."""

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
    """Game -> bot -> rank and number of players of its latest matches."""
    summaries: dict[str, list[str]]
    """What each leaderboard says, in sentences; "overall" over several games."""
    overall: list[Row]
    """A line for each bot over several games."""
    without: list[str]
    """Bots whose matches are left out."""
    parts: list[str]
    """Of several runs that were rated together: when each was started."""
    updated: str = ""
    """When its published content last changed; empty until that is known."""


@dataclass(frozen=True, slots=True)
class Opponent:
    """How a bot does against another one in all runs."""

    bot: str
    met: int
    ahead: float


@dataclass(frozen=True, slots=True)
class InGame:
    """A bot in one game."""

    game: str
    lines: list[Row]
    """Its line of each run's leaderboard, newest first, with the run's name and folder."""
    best: list[Opponent]
    """The opponents that it beats most often."""
    worst: list[Opponent]
    """The opponents that beat it most often, none of them also in `best`."""
    form: list[tuple[int, int]]
    """Rank and number of players of its latest matches in the newest run, the latest last."""


@dataclass(frozen=True, slots=True)
class Profile:
    """All about one bot."""

    bot: str
    games: list[InGame]


def profile(bot: str, runs: Sequence[Published]) -> Profile:
    """Return the bot's record in each game it played; `runs` come newest first."""
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
    """Return its opponents, those that it beats most often first."""
    sums: dict[str, list[float]] = {}
    alone = {run.started for run in runs if not run.parts}
    for run in runs:
        if not alone.isdisjoint(run.parts):
            continue  # its matches are counted where they were played
        for row in run.pairs.get(game, ()):
            if row["bot"] == bot:
                both = sums.setdefault(row["against"], [0.0, 0.0])
                both[0] += row["met"]
                both[1] += row["met"] * row["ahead"]
    ranked = [Opponent(other, int(met), ahead / met) for other, (met, ahead) in sums.items()]
    return sorted(ranked, key=lambda one: (-one.ahead, one.bot))


def newest_boards(runs: Sequence[Published]) -> list[tuple[str, Published, list[Row]]]:
    """Return for each game its newest run and that run's leaderboard."""
    games = sorted({title for run in runs for title in run.boards})
    newest = [(game, next(run for run in runs if game in run.boards)) for game in games]
    return [(game, run, run.boards[game]) for game, run in newest]


# Atom feed (RFC 4287): the newest runs with the winners of each game


FEED = "feed.xml"
ATOM = "http://www.w3.org/2005/Atom"
MAX_FEED_ENTRIES = 50
NAMES = UUID("6e0d0a52-5f2c-5a86-9f5a-3d2c9f6f4c11")
"""Namespace of the ids; it must never change, or feed readers would show all entries as new."""
TITLE = "Bots at board games"
LONG_AGO = datetime.fromtimestamp(0, UTC)


def site_id(runs: Sequence[Published]) -> str:
    """Return an id for a site that has none yet: derived from its first run, so that it is reproducible."""
    first = min(runs, key=lambda run: (run.started, run.folder), default=None)
    return _urn("site", first.started if first else "", first.folder if first else "")


def check_url(url: str) -> None:
    """Raise UsageError for text that is not a web address; empty is allowed."""
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and not (parts.query or parts.fragment)
    except ValueError:
        fits = False
    if url and not (fits and url.isascii() and url.isprintable() and " " not in url):
        raise UsageError(f"{url!r} is not the address of a site; write it like https://example.org/arena/.")


def feed(runs: Sequence[Published], of_site: str, url: str = "") -> bytes:
    """Return the feed of these runs, newest first; links are relative, unless `url` says where the site is."""
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
    """Return what the tables of a run say, in their own sentences."""
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
    """Return the time in run.json; a constant in the past if it is not valid, because the file was edited."""
    try:
        time = datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return LONG_AGO


def _instant(time: datetime) -> str:
    return time.isoformat(timespec="seconds").replace("+00:00", "Z")


# Badges of bots as JSON for the endpoint of shields.io: the place in each game, and the best of them


BADGES = "badges"
BADGE_SEPARATOR = "--"
"""Between the bot and the game in file names."""
Badge = dict[str, str | int]


def badges(runs: Sequence[Published]) -> dict[str, Badge]:
    """Return the name of each file, without its ending, and what is in it. Places are those of the newest run of each
    game."""
    best: dict[str, tuple[float, str, Badge]] = {}
    found: dict[str, Badge] = {}
    for game, bot, row, field in _places(runs):
        found[game_badge_name(bot, game)] = _badge(visible(game), row, field)
        overall = (row["place"] / field, game, _badge("arena", row, field, f" in {visible(game)}"))
        best[bot] = min(best.get(bot, overall), overall, key=lambda one: one[:2])
    return found | {badge_name(bot): badge for bot, (_, _, badge) in best.items()}


def badge_name(bot: str) -> str:
    """Return the file of a bot's badge, without its ending; no other badge has it."""
    # The space makes `file_name` add a digest, so that the name cannot equal that of a game's badge.
    return file_name(f"{bot} " if BADGE_SEPARATOR in bot else bot)


def game_badge_name(bot: str, game: str) -> str:
    """Return the file of a bot's badge for a game, without its ending."""
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


# The site: each run has a folder with its page and its data; the other pages are made from the data of all runs


_OURS = re.compile(r"\w+/[a-z0-9][a-z0-9_.-]*")
"""File names that this module creates. site.json is untrusted: nothing else is deleted because of it."""
LEAGUE = "league.html"
"""The page of a league, if the site has one."""
RUNS, BOTS, DATA, SITE = "runs", "bots", "data.json", "site.json"


def publish_runs(
    runs: Sequence[PageParts], to: Path, url: str = "", beside: Mapping[str, bytes] | None = None
) -> list[str]:
    """Add each run, then write the pages of the site again."""
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
    boards = facts.rating_set.boards()
    about = _published(run, facts, boards, _folder(run, to), without)
    folder = to / RUNS / about.folder
    about = msgspec.structs.replace(about, updated=_updated(about, folder / DATA))
    folder.mkdir(parents=True, exist_ok=True)
    bots = sorted({bot for board in boards for bot in board.ratings.lines})
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
    """Return the run's own folder if it was published before, else a new one."""
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
    """Return whether this is the same run; an entry of an unfinished run has no seed to compare."""
    info, first = run.info, other.command.partition("\n")[0]  # what follows has extended it
    if other.seed is None:
        return (other.started, first) == (info.started, without_seed(info.command))
    return (other.started, other.seed, first) == (info.started, info.plan.seed, info.command)


def _updated(about: Published, path: Path) -> str:
    """Return when the published content changed: the end of the run if it is new, now if it differs from before."""
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
        league=league,
    )  # fmt: skip
    of_site, base = before.id or site_id(runs), url or before.url
    write_whole(to / FEED, feed(runs, of_site, base))
    about = {"arena": VERSION, "id": of_site, "url": base, "runs": [_summary(run) for run in runs], "bots": files}
    write_whole(to / SITE, _json({**about, "badges": sorted(made)}))
    write_whole(to / "index.html", page.encode())


class _Before(msgspec.Struct, frozen=True):
    """Content of site.json; empty if there is none."""

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
