"""Systems of linear equations on traced values: inverse, solution, logarithm of the determinant and Cholesky
factor.

They are loops over the columns of a matrix, by Gaussian elimination with partial pivoting as in LAPACK. The
sums are those of indim, so the bits are the same on every machine; they differ from LAPACK's in the last
digits. Elements of 32 bits are computed in 64 bits, as in NumPy. Elements are not known when a function is
compiled. So a singular matrix gives infinities or NaN, and the Cholesky factor of a matrix that is not
positive definite has NaN, where NumPy raises ``LinAlgError``.

Derivatives are products with the inverse: K. B. Petersen and M. S. Pedersen, The Matrix Cookbook, equations
40, 46 and 59; I. Murray, Differentiation of the Cholesky decomposition, 2016, equation 10. The function of a
loop or branch that is differentiated from outside has those of its operations, the same up to rounding.
"""

from __future__ import annotations

from functools import wraps
from typing import NamedTuple

import numpy as np

from . import _loops
from ._custom_derivatives import custom_jvp
from ._functions import asarray
from ._handlers import implements


class SlogdetResult(NamedTuple):
    """The sign of a determinant, and the logarithm of its absolute value."""

    sign: object
    logabsdet: object


def in_double(function):
    """``function`` computed in f64 or c128. Its results have the precision of its arguments."""

    @wraps(function)
    def computed(*arguments, **options):
        arguments = [asarray(argument) for argument in arguments]
        # Integers are of 64 bits, as in NumPy.
        types = (np.float64 if argument.dtype.kind in "biu" else argument.dtype for argument in arguments)
        dtype = np.result_type(*types)
        if dtype not in (np.float32, np.complex64):
            return function(*arguments, **options)
        wide = np.result_type(dtype, np.float64)
        results = function(*(argument.astype(wide) for argument in arguments), **options)
        return _map_results(lambda x: x.astype(np.complex64 if x.dtype.kind == "c" else np.float32), results)

    return computed


def _map_results(function, results):
    return type(results)(*map(function, results)) if isinstance(results, tuple) else function(results)


@implements(np.linalg.inv)
@in_double
def _inv(a):
    return _inverse(_matrices(a, "inv"))


@implements(np.linalg.solve)
@in_double
def _solve(a, b):
    a, b = _matrices(a, "solve"), _elements(asarray(b), "solve")
    is_vector = b.ndim == 1
    b = b[:, None] if is_vector else b
    if b.ndim < 2 or b.shape[-2] != a.shape[-1]:
        raise ValueError(
            f"solve: the right side of shape {list(b.shape[-2:])} does not have the {a.shape[-1]} rows of `a`"
        )
    dtype = np.result_type(a.dtype, b.dtype)
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = np.broadcast_to(a.astype(dtype), (*batch, *a.shape[-2:]))
    b = np.broadcast_to(b.astype(dtype), (*batch, *b.shape[-2:]))
    x = _solution(a, b)
    return x[..., 0] if is_vector else x


@implements(np.linalg.slogdet)
@in_double
def _slogdet(a):
    a = _matrices(a, "slogdet")
    upper, _, is_odd = _eliminated(a, a[..., :0])
    diagonal = np.diagonal(upper, 0, -2, -1)
    if a.dtype.kind == "c":
        size = np.abs(diagonal)
        signs = np.where(size == 0, 0, diagonal / np.where(size == 0, 1, size))
    else:
        # An infinite element has a sign too.
        signs = np.where(diagonal < 0, -1, np.where(diagonal == 0, 0, np.ones_like(diagonal)))
    return SlogdetResult(np.where(is_odd, -1, 1).astype(a.dtype) * np.prod(signs, axis=-1), _log_size(a))


@implements(np.linalg.cholesky)
@in_double
def _cholesky(a, /, *, upper=False):
    factor = _cholesky_factor(_matrices(a, "cholesky") if not upper else _adjoint(_matrices(a, "cholesky")))
    return _adjoint(factor) if upper else factor


# Arguments.


def _matrices(a, name):
    """A square matrix, or a stack of them."""
    a = _elements(asarray(a), name)
    if a.ndim < 2:
        raise np.linalg.LinAlgError(f"{name} takes matrices, not an array of rank {a.ndim}")
    if a.shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError(f"{name} takes a square matrix, not one of shape {list(a.shape[-2:])}")
    return a


def _elements(a, name):
    if a.dtype.kind in "biu":
        return a.astype(np.float64)
    if a.dtype.type not in (np.float32, np.float64, np.complex64, np.complex128):
        raise TypeError(f"{name} takes elements of 32 or 64 bits, not {a.dtype}: write x.astype(np.float32)")
    return a


def _adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))


# The loops.


