"""The modified Bessel function of order 0, ``np.i0``, on traced values."""

from __future__ import annotations

import numpy as np

from ._functions import asarray

#: Coefficients of Chebyshev polynomials of x / 4 - 1 for exp(-x) i0(x), x from 0 to 8.
_NEAR = (
    0.6767952744094761, -0.3046826723431984, 0.17162090152220877, -0.09490109704804764, 0.04930528423967071,
    -0.02373741480589947, 0.010546460394594998, -0.004324309995050576, 0.0016394756169413357,
    -0.0005763755745385824, 0.00018850288509584165, -5.754195010082104e-05, 1.6448448070728896e-05,
    -4.4167383584587505e-06, 1.1173875391201037e-06, -2.670793853940612e-07, 6.046995022541919e-08,
    -1.300025009986248e-08, 2.6598237246823866e-09, -5.189795601635263e-10, 9.675809035373237e-11,
    -1.726826291441556e-11, 2.95505266312964e-12, -4.856446783111929e-13, 7.676185498604936e-14,
    -1.1685332877993451e-14, 1.715391285555133e-15, -2.431279846547955e-16, 3.3307945188222384e-17,
    -4.4153416464793395e-18,
)

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
    x = np.abs(x if x.dtype.kind == "f" else x.astype(np.float64))
    is_near = x <= 8
    # The branch that is not chosen gets arguments in its range, so that derivatives are finite.
    near, far = np.where(is_near, x, 8), np.where(is_near, 8, x)
    series = np.where(is_near, _series(near / 4 - 1, _NEAR), _series(16 / far - 1, _FAR) / np.sqrt(far))
    return series if is_scaled else np.exp(x) * series


def _series(x, coefficients):
    """The sum of Chebyshev polynomials, by Clenshaw's recurrence."""
    later, last = 0.0, 0.0
    for coefficient in reversed(coefficients[1:]):
        later, last = 2 * x * later - last + coefficient, later
    return x * later - last + coefficients[0] / 2
