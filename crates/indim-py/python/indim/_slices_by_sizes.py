"""Slices and reshapes by sizes that are numbers of the program: ``x[:n // 2]`` for ``n = x.shape[0]``.

They become slices and reshapes that follow the sizes of the operand, under guards that both are the same.
Others get plain numbers; the program is then valid for these numbers alone.
"""

from __future__ import annotations

import functools
import operator

import numpy as np

from ._numbers import Number


def reshape(x, shape):
    """The sizes of a reshape, with -1 for the only one that is a number of the program."""
    at = [position for position, size in enumerate(shape) if type(size) is Number]
    sizes = [x._recording._size(x._name, axis) for axis in range(x.ndim)]
    others = [size for size in shape if type(size) is not Number]
    if len(at) != 1 or any(size is None for size in sizes) or any(size < 1 for size in others):
        return shape
    count = _product(sizes)
    # Each comparison is a guard.
    if not (count > 0 and _product(shape) == count):
        return shape
    return [-1 if position == at[0] else size for position, size in enumerate(shape)]


def _product(sizes):
    return functools.reduce(operator.mul, sizes, 1)


def are_by_sizes(keys):
    """Whether an index consists of numbers and slices, and a slice ends at a number of the program."""
    slices = [key for key in keys if isinstance(key, slice)]
    ends = [end for key in slices for end in (key.start, key.stop)]
    return any(type(end) is Number for end in ends) and all(isinstance(key, (slice, int)) for key in keys)


def keys_from_end(x, keys):
    """The keys with plain ends for ``n`` and ``n - k``, where ``n`` is the size of the axis."""
    found = []
    for axis, key in enumerate(keys[: x.ndim]):
        size = x._recording._size(x._name, axis) if isinstance(key, slice) else None
        if type(size) is Number and _is_forward(key.step):
            stop = None if _is(key.stop, size) else _from_end(key.stop, size)
            key = slice(_from_end(key.start, size), stop, key.step)
        found.append(key)
    return (*found, *keys[x.ndim :])


def _is_forward(step):
    """Whether a slice goes forward, so that its last end is that of the axis by default."""
    return step is None or (type(step) is int and step > 0)


def _is(number, size):
    return type(number) is Number and number._name == size._name


def _made_by(symbol, number, size):
    """``k`` if the number is ``size symbol k``; otherwise None."""
    if type(number) is not Number or number._made_of is None or number._made_of[0] != symbol:
        return None
    _, first, second = number._made_of
    return second if _is(first, size) and type(second) is int else None


def _from_end(end, size):
    distance = _made_by("-", end, size)
    return -distance if distance is not None and distance > 0 and end >= 0 else end


def getitem(x, key):
    """``x[key]`` for a vector and a slice that begins or ends at ``n // k``; None if it is another one."""
    size = x._recording._size(x._name, 0)
    is_last = type(key.stop) is Number
    end = key.stop if is_last else key.start
    parts = _made_by("//", end, size) if type(size) is Number else None
    other = key.start if is_last else key.stop
    step = 1 if key.step is None else key.step
    if parts is None or parts < 2 or not (end >= 1) or type(other) is Number or type(step) is not int:
        return None
    # The other end counts from the same side of the part as it does of the vector.
    if step < 1 or (other is not None and (other < 0) == is_last):
        return None
    rest = operator.index(size % parts)
    slices = (slice(other, None, step) if is_last else slice(None, other, step),)

    def made(x):
        x = x._snapshot()
        rows = (x[:-rest] if rest else x).reshape(parts, -1)
        if is_last:
            return rows[0][slices]
        after = rows[1:].reshape(-1)
        return (np.concatenate([after, x[-rest:]]) if rest else after)[slices]

    found = made(x)
    x._share(found, (made, (), None))
    return found
