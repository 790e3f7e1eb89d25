"""The deal, opening a town, closing it, and the last sale."""

# mypyc compiles this module: functions of typed values only; structs are in interpreted modules (core/compiled.py).

from __future__ import annotations

from typing import TYPE_CHECKING

from engines.el_paso.components import SITES
from engines.el_paso.values import NOTHING, BySite, at_site, merge, put, replaced
from harness import Event

if TYPE_CHECKING:
    from engines.el_paso.state import ElPasoState


def deal(state: ElPasoState) -> None:
    """EP-5: shuffle each site's cards; from each pile seat 0 takes the top one, seat 1 the next, and so on."""
    values = state.rules.figures.cards.values
    piles = [tuple(state.chance.shuffled(values, "pile", site.name.lower())) for site in SITES]
    n = state.players
    state.hands = [tuple([(pile[seat],) for pile in piles]) for seat in range(n)]
    state.shown = (((0,),) * 6,) * n
    state.laid = [None] * n
    state.piles = [pile[n:] for pile in piles]
    state.faces = tuple([(0,) * len(pile) for pile in state.piles])
    state.discards = NOTHING
    if state.log is not None:
        for site, pile in zip(SITES, piles, strict=True):
            state.log.append(Event("pile", {"site": site, "order": list(pile)}, to=()))
        for seat, hand in enumerate(state.hands):
            cards = [[site, value] for site, values in enumerate(hand) for value in values]
            state.log.append(Event("hand", {"seat": seat, "cards": cards}, to=(seat,)))


def open_town(state: ElPasoState) -> bool:
    """EP-7, EP-8: stock the town from the bag; whether there is anything to plunder."""
    state.round = state.stars = state.groups = state.limit = 0
    state.roll = state.leaving = state.queue = ()
    state.left = (0,) * state.players
    state.played = (None,) * state.players
    state.carried = NOTHING
    state.choosable = ()
    state.stacks = NOTHING
    kinds, in_bag = state.rules.kinds, _count_bag(state)
    drawn = _draw_tiles(state, in_bag)
    sites = state.rules.sites_of[state.town]
    stacks: list[list[int]] = [[] for _ in state.bag]
    for kind in drawn:
        site, value = kinds[kind]
        if site in sites:
            in_bag[kind] = in_bag[kind] - 1  # compiled, `-=` on an item is slower
            stacks[site].append(value)
    bag: list[list[int]] = [[] for _ in state.bag]
    for kind, (site, value) in enumerate(kinds):
        for _ in range(in_bag[kind]):
            bag[site].append(value)
    state.bag = tuple([tuple(values) for values in bag])
    state.stacks = tuple([tuple(sorted(values)) for values in stacks])
    if state.log is not None:
        town = state.rules.figures.towns[state.town]
        state.log.append(
            Event(
                "town",
                {
                    "town": state.town,
                    "name": town.name,
                    "rate": town.rate,
                    "sites": sorted(sites),
                    "lookout": state.lookout,
                    "drawn": [list(kinds[kind]) for kind in drawn],
                    "stacks": [list(values) for values in state.stacks],
                },
            )
        )
    return state.stacks != NOTHING


def _count_bag(state: ElPasoState) -> list[int]:
    """Return how many tiles of each kind are in the bag."""
    in_bag = [0] * len(state.rules.kinds)
    for site, values in enumerate(state.bag):
        kind_of = state.rules.kind_of[site]
        for value in values:
            number = kind_of[value]
            in_bag[number] = in_bag[number] + 1
    return in_bag


def _draw_tiles(state: ElPasoState, in_bag: list[int]) -> list[int]:
    """Return kinds of tiles drawn from the bag: the first ones of this town's order of all tiles that are in the bag.

    One order of all tiles for each town keeps the luck of a deal alike where bags differ a little.
    """
    wanted = state.rules.tiles_per_town
    drawn: list[int] = []
    # Copy n of a kind is in the bag if the bag has more than n of that kind.
    for kind, copy in state.chance.shuffled(state.rules.copies, "stock", state.town):
        if in_bag[kind] > copy:
            drawn.append(kind)
            if len(drawn) == wanted:
                break
    return drawn


def give_back(state: ElPasoState, tiles: BySite) -> None:
    """EP-21, EP-24: tiles go back into the bag, or in `nl` to the box."""
    if state.rules.returns_to_bag:
        state.bag = merge(state.bag, tiles)
    else:
        state.box = merge(state.box, tiles)


def close(state: ElPasoState, why: str) -> None:
    """EP-24: the town is over; what is left in it goes back."""
    if state.log is not None:
        left = [list(values) for values in state.stacks]
        state.log.append(Event("town-over", {"town": state.town, "why": why, "left": left}))
    give_back(state, state.stacks)
    state.stacks = NOTHING
    state.leaving = ()


def final_sale(state: ElPasoState) -> None:
    """EP-27: tiles still owned are sold 1:1."""
    for seat, tiles in enumerate(state.tiles):
        worth = sum([sum(values) for values in tiles])
        state.money = replaced(state.money, seat, state.money[seat] + worth)
        state.tiles = replaced(state.tiles, seat, NOTHING)
        give_back(state, tiles)
        if state.log is not None:
            sold = [list(values) for values in tiles]
            state.log.append(Event("final-sale", {"seat": seat, "sold": sold, "money": state.money[seat]}))


def take_tile(state: ElPasoState, seat: int, site: int) -> int:
    """EP-15: the seat takes the top tile of a stack; its value."""
    stack = state.stacks[site]
    state.stacks = at_site(state.stacks, site, stack[1:])
    tiles = state.tiles[seat]
    state.tiles = replaced(state.tiles, seat, at_site(tiles, site, put(tiles[site], stack[0])))
    return stack[0]
