"""Finding matches in a run: those of a bot, those it lost, close ones, those with faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from heapq import nsmallest
from math import ceil, inf

from msgspec import Struct

from harness.core.errors import UnknownName, UsageError
from harness.core.records import FaultKind, GameRecord
from harness.match.faults import cause_of
from harness.runs.store import RunFolder

CLOSE = 0.1
"""The share of a game's matches that counts as close: those with the smallest margins."""

Key = Callable[[GameRecord], float]


class MatchQuery(Struct, frozen=True, kw_only=True):
    """Which matches to find; all conditions must hold."""

    bot: str = ""
    """A bot at the table: its name on the leaderboard, or what was typed to enter it."""
    game: str = ""
    won: bool = False
    """The bot came first, alone or shared."""
    lost: bool = False
    """The bot did not come first."""
    faults: bool = False
    """The bot failed; without a bot, any bot did."""
    close: bool = False
    """The match is among the tenth with the smallest margins between first and second, or between the bot and the best
    of the others."""
    sort: str = ""
    """One of SORTS; by default schedule order, for close matches the margin."""
    reverse: bool = False
    limit: int = 0
    """Maximum number of matches; 0 is all."""


class MatchFault(Struct, frozen=True):
    """A bot failed in a match, or was disqualified before it."""

    bot: str
    seat: int
    kind: FaultKind
    cause: str
    decision: int


class MatchLine(Struct, frozen=True):
    """One match in a list."""

    match: str
    game: str
    seats: tuple[str, ...]
    scores: tuple[int, ...]
    ranks: tuple[int, ...]
    margin: int | None
    """Points between first and second, or between the bot of the query and the best of the others; None if all others
    failed."""
    decisions: int
    seconds: float
    """Thinking time of all bots, or of the bot of the query."""
    ending: str
    faults: tuple[MatchFault, ...]

    @property
    def winners(self) -> tuple[str, ...]:
        """The bots that came first; several if they share the place."""
        return tuple([bot for bot, rank in zip(self.seats, self.ranks, strict=True) if rank == 1])


class FoundMatches:
    """Matches that fit a query, in its order and up to its limit; `total` is their number without the limit."""

    def __init__(self, asked: _Asked, results: list[GameRecord], total: int) -> None:
        self.total, self._asked, self._results = total, asked, results

    def __len__(self) -> int:
        return len(self._results)

    def __iter__(self) -> Iterator[MatchLine]:
        return map(self._asked.line, self._results)


def find_matches(run: RunFolder, query: MatchQuery) -> FoundMatches:
    """Return the matches that fit; only those are held in memory."""
    asked = _Asked(run, query)
    # For close matches, a first pass over the records finds the largest margin of each game that counts as close.
    close = _close_margins(run.results(), asked) if query.close else None
    total = 0

    def fitting() -> Iterator[GameRecord]:
        nonlocal total
        for result in run.results():
            if asked.fits(result, close):
                total += 1
                yield result

    key = asked.key()
    found = nsmallest(query.limit, fitting(), key) if query.limit else sorted(fitting(), key=key)
    return FoundMatches(asked, found, total)


