"""Mutants that cannot be noticed, because they change nothing, each with the reason."""

from __future__ import annotations

from tests.mutation.mutator import Mutant

EQUIVALENT: dict[tuple[str, str, str], str] = {}
"""Module, what stood there, what stands there now -> why it is the same."""


def is_equivalent(module: str, mutant: Mutant) -> bool:
    """Whether it is known to change nothing."""
    return (module, mutant.old, mutant.new) in EQUIVALENT
