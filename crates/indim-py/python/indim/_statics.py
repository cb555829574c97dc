"""Static arguments: the keys that distinguish values, and frozen copies of values that may change.

Called by the compiled part (`argument.rs`) and by `_trace_function.py`.
"""

from __future__ import annotations

import numpy as np

from ._foreign import is_masked


def key(value):
    """A key that is equal only for values that a function cannot distinguish.

    ``1``, ``1.0`` and ``True`` differ, and so do ``0.0`` and ``-0.0``. Arrays are compared by their elements,
    and so are the items of lists, tuples, dicts and sets; other objects by ``==``.
    """
    kind = type(value)
    if isinstance(value, np.ndarray):
        return kind, *_array_key(value)
    if isinstance(value, np.generic):
        return kind, value.dtype.str, value.tobytes()
    if isinstance(value, (float, complex)):
        return kind, repr(value)
    if isinstance(value, (list, tuple)):
        return kind, *(key(item) for item in value)
    if isinstance(value, dict):
        return kind, *((key(name), key(item)) for name, item in value.items())
    if isinstance(value, (set, frozenset)):
        return kind, frozenset(key(item) for item in value)
    return kind, value


def _array_key(array):
    if is_masked(array):
        raise TypeError("a static argument is a masked array; pass `.data`, or `.filled(...)`")
    if array.dtype.hasobject:
        raise TypeError(
            "a static argument is an array of objects, which are not told apart; pass a list of them"
        )
    # `import indim` is faster without this module.
    import hashlib

    return array.dtype.str, array.shape, hashlib.blake2b(array.tobytes()).digest()


def frozen(value):
    """The value for the function: arrays as read-only copies, also in lists, tuples and dicts."""
    if isinstance(value, np.ndarray):
        copy = value.copy()
        copy.flags.writeable = False
        return copy
    if type(value) in (list, tuple):
        return type(value)(frozen(item) for item in value)
    if type(value) is dict:
        return {name: frozen(item) for name, item in value.items()}
    return value
