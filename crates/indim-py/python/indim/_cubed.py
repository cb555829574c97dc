"""Cubed arrays: programs over their chunks, computed when Cubed computes, within the memory of its ``Spec``.

The stages of a program are those of Dask (`_dask.py`). Each is one operation of Cubed's plan, and so is each
level of the tree that combines partial results.
"""

from __future__ import annotations

import itertools
import math
import warnings

import cubed
import numpy as np

try:
    from cubed.core.ops import general_blockwise
    from cubed.primitive.blockwise import ChunkKey, FunctionArgs
except ImportError as error:
    raise ImportError(
        f"indim computes arrays of Cubed 0.27 or later, and this is {cubed.__version__}: update it"
    ) from error

from . import _arrays
from ._engines import chunked_program
from ._stages import TASK_FAN_IN, ChunkEngine, aligned_length, combine, run_stage, with_slices, with_sources

#: Maximum bytes of an array that Cubed puts into its plan; larger ones are cut into chunks by tasks.
_MAX_PLAN_BYTES = 1_000_000


def lazy_results(parts, sources):
    """The results of a graph, its text and operands, as Cubed arrays."""
    text, operands = parts
    (_, first, _), *_ = sources.values()
    operands = with_sources(operands, sources)
    operands, is_sliced = with_slices(text, operands, cubed.Array)
    program, is_counted = chunked_program(text, False, is_sliced), False
    if _merged_cuts(program, _chunk_sizes(program, operands)):
        # `iota` can be cut if each chunk gets its offset.
        program, is_counted = chunked_program(text, True, is_sliced), True
    sizes = _legal_sizes(program, operands)
    first_cuts = program.first_cuts()
    is_cut = [sizes[cut] < size or cut in first_cuts for cut, (size, _) in enumerate(program.cuts())]
    values = {}
    for array, (number, _, shape, cuts) in zip(operands, program.parameters()):
        chunks = tuple(size if cut is None else sizes[cut] for size, cut in zip(shape, cuts))
        values[number] = _rechunked(array, chunks, first.spec)
    for number, _, (size,), (cut,) in program.parameters()[len(operands) :]:
        chunks = (size if cut is None else sizes[cut],)
        values[number] = cubed.arange(size, dtype=np.int64, chunks=chunks, spec=first.spec)
    for number, description in enumerate(program.stages(is_cut)):
        key = text, is_counted, is_sliced, tuple(is_cut), number
        values.update(_Stage(key, description, sizes, first.spec).results(values))
    return [values[number] for number, *_ in program.outputs()]


def _rechunked(array, chunks, spec):
    if isinstance(array, cubed.Array):
        try:
            return array if array.chunksize == chunks else cubed.rechunk(array, chunks)
        except ValueError as error:
            raise ValueError(
                f"an array of shape {array.shape} in chunks of {array.chunksize} needs chunks of {chunks}, "
                f"and Cubed cannot rechunk it within its memory: {error}. Create it with these chunks or "
                "smaller ones, or with a `cubed.Spec` of more `allowed_mem`. A reduction takes chunks of "
                "512, 1024, 2048, ... elements along its axis as they are"
            ) from error
    create = cubed.asarray if array.nbytes <= _MAX_PLAN_BYTES else cubed.from_array
    return create(array, chunks=chunks, spec=spec)


# The chunks. Those of Cubed have one size along each axis, except the last.


def _chunk_sizes(program, operands):
    """The chunk size along each cut: the smallest one of the operands, so that tasks need no more memory."""
    sizes = [size for size, _ in program.cuts()]
    for array, (_, _, _, cuts) in zip(operands, program.parameters()):
        if isinstance(array, cubed.Array):
            for cut, size in zip(cuts, array.chunksize):
                if cut is not None:
                    sizes[cut] = min(sizes[cut], size)
    return sizes


def _merged_cuts(program, sizes):
    """The cuts whose chunks must be merged into one."""
    return [
        cut for cut, (size, policy) in enumerate(program.cuts()) if sizes[cut] < size and policy == "nowhere"
    ]


