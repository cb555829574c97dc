"""The names of ``jax.scipy.special``: functions of arrays and traced values, in the type of their floats."""

from __future__ import annotations

import indim as _package  # Waits for a thread that imports the package.

import math

import numpy as np

from .. import _bessel, _incomplete, nn, none
from .._absent import absent
from .._functions import asarray
from .._recording import is_tracer
from .._shape_functions import weakly_promoted

__all__ = [
    *("betainc", "gammainc", "gammaincc", "polygamma"),
    *("beta", "betaln", "digamma", "entr", "erf", "erfc", "erfinv", "expit", "factorial", "gamma", "gammaln"),
    *("gammasgn", "i0", "i0e", "kl_div", "log_ndtr", "log_softmax", "logit", "logsumexp", "multigammaln"),
    *("ndtr", "ndtri", "rel_entr", "softmax", "xlog1py", "xlogy"),
]

def _floats(*values):
    """The arrays in their common type of floats; a Python number takes the type of the arrays."""
    dtype = weakly_promoted(*values)
    dtype = dtype if dtype.kind == "f" else np.dtype(np.float64)
    return tuple(asarray(value).astype(dtype) for value in values)


def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, where=None):
    """The logarithm of the sum of ``exp(a)``, or of ``b * exp(a)``, as ``indim.nn.logsumexp``."""
    return nn.logsumexp(a, axis, b, keepdims, return_sign, where)


def softmax(x, axis=None):
    """``exp(x) / sum(exp(x))`` along an axis, or over all elements."""
    return nn.softmax(x, axis)


def log_softmax(x, axis=None):
    """The logarithm of ``softmax(x)``."""
    return nn.log_softmax(x, axis)


def expit(x):
    """``1 / (1 + exp(-x))``, the logistic function."""
    return nn.sigmoid(*_floats(x))


def _of_one(name):
    operation = getattr(none, name)

    def function(x):
        return operation(*_floats(x))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = operation.__doc__
    return function


digamma, erf, erfc, erfinv, gammaln = map(_of_one, ("digamma", "erf", "erfc", "erfinv", "gammaln"))


def logit(x):
    """The logarithm of ``x / (1 - x)``, the inverse of ``expit``."""
    (x,) = _floats(x)
    return np.log(x) - np.log1p(-x)


def gammasgn(x):
    """The sign of the gamma function; NaN at negative whole numbers."""
    (x,) = _floats(x)
    sign = np.where(np.floor(x) % 2 == 0, 1, -1).astype(x.dtype)
    sign = np.where(x >= 0, np.copysign(np.ones_like(x), x), sign)
    return np.where((x < 0) & (np.floor(x) == x), np.full((), np.nan, x.dtype), sign)


def gamma(x):
    """The gamma function, by the exponential of ``gammaln``."""
    return gammasgn(x) * np.exp(gammaln(x))


def factorial(n, exact=False):
    """The factorial of ``n``, by the gamma function; 0 for negative numbers."""
    if exact:
        raise NotImplementedError("factorial with exact=True: the result is a float, as in JAX")
    (n,) = _floats(n)
    return np.where(n < 0, np.zeros((), n.dtype), np.exp(gammaln(np.maximum(n, 0) + 1)))


def betaln(a, b):
    """The logarithm of the absolute value of the beta function."""
    # SciPy's functions do not warn of infinities.
    with np.errstate(all="ignore"):
        return _beta_parts(*_floats(a, b))[1]


def beta(a, b):
    """The beta function, by the exponential of ``betaln``."""
    with np.errstate(all="ignore"):
        sign, logarithm = _beta_parts(*_floats(a, b))
        # The sum is a pole of the gamma function, or an argument is infinite.
        return np.where(logarithm == -np.inf, np.zeros((), sign.dtype), sign * np.exp(logarithm))


def _beta_parts(a, b):
    """The sign of the beta function, and the logarithm of its absolute value."""
    large, small = np.where(a > b, a, b), np.where(a > b, b, a)
    # The logarithms of two gamma functions would cancel.
    is_pole, one = (small <= 0) & (np.floor(small) == small), np.ones((), a.dtype)
    is_large = (large > 1e6) & (large > 1e6 * np.abs(small)) & ~is_pole
    sign, logarithm = _beta_of_moderate(np.where(is_large, one, a), np.where(is_large, one, b))
    large, small = np.where(is_large, large, 2 * one), np.where(is_large, small, one)
    return np.where(is_large, gammasgn(small), sign), np.where(is_large, _log_beta(large, small), logarithm)


def _log_beta(large, small):
    """The logarithm of the absolute value of the beta function, if one argument is more than 1e6 times as
    large as the other one: the first terms of Stirling's series."""
    first = (1 - small) / (2 * large)
    terms = first * (1 + (1 - 2 * small) / (6 * large) - small * (1 - small) / (6 * large * large))
    return gammaln(small) + small * (terms - np.log(large))


