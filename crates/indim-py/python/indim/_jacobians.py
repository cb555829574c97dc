"""Jacobians and Hessians: derivatives of functions that return arrays.

A Jacobian is a pullback or a pushforward, computed for every element of a basis (`_vectorized.py`).
"""

from __future__ import annotations

import operator

import numpy as np

from ._gradients import argument_arrays, jvp, pulled_back
from ._tracing import running_recording
from ._transformed import TransformedFunction, name_of
from ._trees import flatten, in_container
from ._vectorized import vectorised


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
    >>> indim.jacfwd(lambda x: x * np.array([1.0, 2.0, 3.0]))(5.0)
    array([1., 2., 3.])
    """
    return _jacobian(f, argnums, jacfwd, _by_forward)


jacobian = jacrev


def hessian(f, argnums=0):
    """The function that gives the Hessian of ``f``: the Jacobian, by forward mode, of the Jacobian.

    >>> import indim, numpy as np
    >>> indim.hessian(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    if isinstance(argnums, (tuple, list)):
        raise TypeError("hessian is that with respect to one argument; its argnums is one position")

    def gradient_of(function):
        def gradient(*args, **kwargs):
            return _of_arguments(function, argnums, args, kwargs, _by_reverse)

        gradient.__qualname__ = name_of(function)
        return gradient

    def traced(function, *args, **kwargs):
        return _of_arguments(gradient_of(function), argnums, args, kwargs, _by_forward)

    return _transformed(f, operator.index(argnums), hessian, traced)


def _jacobian(f, argnums, made_by, mode):
    if isinstance(argnums, (tuple, list)):
        argnums = tuple(map(operator.index, argnums))
        if not argnums:
            raise TypeError(f"{made_by.__name__}: argnums has no position")
    else:
        argnums = operator.index(argnums)

    def traced(function, *args, **kwargs):
        return _of_arguments(function, argnums, args, kwargs, mode)

    return _transformed(f, argnums, made_by, traced)


def _transformed(f, argnums, made_by, traced):
    """The compiled function; numbers among the arguments at ``argnums`` become arrays."""

    def prepare(signature, args, kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return argument_arrays(bound.args, argnums, name_of(f)), bound.kwargs

    return TransformedFunction(traced, made_by, f, (argnums,), prepare)


def _of_arguments(f, argnums, args, kwargs, mode):
    """The Jacobians of the results with respect to the arguments at ``argnums``."""
    name = name_of(f)
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
    position %= len(args)
    primal = args[position]
    if isinstance(primal, (tuple, list, dict)):
        raise TypeError(
            f"a Jacobian of {name} is that of one array, and argument {position} is a "
            f"{type(primal).__name__}; pass its arrays as arguments"
        )
    primal = running_recording().tracer(primal, name)
    _check_float(name, "with respect to", primal)

    def of_one(x):
        return f(*args[:position], x, *args[position + 1 :], **kwargs)

    of_one.__qualname__ = name
    return mode(of_one, name, primal)


def _check_float(name, what, value):
    if value.dtype.kind in "biuc":
        raise TypeError(
            f"a Jacobian of {name} is that {what} floats, and `{value._value_text}` is {value._dtype}; "
            "convert it, or use indim.jvp or indim.vjp for complex numbers"
        )


def _by_forward(function, name, primal):
    """The derivative in the direction of each element of the argument."""

    def tangent(direction):
        return jvp(function, (primal,), (direction,))[1]

    columns = vectorised(tangent, (_basis(primal),), {}, 0, -1)
    kind, keys, columns = flatten(columns)
    columns = [column.reshape((*column.shape[:-1], *primal.shape)) for column in columns]
    return in_container(kind, keys, columns)


def _by_reverse(function, name, primal):
    """The gradient of each element of the results."""
    kind, keys, results = flatten(function(primal))
    rows = []
    for index, result in enumerate(results):
        result = running_recording().tracer(result, name)
        _check_float(name, "of", result)

        def of_result(x, index=index):
            return flatten(function(x))[2][index]

        def gradient(cotangent, of_result=of_result):
            return pulled_back(of_result, primal, cotangent)

        of_result.__qualname__ = name
        row = vectorised(gradient, (_basis(result),), {}, 0, 0)
        rows.append(row.reshape((*result.shape, *primal.shape)))
    return in_container(kind, keys, rows)


def _basis(array):
    """For each element of ``array``, an array of its type with 1 at the element and 0 elsewhere."""
    numbers = running_recording().tracer(np.arange(array.size), "basis")
    return (numbers[:, None] == numbers[None, :]).astype(array.dtype).reshape((array.size, *array.shape))
