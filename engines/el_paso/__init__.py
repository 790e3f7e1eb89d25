"""El Paso: bandits plunder seven towns (rules: docs/rules/el-paso.md)."""

from engines.el_paso.actions import Carry, Draw, Leave, Play, Sell, Stay
from engines.el_paso.components import SITES, Site
from engines.el_paso.game import ElPaso
from engines.el_paso.state import ElPasoState
from engines.el_paso.view import ElPasoView

__all__ = [
    "SITES",
    "Carry",
    "Draw",
    "ElPaso",
    "ElPasoState",
    "ElPasoView",
    "Leave",
    "Play",
    "Sell",
    "Site",
    "Stay",
]
