"""A static site of many runs: front page, pages of games and bots, feeds, badges."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from harness._version import VERSION
from harness.core.errors import ArenaError, StoreError, UnknownName, UsageError
from harness.core.files import (
    MAX_DATA_BYTES,
    MAX_TEXT_BYTES,
    Folder,
    UnreadableFile,
    cannot_read,
    read_regular_file,
    write_whole,
)
from harness.output.columns import COLUMNS, without_interval_legend
from harness.output.tables import file_name
from harness.plugins.registry import Registry
from harness.report.charts import seats_chart, versions_chart
from harness.report.faces import Line, favicon, picture
from harness.report.feed import BADGES, FEED, badge_name, badges, bot_feed, check_url, feed, game_badge_name, site_id
from harness.report.matches import Stored, read_stored
from harness.report.published import (
    RUNS,
    Analysis,
    Profile,
    Published,
    Row,
    family_of,
    newest_boards,
    profile,
    published,
    read_analysis,
    version_number,
    versions_in,
)
from harness.report.run_pages import BOTS, GAMES, TILES, add_run, best_matches, game_sentence, json_of, make
from harness.report.site_pages import SitePages, SiteSettings, page_script, tile_script
from harness.runs.reader import UNREADABLE, followed

if TYPE_CHECKING:
    from harness.report import PageParts, SiteOptions

_OURS = re.compile(r"\w+/[a-z0-9][a-z0-9_.-]*")
"""Pattern of files that this module creates. site.json is untrusted input: other files it names are never deleted."""
PLAY = "play/index.html"
"""The page on which one can play, if the site has one."""
LEAGUE, LEAGUE_ROWS = "league.html", "standings.json"
"""The page of a league and its table as data, if the site has one."""
SITE, CARD = "site.json", "card.png"
NEWEST, TOP = 6, 5
"""Matches and bots on the front page."""
OWN_REPLAYS = 12
"""Replays on the page of a bot, for each game."""


def publish_runs(
    runs: Sequence[PageParts],
    to: Path,
    registry: Registry,
    options: SiteOptions,
    files: Mapping[str, bytes],
    pages: Mapping[str, Mapping[str, object]],
) -> list[str]:
    """Add runs to a site, or update them, and write all pages of the site again; return warnings.

    `files` has further files for the site by name, `pages` the values of further templates. Raise StoreError if the
    folder has a site that Arena did not make.
    """
    check_url(options.url)
    site = Folder(to)
    if site.has_file("index.html") and not site.has_file(SITE):
        raise StoreError(f"{to} holds a site that arena did not make; publish to another folder.")
    analyses = dict(map(_analysis, options.analyses))
    before = _before(site)
    settings = _settings(before, options)
    maker = SitePages(site, settings, LEAGUE in pages or site.has_file(LEAGUE), site.has_file(PLAY))
    problems = []
    for parts in followed(runs, "runs", lambda: len(runs)):
        add_run(parts, maker, registry, options.replays)
        problems += [*parts.problems, *parts.run.warnings]
    for name, data in files.items():
        write_whole(site, name, data)
    make(site.below(GAMES))
    for game, data in analyses.items():
        write_whole(site, f"{GAMES}/{file_name(game)}.json", data)
    titles = {name: game.title for each in runs for name, game in each.games.items()}
    for name, values in pages.items():
        maker.page(name, name, [page_script()], titles=titles, **values)
    known = published(to)
    headline = next((run.folder for run in known if settings.headline in (run.folder, run.name)), "")
    if settings.headline and not headline:
        raise UnknownName("run of this site", settings.headline, [run.name for run in known])
    settings = msgspec.structs.replace(settings, headline=headline)
    maker.settings = msgspec.structs.replace(settings, id=settings.id or site_id(known))
    _Refresh(maker, known, registry).write(before)
    return problems


def _settings(before: _Before, options: SiteOptions) -> SiteSettings:
    """Return what was chosen now, or else before."""
    chosen = {
        name: value if value not in (None, "") or (value == "" and name != "url") else getattr(before, name)
        for name, value in (
            ("url", options.url), ("title", options.title), ("headline", options.headline), ("next", options.next)
        )
    }  # fmt: skip
    return SiteSettings(id=before.id, **chosen)


class _Before(msgspec.Struct, frozen=True):
    """Content of site.json; empty if there is no such file or it is invalid."""

    id: str = ""
    url: str = ""
    title: str = ""
    headline: str = ""
    next: str = ""
    bots: dict[str, str] = {}
    games: dict[str, str] = {}
    badges: list[str] = []


def _before(site: Folder) -> _Before:
    try:
        return msgspec.json.decode(site.read(SITE, MAX_DATA_BYTES), type=_Before)
    except (FileNotFoundError, *UNREADABLE):
        return _Before()
    except OSError as error:
        raise cannot_read(site.path / SITE, error) from error


class _Refresh:
    """Writes the pages that are about several runs."""

    def __init__(self, maker: SitePages, runs: Sequence[Published], registry: Registry) -> None:
        self.maker, self.site, self.runs, self.registry = maker, maker.site, runs, registry
        self.bots = sorted({str(row["bot"]) for run in runs for rows in run.boards.values() for row in rows})
        self.files = {bot: file_name(bot) for bot in self.bots}
        self.newest = newest_boards(runs, maker.settings.headline)
        self.games = {game: file_name(game) for game, _, _ in self.newest}
        self.titles = {game: run.title(game) for game, run, _ in self.newest}
        self.badges = badges(runs)
        self.stored = {run.folder: read_stored(self.site.below(f"{RUNS}/{run.folder}"), run.without) for run in runs}
        self.league = _league_rows(self.site)
        self.scripts, self.tiles = self._drawings()

    def write(self, before: _Before) -> None:
        """Write all of them, and delete those of bots and games that are in no run any more."""
        write_whole(self.site, "favicon.svg", favicon())
        for folder in (BOTS, BADGES, GAMES):
            make(self.site.below(folder))
        _delete_stale(self.site, before, self.files.values(), self.badges, self.games.values())
        for name, badge in self.badges.items():
            write_whole(self.site, f"{BADGES}/{name}.json", json_of(badge))
        self._bot_pages()
        for game, run, rows in self.newest:
            self._game_page(game, run, rows)
        self._overviews()
        settings = self.maker.settings
        write_whole(self.site, FEED, feed(self.runs, settings))
        about = {
            "arena": VERSION, **msgspec.structs.asdict(settings), "runs": [_summary(run) for run in self.runs],
            "bots": self.files, "games": self.games, "badges": sorted(self.badges),
        }  # fmt: skip
        # site.json before index.html: a folder with only index.html counts as a site that Arena did not make.
        write_whole(self.site, SITE, json_of(about))
        self._front_page()

    def _drawings(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return the drawing of each game that is installed, and the table that a tile shows, as JSON."""
        scripts: dict[str, str] = {}
        tiles: dict[str, str] = {}
        for game in self.games:
            try:
                scripts[game] = self.registry.game(game).configure().viewer_script()
            except ArenaError:
                continue
        for run in self.runs:
            try:
                found = msgspec.json.decode(
                    self.site.read(f"{RUNS}/{run.folder}/{TILES}", MAX_DATA_BYTES), type=dict[str, dict[str, Any]]
                )
            except (OSError, *UNREADABLE):
                continue
            for game, tile in found.items():
                if scripts.get(game) and tile:
                    tiles.setdefault(game, msgspec.json.encode(tile).decode())
        return scripts, tiles

    def _bot_pages(self) -> None:
        for bot in followed(self.bots, "pages of bots", lambda: len(self.bots)):
            found = profile(bot, self.runs)
            write_whole(self.site, f"{BOTS}/{self.files[bot]}.xml", bot_feed(bot, self.runs, self.maker.settings))
            own = {game.game: game_badge_name(bot, game.game) for game in found.games}
            newest = next((run.about[bot] for run in self.runs if bot in run.about), None)
            versions = {
                each.game: points
                for each in found.games
                if (points := versions_in(bot, self._newest_rows(bot, each.game)))
            }
            self.maker.page(
                f"{BOTS}/{self.files[bot]}.html", "bot.html", [page_script()],
                bot=bot, found=found, about=newest, files=self.files, titles=self.titles, games=self.games,
                badge=badge_name(bot) if badge_name(bot) in self.badges else "",
                badges={game: name for game, name in own.items() if name in self.badges},
                curves={game: versions_chart(self.titles[game], points) for game, points in versions.items()},
                replays=self._replays_of(bot, found), changes=self._changes_of(bot),
                counted={game: run for game, run, _ in self.newest},
            )  # fmt: skip

    def _newest_rows(self, bot: str, game: str) -> list[Row]:
        """Return the newest leaderboard of a game that has the bot, that of the league before those of its runs."""
        boards = (one.get(game, []) for one in (self.league, *(run.boards for run in self.runs)))
        return next(rows for rows in boards if any(row["bot"] == bot for row in rows))

    def _replays_of(self, bot: str, found: Profile) -> dict[str, list[tuple[Published, Stored]]]:
        return {
            each.game: [
                (run, one)
                for run in sorted(self.runs, key=lambda run: run.folder != self.maker.settings.headline)
                for one in self.stored[run.folder]
                if one.game == each.game and bot in one.seats
            ][:OWN_REPLAYS]
            for each in found.games
        }

    def _changes_of(self, bot: str) -> list[tuple[Published, Any]]:
        return [(run, change) for run in self.runs for change in run.changes if change.bot == bot]

    def _game_page(self, game: str, run: Published, rows: list[Row]) -> None:
        stored = [(each, one) for each in self.runs for one in self.stored[each.folder] if one.game == game]
        fair = [pair for pair in stored if not pair[1].failed]
        late = [pair for pair in fair if "comeback" in pair[1].reasons]
        path = f"{GAMES}/{self.games[game]}"
        lines = [Line(row["bot"], f"{row['skill']:.1f}") for row in rows]
        write_whole(self.site, f"{path}.png", picture(self.titles[game], f"{len(rows)} bots · {run.name}", lines))
        script = self.scripts.get(game, "")
        self.maker.page(
            f"{path}.html", "game.html", [tile_script([script]) if script else page_script()], f"{path}.png",
            game=game, games=self.games, title=self.titles[game], run=run, rows=rows, files=self.files,
            rules=_description(self.registry, game), tile=self.tiles.get(game, ""),
            analysis=self._analysis_of(path),
            seats=seats_chart(self.titles[game], run.seats.get(game, [])), runs=self.runs,
            closest=sorted(fair, key=lambda pair: (pair[1].margin, -pair[1].length))[:5],
            longest=sorted(fair, key=lambda pair: -pair[1].length)[:5],
            comebacks=sorted(late, key=lambda pair: -pair[1].comeback)[:5],
            legend=_legend(rows), has_ranges=_has_ranges(rows),
        )  # fmt: skip

    def _analysis_of(self, path: str) -> Analysis | None:
        """Return the analysis of a game that was published with this or an earlier publication."""
        try:
            return read_analysis(self.site.read(f"{path}.json", MAX_TEXT_BYTES), path)
        except (OSError, ArenaError):
            return None

    def _overviews(self) -> None:
        places: dict[str, list[tuple[str, int, int, str]]] = {}
        for game, _, rows in self.newest:
            for row in rows:
                places.setdefault(row["bot"], []).append((game, row["place"], len(rows), ""))
        for run in self.runs:  # bots that are only in others, with the name of the newest
            for bot in {row["bot"] for rows in run.boards.values() for row in rows}.difference(places):
                places[bot] = [
                    (game, row["place"], len(rows), run.name)
                    for game, rows in run.boards.items()
                    for row in rows
                    if row["bot"] == bot
                ]
        versions: dict[tuple[str, bool], list[str]] = {}
        for bot in sorted(self.bots, key=version_number, reverse=True):
            versions.setdefault((family_of(bot), version_number(bot) > 0), []).append(bot)

        def best(family: list[str]) -> tuple[bool, float, str]:
            found = places[family[0]]
            return (
                bool(found[0][3]),
                min((place / field for _, place, field, _ in found if place), default=2.0),
                family[0],
            )

        self.maker.page(
            f"{BOTS}/index.html", "bots.html", [page_script()], bots=len(self.bots),
            families=sorted(versions.values(), key=best), files=self.files, places=places, titles=self.titles,
            runs=len(self.runs), newest=self.newest,
        )  # fmt: skip
        self.maker.page(f"{RUNS}/index.html", "runs.html", [page_script()], runs=self.runs, newest=self.newest,
                        titles=self.titles)  # fmt: skip

    def _newest_matches(self, besides: Collection[Stored]) -> list[tuple[Published, Stored]]:
        """Return matches of the newest runs `besides` these, of all games in turn."""
        by_game: dict[str, list[tuple[Published, Stored]]] = {}
        for run in sorted(self.runs, key=lambda run: run.finished or run.started, reverse=True):
            for one in sorted(self.stored[run.folder], key=lambda one: one.published, reverse=True):
                if not one.failed and one not in besides:
                    by_game.setdefault(one.game, []).append((run, one))
        in_turn = (pair for row in zip_longest(*by_game.values()) for pair in row if pair)
        return list(islice(in_turn, NEWEST))

    def _front_page(self) -> None:
        settings = self.maker.settings
        headline = next((run for run in self.runs if run.folder == settings.headline), None)
        headline = headline or next((run for run in self.runs if run.boards), None)
        standings = _standings(headline) if headline else []
        if headline:
            # Of several games the leaders, of one its standing.
            several = len(standings) > 1
            rows = [(title, row) for title, rows, _ in standings for row in (rows[:1] if several else rows)]
            lines = [Line(str(row["bot"]), title if several else _figure(row)) for title, row in rows]
            write_whole(self.site, CARD, picture(settings.shown_title, headline.name, lines))
            best = best_matches(headline, self.stored[headline.folder])
        else:
            best = {}
            self.site.remove(CARD)
        self.maker.page(
            "index.html", "index.html", [tile_script([self.scripts[game] for game in self.tiles])],
            CARD if headline else "",
            runs=self.runs, newest=self.newest, bots=self.bots, files=self.files, games=self.games, titles=self.titles,
            tiles=self.tiles, headline=headline, standings=standings, top=TOP, figure=_figure,
            best=best, fresh=self._newest_matches([one for rows in best.values() for _, one in rows]),
            matches=sum(run.matches for run in self.runs),
        )  # fmt: skip


