"""The names of ``jax.nn``: activations, softmax, one-hot vectors."""

from __future__ import annotations

import numpy as np

from . import none
from ._functions import asarray
from ._scatters import one_hot

__all__ = [
    *("celu", "elu", "gelu", "glu", "hard_sigmoid", "hard_swish", "hard_tanh", "leaky_relu", "log_sigmoid"),
    *("log_softmax", "logsumexp", "mish", "one_hot", "relu", "relu6", "selu", "sigmoid", "silu", "soft_sign"),
    *("softmax", "softplus", "squareplus", "standardize", "swish", "tanh"),
]


def _activation(name, own=None):
    operation = getattr(none, own or name)

    def activation(x):
        return operation(asarray(x))

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
    return none.elu(asarray(x), alpha)


def celu(x, alpha=1.0):
    """``x`` if it is positive, else ``alpha * expm1(x / alpha)``."""
    x = asarray(x)
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) / alpha))


def gelu(x, approximate=True):
    """``x`` times the cumulative normal distribution, by default approximated by ``tanh``."""
    return (none.gelu_tanh if approximate else none.gelu)(asarray(x))


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
    return -softplus(-asarray(x))


def softmax(x, axis=-1, where=None):
    """``exp(x) / sum(exp(x))`` along an axis, without overflow."""
    return none.softmax(asarray(x), axis, where=where)


def log_softmax(x, axis=-1, where=None):
    """The logarithm of ``softmax(x)``, without cancellation."""
    return none.log_softmax(asarray(x), axis, where=where)


def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, where=None):
    """The logarithm of the sum of ``exp(a)``, without overflow."""
    if b is not None or return_sign:
        raise TypeError("indim.nn.logsumexp has no `b` and no `return_sign`: add np.log(b) to `a`")
    return none.logsumexp(asarray(a), axis, keepdims=keepdims, where=where)


def standardize(x, axis=-1, mean=None, variance=None, epsilon=1e-5, where=None):
    """``x`` less its mean, divided by its standard deviation."""
    x = asarray(x)
    where = {} if where is None else {"where": where}
    mean = np.mean(x, axis, keepdims=True, **where) if mean is None else mean
    if variance is None:
        variance = np.mean(np.square(x), axis, keepdims=True, **where) - np.square(mean)
    return (x - mean) / np.sqrt(variance + epsilon)
