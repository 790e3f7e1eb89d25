"""python -m tests.mutation: plants mutants in the code and says which of them no test notices."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import click

from tests.mutation.equivalent import is_equivalent
from tests.mutation.mutator import Mutant, mutants
from tests.mutation.targets import ROOT, modules, target_of
from tests.mutation.trial import Verdict, tree


def sample(module: str, size: int, seed: int) -> list[Mutant]:
    """So many mutants of a module, by the seed; those that change nothing are left out."""
    found = mutants((ROOT / module).read_text(encoding="utf-8"))
    worth = [mutant for mutant in found if not is_equivalent(module, mutant)]
    return sorted(Random(f"{seed} {module}").sample(worth, min(size, len(worth))))


@click.command()
@click.argument("names", metavar="[MODULE]...", nargs=-1)
@click.option("--sample", "size", default=10, show_default=True, help="Mutants a module.")
@click.option("--seed", default=1, show_default=True, help="Which ones.")
@click.option("--slow", is_flag=True, help="Ask the slow tests about those that live through the quick ones.")
@click.option("--floor", default=0.0, show_default=True, help="Fail if a smaller share than this is noticed.")
def main(names: tuple[str, ...], size: int, seed: int, slow: bool, floor: float) -> None:
    """Plant mutants in MODULES, files or folders (default: all that are listed), and print those that no test notices.

    \b
    python -m tests.mutation harness/core/options.py --sample 1000
    python -m tests.mutation harness/ratings engines/el_paso --sample 20 --seed 7 --slow
    """
    chosen = [module for module in modules() if not names or any(Path(module).is_relative_to(name) for name in names)]
    if not chosen:
        raise click.UsageError(f"None of these is mutated. Choose from: {', '.join(modules())}.")
    verdicts: list[Verdict] = []
    with tree() as copy:
        for module in chosen:
            target = target_of(module)
            for mutant in sample(module, size, seed):
                fate = copy.fate(module, mutant, target.quick, target.slow if slow else ())
                verdicts.append(Verdict(module, mutant, fate))
                if fate == "lives":
                    click.echo(str(verdicts[-1]))
            click.echo(f"{module}: {report_of([one for one in verdicts if one.module == module])}", err=True)
    click.echo(report_of(verdicts), err=True)
    if verdicts and noticed(verdicts) < floor:
        raise click.ClickException(f"Only {noticed(verdicts):.0%} are noticed; {floor:.0%} are wanted.")


def noticed(verdicts: list[Verdict]) -> float:
    """The share of mutants that some test notices."""
    return sum(verdict.fate != "lives" for verdict in verdicts) / len(verdicts)


def report_of(verdicts: list[Verdict]) -> str:
    """`10 mutants: 8 killed, 1 hangs, 1 lives`."""
    fates = Counter(verdict.fate for verdict in verdicts)
    return f"{len(verdicts)} mutants: " + ", ".join(f"{count} {fate}" for fate, count in sorted(fates.items()))


if __name__ == "__main__":
    main(prog_name="python -m tests.mutation")
