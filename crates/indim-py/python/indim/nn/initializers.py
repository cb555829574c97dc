"""The names of ``jax.nn.initializers``: functions of a key, a shape and an element type that make weights."""

from __future__ import annotations

import indim as _package  # Waits for a thread that imports the package.

import math

import numpy as np

from .. import _jax_numpy, random

__all__ = [
    *("constant", "delta_orthogonal", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform"),
    *("kaiming_normal", "kaiming_uniform", "lecun_normal", "lecun_uniform", "normal", "ones", "orthogonal"),
    *("truncated_normal", "uniform", "variance_scaling", "xavier_normal", "xavier_uniform", "zeros"),
]


def _type(dtype):
    return np.dtype(np.float32 if dtype is None else dtype)


def zeros(key, shape, dtype=None):
    """An array of zeros."""
    return _jax_numpy.full(shape, 0, _type(dtype))


def ones(key, shape, dtype=None):
    """An array of ones."""
    return _jax_numpy.full(shape, 1, _type(dtype))


def constant(value, dtype=None):
    """The initialiser that makes arrays of one value."""
    default = dtype

    def init(key, shape, dtype=default):
        return _jax_numpy.full(shape, value, _type(dtype))

    return init


def _scaled(draw, scale, default):
    """The initialiser of random numbers times ``scale``."""

    def init(key, shape, dtype=default):
        dtype = _type(dtype)
        return draw(key, shape, dtype) * np.asarray(scale, dtype)

    return init


def uniform(scale=1e-2, dtype=None):
    """The initialiser of uniform numbers from 0 to below ``scale``."""
    return _scaled(random.uniform, scale, dtype)


def normal(stddev=1e-2, dtype=None):
    """The initialiser of normal numbers with this standard deviation."""
    return _scaled(random.normal, stddev, dtype)


def truncated_normal(stddev=1e-2, dtype=None, lower=-2.0, upper=2.0):
    """The initialiser of normal numbers between two bounds, times ``stddev``."""

    def draw(key, shape, dtype):
        return random.truncated_normal(key, lower, upper, shape, dtype)

    return _scaled(draw, stddev, dtype)


def _fans(shape, in_axis, out_axis, batch_axis):
    """The numbers of weights that an output sums, and that an input goes to."""
    if in_axis == -2 and len(shape) <= 1:
        raise ValueError(f"weights of shape {tuple(shape)} have no input axis -2: name it by `in_axis`")
    ins, outs, batches = (
        math.prod(shape[at] for at in ((axis,) if isinstance(axis, int) else axis))
        for axis in (in_axis, out_axis, batch_axis)
    )
    field = math.prod(shape) / ins / outs / batches
    return ins * field, outs * field


#: The standard deviation of the normal distribution between -2 and 2.
_TRUNCATED_DEVIATION = 0.87962566103423978

_DENOMINATORS = {
    "fan_in": lambda ins, outs: ins,
    "fan_out": lambda ins, outs: outs,
    "fan_avg": lambda ins, outs: (ins + outs) / 2,
    "fan_geo_avg": lambda ins, outs: (ins * outs) ** 0.5,
}


def variance_scaling(scale, mode, distribution, in_axis=-2, out_axis=-1, batch_axis=(), dtype=None):
    """The initialiser of numbers whose variance is ``scale`` divided by the number that ``mode`` names:
    ``fan_in``, ``fan_out``, ``fan_avg`` or ``fan_geo_avg``. ``distribution`` is ``truncated_normal``,
    ``normal`` or ``uniform``.
    """
    if mode not in _DENOMINATORS:
        raise ValueError(f"the mode is one of {', '.join(_DENOMINATORS)}, not {mode!r}")
    if distribution not in ("truncated_normal", "normal", "uniform"):
        raise ValueError(f"the distribution is truncated_normal, normal or uniform, not {distribution!r}")
    default = dtype

    def init(key, shape, dtype=default):
        dtype = _type(dtype)
        denominator = _DENOMINATORS[mode](*_fans(shape, in_axis, out_axis, batch_axis))
        variance = np.asarray(scale / denominator, dtype)
        if distribution == "truncated_normal":
            deviation = np.sqrt(variance) / np.asarray(_TRUNCATED_DEVIATION, dtype)
            return random.truncated_normal(key, -2, 2, shape, dtype) * deviation
        if distribution == "normal":
            return random.normal(key, shape, dtype) * np.sqrt(variance)
        return random.uniform(key, shape, dtype, -1) * np.sqrt(np.asarray(3, dtype) * variance)

    return init


def _scaling(name, scale, mode, distribution):
    def make(in_axis=-2, out_axis=-1, batch_axis=(), dtype=None):
        return variance_scaling(scale, mode, distribution, in_axis, out_axis, batch_axis, dtype)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"``variance_scaling({scale}, {mode!r}, {distribution!r})``."
    return make


glorot_uniform = _scaling("glorot_uniform", 1.0, "fan_avg", "uniform")
glorot_normal = _scaling("glorot_normal", 1.0, "fan_avg", "truncated_normal")
lecun_uniform = _scaling("lecun_uniform", 1.0, "fan_in", "uniform")
lecun_normal = _scaling("lecun_normal", 1.0, "fan_in", "truncated_normal")
he_uniform = _scaling("he_uniform", 2.0, "fan_in", "uniform")
he_normal = _scaling("he_normal", 2.0, "fan_in", "truncated_normal")
xavier_uniform, xavier_normal = glorot_uniform, glorot_normal
kaiming_uniform, kaiming_normal = he_uniform, he_normal


def orthogonal(scale=1.0, column_axis=-1, dtype=None):
    """Refused: an orthogonal matrix is a factor of a random one."""
    _refuse_factor("orthogonal")


def delta_orthogonal(scale=1.0, column_axis=-1, dtype=None):
    """Refused: an orthogonal matrix is a factor of a random one."""
    _refuse_factor("delta_orthogonal")


def _refuse_factor(name):
    where = ", and put it into the middle of zeros" if name == "delta_orthogonal" else ""
    raise NotImplementedError(
        f"initializers.{name} factorises a matrix, which indim does not do: write "
        f"scale * np.linalg.qr(indim.random.normal(key, (n, n)))[0]{where}"
    )
