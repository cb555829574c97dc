"""Ufuncs of other packages than NumPy on traced values: those of scipy.special that indim has.

A ufunc is known by itself and not by its name, because packages have different functions of one name:
``scipy.special.i1`` is a Bessel function, and ``i1`` an element type.
"""

from __future__ import annotations

import sys

import numpy as np

from . import none
from ._operands import loop_operands, tracer_of

#: Ufuncs of scipy.special that are operations of the same name.
_OPERATIONS = {
    *("cbrt", "digamma", "erf", "erfc", "erfinv", "exp2", "expit", "expm1", "gammaln", "log1p", "psi"),
    "round",
}

#: Compositions for ufuncs of scipy.special, by name, of operands in the types of SciPy's loop.
_COMPOSED = {}


def call(ufunc, operands, keywords):
    """A ufunc of another package on traced values."""
    name = _name_in_scipy(ufunc)
    if name is None:
        raise TypeError(_message_of_other(ufunc.__name__))
    function = _function(name)
    if function is None:
        raise TypeError(_message_of_scipy(name))
    if keywords:
        raise TypeError(f"scipy.special.{name} takes no {', '.join(keywords)} while it is traced")
    operands = loop_operands(ufunc, operands)
    if name in _OPERATIONS:
        return function(*operands)
    if any(operand.dtype.kind == "c" for operand in operands):
        raise TypeError(f"scipy.special.{name} takes real numbers while it is traced")
    return function(*operands)


def _name_in_scipy(ufunc):
    """The name of a ufunc of scipy.special, or None."""
    special, ufuncs = map(sys.modules.get, ("scipy.special", "scipy.special._ufuncs"))
    name = {"_riemann_zeta": "zeta"}.get(ufunc.__name__, ufunc.__name__.lstrip("_"))
    found = getattr(special, name, None)
    # Some ufuncs are the private part of a function.
    is_private = ufunc.__name__.startswith("_") and found is not None
    # With SCIPY_ARRAY_API=1 the public name is that of a function around the ufunc.
    return name if ufunc in (found, getattr(ufuncs, name, None)) or is_private else None


class SpecialFunctions:
    """The functions of scipy.special by which SciPy itself, with SCIPY_ARRAY_API=1, computes with traced
    values: its ufuncs, instead of conversions to arrays of NumPy."""

    def __getattr__(self, name):
        found = np.sinc if name == "sinc" else getattr(sys.modules.get("scipy.special._ufuncs"), name, None)
        if not isinstance(found, np.ufunc) and found is not np.sinc:
            raise AttributeError(name)
        return found


def _function(name):
    """indim's function for a ufunc of scipy.special, or None."""
    if name in _OPERATIONS:
        return lambda *operands: tracer_of(operands)._numpy_function(name, operands)
    if name in _COMPOSED:
        return _COMPOSED[name]
    from .scipy import special

    return getattr(special, name) if name in special.__all__ else None


def _composed(function):
    _COMPOSED[function.__name__.lstrip("_")] = function
    return function


@_composed
def _ndtr(x):
    return none.erfc(x * x.dtype.type(-np.sqrt(0.5))) * x.dtype.type(0.5)


@_composed
def _xlogy(x, y):
    return np.where((x == 0) & ~np.isnan(y), np.zeros((), x.dtype), x * np.log(y))


@_composed
def _xlog1py(x, y):
    return np.where((x == 0) & ~np.isnan(y), np.zeros((), x.dtype), x * np.log1p(y))


@_composed
def _entr(x):
    return np.where(x < 0, -np.full((), np.inf, x.dtype), -_xlogy(x, x))


#: The code to write instead of ufuncs of scipy.special, by name.
_INSTEAD = {
    "binom": "np.exp(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))",
    "boxcox": "(x**lmbda - 1) / lmbda",
    "cosdg": "np.cos(np.deg2rad(x))",
    "erfcinv": "scipy.special.erfinv(1 - x)",
    "exp10": "10.0 ** x",
    "exprel": "np.expm1(x) / x",
    "huber": "np.where(abs(r) <= delta, r * r / 2, delta * (abs(r) - delta / 2))",
    "inv_boxcox": "(lmbda * y + 1) ** (1 / lmbda)",
    "log_expit": "indim.nn.log_sigmoid(x)",
    "loggamma": "scipy.special.gammaln(x) for x > 0",
    "poch": "scipy.special.gamma(x + m) / scipy.special.gamma(x)",
    "pseudo_huber": "delta**2 * (np.sqrt(1 + (r / delta) ** 2) - 1)",
    "rgamma": "1 / scipy.special.gamma(x)",
    "sindg": "np.sin(np.deg2rad(x))",
    "softplus": "indim.nn.softplus(x)",
    "tandg": "np.tan(np.deg2rad(x))",
}


def _message_of_scipy(name):
    advice = "compute it before the call and pass it as an argument"
    if name in _INSTEAD:
        advice = f"write {_INSTEAD[name]}"
    return f"scipy.special.{name} cannot be traced, because indim has no such function: {advice}"


def _message_of_other(name):
    if name.endswith(" (vectorized)"):
        return (
            f"{name.removesuffix(' (vectorized)')} is a Python function of one element, made a ufunc by "
            "np.frompyfunc, and cannot be traced: write it by operators and np.where, and call it with "
            "arrays; or indim.numpy.vectorize(function)(x)"
        )
    return (
        f"{name} is a ufunc of neither NumPy nor SciPy and cannot be traced: write it by operators and "
        "np.where, or compute it before the call and pass it as an argument"
    )
