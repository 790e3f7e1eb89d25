"""Environments for other people's programs: made once, kept in a cache, apart from what the user has installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

from harness.bench.loop_process import LoopFailed, outside
from harness.bench.peers import Peer

Tell = Callable[[str], None]


def peers_folder() -> Path:
    """Where environments are kept unless somebody says otherwise."""
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "arena" / "peers"


def peer_python(peer: Peer, folder: Path, tell: Tell) -> str:
    """The interpreter of the peer's environment, which is made if there is none for this Python and these versions."""
    known = "\n".join([sys.base_prefix, sys.version, *peer.requirements])
    place = folder.absolute() / f"{peer.name}-{blake2b(known.encode(), digest_size=4).hexdigest()}"
    python = place / "bin" / "python"
    if not python.is_file():
        tell(
            f"Installing {' '.join(peer.requirements)} in {place}: about {peer.megabytes} MB, nothing anywhere else ..."
        )
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=place.parent, prefix="half-") as half:
                whole = Path(half) / "environment"
                _make(peer, whole, tell)
                shutil.rmtree(place, ignore_errors=True)  # what is left of one whose Python has gone
                whole.rename(place)
        except OSError as error:
            raise LoopFailed(f"No environment for {peer.name} can be made in {folder}: {error.strerror}.") from None
    return str(python)


def _make(peer: Peer, place: Path, tell: Tell) -> None:
    """A fresh environment with the peer in it, or a sentence why not."""
    pip = [str(place / "bin" / "python"), "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
    for step in ([sys.executable, "-m", "venv", str(place)], [*pip, *peer.requirements]):
        last = ""
        with subprocess.Popen(  # noqa: S603 - our own interpreter
            step, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=outside()
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                last = line.strip() or last
                tell(f"  {line.rstrip()}")
        if process.returncode:
            raise LoopFailed(f"{peer.name} could not be installed ({last or process.returncode}); is there a network?")