def _eliminated(a, right):
    """For each matrix of a stack: an upper triangular one with the same solutions, its right sides, and
    whether an odd number of rows was swapped."""
    size = a.shape[-1]
    numbers = np.arange(size)

    def step(k, state):
        rows, is_odd = state
        # NaN is the largest for argmax, as in LAPACK.
        candidates = np.where(numbers >= k, np.abs(_at(rows, k, -1)), -1)
        pivot = np.argmax(candidates, axis=-1)
        order = np.where(numbers == k, pivot[..., None], np.where(numbers == pivot[..., None], k, numbers))
        rows = np.take_along_axis(rows, order[..., None], axis=-2)
        first, column = _at(rows, k, -2), _at(rows, k, -1)
        divisor = _at(column, k, -1)[..., None]
        is_below = (numbers > k) & (divisor != 0)
        factors = np.where(is_below, column / np.where(divisor == 0, 1, divisor), 0)
        eliminated = rows - factors[..., None] * first[..., None, :]
        # Rounding must not leave residues below the pivot.
        eliminated = np.where(np.arange(rows.shape[-1]) == k, 0, eliminated)
        # Other rows stay, also if the pivot is infinite.
        return np.where(is_below[..., None], eliminated, rows), is_odd ^ (pivot != k)

    rows, is_odd = np.concatenate([a, right], axis=-1), np.zeros(a.shape[:-2], bool)
    if size:
        rows, is_odd = _loops.fori_loop(0, size, step, (rows, is_odd))
    return rows[..., :size], rows[..., size:], is_odd


def _substituted(upper, right):
    """The solutions of systems with upper triangular matrices, from the last unknown to the first."""
    size = upper.shape[-1]
    numbers = np.arange(size)

    def step(count, x):
        k = size - 1 - count
        row = _at(upper, k, -2)
        known = np.sum(np.where(numbers > k, row, 0)[..., None] * x, axis=-2)
        value = (_at(right, k, -2) - known) / _at(row, k, -1)[..., None]
        return np.where((numbers == k)[:, None], value[..., None, :], x)

    return _loops.fori_loop(0, size, step, np.zeros_like(right)) if size else right


def _at(x, k, axis):
    """The part of an array at index ``k``, which is in range."""
    return np.take(x, k, axis=axis, mode="clip")


@custom_jvp
def _solution(a, b):
    upper, right, _ = _eliminated(a, b)
    return _substituted(upper, right)


_solution._in_loops = _solution.__wrapped__


@_solution.defjvp
def _solution_jvp(primals, tangents):
    (a, b), (a_tangent, b_tangent) = primals, tangents
    x = _solution(a, b)
    return x, np.matmul(_inverse(a), b_tangent - np.matmul(a_tangent, x))


@custom_jvp
def _inverse(a):
    identity = np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape)
    upper, right, _ = _eliminated(a, identity)
    return _substituted(upper, right)


_inverse._in_loops = _inverse.__wrapped__


@_inverse.defjvp
def _inverse_jvp(primals, tangents):
    x = _inverse(primals[0])
    return x, -np.matmul(np.matmul(x, tangents[0]), x)


@custom_jvp
def _log_size(a):
    """The logarithm of the absolute value of the determinant."""
    upper, _, _ = _eliminated(a, a[..., :0])
    return np.sum(np.log(np.abs(np.diagonal(upper, 0, -2, -1))), axis=-1)


_log_size._in_loops = _log_size.__wrapped__


@_log_size.defjvp
def _log_size_jvp(primals, tangents):
    return _log_size(primals[0]), np.real(_trace_of_product(_inverse(primals[0]), tangents[0]))


def _trace_of_product(a, b):
    return np.sum(a * np.swapaxes(b, -1, -2), axis=(-2, -1))


@custom_jvp
def _cholesky_factor(a):
    size = a.shape[-1]
    numbers = np.arange(size)

    def step(k, factor):
        column = _at(a, k, -1) - np.sum(factor * np.conj(_at(factor, k, -2))[..., None, :], axis=-1)
        pivot = np.sqrt(np.real(_at(column, k, -1)))[..., None]
        column = np.where(numbers > k, column, 0) / pivot + np.where(numbers == k, pivot, 0)
        return np.where(numbers == k, column[..., None].astype(a.dtype), factor)

    return _loops.fori_loop(0, size, step, np.zeros_like(a)) if size else a


_cholesky_factor._in_loops = _cholesky_factor.__wrapped__


@_cholesky_factor.defjvp
def _cholesky_factor_jvp(primals, tangents):
    factor = _cholesky_factor(primals[0])
    # NumPy reads the lower triangle alone, of a matrix that equals its adjoint.
    strict, diagonal = np.tril(tangents[0], -1), np.eye(factor.shape[-1]) * np.real(tangents[0])
    tangent = strict + diagonal + _adjoint(strict)
    inverse = _inverse(factor)
    middle = np.matmul(np.matmul(inverse, tangent), _adjoint(inverse))
    half = np.tril(middle) - middle * np.eye(factor.shape[-1]) / 2
    return factor, np.matmul(factor, half.astype(factor.dtype))
