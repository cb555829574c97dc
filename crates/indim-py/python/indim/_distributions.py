"""Distributions of ``jax.random`` that transform other numbers, or reject some in a loop, as JAX does.

`random.py` exports them.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from . import _functions, none
from ._custom_derivatives import custom_jvp
from ._gradients import jvp
from ._incomplete import incomplete_gamma
from ._loops import while_loop
from ._vectorized import vmap
from .random import (
    _float_of,
    _float_type,
    _floats,
    _key,
    _program,
    _shape_of,
    _sizes,
    _type,
    exponential,
    normal,
    rademacher,
    split,
    uniform,
)

NAMES = (
    *("ball", "beta", "chisquare", "dirichlet", "double_sided_maxwell", "f", "gamma", "generalized_normal"),
    *("geometric", "loggamma", "lognormal", "maxwell", "pareto", "poisson", "rayleigh", "t", "triangular"),
    *("wald", "weibull_min"),
)


def _of_floats(name, key, parameters, shape, dtype):
    """The key, the parameters in the type of the result, the shape and the type."""
    dtype = _float_type(name, dtype)
    parameters = _floats(parameters, dtype)
    return _key(key), *parameters, _broadcast_shape(name, shape, parameters), dtype


def _broadcast_shape(name, shape, parameters):
    """``shape``, or that of the parameters."""
    if shape is None:
        return np.broadcast_shapes(*(tuple(parameter.shape) for parameter in parameters))
    return _shape_of(name, shape, *parameters)


# The gamma distribution, and those that follow from it.


def gamma(key, a, shape=None, dtype=None):
    """Numbers of the gamma distribution with the shape parameter ``a`` and the scale 1."""
    return _gamma(*_of_floats("gamma", key, (a,), shape, dtype), False)


def loggamma(key, a, shape=None, dtype=None):
    """Logarithms of numbers of the gamma distribution, also if those are too small for a float."""
    return _gamma(*_of_floats("loggamma", key, (a,), shape, dtype), True)


@_program("shape", "dtype", "is_logarithm")
def _gamma(key, a, shape, dtype, is_logarithm):
    count = math.prod(shape)
    if count == 0:
        return np.zeros(shape, dtype)

    a = np.broadcast_to(a, shape).reshape(count)
    return _gamma_numbers(split(key, count), a, is_logarithm).reshape(shape)


@functools.partial(custom_jvp, nondiff_argnums=2)
def _gamma_numbers(keys, a, is_logarithm):
    return vmap(lambda key, a: _gamma_sample(key, a, is_logarithm))(keys, a)


@_gamma_numbers.defjvp
def _gamma_numbers_jvp(is_logarithm, primals, tangents):
    keys, a = primals
    numbers = _gamma_numbers(keys, a, is_logarithm)
    if is_logarithm:
        return numbers, _gamma_slope(a, np.exp(numbers), numbers).astype(a.dtype) * tangents[1]
    slope = _gamma_slope(a, numbers, np.log(numbers)).astype(a.dtype)
    # A number that is too small for a float is 0, and so is its change.
    return numbers, np.where(numbers > 0, numbers * slope, 0) * tangents[1]


#: Below this number the distribution is ``x**a / gamma(a + 1)`` to the precision of ``f64``.
_SMALL_NUMBER = 1e-17

#: From this parameter the numbers are those of Wilson and Hilferty's formula, to a relative error of 1e-6.
_LARGE_PARAMETER = 1e5


def _gamma_slope(a, x, logarithm):
    """The derivative in ``a`` of the logarithm of a number of the gamma distribution that keeps its place in
    the distribution P: ``-(dP/da) / (x dP/dx)``, as for Figurnov, Mohamed and Mnih, "Implicit
    reparameterization gradients" (2018). The derivative of the steps that found the number would leave out
    that other values of ``a`` reject other numbers."""
    a, x, logarithm = (value.astype(np.float64) for value in (a, x, logarithm))
    is_small, is_large = x < _SMALL_NUMBER, a >= _LARGE_PARAMETER
    is_other = is_small | is_large
    # Formulas that are not chosen get numbers for which they converge.
    some_a, some_x = np.where(is_other, 1.0, a), np.where(is_other, 1.0, x)
    one, zero = np.ones_like(a), np.zeros_like(a)
    _, (lower, _) = jvp(incomplete_gamma, (some_a, some_x), (one, zero))
    _, (density, _) = jvp(incomplete_gamma, (some_a, some_x), (zero, one))
    slope = -lower / (some_x * density)
    small = (none.digamma(a + 1) - logarithm) / a
    large_a = np.where(is_large, a, _LARGE_PARAMETER)
    root = np.cbrt(np.where(is_large, x, _LARGE_PARAMETER) / large_a)
    large = 1 / large_a + 3 * ((1 - root) / (2 * large_a) + 1 / (18 * large_a**2)) / root
    return np.where(is_large, large, np.where(is_small, small, slope))


def _gamma_sample(key, a, is_logarithm):
    """One number by the method of Marsaglia and Tsang; that of ``a + 1`` scaled down if ``a`` is below 1."""
    zero, one = np.zeros((), a.dtype), np.ones((), a.dtype)
    is_large = a >= 1
    d = np.where(is_large, a, a + one) - 1 / 3
    c = (1 / 3) / np.sqrt(d)

    def is_rejected(state):
        _, square, cube, u = state
        is_far = u >= 1 - 0.0331 * (square * square)
        return is_far & (np.log(u) >= 0.5 * square + d * ((1 - cube) + np.log(cube)))

    def draw(state):
        next_key, x_key, u_key = split(state[0], 3)
        _, x, v = while_loop(lambda state: state[2] <= 0, draw_x, (x_key, zero, -one))
        return next_key, x * x, v * v * v, uniform(u_key, (), a.dtype)

    def draw_x(state):
        next_key, x_key = split(state[0])
        x = normal(x_key, (), a.dtype)
        return next_key, x, 1 + x * c

    key, boost_key = split(key)
    cube = while_loop(is_rejected, draw, (key, zero, one, one + one))[2]
    if is_logarithm:
        boost = -exponential(boost_key, (), a.dtype)
        boost = np.where(is_large | (boost == 0), zero, boost * (1 / a))
        return np.log(d) + np.log(cube) + boost
    boost = 1 - uniform(boost_key, (), a.dtype)
    return d * cube * np.where(is_large, one, boost ** (1 / a))


def beta(key, a, b, shape=None, dtype=None):
    """Numbers of the beta distribution."""
    return _beta(*_of_floats("beta", key, (a, b), shape, dtype))


@_program("shape", "dtype")
def _beta(key, a, b, shape, dtype):
    first, second = split(key)
    a, b = loggamma(first, a, shape, dtype), loggamma(second, b, shape, dtype)
    greatest = np.maximum(a, b)
    a, b = np.exp(a - greatest), np.exp(b - greatest)
    return a / (a + b)


def dirichlet(key, alpha, shape=None, dtype=None):
    """Numbers of the Dirichlet distribution, whose parameters are along the last axis of ``alpha``."""
    dtype = _float_type("dirichlet", dtype)
    (alpha,) = _floats((alpha,), dtype)
    if alpha.ndim == 0:
        raise ValueError("the parameters of dirichlet have an axis")
    outer, count = tuple(alpha.shape[:-1]), alpha.shape[-1]
    if shape is not None:
        outer = _shape_of("dirichlet", shape, np.broadcast_to(np.zeros((), np.bool_), outer))
    return _dirichlet(_key(key), alpha, (*outer, count), dtype)


@_program("shape", "dtype")
def _dirichlet(key, alpha, shape, dtype):
    return none.softmax(loggamma(key, alpha, shape, dtype), -1)


def chisquare(key, df, shape=None, dtype=None):
    """Numbers of the chi-square distribution with ``df`` degrees of freedom."""
    return _chisquare(*_of_floats("chisquare", key, (df,), shape, dtype))


@_program("shape", "dtype")
def _chisquare(key, df, shape, dtype):
    return np.exp(loggamma(key, df / 2, shape, dtype)) * 2


def f(key, dfnum, dfden, shape=None, dtype=None):
    """Numbers of the F distribution with degrees of freedom of a numerator and a denominator."""
    return _f(*_of_floats("f", key, (dfnum, dfden), shape, dtype))


@_program("shape", "dtype")
def _f(key, dfnum, dfden, shape, dtype):
    of_denominator, of_numerator = split(key)
    numerator = chisquare(of_numerator, dfnum, shape, dtype) / dfnum
    return numerator / (chisquare(of_denominator, dfden, shape, dtype) / dfden)


def t(key, df, shape=None, dtype=None):
    """Numbers of Student's t distribution with ``df`` degrees of freedom."""
    return _t(*_of_floats("t", key, (df,), shape, dtype))


