"""Print the tables of docs/ratings.md that say how often claims hold: `python -m tests.ratings.claims_table`."""

from __future__ import annotations

from click import echo

from tests.ratings.test_truth import ROWS, Count, counted, sure_of


def shown(count: Count) -> list[str]:
    return [
        f"{count.ahead / count.lines:.1%}",
        f"{count.score / count.lines:.1%}",
        f"{count.told / count.boards:.1%}",
        f"{count.places / count.boards:.1%}",
        f"{count.found / count.boards:.1f}",
    ]


if __name__ == "__main__":
    echo("| run | runs | `ahead` holds | mean score holds | some claim wrong | some range wrong | true claims |")
    echo("|---|---|---|---|---|---|---|")
    for each in ROWS:
        echo(f"| {each.name} | {each.runs} | {' | '.join(shown(counted(each, each.runs)))} |")
    echo("\n| `sure` says | on average | right | lines |\n|---|---|---|---|")
    for tenth, (many, said, right) in sorted(sure_of(300).items()):
        echo(f"| {10 * tenth}-{10 * tenth + 10}% | {said / many:.1%} | {right / many:.1%} | {many:,} |")
