"""Cache keys of labels: for equal keys a function sees equal labels. Elements are not part of them.

A program that was traced with labelled arrays serves others with the same key. A label that is not a plain
value, or too large to be compared faster than the function is traced, has no key.
"""

from __future__ import annotations

import datetime
import hashlib
import threading
import weakref

import numpy as np
import pandas as pd
import xarray as xr
from xarray.indexes import PandasIndex, PandasMultiIndex

from . import _open_labels
from ._statics import key as static_key

#: Labels of at most this size in bytes are compared; tracing again costs less than comparing more.
_MAX_BYTES = 1 << 20

#: The elements of an array of at most this size in bytes are part of a key, those of others by a digest.
_MAX_BYTES_IN_KEY = 4096

#: Bytes that an object among labels counts for.
_OBJECT_BYTES = 64


class NoKeyError(Exception):
    """A label that cannot be compared by value, or not fast enough."""


def of_call(arguments):
    """The key of a call: of its labelled arguments, their containers, the arguments passed unchanged, and
    xarray's options."""
    keys = _Keys()
    leaves = tuple(keys.labelled(leaf) if _is_labelled(leaf) else None for leaf in arguments.leaves)
    return _hashable((leaves, *_of_others(arguments)))


def _of_others(arguments):
    static = tuple(static_key(value) for value in arguments.static)
    return arguments.structure, static, tuple(xr.get_options().mapping.values())


def _hashable(key):
    try:
        hash(key)
    except TypeError as error:
        raise NoKeyError from error
    return key


def of_open_call(arguments):
    """The key of a call whose labels may be open (`_open_labels.py`), without lengths and labels of indexes;
    and the groups of their indexes.

    Raises:
        NoKeyError: If they may not be open.
    """
    if not _open_labels.may_be_open(filter(_is_labelled, arguments.leaves)):
        raise NoKeyError
    keys, groups = _Keys(), _open_labels.groups_of(arguments.leaves)
    leaves = tuple([
        keys.open(leaf, of_leaf) if _is_labelled(leaf) else None
        for leaf, of_leaf in zip(arguments.leaves, groups)
    ])
    return _hashable((_open_labels.OpenLabels, leaves, *_of_others(arguments))), groups


def arrays_among(objects):
    """The arrays among objects of any kind."""
    return [value for value in objects if isinstance(value, _ARRAYS)]


def of_captured(arrays):
    """The key of captured arrays, with their elements."""
    keys = _Keys()
    return tuple([keys.with_elements(value) for value in arrays])


_LABELLED = (xr.DataArray, xr.Dataset, xr.Variable)

_ARRAYS = (*_LABELLED, np.ndarray, pd.Series, pd.DataFrame, pd.Index)

#: Types of immutable values that differ if and only if their texts differ.
_COMPARED_BY_TEXT = (float, complex, datetime.date, datetime.timedelta, pd.Interval, pd.Period)


def _is_labelled(value):
    return isinstance(value, _LABELLED)


class _ComparedByIdentity:
    """An object that is equal to itself alone."""

    def __init__(self, value):
        self._value = value

    def __eq__(self, other):
        return type(other) is _ComparedByIdentity and self._value is other._value

    def __hash__(self):
        return id(self._value)


class _Digests:
    """Digests of the elements of large arrays, found again by the object that has them.

    An entry also has a copy of the elements, because an array may have changed since. The comparison takes a
    tenth of the time of the digest.
    """

    #: Maximum number of entries; an array has at most `_MAX_BYTES`.
    _MAX_ENTRIES = 16

    def __init__(self):
        #: The weak reference to the owner, the copy and the digest, by the identity of the owner.
        self._entries = {}
        self._lock = threading.Lock()

    def of(self, owner, array):
        """The digest of an array, whose elements ``owner`` has."""
        elements = np.ascontiguousarray(array).reshape(-1).view("u1")
        reference, copy, digest = self._entries.get(id(owner), (None, None, None))
        if reference is not None and reference() is owner and copy == elements.data:
            return digest
        digest = hashlib.blake2b(elements).digest()
        entry = weakref.ref(owner), bytearray(elements), digest
        with self._lock:
            self._entries.pop(id(owner), None)
            self._entries[id(owner)] = entry
            while len(self._entries) > self._MAX_ENTRIES:
                del self._entries[next(iter(self._entries))]
        return digest


_digests = _Digests()


