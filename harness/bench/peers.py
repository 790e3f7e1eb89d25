"""Other people's programs whose loops are measured beside ours."""

from __future__ import annotations

from pathlib import Path

import msgspec

from harness.bench.loop_process import LOOPS


class Peer(msgspec.Struct, frozen=True):
    """A program that is compared with ours."""

    name: str
    requirements: tuple[str, ...]
    """What pip installs; of the version that was measured, so that a comparison can be repeated."""
    megabytes: int
    """About so much is on the disk then."""
    workloads: tuple[str, ...]
    loop: Path
    """The file of `loops/` that plays them."""


def _peer(name: str, megabytes: int, requirements: tuple[str, ...], workloads: tuple[str, ...]) -> Peer:
    return Peer(name, requirements, megabytes, workloads, LOOPS / f"{name}.py")


PEERS = {
    peer.name: peer
    for peer in (
        _peer("catanatron", 45, ("catanatron==3.2.1",), ("base game",)),
        _peer(
            "open_spiel", 310, ("open_spiel==2.0.2",),
            (
                "hearts", "hearts, bare deals", "hearts, information state", "hearts, numpy observer",
                "skat", "skat, bare deals", "skat, observation", "skat, numpy observer",
                "gin_rummy", "gin_rummy, observation",
                "python_liars_poker", "python_block_dominoes",
            ),
        ),
        _peer(
            "pettingzoo", 145, ("pettingzoo==1.27.0", "rlcard==1.2.0", "pygame-ce==2.5.8"),
            ("leduc_holdem_v4", "texas_holdem_v4"),
        ),
        _peer("rlcard", 100, ("rlcard==1.2.0",), ("uno", "mahjong")),
        _peer("chess", 30, ("chess==1.11.2",), ("random moves",)),
    )
}  # fmt: skip
"""All that `--against` knows; a new one is a file in `loops/` and a line here."""
