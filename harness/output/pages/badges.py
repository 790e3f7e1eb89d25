"""Badges of bots as JSON for shields.io's endpoint: the place in each game, and the best of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.output.display_names import file_name, visible
from harness.output.pages.bot_profile import Published, Row, newest_boards

FOLDER = "badges"
BETWEEN = "--"
"""Stands between the bot and the game in the name of a file."""
Badge = dict[str, str | int]


def badges(runs: Sequence[Published]) -> dict[str, Badge]:
    """The name of each file, without its ending, and what is in it. Places are those of the newest run of each game."""
    best: dict[str, tuple[float, str, Badge]] = {}
    found: dict[str, Badge] = {}
    for game, bot, row, field in _places(runs):
        found[game_badge_name(bot, game)] = _badge(visible(game), row, field)
        overall = (row["place"] / field, game, _badge("arena", row, field, f" in {visible(game)}"))
        best[bot] = min(best.get(bot, overall), overall, key=lambda one: one[:2])
    return found | {badge_name(bot): badge for bot, (_, _, badge) in best.items()}


def badge_name(bot: str) -> str:
    """The file of a bot's badge, without its ending; no other badge has it."""
    return file_name(f"{bot} " if BETWEEN in bot else bot)  # which is no plain name, so that a digest is added


def game_badge_name(bot: str, game: str) -> str:
    """The file of a bot's badge for a game, without its ending."""
    return f"{badge_name(bot)}{BETWEEN}{file_name(game)}"


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
