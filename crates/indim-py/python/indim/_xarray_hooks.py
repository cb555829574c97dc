"""Functions of xarray that need arrays of NumPy, on traced values.

xarray has no protocol for them, so each is replaced by one that calls it for all arrays except traced ones.
A version of xarray without such a function runs the method as plain xarray (`_plain_xarray.py`).
`_xarray_interpolation.py` and `_xarray_statistics.py` have the longer ones.
"""

from __future__ import annotations

import functools
import importlib

import numpy as np

from . import _lookups, _xarray_interpolation, _xarray_statistics
from ._lookups import Lookup
from ._tracing import Tracer


def install():
    """Replaces the functions; also called again, it replaces each once."""
    for module, name, make in (
        ("xarray.core.missing", "_interp1d", _xarray_interpolation.interp1d),
        ("xarray.core.missing", "_interpnd", _xarray_interpolation.interpnd),
        ("xarray.core.missing", "apply_ufunc", _xarray_interpolation.applied),
        ("xarray.core.duck_array_ops", "push", _xarray_interpolation.push),
        ("xarray.core.missing", "push", _xarray_interpolation.push),
        ("xarray.computation.computation", "to_like_array", _to_like_array),
        ("xarray.computation.fit", "polyfit", _xarray_statistics.polyfit),
        ("xarray.computation.fit", "least_squares", _xarray_statistics.least_squares),
        ("xarray.computation.weighted", "Weighted.__init__", _xarray_statistics.weighted),
        ("xarray.computation.weighted", "apply_ufunc", _xarray_statistics.applied),
        ("xarray.core.accessor_dt", "_get_date_field", _get_date_field),
        ("xarray.core.indexing", "ArrayApiIndexingAdapter._vindex_get", _vindex_get),
        ("xarray.core.indexing", "apply_indexer", _apply_indexer),
        ("xarray.core.variable", "Variable.__getitem__", _getitem),
        ("xarray.core.variable", "IndexVariable._finalize_indexing_result", _finalize_indexing_result),
        ("xarray.core.nputils", "nanargmax", _nan_arg),
        ("xarray.core.nputils", "nanargmin", _nan_arg),
        ("xarray.core.nputils", "nanfirst", functools.partial(_nan_end, at=0)),
        ("xarray.core.nputils", "nanlast", functools.partial(_nan_end, at=-1)),
    ):
        holder, _, name = name.rpartition(".")
        try:
            found = importlib.import_module(module)
            found = getattr(found, holder) if holder else found
            function = getattr(found, name)
            replacement = functools.wraps(function)(make(function))
        except (ImportError, AttributeError):
            continue
        if not hasattr(function, "_of_indim"):
            replacement._of_indim = True
            setattr(found, name, replacement)


def _to_like_array(original):
    """Coordinates that `idxmax` reads at traced indices are traced too, or lookups if they are no numbers."""

    def to_like_array(array, like):
        if isinstance(like, Tracer):
            return _lookups.all_of(np.asarray(array), like._recording)
        return original(array, like)

    return to_like_array


def _get_date_field(original):
    """The fields of looked up times, such as the month, are looked up among the fields of all times."""

    def get_date_field(values, name, dtype):
        if not isinstance(values, Lookup):
            return original(values, name, dtype)
        fields = original(values.table, name, dtype)
        # The type of fields depends on whether a time is missing, which is not known for the traced ones.
        if fields.dtype != original(values.table[~np.isnat(values.table)], name, dtype).dtype:
            values.refuse()
        return _lookups.looked_up(fields, values.positions)

    return get_date_field


def _vindex_get(original):
    """A traced array at arrays of indices that broadcast against each other."""
    from xarray.core.nputils import NumpyVIndexAdapter

    def vindex_get(self, indexer):
        if isinstance(self.array, Tracer):
            return NumpyVIndexAdapter(self.array)[indexer.tuple]
        return original(self, indexer)

    return vindex_get


