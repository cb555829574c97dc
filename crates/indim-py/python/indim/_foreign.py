"""Arrays that NumPy would convert with a loss: arrays that are not in memory, and arrays with labels.

NumPy's conversion loads an array that is not in memory as a whole, and drops the labels by which labelled
arrays are aligned. Arguments of Dask, Cubed, xarray and pandas go to another engine. Arrays of other
packages, and all such arrays that are not arguments, are refused with a message that says what to call
instead. Arguments of polars and pyarrow go to an engine too; elsewhere they are arrays.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping

import numpy as np

#: The message for a product of labelled arrays.
LABELLED_PRODUCT = (
    "an operand has named dimensions, and a product counts axes: write xr.dot(x, y, dim=[...]) within a "
    "function of indim.jit, or pass `x.data`"
)


class ForeignArrayError(TypeError):
    """An array that another engine computes with if it is an argument: see ``_engines.py``."""


def is_masked(value):
    """Whether ``value`` is a masked array. NumPy imports ``numpy.ma`` when it is first used."""
    is_subclass = type(value) is not np.ndarray and isinstance(value, np.ndarray)
    return is_subclass and isinstance(value, np.ma.MaskedArray)


def refuse(value, name):
    """Raises ``TypeError`` unless ``value`` is an array in memory without labels and nulls."""
    if not _is_for_engine(value):
        refuse_nulls(value, name)
    if is_column(value) or is_table(value):
        return _raise(value, name, _table(value, name))
    for cls in type(value).__mro__:
        advice = _ADVICE.get(str(cls.__module__).partition(".")[0])
        if advice is not None:
            return _raise(value, name, advice(value, name))
    if hasattr(type(value), "__dask_graph__"):
        return _raise(value, name, _dask(value, name))
    if hasattr(type(value), "chunks") or isinstance(value, Mapping):
        return _raise(value, name, _stored(value, name))


def refuse_nulls(value, name):
    """Raises ``TypeError`` if ``value`` has nulls, which NumPy's conversion would make NaN."""
    count, drop, as_nan = _nulls(value)
    if not count:
        return
    fill = "fillna" if drop == "dropna" else "fill_null"
    cls = type(value)
    raise TypeError(
        f"`{name}` is a {cls.__module__.partition('.')[0]} {cls.__name__} with {count} missing, which arrays "
        f"of numbers do not have: fill them, `{name}.{fill}(value)`, leave them out, `{name}.{drop}()`, or "
        f"pass `{name}.{as_nan}`, in which they are NaN"
    )


def _nulls(value):
    """The number of nulls of an array of pyarrow, polars or pandas, also of those within its elements; the
    method that leaves them out, and the call that makes them NaN."""
    package = _package(value)
    if package == "pyarrow" and hasattr(value, "null_count"):
        is_chunked = hasattr(value, "chunks")
        # pyarrow makes numbers of nulls of chunked dictionaries.
        is_cast = str(value.type) == "bool" or str(value.type).startswith("dictionary")
        call = "to_numpy()" if is_chunked else "to_numpy(zero_copy_only=False)"
        return _nulls_of_pyarrow(value), "drop_null", 'cast("float64").' * is_cast + call
    if package == "polars" and hasattr(value, "to_physical"):
        is_bool = str(value.dtype) == "Boolean"
        return _nulls_of_polars(value), "drop_nulls", "cast(float)." * is_bool + "to_numpy()"
    if package == "pandas":
        return _nulls_of_pandas(value), "dropna", 'astype("float64")'
    return 0, "", ""


def _nulls_of_pyarrow(value):
    if hasattr(value, "chunks"):
        return sum(map(_nulls_of_pyarrow, value.chunks))
    # The values that the positions of a dictionary stand for may be null.
    return value.null_count or (value.dictionary_decode().null_count if hasattr(value, "dictionary") else 0)


def _nulls_of_polars(series):
    """The nulls of a Series, and of the arrays that are its elements."""
    count = series.null_count()
    while not count and str(series.dtype).startswith("Array(") and len(series):
        series = series.explode()
        count = series.null_count()
    return count


def _nulls_of_pandas(value):
    """The number of missing values in columns of pandas' own numbers, which tell them from NaN."""
    pandas = sys.modules["pandas"]
    if isinstance(value, pandas.DataFrame):
        return sum(_nulls_of_pandas(value.iloc[:, index]) for index in range(value.shape[1]))
    dtype = getattr(value, "dtype", None)
    if getattr(dtype, "na_value", None) is not pandas.NA or dtype.kind not in "biufc":
        return 0
    return int(value.isna().sum())


