"""`arena serve` at a terminal."""

from __future__ import annotations

import http.client
import signal
import socket
import subprocess
import sys

import pytest

from tests.serve.support import GrowingRun, Server
from tests.support.cli import arena


@pytest.mark.parametrize("library", ["starlette", "uvicorn", "jinja2"])
def test_a_missing_library_is_reported_with_the_install_command(played, monkeypatch, library):
    for name in ("serve.app", "serve.live_run", "serve.live_data", "report.parts"):
        monkeypatch.delitem(sys.modules, f"harness.{name}", raising=False)
    for name in [name for name in sys.modules if name.startswith(f"{library}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    said = arena("serve", played.folder, "--port", 0, code=2).stderr
    assert f"The live page is served with {library}" in said
    assert "pip install 'arena-harness[serve]'" in said


def test_the_server_needs_no_matplotlib():
    # A fresh process: the modules of the server may have been imported here already.
    code = "import sys; sys.modules['matplotlib'] = None; import harness.serve.app, harness.serve.live_run"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_missing_run_is_refused_before_the_server_starts(played):
    assert "There is no run 'nope'. Runs in" in arena("serve", "nope", "--results", played.folder.parent, code=2).stderr
    assert "Cannot read results: No such file or directory." in arena("serve", code=2).stderr


def test_a_port_in_use_is_reported_with_what_to_do(played):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = arena("serve", played.folder, "--port", port, code=2).stderr
    assert f"Cannot serve at 127.0.0.1, port {port}: Address already in use." in said
    assert "--port (0 is any that is free)" in said
    assert (
        "Cannot serve at no.such.host.invalid"
        in arena("serve", played.folder, "--host", "no.such.host.invalid", code=2).stderr
    )


def test_ctrl_c_ends_the_server_cleanly_even_with_a_connected_client(played, tmp_path):
    GrowingRun(played.folder, tmp_path / "results" / "live").add(0, 1, 2)
    with Server("live", "--port", 0) as server:
        assert server.said == f"Serving live at http://127.0.0.1:{server.port} (Ctrl-C ends it)\n"
        listener = http.client.HTTPConnection("127.0.0.1", server.port)
        listener.request("GET", "/events")
        news = listener.getresponse()
        assert news.getheader("content-type") == "text/event-stream; charset=utf-8"
        while b"event: progress" not in news.readline():
            pass
        server.process.send_signal(signal.SIGINT)
        news.read()  # to the end
        assert server.process.wait() == 0
        assert server.process.stderr.read() == ""
        listener.close()
