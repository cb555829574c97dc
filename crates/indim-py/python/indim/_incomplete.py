"""Incomplete gamma and beta functions, and derivatives of the digamma function: series, continued fractions.

Everything is computed in ``float64``. Loops end when all elements have converged; an element that has not
after ``MAX_STEPS`` is NaN. Derivatives are those of the series, and exact formulas for the last argument.

At whole parameters a continued fraction ends, but its derivative in the parameter does not. So loops of their
own compute these derivatives, until they too have converged. Second derivatives in the parameters have about
five digits there.
"""

from __future__ import annotations

import math

import numpy as np

from . import none
from ._custom_derivatives import custom_jvp
from ._functions import asarray
from ._gradients import jvp
from ._loops import while_loop

#: Steps of a loop: parameters up to 1e6 need them.
MAX_STEPS = 20_000

#: Relative size of the last term. It is below the precision, for the derivatives of the series too.
_SMALLEST = 1e-20

#: Relative change of the last step of a continued fraction: a few units in the last place.
_CHANGE = 4e-15

#: Coefficients of the divergent series of the logarithm of the gamma function in 1/a, for a from 10.
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)


def _stirling(a):
    """The logarithm of the gamma function of ``a`` from 10, less Stirling's formula."""
    square, total = 1 / np.square(a), 0.0
    for coefficient in reversed(_STIRLING):
        total = total * square + coefficient
    return total / a


def _log_less(ratio, u):
    """``log(ratio) - u``, where ``u`` is ``ratio - 1``, computed with less rounding."""
    return np.where(u < -0.5, np.log(ratio), np.log1p(u)) - u


def _repeated(step, is_open, *state):
    """The first part of the state after the steps until no element is open; NaN where one still is."""
    first = np.zeros_like(state[0])

    def body(values):
        count, *state = values
        return (count + 1, *step(count + 1, *state))

    def goes_on(values):
        count, *state = values
        return np.any(is_open(*state) & (count < MAX_STEPS))

    _, *state = while_loop(goes_on, body, (first, *state))
    return np.where(is_open(*state), np.nan, state[0])


# The incomplete gamma functions.


def _gamma_density(a, x):
    """``x**a * exp(-x) / gamma(a + 1)``."""
    is_large = a >= 10
    small, large = np.where(is_large, 1.0, a), np.where(is_large, a, 10.0)
    near = small * np.log(x) - x - none.lgamma(small + 1)
    x = np.where(is_large, x, 10.0)
    far = large * _log_less(x / large, (x - large) / large) - _stirling(large)
    far = far - 0.5 * np.log(2 * math.pi * large)
    return np.exp(np.where(is_large, far, near))


def _series(a, x):
    """The sum of ``x**n / ((a + 1) ... (a + n))`` for n from 0."""
    one = np.ones_like(x)
    return _repeated(
        lambda n, total, term: (total + term * x / (a + n), term * x / (a + n)),
        lambda total, term: term > _SMALLEST * total,
        one,
        one,
    )


def _lentz(h, c, d, b, numerator):
    """A step of Lentz's method for the next term ``numerator / (b + ...)`` of a continued fraction."""
    d, c = 1 / (b + numerator * d), b + numerator / c
    return h * (d * c), c, d


def _lentz_tangent(state, tangents, b, b_tangent, numerator, numerator_tangent):
    """The tangents of the results of such a step, in the same order."""
    h, c, d = state
    h_tangent, c_tangent, d_tangent = tangents
    after, later_c, later_d = _lentz(h, c, d, b, numerator)
    d_tangent = -later_d * later_d * (b_tangent + numerator_tangent * d + numerator * d_tangent)
    c_tangent = b_tangent + (numerator_tangent - numerator / c * c_tangent) / c
    h_tangent = h_tangent * (later_d * later_c) + h * (d_tangent * later_c + later_d * c_tangent)
    return (after, later_c, later_d), (h_tangent, c_tangent, d_tangent)


def _tangent_of_fraction(step, state, tangents, *rest):
    """The tangent of a continued fraction. ``step(n, state, tangents, *rest)`` gives the next of each."""

    def flat_step(n, h_tangent, h, c, d, c_tangent, d_tangent, change, *rest):
        state, tangents, rest = step(n, (h, c, d), (h_tangent, c_tangent, d_tangent), *rest)
        change = np.abs(tangents[0] - h_tangent) - _CHANGE * np.abs(tangents[0]) - 1e-17 * np.abs(state[0])
        change = np.maximum(change, np.abs(state[1] * state[2] - 1) - _CHANGE)
        return (tangents[0], *state, *tangents[1:], change, *rest)

    def is_open(*state):
        return state[6] > 0

    return _repeated(flat_step, is_open, tangents[0], *state, *tangents[1:], np.ones_like(state[0]), *rest)


