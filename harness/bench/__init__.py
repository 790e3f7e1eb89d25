"""How fast things are here, as ratios taken in one run: machines differ, and are noisy."""

from harness.bench.bots import measure_bot
from harness.bench.engines import measure
from harness.bench.executors import measure_executors

__all__ = ["measure", "measure_bot", "measure_executors"]
