"""The written policy of the filter: which system calls a bot has not, why, and what it gets instead.

docs/security.md shows this list, and a test keeps the two alike. A call that programs try in passing is answered as an
old kernel would (ENOSYS), so that they do without; the rest is refused.

Not denied, because the same is told where no filter reaches: how much one's children have used (wait4, getrusage,
times), which /proc/self/stat has too; and sysinfo, by whose count of processes two bots could talk, but which is also
the number of links of /proc. Programs that ask glibc how much memory there is get nonsense if sysinfo fails.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass

CALLS: dict[str, tuple[int | None, int | None]] = {
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
"""The numbers of system calls on each of `MACHINES`; None where there is no such call."""
MACHINES = ("x86_64", "aarch64")
"""As `os.uname` calls them."""


def number_of(call: str, machine: str) -> int | None:
    """The number of a system call on a kind of machine, as far as it has one that is known here."""
    return CALLS[call][MACHINES.index(machine)] if machine in MACHINES else None


@dataclass(frozen=True, slots=True)
class Denied:
    """Calls that belong together, and why a bot has none of them."""

    what: str
    why: str
    calls: tuple[str, ...]
    error: int = errno.EPERM
    channel: bool = False
    """Whether two bots could talk by them; if not, they lead into the kernel or to the machine."""


@dataclass(frozen=True, slots=True)
class DeniedArgument:
    """A call that is denied by what one of its arguments is: exactly one of the tests is given."""

    what: str
    why: str
    call: str
    argument: int
    error: int = errno.EPERM
    any_of: tuple[int, ...] = ()
    """Denied if it is one of these."""
    none_of: tuple[int, ...] | None = None
    """Denied unless it is one of these."""
    bits: int = 0
    """Denied if it has any of these bits."""
    within: int = 0xFFFF_FFFF
    """The bits of the argument that are looked at."""


NEW_NAMESPACES = 0x7E02_0000
"""The bits of all CLONE_NEW flags."""
_GETLK, _SETLK, _SETLKW, _OFD_GETLK, _OFD_SETLK, _OFD_SETLKW, _SETLEASE, _NOTIFY = 5, 6, 7, 36, 37, 38, 1024, 1026
_AF_UNIX, _SOCK_STREAM, _TYPE_OF_SOCKET = 1, 1, 0xF
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_SET_PIPE_SIZE = 1031
_SETOWN, _SETSIG, _SETOWN_EX, _SET_RW_HINT, _SET_FILE_RW_HINT = 8, 10, 15, 1036, 1038
_NAMELESS_FILE = 0o20000000
_SEND_BUFFER, _SEND_BUFFER_FORCE = 7, 32
_IF_CACHED = 8
_SET_DUMPABLE, _SET_SUBREAPER = 4, 36
_OTHERS = "likewise; oneself (0) is fine"
_NAMELESS = "it counts up the numbers of files in the scratch folder without a trace; temporary files get a name then"

DENIED = (
    Denied(
        "namespaces",
        "a user namespace hands out rights inside it, and with them most of the kernel that has had holes",
        ("unshare", "setns"),
    ),
    Denied(
        "clone3",
        "its flags lie in memory, where no filter sees them; programs use clone then",
        ("clone3",),
        errno.ENOSYS,
    ),
    Denied(
        "mounts and file handles",
        "they would change, or go around, the file system that the bot was given",
        ("mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount",
         "fspick", "mount_setattr", "open_tree_attr", "swapon", "swapoff", "quotactl", "quotactl_fd",
         "open_by_handle_at", "name_to_handle_at"),
    ),
    Denied(
        "keys",
        "keyrings hold the operator's keys, and two bots could pass notes in them",
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
        "does what other calls do where no filter sees it",
        ("io_uring_setup", "io_uring_enter", "io_uring_register"),
        errno.ENOSYS,
    ),
    Denied(
        "other processes' memory",
        "nobody looks into anybody",
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
        "two bots that lock the same system file in turns talk by it",
        ("flock",),
        errno.ENOLCK,
        channel=True,
    ),
    Denied(
        "watching files",
        "a bot that opens a system file and one that watches it talk by it",
        ("inotify_init", "inotify_init1", "inotify_add_watch", "fanotify_init", "fanotify_mark", "cachestat",
         "lookup_dcookie"),
        errno.ENOSYS,
        channel=True,
    ),
    Denied(
        "how much room is left on a disk",
        "what one bot prints goes to a log on the disk, and another would see the room that it takes",
        ("statfs", "fstatfs", "ustat"),
        errno.ENOSYS,
        channel=True,
    ),
    Denied(
        "sessions",
        "the kernel numbers them for the whole machine, and tells the number: a counter that outlives every match",
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
        "a bot that is stopped until it is asked again would have one wake it",
        ("timer_create",),
        errno.ENOSYS,
    ),
    Denied(
        "another way to open files",
        "its flags are out of the filter's sight",
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
        "its modules, clocks, names, logs and ports are not a bot's business",
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
        any_of=(_GETLK, _SETLK, _SETLKW, _OFD_GETLK, _OFD_SETLK, _OFD_SETLKW, _SETLEASE, _NOTIFY),
    ),
    DeniedArgument(
        "fcntl that notes something at an open file",
        "pipes are shared with the process that a bot is copied from, and with later copies",
        "fcntl",
        1,
        any_of=(_SETOWN, _SETSIG, _SETOWN_EX, _SET_RW_HINT, _SET_FILE_RW_HINT),
    ),
    DeniedArgument("open of a file without a name", _NAMELESS, "open", 1, errno.EOPNOTSUPP, bits=_NAMELESS_FILE),
    DeniedArgument("openat of a file without a name", _NAMELESS, "openat", 2, errno.EOPNOTSUPP, bits=_NAMELESS_FILE),
    DeniedArgument(
        "fcntl that makes a pipe larger",
        "what is in a pipe is the kernel's memory: 64 kB are counted for each",
        "fcntl",
        1,
        any_of=(_SET_PIPE_SIZE,),
    ),
    DeniedArgument(
        "setsockopt that makes a socket hold more",
        "likewise: what the kernel gives without being asked is counted for each",
        "setsockopt",
        2,
        any_of=(_SEND_BUFFER, _SEND_BUFFER_FORCE),
    ),
    DeniedArgument(
        "setpriority of a group or a user",
        "as the other ways to change how others run",
        "setpriority",
        0,
        none_of=(0,),
    ),
    DeniedArgument("setpriority of another process", _OTHERS, "setpriority", 1, none_of=(0,)),
    DeniedArgument("sched_setaffinity of another process", _OTHERS, "sched_setaffinity", 0, none_of=(0,)),
    DeniedArgument("prlimit64 of another process", _OTHERS, "prlimit64", 0, none_of=(0,)),
    DeniedArgument(
        "preadv2 that reads what is in memory already",
        "a bot that reads a system file and one that asks whether it was read talk by it",
        "preadv2",
        5,
        errno.EOPNOTSUPP,
        bits=_IF_CACHED,
    ),
    DeniedArgument(
        "prctl that hides a process, or adopts others' children",
        "arena looks at all of a bot's processes from outside, and counts what they have",
        "prctl",
        0,
        any_of=(_SET_DUMPABLE, _SET_SUBREAPER),
    ),
    DeniedArgument(
        "ioctl that types into a terminal",
        "what is typed into yours is done in your name",
        "ioctl",
        1,
        any_of=(_TIOCSTI, _TIOCLINUX),
    ),
)
OUTSIDE_SOCKETS = DeniedArgument(
    "every socket but Unix ones (internet, netlink, packet, vsock ...)",
    "there is no network; families of sockets are the widest door into the kernel",
    "socket",
    0,
    errno.EAFNOSUPPORT,
    none_of=(_AF_UNIX,),
)
"""Where the bot has a file system of its own, so that no Unix socket of others is in it."""
ALL_SOCKETS = (
    DeniedArgument(
        "every socket, where there are no namespaces",
        "Unix sockets of others could be reached by their paths",
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
        within=_TYPE_OF_SOCKET,
    ),
)
"""Where others' files, and so their sockets, have places."""
