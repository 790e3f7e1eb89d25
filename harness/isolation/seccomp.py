"""The system calls that a sandboxed process may make, as a seccomp filter, which `kernel.py` installs.

Standard library only: the supervisor imports this file.
"""

from __future__ import annotations

import errno
from typing import NamedTuple

# Policy
#
# Which calls are denied, why, and with which error. docs/security.md shows this list; a test keeps the two equal. Calls
# that programs try optionally fail with ENOSYS, as on an old kernel, so that programs use their fallback; the rest fail
# with EPERM.
#
# Not denied, because the same information is available where no filter reaches: usage of children (wait4, getrusage,
# times), which /proc/self/stat has too; and sysinfo, whose count of processes is also the number of links of /proc.
# Programs that ask glibc for the size of memory get nonsense if sysinfo fails.


SYSCALL_NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "unshare": (272, 97), "setns": (308, 268), "clone": (56, 220), "clone3": (435, 435),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428),
    "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "open_tree_attr": (467, 467), "swapon": (167, 224), "swapoff": (168, 225),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "pidfd_getfd": (438, 438),
    "kcmp": (312, 272), "process_madvise": (440, 440),
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "shmdt": (67, 197),
    "semget": (64, 190), "semop": (65, 193), "semtimedop": (220, 192), "semctl": (66, 191),
    "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187),
    "mq_open": (240, 180), "mq_unlink": (241, 181), "mq_timedsend": (242, 182), "mq_timedreceive": (243, 183),
    "mq_notify": (244, 184), "mq_getsetattr": (245, 185),
    "memfd_create": (319, 279), "memfd_secret": (447, 447),
    "flock": (73, 32), "fcntl": (72, 25),
    "inotify_init": (253, None), "inotify_init1": (294, 26), "inotify_add_watch": (254, 27),
    "fanotify_init": (300, 262), "fanotify_mark": (301, 263), "cachestat": (451, 451), "lookup_dcookie": (212, 18),
    "socket": (41, 198), "socketpair": (53, 199), "ioctl": (16, 29),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "reboot": (169, 142), "syslog": (103, 116), "acct": (163, 89),
    "sethostname": (170, 161), "setdomainname": (171, 162), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "clock_adjtime": (305, 266), "adjtimex": (159, 171), "iopl": (172, None), "ioperm": (173, None),
    "modify_ldt": (154, None), "vhangup": (153, 58), "uselib": (134, None),
    "statfs": (137, 43), "fstatfs": (138, 44), "ustat": (136, None), "setsid": (112, 157),
    "ioprio_set": (251, 30), "sched_setscheduler": (144, 119), "sched_setparam": (142, 118),
    "sched_setattr": (314, 274), "move_pages": (279, 239), "migrate_pages": (256, 238),
    "setpriority": (141, 140), "sched_setaffinity": (203, 122), "prlimit64": (302, 261),
    "vmsplice": (278, 75), "setsockopt": (54, 208), "preadv2": (327, 286), "prctl": (157, 167),
    "timer_create": (222, 107), "open": (2, None), "openat": (257, 56), "openat2": (437, 437),
}  # fmt: skip
"""Numbers of system calls on each of `MACHINES`; None where the call does not exist."""
MACHINES = ("x86_64", "aarch64")
"""As `os.uname` names them."""


def syscall_number(call: str, machine: str) -> int | None:
    """Return the number of a system call on this machine type; None if it is unknown."""
    return SYSCALL_NUMBERS[call][MACHINES.index(machine)] if machine in MACHINES else None


class Denied(NamedTuple):
    """A group of denied calls and the reason."""

    what: str
    why: str
    calls: tuple[str, ...]
    error: int = errno.EPERM
    channel: bool = False
    """Whether two bots could communicate through them; otherwise they attack the kernel or the machine."""


class DeniedArgument(NamedTuple):
    """A call that is denied for some values of one argument. Exactly one of the tests is set."""

    what: str
    why: str
    call: str
    argument: int
    error: int = errno.EPERM
    any_of: tuple[int, ...] = ()
    """Denied for these values."""
    none_of: tuple[int, ...] | None = None
    """Denied for all other values."""
    bits: int = 0
    """Denied if any of these bits is set."""
    within: int = 0xFFFF_FFFF
    """The bits of the argument that are compared."""


