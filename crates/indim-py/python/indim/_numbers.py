"""Numbers among the arguments of a traced function.

A :class:`Number` stands for a Python number whose value may differ at the next call. Its results by ``+ - *
/`` with numbers, by ``//`` and ``%`` with integers, and by operations with arrays are parts of the program;
those of complex numbers by ``+ - *``. A comparison is a guard of the program. Any other use gets the plain
number, and the program is then valid for this number alone.
"""

from __future__ import annotations

import cmath
import math
import operator
import sys

import numpy as np

from ._operators import define_operators

_ARITHMETIC = {"+", "-", "*", "/"}
_OF_INTEGERS = {"//", "%"}
_OF_COMPLEX = {"+", "-", "*"}
_TYPES = (int, float, complex)
_COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}

#: Bits of whole numbers in the compiled part, which computes with 128-bit integers.
_MAX_BITS = 127

#: The module of xarray that aligns arrays, in all versions.
_ALIGNMENTS = ("xarray.structure.alignment", "xarray.core.alignment")

_PLAIN = {
    **{"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv},
    **{"//": operator.floordiv, "%": operator.mod, "**": operator.pow},
    **{"&": operator.and_, "|": operator.or_, "^": operator.xor},
    **{"<<": operator.lshift, ">>": operator.rshift},
    **{"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge},
    **{"==": operator.eq, "!=": operator.ne},
}


class Number:
    """Stands for a Python number while a function is traced."""

    __slots__ = ("_recording", "_name", "_value", "_made_of")

    def __init__(self, recording, name, value, made_of=None):
        self._recording, self._name, self._value = recording, name, value
        #: The operator and the operands that gave the number, if it is no input.
        self._made_of = made_of

    @property
    def __class__(self):
        return type(self._value)

    def _plain(self):
        """The plain number; the program is then valid for this number alone."""
        if not self._recording.is_over:
            self._recording.recorder(self._name).pin(self._name)
        return self._value

    def _operator(self, symbol, x, y):
        other = y if x is self else x
        if getattr(type(other), "_is_tracer", False):
            return NotImplemented
        if _is_recorded(symbol, x, y) and not self._recording.is_over:
            recorder = self._recording.recorder(self._name)
            names = [of._name if type(of) is Number else of for of in (x, y)]
            result = recorder.record_number(symbol, names)
            if result is not None:
                name, value = result
                made_of = symbol, x, y
                return value if name is None else Number(self._recording, name, value, made_of)
        return _PLAIN[symbol](plain_value(x), plain_value(y))

    def __neg__(self):
        result = None
        if not self._recording.is_over:
            result = self._recording.recorder(self._name).record_number("-", [self._name])
        return -self._plain() if result is None or result[0] is None else Number(self._recording, *result)

    def __hash__(self):
        # The alignment of xarray collects sizes in sets: equal ones are compared, others are an error of it.
        if sys._getframe(1).f_globals.get("__name__") in _ALIGNMENTS:
            return hash(self._value)
        return hash(self._plain())

    def __pos__(self):
        return self

    def __bool__(self):
        return self != 0

    def __getattr__(self, name):
        # xarray asks for attributes that no number has.
        if name.startswith("_") or not hasattr(type(self._value), name):
            raise AttributeError(f"{type(self._value).__name__!r} object has no attribute {name!r}")
        return getattr(self._plain(), name)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self._plain(), dtype)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if any(getattr(type(value), "_is_tracer", False) for value in inputs):
            return NotImplemented
        return getattr(ufunc, method)(*map(plain_value, inputs), **kwargs)


def _is_recorded(symbol, x, y):
    """Whether the compiled part computes ``x symbol y`` as Python does."""
    values = [of._value if type(of) is Number else of for of in (x, y)]
    recordings = [of._recording for of in (x, y) if type(of) is Number]
    if recordings[0] is not recordings[-1] or not all(type(value) in _TYPES for value in values):
        return False
    if any(type(value) is complex for value in values):
        # Python divides complex numbers by another algorithm.
        return symbol in _OF_COMPLEX and all(map(cmath.isfinite, values))
    if any(type(value) is int and value.bit_length() > _MAX_BITS for value in values):
        return False
    are_whole = all(type(value) is int for value in values)
    return symbol in _ARITHMETIC or symbol in _COMPARISONS or (symbol in _OF_INTEGERS and are_whole)


def plain_value(value):
    """The plain number for a :class:`Number`; any other value unchanged."""
    return value._plain() if type(value) is Number else value


def is_number(value):
    """Whether a value is a number of Python, or stands for one; NumPy's scalars have an element type."""
    return isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic)


def is_weak(value):
    """Whether a value is a number that takes the type of the arrays that it meets."""
    return type(value) in (int, float, complex, Number)


def weak(value):
    """A plain number that promotes as this number does."""
    return complex(1) if isinstance(value, complex) else 1.0 if isinstance(value, float) else 1


define_operators(Number, Number._operator)


def _use(function):
    """The method that calls ``function`` with the plain number."""
    return lambda self, *arguments: function(self._plain(), *map(plain_value, arguments))


for _name, _function in {
    **{"int": int, "float": float, "index": operator.index, "str": str, "repr": repr},
    **{"format": format, "round": round, "abs": abs, "invert": operator.invert, "divmod": divmod},
    **{"trunc": math.trunc, "floor": math.floor, "ceil": math.ceil},
    "rdivmod": lambda x, y: divmod(y, x),
    "reduce_ex": lambda x, protocol: x.__reduce_ex__(protocol),
}.items():
    setattr(Number, f"__{_name}__", _use(_function))
