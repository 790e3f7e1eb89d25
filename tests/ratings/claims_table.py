"""Print the table of docs/ratings.md that says how often claims hold: `python -m tests.ratings.claims_table`.

Words after the command choose the rows whose names contain one of them. A row is printed as soon as it is counted.
"""

from __future__ import annotations

from sys import argv

from click import echo

from tests.ratings.test_truth import ROWS, Count, counted


def shown(count: Count) -> list[str]:
    """Return the cells of a row: the share of intervals that hold and of runs with a false claim, and true claims."""
    held = f"{count.held / count.intervals:.1%} ± {count.held_error:.1%}" if count.intervals else "not judged"
    return [held, f"{count.false / count.runs:.1%} ± {count.false_error:.1%}", f"{count.found / count.runs:.2f}"]


if __name__ == "__main__":
    echo("| run | runs | interval of skill holds | some claim false | true claims a run |\n|---|---|---|---|---|")
    for each in ROWS:
        if not argv[1:] or any(word in each.name for word in argv[1:]):
            echo(f"| {each.name} | {each.runs} | {' | '.join(shown(counted(each, each.runs)))} |")
