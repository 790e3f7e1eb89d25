"""The little linear algebra that fits need: symmetric positive definite matrices of up to some hundred rows."""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul

Matrix = list[list[float]]


def times(matrix: Matrix, vector: Sequence[float]) -> list[float]:
    """The product of a matrix and a vector."""
    return [sum(map(mul, row, vector)) for row in matrix]


def inverted(matrix: Matrix) -> Matrix:
    """The inverse of a symmetric positive definite matrix, through its Cholesky factor."""
    size = len(matrix)
    factor: Matrix = []
    for i, given in enumerate(matrix):
        row: list[float] = []
        for j, other in enumerate(factor):
            row.append((given[j] - sum(map(mul, row, other))) / other[j])
        row.append((given[i] - sum(map(mul, row, row))) ** 0.5)
        factor.append(row)
    # The columns of the factor's inverse, each from its diagonal down.
    columns: Matrix = []
    for j in range(size):
        column = [1 / factor[j][j]]
        for i in range(j + 1, size):
            row = factor[i]
            column.append(-sum(map(mul, row[j:i], column)) / row[i])
        columns.append(column)
    inverse = [[0.0] * size for _ in range(size)]
    for i in range(size):
        for j in range(i, size):
            inverse[i][j] = inverse[j][i] = sum(map(mul, columns[i][j - i :], columns[j]))
    return inverse


def sandwiched(outer: Matrix, inner: Matrix) -> Matrix:
    """outer * inner * outer, for symmetric matrices."""
    half = [times(inner, row) for row in outer]
    return [times(outer, row) for row in half]
