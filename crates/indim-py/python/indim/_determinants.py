"""Determinants of traced matrices, with the adjugate as their derivative.

The derivative of a determinant by an element is the cofactor of the element, also for a singular matrix,
which has no inverse. Cofactors of matrices of at most 3 rows are formulas, whose derivatives of any order are
right. Those of larger ones come from an elimination that swaps rows and columns; their own derivatives are
products with the inverse.
"""

from __future__ import annotations

import numpy as np

from . import _loops
from ._custom_derivatives import custom_jvp
from ._factorisations import _at, _eliminated, _inverse, _matrices, _substituted, in_double
from ._handlers import implements


@implements(np.linalg.det)
@in_double
def _det(a):
    return _determinant(_matrices(a, "det"))


@custom_jvp
def _determinant(a):
    upper, _, is_odd = _eliminated(a, a[..., :0])
    product = _product(np.diagonal(upper, 0, -2, -1))
    return np.where(is_odd, -product, product)


def _product_of_pivots(a):
    """The determinant by operations whose derivatives are right also for a singular matrix, whose last pivots
    are 0."""
    if a.shape[-1] == 0:
        return np.prod(np.diagonal(a, 0, -2, -1), axis=-1)
    upper, _, _, is_odd = _eliminated_by_both(a)
    product = np.prod(np.diagonal(upper, 0, -2, -1), axis=-1)
    return np.where(is_odd, -product, product)


_determinant._in_loops = _product_of_pivots


@_determinant.defjvp
def _determinant_jvp(primals, tangents):
    return _determinant(primals[0]), np.sum(_cofactors(primals[0]) * tangents[0], axis=(-2, -1))


def _product(factors):
    """The product along the last axis. Parts of it do not overflow, because powers of 2 are added."""
    _, exponents = np.frexp(np.abs(factors))
    # Factors from 1/2 to 1 would underflow together.
    exponents = exponents - (np.abs(_times_power(factors, -exponents)) < np.sqrt(0.5))
    product = np.prod(_times_power(factors, -exponents), axis=-1)
    return _times_power(product, np.sum(exponents, axis=-1).astype(np.int32))


def _times_power(x, exponents):
    """``x * 2**exponents``."""
    if x.dtype.kind != "c":
        return np.ldexp(x, exponents)
    return (np.ldexp(x.real, exponents) + 1j * np.ldexp(x.imag, exponents)).astype(x.dtype)


def _cofactors(a):
    """The derivative of the determinant by each element."""
    size = a.shape[-1]
    if size > 3:
        return np.swapaxes(_adjugate(a), -1, -2)
    if size == 3:
        rows = [a[..., row, :] for row in range(3)]
        return np.stack([np.cross(rows[row - 2], rows[row - 1]) for row in range(3)], axis=-2)
    if size == 2:
        return a[..., ::-1, ::-1] * np.array([[1, -1], [-1, 1]], a.real.dtype)
    return np.ones_like(a)


@custom_jvp
def _adjugate(a):
    """The transpose of the cofactors: ``det(a) * inv(a)`` of a matrix with an inverse."""
    size = a.shape[-1]
    upper, right, columns, is_odd = _eliminated_by_both(a)
    # The last row of the adjugate of `upper` has no factor `last`, which is 0 in a singular matrix.
    first, last = upper[..., :-1, :-1], upper[..., -1:, -1:]
    minor = _product(np.diagonal(first, 0, -2, -1))[..., None, None]
    sides = np.concatenate([last * np.eye(size - 1, dtype=a.dtype), -upper[..., :-1, -1:]], axis=-1)
    above = minor * _substituted(first, sides)
    # With a second 0 all cofactors are 0.
    above = np.where(minor == 0, 0, above)
    below = minor * (np.arange(size) == size - 1)[None, :]
    adjugate = np.matmul(np.concatenate([above, below.astype(a.dtype)], axis=-2), right)
    adjugate = np.where(is_odd[..., None, None], -adjugate, adjugate)
    return np.take_along_axis(adjugate, np.argsort(columns, axis=-1)[..., None], axis=-2)


@_adjugate.defjvp
def _adjugate_jvp(primals, tangents):
    adjugate, tangent = _adjugate(primals[0]), tangents[0]
    trace = np.sum(np.swapaxes(adjugate, -1, -2) * tangent, axis=(-2, -1))[..., None, None]
    change = trace * np.eye(adjugate.shape[-1], dtype=adjugate.dtype) - np.matmul(tangent, adjugate)
    return adjugate, np.matmul(_inverse(primals[0]), change)


def _eliminated_by_both(a):
    """For each matrix of a stack: an upper triangular one, whose last diagonal elements are those that are
    0; the same operations on the rows of the identity; the order of columns; and whether an odd number of
    rows and columns was swapped."""
    size = a.shape[-1]
    numbers = np.arange(size)

    def step(k, state):
        rows, columns, is_odd = state
        is_left = (numbers >= k)[:, None] & (numbers >= k)
        candidates = np.where(is_left, np.abs(rows[..., :size]), -1)
        pivot = np.argmax(candidates.reshape((*a.shape[:-2], size * size)), axis=-1)
        row, column = pivot // size, pivot % size
        rows = np.take_along_axis(rows, _swapped(size, k, row)[..., None], axis=-2)
        order = _swapped(size, k, column)
        left = np.take_along_axis(rows[..., :size], order[..., None, :], axis=-1)
        rows = np.concatenate([left, rows[..., size:]], axis=-1)
        columns = np.take_along_axis(columns, order, axis=-1)
        divisor = _at(_at(rows, k, -1), k, -1)[..., None]
        is_below = (numbers > k) & (divisor != 0)
        factors = np.where(is_below, _at(rows, k, -1) / np.where(divisor == 0, 1, divisor), 0)
        below = rows - factors[..., None] * _at(rows, k, -2)[..., None, :]
        below = np.where(np.arange(2 * size) == k, 0, below)
        return np.where(is_below[..., None], below, rows), columns, is_odd ^ (row != k) ^ (column != k)

    identity = np.broadcast_to(np.eye(size, dtype=a.dtype), a.shape)
    columns = np.broadcast_to(numbers, a.shape[:-1])
    state = np.concatenate([a, identity], axis=-1), columns, np.zeros(a.shape[:-2], bool)
    rows, columns, is_odd = _loops.fori_loop(0, size, step, state)
    return rows[..., :size], rows[..., size:], columns, is_odd


def _swapped(size, k, other):
    """The positions of an axis, with ``k`` and ``other`` swapped."""
    numbers = np.arange(size)
    return np.where(numbers == k, other[..., None], np.where(numbers == other[..., None], k, numbers))
