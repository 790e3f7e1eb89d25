"""Play tournaments from Python, open recorded runs, and read their results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from harness.api.matches import Match, installed_here
from harness.core.bot import Bot
from harness.core.errors import UnknownName, UsageError
from harness.core.options import BotLimits, RunOptions, default_results, run_options
from harness.core.records import Fault, FaultKind, GameRecord, Isolation, Value
from harness.executors.base import SandboxLoader, expect_workers
from harness.match.faults import cause_of
from harness.output.columns import Fields, ScoreText
from harness.output.leaderboard import (
    leaderboard_tables,
    overall_tables,
    pairwise_table,
    seats_table,
    surprises_table,
    write_leaderboard,
)
from harness.output.matches import MatchTable
from harness.output.outcome import FormatResults, results_of, write_outcome
from harness.output.progress import plan_by_time, play_watched, shown_work
from harness.output.tables import Tables, text_of
from harness.output.text import calls, fault_lines, print_lines
from harness.plugins.entrants import BotEntry
from harness.plugins.features import CHECK_RUN_SIGNATURE, LUCK_ADJUSTED_LEADERBOARDS, SIGN_RUN, VERIFY_RUN, load_object
from harness.plugins.registry import Registry
from harness.ratings.leaderboard import Leaderboard
from harness.runs.merged import merge
from harness.runs.monitor import FaultGroups
from harness.runs.queries import MatchQuery, find_matches
from harness.runs.request import BotLike, RunRequest, instead
from harness.runs.resume import RunExtension, request_of_run, resume_run
from harness.runs.setup import create_run, formats_of, game_of, installed_games, prepare, resumed_limits, seeded
from harness.runs.standings import boards_of
from harness.runs.store import RunFolder, RunInfo, find

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]  # likewise in skill_update.py

    from harness.ask.answers import Asked
    from harness.verify.records import Findings
    from harness.verify.signing import Signature, SignatureFinding


MAY_CHANGE = {"bots", "cluster", "results", "ship", "show_output", "strict", "workers"}
"""Fields that may be given with `resume`, besides limits: how to play the run, and classes for names of its bots."""
MAY_GROW = {"candidates", "deals", "format"}
"""Fields that extend a resumed run, besides bots."""


@dataclass(frozen=True, slots=True)
class RecordedFault:
    """A fault of a bot: the match, the decision, the kind of fault and the error message."""

    match: str
    bot: str
    kind: FaultKind
    decision: int
    detail: str
    phase: str = ""
    """The phase of the game at that decision, as the game names it."""

    @property
    def cause(self) -> str:
        """The cause in a few words: exception and line, phase of an illegal action, or how the process ended."""
        return cause_of(Fault(0, self.kind, self.decision, self.detail, self.phase))


class Run:
    """A recorded run. Iterating over it yields its records in the order in which they were written.

    Its repr, and its display in a notebook, is the leaderboard.
    """

    def __init__(self, folder: RunFolder, registry: Registry) -> None:
        self._folder, self._registry = folder, registry
        self._fitted: tuple[int, list[Leaderboard]] = (-1, [])

    @property
    def folder(self) -> Path:
        """The folder of the run."""
        return self._folder.folder

    @property
    def info(self) -> RunInfo:
        """The contents of run.json: what was requested, the versions that played, and the machine."""
        return self._folder.info

    @property
    def complete(self) -> bool:
        """Whether all scheduled matches were played; if not, `tournament(resume=run.folder)` plays the others."""
        return bool(self.info.finished)

    @property
    def warnings(self) -> list[str]:
        """Warnings about the records: lost workers, truncated lines."""
        return list(dict.fromkeys(self._folder.warnings))

    def __iter__(self) -> Iterator[GameRecord]:
        return self._folder.records()

    def __len__(self) -> int:
        return sum(1 for _ in self._folder.results())

    def leaderboard(
        self,
        columns: Sequence[str] = (),
        wide: bool = False,
        luck_adjusted: bool = False,
        values: Sequence[str | Path] = (),
    ) -> Tables:
        """Return the leaderboards: a table for each game, and one over all games if there are several.

        They are shown with the columns that fit the screen, with the given `columns`, or with all of them if `wide`.
        Rows also have the columns that do not fit: place, best place, worst place, bot, skill, skill low, skill high,
        beats, matches, faults, wins, mean score, ms/decision, mean rank, sigma and cautious (mu - 3 sigma).

        With `luck_adjusted`, the effect of luck is removed from `skill`, which makes its intervals narrower. `values`
        are files written by `arena learn-values`, for games without a value function.
        """
        boards = self._boards()
        if luck_adjusted:
            with shown_work():
                boards = load_object(LUCK_ADJUSTED_LEADERBOARDS)(
                    self._folder, self._registry, list(self), values=[Path(file) for file in values]
                )
        tables = leaderboard_tables(boards, columns, self._score_texts(), entrants=self.info.entrants)
        return Tables(tables, wide=wide or bool(columns))

    def table(self, table_format: str = "simple", columns: Sequence[str] = (), wide: bool = False) -> str:
        """Return the leaderboards as text: "github", "csv", "json", "html", "latex" ...; "simple" is as displayed."""
        if table_format == "simple":
            return repr(self.leaderboard(columns, wide))
        over_all, entrants = table_format != "csv", self.info.entrants
        tables = leaderboard_tables(self._boards(), columns, over_all=over_all, entrants=entrants)
        return text_of(tables, table_format)

    def games(self) -> Tables:
        """Return the places of each bot in each game, and the overall order of the bots that play every game."""
        return Tables(overall_tables(self._boards()))

    def request(self) -> RunRequest:
        """Return the request that plays this run again, with the same seed; its `save` method writes it to a file.

        Raise UsageError if a bot was a class or a function that is not in a file.

        Examples:
            >>> run = tournament("el-paso", ["outlaw", "random"], deals=1, seed=7, workers=0)
            >>> again = tournament(request=run.request(), workers=0)
            >>> again.info.plan == run.info.plan
            True
        """
        return request_of_run(self._one(), self._registry)[0]

    def pairs(self) -> Tables:
        """Return how often each bot finishes ahead of each other bot."""
        return Tables(pairwise_table(board) for board in self._boards())

    def surprises(self) -> Tables:
        """Return the pairs of bots whose results differ most from what their skills predict."""
        return Tables(surprises_table(board) for board in self._boards())

    def seats(self) -> Tables:
        """Return the advantage of each seat."""
        return Tables(seats_table(board) for board in self._boards())

    def outcome(self) -> FormatResults:
        """Return the result of the format itself, or of what was played so far if the run is not complete.

        A swiss has a standing, a knockout a bracket, and a gauntlet the differences between its candidates.

        Examples:
            >>> bots = ["outlaw", "diehard", "random"]
            >>> run = tournament("el-paso", bots, players=2, format="swiss", deals=2, seed=7, workers=0)
            >>> run.outcome()["el-paso"].standing[0]
            'outlaw'
        """
        return results_of(self._folder, formats_of(self._folder, self._registry))

    def _score_texts(self) -> dict[str, ScoreText]:
        games, _ = installed_games(self._folder, self._registry)
        return {name: game.score_text for name, game in games.items()}

    def _one(self) -> RunFolder:
        """Return the folder of the run; raise UsageError for several runs that are read as one."""
        if self._folder.merged:
            raise UsageError("That can be done with one run at a time: open it alone.")
        return self._folder

    def _boards(self) -> list[Leaderboard]:
        """Return the leaderboards, computed again only if there are new records: fitting skills takes time."""
        size = self._folder.size()
        if self._fitted[0] != size:
            self._fitted = size, boards_of(self._folder)
        return self._fitted[1]

    def to_pandas(self) -> pd.DataFrame:
        """Return the results as a DataFrame with a row for each seat of each match (needs pandas)."""
        try:
            import pandas as pd
        except ModuleNotFoundError as error:
            raise UsageError("This needs pandas: pip install 'arena-harness[notebook]'.") from error
        return pd.DataFrame(list(self._lines()))

    def _lines(self) -> Iterator[Fields]:
        for record in self._folder.results():
            failed = {fault.seat: fault.kind for fault in record.faults}
            for seat, bot in enumerate(record.seats):
                yield {
                    "match": record.id,
                    "game": record.game,
                    "set": record.set,
                    "seed": record.seed,
                    "seat": seat,
                    "bot": bot,
                    "score": record.scores[seat],
                    "rank": record.ranks[seat],
                    "decisions": record.decisions[seat],
                    "time": record.time[seat] if record.time else None,
                    "fault": failed.get(seat),
                }

    def faults(self) -> list[RecordedFault]:
        """Return all faults of bots. Disqualified bots are in `fault_groups().disqualified` instead."""
        return [
            RecordedFault(record.id, record.seats[fault.seat], fault.kind, fault.decision, fault.detail, fault.phase)
            for record in self._folder.results()
            for fault in record.failures
        ]

    def fault_groups(self) -> FaultGroups:
        """Return the faults grouped by cause, starting with the bot that failed most often."""
        found = FaultGroups()
        for record in self._folder.results():
            found.add(record)
        return found

    def matches(self, bot: str = "", **asked: Any) -> MatchTable:
        """Return the matches that fit all conditions, as a table.

        Conditions are `bot`, `game`, `won`, `lost`, `close` and `faults`. `sort` is "schedule", "margin", "length",
        "score" or "time"; `reverse` and `limit` apply after it.

        Examples:
            >>> run = tournament("el-paso", ["outlaw", "random"], deals=3, seed=7, workers=0)
            >>> [(one.match, one.margin) for one in run.matches("random", close=True)]
            [('el-paso-2.1.2', 41), ('el-paso-3.1.1', 41)]
        """
        unknown = sorted(set(asked) - set(MatchQuery.__struct_fields__))
        if unknown:
            raise UnknownName("condition for matches", unknown[0], MatchQuery.__struct_fields__)
        return MatchTable(find_matches(self._folder, MatchQuery(bot=bot, **asked)), self._score_texts())

    def replay(self, match: str | int) -> Match:
        """Return a match by its id, or by its position in the schedule."""
        record = self._folder.record(match)
        game = game_of(self._folder, self._registry, record)
        return Match(game, record, self._folder.notes(record.id))

    def ask(self, bot: BotLike, match: str | int, **wanted: Any) -> Asked:
        """Ask a bot about decisions of a match and return its answers; `wanted` are arguments of `Match.ask`."""
        return self.replay(match).ask(bot, **wanted)

    def verify(
        self,
        sample: int | None = None,
        bots: bool | Sequence[BotLike] = False,
        isolate: Isolation = "on",
        workers: int | None = None,
    ) -> Findings:
        """Replay the records by the rules, or about `sample` of them, and return the problems that were found.

        With `bots`, the bots are also asked again, isolated as `isolate` says; the result is in `.bots`. Give bots that
        are classes or functions again, as a list; they can be asked only with `isolate="off"`.
        """
        registry = installed_here(isolate) if bots else self._registry
        for bot in () if isinstance(bots, bool) else bots:
            registry.enter_as_installed(bot)
        found: Findings = load_object(VERIFY_RUN)(self._one(), registry, sample, bool(bots), isolate, workers)
        return found

    def sign(self, key: str | Path | None = None) -> Signature:
        """Sign the run with the key in this file, by default your own; `arena sign --new-key` creates one."""
        signature: Signature = load_object(SIGN_RUN)(self._one(), key)
        return signature

    def signature(self, trusted: Sequence[str] = ()) -> SignatureFinding:
        """Return the key that signed the run, and whether the run has changed since.

        `trusted` are public keys, or files with them; a signature by any other key is then not accepted.
        """
        found: SignatureFinding = load_object(CHECK_RUN_SIGNATURE)(self._one(), trusted)
        return found

    def __repr__(self) -> str:
        return f"{self.table()}\n\n{self.folder}{'' if self.complete else ' (not complete)'}"

    def _repr_html_(self) -> str:
        return self.leaderboard()._repr_html_()


def tournament(
    games: Sequence[str] | str = (),
    bots: Sequence[BotLike] = (),
    *,
    deals: int | None = None,
    workers: int | None = None,
    options: Mapping[str, Value] | None = None,
    request: RunRequest | None = None,
    resume: str | Path | None = None,
    force: bool = False,
    quiet: bool = False,
    **fields: Any,
) -> Run:
    """Play a tournament, record every match in a folder, and return the run.

    `bots` are names, classes, or functions `(view, actions) -> action`. `fields` are those of RunRequest: `seed`,
    `format`, `players`, `name`, `results`, `move_time` ... Arguments take precedence over the fields of a `request`.
    Instead of `deals`, give a time (`for_="2h"`) or the matches that each bot plays (`matches_each=100`).

    `resume` continues the run in that folder; give bots that are classes or functions again. More `deals`, or `bots`
    that the run does not have, extend it if its format allows that.

    Examples:
        >>> run = tournament("el-paso", ["outlaw", "diehard", "random"], deals=2, seed=7, workers=0)
        >>> len(run), run.complete
        (6, True)
        >>> run.leaderboard()["el-paso"].rows[0]["bot"]
        'outlaw'
    """
    given = {"deals": deals, "workers": workers, "options": options, **fields}
    # None is "not given": a request, or the default of RunRequest, then decides.
    fields = {name: value for name, value in given.items() if value is not None}
    fields |= {"games": _several(games)} if games else {}
    fields |= {"bots": _several(bots)} if bots else {}
    unknown = sorted(fields.keys() - run_options(RunRequest))
    if unknown:
        raise UnknownName("field of a run", unknown[0], run_options(RunRequest))
    asked = replace(request, **instead(fields)) if request else RunRequest(**fields)
    # Early, so that the fork server starts up while plugins are being loaded.
    expect_workers(0 if asked.cluster else asked.workers)
    registry = installed_here(asked.isolate, asked.strict)
    if resume is None:
        asked = seeded(asked)
        asked, setup = plan_by_time(asked, prepare(asked, registry), quiet, softly=True)
        folder = create_run(asked, setup, called("tournament", asked))
        limits = asked.limits
    else:
        # Limits are not refused here: `resumed_limits` compares them with those of the run.
        fixed = fields.keys() - MAY_CHANGE - MAY_GROW - run_options(BotLimits).keys()
        refuse_fields([*sorted(fixed), *(["request"] if request else [])])
        folder = RunFolder.open(find(Path(asked.results), str(resume)))
        again, late = _again_or_late(folder.info, asked.bots, registry)
        limits = enter_resumed(folder, registry, again, fields, force)
        more = RunExtension(bots=late, **{name: fields[name] for name in MAY_GROW & fields.keys()})
        setup, sentences = resume_run(folder, registry, more, called("tournament", asked, resume=str(resume)), force)
        print_lines(() if quiet else sentences)
    complete, faults = play_watched(
        folder, setup, limits, asked.workers, quiet, asked.on_cluster, softly=True, show_output=asked.show_output
    )
    write_leaderboard(folder)
    write_outcome(folder, setup.schedule)
    print_ending("tournament", folder, complete, faults, quiet)
    return Run(folder, registry)


def _again_or_late(
    info: RunInfo, bots: Sequence[BotLike], registry: Registry
) -> tuple[list[BotLike], tuple[BotLike, ...]]:
    """Split the bots of a resumed run: classes and functions for names that it has, and bots that are new to it."""
    known = {entrant.ref.bot for entrant in info.entrants if not entrant.ref.place}
    again: list[BotLike] = []
    late: list[BotLike] = []
    for bot in bots:
        plain = bot.bot if isinstance(bot, BotEntry) else bot
        # A name or a file can be entered from run.json alone. A class or function of a notebook must be given again,
        # and looks like a new bot until its name is found in the run.
        is_text = isinstance(plain[1] if isinstance(plain, tuple) else plain, str)
        if is_text or registry.entrant(plain).name not in known:
            late.append(bot)
        else:
            again.append(plain)
    return again, tuple(late)


def _several(given: Any) -> tuple[Any, ...]:
    """Return one value, a list, or the items of a mapping as a tuple."""
    if isinstance(given, Mapping):
        return tuple(given.items())
    return tuple(given) if isinstance(given, list | tuple) else (given,)


def called(function: str, asked: RunRequest, **more: Any) -> str:
    """Return the call as text for run.json; bots that are classes or functions are shown by their names."""
    plain, names = RunRequest(), run_options(RunOptions)
    given = more | {name: getattr(asked, name) for name in names if getattr(asked, name) != getattr(plain, name)}
    shown = [
        f"{name}=[{', '.join(map(_named, value))}]" if name in ("bots", "candidates") else f"{name}={_named(value)}"
        for name, value in given.items()
    ]
    return f"harness.{function}({', '.join(shown)})"


def _named(value: Any) -> str:
    if isinstance(value, BotEntry):
        return f"BotEntry({_named(value.bot)}, {value.team!r}, {value.author!r})"
    if isinstance(value, tuple) and len(value) == 2:
        return f"({value[0]!r}, {_named(value[1])})"
    if isinstance(value, Bot):
        return type(value).__name__
    return value.__name__ if callable(value) else repr(value)


def refuse_fields(names: Sequence[str]) -> None:
    """Raise UsageError if any fields are named: a resumed run keeps the values it was started with."""
    if names:
        raise UsageError(f"A run is continued with its own options; leave out {', '.join(names)}.")


def enter_resumed(
    run: RunFolder, registry: Registry, bots: Sequence[BotLike], given: Mapping[str, Any], force: bool
) -> BotLimits:
    """Register the classes and functions of a resumed run, and return its limits with those `given` now."""
    for bot in bots:
        registry.enter_as_installed(bot)
    limits = resumed_limits(run, {name: given[name] for name in run_options(BotLimits) if name in given}, force)
    registry.outside = SandboxLoader(limits.isolate)
    return limits


def print_ending(function: str, run: RunFolder, complete: bool, faults: FaultGroups, quiet: bool) -> None:
    """Print the faults of a run and, if it is not complete, how to continue it with this function."""
    if not quiet:
        print_lines(fault_lines(faults, calls))
    if not complete:
        print_lines([f"Not complete. Continue with: harness.{function}(resume={str(run.folder)!r})"])


def open_run(path: str | Path, *more: str | Path, results: str | Path | None = None) -> Run:
    """Return a recorded run, by its folder or by its name under `results`.

    `results` is by default the folder in ARENA_RESULTS, or "results". With `more` runs, all are read and rated as one:
    they must have the same rules and bots, or be parts of one run. A match that is in two of them counts once.

    Examples:
        >>> played = tournament("el-paso", ["skittish", "random"], deals=1, seed=7, workers=0, name="first")
        >>> open_run("first").table("csv") == played.table("csv")
        True
    """
    where = Path(results or default_results())
    return Run(merge([RunFolder.open(find(where, str(each))) for each in (path, *more)]), installed_here())