NEW_NAMESPACES = 0x7E02_0000
"""The bits of all CLONE_NEW flags."""
# Constants of the kernel that Python does not have, or not on every system.
_F_GETLK, _F_SETLK, _F_SETLKW, _F_SETLEASE, _F_NOTIFY = 5, 6, 7, 1024, 1026
_F_OFD_GETLK, _F_OFD_SETLK, _F_OFD_SETLKW = 36, 37, 38
_AF_UNIX, _SOCK_STREAM, _SOCK_TYPE_MASK = 1, 1, 0xF
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_F_SETPIPE_SZ = 1031
_F_SETOWN, _F_SETSIG, _F_SETOWN_EX, _F_SET_RW_HINT, _F_SET_FILE_RW_HINT = 8, 10, 15, 1036, 1038
_O_TMPFILE = 0o20000000
_SO_SNDBUF, _SO_SNDBUFFORCE = 7, 32
_RWF_NOWAIT = 8
PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36
_ON_ANOTHER_PROCESS = "acts on another process; its own (0) is fine"
_NO_TMPFILE = "it uses up an inode number of the scratch folder unnoticed; tempfile creates named files instead"

# The error is one that callers handle: after ENOSYS libraries use an older call, after EOPNOTSUPP tempfile uses a named
# file. EPERM is for calls without a substitute.
DENIED = (
    Denied(
        "namespaces",
        "a user namespace grants rights inside it, and with them access to the most attacked parts of the kernel",
        ("unshare", "setns"),
    ),
    Denied(
        "clone3",
        "its flags are in memory, where no filter sees them; programs use clone instead",
        ("clone3",),
        errno.ENOSYS,
    ),
    Denied(
        "mounts and file handles",
        "they would change or bypass the file system of the bot",
        ("mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount",
         "fspick", "mount_setattr", "open_tree_attr", "swapon", "swapoff", "quotactl", "quotactl_fd",
         "open_by_handle_at", "name_to_handle_at"),
    ),
    Denied(
        "keys",
        "keyrings hold the operator's keys, and two bots could exchange data in them",
        ("add_key", "request_key", "keyctl"),
        channel=True,
    ),
    Denied(
        "bpf, perf and userfaultfd",
        "programs and probes in the kernel, and a way to stop it in the middle of a copy",
        ("bpf", "perf_event_open", "userfaultfd"),
    ),
    Denied(
        "io_uring",
        "does what other calls do, without passing the filter",
        ("io_uring_setup", "io_uring_enter", "io_uring_register"),
        errno.ENOSYS,
    ),
    Denied(
        "other processes' memory",
        "no bot may read or change another process",
        ("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp", "process_madvise"),
    ),
    Denied(
        "System V and POSIX message queues, semaphores and shared memory",
        "shared with others where there is no IPC namespace, and counted by no limit of a process",
        ("shmget", "shmat", "shmctl", "shmdt", "semget", "semop", "semtimedop", "semctl", "msgget", "msgsnd", "msgrcv",
         "msgctl", "mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify", "mq_getsetattr"),
        errno.ENOSYS,
        channel=True,
    ),
    Denied(
        "files without a place",
        "memory that no limit of a process counts; the scratch folder is for files",
        ("memfd_create", "memfd_secret"),
        errno.ENOSYS,
    ),
    Denied(
        "locks of files",
        "two bots could communicate by locking the same system file alternately",
        ("flock",),
        errno.ENOLCK,
        channel=True,
    ),
    Denied(
        "watching files",
        "a bot that opens a system file could send data to one that watches it",
        ("inotify_init", "inotify_init1", "inotify_add_watch", "fanotify_init", "fanotify_mark", "cachestat",
         "lookup_dcookie"),
        errno.ENOSYS,
        channel=True,
    ),
    Denied(
        "how much room is left on a disk",
        "a bot's output goes to a log on the disk, and another bot would see the space that it takes",
        ("statfs", "fstatfs", "ustat"),
        errno.ENOSYS,
        channel=True,
    ),
    Denied(
        "sessions",
        "the kernel numbers them for the whole machine and shows the number: a counter that outlives every match",
        ("setsid",),
        channel=True,
    ),
    Denied(
        "how and where others run",
        "a bot would leave a mark on the process that it is copied from, for the next match to find",
        ("ioprio_set", "sched_setscheduler", "sched_setparam", "sched_setattr", "move_pages", "migrate_pages"),
        channel=True,
    ),
    Denied(
        "timers that send signals",
        "a bot that is frozen until the next request could use one to wake up",
        ("timer_create",),
        errno.ENOSYS,
    ),
    Denied(
        "another way to open files",
        "the filter cannot see its flags",
        ("openat2",),
        errno.ENOSYS,
    ),
    Denied(
        "memory lent to a pipe",
        "one byte of it holds a page of any size, which no limit counts",
        ("vmsplice",),
        errno.ENOSYS,
    ),
    Denied(
        "the machine itself",
        "no bot needs its modules, clocks, names, logs and ports",
        ("kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot", "syslog", "acct",
         "sethostname", "setdomainname", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "iopl", "ioperm",
         "modify_ldt", "vhangup", "uselib"),
    ),
)  # fmt: skip