def _fraction_loop(a, x):
    def step(n, h, b, c, d, change):
        b = b + 2
        h, c, d = _lentz(h, c, d, b, -n * (n - a))
        return h, b, c, d, np.abs(d * c - 1)

    b = x + 1 - a
    one = np.ones_like(x)
    is_open = lambda h, b, c, d, change: change > _CHANGE
    return _repeated(step, is_open, 1 / b, b, one * 1e300, 1 / b, one)


@custom_jvp
def _fraction(a, x):
    """The upper incomplete gamma function without the factor ``x**a * exp(-x)``, by Lentz's method."""
    return _fraction_loop(a, x)


def _fraction_by_a(a, x):
    def step(n, state, tangents, b):
        b = b + 2
        return *_lentz_tangent(state, tangents, b, -1, -n * (n - a), n), (b,)

    b = x + 1 - a
    zero = np.zeros_like(x)
    return _tangent_of_fraction(step, (1 / b, zero + 1e300, 1 / b), (b**-2, zero, b**-2), b)


@_fraction.defjvp
def _fraction_jvp(primals, tangents):
    a, x = primals
    by_x = jvp(_fraction_loop, (a, x), (np.zeros_like(a), np.ones_like(x)))[1]
    return _fraction(a, x), _fraction_by_a(a, x) * tangents[0] + by_x * tangents[1]


def _lower_and_upper(a, x):
    """The lower and the upper regularized incomplete gamma function of positive numbers."""
    is_lower = x < a + 1
    # The branch that is not chosen gets arguments that converge.
    lower = _series(np.where(is_lower, a, 1.0), np.where(is_lower, x, 0.5))
    upper = _fraction(np.where(is_lower, 1.0, a), np.where(is_lower, 4.0, x))
    density = _gamma_density(a, x)
    lower, upper = density * lower, density * a * upper
    return np.where(is_lower, lower, 1 - upper), np.where(is_lower, 1 - lower, upper)


@custom_jvp
def _incomplete_gamma(a, x):
    return _lower_and_upper(a, x)


@_incomplete_gamma.defjvp
def _incomplete_gamma_jvp(primals, tangents):
    a, x = primals
    one = np.ones_like(a)
    (_, by_a) = jvp(_lower_and_upper, (a, x), (one, np.zeros_like(x)))
    by_x = _gamma_density(a, x) * a / x
    change = by_x * tangents[1]
    by_a = [part * tangents[0] for part in by_a]
    return _incomplete_gamma(a, x), (by_a[0] + change, by_a[1] - change)


def incomplete_gamma(a, x):
    """The lower and the upper regularized incomplete gamma function."""
    is_inside = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    lower, upper = _incomplete_gamma(np.where(is_inside, a, 1.0), np.where(is_inside, x, 1.0))
    is_invalid = np.isnan(a) | np.isnan(x) | (a < 0) | (x < 0) | ((a == 0) & (x == 0))
    is_invalid = is_invalid | (np.isinf(a) & np.isinf(x))
    is_all = (a == 0) | np.isinf(x)
    edge = np.where(is_invalid, np.nan, np.where(is_all, 1.0, 0.0))
    return np.where(is_inside, lower, edge), np.where(is_inside, upper, 1 - edge)


# The incomplete beta function.


def _log_beta(a, b):
    """The logarithm of the beta function of positive numbers, also of large ones."""
    less, more = np.minimum(a, b), np.maximum(a, b)
    is_large = more >= 10
    small = none.lgamma(np.where(is_large, 1.0, less)) + none.lgamma(np.where(is_large, 1.0, more))
    small = small - none.lgamma(np.where(is_large, 1.0, less + more))
    more = np.where(is_large, more, 10.0)
    change = less - (more + less - 0.5) * np.log1p(less / more) - less * np.log(more)
    large = none.lgamma(less) + change + _stirling(more) - _stirling(more + less)
    return np.where(is_large, large, small)


