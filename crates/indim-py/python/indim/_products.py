"""Products of arrays, eager on arrays and recorded on traced values, and NumPy's functions."""

from __future__ import annotations

import functools
import inspect
import operator
import sys
import types
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays, _foreign, _functions
from ._advice import refuse_given, refused_keyword
from ._callers import is_of_jax
from ._functions import asarray
from ._handlers import ARRAY_FUNCTIONS, UFUNCS
from ._numbers import plain_value
from ._operands import tracer_of
from ._tracing import Tracer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike, NDArray

    from ._types import Integers, Operand

#: The rule sets whose modules have products.
RULES = ("as-written", "numpy")

#: NumPy's letters of the axes that the list form of `einsum` numbers.
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def product(function, operands, preferred_element_type=None, out=None, attributes=()):
    """A product under NumPy's rule; ``function`` is its name in the compiled part."""
    if _foreign.is_labelled(operands):
        raise TypeError(_foreign.LABELLED_PRODUCT)
    attributes = list(attributes)
    if preferred_element_type is not None:
        attributes.append(("dtype", _arrays.indim_name(preferred_element_type)))
    return _functions.apply(function, operands, attributes, "numpy", out)


def matmul(
    x: Operand,
    y: Operand,
    *,
    preferred_element_type: DTypeLike | None = None,
    out: NDArray[Any] | None = None,
):
    """NumPy's ``matmul``, the operator ``@``: products of matrices in the last two axes."""
    function = "@" if preferred_element_type is None else "matmul"
    return product(function, (x, y), preferred_element_type, out)


def inner(
    x: Operand,
    y: Operand,
    *,
    preferred_element_type: DTypeLike | None = None,
    out: NDArray[Any] | None = None,
):
    """NumPy's ``inner``: sums over the last axis of both operands."""
    return product("inner", (x, y), preferred_element_type, out)


def outer(x: Operand, y: Operand, *, out: NDArray[Any] | None = None):
    """NumPy's ``outer``: each element of ``x`` times each of ``y``, both flattened."""
    return product("outer", (x, y), None, out)


def matvec(
    x: Operand,
    y: Operand,
    *,
    preferred_element_type: DTypeLike | None = None,
    out: NDArray[Any] | None = None,
):
    """NumPy's ``matvec``: matrices in the last two axes of ``x`` times vectors in the last axis of ``y``."""
    return product("matvec", (x, y), preferred_element_type, out)


def vecmat(
    x: Operand,
    y: Operand,
    *,
    preferred_element_type: DTypeLike | None = None,
    out: NDArray[Any] | None = None,
):
    """NumPy's ``vecmat``: conjugated vectors in the last axis of ``x`` times matrices in those of ``y``."""
    return product("vecmat", (x, y), preferred_element_type, out)


def vdot(
    x: Operand,
    y: Operand,
    *,
    preferred_element_type: DTypeLike | None = None,
    out: NDArray[Any] | None = None,
):
    """NumPy's ``vdot``: the sum of conjugated elements of ``x`` times those of ``y``, both flattened."""
    flat = [value if np.ndim(value) == 1 else np.reshape(asarray(value), -1) for value in (x, y)]
    return product("numpy.vecdot", flat, preferred_element_type, out)


def tensordot(
    x: Operand,
    y: Operand,
    axes: int | Sequence[Integers] = 2,
    *,
    preferred_element_type: DTypeLike | None = None,
    out: NDArray[Any] | None = None,
):
    """NumPy's ``tensordot``: sums over the last ``axes`` axes of ``x`` and the first of ``y``, or over two
    lists of axes."""
    left, right = _axis_pair(plain_value(axes))
    attributes = [("x_axes", left), ("y_axes", right)]
    return product("tensordot", (x, y), preferred_element_type, out, attributes)


def einsum(
    subscripts: str | Operand,
    *operands: Operand | Sequence[Any],
    optimize: Any = False,
    preferred_element_type: DTypeLike | None = None,
    out: NDArray[Any] | None = None,
):
    """NumPy's ``einsum``: sums of products of any number of operands, whose axes an equation names.

    Sizes determine the order of three or more operands, and ``optimize`` has no effect.
    """
    equation, operands = _equation(subscripts, operands)
    return product("einsum", operands, preferred_element_type, out, [("equation", equation)])


