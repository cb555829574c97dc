"""Collectives of ``jax.lax`` within ``vmap(f, axis_name=...)``: functions of the values of all elements.

A collective cuts the recorded function of one element: the recording around computes the operand for all
elements, and then the result, which is a parameter of the rest.
"""

from __future__ import annotations

import operator

import numpy as np

from ._functions import asarray
from ._lax_functions import reduce_sum
from ._numbers import is_number
from ._recording import resumed, running_recording
from ._shape_functions import axis_index as _axis_index
from ._tracing import Tracer
from ._trees import mapped


def psum(x, axis_name, *, axis_index_groups=None):
    """The sum over the elements of a batch, for each leaf of the tree ``x``."""
    return _reduced("psum", _sum, x, axis_name, axis_index_groups)


def _sum(whole, axis):
    """The sum in the element type of JAX: that of the operand, and int32 for truth values."""
    whole = whole.astype(np.int32) if whole.dtype.kind == "b" else whole
    return reduce_sum(whole, (axis,))


def pmean(x, axis_name, *, axis_index_groups=None):
    """The mean over the elements of a batch, for each leaf of the tree ``x``."""
    return _reduced("pmean", np.mean, x, axis_name, axis_index_groups)


def pmax(x, axis_name, *, axis_index_groups=None):
    """The greatest of the elements of a batch, for each leaf of the tree ``x``."""
    return _reduced("pmax", np.max, x, axis_name, axis_index_groups)


def pmin(x, axis_name, *, axis_index_groups=None):
    """The smallest of the elements of a batch, for each leaf of the tree ``x``."""
    return _reduced("pmin", np.min, x, axis_name, axis_index_groups)


def all_gather(x, axis_name, *, axis_index_groups=None, axis=0, tiled=False):
    """The values of all elements of a batch along a new axis; with ``tiled`` along an existing one."""

    def gathered(leaf, batch):
        leaf = asarray(leaf)
        at = _axis_index(axis, leaf.ndim + (not tiled))
        found = _across(batch, leaf, lambda whole: np.moveaxis(whole, 0, at), None)
        if not tiled:
            return found
        shape = list(leaf.shape)
        shape[at] *= _size(batch)
        return found.reshape(shape)

    return _of_leaves("all_gather", gathered, x, axis_name, axis_index_groups)


def ppermute(x, axis_name, perm):
    """The values of other elements of a batch: ``perm`` has pairs of a source and a destination. An element
    that is no destination gets zeros."""

    def permuted(leaf, batch):
        size = _size(batch)
        sources = np.full(size, -1)
        for source, destination in perm:
            if not (0 <= operator.index(source) < size and 0 <= operator.index(destination) < size):
                pair = f"({source}, {destination})"
                raise ValueError(f"ppermute takes elements from 0 to {size - 1} of the batch, unlike {pair}")
            sources[operator.index(destination)] = operator.index(source)
        if len({*(pair[0] for pair in perm)}) != len(perm) or len({*(pair[1] for pair in perm)}) != len(perm):
            raise ValueError(f"ppermute takes each source and each destination once, unlike {list(perm)}")

        def moved(whole):
            found = np.take(whole, np.maximum(sources, 0), axis=0)
            is_set = (sources >= 0).reshape(-1, *(1,) * (whole.ndim - 1))
            return np.where(is_set, found, np.zeros((), whole.dtype))

        return _across(batch, leaf, moved, 0)

    return _of_leaves("ppermute", permuted, x, axis_name, None)


