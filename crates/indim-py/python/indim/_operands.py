"""Operands of NumPy's functions: nested lists of traced values, keys of indices, types of ufuncs."""

from __future__ import annotations

import numpy as np

from ._numbers import plain_value
from ._recording import is_tracer
from ._trees import is_node, items_of, leaves_of


def are_columns(*operands):
    """Whether an operand is a DataFrame or table that is read by columns, which then does the operation."""
    return any(getattr(type(operand), "is_columns", False) for operand in operands)


def as_array(values):
    """Nested lists of numbers and traced values as an array, as for NumPy."""
    return np.asarray(values, like=tracer_of(leaves_of(values))) if has_tracer(values) else np.asarray(values)


def index_keys(key):
    """The keys of an index; lists that contain traced values are arrays."""
    keys = key if isinstance(key, tuple) else (key,)
    return tuple(as_array(key) if type(key) is list and has_tracer(key) else key for key in keys)


def loop_operands(ufunc, inputs, dtype=None, casting="same_kind", signature=None):
    """The operands in the types of the loop of a ufunc whose results have the type ``dtype``, if it is
    given, or that has this signature. Python numbers are weak."""
    weak = int, float, complex
    inputs = [plain_value(value) for value in inputs]
    inputs = [
        value if is_tracer(value) or type(value) in weak else np.asarray(value) for value in inputs
    ]
    types = [type(value) if type(value) in weak else value.dtype for value in inputs]
    if signature is None:
        signature = (None,) * ufunc.nin + (None if dtype is None else np.dtype(dtype),) * ufunc.nout
    types = ufunc.resolve_dtypes((*types, *(None,) * ufunc.nout), signature=signature, casting=casting)
    return [
        value.astype(of_loop) if is_tracer(value) else np.asarray(value, of_loop)
        for value, of_loop in zip(inputs, types)
    ]


def of_outer(x, y):
    """The operands of the method ``outer`` of a ufunc, which then broadcast against each other."""
    # Numbers are arrays here, so they are not weak.
    x, y = (value if is_tracer(value) else np.asarray(value) for value in (x, y))
    return x.reshape(tuple(x.shape) + (1,) * y.ndim), y

def tracer_of(operands):
    for operand in operands:
        if is_tracer(operand):
            return operand
    raise TypeError("none of the operands is a traced value")


def operator_call(symbol, x, y):
    """``x symbol y``; at least one operand is a traced value."""
    return tracer_of((x, y))._operator(symbol, x, y)


def has_tracer(value, depth=0):
    """Whether a traced value is in a container, up to the maximum depth of containers."""
    if depth > 32 or not is_node(value):
        return is_tracer(value)
    return any(has_tracer(item, depth + 1) for item in items_of(value))
