"""Strings that name luck, or that digests are taken of, stay what they are."""

from __future__ import annotations

from pathlib import Path

from tests.architecture.seed_strings import LISTED, TOPS, seed_strings

WARNING = """
Strings that enter luck, seeds or stored digests have changed. Renaming one changes every record: the same seed gives
other matches, and runs that were played before cannot be verified, continued or repeated. Give it its old value.

Only if records are to change, or if there is a new stream, write the list anew:
python -m tests.architecture.seed_strings
"""
SOURCE = r"""
STREAM = "deal"

class OtherLuck(Chance):
    pass

def anything(luck, plan, game, number, total):
    where = (STREAM, game) if number == "not this" else (STREAM,)
    name, files = f"match {number}", {}
    luck.derive(*where)
    luck.rng(f"late {number}", game)
    self.luck.shuffled(game["nor this"], "seating", plan.number("nor this"))
    OtherLuck(1, "other")
    MatchSpec(id=f"{game}-1", index=0)
    files[f"data:{number}"] = b""
    digest_of_files({**files})
    total.update(f"{number}\0".encode() + b"end")
    total.update({"nor this": 1})
    return f"sha256:{total.hexdigest()}"
"""
LINES = [
    'MatchSpec: "{}-1"',
    'OtherLuck: "other"',
    'derive: "deal"',
    'digest_of_files: "data:{}"',
    'hexdigest: "sha256:{}"',
    'rng: "late {}"',
    'shuffled: "seating"',
    r'update: "{}\x00", b"end"',
]
RENAMED = ["deal", "late ", "seating", '"other', "-1", "data:", "sha256:", "end"]


def test_no_string_that_enters_luck_or_a_digest_has_changed() -> None:
    listed, now = LISTED.read_text(encoding="utf-8").splitlines(), seed_strings()
    assert listed == sorted(set(listed)), f"{LISTED.name} is not sorted."
    gone = [f"  gone: {line}" for line in listed if line not in now]
    come = [f"  new:  {line}" for line in now if line not in listed]
    assert not gone + come, "\n".join([WARNING, *gone, *come])


def test_a_seed_string_is_found_in_any_module(tmp_path: Path) -> None:
    for top in TOPS:
        assert _found_in(tmp_path / "one", f"{top}/somewhere/module.py", SOURCE) == LINES


def test_a_renamed_string_changes_a_line(tmp_path: Path) -> None:
    for number, name in enumerate(RENAMED):
        found = _found_in(tmp_path / str(number), "bots/module.py", SOURCE.replace(name, f"{name}2"))
        assert len(set(LINES) - set(found)) == len(set(found) - set(LINES)) == 1, name


def _found_in(root: Path, name: str, text: str) -> list[str]:
    (root / name).parent.mkdir(parents=True)
    (root / name).write_text(text, encoding="utf-8")
    return seed_strings(root)