def _analysis(path: Path) -> tuple[str, bytes]:
    """Return the game of a file of `arena analyse`, and its content."""
    try:
        data = read_regular_file(path, MAX_TEXT_BYTES)
    except UnreadableFile as error:
        raise UsageError(f"Cannot read {path}: {error}.") from error
    return read_analysis(data, str(path)).game, data


def _league_rows(site: Folder) -> dict[str, list[Row]]:
    """Return the table of the site's league by game; nothing if it has none."""
    try:
        return msgspec.json.decode(site.read(LEAGUE_ROWS, MAX_DATA_BYTES), type=dict[str, list[Row]])
    except (OSError, *UNREADABLE):
        return {}


def _standings(run: Published) -> list[tuple[str, list[Row], str]]:
    """Return the standings of a run with their titles and verdicts: all games together if most bots play all, then
    each game."""
    placed = [row for row in run.overall if row["place"]]
    together = [("All games", placed, run.verdict("overall"))] if 2 * len(placed) > len(run.overall) else []
    return [*together, *((run.title(game), rows, run.verdict(game)) for game, rows in run.boards.items() if rows)]


def _figure(row: Row) -> str:
    """Return what stands at the right of a bot: its skill, or its chance over several games."""
    if row.get("skill") is not None:
        return f"{row['skill']:.1f}"
    return f"{row['chance']:.0%}" if row.get("chance") is not None else ""