def _beta_of_moderate(a, b):
    """``_beta_parts`` by the gamma function."""
    is_first, is_second = ((x <= 0) & (np.floor(x) == x) for x in (a, b))
    is_pole = is_first | is_second
    # If one argument is a pole of the gamma function, that of the sum may cancel it.
    pole, other = np.where(is_first, a, b), np.where(is_first, b, a)
    is_cancelled = (np.floor(other) == other) & (1 - pole - other > 0) & np.isfinite(pole)
    is_finite, one = is_cancelled & (other > 0), np.ones((), a.dtype)
    a = np.where(is_pole, np.where(is_finite, 1 - pole - other, one), a)
    b = np.where(is_pole, np.where(is_finite, other, one), b)
    sign = np.where(is_cancelled & (other % 2 == 1), -one, one)
    sign = np.where(is_pole, sign, gammasgn(a) * gammasgn(b) * gammasgn(a + b))
    logarithm = gammaln(a) + gammaln(b) - gammaln(a + b)
    return sign, np.where(is_pole & ~is_finite, np.full((), np.inf, a.dtype), logarithm)


def _in_double(function, *values):
    """A function of ``float64`` arrays of one shape, in the type of the arguments."""
    values = _floats(*values)
    # SciPy's functions do not warn of infinities.
    with np.errstate(all="ignore"):
        found = function(*np.broadcast_arrays(*(value.astype(np.float64) for value in values)))
    return found.astype(values[0].dtype)


def gammainc(a, x):
    """The lower regularized incomplete gamma function, in ``float64``.

    For ``a`` up to 1e6 the relative error is at most 1e-11 where ``x < a + 1``, and the absolute error
    elsewhere. An element whose series does not converge is NaN. Derivatives are 0 at the ends of the domain.
    """
    return _in_double(lambda a, x: _incomplete.incomplete_gamma(a, x)[0], a, x)


def gammaincc(a, x):
    """The upper regularized incomplete gamma function, ``1 - gammainc(a, x)``, in ``float64``.

    For ``a`` up to 1e6 the relative error is at most 1e-11 where ``x >= a + 1``, and the absolute error
    elsewhere. The rest is as for ``gammainc``.
    """
    return _in_double(lambda a, x: _incomplete.incomplete_gamma(a, x)[1], a, x)


def betainc(a, b, x):
    """The regularized incomplete beta function of positive ``a`` and ``b``, in ``float64``.

    For ``a`` and ``b`` up to 1e4 the relative error is at most 1e-11 where ``x < (a + 1) / (a + b + 2)``, and
    the absolute error elsewhere. An element whose fraction does not converge is NaN. Derivatives are 0 at the
    ends of the domain.
    """
    return _in_double(_incomplete.incomplete_beta, a, b, x)


def _order(n):
    """The order ``n`` of a derivative as an integer; it may be a float, as in JAX."""
    if is_tracer(n) or np.ndim(n) or n != np.floor(n):
        raise TypeError(
            "polygamma takes a known whole number as the order, as in polygamma(1, x): name an argument of a "
            "compiled function in `static=`, and for several orders write np.stack([polygamma(1, x), ...])"
        )
    return int(n)


def polygamma(n, x):
    """The derivative of order ``n`` of the digamma function. The order is a known number up to 50. For orders
    from 1 the relative error is at most 1e-14 for positive ``x``."""
    order = _order(n)
    if not 0 <= order <= 50:
        raise ValueError(f"polygamma takes an order from 0 to 50, not {order}")
    (x,) = _floats(x)
    return digamma(x) if order == 0 else _in_double(lambda x: _incomplete.polygamma(order, x), x)


def multigammaln(a, d):
    """The logarithm of the multivariate gamma function of ``d`` dimensions."""
    (a,) = _floats(a)
    constant = 0.25 * d * (d - 1) * math.log(math.pi)
    return sum((gammaln(a - 0.5 * j) for j in range(d)), constant + np.zeros_like(a))


def _product(x, y, logarithm):
    """``x * logarithm(y)``, and 0 where ``x`` is 0; the derivative of the other branch stays finite."""
    x, y = _floats(x, y)
    is_zero = (x == 0) & ~np.isnan(y)
    return np.where(is_zero, np.zeros((), x.dtype), x * logarithm(np.where(is_zero, np.ones((), y.dtype), y)))


def xlogy(x, y):
    """``x * log(y)``, and 0 where ``x`` is 0."""
    return _product(x, y, np.log)


def xlog1py(x, y):
    """``x * log1p(y)``, and 0 where ``x`` is 0."""
    return _product(x, y, np.log1p)


def entr(x):
    """``-x * log(x)``, 0 at 0, and minus infinity for negative numbers."""
    (x,) = _floats(x)
    return np.where(x < 0, np.full((), -np.inf, x.dtype), -xlogy(np.abs(x), np.abs(x)))


def rel_entr(p, q):
    """``p * log(p / q)``, 0 where ``p`` is 0 and ``q`` is not negative, and infinite out of the domain."""
    p, q = _floats(p, q)
    is_inside, is_zero = (p > 0) & (q > 0), (p == 0) & (q >= 0)
    one = np.ones((), p.dtype)
    found = np.where(is_inside, p, one) * np.log(np.where(is_inside, p, one) / np.where(is_inside, q, one))
    edge = np.where(is_zero, np.zeros((), p.dtype), np.full((), np.inf, p.dtype))
    return np.where(is_inside, found, np.where(np.isnan(p) | np.isnan(q), p + q, edge))


