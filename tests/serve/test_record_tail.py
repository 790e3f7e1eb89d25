"""A file is followed as it grows, and read once."""

from __future__ import annotations

from harness.core.files import Folder
from harness.serve import live_run
from harness.serve.live_run import RecordTail


def append(path, data):
    with path.open("ab") as file:
        file.write(data)


def new(tail):
    return [line.data for line in tail.new_lines()]


def test_only_lines_added_since_the_last_read_are_returned(tmp_path):
    path = tmp_path / "games.jsonl"
    append(path, b"one\ntwo\n")
    tail = RecordTail(Folder(path.parent))
    assert [(line.number, line.data) for line in tail.new_lines()] == [(1, b"one"), (2, b"two")]
    assert new(tail) == []
    append(path, b"three\n")
    assert not tail.is_another()
    assert [(line.number, line.data) for line in tail.new_lines()] == [(3, b"three")]
    assert tail.line(2).data == b"two"


def test_an_incomplete_line_is_returned_once_it_is_complete(tmp_path):
    path = tmp_path / "games.jsonl"
    append(path, b"one\ntw")
    tail = RecordTail(Folder(path.parent))
    assert new(tail) == [b"one"]
    assert tail.at_end
    assert new(tail) == []
    append(path, b"o\n")
    assert new(tail) == [b"two"]


def test_an_incomplete_line_that_is_removed_is_never_returned(tmp_path):
    path = tmp_path / "games.jsonl"
    append(path, b"one\ntw")
    tail = RecordTail(Folder(path.parent))
    assert new(tail) == [b"one"]
    path.write_bytes(b"one\n")
    assert not tail.is_another()
    append(path, b"other\n")
    assert not tail.is_another()
    assert new(tail) == [b"other"]


def test_a_truncated_or_replaced_file_is_read_again_from_the_start(tmp_path):
    path = tmp_path / "games.jsonl"
    append(path, b"one\ntwo\n")
    tail = RecordTail(Folder(path.parent))
    assert len(new(tail)) == 2
    path.write_bytes(b"one\n")
    assert tail.is_another()
    assert new(tail) == [b"one"]
    path.write_bytes(b"eno\nmore\n")  # as long as before at least, and other letters
    assert tail.is_another()
    assert new(tail) == [b"eno", b"more"]
    (tmp_path / "part").write_bytes(b"eno\nmore\n")
    (tmp_path / "part").replace(path)
    assert tail.is_another()


def test_a_long_file_is_read_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(live_run, "MAX_READ_BYTES", 30)
    path = tmp_path / "games.jsonl"
    append(path, b"0123456789\n" * 10)
    tail, looks = RecordTail(Folder(path.parent)), 0
    while not tail.at_end:
        assert len(new(tail)) <= 3
        looks += 1
    assert looks >= 4
    assert len(tail) == 10