@_program("shape", "dtype")
def _t(key, df, shape, dtype):
    of_normal, of_gamma = split(key)
    half = df / 2
    return normal(of_normal, shape, dtype) * np.sqrt(half / gamma(of_gamma, half, shape, dtype))


def generalized_normal(key, p, shape=(), dtype=None):
    """Numbers of the generalised normal distribution with the exponent ``p``."""
    dtype = _float_type("generalized_normal", dtype)
    return _generalized_normal(_key(key), *_floats((p,), dtype), tuple(_sizes(shape)), dtype)


@_program("shape", "dtype")
def _generalized_normal(key, p, shape, dtype):
    of_gamma, of_sign = split(key)
    return rademacher(of_sign, shape, dtype) * gamma(of_gamma, 1 / p, shape, dtype) ** (1 / p)


def ball(key, d, p=2, shape=(), dtype=None):
    """Points of ``d`` coordinates, uniform in the ball of radius 1 of the norm ``p``."""
    dtype = _float_type("ball", dtype)
    return _ball(_key(key), *_floats((p,), dtype), (*_sizes(shape), *_sizes(d)), dtype)


@_program("shape", "dtype")
def _ball(key, p, shape, dtype):
    of_direction, of_radius = split(key)
    direction = generalized_normal(of_direction, p, shape, dtype)
    radius = np.sum(np.abs(direction) ** p, -1) + exponential(of_radius, shape[:-1], dtype)
    return direction / (radius ** (1 / p))[..., None]


