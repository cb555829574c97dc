"""Names of ``jax`` that need little here: functions for devices and memory, ``checkpoint``, ``linearize``."""

from __future__ import annotations

from ._functions import asarray
from ._gradients import jvp
from ._jax_numpy import ndarray as Array
from ._tracing import Tracer
from ._trees import mapped

__all__ = ["Array", "block_until_ready", "checkpoint", "device_get", "device_put", "linearize", "remat"]


def checkpoint(fun, *, prevent_cse=True, policy=None, static_argnums=()):
    """``fun`` itself: JAX's hint, which values a gradient keeps, has no effect here.

    >>> import indim
    >>> indim.checkpoint(len) is len
    True
    """
    return fun


remat = checkpoint


def linearize(fun, *primals):
    """The result of ``fun``, and the function of tangents that gives the tangents of the result.

    >>> import indim, numpy as np
    >>> value, tangent = indim.linearize(lambda x: x**2, np.array([1.0, 3.0]))
    >>> tangent(np.array([1.0, 1.0]))
    array([2., 6.])
    """

    def tangent_map(*tangents):
        return jvp(fun, primals, tangents)[1]

    return fun(*primals), tangent_map


def block_until_ready(x):
    """``x`` itself: results are complete when a call returns."""
    return x


def device_get(x):
    """``x`` itself: arrays are in the memory of the host."""
    return x


def device_put(x, device=None, *, donate=False):
    """The tree ``x`` with arrays as its leaves, in the memory of the host. Other devices do not exist."""
    if device is not None and "cpu" not in str(device).lower():
        raise ValueError(f"device_put: arrays of indim are in the memory of the host, not on {device!r}")
    return mapped(x, lambda leaf: leaf if isinstance(leaf, Tracer) else asarray(leaf))