def _description(registry: Registry, game: str) -> Mapping[str, object]:
    """Return what an installed game says about itself."""
    try:
        rules = registry.game(game)
        sections = _rule_sections(rules.configure().rules_text())
    except ArenaError:
        return {}
    return {
        "text": game_sentence(rules), "sections": sections, "version": rules.version,
        "players": (rules.min_players, rules.max_players),
        "options": [(option.name, option.help, option.default) for option in rules.options
                    if option.name != "components"],
    }  # fmt: skip


def _rule_sections(text: str) -> list[tuple[str, list[str]]]:
    """Return the sections of a game's rules: headings, each with its paragraphs and rules."""
    sections: list[tuple[str, list[str]]] = []
    inside = False
    for line in text.replace("`", "").replace("**", "").splitlines():
        if line.startswith("#"):
            sections.append((line.lstrip("# "), []))
        elif line.strip():
            sections = sections or [("", [])]
            if inside and not line.startswith("- "):
                sections[-1][1][-1] += f" {line.strip()}"
            else:
                sections[-1][1].append(line.removeprefix("- ").strip())
        inside = bool(line.strip()) and not line.startswith("#")
    return sections


def _has_ranges(rows: Sequence[Row]) -> bool:
    """Return whether any place is ruled out for any bot; as `Leaderboard.has_ranges`."""
    known = [row for row in rows if row["best place"] is not None]
    return any(row["worst place"] - row["best place"] + 1 < len(known) for row in known)


