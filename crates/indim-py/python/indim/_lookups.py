"""Elements of a known array at traced positions: times, texts and others that are no numbers.

The program computes the positions. Each call then takes the elements of its results from the table.
"""

from __future__ import annotations

import numpy as np

from ._foreign import package_of
from ._tracing import Tracer


def looked_up(table, positions):
    """``table[positions]``, for a known table and traced positions. Numbers give a traced value."""
    table = np.asarray(table)
    if table.dtype.kind in "biufc":
        return positions._recording.tracer(table, "coordinates")[positions]
    return Lookup(table, positions)


def all_of(array, recording):
    """A known array of any rank, as a traced value or a lookup."""
    positions = recording.tracer(np.arange(array.size).reshape(array.shape), "positions")
    return looked_up(array.ravel(), positions)


def elements(table, positions):
    """The elements of a table at the positions that a program has computed, maybe in chunks."""
    package = package_of(positions)
    if package == "dask":
        return positions.map_blocks(lambda block: table[block], dtype=table.dtype)
    if package == "cubed":
        import cubed

        return cubed.map_blocks(lambda block: table[block], positions, dtype=table.dtype)
    return table[positions]


class Lookup(np.lib.mixins.NDArrayOperatorsMixin):
    """``table[positions]``, for a table of one axis whose elements are no numbers, and traced positions."""

    __slots__ = ("positions", "table")

    #: NumPy's functions of traced values and lookups are this class's.
    _takes_traced_values = True

    def __init__(self, table, positions):
        self.table, self.positions = table, positions

    @property
    def dtype(self):
        return self.table.dtype

    @property
    def shape(self):
        return tuple(self.positions._used_shape())

    @property
    def ndim(self):
        return self.positions.ndim

    @property
    def size(self):
        return int(np.prod(self.shape))

    def __len__(self):
        return len(self.positions)

    def __getitem__(self, key):
        return Lookup(self.table, self.positions[key])

    @property
    def T(self):
        return Lookup(self.table, self.positions.T)

    def transpose(self, *axes):
        return Lookup(self.table, self.positions.transpose(*axes))

    def reshape(self, *shape):
        return Lookup(self.table, self.positions.reshape(*shape))

    def refuse(self):
        """Raises the error of a traced value whose elements are needed."""
        self.positions.__array__()

    def __array__(self, dtype=None, copy=None):
        self.refuse()

    def astype(self, dtype, copy=True):
        return looked_up(self.table.astype(dtype), self.positions)

    def copy(self, order="C"):
        return Lookup(self.table, self.positions)

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if method != "__call__" or kwargs or ufunc.nout != 1:
            return NotImplemented
        if any(value is not self and not self._is_scalar(value) for value in inputs):
            return NotImplemented
        # A function of the elements is the function of the table, looked up.
        scalars = [self.table if value is self else np.asarray(value).reshape(()) for value in inputs]
        return looked_up(ufunc(*scalars), self.positions)

    def _is_scalar(self, value):
        """Whether a known operand has one element, and no more axes than the result."""
        is_known = not isinstance(value, (Tracer, Lookup))
        return is_known and np.size(value) == 1 and np.ndim(value) <= self.ndim

    def __array_function__(self, function, types, args, kwargs):
        if function is np.where and len(args) == 3 and not kwargs:
            return _where(*args)
        if function is np.result_type:
            return function(*(value.dtype if isinstance(value, Lookup) else value for value in args))
        if function in (np.concatenate, np.stack):
            return _joined(function, *args, **kwargs)
        if function in _MOVES and args[0] is self:
            return Lookup(self.table, function(self.positions, *args[1:], **kwargs))
        return NotImplemented


#: Functions that move elements.
_MOVES = (np.transpose, np.reshape, np.moveaxis, np.swapaxes, np.broadcast_to, np.expand_dims, np.squeeze)


def _joined(function, arrays, *args, **kwargs):
    """A concatenation joins the tables too."""
    recording = next(value.positions._recording for value in arrays if isinstance(value, Lookup))
    tables, positions, start = [], [], 0
    for array in _lookups(arrays, recording):
        tables.append(array.table)
        positions.append(array.positions + start)
        start += len(array.table)
    return Lookup(np.concatenate(tables), function(positions, *args, **kwargs))


def _lookups(arrays, recording):
    """Arrays whose elements are no numbers, all as lookups."""
    found = [it if isinstance(it, Lookup) else all_of(np.asarray(it), recording) for it in arrays]
    if not all(isinstance(it, Lookup) for it in found):
        raise TypeError("times or texts and numbers have no common type")
    return found


def _where(condition, x, y):
    """A choice between the elements of two tables is one between positions in their concatenation."""
    recording = next(value.positions._recording for value in (x, y) if isinstance(value, Lookup))
    x, y = _lookups((x, y), recording)
    table = np.concatenate([x.table, y.table])
    return Lookup(table, np.where(condition, x.positions, y.positions + len(x.table)))