DENIED_ARGUMENTS = (
    DeniedArgument(
        "clone with a new namespace",
        "as unshare; plain processes and threads are fine",
        "clone",
        0,
        bits=NEW_NAMESPACES,
    ),
    DeniedArgument(
        "fcntl that locks, leases or watches",
        "as flock; SQLite reads a file with immutable=1 and works in memory",
        "fcntl",
        1,
        errno.ENOLCK,
        any_of=(_F_GETLK, _F_SETLK, _F_SETLKW, _F_OFD_GETLK, _F_OFD_SETLK, _F_OFD_SETLKW, _F_SETLEASE, _F_NOTIFY),
    ),
    DeniedArgument(
        "fcntl that notes something at an open file",
        "pipes are shared with the process that a bot is copied from, and with later copies",
        "fcntl",
        1,
        any_of=(_F_SETOWN, _F_SETSIG, _F_SETOWN_EX, _F_SET_RW_HINT, _F_SET_FILE_RW_HINT),
    ),
    DeniedArgument("open of a file without a name", _NO_TMPFILE, "open", 1, errno.EOPNOTSUPP, bits=_O_TMPFILE),
    DeniedArgument("openat of a file without a name", _NO_TMPFILE, "openat", 2, errno.EOPNOTSUPP, bits=_O_TMPFILE),
    DeniedArgument(
        "fcntl that makes a pipe larger",
        "what is in a pipe is the kernel's memory: 64 kB are counted for each",
        "fcntl",
        1,
        any_of=(_F_SETPIPE_SZ,),
    ),
    DeniedArgument(
        "setsockopt that makes a socket hold more",
        "a larger buffer is the kernel's memory: what it gives without being asked is counted",
        "setsockopt",
        2,
        any_of=(_SO_SNDBUF, _SO_SNDBUFFORCE),
    ),
    DeniedArgument(
        "setpriority of a group or a user",
        "as the other ways to change how others run",
        "setpriority",
        0,
        none_of=(0,),
    ),
    DeniedArgument("setpriority of another process", _ON_ANOTHER_PROCESS, "setpriority", 1, none_of=(0,)),
    DeniedArgument("sched_setaffinity of another process", _ON_ANOTHER_PROCESS, "sched_setaffinity", 0, none_of=(0,)),
    DeniedArgument("prlimit64 of another process", _ON_ANOTHER_PROCESS, "prlimit64", 0, none_of=(0,)),
    DeniedArgument(
        "preadv2 that reads what is in memory already",
        "a bot that reads a system file could send data to one that asks whether it was read",
        "preadv2",
        5,
        errno.EOPNOTSUPP,
        bits=_RWF_NOWAIT,
    ),
    DeniedArgument(
        "prctl that hides a process, or adopts others' children",
        "arena looks at all of a bot's processes from outside, and counts what they have",
        "prctl",
        0,
        any_of=(PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER),
    ),
    DeniedArgument(
        "ioctl that types into a terminal",
        "a command that is typed into your terminal runs with your rights",
        "ioctl",
        1,
        any_of=(_TIOCSTI, _TIOCLINUX),
    ),
)
NON_UNIX_SOCKETS = DeniedArgument(
    "every socket but Unix ones (internet, netlink, packet, vsock ...)",
    "there is no network; address families are the largest attack surface of the kernel",
    "socket",
    0,
    errno.EAFNOSUPPORT,
    none_of=(_AF_UNIX,),
)
"""With a root file system, which has no Unix sockets of other users."""
ALL_SOCKETS = (
    DeniedArgument(
        "every socket, where there are no namespaces",
        "other users' Unix sockets could be reached by their paths",
        "socket",
        0,
        none_of=(),
    ),
    DeniedArgument(
        "pairs of sockets that can send elsewhere, where there are no namespaces",
        "a pair of streams is fine",
        "socketpair",
        1,
        none_of=(_SOCK_STREAM,),
        within=_SOCK_TYPE_MASK,
    ),
)
"""Without one, where Unix sockets of other users are visible."""


