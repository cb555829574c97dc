"""DataFrames in compiled functions: trees of columns, each of its own type, or one array."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from ._operators import UFUNCS_OF_SYMBOLS, define_operators
from ._tracing import Tracer
from ._trees import is_node, items_of, rebuilt, register


class FrameUseError(TypeError):
    """A use of a DataFrame of columns that needs it as one array, or as pandas' own object."""


class WholeFrameError(FrameUseError):
    """A use of all columns of a DataFrame, although some hold no numbers."""


class MissingColumnError(FrameUseError, KeyError):
    """A label that no column has."""

    __str__ = Exception.__str__


class Columns:
    """The columns of a DataFrame or table of the class ``kind``, by label. ``refused`` maps the label of each
    column without numbers to its error message."""

    is_columns = True

    def __init__(self, name, columns, refused=(), kind=None):
        self._name, self._columns, self._refused, self._kind = name, dict(columns), dict(refused), kind

    def __getitem__(self, key):
        if isinstance(key, list):
            return Columns(self._name, {label: self[label] for label in key}, kind=self._kind)
        if isinstance(key, (int, np.integer)):
            # A DataFrame that is one array gives a row.
            raise self._error(f"`{self._name}[{key}]` may be a row or a column, so name columns by texts")
        if isinstance(key, Hashable) and key in self._refused:
            raise FrameUseError(self._refused[key])
        if isinstance(key, Hashable) and key in self._columns:
            return self._columns[key]
        shown = ", ".join(map(repr, list(self._columns)[:8]))
        raise MissingColumnError(f"{key!r} is no column of `{self._name}`, whose columns are {shown}")

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._columns or name in self._refused:
            return self[name]
        raise self._error(f"`{self._name}` has no `{name}`")

    def __setitem__(self, key, value):
        raise self._error(f"`{self._name}` takes no assignment: write {self._name}.assign({key}=...)")

    def item_names(self):
        return [f"{self._name}_{label}" for label in self._columns]

    def _error(self, what):
        return FrameUseError(
            f"{what}: a compiled function that reads columns by name takes a DataFrame as its columns. Call "
            f"functions of the columns, {self._name}['x'].mean(), or of `{self._name}.to_numpy()`, an array"
        )

    def check_complete(self):
        """Raises ``FrameUseError`` if a result would lack columns."""
        if self._refused:
            lost, kept = ", ".join(map(repr, self._refused)), list(self._columns)
            raise FrameUseError(
                f"the result would lack the columns {lost} of `{self._name}`, which hold no numbers: return "
                f"{self._name}[{kept}], or single columns"
            )

    def of_derivatives(self, items):
        """Derivatives with respect to the columns: a dict if some are no columns. A column without numbers
        has none."""
        by_label = dict(zip(self._columns, items))
        if any(is_node(item) or item.ndim > 1 for item in items):
            return by_label
        return Columns(self._name, by_label, kind=self._kind)

    def _check_numbers(self):
        for message in self._refused.values():
            raise WholeFrameError(message)

    @property
    def columns(self):
        self._check_numbers()
        return list(self._columns)

    keys = columns.fget

    def items(self):
        return self._columns.items()

    def __iter__(self):
        return iter(self._columns)

    def __contains__(self, label):
        return label in self._columns or label in self._refused

    def __len__(self):
        return len(next(iter(self._columns.values()), ()))

    @property
    def shape(self):
        return len(self), len(self._columns) + len(self._refused)

    def to_numpy(self):
        """The columns as one array of their common type."""
        self._check_numbers()
        return np.stack(list(self._columns.values()), axis=-1)

    values = property(to_numpy)

    def assign(self, **columns):
        """The columns with others, which are arrays or functions of the DataFrame."""
        made = Columns(self._name, self._columns, self._refused, self._kind)
        for label, value in columns.items():
            made._columns[label] = value(made) if callable(value) else value
        return made

    #: The name of `assign` in polars.
    with_columns = assign

    # Operations by columns.

    def __array_ufunc__(self, ufunc, method, *operands, **keywords):
        if method != "__call__" or ufunc.nout != 1:
            return NotImplemented
        frames = [operand for operand in operands if isinstance(operand, Columns)]
        for frame in frames:
            frame._check_numbers()
            if frame.columns != self.columns:
                raise FrameUseError(f"`{frame._name}` and `{self._name}` have different columns")
        for operand in operands:
            if not isinstance(operand, Columns) and len(getattr(operand, "shape", ())) > 0:
                raise self._error(f"`{self._name}` meets arrays column by column only")
        return Columns(
            self._name,
            {
                label: ufunc(*(x[label] if isinstance(x, Columns) else x for x in operands), **keywords)
                for label in self._columns
            },
            kind=self._kind,
        )

    def _operator(self, symbol, x, y):
        return UFUNCS_OF_SYMBOLS[symbol](x, y)

    def __neg__(self):
        return np.negative(self)

    def __abs__(self):
        return np.absolute(self)


define_operators(Columns, Columns._operator)


class MarkedSeries:
    """A Series of ``package``, for a compiled function, which gets the array."""

    def __init__(self, name, array, package="pandas"):
        self._name, self._array, self._package = name, array, package

    def item_names(self):
        return [self._name]


def _as_marked(static, array):
    """The array of a Series; a traced one notes the package, some of whose methods differ from NumPy's."""
    name, package = static
    if not isinstance(array, Tracer):
        return MarkedSeries(name, array, package)
    array._recording.outermost().package = package
    return array


class WholeFrame:
    """A DataFrame that is one array in a compiled function, which gets the array."""

    def __init__(self, name, array):
        self._name, self._array = name, array

    def item_names(self):
        return [self._name]


def _as_array(name, array):
    """The array of a whole DataFrame; a traced one is noted, because some methods differ from pandas."""
    if not isinstance(array, Tracer):
        return WholeFrame(name, array)
    array._recording.frames[array._name] = array._shape
    array._recording.outermost().package = "pandas"
    return array


def _as_columns(static, items):
    """The columns of a table; traced ones note its package."""
    name, labels, refused, kind = static
    package = getattr(kind, "__module__", "").partition(".")[0]
    if package in ("pandas", "polars") and items and isinstance(items[0], Tracer):
        items[0]._recording.outermost().package = package
    return Columns(name, dict(zip(labels, items)), dict(refused), kind)


register(
    MarkedSeries,
    lambda series: ([series._array], (series._name, series._package)),
    lambda static, items: _as_marked(static, *items),
)

register(
    WholeFrame, lambda frame: ([frame._array], frame._name), lambda name, items: _as_array(name, *items)
)

register(
    Columns,
    lambda frame: (
        list(frame._columns.values()),
        (frame._name, tuple(frame._columns), tuple(frame._refused.items()), frame._kind),
    ),
    _as_columns,
)


def with_frames(value):
    """Results in which columns are a DataFrame or table again."""
    if not isinstance(value, Columns):
        return rebuilt(value, list(map(with_frames, items_of(value)))) if is_node(value) else value
    value.check_complete()
    columns = dict(value.items())
    # One number stands in all rows.
    rows = next((len(column) for column in columns.values() if getattr(column, "ndim", 1)), 1)
    columns = {
        label: column if getattr(column, "ndim", 1) else np.broadcast_to(column, rows)
        for label, column in columns.items()
    }
    # A class of pyarrow makes tables by this method.
    return getattr(value._kind, "from_pydict", value._kind)(columns)
