"""The names of ``jax.nn``: activations, softmax, one-hot vectors, attention; weights: `initializers.py`."""

from __future__ import annotations

import indim as _package  # Waits for a thread that imports the package.

import numpy as np

from .. import none
from .._attention import dot_product_attention
from .._functions import asarray
from .._scatters import one_hot

__all__ = [
    *("celu", "dot_product_attention", "elu", "gelu", "glu", "hard_sigmoid", "hard_silu", "hard_swish"),
    *("hard_tanh", "identity", "leaky_relu", "log1mexp", "log_sigmoid", "logmeanexp"),
    *("log_softmax", "logsumexp", "mish", "one_hot", "relu", "relu6", "selu", "sigmoid", "silu", "soft_sign"),
    *("softmax", "softplus", "sparse_plus", "sparse_sigmoid", "squareplus", "standardize", "swish", "tanh"),
]


def _floats(x):
    """``x`` as an array of floats or complex numbers: integers and truth values become ``float64``."""
    x = asarray(x)
    return x.astype(np.float64) if x.dtype.kind in "biu" else x


def _activation(name, own=None):
    operation = getattr(none, own or name)

    def activation(x):
        return operation(asarray(x) if name == "relu" else _floats(x))

    activation.__name__ = activation.__qualname__ = name
    activation.__doc__ = operation.__doc__
    return activation


mish, relu, selu, softplus, tanh = map(_activation, ("mish", "relu", "selu", "softplus", "tanh"))
sigmoid, soft_sign = _activation("sigmoid", "logistic"), _activation("soft_sign", "softsign")
silu, swish = _activation("silu"), _activation("swish", "silu")


def relu6(x):
    """``x`` limited to 0 and 6."""
    return np.minimum(relu(x), 6)


def leaky_relu(x, negative_slope=0.01):
    """``x`` if it is at least 0, else ``negative_slope * x``."""
    x = asarray(x)
    return np.where(x >= 0, x, negative_slope * x)


def elu(x, alpha=1.0):
    """``x`` if it is positive, else ``alpha * expm1(x)``."""
    return none.elu(_floats(x), alpha)


def celu(x, alpha=1.0):
    """``x`` if it is positive, else ``alpha * expm1(x / alpha)``."""
    x = asarray(x)
    # Above 0 the exponential is that of 0, which does not overflow.
    return np.where(x > 0, x, alpha * np.expm1(np.where(x > 0, 0, x) / alpha))


def gelu(x, approximate=True):
    """``x`` times the cumulative normal distribution, by default approximated by ``tanh``."""
    return (none.gelu_tanh if approximate else none.gelu)(_floats(x))


def glu(x, axis=-1):
    """The first half of ``x`` along an axis, times the sigmoid of the second."""
    first, second = np.split(asarray(x), 2, axis)
    return first * sigmoid(second)


def hard_tanh(x):
    """``x`` limited to -1 and 1."""
    return np.clip(asarray(x), -1, 1)


def hard_sigmoid(x):
    """``relu6(x + 3) / 6``."""
    return relu6(asarray(x) + 3) / 6


def hard_swish(x):
    """``x * hard_sigmoid(x)``."""
    return asarray(x) * hard_sigmoid(x)


def squareplus(x, b=4):
    """``(x + sqrt(x * x + b)) / 2``, a smooth ``relu``."""
    x = asarray(x)
    return (x + np.sqrt(np.square(x) + b)) / 2


def log_sigmoid(x):
    """The logarithm of ``sigmoid(x)``, without overflow."""
    return -softplus(-_floats(x))


def softmax(x, axis=-1, where=None):
    """``exp(x) / sum(exp(x))`` along an axis, without overflow."""
    return none.softmax(_floats(x), axis, where=where)


def log_softmax(x, axis=-1, where=None):
    """The logarithm of ``softmax(x)``, without cancellation."""
    return none.log_softmax(_floats(x), axis, where=where)


def hard_silu(x):
    """``x * hard_sigmoid(x)``."""
    return hard_swish(x)


