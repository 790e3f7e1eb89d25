"""One limit for all processes of a bot, kept by the kernel where cgroups (v2) are ours to make."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import pytest
from click.testing import CliRunner

from harness.cli.main import main
from harness.conformance.bot_check import BotReport
from harness.core.errors import UsageError
from harness.isolation import cgroups, doctor, process
from harness.isolation import launch as scratch
from harness.isolation.cgroups import ARENA_CGROUP, Cgroup
from harness.isolation.launch import Launch
from harness.isolation.process import Process
from harness.match.faults import BotFault
from harness.output import text
from tests.support.cli import arena
from tests.support.lesser_rights import SOMEBODY, run
from tests.support.waiting import PATIENCE, wait_for

V1 = "30 23 0:26 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n"
HYBRID = V1 + "42 24 0:39 / /sys/fs/cgroup/unified rw,relatime shared:12 - cgroup2 cgroup2 rw\n"
PURE = "35 25 0:30 / /sys/fs/cgroup rw,nosuid shared:10 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n"
BOUND = "35 25 0:30 /machine/box /sys/fs/cgroup rw - cgroup2 cgroup rw\n"
SCOPE = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-1.scope\n"


@pytest.mark.parametrize(
    ("mounts", "groups", "found"),
    [
        (V1, "4:memory:/x\n", None),
        (HYBRID, "4:memory:/x\n0::/\n", "/sys/fs/cgroup/unified"),
        (PURE, SCOPE, "/sys/fs/cgroup" + SCOPE[3:-1]),
        (PURE, "0::/\n", "/sys/fs/cgroup"),
        (BOUND, "0::/machine/box/inner\n", "/sys/fs/cgroup/inner"),
        (BOUND, "0::/machine/boxer\n", None),
    ],
)
def test_the_own_cgroup_is_parsed_from_the_kernel_files(mounts, groups, found):
    own = cgroups._parse_own_cgroup(mounts, groups)
    assert (own and str(own[1])) == found


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """A tree of files that looks like cgroups: slice/scope, with this process in the scope."""
    scope = tmp_path / "slice" / "scope"
    scope.mkdir(parents=True)
    for folder in (scope, scope.parent):
        (folder / "cgroup.controllers").write_text("cpu memory pids\n")
        (folder / "cgroup.subtree_control").write_text("\n")
        (folder / "cgroup.procs").write_text("")
    (scope / "cgroup.procs").write_text(f"{os.getpid()}\n")
    monkeypatch.setattr(cgroups, "_parse_own_cgroup", lambda *_: (tmp_path, scope))
    cgroups.delegated_cgroup.cache_clear()
    yield scope
    cgroups.delegated_cgroup.cache_clear()


@pytest.fixture
def _full(fake, monkeypatch):
    """The kernel's rule: a cgroup that has processes in it cannot be divided."""
    divide = cgroups._enable_controllers
    monkeypatch.setattr(
        cgroups, "_enable_controllers", lambda one: (one / ARENA_CGROUP / "cgroup.procs").is_file() and divide(one)
    )


def test_a_cgroup_with_enabled_controllers_is_used_unchanged(fake):
    (fake / "cgroup.subtree_control").write_text("memory pids\n")
    assert cgroups.delegated_cgroup() == fake
    assert (fake / "cgroup.subtree_control").read_text() == "memory pids\n"


def test_arena_moves_into_a_child_cgroup_if_it_is_the_only_process(_full, fake):
    assert cgroups.delegated_cgroup() == fake
    assert (fake / ARENA_CGROUP / "cgroup.procs").read_text() == str(os.getpid())
    assert (fake / "cgroup.subtree_control").read_text() == "+memory +pids"


def test_with_other_processes_in_the_cgroup_the_parent_cgroup_is_used(_full, fake):
    (fake / "cgroup.procs").write_text(f"{os.getpid()}\n{os.getppid()}\n")
    assert cgroups.delegated_cgroup() is None  # nor does it change that one
    (fake.parent / "cgroup.subtree_control").write_text("cpu memory pids\n")
    cgroups.delegated_cgroup.cache_clear()
    assert cgroups.delegated_cgroup() == fake.parent
    assert not (fake / ARENA_CGROUP).exists()


