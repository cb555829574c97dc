"""Jacobians and Hessians: derivatives of functions that return arrays.

A Jacobian is a pullback or a pushforward, computed for every element of a basis (`_vectorized.py`).
"""

from __future__ import annotations

import numpy as np

from ._columns import Columns
from ._gradients import (
    Auxiliary,
    argument_arrays,
    argument_positions,
    jvp,
    recorded_types,
    traced_pullback,
    refuse_complex_and_integers,
)
from ._recording import running_recording
from ._transformed import TransformedFunction, name_of
from ._trees import filled, flatten, in_container, is_node, items_of, leaves_of, mapped, rebuilt
from ._vectorized import vectorised


def jacrev(f, argnums=0, has_aux=False, holomorphic=False, allow_int=False):
    """The function that gives the Jacobian of ``f``, by reverse mode, like JAX's ``jacrev``: for few results
    and many arguments. ``jacobian`` is the same function.

    The axes of the result come first, then those of the argument at the position ``argnums``. For a tuple of
    positions, or an argument that is a list, tuple, dict or dataclass, the Jacobians are in such a container.
    Those with respect to the columns of a DataFrame are in a dict, or in a DataFrame if each is one column.
    If ``f`` returns several arrays in a container, each has a Jacobian there. With ``has_aux``, ``f`` returns
    ``(results, auxiliary)``, and the result is ``(jacobian, auxiliary)``.

    >>> import indim, numpy as np
    >>> indim.jacrev(lambda x: np.array([2.0, 3.0]) * x**2)(np.array([1.0, 10.0]))
    array([[ 4.,  0.],
           [ 0., 60.]])
    """
    refuse_complex_and_integers(holomorphic, allow_int)
    return _jacobian(f, argnums, bool(has_aux), jacrev, _by_reverse)


def jacfwd(f, argnums=0, has_aux=False, holomorphic=False):
    """Like ``jacrev``, by forward mode: for many results and few arguments.

    >>> import indim, numpy as np
    >>> indim.jacfwd(lambda x: x * np.array([1.0, 2.0, 3.0]))(5.0)
    array([1., 2., 3.])
    """
    refuse_complex_and_integers(holomorphic, False)
    return _jacobian(f, argnums, bool(has_aux), jacfwd, _by_forward)


jacobian = jacrev


def hessian(f, argnums=0, has_aux=False, holomorphic=False):
    """The function that gives the Hessian of ``f``: the Jacobian, by forward mode, of the Jacobian.

    >>> import indim, numpy as np
    >>> indim.hessian(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    refuse_complex_and_integers(holomorphic, False)
    argnums, has_aux = argument_positions(argnums), bool(has_aux)

    def gradient_of(function):
        def gradient(*args, **kwargs):
            return _of_arguments(function, argnums, has_aux, args, kwargs, _by_reverse)

        gradient.__qualname__ = name_of(function)
        return gradient

    def traced(function, *args, **kwargs):
        return _of_arguments(gradient_of(function), argnums, has_aux, args, kwargs, _by_forward)

    return _transformed(f, argnums, has_aux, hessian, traced)


def _jacobian(f, argnums, has_aux, made_by, mode):
    argnums = argument_positions(argnums)

    def traced(function, *args, **kwargs):
        return _of_arguments(function, argnums, has_aux, args, kwargs, mode)

    return _transformed(f, argnums, has_aux, made_by, traced)


def _transformed(f, argnums, has_aux, made_by, traced):
    """The compiled function; numbers among the arguments at ``argnums`` become arrays."""
    if argnums == ():
        raise TypeError(f"{made_by.__name__}: argnums has no position")

    def prepare(signature, args, kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return argument_arrays(bound.args, argnums, name_of(f)), bound.kwargs

    return TransformedFunction(traced, made_by, f, (argnums, has_aux), prepare)


def _of_arguments(f, argnums, has_aux, args, kwargs, mode):
    """The Jacobians of the results with respect to the arguments at ``argnums``, in the containers of the
    results, and in each those of the arguments."""
    name, args = name_of(f), list(args)
    positions = [position % len(args) for position in (argnums if isinstance(argnums, tuple) else (argnums,))]
    for position in positions:
        args[position] = mapped(args[position], lambda leaf: running_recording().tracer(leaf, name))
    primals = tuple(args[position] for position in positions)
    primals = primals if isinstance(argnums, tuple) else primals[0]
    leaves = list(leaves_of(primals))
    if not leaves:
        raise TypeError(f"a Jacobian of {name} is that with respect to arrays, and the argument has none")
    for leaf in leaves:
        _check_float(name, "with respect to", leaf)

    def of_leaves(*leaves):
        given, inner = filled(primals, leaves), list(args)
        for position, value in zip(positions, given if isinstance(argnums, tuple) else (given,)):
            inner[position] = value
        result = f(*inner, **kwargs)
        return Auxiliary.pair(result, name)[0] if has_aux else result

    kind, keys, by_result = mode(of_leaves, name, leaves)
    jacobian = in_container(kind, keys, [filled(primals, by_leaf) for by_leaf in by_result])
    jacobian = _without_frames(jacobian)
    return (jacobian, Auxiliary.pair(f(*args, **kwargs), name)[1]) if has_aux else jacobian


def _without_frames(value):
    """A container in which DataFrames whose columns would be matrices, or DataFrames, are dicts of them."""
    if not is_node(value):
        return value
    items = list(map(_without_frames, items_of(value)))
    return value.of_derivatives(items) if isinstance(value, Columns) else rebuilt(value, items)


def _check_float(name, what, value):
    if value.dtype.kind in "biuc":
        raise TypeError(
            f"a Jacobian of {name} is that {what} floats, and `{value._value_text}` is {value._dtype}; "
            "convert it, or use indim.jvp or indim.vjp for complex numbers"
        )


def _by_forward(function, name, primals):
    """The derivatives in the direction of each element of the arguments: the container of the results, its
    keys, and for each result its Jacobians with respect to the arguments."""
    by_primal = []
    for index, primal in enumerate(primals):

        def of_one(x, index=index):
            return function(*primals[:index], x, *primals[index + 1 :])

        def tangent(direction, of_one=of_one, primal=primal):
            return jvp(of_one, (primal,), (direction,))[1]

        of_one.__qualname__ = name
        columns = vectorised(tangent, (_basis(primal),), {}, 0, -1)
        kind, keys, columns = flatten(columns)
        by_primal.append([column.reshape((*column.shape[:-1], *primal.shape)) for column in columns])
    return kind, keys, list(zip(*by_primal))


def _by_reverse(function, name, primals):
    """The gradients of each element of the results, like ``_by_forward``."""
    kind, keys, results = recorded_types(function, name, primals)
    by_result = []
    for index, result in enumerate(results):
        _check_float(name, "of", result)

        def of_result(*primals, index=index):
            return flatten(function(*primals))[2][index]

        def gradients(cotangent, of_result=of_result):
            return traced_pullback(of_result, primals, cotangent)

        of_result.__qualname__ = name
        rows = vectorised(gradients, (_basis(result),), {}, 0, 0)
        pairs = zip(rows, primals)
        by_result.append([row.reshape((*result._shape, *primal.shape)) for row, primal in pairs])
    return kind, keys, by_result


def _basis(array):
    """For each element of ``array``, an array of its type with 1 at the element and 0 elsewhere."""
    recording, size = running_recording(), int(np.prod(array._shape, dtype=object))
    recording.recorder("basis").use_sizes()
    numbers = recording.tracer(np.arange(size), "basis")
    return (numbers[:, None] == numbers[None, :]).astype(array.dtype).reshape((size, *array._shape))
