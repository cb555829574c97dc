"""The modified Bessel function of order 0, ``np.i0``, on traced values."""

from __future__ import annotations

import functools
import math

import numpy as np

from ._functions import asarray

#: Coefficients of powers of ``(x / 2)**2``, for x up to 8. All terms are positive, so none of the digits
#: cancel, and the derivatives at 0 are right.
_NEAR = [1 / math.factorial(power) ** 2 for power in range(34)]

#: Coefficients of Chebyshev polynomials of 16 / x - 1 for sqrt(x) exp(-x) i0(x), x from 8.
_FAR = (
    0.8044904110141088, 0.0033691164782556943, 6.889758346916825e-05, 2.8913705208347567e-06,
    2.0489185894690638e-07, 2.266668990498178e-08, 3.3962320257083865e-09, 4.94060238822497e-10,
    1.1889147107846439e-11, -3.1499165279632416e-11, -1.3215811840447713e-11, -1.7941785315068062e-12,
    7.180124451383666e-13, 3.8527783827421426e-13, 1.54008621752141e-14, -4.150569347287222e-14,
    -9.554846698828307e-15, 3.8116806693526224e-15, 1.7725601330565263e-15, -3.425485619677219e-16,
    -2.8276239805165836e-16, 3.461222867697461e-17, 4.46562142029676e-17, -4.830504485944178e-18,
    -7.23318048787476e-18, 9.921475412173676e-19, 1.1936508908460063e-18,
)


def i0(x, is_scaled=False):
    """The modified Bessel function of the first kind of order 0, as NumPy computes it; ``is_scaled`` omits
    the factor ``exp(abs(x))``."""
    x = asarray(x)
    if x.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    size = np.abs(x)
    is_near = size <= 8
    # The branch that is not chosen gets arguments in its range, so that derivatives are finite.
    near, far = np.where(is_near, x, 8), np.where(is_near, 8, size)
    square = near * near / 4
    series = functools.reduce(lambda sum, coefficient: sum * square + coefficient, _NEAR[::-1])
    near = np.exp(-size) * series if is_scaled else series
    far = _series(16 / far - 1, _FAR) / np.sqrt(far) * (1 if is_scaled else np.exp(far))
    return np.where(is_near, near, far)


def _series(x, coefficients):
    """The sum of Chebyshev polynomials, by Clenshaw's recurrence."""
    later, last = 0.0, 0.0
    for coefficient in reversed(coefficients[1:]):
        later, last = 2 * x * later - last + coefficient, later
    return x * later - last + coefficients[0] / 2
