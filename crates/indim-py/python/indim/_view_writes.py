"""Writes into views: the elements of the array that a view is made of, after a write into the view.

NumPy's views share memory with their array. Here a view knows the function that made it, and a write into the
view makes the array anew, by the inverse of that function.
"""

from __future__ import annotations

import numpy as np


def base_after_write(base, made_by, values):
    """``base`` after its view, made by ``(function, attributes, rule)``, has got ``values``; None if the
    inverse of the function is not known."""
    function, attributes, rule = made_by
    if callable(function):
        # A function of this package has its inverse in place of attributes.
        return attributes(base, values) if callable(attributes) else None
    inverse = _INVERSES.get(function)
    return None if inverse is None else inverse(base, attributes, rule, values)


def _of_index(array, attributes, rule, values):
    from ._assignments import updated

    ((_, items),) = attributes
    return updated(array, tuple(slice(*item) if isinstance(item, tuple) else item for item in items), values)


def _of_reshape(array, attributes, rule, values):
    return values.reshape(array._used_shape())


def _of_transpose(array, attributes, rule, values):
    axes = attributes[0][1] if attributes else range(array.ndim)[::-1]
    return values.transpose([int(axis) for axis in np.argsort([axis % array.ndim for axis in axes])])


def _of_flip(array, attributes, rule, values):
    return values._call("flip", attributes, rule)


def _of_real(array, attributes, rule, values):
    if array.dtype.kind != "c":
        return values
    from . import _functions

    return _functions.apply("complex", (values, array.imag), rule="numpy")


def _of_imag(array, attributes, rule, values):
    from . import _functions

    return _functions.apply("complex", (array.real, values), rule="numpy")


_INVERSES = {
    "[]": _of_index,
    "reshape": _of_reshape,
    "transpose": _of_transpose,
    "flip": _of_flip,
    "real": _of_real,
    "imag": _of_imag,
}


class _AtPositions:
    """Makes the view of an array at keys that contain traced positions."""

    def __init__(self, keys):
        from ._tracing import Tracer

        self.keys = keys
        # Later assignments to a position do not move the view.
        self._present = tuple(key._snapshot() if isinstance(key, Tracer) else key for key in keys)

    def __call__(self, array):
        return array[self._present]

    def written(self, array, values):
        from ._assignments import updated

        return updated(array, self._present, values)


def share_by_positions(array, keys, view):
    """Notes that ``view`` is ``array[keys]``, with traced positions among the keys."""
    made_by = _AtPositions(keys)
    array._share(view, (made_by, made_by.written, None))


def is_part(array, keys, values):
    """Whether ``values`` is the view ``array[keys]``, whose elements the array has: the assignment of
    ``y[keys] += v`` comes after the write into the view."""
    origin = values._origin
    if origin is None or origin[0] is not array:
        return False
    if isinstance(origin[1], _AtPositions):
        made = origin[1].keys
        return len(keys) == len(made) and all(map(_is_key, keys, made))
    if origin[1] != "[]":
        return False
    ((_, items),) = origin[2]
    return len(keys) == len(items) and all(map(_is_item, keys, items))


def _is_key(key, made):
    """Whether two keys of indices are the same."""
    if isinstance(key, slice) and isinstance(made, slice):
        return _is_item(key, (made.start, made.stop, made.step))
    return _is_item(key, made)


def _is_item(key, item):
    """Whether a key of an index is this recorded item."""
    if isinstance(key, slice):
        return isinstance(item, tuple) and all(map(_is_item, (key.start, key.stop, key.step), item))
    return key is item or (type(key) is type(item) is int and key == item)


def is_row_major(array):
    """Whether the elements of an array of NumPy would lie in row-major order, without gaps."""
    if array._origin is None:
        return array._is_row_major or (array._base is None and array.ndim <= 1)
    base, function, attributes, _ = array._origin
    if not is_row_major(base):
        return False
    if function == "reshape":
        return True
    return function == "[]" and _is_block(attributes[0][1])


def _is_block(items):
    """Whether an index takes neighbours of a row-major array: numbers, then a slice."""
    positions = [item for item in items if item is not None and item is not Ellipsis]
    count = next((at for at, item in enumerate(positions) if isinstance(item, tuple)), len(positions))
    slices = positions[count:]
    if Ellipsis in items and items.index(Ellipsis) < len(items) - 1:
        return False
    return all(isinstance(item, tuple) and item[2] in (None, 1) for item in slices) and all(
        item[:2] == (None, None) for item in slices[1:]
    )
