"""Traced values that stand for whole DataFrames, some of whose methods reduce columns in pandas."""

from __future__ import annotations

import functools
import sys

import numpy as np

from . import _captured
from ._operators import UFUNCS_OF_SYMBOLS

#: Functions whose results are DataFrames in pandas, without operators, ufuncs and conversions.
_BY_ELEMENTS = {"~", "abs", "round", "clip", "cumsum", "cumprod", "cummax", "cummin"}

#: pandas' names of axes.
_AXES = {"index": 0, "rows": 0, "columns": 1}


@functools.lru_cache(maxsize=256)
def is_of_elements(function):
    """Whether the result of a recorded function of a DataFrame is one in pandas, if it has its shape."""
    is_conversion = function[:1] in "biufc" and function[1:].isdigit() or function == "bool"
    is_ufunc = isinstance(getattr(np, function, None), np.ufunc)
    return function in UFUNCS_OF_SYMBOLS or function in _BY_ELEMENTS or is_conversion or is_ufunc


def arguments_of_method(x, name, args, kwargs):
    """The arguments of the method ``name`` of a DataFrame, whose first one is the axis. Without an axis it is
    refused, if the code that calls it is the user's."""
    if not args and "axis" not in kwargs:
        # The caller of the method that calls this function.
        _refuse_without_axis(x, name, sys._getframe(2))
    args = [axis_of(x, value) for value in args[:1]] + list(args[1:])
    return args, {key: axis_of(x, value) if key == "axis" else value for key, value in kwargs.items()}


#: The position of `ddof` in the methods `std` and `var`.
_PLACE_OF_DDOF = 3


def check_divisor(x, name, args, kwargs):
    """Refuses `std` and `var` without `ddof` if an argument is a Series or DataFrame: the methods of pandas
    and polars divide by n - 1, and those of arrays by n."""
    package = x._recording.outermost().package
    if package is None or len(args) > _PLACE_OF_DDOF or not kwargs.keys().isdisjoint(("ddof", "correction")):
        return
    # The caller of the method that calls this function.
    if not _captured.is_library(sys._getframe(2).f_globals.get("__name__")):
        text = x._text_of_operand()
        given = "".join(f"{value!r}, " for value in args[:1])
        given += "".join(f"{key}={value!r}, " for key, value in kwargs.items() if key in ("axis", "keepdims"))
        raise TypeError(
            f"{text}.{name}() of {package} divides by n - 1, and of NumPy by n: write "
            f"{text}.{name}({given}ddof=1) or {text}.{name}({given}ddof=0)"
        )


def axis_of(x, axis):
    """The axis of a function of ``x``: a DataFrame has pandas' names of axes."""
    return _AXES.get(axis, axis) if isinstance(axis, str) and x._is_frame() else axis


def _refuse_without_axis(x, name, frame):
    if not _captured.is_library(frame.f_globals.get("__name__")):
        text = x._text_of_operand()
        raise TypeError(
            f"{text}.{name}() has no axis, and `{x._value_text}` stands for a DataFrame, whose columns "
            f"pandas reduces one by one: write {text}.{name}(axis=0) for the columns, or "
            f"{text}.{name}(axis=None) for all elements as in NumPy"
        )
