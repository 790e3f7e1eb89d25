"""Sets up El Paso situations: chosen dice, chosen hands, moves by their text."""

from __future__ import annotations

from collections.abc import Mapping

from engines.el_paso import SITES, ElPaso, ElPasoState, Site
from engines.el_paso.values import replaced
from harness import Event
from tests.support.luck import RiggedChance

EMPTY = ((),) * 6
HARMLESS = ("brand", "brand", "six", "six", "six")
RAID = ("star",) * 5


def game(edition: str = "de", **options: object) -> ElPaso:
    return ElPaso.configure({"edition": edition, **options})


def table(
    players: int = 3,
    edition: str = "de",
    dice: Mapping[tuple[int, int], tuple[str, ...]] | None = None,
    seed: int = 1,
    order: Mapping[tuple[int, int], tuple[int, ...]] | None = None,
    log: list[Event] | None = None,
) -> ElPasoState:
    """A fresh game in which the dice of (town, round) and the drawing order are as given; else harmless dice."""
    rules = game(edition)
    faces = rules.figures.dice.faces
    rigged: dict[tuple[str | int, ...], object] = {
        ("dice", town, number): tuple(faces.index(face) for face in HARMLESS)
        for town in range(len(rules.figures.towns))
        for number in range(1, 30)
    }
    for (town, number), rolled in (dice or {}).items():
        rigged["dice", town, number] = tuple(faces.index(face) for face in rolled)
    for (town, number), seats in (order or {}).items():
        rigged["drawing order", town, number] = seats
    return rules.new(players, RiggedChance(rigged, seed), log)


def do(state: ElPasoState, *texts: str) -> None:
    """Makes these moves, each by whoever is on turn."""
    for text in texts:
        matching = [action for action in state.legal if action.text == text]
        assert matching, f"{text!r} is not legal for seat {state.seat}: {[a.text for a in state.legal]}"
        state.apply(matching[0])


def texts(state: ElPasoState) -> list[str]:
    return [action.text for action in state.legal]


def give_hand(state: ElPasoState, seat: int, *cards: tuple[Site, int]) -> None:
    """Puts these cards into a hand (all hidden from others) in place of what is there."""
    state.hands[seat] = tuple(tuple(sorted(value for site, value in cards if site == s)) for s in SITES)
    state.shown = replaced(state.shown, seat, tuple(tuple(0 for site, _ in cards if site == s) for s in SITES))
    if state.seat == seat and state.phase == "play":
        play = state.game.table.play
        state.legal = tuple(play[site][value] for site, values in enumerate(state.hands[seat]) for value in values)


def tiles(**by_name: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """`tiles(bank=(1, 4))` by site."""
    return tuple(tuple(sorted(by_name.get(site.name.lower(), ()))) for site in SITES)


def stock(state: ElPasoState, **by_name: tuple[int, ...]) -> None:
    """Replaces what is in town."""
    state.stacks = tiles(**by_name)


def draw_all(state: ElPasoState) -> None:
    """Everyone draws from the first pile there is."""
    while state.phase == "draw":
        state.apply(state.legal[0])


def play_round(state: ElPasoState) -> None:
    """Everyone in town lays their first card and draws."""
    while state.phase == "play":
        state.apply(state.legal[0])
    draw_all(state)


def stay_all(state: ElPasoState) -> None:
    while state.phase == "answer":
        do(state, "stay")


def sell_all(state: ElPasoState) -> None:
    while state.phase == "carry":
        do(state, "sell the rest")


def go_to_town(state: ElPasoState, town: int) -> None:
    """Everyone leaves each town as soon as the rules let them, selling everything."""
    while state.town < town:
        if state.phase == "play":
            play_round(state)
        elif state.phase == "answer":
            do(state, "leave")
        else:
            sell_all(state)
