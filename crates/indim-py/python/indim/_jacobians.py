"""Jacobians and Hessians: derivatives of functions that return arrays.

A Jacobian is a pullback or a pushforward, computed for every element of a basis (`_vectorized.py`).
"""

from __future__ import annotations

import operator

import numpy as np

from ._gradients import jvp, vjp
from ._tracing import Tracer, flatten, innermost
from ._transformed import TransformedFunction
from ._trees import leaves_of
from ._vectorized import vectorise


def jacrev(f, argnums=0):
    """The function that gives the Jacobian of ``f``, by reverse mode, like JAX's ``jacrev``: for few results
    and many arguments. ``jacobian`` is the same function.

    The axes of the result come first, then those of the argument at the position ``argnums``; a tuple of
    positions gives a tuple of Jacobians. If ``f`` returns several arrays in a tuple, list or dict, each has a
    Jacobian there.

    >>> import indim, numpy as np
    >>> indim.jacrev(lambda x: np.array([2.0, 3.0]) * x**2)(np.array([1.0, 10.0]))
    array([[ 4.,  0.],
           [ 0., 60.]])
    """
    return _jacobian(f, argnums, jacrev, _by_reverse)


def jacfwd(f, argnums=0):
    """Like ``jacrev``, by forward mode: for many results and few arguments.

    >>> import indim, numpy as np
    >>> indim.jacfwd(lambda x: x * np.array([1.0, 2.0, 3.0]))(np.float64(5.0))
    array([1., 2., 3.])
    """
    return _jacobian(f, argnums, jacfwd, _by_forward)


def hessian(f, argnums=0):
    """The function that gives the Hessian of ``f``: the Jacobian, by forward mode, of the Jacobian.

    >>> import indim, numpy as np
    >>> indim.hessian(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    argnums = operator.index(argnums)
    inner = jacrev(f, argnums)

    def second(*args, **kwargs):
        return _of_arguments(inner, argnums, args, kwargs, _by_forward)

    return TransformedFunction(second, hessian, f, (argnums,))


jacobian = jacrev


def _jacobian(f, argnums, made_by, mode):
    several = isinstance(argnums, (tuple, list))
    argnums = tuple(map(operator.index, argnums)) if several else operator.index(argnums)

    def traced(*args, **kwargs):
        return _of_arguments(f, argnums, args, kwargs, mode)

    return TransformedFunction(traced, made_by, f, (argnums,))


def _of_arguments(f, argnums, args, kwargs, mode):
    """The Jacobians of the results with respect to the arguments at ``argnums``."""
    name = getattr(f, "__qualname__", repr(f))
    positions = argnums if isinstance(argnums, tuple) else (argnums,)
    jacobians = [_of_argument(f, name, position, args, kwargs, mode) for position in positions]
    if not isinstance(argnums, tuple):
        return jacobians[0]
    if isinstance(jacobians[0], (tuple, list, dict)):
        raise TypeError(
            f"{name} returns several arrays, and the Jacobians with respect to several arguments would be in "
            "nested containers; give one position as argnums"
        )
    return tuple(jacobians)


def _of_argument(f, name, position, args, kwargs, mode):
    """The Jacobians of the results with respect to one argument, in the container of the results."""
    if not -len(args) <= position < len(args):
        raise TypeError(f"argnums={position} is not a position of the {len(args)} arguments of {name}")
    position %= len(args)
    primal = args[position]
    if isinstance(primal, (tuple, list, dict)):
        raise TypeError(
            f"a Jacobian of {name} is that of one array, and argument {position} is a "
            f"{type(primal).__name__}; pass its arrays as arguments"
        )
    outer = innermost([leaf for leaf in leaves_of((*args, kwargs)) if isinstance(leaf, Tracer)])
    primal = outer.tracer(primal, name)
    if primal.dtype.kind in "biuc":
        raise TypeError(
            f"a Jacobian of {name} is that with respect to floats, and `{primal._value_text}` is "
            f"{primal._dtype}; convert it, or use indim.jvp and indim.vjp for complex numbers"
        )

    def of_one(x):
        return f(*args[:position], x, *args[position + 1 :], **kwargs)

    of_one.__qualname__ = name
    return mode(of_one, primal, outer)


def _by_forward(function, primal, outer):
    """The derivative in the direction of each element of the argument."""

    def tangent(direction):
        return jvp(function, (primal,), (direction,))[1]

    columns = vectorise(tangent, (_basis(primal, outer),), {}, 0, -1)
    return _mapped_results(columns, lambda column: column.reshape((*column.shape[:-1], *primal.shape)))


def _by_reverse(function, primal, outer):
    """The gradient of each element of the results."""
    kind, keys, results = flatten(function(primal))
    rows = []
    for index, result in enumerate(results):

        def of_result(x, index=index):
            return flatten(function(x))[2][index]

        def gradient(cotangent, of_result=of_result):
            return vjp(of_result, primal)[1](cotangent)[0]

        of_result.__qualname__ = function.__qualname__
        result = outer.tracer(result, function.__qualname__)
        row = vectorise(gradient, (_basis(result, outer),), {}, 0, 0)
        rows.append(row.reshape((*result.shape, *primal.shape)))
    if kind == "dict":
        return dict(zip(keys, rows))
    return rows[0] if kind == "single" else tuple(rows) if kind == "tuple" else rows


def _basis(array, outer):
    """For each element of ``array``, an array of its type with 1 at the element and 0 elsewhere."""
    numbers = outer.tracer(np.arange(array.size), "basis")
    return (numbers[:, None] == numbers[None, :]).astype(array.dtype).reshape((array.size, *array.shape))


def _mapped_results(results, function):
    """The results with ``function`` applied to each array."""
    if isinstance(results, dict):
        return {key: function(value) for key, value in results.items()}
    if isinstance(results, (tuple, list)):
        return type(results)(map(function, results))
    return function(results)