# Transforms of uniform and normal numbers.


def _exponent(key, b, shape, dtype):
    return np.exp(exponential(key, shape, dtype) / b)


def pareto(key, b, shape=None, dtype=None):
    """Numbers of the Pareto distribution with the exponent ``b``."""
    return _pareto(*_of_floats("pareto", key, (b,), shape, dtype))


_pareto = _program("shape", "dtype")(_exponent)


def rayleigh(key, scale, shape=None, dtype=None):
    """Numbers of the Rayleigh distribution."""
    return _rayleigh(*_of_floats("rayleigh", key, (scale,), shape, dtype))


@_program("shape", "dtype")
def _rayleigh(key, scale, shape, dtype):
    return scale * np.sqrt(-2 * np.log(uniform(key, shape, dtype)))


def lognormal(key, sigma=1.0, shape=None, dtype=None):
    """Numbers whose logarithms are normal, with the standard deviation ``sigma``."""
    return _lognormal(*_of_floats("lognormal", key, (sigma,), shape, dtype))


@_program("shape", "dtype")
def _lognormal(key, sigma, shape, dtype):
    return np.exp(normal(key, shape, dtype) * sigma)


def weibull_min(key, scale, concentration, shape=(), dtype=None):
    """Numbers of the Weibull distribution. As in JAX, the parameters broadcast with numbers of this shape, so
    without a shape all elements come from one number."""
    dtype = _float_type("weibull_min", dtype)
    parameters = _floats((scale, concentration), dtype)
    return _weibull_min(_key(key), *parameters, tuple(_sizes(shape)), dtype)


@_program("shape", "dtype")
def _weibull_min(key, scale, concentration, shape, dtype):
    return (-np.log1p(-uniform(key, shape, dtype))) ** (1 / concentration) * scale


def triangular(key, left, mode, right, shape=None, dtype=None):
    """Numbers of the triangular distribution from ``left`` to ``right`` with this mode."""
    return _triangular(*_of_floats("triangular", key, (left, mode, right), shape, dtype))


@_program("shape", "dtype")
def _triangular(key, left, mode, right, shape, dtype):
    u = uniform(key, shape, dtype)
    low = left + np.sqrt(u * (right - left) * (mode - left))
    high = right - np.sqrt((1 - u) * (right - left) * (right - mode))
    return np.where(u < (mode - left) / (right - left), low, high)


def maxwell(key, shape=(), dtype=None):
    """Numbers of the Maxwell distribution: lengths of normal vectors of three coordinates."""
    return _maxwell(_key(key), tuple(_sizes(shape)), _float_type("maxwell", dtype))


@_program("shape", "dtype")
def _maxwell(key, shape, dtype):
    return np.sqrt(np.sum(np.square(normal(key, (*shape, 3), dtype)), axis=-1))


def double_sided_maxwell(key, loc, scale, shape=(), dtype=None):
    """Numbers of the Maxwell distribution with random signs, scaled and moved. The axes of the parameters
    follow those of ``shape``."""
    dtype = _float_type("double_sided_maxwell", dtype)
    loc, scale = _floats((loc, scale), dtype)
    inner = np.broadcast_shapes(tuple(loc.shape), tuple(scale.shape))
    # Without a shape JAX has the axes of the parameters twice.
    return _double_sided_maxwell(_key(key), loc, scale, (*(tuple(_sizes(shape)) or inner), *inner), dtype)


