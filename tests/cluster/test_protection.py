"""Who can use a cluster: the one that Arena starts is for its driver alone, and one with TLS needs a certificate."""

from __future__ import annotations

import http.client
import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import dask
import pytest
from distributed import Client
from distributed.security import Security

import harness
from harness.cluster.connect import ClusterHandle, open_cluster
from tests.support.cli import arena
from tests.support.dask_cluster import DaskCluster
from tests.support.lesser_rights import SOMEBODY, run

PLANTED = "open(r'{}', 'w').close()\n"
PAGES = ("/", "/status", "/health", "/metrics", "/info/main/workers.html", "/json/identity.json")
INTRUDER = """
import os, sys
from distributed import Client
from distributed.security import Security

address = sys.argv[1].partition("://")[2]
for protocol, security in (("tcp", None), ("tls", Security.temporary())):
    try:
        with Client(f"{protocol}://{address}", timeout=3, security=security, set_as_default=False) as client:
            print("ran as", client.submit(os.getuid, pure=False).result(timeout=10))
    except Exception as error:
        print("refused:", type(error).__name__)
"""


@pytest.fixture(scope="module")
def ours():
    cluster = open_cluster("local:1")
    yield cluster
    cluster.close()


def members(cluster: ClusterHandle) -> list[Path]:
    """The processes of a cluster that Arena has started, in /proc: they are a session, whose leader is our child."""
    [leader] = [one for one in Path("/proc").iterdir() if one.name.isdecimal() and is_leader(one)]
    session = int(leader.name)
    found = []
    for one in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            if os.getsid(int(one.name)) == session:
                found.append(one)
    return found


def is_leader(process: Path) -> bool:
    with suppress(OSError):
        words = (process / "stat").read_text().rpartition(")")[2].split()
        return int(words[1]) == os.getpid() and b"harness.cluster.connect" in (process / "cmdline").read_bytes()
    return False


def open_ports(processes: list[Path]) -> set[int]:
    sockets = set()
    for one in processes:
        for descriptor in (one / "fd").iterdir():
            with suppress(OSError):
                sockets.add(str(descriptor.readlink()))
    table = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {int(row[1].partition(":")[2], 16) for row in table if row[3] == "0A" and f"socket:[{row[9]}]" in sockets}