def _beta_density(a, b, x):
    """``x**a * (1 - x)**b / beta(a, b)``."""
    are_large = (a >= 10) & (b >= 10)
    small = a * np.log(x) + b * np.log1p(-x) - _log_beta(a, b)
    a, b = np.where(are_large, a, 10.0), np.where(are_large, b, 10.0)
    excess, total = x * b - (1 - x) * a, a + b
    large = a * _log_less(x * total / a, excess / a) - _stirling(a) - _stirling(b)
    large = large + b * _log_less((1 - x) * total / b, -excess / b)
    large = large + _stirling(a + b) + 0.5 * np.log(a / (a + b) * b / (2 * math.pi))
    return np.exp(np.where(are_large, large, small))


def _beta_numerators(n, a, b, x):
    return (
        n * (b - n) * x / ((a + 2 * n - 1) * (a + 2 * n)),
        -(a + n) * (a + b + n) * x / ((a + 2 * n) * (a + 2 * n + 1)),
    )


def _beta_fraction_loop(a, b, x):
    def step(n, h, c, d, change):
        for numerator in _beta_numerators(n, a, b, x):
            h, c, d = _lentz(h, c, d, 1, numerator)
        return h, c, d, np.abs(d * c - 1)

    d, one = 1 / (1 - (a + b) * x / (a + 1)), np.ones_like(x)
    return _repeated(step, lambda h, c, d, change: change > _CHANGE, d, one, d, one)


@custom_jvp
def _beta_fraction(a, b, x):
    """The incomplete beta function without its density, by Lentz's method."""
    return _beta_fraction_loop(a, b, x)


def _beta_fraction_tangent(a, b, x, a_tangent, b_tangent):
    """The tangent of the fraction for these constant tangents of its parameters."""

    def step(n, state, tangents):
        first, second = _beta_numerators(n, a, b, x)
        less, middle, more = a + 2 * n - 1, a + 2 * n, a + 2 * n + 1
        first_tangent = n * x * b_tangent / (less * middle) - first * a_tangent * (1 / less + 1 / middle)
        factors = a_tangent * (a + b + n) + (a + n) * (a_tangent + b_tangent)
        second_tangent = -factors * x / (middle * more) - second * a_tangent * (1 / middle + 1 / more)
        state, tangents = _lentz_tangent(state, tangents, 1, 0, first, first_tangent)
        return *_lentz_tangent(state, tangents, 1, 0, second, second_tangent), ()

    d, one = 1 / (1 - (a + b) * x / (a + 1)), np.ones_like(x)
    change = (a + b) * a_tangent / (a + 1) - (a_tangent + b_tangent)
    d_tangent = -d * d * change * x / (a + 1)
    return _tangent_of_fraction(step, (d, one, d), (d_tangent, np.zeros_like(x), d_tangent))


@_beta_fraction.defjvp
def _beta_fraction_jvp(primals, tangents):
    a, b, x = primals
    zero = np.zeros_like(a)
    by_a, by_b = (_beta_fraction_tangent(a, b, x, *of) for of in ((1.0, 0.0), (0.0, 1.0)))
    by_x = jvp(_beta_fraction_loop, (a, b, x), (zero, zero, np.ones_like(x)))[1]
    return _beta_fraction(a, b, x), by_a * tangents[0] + by_b * tangents[1] + by_x * tangents[2]


def _beta_part(a, b, x):
    """The regularized incomplete beta function of positive numbers and ``x`` between 0 and 1."""
    is_lower = x < (a + 1) / (a + b + 2)
    first, second = np.where(is_lower, a, b), np.where(is_lower, b, a)
    part = np.where(is_lower, x, 1 - x)
    part = _beta_density(a, b, x) * _beta_fraction(first, second, part) / first
    return np.where(is_lower, part, 1 - part)


def _beta_part_tangent(a, b, x, a_tangent, b_tangent):
    """The tangent of :func:`_beta_part` for these constant tangents of its parameters."""
    is_lower = x < (a + 1) / (a + b + 2)
    first, second = np.where(is_lower, a, b), np.where(is_lower, b, a)
    part = np.where(is_lower, x, 1 - x)
    fraction = _beta_fraction(first, second, part)
    tangents = np.where(is_lower, a_tangent, b_tangent), np.where(is_lower, b_tangent, a_tangent)
    fraction_tangent = _beta_fraction_tangent(first, second, part, *tangents)

    def factor(a, b):
        return _beta_density(a, b, x) / np.where(is_lower, a, b)

    ones = np.ones_like(a) * a_tangent, np.ones_like(b) * b_tangent
    value, tangent = jvp(factor, (a, b), ones)
    tangent = tangent * fraction + value * fraction_tangent
    return np.where(is_lower, tangent, -tangent)


