"""Copies of variables of xarray with other elements, and with attributes of their own."""

from __future__ import annotations

import copy

import numpy as np

#: Types of attributes that cannot be changed in place.
_IMMUTABLE = (str, bytes, int, float, complex, bool, type(None), np.generic, np.dtype)


def with_data(variable, data):
    """A variable with other elements, and attributes of its own."""
    attrs, encoding = copied_dict(variable._attrs), copied_dict(variable._encoding)
    return type(variable)(variable._dims, data, attrs, encoding, fastpath=True)


def copied_dict(attributes):
    if not attributes:
        return None
    if all(map(_is_immutable, attributes.values())):
        return dict(attributes)
    return copy.deepcopy(attributes)


def _is_immutable(value):
    if isinstance(value, tuple):
        return all(map(_is_immutable, value))
    return isinstance(value, _IMMUTABLE)
