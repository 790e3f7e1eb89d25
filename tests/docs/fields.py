"""What the code says about its own fields, as tables for the pages: views, actions, bots, and the types they use."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from enum import Enum
from importlib import import_module
from itertools import pairwise
from textwrap import dedent
from types import ModuleType
from typing import NamedTuple

import msgspec

from harness import Action, Bot, View
from harness.plugins.registry import load

NO_NAMES: Mapping[str, object] = {}
MAX_SHOWN = 160
"""Characters of a value in a table; of a longer one its type is shown."""


class Described(NamedTuple):
    """A field, property or method as its class declares it."""

    name: str
    type: str
    text: str
    """What its docstring says, in one line; "" if it has none."""


def fields_of(cls: type) -> list[Described]:
    """The fields that a class declares itself, with the docstrings below them; class variables are left out."""
    names = vars(sys.modules[cls.__module__])
    return [each for each in _annotated(_body(cls), names) if not each.type.startswith("ClassVar")]


def settings_of(cls: type) -> list[Described]:
    """The class variables that a class declares."""
    return [
        each._replace(type=each.type.removeprefix("ClassVar[").removesuffix("]"))
        for each in _annotated(_body(cls))
        if each.type.startswith("ClassVar")
    ]


def methods_of(cls: type, *, properties: bool) -> list[Described]:
    """The public methods that a class defines, or its properties; a method's name has its arguments."""
    found = []
    for node in _body(cls):
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
            continue
        is_property = any("property" in ast.unparse(each) for each in node.decorator_list)
        if is_property is properties:
            args = node.args
            named = [each.arg for each in args.args[1:]] + ([f"*{args.vararg.arg}"] if args.vararg else [])
            named += [each.arg for each in args.kwonlyargs] + ([f"**{args.kwarg.arg}"] if args.kwarg else [])
            given = ", ".join(named)
            name = node.name if properties else f"{node.name}({given})"
            found.append(Described(name, _type(node.returns), _line(ast.get_docstring(node))))
    return found


def declared(cls: type) -> list[Described]:
    """What can be read of an object: its fields and properties; the members of an enumeration speak for themselves."""
    return [] if issubclass(cls, Enum) else [*fields_of(cls), *methods_of(cls, properties=True)]


def _body(cls: type) -> list[ast.stmt]:
    [node] = ast.parse(dedent(inspect.getsource(cls))).body
    assert isinstance(node, ast.ClassDef)
    return node.body


def _annotated(body: list[ast.stmt], names: Mapping[str, object] = NO_NAMES) -> Iterator[Described]:
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id[0] != "_":
            yield Described(node.target.id, _type(node.annotation, names), _text_below(after))