def has_advice(cls):
    """Whether a class is of a package in ``_ADVICE``."""
    return any(str(base.__module__).partition(".")[0] in _ADVICE for base in cls.__mro__)


def without_default_labels(value, name):
    """A Series or DataFrame whose labels only count positions, as an array, and so a value without labels of
    polars and pyarrow; other values unchanged. Nulls are an error."""
    value, pandas = without_package(value, name), sys.modules.get("pandas")
    if pandas is None or not isinstance(value, (pandas.Series, pandas.DataFrame)):
        return value
    for labels in value.axes:
        if not isinstance(labels, pandas.RangeIndex) or (labels.start, labels.step) != (0, 1):
            return value
    refuse_nulls(value, name)
    return value.to_numpy()


def _package(value):
    return str(type(value).__module__).partition(".")[0]


def is_column(value):
    """Whether a value is a Series of polars, or an array of pyarrow. Imports nothing."""
    polars, pyarrow = sys.modules.get("polars"), sys.modules.get("pyarrow")
    return (polars is not None and isinstance(value, polars.Series)) or (
        pyarrow is not None and isinstance(value, (pyarrow.Array, pyarrow.ChunkedArray))
    )


def is_table(value):
    """Whether a value is a DataFrame of polars, or a Table or RecordBatch of pyarrow. Imports nothing."""
    polars, pyarrow = sys.modules.get("polars"), sys.modules.get("pyarrow")
    return (polars is not None and isinstance(value, polars.DataFrame)) or (
        pyarrow is not None and isinstance(value, (pyarrow.Table, pyarrow.RecordBatch))
    )


def _counts_of(dtype):
    """pyarrow's type of the counts of a type of times."""
    return "int32" if str(dtype).startswith(("date32", "time32")) else "int64"


def without_package(value, name):
    """A Series of polars or an array of pyarrow as an array; other values unchanged. Nulls are an error."""
    if not is_column(value):
        return value
    refuse_nulls(value, name)
    array = np.asarray(value)
    if array.dtype.kind not in "OMmSU":
        return array
    cls, dtype = type(value), getattr(value, "dtype", None) or value.type
    advice = ""
    if array.dtype.kind in "Mm":
        is_polars = _package(value) == "polars"
        counts = f"{name}.to_physical()" if is_polars else f'{name}.cast("{_counts_of(dtype)}")'
        advice = f": pass `{counts}`, the counts of its unit"
    elif "ist" in str(dtype).lower() or "array[" in str(dtype).lower():
        advice = f": pass `{_rows_of_lists(value, name)}`, an array of two axes, if all rows are as long"
    elif "ecimal" in str(dtype):
        advice = f': pass `{name}.cast({"float" if _package(value) == "polars" else repr("float64")})`'
    raise TypeError(
        f"`{name}` is a {_package(value)} {cls.__name__} of {dtype}; indim computes with numbers and bool"
        f"{advice}"
    )


def _rows_of_lists(value, name):
    """The call that makes an array of two axes of a column of lists."""
    if _package(value) == "pyarrow":
        flat = f"{name}.combine_chunks()" if hasattr(value, "chunks") else name
        return f"{flat}.flatten().to_numpy().reshape(len({name}), -1)"
    return f"{name}.explode().to_numpy().reshape({name}.len(), -1)"


#: Packages with an engine.
_PACKAGES = ("xarray", "pandas", "dask", "cubed", "polars", "pyarrow")


def package_of(value):
    """The package with an engine that a value belongs to."""
    return _package_of_class(type(value))


@functools.lru_cache(maxsize=256)
def _package_of_class(cls):
    packages = (str(base.__module__).partition(".")[0] for base in cls.__mro__)
    return next((name for name in packages if name in _PACKAGES), None)


def is_labelled(operands):
    """Whether an array of xarray is among these."""
    xarray = sys.modules.get("xarray")
    if xarray is None:
        return False
    kinds = (xarray.DataArray, xarray.Dataset, xarray.Variable)
    return any(isinstance(value, kinds) for value in operands)


