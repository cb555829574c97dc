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

from ._label_copies import copied_dict, with_data
from ._lookups import Lookup
from ._numbers import Number
from ._tracing import Tracer

_WITH_COORDINATES = (xr.DataArray, xr.Dataset)


class LabelsReadError(Exception):
    """The function read labels, so its program is valid for these labels alone."""


class OpenLabels:
    """The labels of the arguments of one trace."""

    def __init__(self):
        #: Whether the function read labels.
        self.are_read = False

    def argument(self, value, groups, arrays):
        """The DataArray or Dataset ``value`` with ``arrays`` in place of its elements. ``groups`` has a
        number for each of its indexes, by name; equal indexes have equal ones."""
        own = _own_variables(value)
        sizes = {}
        for variable, array in zip(own.values(), arrays):
            sizes.update(zip(variable.dims, array._shape_numbers()))
        indexes = {name: OpenIndex(self, index, groups[name]) for name, index in value._indexes.items()}
        coordinates = {
            name: self._over(indexes[name], it, sizes) if name in indexes else it.copy(deep=True)
            for name, it in _coordinates_of(value).items()
        }
        own = {name: with_data(variable, array) for (name, variable), array in zip(own.items(), arrays)}
        return _labelled(value, own, coordinates, indexes, sizes)

    def _over(self, index, variable, sizes):
        """The variable over an open index."""
        (dim,) = variable.dims
        return with_data(variable, OpenElements(self, index, variable._data, sizes[dim]))

    def template(self, value):
        """A copy of a result with placeholders of no memory for its arrays; ``None`` without labels.

        Raises:
            LabelsReadError: If a program for these labels alone computes the result.
        """
        if isinstance(value, (*_WITH_COORDINATES, xr.Variable)) and _names_sizes(value):
            raise LabelsReadError
        if isinstance(value, _WITH_COORDINATES):
            coordinates = _coordinates_of(value)
            if any(_is_fixed(it._data, value._indexes.get(name)) for name, it in coordinates.items()):
                raise LabelsReadError
            coordinates = {name: it.copy(deep=True) for name, it in coordinates.items()}
            own = {name: _placeholder(it) for name, it in _own_variables(value).items()}
            return _labelled(value, own, coordinates, dict(value._indexes), value.sizes)
        return _placeholder(value) if isinstance(value, xr.Variable) else None


def _coordinates_of(value):
    """The coordinates of a DataArray or Dataset, by name. xarray's own property makes a DataArray of each."""
    if isinstance(value, xr.DataArray):
        return value._coords
    return {name: it for name, it in value._variables.items() if name in value._coord_names}


def _own_variables(value):
    """The variable of a DataArray, or the variables of a Dataset that are no coordinates, by name."""
    if isinstance(value, xr.DataArray):
        return {None: value.variable}
    return {name: it for name, it in value._variables.items() if name not in value._coord_names}


def _names_sizes(value):
    """Whether the name or the attributes of a result contain a size, which is a number of the program."""
    own = [] if isinstance(value, xr.Variable) else _own_variables(value).values()
    parts = [getattr(value, "name", None), value.attrs, *(variable._attrs for variable in own)]
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


def _labelled(value, own, coordinates, indexes, sizes):
    """A DataArray or Dataset like ``value``, with these variables, indexes and sizes of dimensions."""
    if isinstance(value, xr.DataArray):
        return type(value)(own[None], coordinates, name=value.name, indexes=indexes, fastpath=True)
    # The order of variables and dimensions is visible.
    variables = {name: (own | coordinates)[name] for name in value._variables}
    dims = {name: sizes.get(name, size) for name, size in value._dims.items()}
    attrs, encoding = copied_dict(value._attrs), copied_dict(value._encoding)
    return value._replace(variables, dims=dims, indexes=indexes, attrs=attrs, encoding=encoding)


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
    """Whether the labels of all labelled arguments can be open: those of DataArrays and Datasets of numbers
    in memory, with plain indexes."""
    return all(type(leaf) in _WITH_COORDINATES and _may_be_open(leaf) for leaf in leaves)


def _may_be_open(value):
    own = _own_variables(value).values()
    # Variables of a Dataset that are no numbers are not computed.
    is_computed = type(value) is xr.DataArray or all(variable.dtype.kind in "biufc" for variable in own)
    is_in_memory = all(type(variable._data) is np.ndarray for variable in own)
    dims = {dim for variable in own for dim in variable._dims}
    # The size of a dimension is that of an array of the program.
    are_sized = all(index.dim in dims for index in value._indexes.values() if type(index) is PandasIndex)
    return is_computed and is_in_memory and are_sized and _has_plain_indexes(value)


def _has_plain_indexes(value):
    coordinates = _coordinates_of(value)
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
