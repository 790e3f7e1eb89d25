"""What is served or published with the page: nothing for other sites, nothing from outside a bot's folder."""

from __future__ import annotations

import os
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread

import pytest

from harness.browser.files import PYODIDE, RUNTIME, bot_sources, find_runtime
from harness.browser.server import page_server
from harness.core.errors import UsageError
from harness.plugins.registry import load
from tests.support.lesser_rights import SOMEBODY

ROOT_ONLY = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root, to give files away")

BOT = """
import harness
if False:
    import helper
class Curious(harness.Bot):
    games = ("el-paso",)
    def choose(self, view, actions):
        return actions[0]
"""


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:{}", 200),
        ("localhost:{}", 200),
        ("evil.example:{}", 400),
        ("evil.example", 400),
        ("127.0.0.1:1", 400),
    ],
)
def test_the_server_answers_only_to_names_of_this_machine(tmp_path, host, status):
    (tmp_path / "files.json").write_text("{}")
    with page_server(tmp_path) as server:
        Thread(target=server.handle_request, daemon=True).start()
        connection = HTTPConnection("127.0.0.1", server.server_port)
        connection.request("GET", "/files.json", headers={"Host": host.format(server.server_port)})
        answer = connection.getresponse()
        assert answer.status == status
        assert (answer.read() == b"{}") is (status == 200)
        connection.close()


def test_no_link_that_leads_out_of_its_folder_is_published_with_a_bot(tmp_path):
    (tmp_path / "key").write_text("a private key")
    (tmp_path / "bot").mkdir()
    bot, helper = tmp_path / "bot/curious.py", tmp_path / "bot/helper.py"
    bot.write_text(BOT)
    helper.write_text("# its own")
    assert bot_sources(load(), [str(bot)]) == {"curious": {"curious.py": BOT, "helper.py": "# its own"}}
    helper.unlink()
    helper.symlink_to(tmp_path / "key")
    with pytest.raises(UsageError, match="a link leads out of the folder"):
        bot_sources(load(), [str(bot)])


def test_a_source_that_is_not_text_is_refused_in_a_sentence(tmp_path):
    bot = Path(tmp_path, "curious.py")
    bot.write_text(BOT)
    Path(tmp_path, "helper.py").write_bytes(b"# \xff")
    with pytest.raises(UsageError, match="it is not UTF-8"):
        bot_sources(load(), [str(bot)])


@ROOT_ONLY
@pytest.mark.parametrize(("owner", "mode"), [(SOMEBODY, 0o755), (0, 0o777), (0, 0o755)])
def test_a_python_for_browsers_that_another_user_prepared_is_not_used(tmp_path, monkeypatch, owner, mode):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = tmp_path / f"arena/pyodide-{PYODIDE}"
    (folder / "wheels").mkdir(parents=True)
    for name in (*RUNTIME, "wheels/msgspec-1-none.whl"):
        (folder / name).touch()
    os.chown(folder, owner, owner)
    folder.chmod(mode)
    if (owner, mode) == (0, 0o755):
        assert find_runtime(None).home == folder
        return
    with pytest.raises(UsageError, match="Another user may write to"):
        find_runtime(None)