def kl_div(p, q):
    """``p * log(p / q) - p + q``, ``q`` where ``p`` is 0, and infinite out of the domain."""
    p, q = _floats(p, q)
    return rel_entr(p, q) - p + q


def i0(x):
    """The modified Bessel function of the first kind of order 0."""
    return _bessel.i0(*_floats(x))


def i0e(x):
    """``exp(-abs(x)) * i0(x)``."""
    return _bessel.i0(*_floats(x), is_scaled=True)


# The normal distribution.


def ndtr(x):
    """The cumulative distribution function of the normal distribution."""
    (x,) = _floats(x)
    return 0.5 * erfc(-x * math.sqrt(0.5))


#: Below it ``erfc`` approaches the smallest floats, and the series of ``log_ndtr`` is exact to 1e-12.
_FAR = {np.dtype(np.float64): -20.0}


def log_ndtr(x):
    """The logarithm of ``ndtr``, also where that is too small for a float."""
    (x,) = _floats(x)
    limit = _FAR.get(x.dtype, -8.0)
    is_far = x < limit
    near = np.where(is_far, np.full((), limit, x.dtype), x)
    far = np.where(is_far, x, np.full((), limit, x.dtype))
    # The asymptotic series of Mills' ratio.
    inverse, series, term = 1 / np.square(far), 1.0, 1.0
    for odd in range(1, 15, 2):
        term = -term * odd * inverse
        series = series + term
    tail = -0.5 * np.square(far) - np.log(-far) - 0.5 * math.log(2 * math.pi) + np.log(series)
    is_high = near > 0
    # The logarithm of a number near 1 would lose digits.
    body = np.log(ndtr(np.where(is_high, np.zeros((), x.dtype), near)))
    body = np.where(is_high, np.log1p(-ndtr(-np.abs(near))), body)
    return np.where(is_far, tail, body)


#: Rational approximations of ``ndtri`` by Cephes: within exp(-2) of the middle, and of the tails.
_MIDDLE = (
    -59.96335010141079, 98.00107541859997, -56.67628574690703, 13.931260938727968, -1.2391658386738125,
)
_MIDDLE_DIVISOR = (
    1.0, 1.9544885833814176, 4.676279128988815, 86.36024213908905, -225.46268785411937,
    200.26021238006066, -82.03722561683334, 15.90562251262117, -1.1833162112133,
)
_TAIL = (
    4.0554489230596245, 31.525109459989388, 57.16281922464213, 44.08050738932008, 14.684956192885803,
    2.1866330685079025, -0.1402560791713545, -0.03504246268278482, -0.0008574567851546854,
)
_TAIL_DIVISOR = (
    1.0, 15.779988325646675, 45.39076351288792, 41.3172038254672, 15.04253856929075, 2.504649462083094,
    -0.14218292285478779, -0.03808064076915783, -0.0009332594808954574,
)
_END = (
    3.2377489177694603, 6.915228890689842, 3.9388102529247444, 1.3330346081580755, 0.20148538954917908,
    0.012371663481782003, 0.00030158155350823543, 2.6580697468673755e-06, 6.239745391849833e-09,
)
_END_DIVISOR = (
    1.0, 6.02427039364742, 3.6798356385616087, 1.3770209948908132, 0.21623699359449663,
    0.013420400608854318, 0.00032801446468212774, 2.8924786474538068e-06, 6.790194080099813e-09,
)


def ndtri(p):
    """The inverse of ``ndtr``."""
    (p,) = _floats(p)
    is_upper = p > 1 - math.exp(-2)
    smaller = np.where(is_upper, 1 - p, p)
    is_middle = smaller > math.exp(-2)
    centred = np.where(is_middle, smaller - 0.5, 0)
    square = np.square(centred)
    ratio = _polynomial(square, _MIDDLE) / _polynomial(square, _MIDDLE_DIVISOR)
    middle = (centred + centred * square * ratio) * math.sqrt(2 * math.pi)
    # The branch that is not chosen gets arguments in its range, so that derivatives are finite.
    is_inside = (smaller > 0) & ~is_middle
    root = np.sqrt(-2 * np.log(np.where(is_inside, smaller, 0.1)))
    inverse = 1 / root
    tail = _polynomial(inverse, _TAIL) / _polynomial(inverse, _TAIL_DIVISOR)
    end = _polynomial(inverse, _END) / _polynomial(inverse, _END_DIVISOR)
    tail = root - np.log(root) / root - inverse * np.where(root >= 8, end, tail)
    tail = np.where(smaller == 0, np.inf, tail)
    found = np.where(is_middle, middle, np.where(is_upper, tail, -tail))
    return np.where((p < 0) | (p > 1) | np.isnan(p), np.nan, found).astype(p.dtype)


def _polynomial(x, coefficients):
    """The polynomial with these coefficients, that of the highest power first."""
    value = coefficients[0]
    for coefficient in coefficients[1:]:
        value = value * x + coefficient
    return value


def __getattr__(name):
    raise absent(__name__, name)