# Filter
#
# Assembles the policy into BPF. No library: the Python module of libseccomp comes with distributions and not from PyPI,
# and the filter needs only seven kinds of instructions. A process keeps its filter for good, and so
# does everything it starts.


_LOAD, _JUMP, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_BITS, _AND, _RETURN = 0x20, 0x05, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _ERROR, _KILL = 0x7FFF_0000, 0x0005_0000, 0x8000_0000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_X32_BIT = 0x4000_0000
"""First number of the x32 calls of x86-64: the same calls under other numbers."""


ARCHITECTURES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
"""AUDIT_ARCH values of the machines in `MACHINES`."""


class Instruction(NamedTuple):
    """A BPF instruction: opcode, operand, and how many instructions to skip if the test is true or false."""

    code: int
    number: int
    jump_true: int = 0
    jump_false: int = 0


def assemble(machine: str, has_rootfs: bool) -> list[Instruction]:
    """Return the filter for this machine type, as `os.uname` names it; raise OSError if it is unknown."""
    if machine not in ARCHITECTURES:
        raise OSError(f"there is no list of system calls for {machine}")
    # Another architecture has other numbers for the same calls: such a program is killed.
    program = [
        Instruction(_LOAD, _ARCHITECTURE_AT),
        Instruction(_JUMP_EQUAL, ARCHITECTURES[machine], 1),
        Instruction(_RETURN, _KILL),
        Instruction(_LOAD, _NUMBER_AT),
    ]
    # x32 calls would bypass the rules below.
    if machine == "x86_64":
        program += [Instruction(_JUMP_AT_LEAST, _X32_BIT, 0, 1), return_error(errno.ENOSYS)]
    tests = [(call, [return_error(denied.error)]) for denied in DENIED for call in denied.calls]
    sockets = (NON_UNIX_SOCKETS,) if has_rootfs else ALL_SOCKETS
    tests += [(rule.call, _argument_test(rule)) for rule in (*DENIED_ARGUMENTS, *sockets)]
    for call, test in tests:
        number = syscall_number(call, machine)
        if number is not None:
            program += [Instruction(_JUMP_EQUAL, number, 0, len(test)), *test]
    return [*program, Instruction(_RETURN, _ALLOW)]


def return_error(error: int) -> Instruction:
    """Return the instruction that makes a call fail with this errno."""
    return Instruction(_RETURN, _ERROR | error)


def _argument_test(rule: DeniedArgument) -> list[Instruction]:
    """Return the instructions that deny the call or continue with the next rule."""
    # Only the low 32 bits of an argument are loaded: the kernel ignores the upper half of all tested ones.
    look = [Instruction(_LOAD, _ARGUMENTS_AT + 8 * rule.argument), Instruction(_AND, rule.within)]
    # The accumulator holds the argument now: the next rule needs the number of the call again.
    fail, go_on = return_error(rule.error), Instruction(_LOAD, _NUMBER_AT)
    if rule.bits:
        return [*look, Instruction(_JUMP_BITS, rule.bits, 0, 1), fail, go_on]
    values, pass_by = (rule.any_of, [Instruction(_JUMP, 1)]) if rule.none_of is None else (rule.none_of, [])
    # A match jumps over the remaining values and what follows them: to `fail` for any_of, past it for none_of.
    found = [Instruction(_JUMP_EQUAL, value, len(values) - place, 0) for place, value in enumerate(values)]
    return [*look, *found, *pass_by, fail, go_on]