class _Keys:
    """Makes the keys of several values, which are compared as one and share the limit ``_MAX_BYTES``."""

    def __init__(self):
        self._bytes_left = _MAX_BYTES

    def _count(self, size):
        self._bytes_left -= size
        if self._bytes_left < 0:
            raise NoKeyError

    # Labelled arrays.

    def labelled(self, value, with_elements=False):
        """A DataArray, Dataset or Variable."""
        if isinstance(value, xr.Variable):
            return type(value), self.variable(value, with_elements)
        # xarray's own properties make a DataArray of each variable.
        indexes = value._indexes
        if isinstance(value, xr.DataArray):
            own_key = type(value.name), value.name, self.variable(value.variable, with_elements)
            coordinates = value._coords
        else:
            names, variables = value._coord_names, value._variables
            coordinates = {name: it for name, it in variables.items() if name in names}
            own_key = (
                self._attributes(value.attrs),
                self._encoding(value.encoding),
                tuple([
                    (name, self.variable(it, with_elements or not is_numeric(it)))
                    for name, it in variables.items()
                    if name not in names
                ]),
            )
        coordinates = tuple([
            (type(name), name, self.variable(it, name not in indexes)) for name, it in coordinates.items()
        ])
        return type(value), own_key, coordinates, self._indexes(indexes)

    def open(self, value, groups):
        """A DataArray or Dataset whose indexes are open."""
        indexes = value._indexes
        if isinstance(value, xr.DataArray):
            own_key = type(value.name), value.name, self._description(value.variable)
            variables = coordinates = value._coords
        else:
            own_key = self._attributes(value._attrs), self._encoding(value._encoding), tuple(value._dims)
            variables, coordinates = value._variables, value._coord_names
        keys = tuple([
            (type(name), name, self.variable(it, with_elements=True))
            if name in coordinates and name not in indexes
            else (type(name), name, name in coordinates, *self._description(it), groups.get(name))
            for name, it in variables.items()
        ])
        types = tuple([(name, type(index.index), index.coord_dtype) for name, index in indexes.items()])
        return type(value), own_key, keys, types

    def _description(self, variable):
        attributes, encoding = self._attributes(variable._attrs), self._encoding(variable._encoding)
        return variable.dims, variable.dtype, attributes, encoding

    def variable(self, variable, with_elements):
        elements = self._elements(variable) if with_elements else None
        type_key = variable.dims, variable.shape, variable.dtype
        return *type_key, self._attributes(variable._attrs), self._encoding(variable._encoding), elements

    def _attributes(self, attributes):
        return self.plain(attributes) if attributes else None

    def _elements(self, variable):
        if type(variable._data) is np.ndarray:
            return self.array(variable._data)
        if not variable._in_memory:
            # The name of a Dask array identifies its computation.
            if hasattr(variable.data, "dask"):
                return variable.data.name
            raise NoKeyError
        return self.array(variable.values)

    def _indexes(self, indexes):
        keys, positions = [], {}
        for name, index in indexes.items():
            if id(index) not in positions:
                positions[id(index)] = len(positions)
                keys.append(self._index(index))
            keys.append((type(name), name, positions[id(index)]))
        return tuple(keys)

    def _index(self, index):
        if type(index) is PandasIndex:
            types = index.coord_dtype
        elif type(index) is PandasMultiIndex:
            types = tuple(index.level_coords_dtype.items())
        else:
            raise NoKeyError
        return type(index), index.dim, types, self.pandas_index(index.index)

    def _encoding(self, encoding):
        """The encoding of a variable. Frozen dataclasses in it are compared by ``==``, and objects that
        have no key by identity: they describe codecs, and no code changes them."""
        if not encoding:
            return None
        key = []
        for name, value in encoding.items():
            items = value if type(value) is tuple else (value,)
            key.append((name, type(value), tuple([self._of_encoding(item) for item in items])))
        return tuple(key)

    def _of_encoding(self, value):
        parameters = getattr(value, "__dataclass_params__", None)
        try:
            if parameters is not None and parameters.frozen:
                hash(value)
                return type(value), value
            return self.plain(value)
        except (NoKeyError, TypeError):
            return _ComparedByIdentity(value)

    # The parts of labels.

    def pandas_index(self, index):
        kind = type(index)
        if isinstance(index, pd.MultiIndex):
            names = self.plain(tuple(index.names))
            levels = tuple(self.pandas_index(level) for level in index.levels)
            return kind, names, levels, tuple(self.array(np.asarray(codes)) for codes in index.codes)
        names = self.plain(index.name)
        if isinstance(index, pd.RangeIndex):
            return kind, names, index.start, index.stop, index.step
        if isinstance(index.dtype, np.dtype):
            return kind, names, getattr(index, "freqstr", None), self.array(index.values, index)
        return kind, names, index.dtype, getattr(index, "freqstr", None), self.plain(index.tolist())

    def array(self, array, owner=None):
        """An array with its elements; ``owner`` is the index that it was made from."""
        if array.dtype.hasobject:
            return array.shape, array.dtype, self.plain(array.ravel().tolist())
        self._count(array.nbytes)
        if array.nbytes <= _MAX_BYTES_IN_KEY:
            return array.shape, array.dtype, array.tobytes()
        return array.shape, array.dtype, _digests.of(array if owner is None else owner, array)

    def plain(self, value):
        """A Python value, which may contain others."""
        kind = type(value)
        if kind in (str, int, bool, bytes, type(None)):
            self._count(_OBJECT_BYTES)
            return kind, value
        if isinstance(value, _COMPARED_BY_TEXT) or kind.__module__.partition(".")[0] == "cftime":
            self._count(_OBJECT_BYTES)
            return kind, repr(value)
        if kind in (list, tuple):
            return kind, tuple([self.plain(item) for item in value])
        if isinstance(value, dict):
            return kind, tuple([(self.plain(name), self.plain(item)) for name, item in value.items()])
        if isinstance(value, np.generic):
            value = np.asarray(value)
        if type(value) is np.ndarray and not value.dtype.hasobject:
            return kind, self.array(value)
        if isinstance(value, (np.dtype, type)):
            return kind, value
        raise NoKeyError

    def with_elements(self, value):
        if _is_labelled(value):
            return self.labelled(value, with_elements=True)
        if isinstance(value, pd.Index):
            return self.pandas_index(value)
        if isinstance(value, np.ndarray):
            return self.array(value)
        axes = tuple(self.pandas_index(axis) for axis in value.axes)
        return type(value), axes, self.array(value.to_numpy())


def is_numeric(variable):
    """Whether a variable of a Dataset is numeric. Others are passed through unchanged."""
    return variable.dtype.kind in "biufc"
