"""Analyse a game: play a balanced design, a few matches of a search bot, and say what kind of game it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import comb
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from harness.analysis.profile import Profile, profile_of
from harness.analysis.tables import tables_of
from harness.analysis.variance import MIN_DEALS, Play, mean_over_deals, variance_shares
from harness.api.matches import installed_here
from harness.core.errors import StoreError, UsageError, printable
from harness.core.files import MAX_TEXT_BYTES, UnreadableFile, read_regular_file
from harness.core.game import Game
from harness.core.records import GameRecord, Isolation, MatchSpec, Value, shares_ahead
from harness.core.rng import Chance
from harness.executors.base import Job, choose_executor, expect_workers
from harness.output.progress import at_terminal
from harness.output.tables import Tables
from harness.output.text import warn_about_isolation
from harness.plugins.registry import Registry
from harness.ratings.statistics import Interval
from harness.runs.reader import followed
from harness.runs.request import BotLike, RunRequest
from harness.runs.setup import RunSetup, prepare

MATCHES = 2_000
SEARCH = "ismcts:iterations=20"
SEARCH_DEALS = 8
"""Deals of the search bot, which takes seconds for a match. It plays each in every seat."""
MAX_PLAYS_OF_DEAL = 3
MIN_PLAYS_OF_TABLE = 4
"""All tables that the field allows are played if each gets as many deals; otherwise so few are drawn that each does.
With more plays of a deal or of a table there would be fewer deals or tables, and these differ more than plays do."""
MAX_REPLAYED = 400
"""Matches that are replayed for choices and rules."""
MIN_PART_DEALS = 8
"""When the analysis is stopped by Ctrl-C: complete deals without which there is no result. If all tables are played, it
needs as many deals as tables, too: then each has played two deals or more."""
SCHEMA = 1


class Estimate(Struct, frozen=True):
    """An estimate with its 95% interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of_interval(cls, found: Interval, low: float = 0.0, high: float = 1.0) -> Estimate:
        """Return the estimate of a share."""
        return cls(found.value, min(max(low, found.low), high), max(low, min(high, found.high)))


class Shares(Struct, frozen=True):
    """Shares of the variance of results: docs/analyse.md has the definition. They add up to 1."""

    bots: Estimate
    """Who sits at the table."""
    deals: Estimate
    """The effect of a deal on a seat, whichever bot sits there."""
    seats: Estimate
    """The effect of a seat in all deals."""
    rest: Estimate
    """Everything else: luck that only some bots meet because they decide differently, random numbers of bots, and bots
    that suit a deal or a seat."""
    bots_in_seats: Estimate
    """The part of the rest that comes from bots which do better in some seats than others do."""


class SeatLine(Struct, frozen=True):
    """How a seat does, over all bots."""

    seat: int
    ahead: Estimate
    """The share of the others that it finishes ahead of, a tie counting half."""
    wins: float
    """Share of the matches that it wins; a shared first place counts in part."""
    score: float


class BotLine(Struct, frozen=True):
    """How a bot does, over all seats."""

    bot: str
    ahead: Estimate
    wins: float
    score: float
    matches: int


