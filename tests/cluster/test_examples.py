"""The clusters of docs/examples/clusters: those that need nothing else play, the others can be imported or read."""

from __future__ import annotations

import runpy
import shutil
import subprocess

import pytest

import harness
from tests.docs.pages import DOCS
from tests.support.cli import arena

FOLDER = DOCS / "examples" / "clusters"
PAGE = DOCS / "clusters.md"
NEEDS = {
    "local_cluster": "distributed",
    "ssh_cluster": "distributed",
    "slurm_cluster": "dask_jobqueue",
    "kubernetes_cluster": "dask_kubernetes.operator",
}


def test_the_page_links_every_example_and_every_example_is_tested():
    names = {path.name for path in FOLDER.iterdir() if path.is_file()}
    assert names == {f"{name}.py" for name in NEEDS} | {"slurm_job.sh"}
    assert all(f"examples/clusters/{name})" in PAGE.read_text(encoding="utf-8") for name in names)


@pytest.mark.parametrize("name", NEEDS)
def test_an_example_compiles_and_shows_the_command_that_uses_it(name):
    text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    code = compile(text, name, "exec")
    assert "make" in code.co_names
    assert f"--cluster {name}:make" in text


@pytest.mark.parametrize("name", NEEDS)
def test_an_example_can_be_imported(name):
    pytest.importorskip(NEEDS[name], reason=f"the example needs {NEEDS[name]}")
    assert callable(runpy.run_path(str(FOLDER / f"{name}.py"))["make"])


def test_the_kubernetes_example_starts_one_thread_per_core():
    pytest.importorskip("dask_kubernetes.operator", reason="the example needs dask-kubernetes")
    [worker] = runpy.run_path(str(FOLDER / "kubernetes_cluster.py"))["spec"]()["spec"]["worker"]["spec"]["containers"]
    assert worker["args"][-2:] == ["--nthreads", worker["resources"]["limits"]["cpu"]]


def test_the_slurm_job_is_a_valid_shell_script():
    subprocess.run(["/bin/sh", "-n", str(FOLDER / "slurm_job.sh")], check=True)


@pytest.mark.parametrize("cluster", ["local_cluster:make", "local:2"])
def test_a_cluster_started_for_a_run_ignores_a_bots_package_in_the_working_directory(tmp_path, monkeypatch, cluster):
    monkeypatch.chdir(tmp_path)
    shutil.copy(FOLDER / "local_cluster.py", tmp_path)
    (tmp_path / "bots").mkdir()
    (tmp_path / "bots" / "__init__.py").write_text("# arena's own are called so, too")
    asked = ["--game", "el-paso", "--bot", "random", "--bot", "diehard", "--deals", 4, "--seed", 4, "--quiet"]
    arena("tournament", *asked, "--name", "there", "--cluster", cluster)
    here = harness.tournament("el-paso", ["random", "diehard"], deals=4, seed=4, workers=0, quiet=True, move_time=10)
    there = harness.open_run("results/there")
    assert {one.id: one.without_timing() for one in there} == {one.id: one.without_timing() for one in here}
