"""X-Pasch: found companies and pack their boards with the dice (rules: docs/rules/x-pasch.md)."""

from engines.x_pasch.actions import Draw, Found, Keep, Move, Place, Reroll, Stop, Swap
from engines.x_pasch.boards import leader
from engines.x_pasch.components import Company
from engines.x_pasch.game import XPasch
from engines.x_pasch.state import XPaschState
from engines.x_pasch.view import XPaschView

__all__ = [
    "Company",
    "Draw",
    "Found",
    "Keep",
    "Move",
    "Place",
    "Reroll",
    "Stop",
    "Swap",
    "XPasch",
    "XPaschState",
    "XPaschView",
    "leader",
]
