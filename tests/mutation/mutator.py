"""Small wrong changes to Python code, one at a time: each ought to make some test fail."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import copy
from typing import NamedTuple

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
"""The neighbour, where there is one, and the contrary."""
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Add,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr, ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}  # fmt: skip
SAID = (ast.JoinedStr, ast.Assert)
"""Texts for people, and what is true anyway: no test is missing where these are wrong."""


class Mutant(NamedTuple):
    """One wrong change: its line, what stood there and stands there now, and the whole source."""

    line: int
    old: str
    new: str
    source: str


class Change(NamedTuple):
    """Some code, and what to put in its place."""

    node: ast.expr | ast.stmt
    text: str


def mutants(source: str) -> list[Mutant]:
    """Every mutant of this source, from top to bottom. All of them can be compiled."""
    data, starts = source.encode(), _starts(source)
    found = []
    for change in _changes(ast.parse(source)):
        node = change.node
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        begin = starts[node.lineno - 1] + node.col_offset  # columns are bytes
        end = starts[node.end_lineno - 1] + node.end_col_offset
        simple = isinstance(node, ast.stmt | ast.Constant) and not change.text.startswith("-")
        text = change.text if simple else f"({change.text})"
        mutated = (data[:begin] + text.encode() + data[end:]).decode()
        old, new = ast.unparse(node), change.text
        if node.lineno == node.end_lineno:
            old, new = (text.splitlines()[node.lineno - 1].strip() for text in (source, mutated))
        found.append(Mutant(node.lineno, old, new, mutated))
    return [mutant for mutant in found if _compiles(mutant.source)]


def _starts(source: str) -> list[int]:
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _compiles(source: str) -> bool:
    try:
        compile(source, "mutant", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def _changes(node: ast.AST) -> Iterator[Change]:
    """The changes of a node and of all that is in it, except of annotations, decorators, imports and texts."""
    if isinstance(node, ast.stmt):
        yield from _of_statement(node)
    elif isinstance(node, ast.expr):
        yield from _of_expression(node)
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "bases", "keywords") and not isinstance(node, ast.Call):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, SAID) and not _is_for_types(child):
                yield from _changes(child)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _of_statement(node: ast.stmt) -> Iterator[Change]:
    match node:
        case ast.Expr(value=ast.Constant()):  # a docstring
            return
        case ast.Expr() | ast.Raise() | ast.Delete() | ast.Continue() | ast.Break() | ast.Return(value=None):
            yield Change(node, "pass")
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):  # without a name it would only be a NameError
            yield Change(node, "pass")
        case ast.AugAssign():
            yield Change(node, "pass")
            if type(node.op) in ARITHMETIC:
                other = copy(node)
                other.op = ARITHMETIC[type(node.op)]()
                yield Change(node, ast.unparse(other))
        case ast.Return(value=value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield Change(node, "return None")


def _of_expression(node: ast.expr) -> Iterator[Change]:
    match node:
        case ast.Compare():
            for place, operator in enumerate(node.ops):
                for instead in COMPARISONS[type(operator)]:
                    other = copy(node)
                    other.ops = [*node.ops[:place], instead(), *node.ops[place + 1 :]]
                    yield Change(node, ast.unparse(other))
        case ast.BoolOp():
            swapped = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield Change(node, ast.unparse(ast.BoolOp(swapped, node.values)))
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield Change(node, ast.unparse(node.operand))
        case ast.BinOp() if type(node.op) in ARITHMETIC:
            yield Change(node, ast.unparse(ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right)))
        case ast.IfExp() if not isinstance(node.test, ast.Compare):  # that is turned round by itself
            yield Change(node, ast.unparse(ast.IfExp(node.test, node.orelse, node.body)))
        case ast.Constant(value=bool()):
            yield Change(node, str(not node.value))
        case ast.Constant(value=int()):
            yield Change(node, str(node.value + 1))
            yield Change(node, str(node.value - 1))
        case ast.Constant(value=float()):
            yield Change(node, str(2 * node.value or 1.0))
