"""Collect the strings that enter luck, seeds and stored digests: python -m tests.architecture.seed_strings

A draw is a function of the match seed and of the name of its stream. A match's id is a part of such names. Digests of
bots and of records are taken of texts that hold names, too. So whoever renames such a string changes records.

The sources are read, not run. A line of the list names the function or method, and the string constants of one call of
it. It names no module, so modules can be moved, merged and renamed. Calls that give the same line are listed once.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOPS = ("harness", "engines", "bots")
LISTED = Path(__file__).with_name("seed_strings.txt")

LUCK = "Chance"
"""The class of luck. It and its subclasses are watched, too."""
METHODS = frozenset(["number", "number_for", "pick", "dice", "shuffled", "derive", "rng", "seed", "single", "update"])
"""Methods that draw luck, seed a generator, make a match by its id, or add to a hash."""
HASHES = frozenset(["sha256", "sha1", "sha512", "md5", "blake2b", "blake2s", "crc32", "file_digest"])
DIGESTS = frozenset(["digest_of", "digest_of_files"])
"""Our own functions that return a digest which is stored. The keys of what they are given are part of it."""
FUNCTIONS = frozenset(["Random", "MatchSpec"]) | HASHES | DIGESTS
"""Whatever they are called on, if anything. The id of a match is a part of the names of its luck."""
OTHER_OWNERS = frozenset(["plan", "_plan"])
"""What has a method `number` that draws nothing."""
TEXT_OF_DIGEST = "hexdigest"
STORED = '"sha256:'
"""How the text of a stored digest begins: such a string beside a call of `hexdigest` is in the list, too."""
HOLE = "{}"
"""What stands for the changing parts of an f-string."""

Scope = dict[str, list[ast.expr]]
"""Name -> the expressions that it is set to, and the keys that are set in it."""


def seed_strings(root: Path = ROOT) -> list[str]:
    """Return the lines of the list, as the sources below this folder have them now."""
    trees = [
        ast.parse(path.read_text(encoding="utf-8"), str(path))
        for top in TOPS
        for path in sorted((root / top).rglob("*.py"))
    ]
    functions = FUNCTIONS | _luck_classes(trees)
    return sorted({line for tree in trees for line in _lines(tree, functions)})


def _luck_classes(trees: Iterable[ast.Module]) -> frozenset[str]:
    """Return the names of the class of luck and of its subclasses."""
    bases = {
        node.name: {_last_name(base) for base in node.bases}
        for tree in trees
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }
    found = {LUCK}
    while more := {name for name, above in bases.items() if above & found} - found:
        found |= more
    return frozenset(found)


def _lines(tree: ast.Module, functions: frozenset[str]) -> Iterator[str]:
    """Return a line for each call of the module that has strings in it."""
    for node, scopes in _with_scopes(tree):
        if isinstance(node, ast.Call) and _is_watched(node.func, functions):
            name = _last_name(node.func)
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            read = _Reader(scopes, keys=name in DIGESTS)
            strings = list(chain.from_iterable(map(read.strings, given)))
        elif isinstance(node, ast.BinOp | ast.JoinedStr) and _has_digest(node):
            name = TEXT_OF_DIGEST
            strings = [text for text in _Reader(scopes).strings(node) if text.startswith(STORED)]
        else:
            continue
        if strings:
            yield f"{name}: {', '.join(dict.fromkeys(strings))}"


def _is_watched(called: ast.expr, functions: frozenset[str]) -> bool:
    """Return whether strings in a call of this enter luck, a seed or a digest."""
    name = _last_name(called)
    if name == "number" and isinstance(called, ast.Attribute) and _last_name(called.value) in OTHER_OWNERS:
        return False
    return name in functions or (name in METHODS and isinstance(called, ast.Attribute))


def _with_scopes(tree: ast.Module) -> Iterator[tuple[ast.AST, list[Scope]]]:
    """Return every node of a module, with what names mean there: the innermost function comes last."""
    waiting: list[tuple[ast.AST, list[Scope]]] = [(tree, [_scope_of(tree)])]
    while waiting:
        node, scopes = waiting.pop()
        yield node, scopes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            scopes = [*scopes, _scope_of(node)]
        waiting += [(child, scopes) for child in ast.iter_child_nodes(node)]


def _scope_of(node: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef) -> Scope:
    """Return what the names of a module or function are set to, without what functions and classes in it set."""
    found: Scope = {}
    waiting: list[ast.AST] = list(node.body)
    for each in waiting:
        if isinstance(each, ast.stmt) and not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            waiting += ast.iter_child_nodes(each)
        if not isinstance(each, ast.Assign | ast.AnnAssign | ast.AugAssign) or each.value is None:
            continue
        for target in each.targets if isinstance(each, ast.Assign) else [each.target]:
            if isinstance(target, ast.Name):
                found.setdefault(target.id, []).append(each.value)
            elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                found.setdefault(target.value.id, []).append(target.slice)
    return found


class _Reader:
    """Reads the strings of an expression."""

    def __init__(self, scopes: list[Scope], keys: bool = False) -> None:
        self._scopes, self._keys = scopes, keys
        self._seen: set[str] = set()
        """Names that were looked up: one may be set to something that holds itself."""

    def strings(self, node: ast.AST | None) -> Iterator[str]:
        """Return the string constants that make up this expression, in order. A name gives what it is set to.

        Arguments of a call in it do not count, nor do conditions and subscripts: they say what is taken, not what for.
        """
        match node:
            case ast.Constant(value=str() | bytes() as text) if text:
                yield _quoted(text)
            case ast.JoinedStr(values=values):
                text = "".join([str(part.value) if isinstance(part, ast.Constant) else HOLE for part in values])
                if text.replace(HOLE, ""):
                    yield _quoted(text)
        for part in self._parts(node):
            yield from self.strings(part)

    def _parts(self, node: ast.AST | None) -> Iterable[ast.AST | None]:
        match node:
            case ast.Name(id=name) if name not in self._seen:
                self._seen.add(name)
                return next((scope[name] for scope in reversed(self._scopes) if name in scope), [])
            case ast.JoinedStr(values=values):
                held = [part.value for part in values if isinstance(part, ast.FormattedValue)]
                return [value for value in held if isinstance(value, ast.Name)]
            case ast.Starred(value=inner) | ast.Call(func=ast.Attribute(value=inner)) | ast.NamedExpr(value=inner):
                return [inner]
            case ast.ListComp(elt=inner) | ast.SetComp(elt=inner) | ast.GeneratorExp(elt=inner):
                return [inner]
            case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
                return [one, other]
            case ast.BoolOp(values=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                return parts
            case ast.DictComp(key=key) if self._keys:
                return [key]
            case ast.Dict(keys=keys, values=values) if self._keys:
                return [value if key is None else key for key, value in zip(keys, values, strict=True)]
        return []


def _quoted(text: str | bytes) -> str:
    """Return a string as Python writes it, in double quotes and in one line."""
    letter, plain = ("b", text.decode("latin-1")) if isinstance(text, bytes) else ("", text)
    return f'{letter}"{repr(plain + chr(39))[1:-2].replace(chr(34), chr(92) + chr(34))}"'


def _has_digest(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Call) and _last_name(each.func) == TEXT_OF_DIGEST for each in ast.walk(node))


def _last_name(node: ast.AST) -> str:
    """Return the name of a name or an attribute, empty for anything else: `derive` of `self.luck.derive`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript):
        return _last_name(node.value)
    return node.id if isinstance(node, ast.Name) else ""


def main() -> None:
    """Write the list anew, and tell what has changed."""
    before = LISTED.read_text(encoding="utf-8").splitlines() if LISTED.exists() else []
    now = seed_strings()
    LISTED.write_text("".join(f"{line}\n" for line in now), encoding="utf-8")
    for line in sorted(set(before) ^ set(now)):
        sys.stdout.write(f"{'+' if line in now else '-'} {line}\n")
    sys.stdout.write(f"{len(now)} lines in {LISTED.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
