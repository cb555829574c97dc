"""Operations as functions: on arrays at once, on tracing values as part of what they record.

An operation is the text of one call, such as ``add(x, y, dims=[1])``, over its operands.
"""

from __future__ import annotations

import operator

import numpy as np

from . import _arrays, _foreign
from ._indim import evaluate
from ._numbers import as_it_is
from ._tracing import OPERANDS_BY_KEYWORD, Tracer

_NAMES = ("x", "y", "z")

#: Functions whose operands are a list, of any length.
_OF_LISTS = ("concatenate", "stack")


def number_text(number):
    """A number as the text of expressions writes it; parenthesised, for a sign in front."""
    number = float(number) if isinstance(number, float) else number
    if isinstance(number, float) and number != number:
        return "(1e999 - 1e999)"
    if isinstance(number, float) and number in (float("inf"), float("-inf")):
        return "1e999" if number > 0 else "(-1e999)"
    text = repr(number)
    return f"({text})" if text.startswith("-") else text


class AxisNames:
    """Axes by their names, as the text of expressions writes them."""

    def __init__(self, names):
        for name in names:
            if not name.isidentifier():
                raise ValueError(
                    f"axis {name!r} cannot be written in an expression: within a function of `indim.jit` "
                    f"reduce by xarray's own, `x.mean({name!r})`"
                )
        self._names = tuple(names)

    def __str__(self):
        return f"[{', '.join(self._names)}]"


def _attribute_text(keyword, value):
    """An attribute as the text of expressions writes it."""
    if keyword in OPERANDS_BY_KEYWORD:
        written = OPERANDS_BY_KEYWORD[keyword]
    else:
        written = str(value) if isinstance(value, (list, str, int, AxisNames)) else number_text(value)
    return f", {keyword}={written}" if keyword else f", {written}"


def apply(function, operands, attributes=(), rule="as-written", out=None):
    """One operation on arrays, numbers or tracing values.

    An attribute is its keyword, or ``None`` where it goes by its place, and a number, a list of integers, the
    name of an element type, or of some keywords what an operand may be.
    """
    by_keyword = {
        OPERANDS_BY_KEYWORD[keyword]: value for keyword, value in attributes if keyword in OPERANDS_BY_KEYWORD
    }
    for operand in (*operands, *by_keyword.values()):
        if isinstance(operand, Tracer):
            if out is not None:
                raise TypeError("`out` has no meaning inside of a function that is compiled")
            return operand._record(function, operands, attributes, rule)
    is_by_name = any(isinstance(value, AxisNames) for _, value in attributes)
    if _foreign.is_labelled(operands) and not is_by_name:
        from . import _xarray

        return _xarray.operation(
            lambda *arrays: apply(function, arrays, attributes, rule), operands, attributes, out
        )
    text, named = _call(function, operands, attributes)
    return evaluate(text, named | by_keyword, {}, out=out, rule=rule)


def _call(function, operands, attributes):
    """The text of a call, and the operands by their names in it."""
    is_list = function in _OF_LISTS
    names = [f"x{index}" for index in range(len(operands))] if is_list else _NAMES[: len(operands)]
    written = f"[{', '.join(names)}]" if is_list else ", ".join(names)
    text = f"{function}({written}{''.join(_attribute_text(*attribute) for attribute in attributes)})"
    return text, dict(zip(names, operands))


def constant(function, name, value):
    """A number as Python's own; what it must be is checked where the function is."""
    value = as_it_is(value)
    if isinstance(value, (np.generic, np.ndarray)) and value.ndim == 0:
        value = value.item()
    if not isinstance(value, (bool, int, float)):
        raise TypeError(
            f"`{name}` of {function}() is a number, not {type(value).__name__}: it becomes part of the "
            f"program; where it is to vary, write out the formula of {function}"
        )
    return value


def unary(function, doc, rule="as-written"):
    """The function of one operand that calls ``function`` of the expression language."""

    def operation(x, *, out=None):
        return apply(function, (x,), rule=rule, out=out)

    return _named(operation, function, doc)


def plain(function, count, doc, rule):
    """The function of ``count`` operands under a rule without attributes."""
    if count == 2:

        def operation(x, y, *, out=None):
            return apply(function, (x, y), rule=rule, out=out)
    else:

        def operation(x, y, z, *, out=None):
            return apply(function, (x, y, z), rule=rule, out=out)

    return _named(operation, function, doc)


def xla(function, doc):
    """The function of two operands under XLA's rule."""

    def operation(x, y, *, broadcast_dimensions=None, out=None):
        return apply(function, (x, y), _dims(broadcast_dimensions), "xla", out)

    return _named(operation, function, doc)


