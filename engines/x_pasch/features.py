"""How the seats of X-Pasch stand, as numbers for a value function."""

# mypyc compiles this module: functions of typed values only; structs are in interpreted modules (core/compiled.py).

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from math import exp, fsum
from typing import TYPE_CHECKING, cast

from engines.x_pasch.actions import Found, Place
from engines.x_pasch.boards import leader, replaced
from engines.x_pasch.dice import Dice
from engines.x_pasch.view import XPaschView
from harness import NOBODY, ahead_of, compare_to_others

if TYPE_CHECKING:
    from engines.x_pasch.game import XPasch

GRIP = 0.6  # how soon a lead counts as safe
SPITE = 0.35  # what a euro that a rival can expect costs the one who places
CARD = 0.4  # what a die that draws a card instead is worth

Board = tuple[int, ...]


def features(game: XPasch, views: Sequence[XPaschView]) -> list[list[float]]:
    """Return a row for each seat: its money and income compared with those of the others, the boards as they will
    probably be once the dice on the table are used, and its cards."""
    table = views[0]
    players, euros, income, turn = table.players, table.euros, table.income, table.turn
    to_go = min([max(0, game.tables.target - has) / max(1, gets) for has, gets in zip(euros, income, strict=True)])
    now = dict(zip(table.table, table.members, strict=True))
    boards, supply, cards = _dice_used(game, views[turn], now)
    before, lasting = _incomes(game, now, players), _incomes(game, boards, players)
    safe, shaky, near, led = _leads(game, boards, players)
    safe_now, shaky_now, near_now, _ = _leads(game, now, players)
    gain, losses = _placing(game, table)
    found = _founding(game, views[turn])
    will_have = [has + to_go * gets for has, gets in zip(euros, led, strict=True)]
    may_have = [has + to_go * gets for has, gets in zip(euros, lasting, strict=True)]
    supplies = replaced(table.supply, turn, supply)
    hands = replaced(table.hand_sizes, turn, table.hand_sizes[turn] + cards)
    common = [players, table.round, len(boards), to_go, max(euros), sum(income), len(table.dice)]
    common.append(len(table.dice) - len(set(table.dice)))
    return [
        [
            *common,
            seat,
            (seat - turn) % players,
            *compare_to_others(euros, seat),
            *compare_to_others(income, seat),
            *compare_to_others(led, seat)[1:],
            *compare_to_others(lasting, seat),
            lasting[seat] - before[seat],
            *compare_to_others(will_have, seat)[1:],
            ahead_of(will_have, seat),
            *compare_to_others(may_have, seat)[1:],
            ahead_of(may_have, seat),
            safe[seat],
            shaky[seat],
            near[seat],
            safe_now[seat],
            shaky_now[seat],
            near_now[seat],
            gain if seat == turn else 0.0,
            found if seat == turn else 0.0,
            losses[seat],
            *compare_to_others(supplies, seat)[::2],
            *compare_to_others(hands, seat)[::2],
            sum([game.companies[card].income for card in view.hand]),
            max([game.companies[card].income for card in view.hand], default=0),
            float(view.second_chance == seat),
        ]
        for seat, view in enumerate(views)
    ]


def _placing(game: XPasch, table: XPaschView) -> tuple[float, list[float]]:
    """Return the most that one placing by the dice on the table can do for the seat on turn, and to each other seat."""
    best, losses = 0.0, [0.0] * table.players
    turn, supply, place = table.turn, table.supply[table.turn], game.tables.rolls[table.dice].place
    for company, board in zip(table.table, table.members, strict=True):
        if supply and place[company]:
            members = min(supply, max([cast("Place", action).members for action in place[company]]))
            before, after = leader(board), leader(replaced(board, turn, board[turn] + members))
            if before != after:
                worth = game.companies[company].income
                best = max(best, worth * ((after == turn) + 0.5 * (before != NOBODY)))
                if before != NOBODY:
                    losses[before] = max(losses[before], worth)
    return best, losses


