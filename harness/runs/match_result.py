"""What a record says of a match without its actions, and the digest of all records: read fast, kept small."""

from __future__ import annotations

from hashlib import sha256

from harness.core.types import GameRecord


class MatchResult(GameRecord, frozen=True, kw_only=True, gc=False, rename={"actions": "(actions are left out)"}):
    """A record read without its actions, in half of the time: for everybody who does not replay the match."""

    actions: tuple[int, ...] = ()


def is_sound(record: GameRecord) -> bool:
    """Whether everything that goes by seat is there for each seat, and for no other."""
    seats = len(record.seats)
    if not len(record.scores) == len(record.ranks) == len(record.decisions) == seats:
        return False
    for times in (record.time, record.slowest, record.cpu):
        if times and len(times) != seats:
            return False
    return not record.faults or all(0 <= fault.seat < seats for fault in record.faults)


class RecordDigest:
    """The digest of all records of a run: SHA-256 of the SHA-256 of each line, its times and its checksum included, in
    the order of the schedule. Lines come nearly in that order, so only those that are early wait in memory."""

    def __init__(self) -> None:
        self._whole, self._due = sha256(), 0
        self._waiting: dict[int, list[bytes]] = {}

    def add(self, index: int, line: bytes) -> None:
        """Takes in a line with its place in the schedule."""
        digest = sha256(line).digest()
        if index != self._due:  # early, or a place that is there twice: in the end the digest says so
            self._waiting.setdefault(index, []).append(digest)
            return
        self._whole.update(digest)
        self._due += 1
        while self._waiting and self._due in self._waiting:
            for early in sorted(self._waiting.pop(self._due)):
                self._whole.update(early)
            self._due += 1

    def text(self) -> str:
        """The digest of what was taken in."""
        rest = [digest for _, digests in sorted(self._waiting.items()) for digest in sorted(digests)]
        whole = self._whole.copy()
        whole.update(b"".join(rest))
        return f"sha256:{whole.hexdigest()}"
