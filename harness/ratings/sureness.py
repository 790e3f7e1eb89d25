"""How sure it is that a bot is better than the one below it in the table, so that 90% is right in 90 of 100 cases.

The two are neighbours because they were sorted by what they did, luck included. So a test that looks at these two
alone would be too sure. What helps is to know how much the bots of the field differ in truth: if they hardly do, the
one above was mostly lucky. That is estimated from the field itself (empirical Bayes): true values are taken to be
spread normally about one half, with a spread that is weighed by how well it explains all values that were seen.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import erf, exp, log, sqrt
from statistics import NormalDist

from harness.ratings.ahead import AheadFit, Difference

SPREADS = tuple(0.005 * 1.3**step for step in range(18))
"""The true spreads of a field that are thought of: from half a point to as far apart as bots can be, all in the same
proportion."""
_SLICES = 8


def sureness(fit: AheadFit) -> Callable[[Difference], float]:
    """A function that says how likely a difference is to be above 0 in truth, in the light of the whole field."""
    likely = _spreads(fit)

    def better(seen: Difference) -> float:
        above = total = 0.0
        variances = [seen.error**2 * scale for scale in _scales(round(seen.freedom, 1))]
        for spread, weight in likely:
            true = 2 * spread * spread
            for variance in variances:
                both = true + variance
                fits = weight * exp(-0.5 * seen.value**2 / both) / sqrt(both)
                total += fits
                above += fits * _below(seen.value * sqrt(true / (both * variance)) if variance else seen.value * 1e9)
        return above / total if total else 0.5

    return better


def _spreads(fit: AheadFit) -> list[tuple[float, float]]:
    """Each spread of SPREADS with its weight, given what all bots did."""
    known = [
        ((value - 0.5) ** 2, fit.covariance[bot][bot])
        for bot, value in enumerate(fit.values)
        if fit.freedom[bot] and fit.matches[bot]
    ]
    # The values are measured from their common mean, so there is one fewer of them than there are bots.
    parts = len(set(fit.part))
    share = max(0, len(known) - parts) / len(known) if known else 0.0
    logs = []
    for spread in SPREADS:
        variances = [spread * spread + variance for _, variance in known]
        fits = sum([-0.5 * (seen / both + log(both)) for (seen, _), both in zip(known, variances, strict=True)])
        logs.append(share * fits)
    best = max(logs)
    return [(spread, exp(one - best)) for spread, one in zip(SPREADS, logs, strict=True)]


@lru_cache(maxsize=1024)
def _scales(freedom: float) -> tuple[float, ...]:
    """How many times its estimate a variance may be, each as likely as another (Wilson and Hilferty's quantiles)."""
    spread = 2 / (9 * freedom)
    cubes = [1 - spread + NormalDist().inv_cdf((step + 0.5) / _SLICES) * sqrt(spread) for step in range(_SLICES)]
    return tuple(1 / max(0.2, cube) ** 3 for cube in cubes)


def _below(z: float) -> float:
    return 0.5 * (1 + erf(z * sqrt(0.5)))
