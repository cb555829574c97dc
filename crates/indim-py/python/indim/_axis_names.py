"""Expressions and operations of xarray's arrays that name axes, such as ``mean(x, axis=time)``.

The program follows rule ``named``. Indexes are joined before it, and `xarray.apply_ufunc` labels its results.
"""

from __future__ import annotations

import numpy as np
import xarray as xr

from . import _xarray
from ._engines import chunked_program
from ._foreign import package_of
from ._indim import _graph_by_names
from ._tracing import Tracer
from ._trees import in_container

#: Rules under which names match axes. Dimensions meet by name, so rules with attributes are excluded.
_RULES = ("as-written", "numpy", "named")


def evaluate(text, objects, rule, results):
    """An expression, or an operation, of labelled arrays that names axes."""
    if rule not in _RULES:
        raise ValueError(
            f"rule {rule} matches no axis by its name, as the expression does: leave `rule` out, or say "
            "rule='named'"
        )
    for name, value in objects.items():
        if isinstance(value, Tracer) or isinstance(getattr(value, "data", None), Tracer):
            raise TypeError(
                f"`{name}` stands for an array while a function is traced, where xarray knows the names of "
                "axes: reduce by its own operations, such as `x.mean('time')`"
            )
        if not isinstance(value, _xarray._LABELLED) and np.ndim(value):
            raise _xarray.without_names(name)
    if any(isinstance(value, xr.Dataset) for value in objects.values()):
        kind, keys, values = _evaluate_datasets(text, objects, results)
    else:
        kind, keys, values = _evaluate_arrays(text, objects, results)
    return in_container(kind, keys, values)


def _evaluate_arrays(text, objects, results):
    """Evaluates an expression of arrays, none of them a Dataset: the container of the results, its keys, and
    the results."""
    objects = objects | _align(objects)
    dimensions, dimension_names = {}, {}
    for name, value in objects.items():
        if isinstance(value, _xarray._LABELLED):
            dimensions[name] = [str(dim) for dim in value.dims]
            dimension_names.update(zip(dimensions[name], value.dims))
    arrays = {name: getattr(value, "data", value) for name, value in objects.items()}
    arrays |= {name: objects[name].data for name in dimensions}
    (kind, keys), computed, names = _compute(text, arrays, dimensions, results)
    values = [
        _with_labels(objects, [dimension_names.get(name) for name in result_names], array)
        for result_names, array in zip(names, computed)
    ]
    return kind, keys, values


def _align(objects):
    """The arrays with indexes, joined by xarray's option."""
    arrays = {name: value for name, value in objects.items() if isinstance(value, xr.DataArray)}
    join = xr.get_options()["arithmetic_join"]
    return dict(zip(arrays, xr.align(*arrays.values(), join=join, copy=False)))


def _compute(text, arrays, dimensions, results):
    """The container of the results with its keys; the arrays of the results; the axis names of each."""
    packages = {package_of(array) for array in arrays.values()}
    if packages & {"dask", "cubed"}:
        if "cubed" in packages:
            from . import _cubed as engine
        else:
            from . import _dask as engine

        sources, leaves = engine.placeholders(arrays.values(), list(arrays))
        parts, names = _graph_by_names(text, dict(zip(arrays, leaves)), dimensions, results)
        return parts[2:], engine.lazy_results(parts[:2], sources), names
    parts, names = _graph_by_names(text, arrays, dimensions, results)
    graph, operands, *structure = parts
    return structure, chunked_program(graph).run(operands), names


def _with_labels(objects, dimensions, computed):
    """A result with the labels that follow from the operands."""
    if None in dimensions:
        raise ValueError(
            f"axis {dimensions.index(None)} of the result has no name: leave `keepdims` out, and reshapes to "
            "xarray's own operations, in a function of `indim.jit`"
        )
    operands = [value for value in objects.values() if isinstance(value, _xarray._LABELLED)]
    sizes = {dim: size for value in operands for dim, size in value.sizes.items()}
    changed = {dim for dim, size in zip(dimensions, computed.shape) if size != sizes[dim]}
    for dim, size in zip(dimensions, computed.shape):
        if dim in changed and size != 1:
            raise ValueError(
                f"axis `{dim}` of the result has {size} elements, that of the operands {sizes[dim]}, so that "
                "labels do not say where they are: select with `.isel` or `.sel` before"
            )
    result = xr.apply_ufunc(
        lambda *_: computed,
        *operands,
        input_core_dims=[list(value.dims) for value in operands],
        output_core_dims=[dimensions],
        exclude_dims=changed,
        join="exact",
        keep_attrs=_xarray.keep_attributes(),
        dask="allowed",
    )
    return _xarray.with_common_name(result, operands)


def _evaluate_datasets(text, objects, results):
    """Like `_evaluate_arrays`, for each variable that all Datasets have."""
    datasets = {name: value for name, value in objects.items() if isinstance(value, xr.Dataset)}
    first, *others = datasets.values()
    names = [name for name in first.data_vars if all(name in other.data_vars for other in others)]
    if not names:
        raise _xarray.nothing_in_common(list(datasets))
    columns = []
    for name in names:
        arrays = {of: value[name] for of, value in datasets.items()}
        try:
            kind, keys, values = _evaluate_arrays(text, objects | arrays, results)
        except Exception as error:
            if hasattr(error, "add_note"):
                error.add_note(f"in variable {name!r} of the Datasets")
            raise
        columns.append(values)
    operands = [value for value in objects.values() if isinstance(value, _xarray._LABELLED)]
    attributes = _xarray.attributes_of(operands)
    values = [xr.Dataset(dict(zip(names, variables)), attrs=attributes) for variables in zip(*columns)]
    return kind, keys, values
