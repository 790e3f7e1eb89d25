"""The filter of system calls (seccomp): assembles the policy of `system_calls` for the kernel, and puts it on.

No library: libseccomp's own Python module comes with distributions, not with pip, so that a virtual environment has
none, and what the filter needs of it is five instructions. A process that has put on a filter keeps it, and so does
everything that it starts.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Iterable
from typing import ClassVar, NamedTuple

from harness.sandbox import kernel
from harness.sandbox.system_calls import (
    ALL_SOCKETS,
    DENIED,
    DENIED_ARGUMENTS,
    OUTSIDE_SOCKETS,
    Denied,
    DeniedArgument,
    number_of,
)

_LOAD, _JUMP, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_BITS, _AND, _RETURN = 0x20, 0x05, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _ERROR, _KILL = 0x7FFF_0000, 0x0005_0000, 0x8000_0000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_X32 = 0x4000_0000
"""Where the numbers of another set of calls of x86-64 begin, which is the same by another name."""


ARCHITECTURES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
"""What the kernel calls the machines that there is a list of system calls for."""


class Instruction(NamedTuple):
    """One step of a filter: what to do, with which number, and how many steps to leave out if it is so, and if not."""

    code: int
    number: int
    if_so: int = 0
    if_not: int = 0


def policy(jailed: bool) -> tuple[tuple[Denied, ...], tuple[DeniedArgument, ...]]:
    """What is denied to a process, with or without a file system of its own."""
    sockets = (OUTSIDE_SOCKETS,) if jailed else ALL_SOCKETS
    return DENIED, (*DENIED_ARGUMENTS, *sockets)


def assemble(machine: str, jailed: bool) -> list[Instruction]:
    """The filter for a kind of machine, as `os.uname` calls it; raises OSError where there is none."""
    if machine not in ARCHITECTURES:
        raise OSError(f"there is no list of system calls for {machine}")
    # A program of another architecture has other numbers for the same calls: it is not run at all.
    program = [
        Instruction(_LOAD, _ARCHITECTURE_AT),
        Instruction(_JUMP_EQUAL, ARCHITECTURES[machine], 1),
        Instruction(_RETURN, _KILL),
    ]
    program.append(Instruction(_LOAD, _NUMBER_AT))
    if machine == "x86_64":
        program += [Instruction(_JUMP_AT_LEAST, _X32, 0, 1), _fail(errno.ENOSYS)]
    plain, by_argument = policy(jailed)
    for denied in plain:
        for call in denied.calls:
            number = number_of(call, machine)
            if number is not None:
                program += [Instruction(_JUMP_EQUAL, number, 0, 1), _fail(denied.error)]
    for rule in by_argument:
        number = number_of(rule.call, machine)
        if number is None:
            continue
        test = _test(rule)
        program += [Instruction(_JUMP_EQUAL, number, 0, len(test)), *test]
    return [*program, Instruction(_RETURN, _ALLOW)]


def _fail(error: int) -> Instruction:
    return Instruction(_RETURN, _ERROR | error)


def _test(rule: DeniedArgument) -> list[Instruction]:
    """The steps for a call that has come as far as its rule: they refuse it, or go on to the next rule."""
    look = [Instruction(_LOAD, _ARGUMENTS_AT + 8 * rule.argument), Instruction(_AND, rule.within)]
    fail, go_on = _fail(rule.error), Instruction(_LOAD, _NUMBER_AT)
    if rule.bits:
        return [*look, Instruction(_JUMP_BITS, rule.bits, 0, 1), fail, go_on]
    values, pass_by = (rule.any_of, [Instruction(_JUMP, 1)]) if rule.none_of is None else (rule.none_of, [])
    found = [Instruction(_JUMP_EQUAL, value, len(values) - place, 0) for place, value in enumerate(values)]
    return [*look, *found, *pass_by, fail, go_on]


class _Filter(ctypes.Structure):
    _fields_: ClassVar = [
        ("code", ctypes.c_uint16), ("if_so", ctypes.c_uint8), ("if_not", ctypes.c_uint8), ("number", ctypes.c_uint32),
    ]  # fmt: skip


class _Program(ctypes.Structure):
    _fields_: ClassVar = [("length", ctypes.c_uint16), ("filter", ctypes.POINTER(_Filter))]


def restrict(jailed: bool) -> None:
    """Puts the filter on this process. Needs `no_new_privileges` before; raises OSError where the kernel has none."""
    if sys.platform != "linux":
        raise OSError("this needs Linux")
    put_on(assemble(os.uname().machine, jailed))


def put_on(program: Iterable[Instruction]) -> None:
    """Puts a filter on this process for good."""
    steps = [_Filter(code, if_so, if_not, number) for code, number, if_so, if_not in program]
    filters = (_Filter * len(steps))(*steps)
    kernel.prctl_pointer(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(_Program(len(steps), filters)))
