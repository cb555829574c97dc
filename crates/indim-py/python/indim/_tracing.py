"""Traced values: a :class:`Tracer` stands for an array, and records the operations of a Python function.

The recorder checks each operation at once, and adds it to the computation. `_recording.py` has the call that
records, `_trace_function.py` runs the function. The methods of a traced value are in the modules of its base
classes.
"""

from __future__ import annotations

import math
import operator
import sys

import numpy as np

from . import _arrays, _foreign, _frames
from ._advice import in_python, of_complex
from ._array_methods import ArrayMethods
from ._callers import check_series, is_library, is_of_xarray
from ._errors import ElementTypeError, NumberRangeError
from ._numbers import Number, is_number, plain_value
from ._numpy_protocols import NumpyProtocols
from ._operands import are_columns, as_array, has_tracer as has_tracer
from ._operators import UFUNCS_OF_SYMBOLS, define_assignments, define_operators
from ._recording import innermost, running
from ._refusals import Refusals
from ._traced_memory import OWNED, SHARED, SharedMemory
from ._trees import flatten, mapped
from ._view_writes import is_row_major

#: Functions whose results are views of their operand in NumPy, and so are most results of indices.
_VIEWS = {
    *("broadcast_in_dim", "broadcast_to", "flip", "imag", "real", "reshape", "sliding_window_view"),
    "transpose",
}

#: Attributes that are operands.
OPERAND_ATTRIBUTES = ("where", "initial")


class Tracer(Refusals, SharedMemory, NumpyProtocols, ArrayMethods):
    """Stands for an array while a function is traced."""

    _is_tracer = True

    __slots__ = (
        *("_recording", "_name", "_value_text", "_dtype", "_shape", "_storage"),
        *("_memory", "_version", "_origin", "_base", "_is_of_numpy", "_is_number"),
        *("_is_row_major", "_rebound"),
    )

    def __init__(self, recording, description, storage=SHARED):
        self._recording = recording
        self._storage = storage
        #: The memory that this value shares with its views in NumPy, None if it has none, and the version of
        #: the memory that it stands for.
        self._memory, self._version = None, 0
        #: The value that this one is a view of, with the function and the attributes that made it.
        self._origin = None
        #: The value that this one is a view of, or may be, as the layout in memory decides.
        self._base = None
        #: Whether the function made the array by NumPy: it is an array even if its rank is 0, and ``y += v``
        #: keeps its type.
        self._is_of_numpy = False
        #: Whether it is a number in NumPy: a result of rank 0, which no function writes into.
        self._is_number = False
        #: Whether it is known that the elements of an array of NumPy would lie in row-major order.
        self._is_row_major = False
        #: The operator that bound a name of this array, or of a view of it, to a new array.
        self._rebound = None
        #: The name in the recording; its text in messages.
        self._name, self._value_text, self._dtype, self._shape = description

    # The attributes of an array.

    @property
    def dtype(self):
        return _arrays.numpy_dtype(self._dtype)

    @property
    def ndim(self):
        return len(self._shape)

    @property
    def shape(self):
        return self._used_shape() if self._has_plain_sizes(sys._getframe(1)) else self._shape_numbers()

    @shape.setter
    def shape(self, shape):
        text = self._text_of_operand()
        raise AttributeError(f"the shape of a traced value is fixed: write y = {text}.reshape({shape})")

    def _has_plain_sizes(self, frame):
        """Whether the code of a frame gets plain sizes."""
        return is_library(frame) and not (self._recording.gives_sizes and is_of_xarray(frame))

    def _shape_numbers(self):
        """The sizes as numbers that may differ at the next call, as far as they are those of arguments."""
        self._recording.recorder(self._value_text)
        return tuple([self._recording.size_of(self, axis) for axis in range(self.ndim)])

    def _used_shape(self):
        """The sizes as plain numbers; the program is then valid for these sizes alone."""
        self._recording.recorder(self._value_text).use_sizes()
        return self._shape

    @property
    def size(self):
        has_plain_sizes = self._has_plain_sizes(sys._getframe(1))
        return math.prod(self._used_shape() if has_plain_sizes else self._shape_numbers())

    def __len__(self):
        if not self._shape:
            raise TypeError("an array of rank 0 has no length")
        return self._used_shape()[0]

    def __repr__(self):
        return f"Tracer({self._value_text} : {self._dtype}{list(self._shape)})"

    # Recording.

    def _call(self, function, attributes=(), rule="as-written"):
        return self._record(function, (self,), attributes, rule)

    def _record(self, function, operands, attributes=(), rule="as-written"):
        """Records a function, or an operator by its symbol. An attribute is its keyword, or ``None`` if it is
        positional, and a number, a list, or the name of an element type; ``where`` and ``initial`` are
        operands."""
        recording = innermost([*operands, *(value for _, value in attributes)])
        if recording.outer is not None and any(type(operand) is Number for operand in operands):
            from ._lifted_numbers import lifted

            operands = lifted(recording, function, operands)
        if function != "[]" and function not in _VIEWS:
            for operand in operands:
                if isinstance(operand, Tracer):
                    operand._warn_of_rebinding()
        operands = [recording.operand(operand) for operand in operands]
        attributes = [
            (keyword, recording.operand(value) if keyword in OPERAND_ATTRIBUTES else plain_value(value))
            for keyword, value in attributes
        ]
        recorder = recording.recorder(self._value_text)
        try:
            result = Tracer(recording, recorder.record(function, operands, attributes, rule))
        except NumberRangeError as error:
            raise in_python(error) from None
        except ElementTypeError as error:
            raise of_complex(error) from None
        if recording.probe is not None:
            recording.probe.operations[result._name] = function, operands
        if recording.frames and _frames.is_of_elements(function):
            if any(recording.frames.get(operand) == result._shape for operand in operands):
                recording.frames[result._name] = result._shape
        if function in _VIEWS or (function == "[]" and _is_view(attributes, result)):
            is_known = function != "reshape" or _splits(self._shape, result._shape) or is_row_major(self)
            self._share(result, (function, attributes, rule) if is_known else None)
        else:
            result._storage, result._is_number = OWNED, not result._shape
        return result

    def _operator(self, symbol, x, y):
        if self._is_for_labels((x, y)):
            # NumPy arrays call the ufunc too, and xarray then takes over.
            return UFUNCS_OF_SYMBOLS[symbol](x, y)
        check_series(sys._getframe(2))
        x, y = (as_array(operand) if isinstance(operand, (list, tuple)) else operand for operand in (x, y))
        if symbol in ("==", "!=") and any(operand is None or isinstance(operand, str) for operand in (x, y)):
            # No element equals it, as in NumPy; that is known while the function is traced.
            return np.full(tuple(self.shape), symbol == "!=")
        if not _is_operand(x) or not _is_operand(y) or are_columns(x, y):
            return NotImplemented
        return self._record(symbol, (x, y))

    def _is_for_labels(self, operands):
        """Whether an operand is an array of xarray with traced values: xarray then does the operation."""
        return self._recording.namespace is not None and _foreign.is_labelled(operands)

    def _product(self, x, y):
        """``x @ y``; lists are arrays, as for NumPy. A labelled array decides on its own product."""
        operands = x, y
        are_known = all(_is_operand(operand) or isinstance(operand, (list, tuple)) for operand in operands)
        if self._is_for_labels(operands) or not are_known:
            return NotImplemented
        return self._record("@", operands, rule="numpy")

    def __matmul__(self, other):
        return self._product(self, other)

    def __rmatmul__(self, other):
        return self._product(other, self)

    def __neg__(self):
        return self._call("-")

    def __pos__(self):
        return self._call("+")

    def __invert__(self):
        return self._call("~")

    def __abs__(self):
        return self._call("abs")

    def __round__(self, digits=None):
        return self._call("round", [(None, operator.index(digits or 0))])

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self

    def __copy__(self):
        return self._made()

    def __deepcopy__(self, memo):
        return self._made()

    __hash__ = None