def identity(x):
    """``x`` itself, as an array."""
    return asarray(x)


def logmeanexp(x, axis=None, where=None, keepdims=False):
    """The logarithm of the mean of ``exp(x)``, without overflow."""
    x = _floats(x)
    counted = np.broadcast_to(True if where is None else where, x.shape)
    count = np.sum(counted, axis=axis, keepdims=keepdims)
    return logsumexp(x, axis, keepdims=keepdims, where=where) - np.log(count.astype(x.dtype))


def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, where=None):
    """The logarithm of the sum of ``exp(a)``, without overflow; with ``b``, that of ``b * exp(a)``.

    With ``return_sign`` the logarithm is that of the absolute value of the sum, and its sign follows.
    """
    if b is not None or return_sign:
        return _weighted_logsumexp(_floats(a), axis, b, keepdims, return_sign, where)
    return none.logsumexp(_floats(a), axis, keepdims=keepdims, where=where)


def _weighted_logsumexp(a, axis, b, keepdims, return_sign, where):
    where = {} if where is None else {"where": where, "initial": 0}
    weights = np.ones_like(a) if b is None else asarray(b)
    a = np.where(weights == 0, np.full((), -np.inf, a.dtype), a)
    greatest = np.max(a, axis=axis, keepdims=True)
    # Differences of infinities are NaN.
    greatest = np.where(np.isfinite(greatest), greatest, np.zeros((), a.dtype))
    total = np.sum(weights * np.exp(a - greatest), axis=axis, keepdims=True, **where)
    result = np.log(np.abs(total) if return_sign else total) + greatest
    sign = np.sign(total)
    if not keepdims:
        axes = tuple(range(a.ndim)) if axis is None else axis
        result, sign = np.squeeze(result, axes), np.squeeze(sign, axes)
    return (result, sign) if return_sign else result


def standardize(x, axis=-1, mean=None, variance=None, epsilon=1e-5, where=None):
    """``x`` less its mean, divided by its standard deviation."""
    x = asarray(x)
    where = {} if where is None else {"where": where}
    mean = np.mean(x, axis, keepdims=True, **where) if mean is None else mean
    if variance is None:
        variance = np.mean(np.square(x), axis, keepdims=True, **where) - np.square(mean)
    return (x - mean) / np.sqrt(variance + epsilon)


def sparse_plus(x):
    """0 up to -1, ``x`` from 1 on, and ``(x + 1)**2 / 4`` between."""
    x = asarray(x)
    return np.where(x <= -1, np.zeros((), x.dtype), np.where(x >= 1, x, np.square(x + 1) / 4))


def sparse_sigmoid(x):
    """``(x + 1) / 2`` limited to 0 and 1."""
    return 0.5 * np.clip(asarray(x) + 1.0, 0.0, 2.0)


def log1mexp(x):
    """The logarithm of ``1 - exp(-x)``, without cancellation."""
    x = _floats(x)
    is_small = x < np.log(2.0)
    one = np.ones((), x.dtype)
    # The branch that is not chosen gets arguments in its range, so that derivatives are finite.
    small = none.log(-np.expm1(-np.where(is_small, x, one)))
    return np.where(is_small, small, np.log1p(-np.exp(-np.where(is_small, one, x))))


#: Functions of ``jax.nn`` that indim does not have, with advice.
_REFUSED = {
    "get_scaled_dot_general_config": "it belongs to products in 8 bits",
    "scaled_dot_general": "it multiplies in formats of 8 bits: write indim.lax.dot_general",
    "scaled_matmul": "it multiplies in formats of 8 bits: write `(a * a_scale) @ (b * b_scale)`",
}


def __getattr__(name):
    if name == "initializers":
        # It is imported late, because it imports `random`.
        import importlib

        return importlib.import_module(f"{__name__}.initializers")
    if name in _REFUSED:
        raise AttributeError(f"indim.nn has no {name!r}: {_REFUSED[name]}")
    raise AttributeError(f"indim.nn has no {name!r}; docs/python.md lists the functions that it has")
