"""Entries of the API reference: signatures and docstrings of the names that plugins and notebooks import."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from importlib import import_module
from textwrap import dedent, fill
from typing import Any

import harness
from tests.docs import fields

WIDTH = 100


def entry(name: str) -> str:
    """The entry of `play_match`, or of `conformance.check_game`: heading, signature, docstring, members of a class."""
    package, _, last = f"harness.{name}".rpartition(".")
    thing: Any = inspect.unwrap(getattr(import_module(package), last))
    if inspect.isclass(thing):
        return _lines(last, f"class {last}{_bases(thing)}", thing.__doc__, *_members(thing))
    if inspect.isfunction(thing):
        return _lines(last, _signature(thing), thing.__doc__)
    return _lines(last, *_constant(package, last))


def _lines(name: str, code: str, text: str | None, *more: str) -> str:
    # A line ends between arguments, not within a type.
    whole = re.sub(r"\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\]| \| |: | -> ", lambda part: part[0].replace(" ", "\0"), code)
    wrapped = fill(whole, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    shown = wrapped.replace("\0", " ")
    # In Markdown a block of code stands after an empty line.
    prose = re.sub(r"^(\S.*:)\n(?=    )", r"\1\n\n", inspect.cleandoc(text or ""), flags=re.MULTILINE)
    parts = [f"### {name}\n", f"```python\n{shown}\n```\n" if code else "", prose, *more]
    return "\n".join(part.strip("\n") + "\n" for part in parts if part)


def _signature(function: Any) -> str:
    [node] = ast.parse(dedent(inspect.getsource(function))).body
    assert isinstance(node, ast.FunctionDef)
    return f"{node.name}({ast.unparse(node.args)}) -> {ast.unparse(node.returns) if node.returns else 'None'}"


def _bases(cls: type) -> str:
    bases = [base.__name__ for base in cls.__bases__ if base not in (object, Exception) and base.__name__[0] != "_"]
    return f"({', '.join(bases)})" if bases else ""


def _members(cls: type) -> list[str]:
    """A table of what the class and its bases in Arena declare."""
    found: dict[str, fields.Described] = {}
    for each in reversed([each for each in cls.__mro__ if each.__module__.startswith("harness.")]):
        described = [*fields.settings_of(each), *fields.fields_of(each), *fields.methods_of(each, properties=True)]
        described += fields.methods_of(each, properties=False)
        found |= {one.name.partition("(")[0]: one for one in described}
    rows = [
        [f"`{one.name}`", f"`{one.type}`", one.text.partition(" Examples:")[0].replace("|", "\\|")]
        for one in found.values()
    ]
    return [fields.table((f"of `{cls.__name__}`", "type", "what it is"), rows)] if rows else []


def _constant(package: str, name: str) -> tuple[str, str]:
    """The definition of a constant or of a name for a type, and the docstring below it."""
    inside = [found for key, found in sorted(sys.modules.items()) if key.startswith(f"{package}.")]
    home = harness._MODULE.get(name) if package == "harness" else None
    for module in [import_module(f"harness.{home}")] if home else inside:
        body = ast.parse(inspect.getsource(module)).body
        for node, after in zip(body, [*body[1:], None], strict=True):
            target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            if isinstance(target, ast.Name) and target.id == name:
                has_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
                return ast.unparse(node), str(after.value.value) if has_text else ""
    return "", ""
