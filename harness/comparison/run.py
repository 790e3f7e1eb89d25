"""Create, play and describe runs that compare two bots, and the function harness.compare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace as replaced
from html import escape
from pathlib import Path
from typing import Any

from msgspec.structs import asdict, replace

from harness.api.matches import installed_here
from harness.api.runs import Run, called, enter_resumed, print_ending, refuse_fields
from harness.comparison import NOT_COMPARED
from harness.comparison.format import COMPARE, judges_of, verdicts
from harness.comparison.sampling_units import (
    MARGIN,
    MAX_MATCHES,
    PILOT_MATCHES,
    PILOT_PAIRS,
    WAYS,
    ComparisonSpec,
    Unit,
)
from harness.comparison.sequential_test import Verdict
from harness.core.errors import UnknownName, UsageError
from harness.core.game import Game
from harness.core.options import BotLimits, RunOptions, run_options
from harness.core.plan import Plan
from harness.core.records import Value
from harness.core.value_function import value_function_of
from harness.executors.base import expect_workers
from harness.output.leaderboard import write_leaderboard
from harness.output.progress import play_watched
from harness.output.text import print_lines
from harness.plugins.entrants import Entrant
from harness.plugins.registry import Registry, filler_bots
from harness.runs.monitor import FaultGroups
from harness.runs.request import BotLike, RunRequest
from harness.runs.resume import reopen
from harness.runs.scheduler import Schedule
from harness.runs.setup import RunSetup, bound_formats, info_for, prepare, run_folder, seeded
from harness.runs.store import RunFolder, find

# Luck adjustment: the plan of a comparison names the value function of each game by its digest.


def luck_setting(games: Iterable[Game[Any]]) -> str:
    """Return the option `luck` of the format `compare`: the installed value functions of these games.

    Raise UsageError if a game has no value function.
    """
    named = []
    for game in games:
        if not game.value_data():
            raise UsageError(
                f"{game.title} has no value function, and without one luck cannot be separated from skill; see "
                f"docs/add-a-game.md on how to make one.",
                fix="compare-luck",
            )
        named.append(f"{game.name}:{value_function_of(game, {}).digest}")
    return " ".join(named)


# A comparison is a run in the format `compare`, with one test for each game that both bots play.


def question_settings(margin: float | None, way: str | None, thorough: bool) -> dict[str, Value]:
    """Return the options of the format `compare` for these arguments; None stands for the default."""
    if way is not None and way not in WAYS:
        raise UnknownName("way to compare", way, WAYS)
    return {"margin": MARGIN if margin is None else margin, "way": way or "auto", "thorough": thorough}


def create_comparison(
    one: BotLike,
    other: BotLike,
    request: RunRequest,
    registry: Registry,
    command: str,
    settings: dict[str, Value],
    luck_adjusted: bool = False,
) -> tuple[RunFolder, RunSetup]:
    """Create a run folder for a comparison; return it with the setup of the run.

    `request.bots` are the other bots at the table, and `request.deals` is the maximum number of matches. `settings` are
    options of the format `compare`. With `luck_adjusted`, luck is removed from the results with the value functions
    of the games.
    """
    setup = prepare_comparison(one, other, request, registry, settings, luck_adjusted)
    folder = run_folder(Path(request.results), request.name)
    return RunFolder.create(folder, info_for(setup, command, asdict(request.limits))), setup


def prepare_comparison(
    one: BotLike,
    other: BotLike,
    request: RunRequest,
    registry: Registry,
    settings: dict[str, Value],
    luck_adjusted: bool = False,
) -> RunSetup:
    """Return the setup of a comparison in each game that both bots play.

    The bots of the request sit at the same table. If a game needs more players, installed bots fill the table.
    """
    entered = _entered(registry, one, other, request.bots)
    games = _games(registry, request.games, entered[:2])
    absent_one = 1 if settings.get("way") == "gauntlet" else 0  # the two bots take turns in one seat
    fillers = {}
    for name in games:
        there = [entrant.name for entrant in entered if entrant.plays(name)]
        lacking = max(0, registry.game(name).min_players + absent_one - len(there))
        fillers[name] = filler_bots(registry, name, lacking, {entrant.name for entrant in entered})
    house = tuple(dict.fromkeys(bot for bots in fillers.values() for bot in bots))
    bots = (one, other, *request.bots, *house)
    # The format `compare` rejects a plan whose tables are not final, so the format is set below, with the tables.
    setup = prepare(replace(request, games=tuple(games), bots=bots, players=None, format="round-robin"), registry)
    # Entrants keep the order of `bots`, but may have been renamed: the two compared bots are first, the fillers last.
    names = list(setup.entrants)
    named = dict(zip(house, names[len(names) - len(house) :], strict=True))
    plans = []
    for plan in setup.plan.games:
        absent = {named[bot] for bot in house if bot not in fillers[plan.name]}
        table = tuple(name for name in plan.entrants if name not in absent)
        game = setup.games[plan.name]
        players = len(table) - absent_one
        if players > game.max_players:
            raise UsageError(f"{game.title} is for at most {game.max_players} players, not {players}.")
        plans.append(replace(plan, players=players, entrants=table))
    if luck_adjusted:
        settings = {**settings, "luck": luck_setting(setup.games[plan.name] for plan in plans)}
    asked = replace(
        setup.plan, games=tuple(plans), format=COMPARE.name, settings=settings, candidates=(names[0], names[1])
    )
    return _scheduled(setup, asked, registry)


def _scheduled(setup: RunSetup, asked: Plan, registry: Registry) -> RunSetup:
    return replaced(setup, schedule=Schedule(asked, bound_formats(asked, lambda: setup.games, registry.formats)))


def _entered(registry: Registry, one: BotLike, other: BotLike, company: Iterable[BotLike]) -> list[Entrant]:
    """Return the entrants, the two compared bots first. Raise UsageError if `one` or `other` names several bots."""
    for bot in (one, other):
        registry.entrant(bot)
    # Entered together, because bots in files that have the same name are renamed.
    return registry.entrants([one, other, *company])


def _games(registry: Registry, asked: Iterable[str], pair: list[Entrant]) -> list[str]:
    """Return the requested games, or all games that both bots play if none is requested.

    Raise UsageError if one of the two does not play a requested game, or if they have no game in common.
    """
    for name in dict.fromkeys(asked):
        for bot in pair:
            if not bot.plays(registry.game(name).name):
                raise UsageError(bot.refusal(registry.game(name)))
    games = list(dict.fromkeys(asked)) or [name for name in sorted(registry.games) if all(b.plays(name) for b in pair)]
    if not games:
        raise UsageError(f"There is no game that both {pair[0].name} and {pair[1].name} play.")
    return games


def reopen_comparison(
    run: RunFolder, registry: Registry, force: bool = False, most: int | None = None, thorough: bool = False
) -> RunSetup:
    """Return the setup of a comparison to be continued: as it was requested, or with more matches.

    More matches may be requested after seeing the results: the test is valid at any time and for any reason to
    continue, as long as the sequence of matches stays the same. So nothing else of the comparison can be changed.
    """
    plan = run.info.plan
    if plan.format != COMPARE.name:
        raise UsageError(f"{run.folder} is not a comparison.", fix="resume-tournament", folder=str(run.folder))
    if most is not None and most < plan.deals:
        raise UsageError(
            f"{run.folder} has a limit of {plan.deals:,} matches: it can be raised, but not lowered to {most:,}.",
            fix="compare-most",
        )
    setup = reopen(run, registry, force)
    settings = plan.settings | ({"thorough": True} if thorough else {})
    asked = replace(plan, deals=plan.deals if most is None else most, settings=settings)
    if asked == plan:
        return setup
    run.extend(asked)
    return _scheduled(setup, asked, registry)


def play_comparison(
    run: RunFolder, setup: RunSetup, limits: BotLimits, request: RunRequest, quiet: bool, softly: bool = False
) -> tuple[bool, FaultGroups, list[Verdict]]:
    """Play the missing matches of a comparison and write its leaderboard.

    Return whether it is complete, the faults of its bots, and the verdicts. `softly` is for notebooks, whose process
    continues after Ctrl-C.
    """
    for game in () if quiet else setup.plan.games:
        print_lines([announcement(ComparisonSpec.from_plan(game, setup.plan))])
    complete, faults = play_watched(
        run, setup, limits, request.workers, quiet, request.on_cluster, softly, request.show_output
    )
    write_leaderboard(run)
    return complete, faults, verdicts(setup.plan, run.records(), judges_of(setup.plan, setup.games))


# Sentences about a comparison: what is played, and its verdict.


FEW_MATCHES = 50
"""With fewer matches than this, what the luck adjustment saves is not known well enough to be shown."""


def announcement(question: ComparisonSpec) -> str:
    """Return sentences that say what will be played."""
    one, other = question.one, question.other
    how = {
        "gauntlet": f"{one} and {other} take turns at one place of the same table, on the same deals.",
        "own-deals": "each match has its own deal.",
        "pairs": f"{one} and {other} play each deal twice, with their seats exchanged.",
        "auto": f"first a pilot of {PILOT_MATCHES} matches with separate deals, and {PILOT_PAIRS} deals played twice, "
        f"with {one} and {other} in exchanged seats; then whichever kind gives more information. All matches count.",
    }[question.way]
    luck = f" Results are adjusted for luck by the value function {question.luck}." if question.luck else ""
    return f"{question.game}: {how}{luck}"


def verdict_sentences(verdict: Verdict) -> Iterator[str]:
    """Yield sentences about the result of comparing two bots in one game."""
    question = verdict.question
    table = ", ".join((question.one, question.other, *question.company))
    units = " and ".join(_counted(count, *_NAMES[unit]) for unit, count in verdict.units.items())
    matches = "" if list(verdict.units) == ["match"] else f"{_counted(verdict.matches, 'match', 'matches')}: "
    yield f"{question.game} ({table}): {matches}{units}"
    yield verdict.sentence
    yield _how_much(verdict)
    if verdict.answer != "unknown":
        yield "Such an answer is wrong in at most 5 of 100 comparisons."
    if pilot := verdict.pilot:
        adjusted = ", adjusted for luck" if question.luck else ""
        kept = "so pairs were kept" if pilot.chosen == "pair" else "so each match got a separate deal"
        yield f"In the pilot each bot won once in {pilot.split} of {PILOT_PAIRS} pairs{adjusted}, {kept}."
    saved = verdict.luck_saved
    if saved is not None and verdict.matches >= FEW_MATCHES:
        worth = f"saves {saved:.0%} of the matches" if saved > 0 else f"costs {-saved:.0%} more matches"
        yield f"The adjustment for luck {worth}, by the variance of results."
    for name, count in sorted(verdict.faults.items()):
        yield f"{name} failed in {_counted(count, 'match', 'matches')}."


def _counted(count: int, one: str, several: str) -> str:
    return f"{count:,} {one if count == 1 else several}"


_NAMES: dict[Unit, tuple[str, str]] = {
    "match": ("match with a separate deal", "matches with separate deals"),
    "pair": ("pair with seats exchanged", "pairs with seats exchanged"),
    "turns": ("deal that each played in turn", "deals that each played in turn"),
}


def _how_much(verdict: Verdict) -> str:
    one, other = verdict.question.one, verdict.question.other
    if verdict.shares:
        mine, theirs = verdict.shares
        low, high = 200 * (verdict.low - 0.5), 200 * (verdict.high - 0.5)
        return (
            f"{one} finished ahead of {mine:.1%} of the others at the table, {other} of {theirs:.1%}: a difference of "
            f"{100 * (mine - theirs):+.1f} points (95% interval {low:+.1f} to {high:+.1f})."
        )
    interval = f"95% interval {verdict.low:.1%} to {verdict.high:.1%}"
    share = f"{one} finished ahead of {other} in {verdict.ahead:.1%} of the matches ({interval})"
    return (
        f"{share}." if verdict.as_played is None else f"{share}, adjusted for luck; {verdict.as_played:.1%} as played."
    )


# The function harness.compare.


MORE = run_options(RunOptions).keys() - {*NOT_COMPARED, "games", "options", "seed", "workers"}
"""Options of a run that `compare` accepts in `fields`; the last four are separate arguments."""

NOTHING_YET = "Nothing is finished yet: there is nothing to compare."


class Comparison(Sequence[Verdict]):
    """The verdicts on two bots, one for each game that both play. Its repr is the verdict in sentences.

    `run` is the run with the matches.
    """

    def __init__(self, verdicts: Sequence[Verdict], run: Run) -> None:
        self._verdicts = tuple(verdicts)
        self.run = run

    def __len__(self) -> int:
        return len(self._verdicts)

    def __getitem__(self, game: Any) -> Any:
        """Return the verdict of a game, by its name or its index."""
        if not isinstance(game, str):
            return self._verdicts[game]
        by_name = {verdict.question.game: verdict for verdict in self._verdicts}
        if game not in by_name:
            raise UnknownName("game of this comparison", game, by_name)
        return by_name[game]

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self._verdicts)

    def __repr__(self) -> str:
        return "\n\n".join("\n".join(verdict_sentences(verdict)) for verdict in self) or NOTHING_YET

    def _repr_html_(self) -> str:
        paragraphs = [f"<p>{'<br>'.join(map(escape, verdict_sentences(verdict)))}</p>" for verdict in self]
        return "".join(paragraphs) or f"<p>{NOTHING_YET}</p>"


def compare(
    one: BotLike | None = None,
    other: BotLike | None = None,
    *,
    games: Sequence[str] | str = (),
    bots: Sequence[BotLike] = (),
    options: Mapping[str, Value] | None = None,
    seed: int | None = None,
    most: int | None = None,
    margin: float | None = None,
    way: str | None = None,
    thorough: bool = False,
    luck_adjusted: bool = False,
    workers: int | None = None,
    resume: str | Path | None = None,
    force: bool = False,
    quiet: bool = False,
    **fields: Any,
) -> Comparison:
    """Play until it is known whether one bot is better than the other, or up to `most` matches (default: 6,000).

    The answer is "better", "worse", "equal" (within `margin`, default: 0.03) or "unknown". It is wrong in at most 5 of
    100 comparisons.

    `bots` are the other bots at the table; installed bots fill it if a game needs more players. `way` is "pairs" (each
    deal is played twice, with the seats of the two bots exchanged), "own-deals" (each match has its own deal), "auto"
    (the better of these two, chosen by a pilot), or "gauntlet" (the two take turns against the others and do not meet).
    `luck_adjusted` removes the effect of luck from each result. It needs fewer matches, but a tenth of a second for
    each, so it is useful for slow bots.

    The matches are saved as a run. `resume` continues it, if asked with more matches (`most`, `thorough`); pass bots
    that are classes or functions again. `fields` are `move_time`, `game_time`, `memory`, `isolate`, `name`, `results`
    and `strict`, as in RunRequest.

    Examples:
        >>> found = compare("outlaw", "random", games="el-paso", seed=7, workers=0)
        >>> found["el-paso"].answer, len(found.run)
        ('better', 9)
    """
    unknown = sorted(fields.keys() - MORE)
    if unknown:
        raise UnknownName("field of a comparison", unknown[0], MORE)
    limit, near = MAX_MATCHES if most is None else most, MARGIN if margin is None else margin
    if type(limit) is not int or limit < 1 or not 0 <= near < 0.5:
        raise UsageError(f"There is at least 1 match, and a margin from 0 to below 0.5; not {most!r} and {margin!r}.")
    settings = question_settings(margin, way, thorough)
    request = RunRequest(
        games=(games,) if isinstance(games, str) else tuple(games),
        bots=(bots,) if isinstance(bots, str) else tuple(bots),
        options=dict(options or {}),
        seed=seed,
        deals=limit,
        workers=workers,
        **fields,
    )
    expect_workers(0 if request.cluster else workers)
    registry = installed_here(request.isolate, request.strict)
    if resume is not None:
        fixed = {"games": games, "options": options, "seed": seed, "margin": margin}
        fixed |= {"way": way, "luck_adjusted": luck_adjusted, "name": fields.get("name")}
        again = [bot for bot in (one, other, *request.bots) if bot is not None]
        given = [name for name, value in fixed.items() if value is not None and value is not False and value != ()]
        refuse_fields([*given, *(repr(bot) for bot in again if isinstance(bot, str))])
        folder = RunFolder.open(find(Path(request.results), str(resume)))
        limits = enter_resumed(folder, registry, again, fields, force)
        setup = reopen_comparison(folder, registry, force, most, thorough)
    elif one is None or other is None:
        raise UsageError("Which two bots? Name both: compare(one, other).")
    else:
        request, limits = seeded(request), request.limits
        typed = {"margin": margin, "way": way, "thorough": thorough, "luck_adjusted": luck_adjusted}
        command = called(
            "compare", request, one=one, other=other, **{name: said for name, said in typed.items() if said}
        )
        folder, setup = create_comparison(one, other, request, registry, command, settings, luck_adjusted)
    complete, faults, found = play_comparison(folder, setup, limits, request, quiet, softly=True)
    print_ending("compare", folder, complete, faults, quiet)
    return Comparison(found, Run(folder, registry))
