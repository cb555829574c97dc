"""Calls with Series and DataFrames of pandas, whose results get the labels of the arguments.

Labels are compared, never joined: axes that meet have equal labels in the same order. The program
determines the axes that meet, and the labels of a result.
"""

from __future__ import annotations

import contextlib

import numpy as np
import pandas as pd

from ._engines import chunked_program
from ._errors import ShapeError
from ._foreign import refuse_nulls
from ._indim import _graph_of_expression
from ._indim import evaluate as _evaluate
from ._trees import in_container, leaves_of


def call(compiled, function, arguments, out):
    """A compiled function called with Series and DataFrames."""
    leaves = arguments.leaves
    arrays, labels = _arrays(leaves, arguments.names)
    arguments = arguments.with_leaves(arrays)
    with _advice(leaves):
        labelled = _Labelled(compiled._graph(arguments), labels)
    computed = compiled(*arguments, out=out)
    return computed if out is not None else labelled.results(computed, leaves)


def evaluate(text, objects, rule, results, out):
    """An expression of Series and DataFrames."""
    arrays, labels = _arrays(objects.values(), list(objects))
    arrays = dict(zip(objects, arrays))
    with _advice(objects.values()):
        labelled = _Labelled(_graph_of_expression(text, arrays, rule, results), labels)
    computed = _evaluate(text, arrays, {}, rule=rule, results=results, out=out)
    return computed if out is not None else labelled.results(computed, objects.values())


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


def _arrays(leaves, names):
    """The leaves as arrays, and by the id of each array its name and the labels of its axes."""
    arrays, labels = [], {}
    for leaf, name in zip(leaves, names):
        if isinstance(leaf, (pd.Series, pd.DataFrame)):
            axes = [leaf.index] if isinstance(leaf, pd.Series) else [leaf.index, leaf.columns]
            # A new view, so that its id identifies the operand.
            leaf = _elements(leaf, name).view()
            labels[id(leaf)] = (leaf, name, axes)
        arrays.append(leaf)
    return arrays, labels


def _elements(leaf, name):
    """The elements as one array; columns are converted to their common type."""
    refuse_nulls(leaf, name)
    kinds = [leaf.dtype] if isinstance(leaf, pd.Series) else list(leaf.dtypes)
    # Categories are labels, even if they are numbers.
    array = leaf.to_numpy() if not any(isinstance(kind, pd.CategoricalDtype) for kind in kinds) else None
    if array is not None and array.dtype != object:
        return array
    if isinstance(leaf, pd.Series):
        raise TypeError(f"`{name}` is a Series of {leaf.dtype}; indim computes with numbers and bool")
    is_number = pd.api.types.is_numeric_dtype
    others = [f"{label!r} ({kind})" for label, kind in leaf.dtypes.items() if not is_number(kind)]
    if not others and not any(map(pd.api.types.is_bool_dtype, kinds)):
        return _in_common_type(leaf, kinds)
    if not others:
        raise TypeError(f"the columns of `{name}` are numbers and bool: convert those of bool first")
    shown = ", ".join(others[:3]) + (", ..." if len(others) > 3 else "")
    raise TypeError(
        f"`{name}` has columns that hold no numbers: {shown}. Leave them out, as "
        f'`{name}.select_dtypes("number")` does'
    )


def _in_common_type(frame, kinds):
    """Columns of numbers, some of them of pandas' own types, as one array."""
    common = np.result_type(*(getattr(kind, "numpy_dtype", kind) for kind in kinds))
    return frame.to_numpy(dtype=common)


class _Labelled:
    """The labels of the axes of a program. Axes that meet have equal labels, even if one has size 1."""

    def __init__(self, parts, labels):
        text, operands, self._kind, self._keys = parts
        inputs, self._outputs = chunked_program(text).axis_classes()
        #: By the class number of an axis: the name of an operand with this axis, and its labels.
        self._labels_by_class = {}
        for array, numbers in zip(operands, inputs):
            _, name, axes = labels.get(id(array), (None, None, ()))
            for axis, number in zip(axes, numbers):
                _check_equal_labels(self._labels_by_class.setdefault(number, (name, axis)), (name, axis))

    def results(self, computed, arguments):
        """The results, with labels if their axes have them."""
        values = list(leaves_of(computed))
        name = _common_name(arguments)
        for position, numbers in enumerate(self._outputs):
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


def _common_name(arguments):
    """The name that all Series among the arguments have, as pandas keeps it."""
    names = {leaf.name for leaf in arguments if isinstance(leaf, pd.Series)}
    return names.pop() if len(names) == 1 else None
