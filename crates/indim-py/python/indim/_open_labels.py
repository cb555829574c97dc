"""Open labels: indexes that stand for those of any call, while a function of labelled arrays is traced.

A function that reads no label of an index computes the same for all labels and lengths: its program serves
them all. An open index notes each read of its labels; it compares equal to those that were equal in the call,
which the key of the program states. Its length is that of the traced array.
"""

from __future__ import annotations

import numpy as np
import xarray as xr
from xarray.core.indexing import PandasIndexingAdapter
from xarray.core.variable import IndexVariable
from xarray.indexes import PandasIndex

from ._label_copies import with_data
from ._lookups import Lookup
from ._numbers import Number
from ._tracing import Tracer


class LabelsReadError(Exception):
    """The function read labels, so its program is valid for these labels alone."""


class OpenLabels:
    """The labels of the arguments of one trace."""

    def __init__(self):
        #: Whether the function read labels.
        self.are_read = False

    def argument(self, value, groups, array):
        """The DataArray ``value`` with ``array`` in place of its elements. ``groups`` has a number for each
        of its indexes, by name; equal indexes have equal ones."""
        variable = value.variable
        sizes = dict(zip(variable.dims, array._shape_numbers()))
        indexes = {name: OpenIndex(self, index, groups[name]) for name, index in value._indexes.items()}
        coordinates = {
            name: self._over(indexes[name], it, sizes) if name in indexes else it.copy(deep=True)
            for name, it in value._coords.items()
        }
        return _labelled(value, with_data(variable, array), coordinates, indexes)

    def _over(self, index, variable, sizes):
        """The variable over an open index."""
        (dim,) = variable.dims
        return with_data(variable, OpenElements(self, index, variable._data, sizes[dim]))

    def template(self, value):
        """A copy of a result with a placeholder of no memory for its array; ``None`` without labels.

        Raises:
            LabelsReadError: If a program for these labels alone computes the result.
        """
        if isinstance(value, (xr.DataArray, xr.Variable)) and _names_sizes(value):
            raise LabelsReadError
        if isinstance(value, xr.DataArray):
            if any(_is_fixed(it._data, value._indexes.get(name)) for name, it in value._coords.items()):
                raise LabelsReadError
            coordinates = {name: it.copy(deep=True) for name, it in value._coords.items()}
            return _labelled(value, _placeholder(value.variable), coordinates, dict(value._indexes))
        if isinstance(value, xr.Dataset):
            raise LabelsReadError
        return _placeholder(value) if isinstance(value, xr.Variable) else None


def _names_sizes(value):
    """Whether the name or the attributes of a result contain a size, which is a number of the program."""
    parts = [getattr(value, "name", None), value.attrs]
    while parts:
        part = parts.pop()
        if type(part) is Number:
            return True
        if isinstance(part, dict):
            parts.extend((*part.keys(), *part.values()))
        elif isinstance(part, (list, tuple)):
            parts.extend(part)
    return False


def _is_fixed(elements, index):
    """Whether the elements of a coordinate of a result are not those of its open index, in any call."""
    is_open = isinstance(elements, OpenElements)
    return isinstance(elements, (Lookup, Tracer)) or (is_open and type(index) is not OpenIndex)


def _placeholder(variable):
    data = variable._data
    if not isinstance(data, Tracer):
        raise LabelsReadError
    return with_data(variable, np.broadcast_to(np.zeros((), data.dtype), data._shape))


def _labelled(value, variable, coordinates, indexes):
    return type(value)(variable, coordinates, name=value.name, indexes=indexes, fastpath=True)


class OpenIndex(PandasIndex):
    """An index of an argument that notes each read of its labels."""

    __slots__ = ("_closed", "_labels", "group")

    def __init__(self, labels, closed, group):
        self._labels, self._closed = labels, closed
        #: Equal for indexes with equal labels.
        self.group = group
        self.dim, self.coord_dtype = closed.dim, closed.coord_dtype

    @property
    def index(self):
        self._labels.are_read = True
        return self._closed.index

    def _replace(self, index, dim=None, coord_dtype=None):
        self._labels.are_read = True
        return self._closed._replace(index, dim, coord_dtype)

    def join(self, other, how="inner"):
        self._labels.are_read = True
        return self._closed.join(other, how)

    def equals(self, other, **options):
        is_open = type(other) is OpenIndex
        if is_open and self.group == other.group and self.dim == other.dim:
            return True
        # Unequal ones may be equal in another call, or differ in their types alone.
        self._labels.are_read = True
        return self._closed.equals(other._closed if is_open else other, **options)

    def _copy(self, deep=True, memo=None):
        return self

    def create_variables(self, variables=None):
        name = self._closed.index.name
        variable = None if variables is None else variables.get(name)
        if variable is None or not isinstance(variable._data, OpenElements):
            self._labels.are_read = True
            return self._closed.create_variables(variables)
        return {name: with_data(variable, variable._data)}


class OpenElements(PandasIndexingAdapter):
    """The elements of a variable over an open index."""

    __slots__ = ("_closed", "_labels", "_size", "index")

    def __init__(self, labels, index, closed, size):
        self._labels, self.index, self._closed, self._size = labels, index, closed, size
        self._dtype = closed._dtype

    @property
    def array(self):
        self._labels.are_read = True
        return self._closed.array

    @property
    def _in_memory(self):
        return self._closed._in_memory

    @property
    def shape(self):
        return (self._size,)

    def _index_get(self, indexer, func_name):
        self._labels.are_read = True
        return self._closed._index_get(indexer, func_name)

    def copy(self, deep=True):
        return self

    def __deepcopy__(self, memo):
        return self


def may_be_open(leaves):
    """Whether the labels of all labelled arguments can be open: those of DataArrays in memory, with plain
    indexes."""
    return all(
        type(leaf) is xr.DataArray and type(leaf.variable._data) is np.ndarray and _has_plain_indexes(leaf)
        for leaf in leaves
    )


def _has_plain_indexes(value):
    coordinates = value._coords
    return all(
        type(index) is PandasIndex
        and type(coordinates[name]) is IndexVariable
        and type(coordinates[name]._data) is PandasIndexingAdapter
        and index.index.name == name
        for name, index in value._indexes.items()
    )


def groups_of(leaves):
    """For each argument a number for each of its indexes, by name: equal indexes have equal numbers."""
    distinct = []
    return [
        {name: _group(index.index, distinct) for name, index in getattr(leaf, "_indexes", {}).items()}
        for leaf in leaves
    ]


def _group(index, distinct):
    for group, other in enumerate(distinct):
        may_be_equal = len(other) == len(index) and other.dtype == index.dtype
        if other is index or (may_be_equal and other.equals(index)):
            return group
    distinct.append(index)
    return len(distinct) - 1
