"""How fast things are here, as ratios taken in one run: machines differ, and are noisy."""

from harness.bench.bot_costs import measure_costs
from harness.bench.engine_speed import measure
from harness.bench.executor_speed import measure_executors
from harness.bench.record_speed import measure_records
from harness.bench.thinking import measure_bot

__all__ = ["measure", "measure_bot", "measure_costs", "measure_executors", "measure_records"]