@_program("shape", "dtype")
def _double_sided_maxwell(key, loc, scale, shape, dtype):
    of_length, of_sign = split(key)
    return rademacher(of_sign, shape, dtype) * maxwell(of_length, shape, dtype) * scale + loc


def wald(key, mean, shape=None, dtype=None):
    """Numbers of Wald's distribution, the inverse Gaussian one, with the scale 1."""
    return _wald(*_of_floats("wald", key, (mean,), shape, dtype))


@_program("shape", "dtype")
def _wald(key, mean, shape, dtype):
    of_normal, of_choice = split(key)
    y = np.square(normal(of_normal, shape, dtype))
    root = np.sqrt(4 * mean * y + np.square(mean) * np.square(y))
    x = mean + np.square(mean) * y / 2 - mean / 2 * root
    return np.where(uniform(of_choice, shape, dtype) <= mean / (mean + x), x, np.square(mean) / x)


# Whole numbers.


def geometric(key, p, shape=None, dtype=None):
    """The number of trials, each with the probability ``p``, up to the first success."""
    (p,) = _floats((p,), _float_of(p))
    return _geometric(_key(key), p, _broadcast_shape("geometric", shape, (p,)), _whole("geometric", dtype))


def _whole(name, dtype):
    dtype = _type(dtype, np.int32)
    if dtype.kind not in "iu":
        raise TypeError(f"{name} makes integers, not {dtype}")
    return dtype


@_program("shape", "dtype")
def _geometric(key, p, shape, dtype):
    u = uniform(key, shape, p.dtype)
    u = np.where(u == 0, np.ones((), p.dtype), u)
    return (np.floor(np.log(u) / np.log1p(-p)) + 1).astype(dtype)


def poisson(key, lam, shape=None, dtype=None):
    """Numbers of the Poisson distribution with the mean ``lam``; -1 if that is negative or not finite."""
    (lam,) = _floats((lam,), np.dtype(np.float32))
    return _poisson(_key(key), lam, _broadcast_shape("poisson", shape, (lam,)), _whole("poisson", dtype))


@_program("shape", "dtype")
def _poisson(key, lam, shape, dtype):
    # No number is accepted for an infinite mean, which JAX searches for 2**31 steps.
    lam = np.broadcast_to(np.where(np.isinf(lam), np.float32(np.nan), lam), shape)
    is_small = np.isnan(lam) | (lam < 10)
    small = _poisson_by_products(key, np.where(is_small, lam, np.float32(0)))
    large = _poisson_by_rejection(key, np.where(is_small, np.float32(1e5), lam))
    found = np.where(is_small, small, large)
    return np.where(lam == 0, np.float32(0), found).astype(dtype)


def _poisson_by_products(key, lam):
    """How many uniform numbers have a product above ``exp(-lam)``, by Knuth; counts of up to 2**24 are exact
    in these floats."""
    zero = np.zeros_like(lam)

    def draw(state):
        count, key, logarithm = state
        next_key, u_key = split(key)
        count = np.where(logarithm > -lam, count + 1, count)
        return count, next_key, logarithm + np.log(uniform(u_key, tuple(lam.shape), np.float32))

    return while_loop(lambda state: np.any(state[2] > -lam), draw, (zero, key, zero))[0] - 1


def _poisson_by_rejection(key, lam):
    """Hörmann's transformed rejection, for means from 10 on."""
    b = 0.931 + 2.53 * np.sqrt(lam)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    limit = 0.9277 - 3.6224 / (b - 2)

    def draw(state):
        found, is_accepted, key = state
        next_key, u_key, v_key = split(key, 3)
        u = uniform(u_key, tuple(lam.shape), np.float32) - 0.5
        v = uniform(v_key, tuple(lam.shape), np.float32)
        shifted = 0.5 - np.abs(u)
        k = np.floor((2 * a / shifted + b) * u + lam + 0.43)
        left = np.log(v * inverse_alpha / (a / (shifted * shifted) + b))
        right = -lam + k * np.log(lam) - _functions.apply("lgamma", (k + 1,))
        is_rejected = (k < 0) | ((shifted < 0.013) & (v > shifted))
        accepts = ((shifted >= 0.07) & (v <= limit)) | (~is_rejected & (left <= right))
        return np.where(accepts, k, found), is_accepted | accepts, next_key

    state = -np.ones_like(lam), np.zeros_like(lam, np.bool_), key
    return while_loop(lambda state: np.any(~state[1]), draw, state)[0]
