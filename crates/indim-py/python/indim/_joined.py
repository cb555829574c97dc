"""NumPy's ``r_`` and ``c_``: arrays that are joined by an index."""

from __future__ import annotations

import functools

import numpy as np

from ._functions import asarray
from ._operands import has_tracer


@functools.wraps(np.bmat)
def bmat(obj, ldict=None, gdict=None):
    if isinstance(obj, str) or has_tracer(obj):
        raise TypeError(
            "np.bmat makes an np.matrix, which no compiled function has: write np.block([[a, b], [c, d]])"
        )
    return np.bmat(obj, ldict, gdict)


class Joined:
    """``np.r_`` and ``np.c_`` of arrays and traced values."""

    def __init__(self, original):
        self._original = original

    def __getitem__(self, key):
        keys = key if isinstance(key, tuple) else (key,)
        if not has_tracer(keys):
            return self._original[key]
        # NumPy makes arrays of slices, such as `0:5`.
        parts = [np.r_[item] if isinstance(item, slice) else item for item in keys]
        if any(isinstance(part, str) for part in parts):
            raise TypeError("np.r_ and np.c_ with traced values take no texts: write np.concatenate")
        parts = [np.atleast_1d(part) for part in _with_numbers_of_type(parts)]
        if self._original is np.r_:
            return np.concatenate(parts)
        return np.concatenate([part[:, None] if part.ndim == 1 else part for part in parts], axis=-1)


def _with_numbers_of_type(parts):
    """The parts, whose Python numbers take the element type of the arrays, as in NumPy."""
    numbers = [part for part in parts if isinstance(part, (bool, int, float, complex))]
    types = [asarray(part).dtype for part in parts if not isinstance(part, (bool, int, float, complex))]
    if not numbers:
        return parts
    dtype = np.result_type(*types, *numbers)
    return [
        np.asarray(part, dtype) if isinstance(part, (bool, int, float, complex)) else part for part in parts
    ]
