"""Gnadenlos!: adventurers, IOUs and the road of fame in Tuzza City (rules: docs/rules/gnadenlos.md)."""

from engines.gnadenlos.actions import Bid, Buy, Hire, Lay, Pay, Steal, TakePair
from engines.gnadenlos.cards import CHEATING, COLOURS, GOLD_RUSH, HIGH_NOON, SKILL, Adventurer, EventCard, Iou
from engines.gnadenlos.game import Gnadenlos
from engines.gnadenlos.state import GnadenlosState
from engines.gnadenlos.view import GnadenlosView, Theft

__all__ = [
    "CHEATING",
    "COLOURS",
    "GOLD_RUSH",
    "HIGH_NOON",
    "SKILL",
    "Adventurer",
    "Bid",
    "Buy",
    "EventCard",
    "Gnadenlos",
    "GnadenlosState",
    "GnadenlosView",
    "Hire",
    "Iou",
    "Lay",
    "Pay",
    "Steal",
    "TakePair",
    "Theft",
]
