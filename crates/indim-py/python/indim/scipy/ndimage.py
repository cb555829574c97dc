"""The name of ``jax.scipy.ndimage``: arrays at fractional places."""

from __future__ import annotations

import indim as _package  # Waits for a thread that imports the package.

import functools
import itertools
import operator

import numpy as np

from .._absent import absent
from .._functions import recorded

__all__ = ["map_coordinates"]


def _mirrored(place, size):
    """The place of a sequence that is mirrored at its first and last element."""
    period = 2 * (size - 1)
    return np.zeros_like(place) if size == 1 else size - 1 - np.abs(place % period - (size - 1))


#: From a place along an axis and its size: the place of the element that stands there, by mode.
_PLACES = {
    "constant": lambda place, size: np.clip(place, 0, size - 1),
    "mirror": _mirrored,
    "nearest": lambda place, size: np.clip(place, 0, size - 1),
    "reflect": lambda place, size: np.floor_divide(_mirrored(2 * place + 1, 2 * size + 1), 2),
    "wrap": lambda place, size: place % size,
}


def map_coordinates(input, coordinates, order, mode="constant", cval=0.0):
    """The elements of ``input`` at fractional places: the nearest ones for ``order=0``, or linear
    interpolations for ``order=1``.

    ``coordinates`` has an array for each axis. ``mode`` says what is outside: ``constant`` is ``cval``,
    ``nearest``, ``wrap``, ``mirror`` and ``reflect`` continue the array.

    >>> import indim, numpy as np
    >>> indim.scipy.ndimage.map_coordinates(np.array([0.0, 10.0]), [np.array([0.25, 1.0])], order=1)
    array([ 2.5, 10. ])
    """
    if order not in (0, 1):
        raise NotImplementedError(f"map_coordinates has the orders 0 and 1, not {order}")
    if mode not in _PLACES:
        raise NotImplementedError(f"map_coordinates has no mode {mode!r}: write one of {', '.join(_PLACES)}")
    input = recorded(input)
    coordinates = [recorded(of) for of in coordinates]
    if len(coordinates) != input.ndim:
        raise ValueError(f"map_coordinates takes {input.ndim} arrays of coordinates, not {len(coordinates)}")
    parts = [_neighbours(of, order) for of in coordinates]
    terms = [_term(input, neighbours, mode, cval) for neighbours in itertools.product(*parts)]
    found = functools.reduce(operator.add, terms)
    return (_rounded(found) if input.dtype.kind in "iu" else found).astype(input.dtype)


def _rounded(x):
    """The nearest whole numbers; halves are rounded away from 0, as in JAX."""
    return x if x.dtype.kind in "iu" else np.where(x < 0, -np.floor(0.5 - x), np.floor(x + 0.5))


def _neighbours(coordinate, order):
    """The places around a coordinate, each with its weight."""
    if order == 0 or coordinate.dtype.kind in "iu":
        return [(_rounded(coordinate).astype(np.int64), 1.0)]
    low = np.floor(coordinate)
    upper = coordinate - low
    return [(low.astype(np.int64), 1 - upper), (low.astype(np.int64) + 1, upper)]


def _term(input, neighbours, mode, cval):
    """The elements at one neighbour of each coordinate, times their weights."""
    places = tuple(_PLACES[mode](place, size) for (place, _), size in zip(neighbours, input.shape))
    found = input[places]
    if mode == "constant":
        inside = [(place >= 0) & (place < size) for (place, _), size in zip(neighbours, input.shape)]
        found = np.where(functools.reduce(operator.and_, inside), found, cval)
    return functools.reduce(operator.mul, (weight for _, weight in neighbours), found)


def __getattr__(name):
    raise absent(__name__, name)
