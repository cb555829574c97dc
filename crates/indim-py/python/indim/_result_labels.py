"""The labels of a result of a program for labelled arrays, which each call fills with its arrays.

A result has labels of its own, as a deep copy would, except for indexes: it has the index of the argument
from which xarray took it. No part of a template is in a result, so changes of a result stay its own.
"""

from __future__ import annotations

import numpy as np
import xarray as xr
from xarray.indexes import PandasIndex, PandasMultiIndex

from ._label_copies import copied_dict, with_data
from ._lookups import elements
from ._open_labels import OpenIndex


class ResultLabels:
    """The labels of one result.

    ``template`` is a deep copy of ``result`` with placeholders for the arrays of the variables ``names``; a
    DataArray or Variable itself has the name ``None``. ``leaves`` are the arguments that the function got.
    ``tables`` are those of the variables for which the arrays are positions.
    """

    def __init__(self, template, result, names, leaves, tables):
        self.count = len(names)
        self._tables = tables
        self._template, self._names = template, names
        #: The positions of the arguments that have the indexes of the result, by name.
        self._sources = {}
        #: Indexes that the function computed, each with the variables over it.
        self._own_indexes = []
        if has_coordinates(template):
            self._find_indexes(result, leaves)

    def _find_indexes(self, result, leaves):
        for index, variables in self._template.xindexes.group_by_index():
            sources = {name: _source(result._indexes[name], name, leaves) for name in variables}
            if None in sources.values():
                self._own_indexes.append((index, variables))
            else:
                self._sources.update(sources)

    def filled(self, arrays, leaves):
        """The result with these arrays, for a call with these arguments."""
        template = self._template
        arrays = dict(zip(self._names, arrays))
        for name, table in self._tables.items():
            arrays[name] = elements(table, arrays[name])
        if template is None:
            return arrays[None]
        if not has_coordinates(template):
            return with_data(template, arrays[None])
        indexes, variables = self._indexes(leaves)
        for name, variable in variables_of(template).items():
            if name in arrays:
                variables[name] = with_data(variable, arrays[name])
            elif name not in variables:
                variables[name] = _copied(variable)
        # The order of coordinates and indexes is visible.
        variables = {name: variables[name] for name in variables_of(template)}
        indexes = {name: indexes[name] for name in template._indexes}
        if isinstance(template, xr.Dataset):
            sizes = {}
            for variable in variables.values():
                sizes.update(zip(variable._dims, variable.shape))
            dims = {dim: sizes[dim] for dim in template._dims}
            attrs, encoding = copied_dict(template._attrs), copied_dict(template._encoding)
            return template._replace(variables, dims=dims, indexes=indexes, attrs=attrs, encoding=encoding)
        variable = with_data(template.variable, arrays[None])
        return type(template)(variable, variables, name=template.name, indexes=indexes, fastpath=True)

    def _indexes(self, leaves):
        """The indexes of the result, and the variables over them."""
        indexes, variables = {}, {}
        for index, over_index in self._own_indexes:
            copied = index.copy(deep=True)
            indexes.update(dict.fromkeys(over_index, copied))
            if not isinstance(index, PandasIndex):
                # Variables over other indexes are copied like those without an index.
                continue
            for name, variable in copied.create_variables(over_index).items():
                variables[name] = with_data(over_index[name], variable._data)
        of_template = variables_of(self._template)
        for name, position in self._sources.items():
            leaf = leaves[position]
            indexes[name] = leaf._indexes[name]
            variables[name] = with_data(of_template[name], variables_of(leaf)[name]._data)
        return indexes, variables


def has_coordinates(value):
    """Whether a value is a DataArray or Dataset."""
    return isinstance(value, (xr.DataArray, xr.Dataset))


def variables_of(value):
    """The variables of a Dataset, or the coordinates of a DataArray, by name. xarray's own properties make a
    DataArray of each."""
    return value._variables if isinstance(value, xr.Dataset) else value._coords


def _source(index, name, leaves):
    """The position of an argument that has this index under this name; ``None`` if no argument has it."""
    if type(index) not in (PandasIndex, PandasMultiIndex, OpenIndex):
        return None
    others = [
        (position, leaf._indexes[name])
        for position, leaf in enumerate(leaves)
        if has_coordinates(leaf) and name in leaf._indexes
    ]
    same = [position for position, other in others if other is index]
    # `align` makes new objects over the same index of pandas.
    alike = [at for at, other in others if type(other) is type(index) and _are_alike(index, other)]
    return next(iter([*same, *alike]), None)


def _are_alike(index, other):
    if type(index) is OpenIndex:
        return index.equals(other)
    if index.index is not other.index or index.dim != other.dim:
        return False
    if isinstance(index, PandasMultiIndex):
        return index.level_coords_dtype == other.level_coords_dtype
    return index.coord_dtype == other.coord_dtype


def _copied(variable):
    """A variable whose elements are copied, too."""
    data = variable._data
    if type(data) is np.ndarray and not data.dtype.hasobject:
        return with_data(variable, data.copy())
    return variable.copy(deep=True)