def test_no_cgroup_is_used_without_the_memory_and_pids_controllers(fake):
    for folder in (fake, fake.parent):
        (folder / "cgroup.controllers").write_text("cpu hugetlb\n")
    assert cgroups.delegated_cgroup() is None
    assert Cgroup.create("arena-x.bot-1", 256, 64) is None


def test_cgroup_limits_cover_all_processes_and_allow_no_swap(fake, monkeypatch):
    without_swap = Cgroup.create("arena-x.bot-0", 256, 64)  # a kernel does not let us create files in a cgroup
    assert {file.name for file in without_swap.path.iterdir()} == {"memory.max", "pids.max"}
    monkeypatch.setattr(cgroups, "_OPTIONAL_FILES", ())
    made = Cgroup.create("arena-x.bot-1", 256, 64)
    written = {file.name: file.read_text() for file in made.path.iterdir()}
    assert written == {
        "memory.max": str(256 << 20), "memory.swap.max": "0", "memory.oom.group": "1", "pids.max": "64",
    }  # fmt: skip
    assert (Cgroup.create("arena-x.bot-2", 0, 64).path / "memory.max").read_text() == "max"


DIES = (sys.executable, "-S", "-c", "import os; input(); os.kill(os.getpid(), 9)")


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize(("own_limit", "kind", "doubtful"), [(1, "memory", False), (0, "crash", True)])
def test_an_oom_kill_at_the_bots_limit_is_a_memory_fault_and_one_by_the_machine_is_doubtful(
    tmp_path, monkeypatch, own_limit, kind, doubtful
):
    group = tmp_path / "group"
    group.mkdir()
    (group / "cgroup.procs").write_text("")
    (group / "cgroup.events").write_text("populated 1\nfrozen 0\n")
    (group / "memory.events").write_text(f"low 0\nhigh 0\nmax 7\noom {own_limit}\noom_kill 1\noom_group_kill 0\n")
    monkeypatch.setattr(Cgroup, "create", classmethod(lambda cls, *_: cls(group)))
    monkeypatch.setattr(cgroups, "_REMOVE_ATTEMPTS", 1)
    program = Process(Launch(DIES), str(tmp_path), confined=False, memory=300)
    with pytest.raises(BotFault) as caught:
        program.exchange(b"\n", perf_counter() + PATIENCE)
    assert (caught.value.kind, caught.value.doubtful) == (kind, doubtful)
    assert ("more than 300 MB" in caught.value.detail) == (kind == "memory")
    assert (group / "cgroup.procs").read_text() == "0"  # which moves whoever writes it


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_arena_does_not_count_memory_that_the_kernel_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "exceeds_memory", lambda *_: True)
    monkeypatch.setattr(Cgroup, "create", classmethod(lambda cls, *_: cls(tmp_path)))
    monkeypatch.setattr(cgroups, "_REMOVE_ATTEMPTS", 1)
    answers = (sys.executable, "-S", "-c", "import time; input(); time.sleep(0.1); print(1, flush=True); input()")
    for populated in (1, 0):
        (tmp_path / "cgroup.events").write_text(f"populated {populated}\n")
        program = Process(Launch(answers), str(tmp_path), confined=False, memory=300)
        try:
            if populated:
                assert program.exchange(b"\n", perf_counter() + PATIENCE) == b"1"
            else:  # it could not be moved there
                with pytest.raises(BotFault, match="more than 300 MB"):
                    program.exchange(b"\n", perf_counter() + PATIENCE)
        finally:
            program.kill()


@pytest.fixture
def real(monkeypatch):
    """Real cgroups, without any controller: many machines that have v1 have these beside them."""
    monkeypatch.setattr(cgroups, "CONTROLLERS", ())
    cgroups.delegated_cgroup.cache_clear()
    found = cgroups.delegated_cgroup() if sys.platform == "linux" else None
    if found is None:
        pytest.skip("there are no cgroups (v2) here that are ours")
    yield found
    cgroups.delegated_cgroup.cache_clear()


SCATTERS = (
    "import os, time\nfor _ in range(3):\n if os.fork() == 0: time.sleep(999)\nprint(1, flush=True)\ntime.sleep(999)"
)