def _legal_sizes(program, operands):
    """Chunk sizes along each cut that the program allows."""
    sizes = _chunk_sizes(program, operands)
    for cut in _merged_cuts(program, sizes):
        warnings.warn(
            f"an axis of size {program.cuts()[cut][0]} is rechunked into one chunk, because a slice, a "
            "concatenation, a product or an operation that moves elements needs all of it",
            RuntimeWarning,
            stacklevel=5,
        )
        sizes[cut] = program.cuts()[cut][0]
    for cut, (size, policy) in enumerate(program.cuts()):
        if sizes[cut] < size and policy == "aligned":
            length = min(size, aligned_length(sizes[cut]))
            _divide(program, sizes, cut, length / sizes[cut])
            sizes[cut] = length
    return sizes


def _divide(program, sizes, grown, factor):
    """Divides the chunks along the cuts that some input has together with ``grown``, to keep their memory
    when they grow by ``factor``."""
    together = {
        cut
        for _, _, _, cuts in program.parameters()
        if grown in cuts
        for cut in cuts
        if cut is not None and program.cuts()[cut][1] == "anywhere"
    }
    for cut in sorted(together, key=lambda cut: -sizes[cut]):
        count = min(int(factor), sizes[cut])
        if count > 1:
            sizes[cut] = math.ceil(sizes[cut] / count)
            factor /= count


def _regular(size, length):
    """The sizes of chunks of this length."""
    whole, rest = divmod(size, length) if length else (0, 0)
    return (length,) * whole + ((rest,) if rest or not size else ())


# The operations of the plan.


class _Stage:
    """One stage of a program: its operations in Cubed's plan."""

    def __init__(self, program, description, sizes, spec):
        self._program = program
        self._shape, self._cuts, inputs, self._outputs, self._reduced, _ = description
        self._inputs = [(number, tuple(axes)) for number, axes in inputs]
        #: The chunk sizes along each axis of the stage.
        self._chunks = [
            _regular(size, size if cut is None else sizes[cut]) for size, cut in zip(self._shape, self._cuts)
        ]
        self._spec = spec

    def results(self, values):
        """The arrays of the stage's outputs, by the numbers of their values."""
        arrays = [values[number] for number, _ in self._inputs]
        input_axes = [axes for _, axes in self._inputs]
        for axis, sizes in enumerate(self._chunks):
            # No input has this axis; an array of zeros, which takes no memory, states its chunk sizes.
            if len(sizes) > 1 and not any(axis in axes for axes in input_axes):
                arrays.append(cubed.zeros(sum(sizes), dtype=bool, chunks=(sizes[0],), spec=self._spec))
                input_axes.append((axis,))
        if not arrays:
            arrays, input_axes = [cubed.zeros((), spec=self._spec)], [()]
        counts = tuple(1 if reduction is None else reduction[1] for _, reduction in self._outputs)
        parts = self._program, tuple(self._shape), tuple(input_axes), counts, len(self._inputs)
        chunks = list(self._chunks)
        if self._reduced is not None:
            chunks[self._reduced] = (1,) * len(chunks[self._reduced])

        def keys(place):
            return [
                ChunkKey(array.name, tuple(0 if axis is None else place[axis] for axis in axes))
                for array, axes in zip(arrays, input_axes)
            ]

        types = self._types(arrays, parts)
        computed = iter(_operation(_Run(*parts), keys, arrays, chunks, types))
        outputs = {}
        for ((number, *_), reduction), count in zip(self._outputs, counts):
            partials = list(itertools.islice(computed, count))
            outputs[number] = (
                partials[0] if reduction is None else _reduction_tree(partials, reduction[0], self._reduced)
            )
        return outputs

    def _types(self, arrays, parts):
        """The element types of all results. Those of partial results are known from a run with one element
        along each cut axis."""
        if self._reduced is None:
            return [_arrays.numpy_dtype(dtype) for (_, dtype, *_), _ in self._outputs]
        shapes = [
            [
                1 if axis is not None and len(self._chunks[axis]) > 1 else size
                for size, axis in zip(array.shape, axes)
            ]
            for array, axes in zip(arrays, parts[2])
        ]
        blocks = [np.broadcast_to(np.zeros((), array.dtype), of) for array, of in zip(arrays, shapes)]
        results = _Run(*parts)(*blocks)
        return [result.dtype for result in (results if isinstance(results, tuple) else (results,))]


