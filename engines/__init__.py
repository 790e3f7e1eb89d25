"""The bundled games, registered by the same hook as those of other packages."""

from __future__ import annotations

from typing import Any

from harness import Game, hookimpl


@hookimpl
def arena_games() -> list[type[Game[Any]]]:
    """Return El Paso, Gnadenlos! and X-Pasch."""
    # Not at the top: the process of a sandboxed bot imports this package for one game; the others take 20 of 180 ms.
    from engines.el_paso import ElPaso
    from engines.gnadenlos import Gnadenlos
    from engines.x_pasch import XPasch

    return [ElPaso, Gnadenlos, XPasch]