def page(port: int, path: str) -> int:
    """The HTTP status of a page; 0 if what listens there does not speak HTTP."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, which can become another user")
def test_another_user_cannot_run_code_on_the_cluster_that_arena_starts(ours):
    done = run([sys.executable, "-c", INTRUDER, ours.scheduler_address], user=SOMEBODY)
    assert "ran as" not in done.stdout, done.stdout
    assert done.stdout.count("refused:") == 2, done.stdout + done.stderr
    with Client(ours.scheduler_address, security=ours.security, timeout=10, set_as_default=False) as client:
        assert client.submit(os.getuid, pure=False).result(timeout=30) == os.getuid()  # it was there all the time


def test_the_keys_of_a_local_cluster_are_not_in_arguments_or_environments(ours):
    found = members(ours)
    assert len(found) >= 2  # the scheduler and a node
    [key] = re.findall(r"\n(.{40})", ours.security.tls_client_key)[:1]
    for one in found:
        for file in ("cmdline", "environ"):
            text = (one / file).read_bytes()
            assert b"PRIVATE KEY" not in text
            assert key.encode() not in text


def test_a_local_cluster_has_no_web_pages(ours):
    ports = open_ports(members(ours))
    assert len(ports) >= 2
    assert {page(port, path) for port in ports for path in PAGES} <= {0, 404}


def test_every_process_of_a_local_cluster_speaks_tls(ours):
    with Client(ours.scheduler_address, security=ours.security, timeout=10, set_as_default=False) as client:
        workers = client.scheduler_info(n_workers=-1)["workers"]
        addresses = [ours.scheduler_address, *workers, *(one["nanny"] for one in workers.values())]
    assert len(addresses) == 3
    assert {address.partition("://")[0] for address in addresses} == {"tls"}


@pytest.fixture
def certificates(tmp_path, monkeypatch):
    """Certificates in files and the settings of docs/clusters.md, for this process and those that it starts."""
    made = Security.temporary()
    (tmp_path / "cert.pem").write_text(made.tls_ca_file)
    (tmp_path / "key.pem").write_text(made.tls_client_key)
    page = (Path(__file__).parents[2] / "docs" / "clusters.md").read_text(encoding="utf-8")
    [settings] = re.findall(r"```yaml\n# ~/.config/dask/tls.yaml\n(.*?)```", page, re.DOTALL)
    folder = tmp_path / "config"
    folder.mkdir()
    (folder / "tls.yaml").write_text(settings.replace("/home/me/dask", str(tmp_path)))
    monkeypatch.setenv("DASK_CONFIG", str(folder))
    everything = dask.config.merge(dask.config.config, dask.config.collect([str(folder)], env={}))
    with dask.config.set(everything):
        yield


def test_a_cluster_with_certificates_plays_for_those_who_have_one(certificates, tmp_path, monkeypatch):
    with DaskCluster(tmp_path, nodes=1, host="tls://127.0.0.1") as cluster:
        assert cluster.address.startswith("tls://")
        asked = {"deals": 2, "seed": 4, "quiet": True, "move_time": 10}
        there = harness.tournament("el-paso", ["random", "diehard"], cluster=cluster.address, name="there", **asked)
        here = harness.tournament("el-paso", ["random", "diehard"], workers=0, name="here", **asked)
        assert {one.id: one.without_timing() for one in there} == {one.id: one.without_timing() for one in here}
        monkeypatch.delenv("DASK_CONFIG")
        done = subprocess.run(
            [sys.executable, "-m", "harness", "tournament", "--deals", "1", "--cluster", cluster.address],
            capture_output=True, text=True, cwd=tmp_path, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert "certificate" in done.stderr
    assert "docs/clusters.md" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_that_another_user_prepared_for_dask_is_not_used(tmp_path, monkeypatch):
    """Dask imports modules from a folder of a fixed name for temporary files, and truncates a lock file in it."""
    shared, lock = tmp_path / "tmp", tmp_path / "victim"
    scratch = shared / "dask-scratch-space"
    scratch.mkdir(parents=True)
    lock.write_text("mine")
    (scratch / "global.lock").symlink_to(lock)
    (scratch / "psutil.py").write_text(PLANTED.format(tmp_path / "owned"))
    monkeypatch.setenv("TMPDIR", str(shared))
    open_cluster("local:1").close()
    assert lock.read_text() == "mine"
    assert not (tmp_path / "owned").exists()
    assert sorted(path.name for path in shared.iterdir()) == ["dask-scratch-space"]


@pytest.mark.parametrize(
    ("named", "warned"),
    [
        ("tcp://10.0.0.1:8786", True),
        ("10.0.0.1:8786", True),
        ("tcp://[fd00::1]:8786", True),
        ("tcp://head-node:8786", True),
        ("tls://10.0.0.1:8786", False),
        ("tcp://127.0.0.1:8786", False),
        ("tcp://127.8.0.1:8786", False),
        ("tcp://[::1]:8786", False),
        ("localhost:8786", False),
    ],
)
def test_a_scheduler_that_other_machines_reach_without_tls_is_pointed_out(named, warned):
    said: list[str] = []
    open_cluster(named, said.append)
    assert ["can run code on its nodes" in sentence for sentence in said] == [True] * warned


def test_the_warning_is_printed_once(monkeypatch):
    monkeypatch.setattr("harness.cluster.link.CONNECT_TIMEOUT_S", 0.5)
    out = arena("tournament", "--deals", 1, "--cluster", "tcp://192.0.2.1:9", code=2)  # an address for documentation
    assert out.stderr.count("Warning: ") == 1
