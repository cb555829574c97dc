"""Calls with Series and DataFrames of pandas, whose results get the labels of the arguments.

Labels are compared, never joined: axes that meet have equal labels in the same order. The program
determines the axes that meet, and the labels of a result.
"""

from __future__ import annotations

import contextlib
import functools
import re

import numpy as np
import pandas as pd

from ._columns import Columns, MarkedSeries, WholeFrame, WholeFrameError, with_frames
from ._data_stages import run_with_graphs
from ._engines import chunked_program, run
from ._errors import ShapeError
from ._foreign import refuse_nulls
from ._indim import _graph_of_expression
from ._indim import evaluate as _evaluate
from ._sorted_labels import line_parts, lines_of, with_moved_elements
from ._trees import filled, in_container, leaves_of, mapped
from ._views import LabelIndexError


class ColumnTypeError(TypeError):
    """A DataFrame whose columns have no common type of numbers, or missing values without a type of NumPy."""


def call(compiled, function, arguments, out):
    """A compiled function called with Series and DataFrames.

    A function that reads columns by name gets each DataFrame as its columns; any other gets it as an array.
    """
    if compiled._by_columns:
        return _called(compiled, function, arguments, out, True)
    try:
        return _called(compiled, function, arguments, out, False)
    except (AttributeError, IndexError, ColumnTypeError) as error:
        if compiled._by_columns is None or not _reads_columns(error, arguments.leaves):
            raise
        refusal = error
    try:
        result = _called(compiled, function, arguments, out, True)
    except WholeFrameError:
        raise refusal from None
    compiled._by_columns = True
    return result


def _reads_columns(error, leaves):
    """Whether an error is that of an array that was asked for columns by name."""
    if not any(isinstance(leaf, pd.DataFrame) for leaf in leaves):
        return False
    if isinstance(error, (ColumnTypeError, LabelIndexError)):
        return True
    name = getattr(error, "name", None)
    return name is not None and any(hasattr(leaf, name) for leaf in leaves if isinstance(leaf, pd.DataFrame))


def _called(compiled, function, arguments, out, by_columns):
    leaves, checked = arguments.leaves, []
    arrays, labels = _arrays(leaves, arguments.names, by_columns, is_call=True)
    arguments = arguments.with_leaves(arrays)
    with _advice(leaves):
        staged = run_with_graphs(
            compiled, function, arguments, out, lambda parts: checked.append(_Labelled(parts, labels))
        )
        labelled = _Labelled(compiled._graph(arguments), labels) if staged is None else checked[-1]
    computed = run(compiled, arguments, out) if staged is None else staged
    if out is not None:
        return computed
    results = labelled.results(computed)
    return with_frames(results if staged is None else results["results"])


def frames_of_columns(template, leaves):
    """Containers like the template, whose leaves are these results; DataFrames are made of columns."""

    def columns(leaf):
        is_frame = isinstance(leaf, pd.DataFrame)
        return Columns("", dict.fromkeys(_columns(leaf, "", {}), 0), kind=pd.DataFrame) if is_frame else leaf

    return with_frames(filled(mapped(template, columns), leaves))


def evaluate(text, objects, rule, results, out):
    """An expression of Series and DataFrames."""
    arrays, labels = _arrays(objects.values(), list(objects))
    arrays = dict(zip(objects, arrays))
    with _advice(objects.values()):
        labelled = _Labelled(_graph_of_expression(text, arrays, rule, results), labels)
    computed = _evaluate(text, arrays, {}, rule=rule, results=results, out=out)
    return computed if out is not None else labelled.results(computed)


@contextlib.contextmanager
def _advice(leaves):
    """Adds help to size errors of Series: they are not joined by their labels."""
    try:
        yield
    except ShapeError as error:
        lengths = {len(leaf) for leaf in leaves if isinstance(leaf, pd.Series)}
        if error.code == "size-mismatch" and len(lengths) > 1:
            advice = "Series are not joined by their labels; align them first: `x, y = x.align(y)`"
            error.args = (f"{error}\n   = help: {advice}",)
        raise


def _arrays(leaves, names, by_columns=False, is_call=False):
    """The leaves as arrays, and by the id of each array its name and the labels of its axes. In a call of a
    compiled function DataFrames are marked as such, or trees of columns."""
    arrays, labels = [], {}
    for leaf, name in zip(leaves, names):
        if by_columns and isinstance(leaf, pd.DataFrame):
            leaf = _columns(leaf, name, labels)
        elif isinstance(leaf, (pd.Series, pd.DataFrame)):
            axes = [leaf.index] if isinstance(leaf, pd.Series) else [leaf.index, leaf.columns]
            # A new view, so that its id identifies the operand.
            array = _elements(leaf, name).view()
            labels[id(array)] = (leaf, name, axes)
            mark = WholeFrame if isinstance(leaf, pd.DataFrame) else MarkedSeries
            leaf = mark(name, array) if is_call else array
        arrays.append(leaf)
    return arrays, labels


def _columns(frame, name, labels):
    """The columns of a DataFrame as arrays, whose labels are added to ``labels``."""
    if not frame.columns.is_unique:
        raise ValueError(
            f"`{name}` has several columns of one label: rename them, and the function reads each"
        )
    columns, refused = {}, {}
    for label, column in frame.items():
        text = f"{name}[{label!r}]"
        try:
            array = _elements(column, text).view()
        except TypeError as error:
            refused[label] = str(error)
            continue
        columns[label], labels[id(array)] = array, (column, text, [frame.index])
    return Columns(name, columns, refused, pd.DataFrame)