class Analysis(Struct, frozen=True):
    """What kind of game it is, measured with these bots."""

    game: str
    title: str
    rules: str
    """Version of the rules."""
    options: dict[str, Value]
    players: int
    bots: tuple[str, ...]
    """The field, from which tables are drawn."""
    all_tables: bool
    """Whether these are all tables that the field allows. Otherwise they are drawn at random."""
    search: str
    """The search bot; empty if there is none. It is only in `spread`."""
    seed: int
    matches: int
    deals: int
    tables: int
    """Different tables of bots of the field. Two or three of them play each deal, in all rotations of their seats."""
    shares: Shares
    skill_matches: float | None
    """Matches after which half of the variance between the mean results of bots is skill; None if bots explain
    nothing."""
    seats: tuple[SeatLine, ...]
    spread: tuple[BotLine, ...]
    """The field and the search bot, the best first."""
    profile: Profile
    faults: int
    """Faults of bots: their matches count as they ended."""
    schema: int = SCHEMA

    def tables_of(self) -> Tables:
        """Return everything as tables for people."""
        return Tables(tables_of(self))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data: docs/analyse.md has the schema."""
        data: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return data

    def __repr__(self) -> str:
        return repr(self.tables_of())

    def _repr_html_(self) -> str:
        return self.tables_of()._repr_html_()


def read_analysis(path: Path) -> Analysis:
    """Return the analysis in a file that `arena analyse --out` has written; it may come from other people."""
    try:
        data = read_regular_file(path, MAX_TEXT_BYTES)
        found = msgspec.json.decode(data, type=Analysis)
    except UnreadableFile as error:
        raise StoreError(f"{path} cannot be read: {error}.") from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise StoreError(f"{path} is not an analysis of a game: {printable(str(error), max_chars=300)}.") from error
    if found.schema != SCHEMA:
        raise StoreError(f"{path} has schema {found.schema}, and this version of arena reads {SCHEMA}.")
    return found


# The design.


class _Design(NamedTuple):
    """A design, deal by deal, so that an analysis that is stopped has complete deals."""

    game: Game[Any]
    seed: int
    players: int
    tables: Sequence[Sequence[str]]
    drawn: bool
    """Whether the tables are a sample of those that the field allows."""
    plays: Sequence[int]
    """The number of the table of each play; the first few plays are those of the first deal, and so on."""
    deals: int
    search: str
    search_tables: Sequence[Sequence[str]]
    """For each of its deals, the table at which the search bot is the first."""

    @property
    def plays_of_deal(self) -> int:
        return len(self.plays) // self.deals

    @property
    def matches_of_deal(self) -> int:
        return self.plays_of_deal * self.players

    @property
    def matches(self) -> int:
        """Matches of the field."""
        return self.deals * self.matches_of_deal

    def specs(self) -> Iterator[MatchSpec]:
        """Yield the matches of the field, then those of the search bot."""
        for number, table in enumerate(self.plays):
            deal, play = divmod(number, self.plays_of_deal)
            seed = Chance(self.seed).derive("analysis deal", deal)
            yield from self._rotations(f"{deal + 1}.{play + 1}", number, seed, self.tables[table])
        for deal, names in enumerate(self.search_tables):
            seed = Chance(self.seed).derive("analysis search deal", deal)
            yield from self._rotations(f"search-{deal + 1}", len(self.plays) + deal, seed, names)

    def _rotations(self, name: str, number: int, seed: int, table: Sequence[str]) -> Iterator[MatchSpec]:
        for turn in range(self.players):
            yield MatchSpec(
                id=f"{self.game.name}-{name}.{turn + 1}",
                index=number * self.players + turn,
                set=f"{self.game.name}-{name}",
                game=self.game.name,
                options=dict(self.game.settings),
                seed=seed,
                seats=tuple([table[place] for place in self.places(number, turn)]),
            )

    def places(self, number: int, turn: int) -> list[int]:
        """Return the place in its table of the bot in each seat, in a rotation of the play with this number.

        The order around the table is drawn again for each play: it belongs to the rest, not to the bots.
        """
        order = Chance(self.seed).shuffled(range(self.players), "analysis order", number)
        return order[turn:] + order[:turn]


def _design(game: Game[Any], field: Sequence[str], players: int, matches: int, seed: int, search: str) -> _Design:
    chance = Chance(seed)
    tables: list[Sequence[str]] = []
    possible, wanted = comb(len(field), players), round(matches / players)
    drawn = possible * MIN_PLAYS_OF_TABLE > wanted
    of_deal = min(MAX_PLAYS_OF_DEAL, max(2, possible))
    deals = max(MIN_DEALS, round(wanted / of_deal))
    number = deals * of_deal
    if drawn:
        while len(tables) < number // MIN_PLAYS_OF_TABLE:  # each bot sits at one of the next few tables
            order = chance.shuffled(field, "analysis tables", len(tables))
            tables += [order[at : at + players] for at in range(0, len(order) - players + 1, players)]
        # Each deal has different tables, and the deals of a table follow each other.
        plays = [(deal * len(tables) // deals + at) % len(tables) for deal in range(deals) for at in range(of_deal)]
    else:
        tables += combinations(field, players)
        turns = range(-(-number // possible))
        plays = [at for turn in turns for at in chance.shuffled(range(possible), "analysis tables", turn)][:number]
    others = [name for name in field if name != search]
    search_tables = [
        [search, *chance.shuffled(others, "analysis search table", deal)[: players - 1]]
        for deal in range(SEARCH_DEALS if search else 0)
    ]
    return _Design(game, seed, players, tables, drawn, plays, deals, search, search_tables)


# Playing and measuring.


def analyse(
    game: str,
    bots: Sequence[BotLike] = (),
    *,
    players: int | None = None,
    options: Mapping[str, Value] | None = None,
    matches: int = MATCHES,
    seed: int = 1,
    search: str = SEARCH,
    workers: int | None = None,
    isolate: Isolation = "auto",
    quiet: bool = False,
) -> Analysis:
    """Play about this number of matches and return what kind of game it is: how long, how many choices, what the seats
    are worth, how much is luck and how much is skill, and which rules come up.

    `bots` are the field, by default all quick bots that play the game. `search` is one more bot, which only shows how
    far search gets ("" for none). Nothing is saved. The same arguments give the same result.

    Examples:
        >>> found = analyse("el-paso", ["outlaw", "skittish", "random"], players=2, matches=60, search="", workers=0)
        >>> found.spread[0].bot, found.matches, found.profile.decisions.median > 50
        ('outlaw', 64, True)
    """
    request = RunRequest(
        games=(game,), bots=tuple(bots), options=dict(options or {}), players=players, seed=seed, workers=workers,
        isolate=isolate,
    )  # fmt: skip
    expect_workers(workers)
    return analyse_game(request, installed_here(isolate), matches, search, quiet, softly=True)


def analyse_game(
    request: RunRequest, registry: Registry, matches: int, search: str, quiet: bool, softly: bool = False
) -> Analysis:
    """Play and measure the game of this request; `softly` is for notebooks, whose process continues after Ctrl-C."""
    if matches < 1:
        raise UsageError(f"An analysis needs at least 1 match, not {matches}.")
    setup = prepare(request, registry)
    [plan] = setup.plan.games
    rules = setup.games[plan.name]
    if plan.players < 2:
        raise UsageError("Luck and skill show in the results of at least two players.")
    seed = request.seed or 0
    search_name = ""
    if search:
        searcher = registry.entrant(search)
        if not searcher.plays(plan.name):
            raise UsageError(searcher.refusal(rules))
        search_name = searcher.name
        setup = replace(setup, entrants={**setup.entrants, search_name: searcher})
    design = _design(rules, plan.entrants, plan.players, matches, seed, search_name)
    records = _play(setup, design, request, quiet, softly)
    return _measured(rules, design, records, plan.entrants)


def _play(setup: RunSetup, design: _Design, request: RunRequest, quiet: bool, softly: bool) -> list[GameRecord]:
    """Play the design and return the records in schedule order: all, or those of complete deals after Ctrl-C."""
    warn_about_isolation(setup.entrants, request.isolate, quiet)
    total = design.matches + len(design.search_tables) * design.players
    played: dict[int, GameRecord] = {}
    with at_terminal("matches", total, quiet, request.workers, softly) as (stop, progress):
        executor = choose_executor(setup.roster, request.limits, request.workers, stop)
        progress.follow_executor(executor)
        with executor:
            for record, *_ in executor.run(Job(spec) for spec in design.specs()):
                played[record.index] = record
                progress.add_record(record)
        lost = executor.given_up
    if lost:
        raise UsageError(f"Workers were lost in {', '.join(lost[:3])}: play them with workers=0 to see why.")
    deals = 0
    while deals < design.deals and all(
        deals * design.matches_of_deal + at in played for at in range(design.matches_of_deal)
    ):
        deals += 1
    least = MIN_PART_DEALS if design.drawn else max(MIN_PART_DEALS, len(design.tables))
    if deals < min(design.deals, least):
        raise KeyboardInterrupt
    complete = deals * design.matches_of_deal
    for start in range(design.matches, total, design.players):
        if not all(start + turn in played for turn in range(design.players)):
            total = start  # the search bot has not sat in every seat of this deal
            break
    return [record for index, record in sorted(played.items()) if index < complete or design.matches <= index < total]


def _measured(game: Game[Any], design: _Design, records: Sequence[GameRecord], field: Sequence[str]) -> Analysis:
    of_field = [record for record in records if record.index < design.matches]
    of_search = records[len(of_field) :]
    deals = len(of_field) // design.matches_of_deal
    players = design.players
    plays: list[Play] = []
    counts = _Counts()
    for record in of_field:
        number, turn = divmod(record.index, players)
        if not turn:
            table = [[0.0] * players for _ in range(players)]
            plays.append(Play(number // design.plays_of_deal, design.plays[number], table))
        places = design.places(number, turn)
        for seat, share in enumerate(shares_ahead(record.ranks)):
            plays[-1].results[places[seat]][seat] = share - 0.5
            counts.add(record, seat, share, *plays[-1][:2])
    found = variance_shares(plays, design.drawn)
    shares = Shares(*[Estimate.of_interval(each) for each in found[1:]])
    spread = [BotLine(name, *counts.line(name, design.drawn)) for name in field if name in counts.rows]
    if of_search:
        spread = [line for line in spread if line.bot != design.search]
        spread.append(_search_line(design, of_search))
    bots = found.bots.value
    step = max(1, -(-len(of_field) // MAX_REPLAYED))
    chosen = of_field[::step]
    return Analysis(
        game=game.name,
        title=game.title,
        rules=game.version,
        options=dict(game.settings),
        players=players,
        bots=tuple(field),
        all_tables=not design.drawn,
        search=design.search if of_search else "",
        seed=design.seed,
        matches=len(records),
        deals=deals,
        tables=len({play.table for play in plays}),
        shares=shares,
        skill_matches=(1 - bots) / bots if bots > 0 else None,
        seats=tuple(SeatLine(seat, *counts.line(seat, design.drawn)[:3]) for seat in range(players)),
        spread=tuple(sorted(spread, key=lambda line: -line.ahead.value)),
        profile=profile_of(game, of_field, followed(chosen, "matches replayed", lambda: len(chosen))),
        faults=sum(len(record.failures) for record in records),
    )


def _search_line(design: _Design, records: Sequence[GameRecord]) -> BotLine:
    counts = _Counts()
    for record in records:
        number, turn = divmod(record.index, design.players)
        seat = design.places(number, turn).index(0)  # it is the first of its table
        counts.add(record, seat, shares_ahead(record.ranks)[seat], number, 0)
    return BotLine(design.search, *counts.line(design.search, drawn=False))


class _Counts:
    """Results of seats, and of the bots in them."""

    def __init__(self) -> None:
        self.rows: dict[str | int, list[tuple[float, float, float, int, int]]] = {}

    def add(self, record: GameRecord, seat: int, share: float, deal: int, table: int) -> None:
        wins = (record.ranks[seat] == 1) / max(1, record.ranks.count(1))
        for key in (seat, record.seats[seat]):
            self.rows.setdefault(key, []).append((share, wins, record.scores[seat], deal, table))

    def line(self, key: str | int, drawn: bool) -> tuple[Estimate, float, float, int]:
        """Return the share of the others that a seat or a bot finishes ahead of, its wins and mean score, and the
        number of its matches."""
        shares, wins, scores, deals, tables = zip(*self.rows[key], strict=True)
        ahead = Estimate.of_interval(mean_over_deals(shares, deals, tables if drawn else None))
        return ahead, fmean(wins), fmean(scores), len(shares)
