"""Operations as functions: eager on arrays, recorded on traced values."""

from __future__ import annotations

import functools
import inspect
import operator
import sys
import warnings

import numpy as np

from . import _arrays, _foreign
from ._indim import _apply
from ._numbers import plain_value
from ._operands import as_array, has_tracer
from ._recording import running_recording
from ._tracing import OPERAND_ATTRIBUTES, Tracer


def apply(function, operands, attributes=(), rule="as-written", out=None):
    """One operation on arrays, numbers or traced values.

    An attribute is its keyword, or ``None`` if it is positional, and a number, a list of integers or of axis
    names, or the name of an element type; ``where`` and ``initial`` are operands.
    """
    further = [value for keyword, value in attributes if keyword in OPERAND_ATTRIBUTES]
    for operand in (*operands, *further):
        if isinstance(operand, Tracer):
            result = operand._record(function, operands, attributes, rule)
            return result if out is None else _written(function, operand, result, out)
    if _foreign.is_labelled(operands):
        from . import _xarray

        names = _axis_names(attributes)
        if names is None:
            return _xarray.operation(
                function, lambda *arrays: apply(function, arrays, attributes, rule), operands, attributes, out
            )
        if any(map(_xarray.holds_tracers, operands)):
            others = [(keyword, value) for keyword, value in attributes if value is not names]

            def along(array, axis):
                return apply(function, (array,), [("axis", axis), *others], rule)

            return _xarray.along(along, operands, names, out)
    return _apply(function, operands, attributes, rule, out)


def _written(function, operand, result, out):
    """The result of a function of a traced value, which is written into ``out``."""
    from . import _outputs

    function = "matmul" if function == "@" else function
    if isinstance(getattr(np, function, None), np.ufunc):
        return _outputs.write_result(function, result, out)
    return _outputs.write_whole_result(function, operand, result, out)


def _axis_names(attributes):
    """The axes of a call, if it names them."""
    axes = dict(attributes).get("axis")
    return axes if isinstance(axes, list) and axes and isinstance(axes[0], str) else None


def constant(function, name, value):
    """The parameter ``name`` as a Python number; the compiled part checks its value."""
    value = plain_value(value)
    if isinstance(value, (np.generic, np.ndarray)) and value.ndim == 0:
        value = value.item()
    if not isinstance(value, (bool, int, float)):
        raise TypeError(
            f"`{name}` of {function}() is a number, not {type(value).__name__}: it becomes part of the "
            f"program; if it varies, write out the formula of {function}"
        )
    return value


def unary(function, doc, rule="as-written"):
    """The function of one operand that applies ``function`` of the expression language."""

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


def of_ufunc(function, count, doc):
    """The function of one or two operands under NumPy's rule. It also takes the keywords of NumPy's ufunc of
    the name that ``add_ufunc`` gives it."""

    if count == 1:

        def operation(x, *, out=None, **keywords):
            if keywords:
                return _by_ufunc(operation, keywords)(x, out=out, **keywords)
            return apply(function, (x,), rule="numpy", out=out)
    else:

        def operation(x, y, *, out=None, **keywords):
            if keywords:
                return _by_ufunc(operation, keywords)(x, y, out=out, **keywords)
            return apply(function, (x, y), rule="numpy", out=out)

    parameters = list(inspect.signature(operation).parameters.values())
    operation.__signature__ = inspect.Signature(parameters[:-1])
    return _named(operation, function, doc)


def _by_ufunc(operation, keywords):
    """NumPy's ufunc that an operation stands for, which takes these keywords."""
    ufunc = getattr(operation, "_ufunc", None)
    if ufunc is None:
        name = next(iter(keywords))
        raise TypeError(f"{operation.__name__}() got an unexpected keyword argument {name!r}")
    return ufunc


def takes_lists(function):
    """A function that takes an array first, such as ``np.sum``, for lists with traced values too."""

    @functools.wraps(function)
    def given(*args, **kwargs):
        if args and isinstance(args[0], (list, tuple)) and has_tracer(args[0]):
            args = (as_array(args[0]), *args[1:])
        return function(*args, **kwargs)

    return given


def add_ufunc(operation, ufunc):
    """Gives an operation the keywords and methods of NumPy's ufunc."""
    operation._ufunc = ufunc
    for name in ("accumulate", "outer", "reduce", "reduceat"):
        setattr(operation, name, takes_lists(getattr(ufunc, name)))

    def at(a, indices, *values, inplace=True):
        """NumPy's ``ufunc.at``; with ``inplace=False`` it returns a new array, as in JAX."""
        written = a if inplace else asarray(a).copy()
        ufunc.at(written, indices, *values)
        return None if inplace else written

    operation.at = at


