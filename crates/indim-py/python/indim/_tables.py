"""Calls with Series and DataFrames of polars, and with arrays and tables of pyarrow.

A result along the rows of an argument is of the argument's class, and a Series keeps its name. Rows have no
labels, so arrays meet by position. A table is a container of its columns.
"""

from __future__ import annotations

import numpy as np

from ._columns import Columns, MarkedSeries, with_frames
from ._data_stages import run_with_graphs
from ._engines import chunked_program, run
from ._foreign import is_table, package_of, table_error, without_package
from ._indim import _graph_of_expression
from ._indim import evaluate as _evaluate
from ._trees import filled, in_container, leaves_of, mapped


def call(compiled, function, arguments, out):
    """A compiled function called with Series, arrays and tables."""
    if compiled._by_columns is None:
        for leaf, name in zip(arguments.leaves, arguments.names):
            if is_table(leaf):
                # The caller counts a table as one value.
                raise table_error(leaf, name)
    arrays, rows = _arrays(arguments.leaves, arguments.names, is_call=True)
    arguments = arguments.with_leaves(arrays)
    graphs = []
    # A result whose size depends on data has rows of its own.
    staged = run_with_graphs(compiled, function, arguments, out, graphs.append)
    if staged is not None:
        return with_frames(_in_packages(graphs[-1], rows, staged)["results"])
    parts = compiled._graph(arguments)
    computed = run(compiled, arguments, out)
    return computed if out is not None else with_frames(_in_packages(parts, rows, computed))


def evaluate(text, objects, rule, results, out):
    """An expression of Series, and of arrays of pyarrow."""
    for name, value in objects.items():
        if is_table(value):
            raise table_error(value, name)
    arrays, rows = _arrays(objects.values(), list(objects))
    arrays = dict(zip(objects, arrays))
    parts = _graph_of_expression(text, arrays, rule, results)
    computed = _evaluate(text, arrays, {}, rule=rule, results=results, out=out)
    return computed if out is not None else _in_packages(parts, rows, computed)


def frames_of_columns(template, leaves):
    """Containers like the template, whose leaves are these results; tables are made of columns."""

    def columns(leaf):
        is_whole = not is_table(leaf)
        # Columns without numbers have no gradient.
        return leaf if is_whole else Columns("", dict.fromkeys(_columns(leaf, "", {}), 0), kind=type(leaf))

    return with_frames(filled(mapped(template, columns), leaves))


def _arrays(leaves, names, is_call=False):
    """The leaves as arrays, tables as trees of columns; and by the id of each array the value that it was."""
    arrays, rows = [], {}
    for leaf, name in zip(leaves, names):
        if is_table(leaf):
            leaf = _columns(leaf, name, rows)
        else:
            array = without_package(leaf, name)
            if array is not leaf:
                is_marked = is_call and package_of(leaf) == "polars"
                array = _noted(array, leaf, rows)
                leaf = MarkedSeries(name, array, "polars") if is_marked else array
        arrays.append(leaf)
    return arrays, rows


def _noted(array, value, rows):
    # A new view, so that its id identifies the operand.
    array = array.view()
    rows[id(array)] = value
    return array


def _columns(table, name, rows):
    """The columns of a table as arrays."""
    labels = table.columns if hasattr(table, "get_columns") else table.column_names
    columns = table.get_columns() if hasattr(table, "get_columns") else table.columns
    if len(set(labels)) != len(labels):
        raise ValueError(
            f"`{name}` has several columns of one name: rename them, and the function reads each"
        )
    kept, refused = {}, {}
    for label, column in zip(labels, columns):
        text = f"{name}[{label!r}]"
        try:
            array = without_package(column, text)
        except TypeError as error:
            refused[label] = str(error)
            continue
        kept[label] = _noted(array, column, rows)
    return Columns(name, kept, refused, type(table))


def _in_packages(parts, rows, computed):
    """The results; those along the rows of an argument are of its class."""
    text, operands, kind, keys = parts
    inputs, outputs = chunked_program(text).axis_classes()
    owners = {}
    for array, numbers in zip(operands, inputs):
        if numbers and id(array) in rows:
            # Rows of size 1 may meet longer ones.
            owners.setdefault((numbers[0], len(array)), rows[id(array)])
    values = list(leaves_of(computed))
    for position, numbers in enumerate(outputs):
        if len(numbers) == 1:
            owner = owners.get((numbers[0], len(values[position])))
            values[position] = values[position] if owner is None else like(owner, values[position])
    return in_container(kind, keys, values)


def like(value, array):
    """An array as a Series or array of pyarrow like ``value``; itself, if its type is none of the package."""
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        return array
    if type(value).__module__.partition(".")[0] == "polars":
        return type(value)(value.name, array)
    import pyarrow

    if isinstance(value, pyarrow.ChunkedArray):
        return pyarrow.chunked_array([pyarrow.array(array)])
    return pyarrow.array(array)
