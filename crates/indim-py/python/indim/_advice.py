"""Advice in messages of tracing: replacements for code that cannot be traced."""

from __future__ import annotations

import re

from . import _captured
from ._operators import UFUNCS_OF_SYMBOLS


#: Replacements for keywords.
_KEYWORDS = {
    "where": "choose by np.where(mask, x, other)",
    "dtype": "convert by x.astype(dtype)",
    "axes": "move the axes by np.moveaxis",
    "axis": "move the axis by np.moveaxis",
    "keepdims": "put in the axis by np.expand_dims",
    "interpolation": "write `method=`",
}


def in_python(error):
    """An error of a number with the help of the expression language, with help for Python."""
    cls, (message, *details) = error.__reduce__()
    message = message.replace("as in i64(x)", "as in x.astype(np.int64)")
    return cls(message, *details)


def of_complex(error):
    """An error of an operation that does not take complex numbers, with help for Python."""
    cls, (message, *details) = error.__reduce__()
    if "= help:" in message or re.search(r": c(64|128)\b", message) is None:
        return error
    help = "take x.real, x.imag or np.abs(x): complex numbers have no order; round their parts one by one"
    return cls(f"{message}\n   = help: {help}", *details)


#: What to write for operations without derivatives.
_DIFFERENTIABLE = {
    "scatter_mul": "write x.at[i].set(x[i] * v), if no element has two updates",
}


def with_derivatives(error):
    """An error of an operation without a derivative, with help for Python."""
    cls, (message, *details) = error.__reduce__()
    operation = next((name for name in _DIFFERENTIABLE if f"`{name}`" in message), None)
    help = "" if operation is None else f"\n   = help: {_DIFFERENTIABLE[operation]}"
    return cls(message + help, *details)


def refused_argument(name, keyword):
    """The message for an argument of NumPy's function ``name`` that has no meaning while a function is
    traced."""
    advice = _KEYWORDS.get(keyword, "leave it out")
    if keyword == "out":
        return (
            f"numpy.{name} takes no `out` from outside while a function is traced, but a traced array of the "
            f"shape of the result, such as np.zeros_like(x[0]): write y = np.{name}(...) without `out=`"
        )
    return f"numpy.{name} takes no `{keyword}` while a function is traced: {advice}"


def refused_keyword(function, ufunc, keyword, kwargs):
    """The message for a keyword of a ufunc in ``function``."""
    if keyword == "out":
        name = _captured.name_of(kwargs["out"][0]) or "y"
        symbol = next((symbol for symbol, known in UFUNCS_OF_SYMBOLS.items() if known is ufunc), None)
        instead = f"{name} = np.{ufunc.__name__}(...)"
        if symbol is not None:
            instead = f"{name} = {name} {symbol} x for {name} {symbol}= x, and {instead}"
        return (
            f"numpy.{ufunc.__name__} cannot write traced values into an array of NumPy, `{name}`, while "
            f"{function} is traced: write {instead} without `out=`"
        )
    advice = _KEYWORDS.get(keyword, "leave it out")
    return f"numpy.{ufunc.__name__} takes no `{keyword}` while {function} is traced: {advice}"


def refuse_given(name, **arguments):
    """Refuses arguments of NumPy's function ``name`` that have no meaning while a function is traced."""
    for keyword, value in arguments.items():
        if value is not None:
            raise TypeError(refused_argument(name, keyword))