def _is_view(attributes, result):
    """Whether the result of an index is a view of the array in NumPy: not for arrays of integers, whose
    items are names of values, and not for a single element."""
    ((_, items),) = attributes
    if any(isinstance(item, str) for item in items):
        return False
    return bool(result._shape) or any(item is Ellipsis or isinstance(item, tuple) for item in items)


def _splits(shape, new_shape):
    """Whether a reshape splits axes, or adds or removes axes of size 1: NumPy's result is then a view for any
    layout in memory."""
    if 0 in shape:
        return True
    sizes = (size for size in new_shape if size != 1)
    for size in shape:
        part = 1
        while part < size:
            part *= next(sizes)
        if part != size:
            return False
    return True


def _is_operand(value):
    return isinstance(value, (Tracer, bool, int, float, complex, np.ndarray, np.generic)) or hasattr(
        value, "__array__"
    )


define_operators(Tracer, Tracer._operator)
define_assignments(Tracer, Tracer._assign)


def result_tracer(recording, value):
    """A result of a traced function as a value of its recording."""
    if value is None:
        raise TypeError("the function returns None; a compiled function returns arrays")
    if is_number(value):
        operand = recording.operand(value)
        return Tracer(recording, recording.recorder("result").record("copy", [operand], [], "numpy"))
    if isinstance(value, Tracer):
        value._warn_of_rebinding()
    return recording.tracer(value, "result")


def new_arrays(value):
    """The traced values in a container as new arrays, like the results of a compiled function."""

    def new(leaf):
        if not isinstance(leaf, Tracer):
            return leaf
        made = leaf._made()
        # The results of rank 0 are arrays.
        made._is_number = False
        return made

    return mapped(value, new)


def recorded_results(recording, function, args, kwargs):
    """The container of a function's results, the keys if that is a dict, and the results as values of the
    recording, in which the function runs."""
    with running(recording):
        kind, keys, results = flatten(function(*args, **kwargs))
        return kind, keys, [result_tracer(recording, result) for result in results]
