"""A bot is one's own if nobody else could put another in its place, or something into what it imports."""

from __future__ import annotations

import os
import py_compile
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import harness
from harness.plugins import trust
from harness.plugins.trust import untrusted_reason
from harness.runs.setup import installed

ROOT = Path(__file__).parents[2]
STRANGER = 12345
"""Somebody who is neither root nor whoever runs the tests."""
MARKED = """
import harness
harness.marked_by = getattr(harness, "marked_by", 0) + 1
class Mine(harness.Bot):
    games = ("el-paso",)
    def choose(self, view, actions): return actions[0]
"""
by_root = pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root gives files away")


@pytest.fixture(autouse=True)
def mine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delattr(harness, "marked_by", raising=False)
    file = tmp_path / "deep" / "down" / "mine.py"
    file.parent.mkdir(parents=True)
    file.write_text(MARKED)
    return file


def why(path: object) -> str:
    """Why a bot is entered as a stranger's; whether its code has run here is looked at, too."""
    before = getattr(harness, "marked_by", 0)
    untrusted = installed().entrant(str(path)).untrusted
    assert (getattr(harness, "marked_by", 0) > before) == (not untrusted)
    return untrusted


def give(*places: Path) -> None:
    for place in places:
        os.chown(place, STRANGER, STRANGER, follow_symlinks=False)


def test_a_file_of_the_user_is_trusted(mine):
    assert why(mine) == ""
    assert why("deep/down/../down/mine.py") == ""
    (mine.parent / "data").mkdir(mode=0o755)
    (mine.parent / "notes.txt").write_text("")
    (mine.parent / "notes.txt").chmod(0o666)  # nobody imports that
    assert why(mine) == ""


def test_a_world_writable_file_or_folder_is_untrusted(mine):
    mine.chmod(0o666)
    assert why(mine) == "everybody may write to mine.py"
    mine.chmod(0o644)
    mine.parent.parent.chmod(0o777)
    assert why(mine) == f"everybody may write to the folder {mine.parent.parent}"
    mine.parent.parent.chmod(0o1777)  # there nobody replaces what is not his
    assert why(mine) == ""
    mine.parent.chmod(0o1777)  # but everybody may add to it
    assert why(mine) == "everybody may put modules next to mine.py"


def test_a_group_writable_file_is_trusted_only_if_the_user_is_alone_in_the_group(mine, monkeypatch):
    mine.chmod(0o664)
    monkeypatch.setattr(trust, "_is_alone_in", lambda _group: True)
    assert why(mine) == ""
    monkeypatch.setattr(trust, "_is_alone_in", lambda _group: False)
    assert why(mine).startswith("the group ")
    mine.chmod(0o644)
    mine.parent.chmod(0o775)
    assert "may write to the folder" in why(mine)


def test_a_private_group_is_recognized(monkeypatch):
    import grp
    import pwd

    groups = {7: ("ann", []), 8: ("ann", ["ann"]), 9: ("ann", ["ann", "bob"]), 10: ("staff", []), 1000: ("crew", [])}

    def getgrgid(number):
        name, members = groups[number]
        return grp.struct_group((name, "x", number, members))

    monkeypatch.setattr(grp, "getgrgid", getgrgid)
    monkeypatch.setattr(pwd, "getpwuid", lambda _number: pwd.struct_passwd(("ann", "x", 1000, 7, "", "/", "/bin/sh")))
    monkeypatch.setattr(trust.os, "geteuid", lambda: 1000)
    alone = [trust._is_alone_in(group) for group in (0, 7, 8, 9, 10, 1000, 11)]
    assert alone == [True, True, True, False, False, True, False]


@by_root
def test_a_file_below_another_users_folder_is_untrusted(mine):
    give(mine)
    assert why(mine) == f"mine.py belongs to user {STRANGER}"
    os.chown(mine, 0, 0)
    for folder in (mine.parent, mine.parent.parent):
        give(folder)
        assert why(mine) == f"the folder {folder} belongs to user {STRANGER}"
        os.chown(folder, 0, 0)
    assert why(mine) == ""


