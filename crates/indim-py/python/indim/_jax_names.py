"""Names of ``jax`` that need little here: devices and memory, types of results, ``linearize``."""

from __future__ import annotations

import functools
import math
import operator

import numpy as np

from ._arrays import indim_name, numpy_dtype
from ._functions import asarray
from ._gradients import jvp
from ._jax_numpy import ndarray as Array
from ._jit import jit
from ._tracing import Tracer
from ._trees import mapped

__all__ = [
    *("Array", "ShapeDtypeStruct", "block_until_ready", "checkpoint", "default_backend", "device_count"),
    *("device_get", "device_put", "devices", "eval_shape", "linearize", "local_device_count"),
    *("local_devices", "make_jaxpr", "named_call", "remat", "typeof"),
]


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


class ShapeDtypeStruct:
    """The shape and element type of an array."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape, dtype):
        self.shape, self.dtype = tuple(map(operator.index, shape)), numpy_dtype(indim_name(dtype))

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return math.prod(self.shape)

    def __eq__(self, other):
        same = isinstance(other, ShapeDtypeStruct)
        return same and (self.shape, self.dtype) == (other.shape, other.dtype)

    def __hash__(self):
        return hash((self.shape, self.dtype))

    def __repr__(self):
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype})"


def typeof(x):
    """The shape and element type of an array or a number."""
    x = x if isinstance(x, (Tracer, ShapeDtypeStruct)) else np.asarray(x)
    shape = x._used_shape() if isinstance(x, Tracer) else x.shape
    return ShapeDtypeStruct(shape, x.dtype)


def eval_shape(fun, *args, **kwargs):
    """The shapes and element types of the results of ``fun``, which is traced but does not run.

    An argument may be a ``ShapeDtypeStruct`` instead of an array.

    >>> import indim, numpy as np
    >>> indim.eval_shape(lambda x: x @ x.T, indim.ShapeDtypeStruct((3, 4), np.float32))
    ShapeDtypeStruct(shape=(3, 3), dtype=float32)
    """
    found = []

    @functools.wraps(fun)
    def traced(*args, **kwargs):
        found.append(mapped(fun(*args, **kwargs), typeof))
        return 0.0

    # A signature of its own would bind names to positions.
    del traced.__wrapped__
    jit(traced).explain(*mapped(args, _without_elements), **mapped(kwargs, _without_elements))
    return found[-1]


def _without_elements(leaf):
    """An array of this type whose elements take no memory; other leaves unchanged."""
    if not isinstance(leaf, (Tracer, ShapeDtypeStruct)):
        return leaf
    kind = typeof(leaf)
    return np.broadcast_to(np.zeros((), kind.dtype), kind.shape)


def make_jaxpr(fun, static_argnums=()):
    """The function that gives the program of ``fun`` for its arguments, as ``explain`` shows it."""
    return jit(fun, static_argnums=static_argnums).explain


def named_call(fun, *, name=None):
    """``fun`` itself: JAX's name for profiles has no effect here."""
    return fun


class Device:
    """The processor."""

    platform, device_kind, id = "cpu", "cpu", 0

    def __repr__(self):
        return "CpuDevice(id=0)"


_DEVICE = Device()


def devices(backend=None):
    """The processor, the only device."""
    _check_backend(backend)
    return [_DEVICE]


def device_count(backend=None):
    """The number of devices: 1."""
    return len(devices(backend))


local_devices, local_device_count = devices, device_count


def default_backend():
    """The platform of the only device."""
    return "cpu"


def _check_backend(backend):
    if backend not in (None, "cpu"):
        raise RuntimeError(f"unknown backend {backend!r}: indim computes on 'cpu'")


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
