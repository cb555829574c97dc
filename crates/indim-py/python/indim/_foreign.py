"""Arrays that NumPy would take, but not for what they are: those that are not in memory, and those with
labels.

NumPy's conversion loads the first whole, and of the second forgets the labels, by which they would be
aligned. Both are refused, with what to call instead.
"""

from __future__ import annotations

import sys


def refuse(value, name):
    """Raises ``TypeError`` where ``value`` is not plainly an array in memory without labels to lose."""
    for cls in type(value).__mro__:
        advice = _ADVICE.get(str(cls.__module__).partition(".")[0])
        if advice is not None:
            return _raise(value, name, advice(value, name))
    if hasattr(type(value), "__dask_graph__"):
        return _raise(value, name, _dask(value, name))
    if hasattr(type(value), "chunks"):
        return _raise(value, name, _stored(value, name))


def _raise(value, name, advice):
    if advice is not None:
        cls = type(value)
        raise TypeError(f"`{name}` is a {cls.__module__.partition('.')[0]} {cls.__name__}, {advice}")


def _dask(value, name):
    if hasattr(value, "map_partitions"):
        return (
            "which would be loaded whole: map a compiled function over its parts, "
            f"`{name}.map_partitions(f)`, or load it yourself, `{name}.compute().to_numpy()`"
        )
    return (
        f"which would be loaded whole: map a compiled function over its blocks, `{name}.map_blocks(f)` or "
        f"`dask.array.map_blocks(f, {name}, ...)`, or load it yourself, `{name}.compute()`"
    )


def _stored(_, name):
    return (
        f"which would be loaded whole: load it yourself, `{name}[...]`, or a part at a time, "
        f"`{name}[:1000]`; `dask.array.from_array({name}).map_blocks(f)` maps a compiled function over its "
        "blocks"
    )


def _xarray(_, name):
    return (
        f"whose dimensions would be matched by position, not by name: `xarray.apply_ufunc(f, {name}, ...)` "
        f"calls a compiled function with its arrays and keeps the labels; `{name}.values` is the array alone"
    )


def _pandas(value, name):
    if all(_is_default(getattr(value, axis, None)) for axis in ("index", "columns")):
        return None
    return (
        f"whose labels would be lost, and which would be matched by position: `{name}.to_numpy()` is "
        "the array alone"
    )


def _is_default(labels):
    """Whether labels only count positions; there are none in an array of pandas' own types."""
    pandas = sys.modules["pandas"]
    return not isinstance(labels, pandas.Index) or (
        isinstance(labels, pandas.RangeIndex) and (labels.start, labels.step) == (0, 1)
    )


def _polars(value, name):
    if not hasattr(value, "columns"):
        return None
    return f"whose columns have names that would be lost: `{name}.to_numpy()` is the array alone"


#: What is said of the types of a package.
_ADVICE = {
    "cubed": _stored,
    "dask": _dask,
    "dask_expr": _dask,
    "h5py": _stored,
    "netCDF4": _stored,
    "pandas": _pandas,
    "polars": _polars,
    # Its chunks are in memory.
    "pyarrow": lambda *_: None,
    "tables": _stored,
    "tensorstore": _stored,
    "xarray": _xarray,
    "zarr": _stored,
}
