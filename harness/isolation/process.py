"""A sandboxed process as Arena sees it: lines in, lines out, and its log."""

from __future__ import annotations

import fcntl
import os
import re
import select
import shutil
import signal
import tempfile
import termios
from contextlib import suppress
from io import FileIO
from math import inf
from pathlib import Path
from time import perf_counter, sleep
from typing import Any, ClassVar

from harness.core.records import FaultKind
from harness.isolation.accounting import FreezeFailed, ProcessTree, children_of, descendants_of, exceeds_memory
from harness.isolation.cgroups import Cgroup
from harness.isolation.launch import Launch
from harness.isolation.limits import SandboxLimits
from harness.isolation.prefork import TemplateProcess
from harness.isolation.protocol import MAX_LINE_BYTES
from harness.match.faults import BotFault, without_addresses
from harness.match.referee import MIN_CPU_SHARE
from harness.match.stdio import MAX_LOG_BYTES, BotLogs, TaggedLines, current_match

# Log of stderr


KEPT_STDERR_BYTES = 2000
"""The end of stderr is kept to explain why a program ended."""


class StderrLog:
    """Sends stderr of a program to the log of its bot, each line tagged with its match, and keeps the end of it."""

    def __init__(self, bot: str, logs: BotLogs | None) -> None:
        """Without `logs` only the end is kept."""
        self._bot, self._logs, self._kept = bot, logs, b""
        self._lines, self._match = TaggedLines(self._write), ""

    def add(self, part: bytes) -> None:
        """Add output of the program."""
        self._kept = (self._kept + part)[-KEPT_STDERR_BYTES:]
        match = current_match()
        if match != self._match:
            self.end()
            self._lines, self._match = TaggedLines(self._write), match
        if self._logs:
            self._lines.add(f"[{match}] ".encode() if match else b"", part)

    def end(self) -> None:
        """End an unfinished line."""
        self._lines.end()

    @property
    def last_line(self) -> str:
        """The last line that the program wrote."""
        lines = self._kept.decode(errors="replace").strip().splitlines()
        return without_addresses(lines[-1].strip()[:200]) if lines else ""

    def _write(self, text: bytes) -> None:
        assert self._logs is not None, "lines are added only with logs"
        self._logs.append(self._bot, text)
        if self._logs.show:
            with suppress(OSError):
                os.write(2, text.replace(b"[%b] " % self._match.encode(), f"[{self._bot} {self._match}] ".encode()))


# Process


READ_BYTES = 1 << 16
KILL_AFTER_S = 2.0
"""The supervisor has this long to clean up after SIGTERM, then it is killed."""
EXIT_CODE_WAIT_S = 1.0
"""Time to wait for the exit code once the program has closed its pipe."""
POLL_INTERVAL_S = 0.025
"""Time between two checks of suspended bots and of memory while a bot thinks."""
LAST_LINE_TIMEOUT_S = 0.1
"""Time for a program to read its last line, which needs no answer."""
_OUT_OF_MEMORY = re.compile(r"MemoryError|out of memory|cannot allocate|bad_alloc", re.IGNORECASE)


class ProcessEnded(Exception):
    """The program has ended, or has closed stdin or stdout."""


class DeadlinePassed(Exception):
    """No answer in time; `unfinished` is how many bytes of an unfinished line had arrived."""

    def __init__(self, unfinished: int) -> None:
        super().__init__("the time is over")
        self.unfinished = unfinished


