from __future__ import annotations

from harness import ranks_of
from harness.core.bot import kebab
from harness.core.records import Fault
from harness.match.referee import ranks_with_faults


def test_equal_scores_share_a_rank():
    assert ranks_of((5, 9, 5, 1)) == (2, 1, 2, 4)
    assert ranks_of((0, 0)) == (1, 1)


def test_a_seat_that_failed_is_ranked_last_whatever_it_scored():
    assert ranks_with_faults((9, 5, 1), [Fault(0, "timeout", 3)]) == (3, 1, 2)
    assert ranks_with_faults((9, 5, 1), [Fault(0, "timeout", 3), Fault(2, "illegal", 4)]) == (2, 1, 2)
    assert ranks_with_faults((0, 5), [Fault(0, "crash", 0), Fault(1, "crash", 0)]) == (1, 1)


def test_class_names_become_names_on_the_command_line():
    assert [kebab(name) for name in ("Random", "StayToTheLast", "FlatMC", "ISMCTS", "Bot2Go")] == [
        "random", "stay-to-the-last", "flat-mc", "ismcts", "bot2-go",
    ]  # fmt: skip