@custom_jvp
def _incomplete_beta(a, b, x):
    return _beta_part(a, b, x)


@_incomplete_beta.defjvp
def _incomplete_beta_jvp(primals, tangents):
    a, b, x = primals
    by_a, by_b = (_beta_part_tangent(a, b, x, *of) for of in ((1.0, 0.0), (0.0, 1.0)))
    by_x = _beta_density(a, b, x) / (x * (1 - x))
    change = by_a * tangents[0] + by_b * tangents[1] + by_x * tangents[2]
    return _incomplete_beta(a, b, x), change


def incomplete_beta(a, b, x):
    """The regularized incomplete beta function, or its limit if one parameter is 0 or infinite; NaN if both
    are 0 or both infinite, or one is negative."""
    is_at_0, is_at_1 = (a == 0) | np.isinf(b), (b == 0) | np.isinf(a)
    are_alike = ((a == 0) & (b == 0)) | (np.isinf(a) & np.isinf(b))
    is_valid = (a >= 0) & (b >= 0) & ~are_alike & (x >= 0) & (x <= 1)
    # All of the distribution is at 0 or at 1.
    x = np.where(is_valid & is_at_0, np.where(x > 0, 1.0, 0.0), x)
    x = np.where(is_valid & is_at_1 & ~is_at_0, np.where(x < 1, 0.0, 1.0), x)
    is_inside = is_valid & (x > 0) & (x < 1)
    a, b, inside = np.where(is_inside, a, 1.0), np.where(is_inside, b, 1.0), np.where(is_inside, x, 0.5)
    return np.where(is_inside, _incomplete_beta(a, b, inside), np.where(is_valid, x, np.nan))


# The derivatives of the digamma function.

#: ``B(2 k) / (2 k)!`` of the Bernoulli numbers, for k from 1.
_BERNOULLI = tuple(
    bernoulli / math.factorial(2 * k)
    for k, bernoulli in enumerate(
        (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798), start=1
    )
)

#: Terms of the sum before the formula of Euler and Maclaurin.
_TERMS = 12


def polygamma(order, x):
    """The derivative of a known order from 1 of the digamma function; infinite at 0 and the negative whole
    numbers."""
    is_low = x <= 0
    found = _polygamma_of_positive(order, np.where(is_low, 1 - x, x))
    # The reflection formula.
    low = (-1.0) ** order * found - _cotangent_derivative(order, np.where(is_low, x, -0.25))
    is_pole = is_low & (x == np.floor(x)) & np.isfinite(x)
    return np.where(is_pole, math.copysign(math.inf, (-1.0) ** (order + 1)), np.where(is_low, low, found))


def _polygamma_of_positive(order, x):
    s = order + 1
    end = x + _TERMS
    total = end ** (1 - s) / (s - 1) + 0.5 * end**-s
    factor = s * end ** (-s - 1)
    for k, coefficient in enumerate(_BERNOULLI, start=1):
        total = total + coefficient * factor
        factor = factor * ((s + 2 * k - 1) * (s + 2 * k)) / np.square(end)
    for place in reversed(range(_TERMS)):
        total = total + (x + place) ** -s
    return (-1.0) ** s * math.gamma(s) * total


def _cotangent_derivative(order, x):
    """The derivative of this order of ``pi * cot(pi * x)``: a polynomial of the cotangent."""
    coefficients = [0, 1]
    for _ in range(order):
        # (p(c))' = -(1 + c**2) p'(c) c', with the coefficient of each power of c.
        slope = [power * value for power, value in enumerate(coefficients)][1:]
        coefficients = [-low - high for low, high in zip([*slope, 0, 0], [0, 0, *slope])]
    fraction = x - np.round(x)
    size = np.where(fraction == 0, 0.25, np.abs(fraction))
    # Exactly 0 at 1/2.
    near_half = np.tan(math.pi * (0.5 - np.maximum(size, 0.25)))
    cotangent = np.where(size > 0.25, near_half, 1 / np.tan(math.pi * np.minimum(size, 0.25)))
    cotangent = np.where(fraction < 0, -cotangent, cotangent)
    total = np.zeros_like(x)
    for coefficient in reversed(coefficients):
        total = total * cotangent + float(coefficient)
    return math.pi ** (order + 1) * total