class Process:
    """A running program and its supervisor. The owner must call `kill` or `dismiss` in the end."""

    _suspended: ClassVar[dict[Process, ProcessTree]] = {}
    """Bots of the matches of this process that have answered and wait for their next request."""

    def __init__(
        self,
        launch: Launch,
        home: str,
        log: StderrLog | None = None,
        ponder: bool = False,
        **limits: Any,
    ) -> None:
        """`home` is where its scratch folder is created; `limits` are fields of SandboxLimits.

        Unless it may `ponder`, the program is suspended from each answer to the next request.
        """
        ProcessTree.leave_core()  # what is started inherits it
        self.folder = tempfile.mkdtemp(prefix="bot-", dir=home)
        self._log, self._buffer = log or StderrLog("", None), b""
        wanted = SandboxLimits(self.folder, launch.readable, **limits)
        # Named after the temporary folder, so that the next run recognises cgroups of dead processes.
        self._cgroup = Cgroup.create(f"{Path(home).name}.{Path(self.folder).name}", wanted.memory, wanted.processes)
        self._in_cgroup = False
        """Whether a cgroup is known to count its memory, so that Arena need not."""
        self.pid, pipes = launch.start(wanted, str(self._cgroup.path) if self._cgroup else "")
        """Process id of the supervisor."""
        self._exit_code: int | None = None
        self._pipes, (self._in, self._out, self._err) = list(map(FileIO, pipes)), pipes
        for descriptor in (self._in, self._out, self._err):
            # A bot that does not read must not block Arena past the deadline.
            os.set_blocking(descriptor, False)
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._poll.register(self._err, select.POLLIN)
        self.alive = True
        """Whether the program can be asked; False once it was killed."""
        self.is_tainted = False
        """Whether a fork ended by itself or left something behind: it must not be forked again."""
        self._fork_pending = self._always_freeze = False
        """Whether a fork was requested and has not answered yet; whether any fork worked between requests."""
        self._copied, self._ponder = launch.copied, ponder
        self._memory: int = limits.get("memory", 0)
        self._unchecked_s = 0.0
        """Seconds of thinking since its memory was last checked."""
        self._cpu_used, self._cpu_before = 0.0, 0.0
        """Processor time in this match, and before it."""
        self.template: TemplateProcess | None = None
        """The process that is forked for each match; None if every match needs a new process."""
        self._tree: ProcessTree | None = None
        """The processes that answer; None before hello, between two forks, and where the system does not list
        children.
        """
        self._copy_pidfd = -1
        """A descriptor that becomes readable when the fork exits."""

    @property
    def running(self) -> bool:
        """Whether the program is still running."""
        if self._exit_code is None:
            try:
                ended, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # code of a bot in this process has waited for it
                ended, status = self.pid, 0
            self._exit_code = os.waitstatus_to_exitcode(status) if ended else None
        return self._exit_code is None

    @property
    def counted_by_kernel(self) -> bool:
        """Whether a cgroup counts its memory, known after its first line; otherwise Arena counts."""
        self._in_cgroup = self._in_cgroup or (self._cgroup is not None and self._cgroup.populated)
        return self._in_cgroup

    def exchange(
        self, line: bytes, deadline: float, max_bytes: int = MAX_LINE_BYTES, awaited: str = "answered"
    ) -> bytes:
        """Send a line and return the next one. If none comes, kill the process and raise the matching BotFault.

        `deadline` is in the time of perf_counter, `max_bytes` limits the answer. `awaited` completes the sentence "it
        had not ..." in the detail of the fault.
        """
        began = perf_counter()
        try:
            if self._tree is None:
                self.begin_match()
            answer = self.ask(line, deadline, max_bytes)
            self._unchecked_s += perf_counter() - began
            # Quick answers never wait in `_wait`, where memory is checked, so add up their time here.
            if self._unchecked_s > POLL_INTERVAL_S:
                self._poll_others()
            self._suspend()
        except BotFault:
            self.kill()
            raise
        except FreezeFailed:
            self.kill()
            raise BotFault("crash", "its processes could not be stopped after its answer", doubtful=True) from None
        except DeadlinePassed as late:
            # A late answer with little processor time is doubtful: the machine may have been busy. The match is then
            # played again before the bot is blamed.
            little = MIN_CPU_SHARE * (perf_counter() - began)
            idle = self._fork_pending or (self._tree is not None and self._tree.cpu_since_answer() < little)
            self.kill()
            half = f"; {late.unfinished} bytes without an end of line had come" if late.unfinished else ""
            raise BotFault(
                "timeout", f"had not {awaited} after {deadline - began:.3g} s; its process was killed{half}", idle
            ) from None
        except ProcessEnded:
            # After a fork exited by itself, the next match gets a new process.
            self.is_tainted = self.template is not None
            # The kernel killed it for memory: the same fault as if Arena had noticed first.
            if self._cgroup and self._cgroup.out_of_memory:
                self.kill()
                raise self._memory_fault() from None
            ending = "" if self.template else self.kill(EXIT_CODE_WAIT_S)  # the kernel keeps no exit code of a fork
            self.kill()
            words = self.last_stderr_line()
            kind: FaultKind = "memory" if _OUT_OF_MEMORY.search(words) else "crash"
            detail = ": ".join(filter(None, ("its process ended", ending, words)))
            raise BotFault(kind, detail, kind == "crash") from None
        return answer

    def ask(self, line: bytes, deadline: float, max_bytes: int = MAX_LINE_BYTES) -> bytes:
        """Send a line and return the next one. `deadline` is in the time of perf_counter.

        Raise BotFault for a line that is too long and for too much memory; the caller has to kill the process then.
        """
        tree = self._tree
        if tree:
            # Before the line is sent: afterwards its work is legitimate.
            tree.check_idle_cpu()
            if self.template:
                self.template.await_stop()
        self.send(line, deadline)
        if tree:
            self._suspended.pop(self, None)
            tree.thaw()  # after the line was written, so that it wakes up once
        while True:
            if self._buffer:
                answer, newline, rest = self._buffer.partition(b"\n")
                if len(answer) > max_bytes:  # with or without its newline
                    raise BotFault("illegal", f"sent more than {max_bytes} bytes in one line")
                if newline:
                    self._buffer = rest
                    return answer
            found = self._wait(deadline)
            if len(found) == 1 and found[0][0] == self._out:
                self._read_stdout()
                continue
            ready = [descriptor for descriptor, _ in found]
            if self._err in ready:
                self._read_stderr()
            if self._out in ready:
                self._read_stdout()
            elif self._copy_pidfd in ready:  # after stdout, because the answer may have arrived before the exit
                raise ProcessEnded

    def begin_match(self) -> None:
        """Let the template fork the copy that plays next."""
        if self._tree:
            self._tree.use_all_cores()
        elif self.template and not self._fork_pending:
            self._cpu_before = self._unchecked_s = 0.0
            self._fork_pending = True
            self.template.fork_copy()

    def share_core(self, players: int) -> None:
        """Let Arena and the bots of a match use one core, if all of this many have their processes."""
        if len(self._suspended) == players:
            ProcessTree.share_core(self._suspended.values())

    def processor_time(self) -> float:
        """Return the processor time of this match, or of the last one between matches."""
        if self._tree:
            self._cpu_used = max(0.0, self._tree.processor_time() - self._cpu_before)
        return self._cpu_used

    def end_match(self) -> bool:
        """End the fork that has played; return whether the template can be forked again."""
        ProcessTree.leave_core()
        if self.template is None:
            self._suspended.pop(self, None)
            if self._tree and not self._ponder:
                with suppress(FreezeFailed):
                    self._tree.freeze()
            self._cpu_before = self._tree.processor_time() if self._tree else 0.0
            return False
        if self._tree is None:
            return self.alive
        with suppress(FreezeFailed):
            self._tree.freeze()
        self._always_freeze |= self._tree.always_freeze
        # Processes that a fork leaves become children of the template: the next fork would see them.
        # Order: freeze, inspect, kill. A running fork could change something after the inspection.
        alone = self.alive and self._tree.was_single and not self.template.copy_ended()
        self._tree.kill()
        unread = fcntl.ioctl(self._in, termios.FIONREAD, bytes(4)) != bytes(4)
        self.is_tainted = unread or not (alone and self.template.is_unchanged)
        self._release_copy()
        with suppress(OSError):
            while os.read(self._out, READ_BYTES):  # output after its last answer
                continue
        self._buffer = b""
        return not self.is_tainted

    def _suspend(self) -> None:
        """After an answer: the bot's processes are frozen until the next request."""
        if self._tree is None:
            if self.template:
                self._adopt_copy()
            else:
                self._find_tree()
                return
        if self._tree and not self._ponder:
            self._tree.suspend()
            self._suspended[self] = self._tree

    def _find_tree(self) -> None:
        """After hello, when the bot is loaded: use it as a template, or find its processes."""
        if self._copied:
            self.template = TemplateProcess.detect(self.pid, self.folder, (self._in, self._out, self._err))
            if self.template:
                return
        started = children_of(self.pid)
        if started:
            self._tree = ProcessTree(self.pid, started[0])
            self._cpu_before = self._tree.processor_time()
            if not self._ponder:
                self._tree.freeze()  # its match may start much later

    def _adopt_copy(self) -> None:
        """After the first answer of a fork: find its process and stop the template."""
        assert self.template is not None
        self._fork_pending = False
        self._tree = self.template.take_copy()
        if self._tree is None:
            raise ProcessEnded
        self._copy_pidfd = self.template.copy_pidfd
        self._poll.register(self._copy_pidfd, select.POLLIN)
        self._tree.always_freeze = self._always_freeze
        if self.template.distinguishable:
            raise ProcessEnded

    def _release_copy(self) -> None:
        self._suspended.pop(self, None)
        if self._tree:
            self._tree.close()
            self._tree = None
        if self._copy_pidfd >= 0:
            self._poll.unregister(self._copy_pidfd)
            self._copy_pidfd = -1

    def send(self, line: bytes, deadline: float) -> None:
        """Send a line, as fast as the program reads it."""
        while True:
            try:
                sent = os.write(self._in, line)
            except BlockingIOError:
                if self._tree:
                    self._tree.thaw()  # it has to read to make room
                self._wait_to_send(deadline)
                continue
            except (BrokenPipeError, ConnectionResetError):
                raise ProcessEnded from None
            if sent == len(line):
                return
            line = line[sent:]

    def _wait_to_send(self, deadline: float) -> None:
        # stderr is read while waiting, or a bot that prints much would wait for us while we wait for it.
        self._poll.register(self._in, select.POLLOUT)
        self._poll.unregister(self._out)  # unexpected output must not keep this loop busy
        try:
            if any(descriptor == self._err for descriptor, _ in self._wait(deadline)):
                self._read_stderr()
        finally:
            self._poll.register(self._out, select.POLLIN)
            self._poll.unregister(self._in)

    def _wait(self, deadline: float) -> list[tuple[int, int]]:
        while (left := deadline - perf_counter()) > 0:
            ready = self._poll.poll(min(POLL_INTERVAL_S, left) * 1000 + 1)
            if ready:
                return ready
            self._poll_others()
            if self._tree:
                self._tree.use_all_cores()
        raise DeadlinePassed(len(self._buffer))

    def _poll_others(self) -> None:
        """While it thinks: check the suspended bots, and its memory."""
        for tree in self._suspended.values():
            tree.enforce_idle()
        if self._fork_pending and self.template and self.template.copy_is_gone:
            raise ProcessEnded
        self._unchecked_s = 0.0
        if not self._memory or self.counted_by_kernel:
            return
        if exceeds_memory(descendants_of(self.pid), self._memory, self.template.pid if self.template else 0):
            raise self._memory_fault()

    def _memory_fault(self) -> BotFault:
        return BotFault("memory", f"its processes took more than {self._memory} MB in all")

    def _read_stdout(self) -> None:
        part = os.read(self._out, READ_BYTES)
        if not part:
            raise ProcessEnded
        self._buffer += part

    def _read_stderr(self) -> None:
        """Read what the program wrote to stderr."""
        try:
            part = os.read(self._err, READ_BYTES)
        except BlockingIOError:
            return
        if not part:
            self._poll.unregister(self._err)
            return
        self._log.add(part)

    def last_stderr_line(self) -> str:
        """Return the last line that the program wrote to stderr."""
        return self._log.last_line.replace(f"{Path(self.folder).parent}/", "")

    def peak_memory(self) -> float:
        """Return the peak memory of the program in megabytes; 0 if unknown."""
        most = 0
        for each in descendants_of(self.pid):
            with suppress(OSError):
                found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{each}/status").read_text())
                most = max(most, int(found[1]) if found else 0)
        return most / 1000

    def dismiss(self, line: bytes, grace: float) -> None:
        """Send a last line, wait up to `grace` seconds for the program to exit, then kill it."""
        if not self.alive:
            return
        if self._copied:  # the template reads nothing
            self.kill()
            return
        with suppress(ProcessEnded, DeadlinePassed):
            self.send(line, perf_counter() + LAST_LINE_TIMEOUT_S)
        with suppress(OSError):
            self._pipes[0].close()  # a program that ignores the line may still exit at end-of-file
        if self._tree:
            self._tree.thaw()
        self.kill(grace)

    def kill(self, grace: float = 0.0) -> str:
        """Kill the program and everything it has started; return how it had exited by itself.

        `grace` is how many seconds to wait for a program that seems to be exiting.
        """
        self.alive = False
        self.processor_time()
        self._release_copy()
        if self.template:
            self.template.close()
        code = self._wait_for_exit(grace)
        if code is None:
            # SIGTERM lets the supervisor kill everything the bot started. SIGKILL is for a supervisor that hangs.
            os.kill(self.pid, signal.SIGTERM)
            if self._wait_for_exit(KILL_AFTER_S) is None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self.pid, signal.SIGKILL)
                self._wait_for_exit(inf)
        with suppress(OSError, KeyError):
            # Bounded: an orphan that keeps writing must not keep us here.
            for _ in range(MAX_LOG_BYTES // READ_BYTES):
                if not select.select([self._err], [], [], 0)[0]:
                    break
                self._read_stderr()
        self._log.end()
        for pipe in self._pipes:
            with suppress(OSError):
                pipe.close()
        if self._cgroup:
            self._cgroup.remove()
        shutil.rmtree(self.folder, ignore_errors=True)
        return _exit_text(code)

    def _wait_for_exit(self, seconds: float) -> int | None:
        """Return the exit code of the supervisor; None if it runs after this time."""
        until = perf_counter() + seconds
        while self.running and (left := until - perf_counter()) > 0:
            if hasattr(os, "pidfd_open"):
                descriptor = os.pidfd_open(self.pid)
                select.select([descriptor], [], [], min(left, KILL_AFTER_S))
                os.close(descriptor)
            else:
                sleep(POLL_INTERVAL_S)
        return self._exit_code


def _exit_text(code: int | None) -> str:
    if code is None:
        return "it closed its pipe"
    if code > 128:
        with suppress(ValueError):
            return signal.Signals(code - 128).name
    return f"exit code {code}"
