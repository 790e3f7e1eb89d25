"""A format's own result beside the records: outcome.md and outcome.json, derived like the leaderboard."""

from __future__ import annotations

from collections.abc import Mapping

from harness.core.errors import UsageError
from harness.core.format import Format
from harness.output.outcome_text import FormatResults
from harness.runs.run_files import write_derived
from harness.runs.schedule_order import ordered_results
from harness.runs.store import RunFolder
from harness.schedule import Schedule

FILES = {"outcome.md": "github", "outcome.json": "json"}
"""Names of files -> table formats."""


def results_of(run: RunFolder, formats: Mapping[str, Format]) -> FormatResults:
    """What the format of a run says of its records, as far as they go."""
    if run.several:
        raise UsageError("A format's own result is that of one run: name one, or look at the leaderboard.")
    return _results(run, Schedule(run.info.plan, formats))


def _results(run: RunFolder, schedule: Schedule) -> FormatResults:
    reads_actions = schedule.format.reads_actions
    records = run.records() if reads_actions else ordered_results(run)
    return FormatResults(schedule.outcomes(records, ordered=not reads_actions), schedule.plan.format)


def write_outcome(run: RunFolder, schedule: Schedule) -> FormatResults:
    """The format's own result, written beside the records if it has one."""
    results = _results(run, schedule)
    write_derived(run.folder, outcome_files(results))
    return results


def outcome_files(results: FormatResults) -> dict[str, bytes]:
    """What is written: names of files, and what is in each; nothing for a format that has but a sentence to say."""
    if not results.has_results:
        return {}
    return {name: results.text(table_format).encode() + b"\n" for name, table_format in FILES.items()}