def define(rule, functions):
    """The functions of a rule set, by name. For arguments that NumPy lacks, ``dot`` and ``vecdot`` call the
    functions along axes with the same names in ``functions``."""
    if rule not in RULES:
        return {}
    dot_along, vecdot_along = functions["dot"], functions["vecdot"]

    def dot(
        x: Operand,
        y: Operand,
        axis: int | str | Sequence[int] | Sequence[str] | None = None,
        *,
        keepdims: bool = False,
        broadcast_dimensions: Integers | None = None,
        preferred_element_type: DTypeLike | None = None,
        out: NDArray[Any] | None = None,
    ):
        """NumPy's ``dot``: the last axis of ``x`` with the second last of ``y``, or with its only one.

        With ``axis``, the sum of products along it.
        """
        if axis is None and not keepdims and broadcast_dimensions is None:
            return product("numpy.dot", (x, y), preferred_element_type, out)
        _refuse_type("dot", preferred_element_type)
        options = _axis_options(keepdims, broadcast_dimensions)
        return dot_along(x, y, axis=axis, out=out, **options)

    def vecdot(
        x: Operand,
        y: Operand,
        axis: int | str | Sequence[int] | Sequence[str] | None = -1,
        *,
        keepdims: bool = False,
        broadcast_dimensions: Integers | None = None,
        preferred_element_type: DTypeLike | None = None,
        out: NDArray[Any] | None = None,
    ):
        """NumPy's ``vecdot``: products of vectors along an axis; elements of ``x`` are conjugated."""
        axis = plain_value(axis)
        if isinstance(axis, (int, np.integer)) and not keepdims and broadcast_dimensions is None:
            attributes = [("axis", operator.index(axis))]
            return product("numpy.vecdot", (x, y), preferred_element_type, out, attributes)
        _refuse_type("vecdot", preferred_element_type)
        options = _axis_options(keepdims, broadcast_dimensions)
        return vecdot_along(x, y, axis=axis, out=out, **options)

    defined = {function.__name__: function for function in (dot, vecdot)}
    for function in defined.values():
        function.__qualname__ = function.__name__
        signature = inspect.signature(function)
        parameters = signature.parameters.values()
        if rule == "numpy":
            # The numpy rule aligns axes from the right, so it takes no `broadcast_dimensions`.
            parameters = [parameter for parameter in parameters if parameter.name != "broadcast_dimensions"]
        function.__signature__ = signature.replace(parameters=parameters)
    return defined | {function.__name__: _copy(function) for function in _SHARED}


_SHARED = (matmul, inner, outer, matvec, vecmat, vdot, tensordot, einsum)


def _copy(function):
    """A copy of a function for one module, so that its ``__module__`` can name that module."""
    copied = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__
    )
    copied.__kwdefaults__, copied.__annotations__ = function.__kwdefaults__, function.__annotations__
    copied.__doc__ = function.__doc__
    return copied


def _axis_options(keepdims, broadcast_dimensions):
    """The arguments of a function along axes that differ from their defaults."""
    given = {"keepdims": keepdims or None, "broadcast_dimensions": broadcast_dimensions}
    return {keyword: value for keyword, value in given.items() if value is not None}


def _refuse_type(function, preferred_element_type):
    if preferred_element_type is not None:
        raise TypeError(
            f"{function}() takes no `preferred_element_type` for a sum along several or named axes, and with "
            "keepdims or broadcast_dimensions: write x.astype(dtype)"
        )


def _axis_pair(axes):
    """The axes of both operands of ``tensordot``, as two lists."""
    if isinstance(axes, Tracer):
        _arrays.refuse_traced((axes,))
    if _is_number(axes):
        count = operator.index(axes)
        # For more axes than any array has, one axis suffices for the error.
        return ([-count], [count - 1]) if count > 64 else (list(range(-count, 0)), list(range(count)))
    if len(axes) != 2:
        raise ValueError("`axes` of tensordot is a number, or two lists of axes: axes=([1], [0])")
    _arrays.refuse_traced(axes)
    return [_arrays.integers([of] if _is_number(of) else of) for of in axes]


def _is_number(axes):
    """Whether axes are one number. Lists are excluded first, because ``np.ndim`` refuses unequal lengths."""
    return not isinstance(axes, (list, tuple)) and np.ndim(axes) == 0


def _equation(subscripts, operands):
    """The equation and the operands of both forms of ``einsum``."""
    if isinstance(subscripts, str):
        if not operands:
            raise ValueError("einsum() takes operands after the equation: einsum('ij,jk->ik', x, y)")
        return subscripts, operands
    arguments = [subscripts, *operands]
    if len(arguments) < 2:
        raise ValueError("einsum() takes an equation and operands: einsum('ij,jk->ik', x, y)")
    result = arguments.pop() if len(arguments) % 2 else None
    equation = ",".join(map(_term, arguments[1::2]))
    return equation if result is None else f"{equation}->{_term(result)}", arguments[::2]


