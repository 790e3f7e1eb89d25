"""arena learn-values."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.parameter_types import BOT, GAME
from harness.cli.shared import load_plugins, note, options_option, parse_options


@click.command("learn-values", short_help="Learn what positions of a game are worth, to take luck out of results.")
@click.argument("game", type=GAME)
@click.option(
    "--matches", type=click.IntRange(min=100), default=12_000, show_default=True, help="Matches to learn from."
)
@click.option(
    "--bot",
    "bots",
    type=BOT,
    multiple=True,
    help="Who plays them, several times. Default: the bots made for this game, and random.",
)
@click.option(
    "--players",
    type=click.IntRange(min=1),
    multiple=True,
    help="Seats at a table, several times. Default: all there may be.",
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

    The file is for --luck-adjusted, or for a game's package (docs/add-a-game.md). Needs numpy: pip install
    'arena-harness[learn]'.

    \b
    arena learn-values el-paso --bot random --bot diehard --bot skittish --out mine.json
    arena leaderboard my-run --luck-adjusted --values mine.json
    """
    from msgspec.json import encode
    from msgspec.json import format as laid_out

    from harness.core.errors import UsageError
    from harness.output.progress import Progress
    from harness.ratings.value_learning import learn
    from harness.runs.run_files import write_whole

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
    with Progress("matches", matches) as progress:
        function = learn(configured, entrants, sizes, matches, seed, progress.step)
    path = out or Path(f"{game}.json")
    write_whole(path, laid_out(encode(function), indent=0) + b"\n")
    note(
        f"{path}: value function {function.digest}, which explains {function.lesson.explained:.0%} of what could not "
        f"be expected before a match, in matches that it has not seen."
    )