def _founding(game: XPasch, view: XPaschView) -> float:
    """Return the income of the best company that the dice on the table can found from this seat's hand."""
    found = game.tables.rolls[view.dice].found
    return max([game.companies[card].income for card in view.hand if found[card]], default=0.0)


def _leads(game: XPasch, boards: dict[int, Board], players: int) -> tuple[list[float], ...]:
    """Return for each seat the income that it leads by more than one member, by one, the income that it needs one or
    two members for, and all that it leads."""
    safe, shaky, near, led = ([0.0] * players for _ in range(4))
    for company, board in boards.items():
        worth = game.companies[company].income
        *_, second, most = sorted(board)
        for seat, members in enumerate(board):
            if members and members == most > second:
                led[seat] += worth
                (safe if members > second + 1 else shaky)[seat] += worth
            elif members and members + 1 >= most:
                near[seat] += worth
    return safe, shaky, near, led


@cache
def _lasts(lead: int) -> float:
    """Return the probability that a lead of this many members lasts until it pays."""
    return 1 / (1 + exp((0.5 - lead) / GRIP))


@lru_cache(1 << 14)
def _shares(board: Board) -> tuple[float, ...]:
    """Return what part of a company's income each seat can expect."""
    *_, second, most = sorted(board)
    return tuple([_lasts(members - (second if members == most else most)) if members else 0.0 for members in board])


def _incomes(game: XPasch, boards: dict[int, Board], players: int) -> list[float]:
    """Return the income that each seat can expect to keep."""
    incomes = [0.0] * players
    for company, board in boards.items():
        worth = game.companies[company].income
        for seat, share in enumerate(_shares(board)):
            incomes[seat] += worth * share
    return incomes


def _dice_used(game: XPasch, view: XPaschView, now: dict[int, Board]) -> tuple[dict[int, Board], int, int]:
    """Return the boards when the seat on turn has used its dice one after the other where they do most, what is left of
    its supply, and how many cards it draws."""
    boards = dict(now)
    dice, supply, hand = view.dice, view.supply[view.turn], list(view.hand)
    cards = 0
    may_found = view.stage == "found"
    while dice and supply and view.stage in ("found", "place"):
        best, found = _best_use(game, boards, view, dice, supply, hand if may_found else [])
        if best is None:
            break
        company, board, used = best
        supply -= sum(board) - sum(boards.get(company, (0,)))
        boards[company] = board
        if found is not None:
            hand.remove(found)
            cards -= 1
        dice = game.tables.rolls[dice].rest[used]
    return boards, supply, cards + len(dice)


def _best_use(
    game: XPasch, boards: dict[int, Board], view: XPaschView, dice: Dice, supply: int, hand: Sequence[int]
) -> tuple[tuple[int, Board, Dice] | None, int | None]:
    """Return where some of these dice do most: the company, its board after it, and the dice; and the card that is
    founded."""
    roll, seat, empty = game.tables.rolls[dice], view.turn, (0,) * view.players
    best, most, founded = None, 0.0, None
    for company, board in boards.items():
        for action in roll.place[company]:
            placed = cast("Place", action)
            after = replaced(board, seat, board[seat] + min(placed.members, supply))
            gain = _gain(game.companies[company].income, board, after, seat) - CARD * len(placed.dice)
            if gain > most:
                best, most, founded = (company, after, placed.dice), gain, None
    for card in dict.fromkeys(hand):
        for action in roll.found[card]:
            company = card
            while company in boards:
                company += 1  # the next of those printed alike
            after = replaced(empty, seat, min(supply, game.companies[company].founding))
            used = cast("Found", action).dice
            gain = _gain(game.companies[company].income, empty, after, seat) - CARD * (len(used) + 1)
            if gain > most:
                best, most, founded = (company, after, used), gain, card
    return best, founded


def _gain(worth: int, before: Board, after: Board, seat: int) -> float:
    """Return what the seat on turn gains by a change of a board, less some of what others do."""
    gains = [new - old for old, new in zip(_shares(before), _shares(after), strict=True)]
    return worth * (gains[seat] * (1 + SPITE) - SPITE * fsum(gains))