def _raise(value, name, advice):
    if advice is not None:
        cls = type(value)
        error = ForeignArrayError if _is_for_engine(value) else TypeError
        package = cls.__module__.partition(".")[0].replace("builtins", "Python")
        raise error(f"`{name}` is a {package} {cls.__name__}, {advice}")


def _is_for_engine(value):
    """Whether a value is an array of Dask or Cubed, or a labelled array of xarray or pandas. Imports
    nothing."""
    dask, cubed, xarray, pandas = map(sys.modules.get, ("dask.array", "cubed", "xarray", "pandas"))
    return (
        (dask is not None and isinstance(value, dask.Array))
        or (cubed is not None and isinstance(value, cubed.Array))
        or (xarray is not None and isinstance(value, (xarray.DataArray, xarray.Dataset, xarray.Variable)))
        or (pandas is not None and isinstance(value, (pandas.Series, pandas.DataFrame)))
        or is_column(value)
        or is_table(value)
    )


def _dask(value, name):
    if type(value).__name__ == "Delayed":
        return (
            f"whose shape and element type are not known: `dask.array.from_delayed({name}, shape, dtype)` "
            f"says them; or compute it yourself, `{name}.compute()`"
        )
    if hasattr(type(value), "map_partitions"):
        return (
            "which would be loaded whole: map a compiled function over its parts, "
            f"`{name}.map_partitions(f)`, or load it yourself, `{name}.compute().to_numpy()`"
        )
    return (
        f"which would be loaded whole: pass it to a compiled function, and the result is a Dask array; or "
        f"load it yourself, `{name}.compute()`"
    )


def _cubed(value, name):
    return (
        f"which would be loaded whole: pass it to a compiled function, and the result is a Cubed array; or "
        f"load it yourself, `{name}.compute()`"
    )


def _stored(value, name):
    if hasattr(value, "keys") and not hasattr(value, "dtype"):
        return f"which is not an array: name one in it, `{name}['...']`"
    return (
        f"which would be loaded whole: load it yourself, `{name}[...]`, or a part at a time, "
        f"`{name}[:1000]`; or have Dask load its chunks, `dask.array.from_array({name})`, and the result "
        "is a Dask array"
    )


def _xarray(value, name):
    if not _is_for_engine(value):
        return (
            "and functions take DataArrays, Datasets and Variables: have it call one for what it holds, as "
            f"`{name}.map_over_datasets(f)` of a DataTree or `{name}.map(f)` of groups"
        )
    return (
        "whose dimensions would be matched by position, not by name: a compiled function takes it as an "
        f"argument, and xarray's own operations; a function of arrays takes `{name}.data`, and "
        f"`{name}.copy(data=result)` labels a result of this shape"
    )


def _pandas(value, name):
    # An index, or an array of pandas' own types, has no labels.
    if not _is_for_engine(value):
        return None
    return (
        "whose labels would be lost, and which would be matched by position: pass it as an argument, and the "
        f"result is labelled; `{name}.to_numpy()` is the array alone"
    )


def _table(value, name):
    if is_column(value):
        return (
            f"and it is no argument here: pass it as one, and results along its rows are of its class; or "
            f"pass `{name}.to_numpy()`"
        )
    is_polars = _package(value) == "polars"
    columns = f"dict(zip({name}.column_names, {name}.columns))"
    columns = f"{name}.to_dict(as_series=True)" if is_polars else columns
    whole = f"; `{name}.to_numpy()` is the array alone" if is_polars else ""
    return (
        f"whose columns have names that would be lost: pass it to a compiled function, which reads its "
        f"columns by name; a column, `{name}[...]`; or all of them, `{columns}`{whole}"
    )


def table_error(value, name):
    """The error of a table where its columns cannot be read."""
    return TypeError(f"`{name}` is a {_package(value)} {type(value).__name__}, {_table(value, name)}")


def _polars(value, name):
    if not hasattr(value, "collect"):
        return None
    return f"which is computed later: write `{name}.collect()`, and pass it, or a column of it"


#: Advice by package: a function of a value and its name; it returns `None` for values without advice.
_ADVICE = {
    "cubed": _cubed,
    "dask": _dask,
    "dask_expr": _dask,
    "h5py": _stored,
    "netCDF4": _stored,
    "pandas": _pandas,
    "polars": _polars,
    "pyarrow": lambda value, name: None,
    "tables": _stored,
    "tensorstore": _stored,
    "xarray": _xarray,
    "zarr": _stored,
}
