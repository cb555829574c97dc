"""The elements of captured arrays at the moment when the program took them.

A program reads a captured array at each call. If NumPy writes into the array later in the trace, as in
``z = x * y; y[0] = 5``, the program needs the elements from before, so it gets a copy.
"""

from __future__ import annotations

import zlib

import numpy as np

from ._contents import bytes_of, has_contents

#: Maximum bytes of the copies of a trace. Other arrays have checksums, and a later write into one is an
#: error.
MAX_COPIED_BYTES = 64 << 20


class Snapshots:
    """The captured arrays of a trace."""

    def __init__(self):
        #: The name in messages, the array and its snapshot.
        self._taken = []
        #: The last snapshot of each array, by the identity of the array.
        self._last = {}
        self._copied_bytes = 0

    def take(self, position, name, array):
        """Notes that the program takes the present elements of ``array``."""
        if not isinstance(array, np.ndarray) or array.dtype.hasobject or _is_of_file(array):
            return
        snapshot = self._last.get(id(array))
        # A comparison reads the array once, as each call does for this use.
        if snapshot is None or not snapshot.is_of(array):
            snapshot = self._last[id(array)] = self._snapshot(array)
        snapshot.positions.append(position)
        if len(snapshot.positions) == 1:
            self._taken.append((name, array, snapshot))

    def _snapshot(self, array):
        if self._copied_bytes + array.nbytes > MAX_COPIED_BYTES:
            return _Checksum(array)
        self._copied_bytes += array.nbytes
        return _Copy(array)

    def replace_written(self, recorder, function, outside):
        """Gives the program copies of the arrays that NumPy has written into since. ``outside`` has the
        identities of what the function can reach from outside."""
        for name, array, snapshot in self._taken:
            if snapshot.is_of(array):
                continue
            if any(id(owner) in outside for owner in _owners(array)):
                raise ValueError(
                    f"`{name}`, an array from outside {function}, is written after the function has used it. "
                    "The compiled function would write it once, when it is traced, and not in each call: "
                    f"write into a copy, as in {name}.copy(), or pass the array as an argument and return "
                    "the new one"
                )
            if snapshot.copy is None:
                raise ValueError(
                    f"`{name}` is written after {function} has used it, and is too large for a copy of its "
                    f"elements at each use: write into a copy, as in {name}.copy()"
                )
            for position in snapshot.positions:
                recorder.replace_capture(position, snapshot.copy)


def _owners(array):
    """The array, and those that it is a view of."""
    while array is not None:
        yield array
        array = getattr(array, "base", None)


def _is_of_file(array):
    """Whether the elements are read from a file when they are used."""
    return any(isinstance(owner, np.memmap) for owner in _owners(array))


class _Copy:
    """A copy of the elements of an array."""

    def __init__(self, array):
        self.copy = np.array(array, subok=False)
        #: The operands of the program that have these elements.
        self.positions = []

    def is_of(self, array):
        """Whether the array still has these elements."""
        return has_contents(array, self.copy)


class _Checksum:
    """A checksum of the elements of an array."""

    copy = None

    def __init__(self, array):
        self._known = self._of(array)
        self.positions = []

    def is_of(self, array):
        """Whether the array still has these elements, as far as the checksum tells."""
        return self._of(array) == self._known

    @staticmethod
    def _of(array):
        return array.dtype, array.shape, zlib.adler32(bytes_of(array))
