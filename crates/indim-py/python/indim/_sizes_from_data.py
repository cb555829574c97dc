"""Functions whose results have as many elements as the data asks for: ``nonzero``, ``compress``, ``unique``.

On arrays they are NumPy's. A traced function has no sizes that depend on data, so there the caller gives
``size=``, as in JAX: further elements are left out, and missing ones are filled.
"""

from __future__ import annotations

import operator

import numpy as np

from ._scatters import scatter
from ._tracing import Tracer, has_tracer
from ._view_functions import _array


def nonzero(x, *, size=None, fill_value=0):
    """The positions of the elements that are not zero: an array for each axis.

    In traced functions ``size`` is the number of positions: further ones are left out, and missing ones are
    ``fill_value``, one number or one for each axis.

    >>> import indim, numpy as np
    >>> indim.jit(lambda x: indim.nonzero(x > 1, size=3))(np.array([0, 5, 1, 7]))
    (array([1, 3, 0]),)
    """
    x = _array(x, "x")
    if x.ndim == 0:
        raise ValueError("nonzero takes an array with axes; write indim.nonzero(x.reshape(1))")
    if size is None:
        return np.nonzero(_known("nonzero", x))
    fills = fill_value if isinstance(fill_value, tuple) else (fill_value,) * x.ndim
    if len(fills) != x.ndim:
        raise ValueError(f"fill_value has {len(fills)} numbers, and x has {x.ndim} axes")
    places = _Places(x.reshape(-1) != 0, size)
    shape = x.shape if x.ndim > 1 else (0,)
    steps = [int(np.prod(shape[axis + 1 :], dtype=np.int64)) for axis in range(x.ndim)]
    along = (places.positions // step for step in steps)
    sizes = [None, *shape[1:]]
    within = (index if size is None else index % size for index, size in zip(along, sizes))
    return tuple(places.collect(index, np.int64(fill)) for index, fill in zip(within, fills))


def flatnonzero(x, *, size=None, fill_value=0):
    """The positions in ``x.ravel()`` of the elements that are not zero; ``size`` is that of ``nonzero``."""
    x = _array(x, "x")
    return nonzero(x.reshape(-1), size=size, fill_value=fill_value)[0]


def argwhere(x, *, size=None, fill_value=0):
    """The positions of the elements that are not zero, a row for each; ``size`` is that of ``nonzero``."""
    return np.stack(nonzero(x, size=size, fill_value=fill_value), axis=-1)


def compress(condition, x, axis=None, *, size=None, fill_value=0):
    """The slices of ``x`` along an axis for which ``condition`` is true; without an axis, of ``x.ravel()``.

    A condition that is shorter than the axis is false beyond its end. In traced functions ``size`` is the
    number of slices: further ones are left out, and missing ones are ``fill_value``.

    >>> import indim, numpy as np
    >>> positive = indim.jit(lambda x: indim.compress(x > 0, x, size=3))
    >>> positive(np.array([3.0, -1.0, 2.0, -4.0]))
    array([3., 2., 0.])
    """
    condition, x = _array(condition, "condition"), _array(x, "x")
    if condition.ndim != 1:
        raise ValueError(f"the condition of compress has one axis, not {condition.ndim}")
    if size is None:
        return np.compress(_known("compress", condition), _known("compress", x), axis)
    x = x.reshape(-1) if axis is None else np.moveaxis(x, axis, 0)
    count, length = _shape(condition)[0], _shape(x)[0]
    if count > length:
        raise ValueError(f"the condition has {count} elements, and the axis of x has {length}")
    if count < length:
        x = x[: condition.shape[0]]
    result = _Places(condition != 0, size).collect(x, x.dtype.type(fill_value))
    return result if axis is None else np.moveaxis(result, 0, axis)


def extract(condition, x, *, size=None, fill_value=0):
    """The elements of ``x`` for which ``condition`` is true, as ``x[condition]``, in row-major order.

    ``size`` and ``fill_value`` are those of ``compress``.
    """
    condition, x = _array(condition, "condition"), _array(x, "x")
    if _shape(condition) != _shape(x):
        raise ValueError(f"the condition has the shape {_shape(condition)}, and x the shape {_shape(x)}")
    return compress(condition.reshape(-1), x, size=size, fill_value=fill_value)


def unique(
    x,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    *,
    equal_nan=True,
    size=None,
    fill_value=None,
):
    """The different elements of ``x``, in ascending order, and on request where and how often they occur.

    In traced functions ``size`` is their number: further ones are left out, and missing ones are
    ``fill_value``, without which they repeat the least element. Their index is that of the least element, and
    their count is 0. The inverse counts all different elements.

    >>> import indim, numpy as np
    >>> indim.jit(lambda x: indim.unique(x, size=3, fill_value=-1))(np.array([5, 2, 5]))
    array([ 2,  5, -1])
    """
    x = _array(x, "x")
    if size is None:
        returned = (return_index, return_inverse, return_counts)
        return np.unique(_known("unique", x), *returned, equal_nan=equal_nan)
    if 0 in _shape(x):
        raise ValueError("an empty array has no element to repeat: write np.full(size, fill_value)")
    order = np.argsort(x.reshape(-1), kind="stable")
    elements = x.reshape(-1)[order]
    places = _Places(_differs_from_previous(elements, equal_nan), size)
    least = elements[0] if fill_value is None else elements.dtype.type(fill_value)
    results = [places.collect(elements, least)]
    if return_index:
        results.append(places.collect(order, order[0]))
    if return_inverse:
        inverse = scatter("scatter_set", np.zeros_like(order), order, places.ranks)
        results.append(inverse.reshape(x.shape))
    if return_counts:
        one = np.int64(1)
        results.append(scatter("scatter_add", np.zeros(places.size, np.int64), places.ranks, one, "drop"))
    return tuple(results) if len(results) > 1 else results[0]


def _differs_from_previous(elements, equal_nan):
    """Whether each element of a sorted array differs from the one before it; true for the first."""
    after, before = elements[1:], elements[:-1]
    differs = after != before
    if equal_nan and elements.dtype.kind in "fc":
        differs = differs & ~(np.isnan(after) & np.isnan(before))
    return np.concatenate([np.ones(1, np.bool_), differs])


class _Places:
    """The places, in a result of ``size`` elements, of the elements for which ``mask`` is true."""

    def __init__(self, mask, size):
        self.size = operator.index(size)
        if self.size < 0:
            raise ValueError(f"size is {self.size}, and must not be negative")
        self._mask = mask
        #: For each element the number of true elements up to it, less one.
        self.ranks = np.cumsum(mask, dtype=np.int64) - 1

    @property
    def positions(self):
        """The numbers 0, 1, 2, ... along the mask."""
        return np.cumsum(np.ones_like(self._mask), dtype=np.int64) - 1

    def collect(self, values, fill):
        """The values of the true elements, in order, and then ``fill``."""
        # A read of the shape ties the traced function to it.
        row = values.shape[1:] if values.ndim > 1 else ()
        start = np.broadcast_to(fill, (self.size, *row))
        # A place beyond the end is dropped.
        places = np.where(self._mask, self.ranks, self.size)
        return scatter("scatter_set", start, places, values, "drop")


def _shape(x):
    """The shape of an array, which a message names; a traced function stays valid for other sizes."""
    return x._shape if isinstance(x, Tracer) else x.shape


def _known(name, x):
    """The array ``x``, unless it is traced."""
    if isinstance(x, Tracer):
        raise TypeError(
            f"the size of {name} depends on data while a function is traced: write "
            f"indim.{name}(..., size=k) for at most k elements"
        )
    return x


#: Functions that take JAX's `size`.
FUNCTIONS = (argwhere, compress, extract, flatnonzero, nonzero, unique)