def all_to_all(x, axis_name, split_axis, concat_axis, *, axis_index_groups=None, tiled=False):
    """For each element of a batch its parts of all elements: the axis ``split_axis`` is divided between the
    elements, and the parts are stacked along ``concat_axis``."""
    if tiled:
        raise TypeError("all_to_all takes no `tiled`: reshape the operand and the result")

    def exchanged(leaf, batch):
        leaf, size = asarray(leaf), _size(batch)
        split, concat = (_axis_index(axis, leaf.ndim) for axis in (split_axis, concat_axis))
        if leaf.shape[split] != size:
            raise ValueError(f"all_to_all splits an axis of {leaf.shape[split]} among {size} elements")

        def moved(whole):
            return np.moveaxis(np.moveaxis(whole, split + 1, 0), 1, concat + 1)

        return _across(batch, leaf, moved, 0)

    return _of_leaves("all_to_all", exchanged, x, axis_name, axis_index_groups)


def axis_index(axis_name):
    """The position of the element in its batch."""
    batch = _batch(axis_name, "axis_index")
    outer = batch.recording.outer
    positions = outer.tracer(np.arange(_size(batch), dtype=np.int32), "axis_index")
    return running_recording().lift(batch.parameter(positions, 0))


def axis_size(axis_name):
    """The number of elements of a batch."""
    return _size(_batch(axis_name, "axis_size"))


def _reduced(name, function, x, axis_name, groups):
    def reduced(leaf, batch):
        if is_number(leaf):
            return leaf * _size(batch) if name == "psum" else leaf
        return _across(batch, leaf, lambda whole: function(whole, axis=0), None)

    # Means of means are means, because all batches of one name have one size.
    for one in reversed(axis_name) if isinstance(axis_name, (tuple, list)) else (axis_name,):
        x = _of_leaves(name, reduced, x, one, groups)
    return x


def _of_leaves(name, function, x, axis_name, groups):
    if groups is not None:
        raise TypeError(f"{name} takes no `axis_index_groups`: split the batch by two nested calls of vmap")
    batch = _batch(axis_name, name)
    return mapped(x, lambda leaf: function(leaf, batch))


def _batch(axis_name, collective):
    """The innermost running batch of this name."""
    recording = running_recording()
    while recording is not None:
        if recording.batch is not None and recording.batch.axis_name == axis_name is not None:
            return recording.batch
        recording = recording.outer
    raise NameError(
        f"{collective} takes the name of an axis of a running vmap, and {axis_name!r} is none: write "
        f"indim.vmap(f, axis_name={axis_name!r})"
    )


def _size(batch):
    """The number of elements; the program is then valid for this number alone."""
    if batch.sized is not None:
        batch.sized._used_shape()
    return batch.size


def _across(batch, leaf, function, axis):
    """``function`` of the values for all elements of the batch, along axis 0, as a value of the recording
    that runs. ``axis`` is the axis of the result that belongs to the batch, or None."""
    running = running_recording()
    path = _path(running, batch)
    value = running.tracer(leaf if isinstance(leaf, Tracer) else np.asarray(leaf), "x")
    for inner in path:
        (value,) = inner.values([value], [0])
    outer = batch.recording.outer
    with resumed(outer):
        value = outer.tracer(function(value) if len(path) == 1 else _inner(function, value, axis, path), "x")
    for inner in reversed(path):
        value = inner.parameter(value, axis if inner is batch else 0)
    return value


def _inner(function, value, axis, path):
    """``function`` of the values for the elements of nested batches, whose axes follow that of the outermost
    one; the result has them first, or after the batch axis."""
    from ._vectorized import vmap

    for _ in path[1:]:
        function = vmap(function, in_axes=1, out_axes=0 if axis is None else 1)
    return function(value)


def _path(running, batch):
    """The batches from the recording that runs to ``batch``, the innermost first."""
    path, recording = [], running
    while True:
        if recording.batch is None:
            what = "the derivative of a function" if recording.derivative_mode else "a loop or branch"
            raise TypeError(
                f"a collective over the axis {batch.axis_name!r} stands in {what} within vmap, which "
                "computes each element by itself: call it before or after, or differentiate the function "
                "of vmap"
            )
        path.append(recording.batch)
        if recording.batch is batch:
            return path
        recording = recording.outer