def xla(function, doc):
    """The function of two operands under XLA's rule."""

    def operation(x, y, *, broadcast_dimensions=None, out=None):
        return apply(function, (x, y), _broadcast_dimensions(broadcast_dimensions), "xla", out)

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
    """The function of two or three operands under numpy, or under xla with ``broadcast_dimensions``."""
    if count == 2:

        def operation(x, y, *, broadcast_dimensions=None, axis=None, out=None):
            return _apply_by_attributes(function, (x, y), broadcast_dimensions, axis, out)
    else:

        def operation(x, y, z, *, broadcast_dimensions=None, axis=None, out=None):
            return _apply_by_attributes(function, (x, y, z), broadcast_dimensions, axis, out)

    operation.__signature__ = _without_axis(inspect.signature(operation))
    return _named(operation, function, doc)


def _without_axis(signature):
    """The signature without ``axis``, which is deprecated for operations of several operands."""
    parameters = [parameter for parameter in signature.parameters.values() if parameter.name != "axis"]
    return signature.replace(parameters=parameters)


def _apply_by_attributes(function, operands, broadcast_dimensions, axis, out):
    if axis is not None:
        warn_of_axis(function)
    return apply(function, operands, attributes(function, broadcast_dimensions, axis), out=out)


def warn_of_axis(function):
    """Warns of ``axis`` that aligns operands: elsewhere ``axis`` is an axis of one array."""
    frame, depth = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("indim."):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(
        f"indim.{function}(x, y, axis=...) is now indim.pdpd.{function}(x, y, axis=...), or "
        f"indim.{function}(x, y, broadcast_dimensions=[...])",
        DeprecationWarning,
        stacklevel=depth,
    )


def attributes(function, broadcast_dimensions, axis):
    """The attributes of a rule, as pairs of keyword and value; at most one of the two may be given."""
    if broadcast_dimensions is not None and axis is not None:
        raise TypeError(f"{function}() takes broadcast_dimensions (xla) or axis (pdpd), not both")
    return _broadcast_dimensions(broadcast_dimensions) + _axis(axis)


def _broadcast_dimensions(axes):
    return [] if axes is None else [("broadcast_dimensions", _arrays.integers(axes))]


def _axis(axis):
    return [] if axis is None else [("axis", operator.index(axis))]


def _named(operation, name, doc):
    operation.__name__ = operation.__qualname__ = name
    operation.__doc__ = doc
    return operation


#: The code objects of functions made from tables, by which `make_stubs.py` finds them.
OPERATION_CODES = {
    function.__code__
    for function in (
        unary("abs", ""),
        xla("add", ""),
        *(make("add", count, "") for make in (pdpd, by_attributes) for count in (2, 3)),
        *(plain("add", count, "", "numpy") for count in (2, 3)),
        *(of_ufunc("add", count, "") for count in (1, 2)),
    )
}


def convert_element_type(x, dtype, *, out=None):
    """``x`` with every element converted to ``dtype``."""
    return apply(_arrays.indim_name(dtype), (x,), out=out)


def broadcast_in_dim(x, shape, broadcast_dimensions, *, out=None):
    """Maps axis ``i`` of ``x`` to axis ``broadcast_dimensions[i]`` of ``shape``; it may permute axes."""
    attributes = [("shape", _arrays.integers(shape)), *_broadcast_dimensions(broadcast_dimensions)]
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
    """``x`` as an array, without a copy if it is one; a traced value stays one."""
    if not isinstance(x, Tracer):
        array = _arrays.array_of(x, "x")
        return (
            array
            if dtype is None
            else array.astype(_arrays.numpy_dtype(_arrays.indim_name(dtype)), copy=False)
        )
    return x if dtype is None else x.astype(dtype, copy=False)


def recorded(x):
    """``x`` as an array. While a function is traced, an outside array becomes an input of the program.

    So each call reads its elements, also where NumPy would convert or combine them during tracing.
    """
    x, recording = asarray(x), running_recording()
    return x if recording is None or isinstance(x, Tracer) else recording.tracer(x, "captured")


def astype(x, dtype):
    """``x`` with every element converted to ``dtype``."""
    return convert_element_type(x, dtype)


def permute_dims(x, axes):
    """Result axis ``i`` is axis ``axes[i]`` of ``x``."""
    return transpose(x, axes)


def expand_dims(x, axis):
    """``x`` with new axes of size 1 at the positions ``axis`` of the result."""
    return np.expand_dims(x if isinstance(x, Tracer) else _arrays.array_of(x, "x"), axis)