def _term(numbers):
    """The labels of an operand as letters, from NumPy's list form."""
    if isinstance(numbers, str):
        raise TypeError("einsum() takes the equation first: einsum('ij,jk->ik', x, y)")
    _arrays.refuse_traced((numbers,))
    letters = []
    for number in numbers:
        if number is not Ellipsis and not 0 <= operator.index(number) < len(_LETTERS):
            raise ValueError(f"a label of einsum is a number from 0 to {len(_LETTERS) - 1}, not {number}")
        letters.append("..." if number is Ellipsis else _LETTERS[number])
    return "".join(letters)


# NumPy's functions.


def register(functions):
    """Lets NumPy's functions of these names be traced, and gives traced values the method ``dot``."""
    UFUNCS["vecdot"] = _ufunc_vecdot(functions["vecdot"])
    for name in ("dot", "outer"):
        ARRAY_FUNCTIONS[getattr(np, name)] = _of_arrays(_with_out(name, functions[name]))
    for name in ("inner", "vdot", "tensordot"):
        ARRAY_FUNCTIONS[getattr(np, name)] = _of_arrays(functions[name])
    ARRAY_FUNCTIONS[np.einsum] = _numpy_einsum
    Tracer.dot = _method_dot(_with_out("dot", functions["dot"]))
    of_linalg = {"matmul": matmul, "outer": _outer_of_vectors}
    for name in ("vecdot", "tensordot"):
        of_linalg[name] = functions[name]
    for name, function in of_linalg.items():
        # NumPy has them since 2.0.
        if hasattr(np.linalg, name):
            ARRAY_FUNCTIONS[getattr(np.linalg, name)] = function


def _of_arrays(function):
    """A product of NumPy, which makes arrays of Python numbers: they determine the element type too."""

    @functools.wraps(function)
    def handler(*operands, **kwargs):
        return function(*(_array_of_number(operand) for operand in operands[:2]), *operands[2:], **kwargs)

    return handler


def _array_of_number(value):
    return np.asarray(value) if isinstance(value, (bool, int, float, complex)) else value


def _method_dot(dot):
    """The method ``dot``; a Python number takes the type of the array in code of JAX alone."""

    def method(self, b, out=None):
        return dot(self, b if is_of_jax(sys._getframe(1)) else _array_of_number(b), out)

    return method


def _ufunc_vecdot(vecdot):
    def handler(x1, x2, *, axis=-1, keepdims=False, **others):
        for keyword in others:
            function = tracer_of((x1, x2))._recording.function
            raise TypeError(refused_keyword(function, np.vecdot, keyword, others))
        return vecdot(x1, x2, axis=axis, keepdims=keepdims)

    return handler


def _with_out(name, function):
    """NumPy's function of two operands and ``out``."""

    def handler(a, b, out=None):
        refuse_given(name, out=out)
        return function(a, b)

    return handler


def _numpy_einsum(*operands, out=None, optimize=False, dtype=None, order="K", casting="safe"):
    refuse_given("einsum", out=out)
    equation, operands = _equation(operands[0], operands[1:])
    if dtype is not None:
        operands = [asarray(operand).astype(dtype, casting=casting) for operand in operands]
    result = einsum(equation, *operands)
    if len(operands) == 1 and isinstance(operands[0], Tracer) and not _sums(equation):
        # NumPy's result is a view.
        operands[0]._share(result, (lambda x: einsum(equation, x), (), None))
    return result


def _sums(equation):
    """Whether the equation of one operand sums over a label."""
    labels, has_arrow, kept = equation.replace(" ", "").replace("...", "").partition("->")
    return not set(labels) <= set(kept) if has_arrow else len(set(labels)) < len(labels)


def _outer_of_vectors(x1, x2):
    if np.ndim(x1) != 1 or np.ndim(x2) != 1:
        raise ValueError("np.linalg.outer takes vectors: np.outer flattens other arrays")
    return outer(x1, x2)


# `make_stubs.py` finds these functions by their code objects.
_functions.OPERATION_CODES |= {function.__code__ for function in _SHARED}
_functions.OPERATION_CODES |= {
    function.__code__ for function in define("numpy", dict.fromkeys(("dot", "vecdot"))).values()
}