def _operation(function, keys, arrays, chunks, types, blocks=1):
    """The results of an operation of the plan. ``keys(place)`` are the inputs of the task at a place of the
    grid of ``chunks``; a task reads up to ``blocks`` chunks of each array."""
    result_bytes = [type.itemsize * math.prod(max(sizes, default=0) for sizes in chunks) for type in types]
    # Cubed counts one chunk of each array, and the largest result.
    more_bytes = (blocks - 1) * sum(array.chunkmem for array in arrays)
    more_bytes += sum(result_bytes) - max(result_bytes)

    def arguments(key):
        return FunctionArgs(*keys(key.coords), output_name=key.name)

    results = general_blockwise(
        function,
        arguments,
        *arrays,
        shapes=[tuple(map(sum, chunks))] * len(types),
        dtypes=types,
        chunkss=[tuple(chunks)] * len(types),
        target_stores=[None] * len(types) if len(types) > 1 else None,
        num_input_blocks=(blocks,) * len(arrays),
        extra_projected_mem=more_bytes,
        op_name="indim",
    )
    return results if isinstance(results, tuple) else (results,)


def _reduction_tree(partials, reduction, axis):
    """The tree that combines the partial results of all chunks. Each level is an operation."""
    is_last = False
    while not is_last:
        count = partials[0].numblocks[axis]
        width = math.ceil(count / TASK_FAN_IN)
        is_last = width == 1
        chunks = list(partials[0].chunks)
        chunks[axis : axis + 1] = [] if is_last else [(1,) * width]
        keys = _keys_of_level([array.name for array in partials], axis, count, is_last)
        types = [array.dtype for array in partials][: 1 if is_last else None]
        function = _Combine(reduction, axis, is_last)
        partials = _operation(function, keys, partials, chunks, types, min(count, TASK_FAN_IN))
    return partials[0]


def _keys_of_level(names, axis, count, is_last):
    """The inputs of a task that combines neighbouring chunks, a list for each array."""

    def keys(place):
        first = 0 if is_last else place[axis] * TASK_FAN_IN
        rest = place[axis:] if is_last else place[axis + 1 :]
        chunks = range(first, min(first + TASK_FAN_IN, count))
        return [[ChunkKey(name, (*place[:axis], chunk, *rest)) for chunk in chunks] for name in names]

    return keys


class _Run:
    """The task of a stage for one chunk of each input. Workers receive the graph as text, and compile it."""

    def __init__(self, program, shape, input_axes, counts, inputs):
        self._parts = program, shape, input_axes, counts, inputs

    def __reduce__(self):
        return _Run, self._parts

    def __call__(self, *chunks):
        program, shape, input_axes, counts, inputs = self._parts
        outputs = run_stage(program, shape, input_axes, counts, chunks, inputs)
        arrays = tuple(itertools.chain.from_iterable(outputs))
        return arrays if len(arrays) > 1 else arrays[0]


class _Combine:
    """The task that combines the partial results of neighbouring chunks, given as a list for each array."""

    def __init__(self, reduction, axis, is_last):
        self._reduction, self._axis, self._is_last = reduction, axis, is_last

    def __reduce__(self):
        return _Combine, (self._reduction, self._axis, self._is_last)

    def __call__(self, *partials):
        combined = combine(self._reduction, list(itertools.chain.from_iterable(zip(*partials))))
        if self._is_last:
            return combined[0].squeeze(self._axis)
        return combined if len(combined) > 1 else combined[0]


_ENGINE = ChunkEngine(cubed.Array, lazy_results, lambda array, name: None)
call, evaluate, placeholders = _ENGINE.call, _ENGINE.evaluate, _ENGINE.placeholders