def pdpd(function, count, doc, rule="pdpd"):
    """The function of two or three operands under a rule with an axis."""
    if count == 2:

        def operation(x, y, *, axis=None, out=None):
            return apply(function, (x, y), _axis(axis), rule, out)
    else:

        def operation(x, y, z, *, axis=None, out=None):
            return apply(function, (x, y, z), _axis(axis), rule, out)

    return _named(operation, function, doc)


def by_attributes(function, count, doc):
    """The function of two or three operands that follows xla, pdpd or numpy, as its attributes say."""
    if count == 2:

        def operation(x, y, *, broadcast_dimensions=None, axis=None, out=None):
            return _apply_by_attributes(function, (x, y), broadcast_dimensions, axis, out)
    else:

        def operation(x, y, z, *, broadcast_dimensions=None, axis=None, out=None):
            return _apply_by_attributes(function, (x, y, z), broadcast_dimensions, axis, out)

    return _named(operation, function, doc)


def _apply_by_attributes(function, operands, broadcast_dimensions, axis, out):
    return apply(function, operands, attributes(function, broadcast_dimensions, axis), out=out)


def attributes(function, broadcast_dimensions, axis):
    """The attributes of a rule."""
    if broadcast_dimensions is not None and axis is not None:
        raise TypeError(f"{function}() takes broadcast_dimensions (xla) or axis (pdpd), not both")
    return _dims(broadcast_dimensions) + _axis(axis)


def _dims(broadcast_dimensions):
    return [] if broadcast_dimensions is None else [("dims", _arrays.integers(broadcast_dimensions))]


def _axis(axis):
    return [] if axis is None else [("axis", operator.index(axis))]


def _named(operation, name, doc):
    operation.__name__ = operation.__qualname__ = name
    operation.__doc__ = doc
    return operation


#: The code of the functions that are made for every operation, for `make_stubs.py`.
OPERATION_CODES = {
    function.__code__
    for function in (
        unary("abs", ""),
        xla("add", ""),
        *(make("add", count, "") for make in (pdpd, by_attributes) for count in (2, 3)),
        *(plain("add", count, "", "numpy") for count in (2, 3)),
    )
}


def convert_element_type(x, dtype, *, out=None):
    """``x`` with every element converted to ``dtype``."""
    return apply(_arrays.indim_name(dtype), (x,), out=out)


def broadcast_in_dim(x, shape, broadcast_dimensions, *, out=None):
    """Axis ``i`` of ``x`` lands on axis ``broadcast_dimensions[i]`` of ``shape``; it may permute."""
    attributes = [("shape", _arrays.integers(shape)), ("dims", _arrays.integers(broadcast_dimensions))]
    return apply("broadcast_in_dim", (x,), attributes, out=out)


def broadcast_to(x, shape, *, out=None):
    """``x`` broadcast to ``shape``: right-aligned, and only ``x`` expands."""
    return apply("broadcast_to", (x,), [(None, _arrays.integers(shape))], out=out)


def reshape(x, shape, *, out=None):
    """The same elements in row-major order under another shape; one size may be -1."""
    return apply("reshape", (x,), [(None, _arrays.integers(shape))], out=out)


def transpose(x, permutation=None, *, out=None):
    """Result axis ``i`` is axis ``permutation[i]`` of ``x``; without a list all axes are reversed."""
    attributes = [] if permutation is None else [(None, _arrays.integers(permutation))]
    return apply("transpose", (x,), attributes, out=out)


# Names of the array API that differ, or that are not operations.

signbit = unary(
    "signbit", "Whether the sign bit is set, of -0.0 and of NaN too; of integers whether they are negative."
)


def asarray(x, dtype=None):
    """``x`` as an array, without a copy where it is one; a tracing value stays one."""
    if not isinstance(x, Tracer):
        array = _arrays.as_array(x, "x")
        return (
            array
            if dtype is None
            else array.astype(_arrays.numpy_dtype(_arrays.indim_name(dtype)), copy=False)
        )
    return x if dtype is None else x.astype(dtype)


def astype(x, dtype):
    """``x`` with every element converted to ``dtype``."""
    return convert_element_type(x, dtype)


def permute_dims(x, axes):
    """Result axis ``i`` is axis ``axes[i]`` of ``x``."""
    return transpose(x, axes)


def expand_dims(x, axis):
    """``x`` with new axes of size 1 at the positions ``axis`` of the result."""
    return np.expand_dims(x if isinstance(x, Tracer) else _arrays.as_array(x, "x"), axis)