def _apply_indexer(original):
    """Any array at traced indices, and a lookup at known ones."""
    from xarray.core.indexing import VectorizedIndexer
    from xarray.core.nputils import NumpyVIndexAdapter

    def apply_indexer(indexable, indexer):
        traced = next((key for key in indexer.tuple if isinstance(key, Tracer)), None)
        array = getattr(indexable, "array", None)
        if traced is None and not isinstance(array, Lookup):
            return original(indexable, indexer)
        if not isinstance(array, (Tracer, Lookup)):
            array = _lookups.all_of(np.asarray(indexable), traced._recording)
        if isinstance(indexer, VectorizedIndexer):
            return NumpyVIndexAdapter(array)[indexer.tuple]
        # One axis after the other, from the last: the axes before it keep their positions.
        for axis, key in reversed(list(enumerate(indexer.tuple))):
            array = array[(slice(None),) * axis + (key,)]
        return array

    return apply_indexer


def _getitem(original):
    """A variable at traced scalars, which xarray knows from arrays by their type."""
    from xarray.core.indexing import expanded_indexer
    from xarray.core.variable import Variable

    def getitem(self, key):
        keys = key if isinstance(key, tuple) else (key,)
        if not any(map(_is_traced_scalar, keys)):
            return original(self, key)
        keys = dict(zip(self.dims, expanded_indexer(keys, self.ndim)))
        scalars = {dim: _data_of(key) for dim, key in keys.items() if _is_traced_scalar(key)}
        result = original(self, tuple(slice(None) if dim in scalars else key for dim, key in keys.items()))
        array, dims = result._data, list(result.dims)
        if not isinstance(array, (Tracer, Lookup)):
            array = _lookups.all_of(np.asarray(array), next(iter(scalars.values()))._recording)
        for dim, index in scalars.items():
            array = array[(slice(None),) * dims.index(dim) + (index,)]
            dims.remove(dim)
        return Variable(dims, array, result._attrs, result._encoding, fastpath=True)

    return getitem


def _data_of(key):
    """The array of a key, which may be a DataArray or a Variable."""
    key = getattr(key, "variable", key)
    return getattr(key, "_data", key)


def _is_traced_scalar(key):
    key = _data_of(key)
    return isinstance(key, Tracer) and key.ndim == 0


def _finalize_indexing_result(original):
    """Elements at traced indices are those of no index."""
    from xarray.core.variable import Variable

    def finalize_indexing_result(self, dims, data):
        if isinstance(data, (Tracer, Lookup)):
            return Variable(dims, data, self._attrs, self._encoding)
        return original(self, dims, data)

    return finalize_indexing_result


#: The position of an extremum that does not exist. Unlike -1, it is out of range as an index, also after a
#: shift by a few elements or a conversion to `int32`, so each call that uses it as one raises an error.
_NO_POSITION = -(2**31)


def _nan_arg(original):
    """The position of an extremum; xarray raises an error for a series without any value."""

    def nan_arg(values, axis=None, **kwargs):
        position = original(values, axis=axis, **kwargs)
        if isinstance(position, Tracer) and values.dtype.kind == "f":
            return np.where(position < 0, _NO_POSITION, position)
        return position

    return nan_arg


def _nan_end(original, at):
    """The first or the last value along an axis that is not missing."""

    def nan_end(values, axis, keepdims=False):
        if not isinstance(values, Tracer):
            return original(values, axis, keepdims)
        axis = axis[0] if isinstance(axis, tuple) else axis
        is_given = ~np.isnan(values) if values.dtype.kind in "fc" else np.ones(values.shape, bool)
        if at:
            # The last one in reversed order; without any, the last value itself.
            is_given, values = np.flip(is_given, axis), np.flip(values, axis)
        index = np.expand_dims(np.argmax(is_given, axis=axis), axis)
        result = np.take_along_axis(values, index, axis)
        return result if keepdims else np.squeeze(result, axis)

    return nan_end
