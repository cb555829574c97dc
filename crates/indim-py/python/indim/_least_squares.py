"""Least squares with few unknowns for many right sides at once, whose matrices a program computes.

``numpy.linalg.lstsq`` factorises one matrix for all right sides. Here each right side may have a matrix of
its own, such as the rows whose values are given. The columns are orthogonalised, and rotations by Jacobi
give the singular values of the small triangular matrix that remains. So the solution is that of ``lstsq``,
also for a matrix without full rank: the one with the least norm.
"""

from __future__ import annotations

import operator

import numpy as np

#: Sweeps of rotations. Convergence is quadratic: matrices of up to `MAX_UNKNOWNS` columns need 5 or 6.
_SWEEPS = 7

#: The number of operations grows with the third power of the unknowns.
MAX_UNKNOWNS = 6


def solve(columns, values, rcond):
    """The solutions, as a list with an array for each unknown, the sum of squared residuals, and the rank.

    ``columns`` are the columns of the matrix. They and ``values``, the right side, have the rows on the first
    axis and broadcast against each other.
    """
    basis, triangle = _orthogonalised(columns)
    shares = [np.sum(unit * values, axis=0) for unit in basis]
    left, right = _rotated(triangle)
    squares = [sum(entry * entry for entry in column) for column in left]
    largest = squares[0]
    for square in squares[1:]:
        largest = np.maximum(largest, square)
    # An entry of the square root would divide by zero for a matrix of zeros.
    is_used = [(square > largest * rcond**2) & (square > 0) for square in squares]
    factors = [
        np.where(used, _dot(column, shares) / np.where(used, square, 1), 0)
        for used, square, column in zip(is_used, squares, left)
    ]
    unknowns = range(len(columns))
    solution = [sum(right[column][row] * factors[column] for column in unknowns) for row in unknowns]
    fitted = sum(column * unknown for column, unknown in zip(columns, solution))
    residuals = np.sum((values - fitted) ** 2, axis=0)
    return solution, residuals, sum(used.astype(np.int64) for used in is_used)


def _dot(x, y):
    return sum(map(operator.mul, x, y))


def _orthogonalised(columns):
    """Orthonormal columns, and the upper triangular matrix whose product with them gives ``columns``."""
    basis, triangle = [], []
    for column in columns:
        entries = []
        # One pass loses orthogonality in columns that are nearly dependent, such as powers of times.
        for _ in range(2):
            for position, unit in enumerate(basis):
                share = np.sum(unit * column, axis=0)
                column = column - unit * share
                if position == len(entries):
                    entries.append(share)
                else:
                    entries[position] = entries[position] + share
        length = np.sqrt(np.sum(column * column, axis=0))
        basis.append(np.where(length > 0, column / np.where(length > 0, length, 1), 0))
        triangle.append([*entries, length])
    rows = len(columns)
    zero = triangle[0][0] * 0
    return basis, [[*column, *[zero] * (rows - len(column))] for column in triangle]


def _rotated(left):
    """Orthogonal columns, and the orthogonal matrix that gives them as its product with the columns."""
    count = len(left)
    left = [list(column) for column in left]
    one, zero = left[0][0] * 0 + 1, left[0][0] * 0
    right = [[one if row == column else zero for row in range(count)] for column in range(count)]
    for _ in range(_SWEEPS if count > 2 else 2):
        for first in range(count):
            for second in range(first + 1, count):
                cosine, sine = _rotation(left[first], left[second])
                for columns in (left, right):
                    x, y = columns[first], columns[second]
                    columns[first] = [cosine * a - sine * b for a, b in zip(x, y)]
                    columns[second] = [sine * a + cosine * b for a, b in zip(x, y)]
    return left, right


def _rotation(x, y):
    """The cosine and sine of the rotation that makes two columns orthogonal."""
    across = _dot(x, y)
    is_needed = across != 0
    half = (_dot(y, y) - _dot(x, x)) / (2 * np.where(is_needed, across, 1))
    tangent = np.where(half >= 0, 1.0, -1.0) / (np.abs(half) + np.sqrt(1 + half * half))
    tangent = np.where(is_needed, tangent, 0)
    cosine = 1 / np.sqrt(1 + tangent * tangent)
    return cosine, cosine * tangent
