"""Runs a command as somebody with fewer rights, on a kernel that says no to some calls: `run(...)`.

The kernel's no is a filter of system calls, so that a machine without namespaces, or without Landlock, can be had
wherever there is a machine with them. Needs root, which can become anybody.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from harness.isolation import kernel, seccomp
from harness.isolation.seccomp import Instruction

SOMEBODY = 54321
LANDLOCK = 444
"""The number of landlock_create_ruleset on every machine."""
SECCOMP = 22
"""What prctl is asked for when a filter is put on."""
PRCTL = {"x86_64": 157, "aarch64": 167}
_OPTION_AT = 16


def run(command: list[str], user: int = 0, refused: tuple[int, ...] = (), filters: bool = True, cwd: str = "/"):
    """The finished process of a command: as this user, without these calls, perhaps without filters of its own."""
    orders = json.dumps([command, user, refused, filters, cwd])
    code = "from tests.support.lesser_rights import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, orders], capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False
    )


def main() -> None:
    command, user, refused, filters, cwd = json.loads(sys.argv[1])
    _show_python()
    os.chdir(cwd)
    if user:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    os.environ["HOME"] = cwd
    kernel.no_new_privileges()
    steps = [Instruction(0x20, 0)]
    for number in refused:
        steps += [Instruction(0x15, number, 0, 1), seccomp.return_error(1)]
    if not filters:
        option = [Instruction(0x20, _OPTION_AT), Instruction(0x15, SECCOMP, 0, 1), seccomp.return_error(22)]
        steps += [Instruction(0x15, PRCTL[os.uname().machine], 0, len(option)), *option]
    if refused or not filters:
        kernel.install_program([*steps, Instruction(0x06, 0x7FFF_0000)])
    os.execv(command[0], command)  # noqa: S606 - that is the purpose


def _show_python() -> None:
    """Lets everybody see the Python that runs the tests, and this project, where they lie in folders only root's."""
    places = {Path(one).resolve() for one in (sys.base_prefix, sys.prefix, Path(__file__).parents[2])}
    hidden: dict[Path, list[Path]] = {}
    for place in sorted(places):
        private = [folder for folder in (*reversed(place.parents), place) if not folder.stat().st_mode & 0o001]
        if private:
            hidden.setdefault(private[0], []).append(place)
    if not hidden:
        return
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    for folder, inside in hidden.items():
        aside = {place: tempfile.mkdtemp() for place in inside}
        for place, other in aside.items():
            kernel.mount(str(place), other, None, kernel.MS_BIND | kernel.MS_REC)
        kernel.mount("tmpfs", str(folder), "tmpfs", 0, "mode=755")
        for place, other in aside.items():
            place.mkdir(parents=True, exist_ok=True)
            kernel.mount(other, str(place), None, kernel.MS_BIND | kernel.MS_REC)
            kernel.unmount(other)
            Path(other).rmdir()