def _text_below(node: ast.stmt | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return _line(node.value.value)
    return ""


def _type(node: ast.expr | None, names: Mapping[str, object] = NO_NAMES) -> str:
    """The type as people read it: `Annotated[int, Meta(ge=0, le=8)]` is `int, 0 to 8`, if its names are known."""
    shown = node if node is None or not names else _Bounds(names).visit(deepcopy(node))
    return "" if shown is None else ast.unparse(shown).replace(" | ", " or ").replace("'", "")


class _Bounds(ast.NodeTransformer):
    """Writes what `Annotated` adds to a type as words."""

    def __init__(self, names: Mapping[str, object]) -> None:
        self.names = dict(names)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not (isinstance(node.value, ast.Name) and node.value.id == "Annotated"):
            return node
        assert isinstance(node.slice, ast.Tuple)
        inner, *marks = node.slice.elts
        metas = [eval(ast.unparse(mark), self.names) for mark in marks]  # noqa: S307 - our own source
        said = ", ".join(text for meta in metas if isinstance(meta, msgspec.Meta) for text in _bounds_text(meta))
        return ast.Name(f"{ast.unparse(inner)}, {said}" if said else ast.unparse(inner))


def _bounds_text(meta: msgspec.Meta) -> Iterator[str]:
    high = meta.le if meta.lt is None else meta.lt - 1
    if meta.ge is not None and high is not None:
        yield f"{meta.ge} to {high}" if high < 10**9 else f"at least {meta.ge}"
    if meta.max_length is not None:
        yield f"{'' if meta.min_length == meta.max_length else 'at most '}{meta.max_length}"
    if "enum" in (meta.extra_json_schema or {}):
        yield " / ".join(value or "nothing" for value in meta.extra_json_schema["enum"])


def _line(text: str | None) -> str:
    return " ".join((text or "").split())


def table(headers: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of Markdown."""
    head, *lines = ("| " + " | ".join(line) + " |\n" for line in (headers, *rows))
    return head + "|" + "---|" * (head.count(" | ") + 1) + "\n" + "".join(lines).replace("  |", " |")


def rows(described: Iterable[Described]) -> list[list[str]]:
    """Their lines in a table."""
    return [[f"`{each.name}`", f"`{each.type}`", each.text] for each in described]


class Page(NamedTuple):
    """What a game's page shows of its code."""

    game: str

    @property
    def module(self) -> ModuleType:
        """The package of the engine."""
        return import_module(f"engines.{self.game.replace('-', '_')}")

    @property
    def view(self) -> type[View]:
        """What its bots see."""
        cls: type[View] = load().game(self.game).view_type
        return cls

    @property
    def actions(self) -> list[type[Action]]:
        """What its bots may do."""
        module = import_module(f"{self.module.__name__}.actions")
        found = [cls for cls in vars(module).values() if isinstance(cls, type) and issubclass(cls, Action)]
        return [cls for cls in found if cls is not Action]

    def action_table(self) -> str:
        """Every action with its fields."""
        lines = []
        for cls in self.actions:
            fields = "; ".join(f"`{each.name}` (`{each.type}`): {_clause(each.text)}" for each in fields_of(cls))
            lines.append([f"`{cls.kind}`", f"`{cls.__name__}`", _line(cls.__doc__), fields])
        return table(("`kind`", "class", "what it does", "fields"), lines)

    def view_table(self) -> str:
        """Every field of the view, and what it works out."""
        told = table(("field", "type", "what it says"), rows(fields_of(self.view)))
        worked_out = [*methods_of(self.view, properties=True), *methods_of(self.view, properties=False)]
        told += "\nWorked out from these, in Python only:\n\n"
        return told + table(("of a view", "type", "what it is"), rows(worked_out))

    def types(self) -> dict[str, type | Described]:
        """The engine's own types that its fields use, and a name for a type with what it stands for."""
        found: dict[str, type | Described] = {}
        texts = [each.type for cls in (self.view, *self.actions) for each in declared(cls)]
        while texts:
            for word in re.findall(r"[A-Z]\w+", texts.pop(0)):
                thing = self._named(word)
                if thing is None or word in found:
                    continue
                found[word] = thing
                texts += [thing.type] if isinstance(thing, Described) else [each.type for each in declared(thing)]
        return found

    def _named(self, word: str) -> type | Described | None:
        package = self.module.__name__
        using = [import_module(f"{package}.{name}") for name in ("view", "actions")]
        for module in using:
            thing = vars(module).get(word)
            if isinstance(thing, type) and thing.__module__.startswith(package):
                return thing
        others = [module for name, module in sorted(sys.modules.items()) if name.startswith(f"{package}.")]
        return next((each for module in (*using, *others) for each in _aliases(module) if each.name == word), None)

    def type_table(self) -> str:
        """What these types are."""
        lines, classes = [], []
        for name, thing in self.types().items():
            if isinstance(thing, Described):
                lines.append([f"`{name}`", f"`{thing.type}`", thing.text])
            elif issubclass(thing, Enum):
                members = ", ".join(f"{member.value} `{member.name}`" for member in thing)
                lines.append([f"`{name}`", "a number", f"{_line(thing.__doc__)} {members}"])
            else:
                lines.append([f"`{name}`", _as_json(thing), _line(thing.__doc__)])
                classes.append(thing)
        told = table(("type", "is", "and means"), lines)
        for cls in classes:
            told += "\n" + table((f"of `{cls.__name__}`", "type", "what it says"), rows(fields_of(cls)))
        return told

    def figures_table(self) -> str:
        """What a game object offers: documented attributes with their values for the default options."""
        game = load().game(self.game).configure()
        rows = ((f"`{each.name}`", _value(each.values), each.text) for each in _figures("", [game]))
        return table(("of `self.game`", "value", "what it is"), rows)


class Figure(NamedTuple):
    """Something that can be read of a game; there are several values if it is read of each item of a tuple."""

    name: str
    values: list[object]
    text: str


def _figures(path: str, owners: Sequence[object]) -> Iterator[Figure]:
    """Yield what objects of one class document, and what the objects in there document."""
    cls = type(owners[0])
    for name, text in _documented(cls):
        values = [getattr(owner, name) for owner in owners]
        inner = [item for value in values for item in (value if isinstance(value, tuple) else [value])]
        holds_more = type(inner[0]).__module__.startswith("engines.") and not isinstance(inner[0], Action | tuple)
        if not holds_more or isinstance(values[0], tuple):
            yield Figure(path + name, values, text)
        if holds_more:
            yield from _figures(f"{path}{name}{'[i]' if isinstance(values[0], tuple) else ''}.", inner)


def _documented(cls: type) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of the fields, properties and attributes that have a docstring below them."""
    yield from ((each.name, each.text) for each in declared(cls) if each.text)
    for method in _body(cls):
        if isinstance(method, ast.FunctionDef) and method.name == "__init__":
            for node, after in pairwise([*method.body, None]):
                target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
                if isinstance(target, ast.Attribute) and (text := _text_below(after)):
                    yield target.attr, text


def _value(values: list[object]) -> str:
    shown = ", ".join(str(value) if isinstance(value, str) else repr(value) for value in values)
    objects = isinstance(values[0], tuple) and isinstance(values[0][0], msgspec.Struct)  # their fields have own lines
    if len(shown) <= MAX_SHOWN and not objects:
        return f"`{shown}`"
    if len(values) > 1:
        numbers = sorted(value for value in values if isinstance(value, int))
        kinds = sorted({type(value).__name__.replace("NoneType", "None") for value in values}, reverse=True)
        return f"`{numbers[0]}` to `{numbers[-1]}`" if len(numbers) == len(values) else f"`{' or '.join(kinds)}`"
    [of] = values
    return f"{len(of)} of `{type(of[0]).__name__}`" if isinstance(of, tuple) else f"`{type(of).__name__}`"


def _aliases(module: ModuleType) -> Iterator[Described]:
    body = ast.parse(inspect.getsource(module)).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield Described(node.targets[0].id, _type(node.value, vars(module)), _text_below(after))


def _as_json(cls: type) -> str:
    return "an object" if issubclass(cls, msgspec.Struct) else "a tuple: in JSON a list in this order"


def _clause(text: str) -> str:
    """A sentence as a part of another."""
    return text[:1].lower() + text[1:].removesuffix(".") if not text[1:2].isupper() else text.removesuffix(".")


def every_description(page: Page) -> Iterator[tuple[str, str]]:
    """Everything that a page should describe, and what it says."""
    for thing in (page.view, *page.actions, *page.types().values()):
        if isinstance(thing, Described):
            yield thing.name, thing.text
            continue
        yield thing.__name__, _line(thing.__doc__)
        for each in [*declared(thing), *methods_of(thing, properties=False)]:
            yield f"{thing.__name__}.{each.name}", each.text


def common_fields() -> str:
    """What every view has."""
    return table(("field", "type", "what it says"), rows(fields_of(View)))


def bot_settings() -> str:
    """What the author of a bot may say about it."""
    return table(("in the class", "type", "what it says"), rows(settings_of(Bot)))


def bot_attributes() -> str:
    """What a bot finds in itself."""
    told = [*fields_of(Bot), *methods_of(Bot, properties=True)]
    return table(("of `self`", "type", "what it is"), rows(told))
