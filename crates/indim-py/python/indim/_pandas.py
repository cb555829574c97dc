"""Series and DataFrames of pandas: in with their labels, and out with them.

Labels are compared, never joined: where axes meet, their labels are equal, in the same order. Which axes
meet, and which labels a result has, is read off the program.
"""

from __future__ import annotations

import pandas as pd

from ._engines import chunked_program, returned
from ._indim import _graph_of_expression
from ._indim import evaluate as _evaluate


def call(compiled, function, arguments, out):
    """A compiled function called with Series and DataFrames."""
    leaves = arguments.leaves
    arrays, labels = _arrays(leaves, arguments.names)
    arguments = arguments.with_leaves(arrays)
    labelled = _Labelled(compiled._graph(arguments), labels)
    computed = compiled(*arguments, out=out)
    return computed if out is not None else labelled.results(computed, leaves)


def evaluate(text, objects, rule, results, out):
    """An expression of Series and DataFrames."""
    arrays, labels = _arrays(objects.values(), list(objects))
    arrays = dict(zip(objects, arrays))
    labelled = _Labelled(_graph_of_expression(text, arrays, rule, results), labels)
    computed = _evaluate(text, arrays, {}, rule=rule, results=results, out=out)
    return computed if out is not None else labelled.results(computed, objects.values())


def _arrays(leaves, names):
    """The leaves as arrays, and, by the ids of these, what they are called with the labels of their axes."""
    arrays, labels = [], {}
    for leaf, name in zip(leaves, names):
        if isinstance(leaf, (pd.Series, pd.DataFrame)):
            axes = [leaf.index] if isinstance(leaf, pd.Series) else [leaf.index, leaf.columns]
            # A view of its own: the id tells the operand.
            leaf = leaf.to_numpy().view()
            labels[id(leaf)] = (leaf, name, axes)
        arrays.append(leaf)
    return arrays, labels


class _Labelled:
    """Which labels the axes of a program have. Those that meet are equal."""

    def __init__(self, parts, labels):
        text, operands, self._kind, self._keys = parts
        self._program = chunked_program(text)
        #: What is called how with which labels, by the cut of the axis; those of operands by their shapes.
        self._met, self._shapes = {}, {}
        for array, (_, _, shape, cuts) in zip(operands, self._program.parameters()):
            _, name, axes = labels.get(id(array), (None, None, ()))
            if axes:
                self._shapes.setdefault(tuple(shape), axes)
            for axis, cut in zip(axes, cuts):
                if cut is not None:
                    _meet(self._met.setdefault(cut, (name, axis)), (name, axis))

    def results(self, computed, given):
        """The results with labels, where they have some."""
        values = [computed] if self._kind == "single" else computed
        values = list(values.values() if self._kind == "dict" else values)
        name = _common_name(given)
        for position, (_, _, shape, cuts) in enumerate(self._program.outputs()):
            values[position] = _with_labels(values[position], self._labels_of(shape, cuts), name)
        return returned(self._kind, self._keys, values)

    def _labels_of(self, shape, cuts):
        """The labels of each axis of a result; none where an axis has none of an operand's."""
        if all(cut in self._met for cut in cuts):
            return [self._met[cut][1] for cut in cuts]
        # An axis of size 1 meets every other; of a result like an operand it is that operand's.
        return self._shapes.get(tuple(shape)) if 1 in shape else None


def _meet(known, other):
    (known_name, known_axis), (name, axis) = known, other
    if not known_axis.equals(axis):
        raise ValueError(
            f"the labels of `{name}` are not those of `{known_name}`, which they meet: {_short(axis)} and "
            f"{_short(known_axis)}. Align them first, such as by `x, y = x.align(y)`, or pass "
            "`.to_numpy()` to match by position"
        )


def _short(axis):
    text = ", ".join(repr(label) for label in axis[:3].tolist())
    return f"[{text}{', ...' if len(axis) > 3 else ''}] ({len(axis)})"


def _with_labels(value, labels, name):
    if labels is None or value.ndim not in (1, 2):
        return value
    if value.ndim == 1:
        return pd.Series(value, index=labels[0], name=name)
    return pd.DataFrame(value, index=labels[0], columns=labels[1])


def _common_name(given):
    """The name that all Series among the arguments have, as pandas keeps it."""
    names = {leaf.name for leaf in given if isinstance(leaf, pd.Series)}
    return names.pop() if len(names) == 1 else None
