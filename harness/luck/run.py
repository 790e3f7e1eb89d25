"""Luck-adjusted leaderboards of a run, and arena learn-values, which trains the value functions that they need."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import fsum
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import click
from msgspec.json import encode
from msgspec.json import format as laid_out

from harness.cli.options import BOT, GAME, load_plugins, note, options_option, parse_options
from harness.core.errors import StoreError, UsageError
from harness.core.files import MAX_TEXT_BYTES, UnreadableFile, read_regular_file, write_named_file
from harness.core.game import Game, State
from harness.core.records import GameRecord, ranks_of, shares_ahead
from harness.core.rng import Chance
from harness.core.tree_ensemble import DEPTH
from harness.core.value_function import (
    TrainingInfo,
    Tree,
    ValueFunction,
    Valuer,
    feature_rows,
    read_value_function,
    value_function_of,
)
from harness.executors.base import default_workers
from harness.luck.adjustment import ExpectedShares, RecordedChance, adjust_results, luck_by_phase
from harness.output.leaderboard import game_of
from harness.output.progress import shown_work
from harness.plugins.discovery import shown
from harness.plugins.entrants import Entrant
from harness.plugins.registry import Registry
from harness.ratings.counts import by_game
from harness.ratings.leaderboard import Leaderboard
from harness.runs.reader import GAMES, followed
from harness.runs.setup import configure_run
from harness.runs.standings import boards_of
from harness.runs.store import RunFolder

# Luck-adjusted leaderboards, from the records of a run.


def read_values(files: Sequence[Path]) -> dict[str, ValueFunction]:
    """Return the value functions in these files, by game. Raise StoreError if a file cannot be read."""
    functions = {}
    for path in files:
        try:
            function = read_value_function(read_regular_file(path, MAX_TEXT_BYTES), str(path))
        except UnreadableFile as error:
            raise StoreError(f"{path} cannot be read: {error}.") from error
        functions[function.game] = function
    return functions


def luck_adjusted_leaderboards(
    run: RunFolder,
    registry: Registry,
    records: Sequence[GameRecord],
    by: Callable[[GameRecord], str] = by_game,
    values: Sequence[Path] = (),
    *,
    whole: bool = True,
) -> list[Leaderboard]:
    """Return the leaderboards of these records of a run, with the effect of luck removed from skill.

    `values` are files with value functions that replace those of the games. `whole`
    says that the records are all records of their games.
    """
    played = {record.game for record in records}
    games = {name: game for name, game in configure_run(run, registry).items() if name in played}
    if foreign := sorted(map(shown, played - games.keys())):
        raise StoreError(f"{run.folder / GAMES} has records of {', '.join(foreign)}, which the run does not play.")
    given = read_values(values)
    functions = {name: value_function_of(game, given) for name, game in games.items()}
    shares = adjust_results(records, games, functions, default_workers())
    plain = boards_of(run, records, by, whole=whole)
    adjusted = boards_of(run, records, by, shares, whole=whole)
    return [
        replace(
            board, notes=[*board.notes, _note(before, board, functions[game], functions[game].mismatch(games[game]))]
        )
        for before, board in zip(plain, adjusted, strict=True)
        for game in [game_of(board)]
    ]


def _note(plain: Leaderboard, adjusted: Leaderboard, function: ValueFunction, caveat: str) -> str:
    """Return what the adjustment did, in sentences."""
    note = (
        "Luck-adjusted: skill, its interval and claims are without the effect of luck; everything else is as played. "
        f"Value function {function.digest} for {function.game}, learned from {function.lesson.matches:,} other matches."
    )
    factor = sample_size_factor(plain, adjusted)
    if factor is not None:
        gain = "The intervals are as narrow as" if factor > 1 else "It did not pay here: the intervals are"
        note += f" {gain} those of {factor:.2f} times as many matches."
    return f"{note} {caveat}".rstrip()


def sample_size_factor(plain: Leaderboard, adjusted: Leaderboard) -> float | None:
    """Return how many times as many matches would give equally narrow intervals without adjustment."""
    sigma = {one.bot: one.sigma for one in plain.standings}
    both = [(before, one.sigma) for one in adjusted.standings if (before := sigma[one.bot]) and one.sigma]
    after = fsum([adjusted**2 for _, adjusted in both])
    return fsum([before**2 for before, _ in both]) / after if after else None


# Training of a value function: play varied matches, record the features of each seat after random events, fit trees.
#
# Half of the bots sometimes choose an action at random, each at its own rate. So there are strong and weak bots of
# every kind, and positions that good play alone would never reach. Functions import numpy, which only training needs:
# it is an optional dependency and takes 0.1 s.


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Places = NDArray[np.int64]

SLIPS = (0.0, 0.0, 0.0, 0.05, 0.15, 0.4)
"""Rates of random actions. Each seat of a training match draws one of them."""
WARM_UP = 0.05
"""Share of matches, the first ones, that only serve to learn how strong the bots are."""
KEPT_APART = 0.1
"""Share of matches, the last ones, that are used for validation and not for training."""
A_MATCH = 10
"""Maximum number of positions taken from a match."""
LAST = 1
"""Number of these that are the last positions of the match: late luck decides much and occurs only once."""
TRIED = 60
"""Number of matches, the last ones, that are used to find the phases in which luck matters."""
PAYS = 0.01
"""A phase with less than this share of all luck is ignored: the gain is not worth the time to evaluate it."""
TREES = 160
RATE = 0.15
BINS = 48
"""Maximum number of bins into which the values of a feature are divided."""
PRIOR = 150.0
"""Regularization: each leaf is shrunk towards zero as if it had this number of additional positions with residual 0."""


class _Rows:
    """Training rows: the features of a seat, of which the last is its expected result, and its actual result."""

    def __init__(self) -> None:
        self.values, self.targets, self.width = array("d"), array("d"), 0

    def add(self, row: Sequence[float], target: float) -> None:
        self.values.extend(row)
        self.targets.append(target)
        self.width = len(row)


def learn(
    game: Game[Any],
    entrants: Sequence[Entrant],
    players: Sequence[int],
    matches: int,
    seed: int,
) -> ValueFunction:
    """Return a value function trained on this number of matches between these bots, which are played now.

    `players` are the table sizes, used in turn. Raise UsageError if numpy is not
    installed.
    """
    try:
        import numpy as np
    except ModuleNotFoundError as error:
        raise UsageError("Learning a value function needs numpy: pip install 'arena-harness[learn]'.") from error
    luck, expectations = Chance(seed), ExpectedShares()
    learned, apart, last = _Rows(), _Rows(), deque[tuple[GameRecord, list[float]]](maxlen=TRIED)
    for number in followed(range(matches), "matches", lambda: matches):
        rng = luck.rng("lesson", game.name, number)
        table = [(rng.choice(entrants), rng.choice(SLIPS)) for _ in range(players[number % len(players)])]
        positions, record = _play(game, table, luck.derive("match", game.name, number), rng)
        expected = expectations.expect_then_add(record)
        last.append((record, expected))
        if number >= WARM_UP * matches:
            rows = apart if number >= (1 - KEPT_APART) * matches else learned
            for position in positions:
                for row, share, result in zip(position, expected, shares_ahead(record.ranks), strict=True):
                    rows.add([*row, share], result)
    features = np.asarray(learned.values).reshape(-1, learned.width)
    trees = fit(features, np.asarray(learned.targets))
    lesson = TrainingInfo(tuple(entrant.name for entrant in entrants), tuple(players), matches, seed, 0.0)
    function = ValueFunction(game.name, game.version, dict(game.settings), learned.width, (), lesson, trees)
    valuer = Valuer(function)
    return function.with_validation(_explained(valuer, apart), _phases_that_matter(game, valuer, last))


def _play(
    game: Game[Any], table: Sequence[tuple[Entrant, float]], seed: int, rng: Random
) -> tuple[list[list[list[float]]], GameRecord]:
    """Play a match of these bots, each with its rate of random actions.

    Return the features of all seats in some positions after random events, and the record of the match.
    """
    luck = RecordedChance(seed)
    seeds = Chance(seed)
    bots = [entrant.seat(game, at, len(table), seeds.derive("bot", at)) for at, (entrant, _) in enumerate(table)]
    for bot in bots:
        bot.start()
    state = game.new(len(table), luck)
    noted: list[State[Any]] = []
    actions, decisions, unseen = [], [0] * len(table), -1
    while state.legal:
        if luck.fresh or state.unseen() != unseen:
            noted.append(state.clone())
            luck.mark_past()
        unseen, seat, legal = state.unseen(), state.seat, state.legal
        if len(legal) == 1:
            action = legal[0]
        elif rng.random() < table[seat][1]:
            action = rng.choice(legal)
        else:
            action = bots[seat].choose(state.view(seat), legal)
        if len(legal) > 1:  # records leave out forced actions
            actions.append(action.code)
            decisions[seat] += 1
        state.step(action)
    taken = noted[-LAST:] + rng.sample(noted[:-LAST], min(A_MATCH - LAST, len(noted[:-LAST])))
    scores = state.scores()
    record = GameRecord(
        id=f"lesson-{seed}",
        index=0,
        set="",
        game=game.name,
        rules=game.version,
        options=dict(game.settings),
        seed=seed,
        seats=tuple(f"{entrant.name}, {slips}" for entrant, slips in table),
        scores=scores,
        ranks=ranks_of(scores),
        ending=state.ending,
        actions=tuple(actions),
        decisions=tuple(decisions),
    )
    return [feature_rows(position) for position in taken], record


def _phases_that_matter(
    game: Game[Any], valuer: Valuer, matches: Iterable[tuple[GameRecord, Sequence[float]]]
) -> list[str]:
    """Return the phases whose share of the luck in these matches is more than PAYS."""
    squares: dict[str, float] = {}
    for record, expected in matches:
        for phase, luck in luck_by_phase(game, record, valuer, expected, alternatives=2).items():
            squares[phase] = squares.get(phase, 0.0) + fsum([mine * mine for mine in luck])
    return sorted(phase for phase, seen in squares.items() if seen > PAYS * fsum(squares.values()))


def _explained(valuer: Valuer, rows: _Rows) -> float:
    """Return the share of the variance around the expected results that the value function explains on these rows."""
    before = after = 0.0
    for place, target in enumerate(rows.targets):
        row = rows.values[place * rows.width : (place + 1) * rows.width]
        before += (target - row[-1]) ** 2
        after += (target - valuer.guess(row)) ** 2
    return 1 - after / before if before else 0.0


def fit(rows: Numbers, targets: Numbers) -> tuple[Tree, ...]:
    """Return boosted trees whose sum, added to the last feature of each row, approximates the targets."""
    import numpy as np

    cuts = [_cuts(rows[:, feature]) for feature in range(rows.shape[1])]
    binned = [np.searchsorted(cut, rows[:, feature]).astype(np.int64) for feature, cut in enumerate(cuts)]
    missing = targets - rows[:, -1]
    grown = []
    for _ in followed(range(TREES), "decision trees", lambda: TREES):
        asked: list[tuple[int, int]] = []
        leaf = np.zeros(len(targets), dtype=np.int64)
        for level in range(DEPTH):
            feature, cut = _best_question(binned, leaf, missing, level)
            asked.append((feature, cut))
            leaf += (binned[feature] > cut).astype(np.int64) << level
        counts = np.bincount(leaf, minlength=1 << DEPTH)
        leaves = np.round(RATE * np.bincount(leaf, missing, minlength=1 << DEPTH) / (counts + PRIOR), 5)
        missing = missing - leaves[leaf]
        grown.append(
            Tree(
                tuple(feature for feature, _ in asked),
                tuple(float(cuts[feature][cut]) for feature, cut in asked),
                tuple(leaves.tolist()),
            )
        )
    return tuple(grown)


def _cuts(values: Numbers) -> Numbers:
    """Return the possible thresholds for a feature: between its values, or between quantiles if it has many values."""
    import numpy as np

    different = np.unique(values)
    if len(different) > BINS:
        different = np.unique(np.quantile(values, np.linspace(0, 1, BINS + 1), method="nearest"))
    cuts: Numbers = np.round((different[:-1] + different[1:]) / 2, 6)
    return cuts


def _best_question(binned: Sequence[Places], leaf: Places, missing: Numbers, level: int) -> tuple[int, int]:
    """Return the feature and the threshold index with the largest gain, summed over all leaves.

    All leaves of a level share one comparison: that is the form of a TreeEnsemble.
    """
    import numpy as np

    leaves, best, found = 1 << level, -1.0, (0, 0)
    for feature, bins in enumerate(binned):
        width = int(bins.max()) + 1
        if width < 2:
            continue
        place = leaf * width + bins
        counts = np.bincount(place, minlength=leaves * width).reshape(leaves, width).cumsum(1)
        sums = np.bincount(place, missing, minlength=leaves * width).reshape(leaves, width).cumsum(1)
        low = sums[:, :-1] ** 2 / (counts[:, :-1] + PRIOR)
        high = (sums[:, -1:] - sums[:, :-1]) ** 2 / (counts[:, -1:] - counts[:, :-1] + PRIOR)
        gains = (low + high).sum(0)
        cut = int(gains.argmax())
        if gains[cut] > best:
            best, found = float(gains[cut]), (feature, cut)
    return found


# The command arena learn-values.


@click.command("learn-values")
@click.argument("game", type=GAME)
@click.option(
    "--matches", type=click.IntRange(min=100), default=12_000, show_default=True, help="Matches to learn from."
)
@click.option(
    "--bot",
    "bots",
    type=BOT,
    multiple=True,
    help="A bot that plays them; may be repeated. Default: the bots made for this game, and random.",
)
@click.option(
    "--players",
    type=click.IntRange(min=1),
    multiple=True,
    help="Bots at a table; may be repeated. Default: all numbers that the game allows.",
)
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="The luck of the matches.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where to write it. Default: GAME.json in this folder.",
)
@options_option
def command(
    game: str,
    matches: int,
    bots: tuple[str, ...],
    players: tuple[int, ...],
    seed: int,
    out: Path | None,
    options: tuple[str, ...],
) -> None:
    """Learn what positions of a GAME are worth, from matches that are played now, in this process.

    Use the file with --luck-adjusted, or ship it in the package of a game (docs/add-a-game.md). Needs numpy: pip
    install 'arena-harness[learn]'.

    \b
    arena learn-values el-paso --bot random --bot diehard --bot skittish --out mine.json
    arena leaderboard my-run --luck-adjusted --values mine.json
    """
    registry = load_plugins()
    configured = registry.game(game).configure(parse_options(options))
    made_for = sorted(name for name, offer in registry.bots.items() if game in offer.cls.games)
    entrants = registry.entrants(bots or [*made_for, "random"])
    sizes = players or tuple(range(configured.min_players, configured.max_players + 1))
    for size in sizes:
        if not configured.min_players <= size <= configured.max_players:
            raise UsageError(
                f"{configured.title} is for {configured.min_players} to {configured.max_players} players, not {size}."
            )
    with shown_work():
        function = learn(configured, entrants, sizes, matches, seed)
    path = out or Path(f"{game}.json")
    write_named_file(path, laid_out(encode(function), indent=0) + b"\n")
    note(
        f"{path}: value function {function.digest}. In matches that were not used for training it explains "
        f"{function.lesson.explained:.0%} of the variance that is left after the expected results of the bots."
    )