def _elements(leaf, name):
    """The elements as one array; columns are converted to their common type."""
    try:
        refuse_nulls(leaf, name)
    except TypeError as error:
        raise ColumnTypeError(str(error)) from None
    kinds = [leaf.dtype] if isinstance(leaf, pd.Series) else list(leaf.dtypes)
    # Categories are labels, even if they are numbers.
    array = leaf.to_numpy() if not any(isinstance(kind, pd.CategoricalDtype) for kind in kinds) else None
    if array is not None and array.dtype.kind not in "OMm":
        return array
    if isinstance(leaf, pd.Series):
        raise TypeError(f"`{name}` is a Series of {leaf.dtype}; indim computes with numbers and bool")
    is_number = pd.api.types.is_numeric_dtype
    others = [f"{label!r} ({kind})" for label, kind in leaf.dtypes.items() if not is_number(kind)]
    if not others and not any(map(pd.api.types.is_bool_dtype, kinds)):
        return _in_common_type(leaf, kinds)
    if not others:
        raise ColumnTypeError(f"the columns of `{name}` are numbers and bool: convert those of bool first")
    shown = ", ".join(others[:3]) + (", ..." if len(others) > 3 else "")
    raise ColumnTypeError(
        f"`{name}` has columns that hold no numbers: {shown}. Leave them out, as "
        f'`{name}.select_dtypes("number")` does'
    )


def _in_common_type(frame, kinds):
    """Columns of numbers, some of them of pandas' own types, as one array."""
    common = np.result_type(*(getattr(kind, "numpy_dtype", kind) for kind in kinds))
    return frame.to_numpy(dtype=common)


@functools.lru_cache(maxsize=64)
def _parameters_of_results(text):
    """For each result of a graph in text form, the numbers of the parameters that it is computed from; a
    value of rank 0, such as a mean, has none."""
    sources = {}
    for line in lines_of(text):
        parts = line_parts(line)
        if parts is not None:
            name, operation, operands, _, shape = parts
            own = {int(name[1:])} if operation == "parameter" else set()
            own = own.union(*(sources.get(operand, ()) for operand in operands))
            sources[name] = own if shape else set()
        elif line.lstrip().startswith("return "):
            return [sources[result] for result in re.findall(r"%\d+", line)]
    return []


class _Labelled:
    """The labels of the axes of a program. Axes that meet have equal labels, even if one has size 1."""

    def __init__(self, parts, labels):
        text, operands, self._kind, self._keys = parts
        leaves = [labels.get(id(array), (None,))[0] for array in operands]
        #: The names of results.
        self._names = [_common_name(leaves[at] for at in found) for found in _parameters_of_results(text)]
        inputs, self._outputs = chunked_program(with_moved_elements(text)).axis_classes()
        #: By the class number of an axis: the name of an operand with this axis, and its labels.
        self._labels_by_class = {}
        for array, numbers in zip(operands, inputs):
            _, name, axes = labels.get(id(array), (None, None, ()))
            for axis, number in zip(axes, numbers):
                _check_equal_labels(self._labels_by_class.setdefault(number, (name, axis)), (name, axis))

    def results(self, computed):
        """The results, with labels if their axes have them."""
        values = list(leaves_of(computed))
        for position, (numbers, name) in enumerate(zip(self._outputs, self._names, strict=True)):
            values[position] = _with_labels(values[position], self._labels_of(numbers), name)
        return in_container(self._kind, self._keys, values)

    def _labels_of(self, numbers):
        """The labels of all axes of a result; ``None`` if some axis belongs to no labelled operand."""
        labels = [self._labels_by_class[number][1] for number in numbers if number in self._labels_by_class]
        return labels if len(labels) == len(numbers) else None


def _check_equal_labels(known, other):
    (known_name, known_axis), (name, axis) = known, other
    if not known_axis.equals(axis):
        raise ValueError(
            f"the labels of `{name}` differ from those of `{known_name}` along a common axis: {_short(axis)} "
            f"and {_short(known_axis)}. Align them first, for example by `x, y = x.align(y)`, or pass "
            "`.to_numpy()` to match by position"
        )


def _short(axis):
    text = ", ".join(repr(label) for label in axis[:3].tolist())
    return f"[{text}{', ...' if len(axis) > 3 else ''}] ({len(axis)})"


def _with_labels(value, labels, name):
    if labels is None or value.ndim not in (1, 2) or value.shape != tuple(map(len, labels)):
        return value
    if value.ndim == 1:
        return pd.Series(value, index=labels[0], name=name)
    return pd.DataFrame(value, index=labels[0], columns=labels[1])


def like(argument, array):
    """An array of the shape of a Series or DataFrame with its labels and its name; a labelled one keeps its
    labels."""
    if isinstance(array, (pd.Series, pd.DataFrame)):
        return array.rename(argument.name) if argument.ndim == array.ndim == 1 else array
    if not isinstance(argument, (pd.Series, pd.DataFrame)) or array.shape != argument.shape:
        return array
    made = _with_labels(array, argument.axes, None)
    return made.rename(argument.name) if made.ndim == 1 else made


def _common_name(arguments):
    """The name that all Series among these arguments have, as pandas keeps it."""
    names = {leaf.name for leaf in arguments if isinstance(leaf, pd.Series)}
    return names.pop() if len(names) == 1 else None