class _Asked:
    """A query about one run; raises UsageError for unknown names and contradictory conditions."""

    def __init__(self, run: RunFolder, query: MatchQuery) -> None:
        self.query = query
        self.bot = _known_bot(run, query.bot) if query.bot else ""
        games = [plan.name for plan in run.info.plan.games]
        if query.game and query.game not in games:
            raise UnknownName("game of this run", query.game, games)
        if query.sort and query.sort not in SORTS:
            raise UnknownName("order of matches", query.sort, SORTS)
        if query.won and query.lost:
            raise UsageError("No match is both won and lost by a bot; ask for one of them.")
        if (query.won or query.lost) and not self.bot:
            raise UsageError(f"Matches {'won' if query.won else 'lost'} by which bot?", fix="which-bot")

    def concerns(self, result: GameRecord) -> bool:
        """Return whether it is a match of the game and the bot."""
        return self.query.game in ("", result.game) and (not self.bot or self.bot in result.seats)

    def fits(self, result: GameRecord, close: dict[str, int] | None) -> bool:
        """Return whether all conditions hold; `close` is the largest close margin of each game."""
        query = self.query
        if not self.concerns(result):
            return False
        if query.faults and not any(self.bot in ("", result.seats[fault.seat]) for fault in result.failures):
            return False
        if query.won or query.lost:
            best = [name for name, rank in zip(result.seats, result.ranks, strict=True) if rank == 1]
            if (self.bot in best) != query.won:
                return False
        if close is None:
            return True
        margin = self.margin(result)
        return margin is not None and margin <= close[result.game]

    def margin(self, result: GameRecord) -> int | None:
        """Return the points between the bot and the best of the others, or between first and second.

        Seats that failed do not count.
        """
        if not (result.faults or self.bot):
            best = sorted(result.scores)[-2:]
            return best[1] - best[0] if len(best) == 2 else None
        # A bot that failed was replaced by random actions: its score says nothing about how close the match was.
        failed = {fault.seat for fault in result.faults}
        scores = [(score, seat) for seat, score in enumerate(result.scores) if seat not in failed]
        ours = max((one for one in scores if self.bot in ("", result.seats[one[1]])), default=None)
        # Pairs of score and seat, so that an equal score of another seat is not taken for ours.
        theirs = max((one for one in scores if one != ours), default=None)
        return abs(ours[0] - theirs[0]) if ours and theirs else None

    def seconds(self, result: GameRecord) -> float:
        """Return the thinking time of the bot, or of all bots."""
        return sum([spent for name, spent in zip(result.seats, result.time, strict=False) if self.bot in ("", name)])

    def score(self, result: GameRecord) -> int:
        """Return the score of the bot, or of the winner."""
        seats = zip(result.seats, result.scores, result.ranks, strict=True)
        return max(score for name, score, rank in seats if (name == self.bot if self.bot else rank == 1))

    def key(self) -> Callable[[GameRecord], tuple[float, int]]:
        """Return the sort key; schedule order breaks ties."""
        by = SORTS[self.query.sort or ("margin" if self.query.close else "schedule")](self)
        # Negated keys instead of `reverse=True`: nsmallest has no such argument.
        sign = -1 if self.query.reverse else 1
        return lambda result: (sign * by(result), sign * result.index)

    def line(self, result: GameRecord) -> MatchLine:
        """Return the match as it is listed."""
        return MatchLine(
            match=result.id,
            game=result.game,
            seats=result.seats,
            scores=result.scores,
            ranks=result.ranks,
            margin=self.margin(result),
            decisions=sum(result.decisions),
            seconds=round(self.seconds(result), 6),
            ending=result.ending,
            faults=tuple(
                [MatchFault(result.seats[f.seat], f.seat, f.kind, cause_of(f), f.decision) for f in result.faults]
            ),
        )


SORTS: dict[str, Callable[[_Asked], Key]] = {
    "schedule": lambda _asked: lambda result: result.index,
    "margin": lambda asked: lambda result: inf if (margin := asked.margin(result)) is None else margin,
    "length": lambda _asked: lambda result: -sum(result.decisions),
    "score": lambda asked: lambda result: -asked.score(result),
    "time": lambda asked: lambda result: -asked.seconds(result),
}
"""Schedule order, smallest margin, most decisions, highest score, or longest thinking time first."""


def _known_bot(run: RunFolder, wanted: str) -> str:
    """Return the name of an entrant, given by its name or by what was typed to enter it (`sprinter.py`)."""
    names = [entrant.name for entrant in run.info.entrants]
    if wanted in names:
        return wanted
    typed = [
        entrant.name
        for entrant in run.info.entrants
        if wanted in (entrant.spec, str(replace(entrant.ref, bot="", options="")))
    ]
    if len(typed) == 1:
        return typed[0]
    raise UnknownName("bot of this run", wanted, names)


def _close_margins(results: Iterable[GameRecord], asked: _Asked) -> dict[str, int]:
    """Return the largest close margin of each game."""
    margins: dict[str, Counter[int]] = {}
    for result in results:
        if asked.concerns(result) and (margin := asked.margin(result)) is not None:
            margins.setdefault(result.game, Counter())[margin] += 1
    return {game: _quantile(counts, CLOSE) for game, counts in margins.items()}


def _quantile(counts: Counter[int], share: float) -> int:
    """Return the smallest value that at least this share of all values does not exceed."""
    wanted = ceil(share * counts.total())
    for value in sorted(counts):
        wanted -= counts[value]
        if wanted <= 0:
            break
    return value
