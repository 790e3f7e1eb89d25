"""A new command is its file and one line in the table of features."""

from __future__ import annotations

import sys
from types import ModuleType

import click

from harness.plugins.features import COMMANDS, Command
from tests.support.cli import arena


def test_a_new_command_needs_one_file_and_one_table_entry(monkeypatch):
    @click.command("greet")
    @click.argument("name")
    def command(name: str) -> None:
        click.echo(f"Hello {name}.")

    module = ModuleType("greeting")
    module.command = command  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "greeting", module)
    monkeypatch.setitem(COMMANDS, "greet", Command("greeting:command", "Say hello."))

    assert arena("greet", "Ann").stdout == "Hello Ann.\n"
    assert "greet         Say hello." in arena("--help").stdout
    assert "Did you mean 'greet'?" in arena("gret", code=2).stderr
