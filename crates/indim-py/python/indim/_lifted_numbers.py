"""Numbers among the arguments of a compiled function, within functions that are differentiated, batched, or
bodies of loops and branches.

Such a function is recorded by itself, and its parameters are arrays. A number that meets an array there
becomes an array without axes, of the type to which the number adapts, so it stays an input of the program.
"""

from __future__ import annotations

import numpy as np

from ._numbers import Number, weak
from ._tracing import Tracer

#: Functions and symbols of operators whose result does not depend on which operands are numbers, apart from
#: their types.
_FUNCTIONS = {
    *("+", "-", "*", "/", "//", "%", "<", "<=", ">", ">=", "==", "!="),
    *("add", "subtract", "multiply", "divide", "true_divide", "floor_divide", "remainder", "mod"),
    *("less", "less_equal", "greater", "greater_equal", "eq", "not_equal"),
    *("maximum", "minimum", "fmax", "fmin", "clip", "where", "arctan2", "hypot", "copysign"),
}


def lifted(recording, function, operands):
    """The operands of a function in this recording, with arrays in place of numbers of recordings around it.
    A number whose type cannot hold all numbers stays: the program is then valid for this number alone."""
    if function not in _FUNCTIONS:
        return operands
    # The condition of `where` has no part in the type; a number as the condition stays.
    values = operands[1:] if function == "where" else operands
    arrays = [value.dtype for value in values if _is_array(value)]
    if not arrays:
        return operands
    # An attribute of a number would be that of the plain number.
    dtype = np.result_type(*arrays, *[weak(value) for value in values if not _is_array(value)])
    if dtype.kind not in "fc" and dtype != np.int64:
        return operands
    converted = [
        _array(recording, value, dtype) if _is_around(recording, value) else value for value in values
    ]
    return [*operands[: len(operands) - len(values)], *converted]


def _is_array(value):
    return isinstance(value, (Tracer, np.ndarray, np.generic))


def _is_around(recording, value):
    """Whether a value is a number of a recording around this one."""
    if type(value) is not Number or value._recording.is_over or isinstance(value, bool):
        return False
    outer = recording.outer
    while outer is not None and outer is not value._recording:
        outer = outer.outer
    return outer is not None


def _array(recording, number, dtype):
    recorder = number._recording.recorder(number._name)
    array = Tracer(number._recording, recorder.record("copy", [number._name], [], "numpy"))
    return recording.lift(array if array.dtype == dtype else array.astype(dtype))