@pytest.mark.parametrize("confined", [True, False])
def test_all_child_processes_are_in_the_bots_cgroup_which_is_removed_with_it(real, tmp_path, confined):
    tmp_path.chmod(0o711)
    launch = Launch((sys.executable, "-S", "-c", SCATTERS), readable=(sys.prefix, sys.base_prefix))
    program = Process(launch, str(tmp_path), confined=confined, memory=0)
    try:
        program.exchange(b"\n", perf_counter() + PATIENCE)
        inside = (program._cgroup.path / "cgroup.procs").read_text().split()
        assert len(inside) == 4
        assert str(program.pid) not in inside  # the supervisor stays outside
        assert program.counted_by_kernel
    finally:
        program.kill()
    assert not program._cgroup.path.exists()


def test_cgroups_of_killed_runs_are_removed_and_cgroups_in_use_are_kept(real):
    home = Path(scratch.new_folder()).name
    left, living = (Cgroup.create(f"{name}.bot-1", 0, 64) for name in ("arena-nobody", home))
    full = Cgroup.create("arena-nobody.bot-2", 0, 64)
    sleeper = subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE)
    try:
        (full.path / "cgroup.procs").write_text(str(sleeper.pid))
        cgroups.delegated_cgroup.cache_clear()
        assert cgroups.delegated_cgroup() == real
        assert [one.path.exists() for one in (left, living, full)] == [False, True, True]
        full.remove()
        assert sleeper.wait(PATIENCE) < 0
        wait_for(lambda: not full.path.exists(), "its cgroup goes")
    finally:
        sleeper.kill()
        sleeper.communicate()
        for one in (left, living, full):
            one.remove()
        scratch.remove_folder(str(Path(tempfile.gettempdir(), home)))


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_doctor_reports_whether_arena_or_the_kernel_counts_memory():
    said, data = (CliRunner().invoke(main, ["doctor", *more]).stdout for more in ((), ("--json",)))
    told = json.loads(data)
    by = told["by"]["memory"]
    polled = "process" if told["enforced"]["processes"] else "arena"
    assert by == (polled if cgroups.delegated_cgroup() is None else "cgroup")
    assert ("which the kernel enforces" if by == "cgroup" else "which Arena checks every 25 ms") in said


def test_doctor_reports_that_a_cgroup_counts_memory(real):
    [memory] = [one for one in doctor.probe() if one.name == "memory"]
    assert memory.by == "cgroup"


GROWS = """
import json, os, threading, time
input()
children = threads = 0
for _ in range(8):
    try:
        child = os.fork()
    except OSError:
        continue
    if child == 0:
        kept = b"x" * (150 << 20)
        time.sleep(999)
    children += 1
try:
    threading.Thread(target=time.sleep, args=(0.1,)).start()
    threads = 1
except RuntimeError:
    pass
try:
    kept = b"x" * (400 << 20)
    large = 1
except MemoryError:
    large = 0
print(json.dumps([children, threads, large]), flush=True)
input()
"""


def grown(home: Path, **limits: object) -> list[int]:
    """How many processes, threads and large allocations a bot of 256 MB gets from the kernel: nothing else counts."""
    home.chmod(0o711)
    launch = Launch((sys.executable, "-S", "-c", GROWS), readable=(sys.prefix, sys.base_prefix))
    program = Process(launch, str(home), memory=256, **limits)
    try:
        return json.loads(program.exchange(b"\n", perf_counter() + PATIENCE))
    finally:
        program.kill()


needs_process_limit = pytest.mark.skipif(
    sys.platform != "linux" or os.getuid() != 0, reason="needs Linux, and root, which can become another user"
)


@needs_process_limit
@pytest.mark.parametrize("joins", [None, False], ids=["no cgroup", "a cgroup that it cannot join"])
def test_without_a_cgroup_the_kernel_limits_a_strict_bot_to_one_process(tmp_path, monkeypatch, joins):
    monkeypatch.setattr(process, "exceeds_memory", lambda *_: False)  # the kernel alone
    monkeypatch.setattr(cgroups, "_REMOVE_ATTEMPTS", 1)
    nowhere = tmp_path / "nowhere"
    monkeypatch.setattr(Cgroup, "create", classmethod(lambda cls, *_: None if joins is None else cls(nowhere)))
    assert grown(tmp_path, strict=True) == [0, 0, 0]
    assert grown(tmp_path)[:2] == [8, 1]  # as before with `on`, where Arena polls


