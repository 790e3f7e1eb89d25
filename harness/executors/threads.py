"""Native thread pools in workers and isolated bots: one thread each, unless a run says otherwise.

Every worker has a core, or less. A pool that takes a thread for each core of the machine, as OpenMP, BLAS and torch do,
makes a decision of three milliseconds one of sixty.
"""

from __future__ import annotations

_POOLS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
"""Where the libraries look, when they are loaded, for how many threads they may have."""


def thread_variables(threads: int) -> dict[str, str]:
    """What the environment says to native pools; nothing for 0 threads, which leaves it to them."""
    return dict.fromkeys(_POOLS, str(threads)) if threads else {}
