"""The elements of outside arrays that NumPy or Python may read while a function is traced.

``x * w.sum()`` has a number of NumPy in its program. So the trace is valid while the elements of ``w`` are
those of the trace, and each call compares them with a copy. An array that the program itself reads at each
call is not compared, since it may be written between any two calls, as weights in training are.
"""

from __future__ import annotations

import numpy as np

#: Maximum bytes of an array whose elements are compared: a comparison takes less than a microsecond.
MAX_BYTES = 16 << 10

#: Maximum bytes of all arrays of a trace that are compared.
MAX_TOTAL_BYTES = 128 << 10


def has_contents(array, copy):
    """Whether an array has the element type, the sizes and the bytes of a copy."""
    if array.dtype != copy.dtype or array.shape != copy.shape:
        return False
    return np.array_equal(bytes_of(array), bytes_of(copy))


def bytes_of(array):
    """The elements in row-major order as bytes: a NaN equals itself, and -0.0 differs from 0.0."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


class ArrayUses:
    """The outside arrays that the program of a traced function takes as inputs, with those that share their
    memory."""

    def __init__(self):
        #: The arrays that own the memory, by their identity.
        self._owners = {}

    def note(self, value):
        """Notes that the program reads the elements of ``value``."""
        if isinstance(value, np.ndarray):
            owner = _owner(value)
            self._owners[id(owner)] = owner

    def __contains__(self, array):
        return id(_owner(array)) in self._owners


def _owner(array):
    """The array that owns the memory of ``array``."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


class Contents:
    """Copies of the small arrays that a function can reach, before it is traced."""

    def __init__(self, walk):
        self._copies, total = [], 0
        for value in walk.visited.values():
            if isinstance(value, np.ndarray) and not value.dtype.hasobject and value.nbytes <= MAX_BYTES:
                total += value.nbytes
                if total <= MAX_TOTAL_BYTES:
                    self._copies.append((value, np.array(value, order="C", subok=False)))

    def captures(self, uses):
        """The captures of the arrays whose elements NumPy or Python may have read. Arrays that the function
        itself has changed are left out."""
        return [
            ("contents", array, None, copy)
            for array, copy in self._copies
            if array not in uses and has_contents(array, copy)
        ]