@needs_process_limit
def test_a_strict_bot_of_an_ordinary_user_has_one_process_too(tmp_path):
    tmp_path.chmod(0o777)
    code = (
        "from pathlib import Path\n"
        "from harness.isolation import process\n"
        "from harness.isolation.cgroups import Cgroup\n"
        "from tests.isolation.test_cgroups import grown\n"
        "process.exceeds_memory = lambda *_: False\n"
        "Cgroup.create = classmethod(lambda *_: None)\n"
        "import tempfile\n"
        "print(grown(Path(tempfile.mkdtemp()), strict=True))"
    )
    root = str(Path(__file__).parents[2])
    done = run([sys.executable, "-c", f"import sys; sys.path.insert(0, {root!r})\n{code}"], SOMEBODY, cwd=str(tmp_path))
    if "cannot start it" in done.stderr:
        pytest.skip("ordinary users get no namespaces here, so strict isolation refuses to start")
    assert done.stdout.strip() == "[0, 0, 0]", done.stderr


@needs_process_limit
def test_a_strict_bot_in_a_cgroup_may_start_processes(real, tmp_path, monkeypatch):
    monkeypatch.setattr(process, "exceeds_memory", lambda *_: False)
    assert grown(tmp_path, strict=True)[:2] == [8, 1]


def answers(monkeypatch, counted: bool, **through: list[str]) -> None:
    """The doctor's probes on some other machine."""
    stopped = {name: through.get(name, []) for _, attempts in doctor.GUARANTEES.values() for name in attempts}
    monkeypatch.setattr(doctor, "_run_probes", lambda _targets: (stopped, counted))


@pytest.mark.parametrize(
    ("counted", "through", "by"),
    [(True, {}, "cgroup"), (False, {}, "process"), (False, {"forks": ["forks"]}, "arena")],
)
def test_doctor_says_what_limits_memory_and_strict_requires_the_kernel(monkeypatch, counted, through, by):
    answers(monkeypatch, counted, **through)
    data = json.loads(CliRunner().invoke(main, ["doctor", "--json"]).stdout)
    assert data["by"]["memory"] == by
    assert data["strict"] is (by != "arena")
    if by != "arena":
        doctor.require_enforcement()
        return
    with pytest.raises(UsageError, match="the kernel limits the memory of all processes of a bot together") as refused:
        doctor.require_enforcement()
    assert str(refused.value).count(". ") == 0  # one sentence


@pytest.mark.parametrize(("isolate", "counted", "warned"), [("on", False, 1), ("on", True, 0), ("auto", False, 0)])
def test_isolate_on_warns_once_that_memory_is_limited_by_polling(monkeypatch, isolate, counted, warned):
    answers(monkeypatch, counted)
    text._lacking.cache_clear()
    asked = ["--game", "el-paso", "--bot", "random", "--bot", "diehard", "--deals", 1, "--workers", 0]
    try:
        said = arena("tournament", *asked, f"--isolate={isolate}").stderr
    finally:
        text._lacking.cache_clear()
    assert " ".join(said.split()).count("is enforced by polling") == warned


def test_a_check_in_a_sandbox_that_was_not_typed_does_not_warn_about_it(monkeypatch, tmp_path):
    answers(monkeypatch, counted=False)
    (tmp_path / "mine.py").write_text(
        "from harness import Bot\n\n\nclass Mine(Bot):\n    games = ('x-pasch',)\n\n"
        "    def choose(self, view, actions):\n        return actions[0]\n"
    )
    monkeypatch.setattr("harness.conformance.cli._check", lambda *_: BotReport("mine", {"x-pasch": [3]}, 1, 1))
    for more, warned in (((), 0), (("--isolate=on",), 1)):
        text._lacking.cache_clear()
        try:
            said = arena("check", tmp_path / "mine.py", *more)
        finally:
            text._lacking.cache_clear()
        assert "isolated" in said.stdout
        assert " ".join(said.stderr.split()).count("is enforced by polling") == warned
