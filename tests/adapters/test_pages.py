"""The pages about adapters: their examples run as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import import_module

import pytest

from tests.docs.pages import DOCS

PAGES = {"encoding": "harness", "gymnasium": "gymnasium", "openspiel": "pyspiel", "pettingzoo": "pettingzoo",
         "policies": "numpy"}  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_the_page_run(page, tmp_path):
    pytest.importorskip(PAGES[page], reason=f"the page needs {PAGES[page]}")
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert blocks
    script = tmp_path / "example.py"
    script.write_text("\n".join(blocks), encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path, env={**os.environ})
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_network_in_a_file_is_a_bot():
    text = (DOCS / "policies.md").read_text(encoding="utf-8")
    [source] = re.findall(r"^```python my_network\.py\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    names: dict[str, object] = {"__file__": "my_network.py", "__name__": "my_network"}
    exec(source, names)  # noqa: S102 - our own page
    assert names["MyNetwork"].name == "my-network"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("adapter", "library"), [("gymnasium", "gymnasium"), ("openspiel", "pyspiel"), ("pettingzoo", "pettingzoo")]
)
def test_without_its_library_an_adapter_says_what_to_install(adapter, library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, f"harness.adapters.{adapter}", raising=False)
    with pytest.raises(ModuleNotFoundError, match=rf"{library}.* pip install 'arena-harness\[{adapter}\]'"):
        import_module(f"harness.adapters.{adapter}")