def _legend(rows: Sequence[Row]) -> str:
    """Return the legend of the columns of a short leaderboard."""
    names = ("range", "skill", "beats") if _has_ranges(rows) else ("skill", "beats")
    columns = [column for column in COLUMNS if column.name in names]
    if all(row["skill high"] is None for row in rows):
        columns = list(map(without_interval_legend, columns))
    return " ".join(column.legend for column in columns)


def _delete_stale(
    site: Folder, before: _Before, bots: Iterable[str], made: Iterable[str], games: Iterable[str]
) -> None:
    """Delete the pages and badges of bots and games that are no longer in any run."""
    gone = {f"{BOTS}/{name}" for name in {*before.bots.values()}.difference(bots)}
    gone |= {f"{BADGES}/{name}" for name in {*before.badges}.difference(made)}
    gone |= {f"{GAMES}/{name}" for name in {*before.games.values()}.difference(games)}
    for place in filter(_OURS.fullmatch, gone):
        for ending in ("html", "json", "xml", "png"):  # a badge, a page with its feed or picture
            site.remove(f"{place}.{ending}")


def _summary(run: Published) -> dict[str, object]:
    keys = ("folder", "name", "started", "finished", "seed", "matches", "without", "boards")
    return {key: getattr(run, key) for key in keys}
