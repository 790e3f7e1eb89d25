"""Bots as they are written today: threads at import, networks at module level, files beside them. None of them may be
in a process that is forked afterwards."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from tests.api.test_notebook import EXECUTE

THREADED = '''
"""Asks a pool of threads that it has started when it was imported; in a forked copy nobody would answer."""
from concurrent.futures import ThreadPoolExecutor
import harness

POOL = ThreadPoolExecutor(1)
POOL.submit(int).result()

class Threaded(harness.Bot):
    def choose(self, view, actions):
        return POOL.submit(max, actions, key=lambda action: action.code).result()
'''
NETWORK = '''
"""A network: weights beside the file, a native pool that has worked before any match, and a thread."""
import threading
from pathlib import Path
import numpy as np
import harness

NET = np.load(Path(__file__).parent / "weights.npz")["layer"]
assert (NET @ NET).shape == NET.shape
STOP = threading.Event()
threading.Thread(target=STOP.wait, daemon=True).start()

class Network(harness.Bot):
    files = ("weights.npz",)

    def choose(self, view, actions):
        seen = np.resize(np.array([view.seat, view.turn, len(actions)], dtype=float), NET.shape[0])
        return actions[int((NET @ seen)[: len(actions)].argmax())]
'''
TORCH = '''
"""The same with torch."""
from pathlib import Path
import torch
import harness

NET = torch.nn.Sequential(torch.nn.Linear(3, 512), torch.nn.ReLU(), torch.nn.Linear(512, 64))
NET.load_state_dict(torch.load(Path(__file__).parent / "net.pt"))
with torch.no_grad():
    NET(torch.zeros(256, 3))

class Torch(harness.Bot):
    files = ("net.pt",)

    def choose(self, view, actions):
        with torch.no_grad():
            wish = NET(torch.tensor([view.seat, view.turn, len(actions)], dtype=torch.float))
        return actions[int(wish[: len(actions)].argmax())]
'''


@pytest.fixture
def bots(tmp_path):
    """The files, each in a folder with what it needs."""
    made = []
    for name, text in {"threaded": THREADED, "network": NETWORK, "torch": TORCH}.items():
        folder = tmp_path / name
        folder.mkdir()
        if name == "torch":
            torch = _torch()
            if torch is None:
                continue  # it is large: the others show the same
            net = torch.nn.Sequential(torch.nn.Linear(3, 512), torch.nn.ReLU(), torch.nn.Linear(512, 64))
            torch.save(net.state_dict(), folder / "net.pt")
        if name == "network":
            np.savez(folder / "weights.npz", layer=np.random.default_rng(1).normal(size=(512, 512)))
        (folder / f"{name}.py").write_text(text)
        made.append(f"{name}/{name}.py")
    return made


def _torch():
    try:
        import torch
    except ImportError:
        return None
    return torch


@pytest.mark.parametrize("isolate", ["off", "on"])
@pytest.mark.parametrize("workers", [1, 2])
def test_bots_with_threads_play_in_workers(bots, tmp_path, workers, isolate):
    options = [word for bot in (*bots, "random") for word in ("--bot", bot)]
    done = subprocess.run(
        [sys.executable, "-m", "harness", "tournament", "--game", "el-paso", "--deals", "1", "--seed", "1", *options,
         "--workers", str(workers), "--isolate", isolate, "--json", "--strict", "--players", "2"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["complete"]
    assert report["faults"] == 0


def test_bots_with_threads_play_from_a_notebook(bots, tmp_path):
    pytest.importorskip("nbclient", reason="needs nbclient and ipykernel")
    pytest.importorskip("ipykernel", reason="needs nbclient and ipykernel")
    typed = (
        "import threading, harness, numpy as np\n"
        "WEIGHTS = np.arange(64.0) @ np.ones((64, 64))\n"
        "STOP = threading.Event()\n"
        "threading.Thread(target=STOP.wait, daemon=True).start()\n"
        "def best(actions):\n"
        "    return actions[int(WEIGHTS[: len(actions)].argmax())]\n"
        "class Base(harness.Bot):\n"
        "    def choose(self, view, actions):\n"
        "        return best(actions)\n"
        "class Typed(Base):\n"
        "    def start(self):\n"
        "        super().start()\n"
    )
    play = (
        "run = harness.tournament('el-paso', {bots!r} + {more}, deals=1, seed=1, players=2, workers={w}, isolate={i!r})"
        "\n"
    )
    count = "print('played', len(run), 'faults', len(run.faults()))"
    rounds = [(["random"], "[Typed]", w, "off") for w in (1, 2)] + [(["random"], "[]", w, "on") for w in (1, 2)]
    cells = [typed, *(play.format(bots=bots + b, more=more, w=w, i=i) + count for b, more, w, i in rounds)]
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE.format(cells=cells, book="")], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    told = [
        out["text"]
        for cell in json.loads(done.stdout)["cells"]
        for out in cell["outputs"]
        if out.get("name") == "stdout"
    ]
    with_typed, without = len(bots) + 2, len(bots) + 1
    expected = [n * (n - 1) for n in (with_typed, with_typed, without, without)]
    assert ["".join(text).strip() for text in told] == [f"played {count} faults 0" for count in expected]