@by_root
def test_a_link_of_another_user_is_untrusted(mine, tmp_path):
    link = tmp_path / "link.py"
    link.symlink_to(mine)
    assert why(link) == ""
    give(link)
    assert why(link) == f"link.py belongs to user {STRANGER}"
    folder = tmp_path / "way"
    folder.symlink_to("deep")
    assert why("way/down/mine.py") == ""
    give(folder)
    assert why("way/down/mine.py") == f"way belongs to user {STRANGER}"
    loop = tmp_path / "loop.py"
    loop.symlink_to("loop.py")
    assert "is unknown" in untrusted_reason([loop])


@by_root
def test_a_file_with_an_access_control_list_for_others_is_untrusted(mine, monkeypatch):
    mine.chmod(0o664)
    assert why(mine) == ""
    monkeypatch.setattr(trust.os, "listxattr", lambda _place: ["system.posix_acl_access"])
    assert why(mine) == "a list of other users may write to mine.py"


@by_root
@pytest.mark.parametrize(
    "name",
    ["theirs.py", "theirs.pyc", "theirs.so", "__pycache__/mine.cpython-311.pyc", "pack/__init__.py", "pack/a.py"],
)
def test_a_file_is_untrusted_if_another_user_owns_a_module_beside_it(mine, name):
    mine.write_text(MARKED + "    def start(self): __import__('the' + 'irs')\n")
    module = mine.parent / name
    module.parent.mkdir(exist_ok=True)
    if name.startswith("pack/"):
        (module.parent / "__init__.py").write_text("")
    module.write_text("raise SystemExit")
    if module.suffix == ".pyc":
        source = mine.parent.parent / "source.py"
        source.write_text("import harness\nharness.marked_by = 1000\n")
        py_compile.compile(str(source), cfile=str(module))
    give(module)
    assert why(mine) == f"next to mine.py, {module.name} belongs to user {STRANGER}"


@by_root
def test_a_file_is_untrusted_if_a_module_beside_it_links_to_an_untrusted_folder(mine, tmp_path):
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "helper.py").write_text("")
    (mine.parent / "helper.py").symlink_to(tmp_path / "else" / "helper.py")
    (mine.parent / "circle").symlink_to(mine.parent)
    (mine.parent / "__init__.py").write_text("")
    assert why(mine) == ""
    give(tmp_path / "else")
    assert why(mine) == f"next to mine.py, the folder {tmp_path / 'else'} belongs to user {STRANGER}"


@by_root
def test_a_bot_is_untrusted_if_another_user_owns_its_data(mine):
    mine.write_text(MARKED + "    files = ('weights.pickle',)\n")
    (mine.parent / "weights.pickle").write_text("")
    assert why(mine) == ""
    give(mine.parent / "weights.pickle")
    assert why(mine) == f"weights.pickle belongs to user {STRANGER}"


def test_a_file_next_to_too_many_files_is_untrusted(mine, monkeypatch):
    monkeypatch.setattr(trust, "MAX_CHECKED_ENTRIES", 10)
    for number in range(9):
        (mine.parent / f"{number}.txt").write_text("")
    assert why(mine) == ""
    (mine.parent / "one_more.txt").write_text("")
    (mine.parent / "and_one.txt").write_text("")
    assert "too many files next to mine.py" in why(mine)


@by_root
def test_a_user_trusts_files_of_root_and_their_own():
    code = (
        "import grp, os, pwd, sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path; from harness.plugins.trust import untrusted_reason, untrusted_folder_reason\n"
        "os.setgroups([]); os.setgid(12345); os.setuid(12345); os.chdir('/')\n"
        "files = [Path(name) for name in sys.argv[2:]]\n"
        "print([untrusted_reason([file]) or untrusted_folder_reason(file) for file in files])\n"
    )
    with TemporaryDirectory() as open_to_all:  # pytest's own folders are root's alone
        place = Path(open_to_all)
        place.chmod(0o755)
        for name in ("root/theirs.py", "own/his.py"):
            (place / name).parent.mkdir()
            (place / name).write_text("")
        give(place / "own", place / "own" / "his.py")
        (place / "own" / "his.py").chmod(0o664)
        asked = [sys.executable, "-c", code, ROOT, place / "root" / "theirs.py", place / "own" / "his.py"]
        done = subprocess.run(asked, capture_output=True, text=True)
    assert done.stdout == "['', '']\n", done.stderr
