"""Dask arrays: programs over their chunks, computed when Dask computes.

The compiled part determines which axes are cut together, and the stages of a program. This module rechunks
the operands and turns each stage into a layer of Dask's graph.
"""

from __future__ import annotations

import functools
import math
import operator
import warnings

import dask.array as da
import numpy as np
from dask.array.core import PerformanceWarning, common_blockdim

from . import _arrays, _lane_tasks, _lanes, _progress
from ._engines import chunked_program
from ._stages import TASK_FAN_IN, ChunkEngine, aligned_length, combine, run_stage, with_slices, with_sources

#: Maximum bytes of a chunk that is merged from several.
MAX_MERGED_BYTES = 2 << 30


def check(array, name):
    """Refuses a Dask array of unknown sizes, or of chunks that are not NumPy arrays."""
    if any(math.isnan(size) for size in array.shape):
        raise ValueError(
            f"`{name}` is a Dask array of unknown sizes, {array.shape}, and broadcasts are checked by sizes: "
            f"call `{name}.compute_chunk_sizes()` first"
        )
    if type(array._meta) is not np.ndarray:
        raise TypeError(
            f"`{name}` is a Dask array of {type(array._meta).__name__}, and indim computes with NumPy "
            f"arrays: convert its blocks, `{name}.map_blocks(...)`"
        )


def lazy_results(parts, sources):
    """The results of a graph, its text and operands, as Dask arrays."""
    text, operands = parts
    _progress.watch_dask()
    operands = with_sources(operands, sources)
    count = len(operands)
    operands, is_sliced = with_slices(text, operands, da.Array)
    program, is_counted = chunked_program(text, False, is_sliced), False
    if any(_must_merge(program, _Chunks(program, operands, count))):
        # `iota` can be cut if each chunk gets its offset.
        program, is_counted = chunked_program(text, True, is_sliced), True
    chunks = _chunks(program, operands, count)
    _check_merged(program, operands, chunks)
    first_cuts = program.first_cuts()
    is_cut = [len(sizes) > 1 or cut in first_cuts for cut, sizes in enumerate(chunks)]
    values = {
        number: _rechunk(array, shape, cuts, chunks)
        for array, (number, _, shape, cuts) in zip(operands, program.parameters())
    }
    for number, _, (size,), (cut,) in program.parameters()[len(operands) :]:
        values[number] = da.arange(size, chunks=((size,) if cut is None else chunks[cut],), dtype=np.int64)
    for number, stage in enumerate(program.stages(is_cut)):
        values.update(_Stage((text, is_counted, is_sliced), is_cut, number, stage).layers(values, chunks))
    return [_native(values[number]) for number, *_ in program.outputs()]


def _native(array):
    """A result in native byte order; a result that is an argument may have the other one."""
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _rechunk(array, shape, cuts, chunks):
    """An operand, rechunked to the chunks of its cuts."""
    sizes = tuple((size,) if cut is None else chunks[cut] for size, cut in zip(shape, cuts))
    if not isinstance(array, da.Array):
        return da.from_array(array, chunks=sizes)
    if array.chunks != sizes and not any(array.shape):
        # `rechunk` leaves an array without elements along any axis as it is.
        return da.empty(array.shape, dtype=array.dtype, chunks=sizes)
    return array.rechunk(sizes)


# The cuts of axes.


class _Chunks:
    """The chunk sizes along each cut, from the first ``count`` operands; and for each cut, the cuts that some
    operand has together with it. The operands after the first ``count`` are slices; they determine the chunks
    of a cut only if no other operand does."""

    def __init__(self, program, operands, count):
        chunkings = [set() for _ in program.cuts()]
        self.together = [set() for _ in program.cuts()]
        for number, (array, (_, _, _, cuts)) in enumerate(zip(operands, program.parameters())):
            for axis, cut in enumerate(cuts):
                if cut is not None and isinstance(array, da.Array):
                    if number < count or not chunkings[cut]:
                        chunkings[cut].add(array.chunks[axis])
                    self.together[cut].update(other for other in cuts if other is not None)
        self.sizes = [
            common_blockdim(sizes) if sizes else (size,)
            for sizes, (size, _) in zip(chunkings, program.cuts())
        ]


def _must_merge(program, chunks):
    """For each cut, whether its chunks must be merged into one."""
    return [
        len(sizes) > 1 and policy == "nowhere" for sizes, (_, policy) in zip(chunks.sizes, program.cuts())
    ]


def _chunks(program, operands, count):
    """The chunk sizes along each cut."""
    operand_chunks = _Chunks(program, operands, count)
    chunks = operand_chunks.sizes
    for cut, is_one in enumerate(_must_merge(program, operand_chunks)):
        size, policy = program.cuts()[cut]
        if is_one:
            warnings.warn(
                f"an axis of size {size} is merged into one chunk, because a slice, a concatenation, "
                "a product or an operation that moves elements needs all of it; rechunk it to avoid this "
                "warning",
                PerformanceWarning,
                stacklevel=5,
            )
            chunks[cut] = (size,)
        elif len(chunks[cut]) > 1 and policy == "aligned" and not _carries_lanes(program, chunks, cut):
            before = max(chunks[cut])
            chunks[cut] = _aligned(chunks[cut])
            neighbours = [
                other for other in operand_chunks.together[cut] if program.cuts()[other][1] == "anywhere"
            ]
            grown = max(chunks[cut]) / before
            too_large = _largest_chunk(program, operands, chunks, cut) / _lanes.TASK_BYTES
            _divide(chunks, neighbours, min(grown, too_large))
    return chunks


def _largest_chunk(program, operands, chunks, cut):
    """The bytes of the largest chunk of an operand that has the cut."""
    values = zip(operands, program.parameters())
    return max(
        (
            math.prod(size if along is None else max(chunks[along]) for along, size in zip(cuts, shape))
            * array.dtype.itemsize
            for array, (_, _, shape, cuts) in values
            if cut in cuts
        ),
        default=0,
    )


def _check_merged(program, operands, chunks):
    """Refuses to merge chunks into one of more than ``MAX_MERGED_BYTES``."""
    for array, (_, _, _, cuts) in zip(operands, program.parameters()):
        if not isinstance(array, da.Array):
            continue
        sizes = [size if cut is None else max(chunks[cut]) for size, cut in zip(array.shape, cuts)]
        merged = [axis for axis, size in enumerate(sizes) if size > max(array.chunks[axis])]
        count = math.prod(sizes) * array.dtype.itemsize
        if merged and count > MAX_MERGED_BYTES:
            axis = merged[0]
            raise ValueError(
                f"an array of shape {array.shape} in chunks of {array.chunksize} would be merged into "
                f"chunks of {tuple(sizes)}, {count} bytes each, because an operation needs all of axis "
                f"{axis}: "
                f"cut its other axes, `x.rechunk({{{axis}: -1, ...}})`, or leave the operation to Dask"
            )


def _carries_lanes(program, chunks, cut):
    """Whether the chunks along a cut may stay as they are, because lanes are carried along it."""
    stages = program.stages([len(sizes) > 1 for sizes in chunks])
    reducing = [stage for stage in stages if stage[4] is not None and stage[1][stage[4]] == cut]
    return all(carries for *_, (carries, _) in reducing)


def _is_aligned(sizes):
    """Whether all chunks except the last are nodes of the summation tree."""
    return tuple(sizes) == _aligned(sizes)


def _aligned(sizes):
    """Chunk sizes at which the summation tree can be cut: 512 times a power of two, near the largest given
    size; the last chunk may be shorter. Aligned chunks are returned unchanged."""
    return _split(sum(sizes), aligned_length(max(sizes)))


def _divide(chunks, cuts, factor):
    """Divides the chunks along these cuts into chunks that are smaller by ``factor``, because they have grown
    along another cut."""
    for cut in sorted(cuts, key=lambda cut: -max(chunks[cut])):
        count = min(int(factor), max(chunks[cut]))
        if count > 1:
            length = math.ceil(max(chunks[cut]) / count)
            chunks[cut] = tuple(piece for size in chunks[cut] for piece in _split(size, length))
            factor /= count


def _split(size, length):
    whole, rest = divmod(size, length)
    return (length,) * whole + ((rest,) if rest else ())


# The layers.


class _Stage:
    """One stage of a program: its layers, and the task for a chunk."""

    def __init__(self, program, is_cut, number, description):
        self._program = *program, tuple(is_cut), number
        self._shape, self._cuts, self._inputs, self._outputs, self._reduced, self._carries = description

    def layers(self, values, chunks):
        """The output arrays of the stage, by the numbers of their values."""
        if self._reduced is not None and self._carries[0]:
            sizes = chunks[self._cuts[self._reduced]]
            moves = any(self._reduced in of for _, of in self._inputs)
            if moves and len(sizes) > 1 and not _is_aligned(sizes):
                return self._layers_with_lanes(values, chunks)
        axes = tuple(range(len(self._shape)))
        inputs = [values[number] for number, _ in self._inputs]
        input_axes = [tuple(of) for _, of in self._inputs]
        used_axes = {axis for of in input_axes for axis in of}
        new_axes = {axis: self._shape[axis] for axis in axes if self._cuts[axis] is None}
        for axis in axes:
            # No input has this axis; an array of zeros states its chunk sizes.
            if axis not in used_axes and axis not in new_axes:
                inputs.append(da.zeros(self._shape[axis], chunks=(chunks[self._cuts[axis]],), dtype=bool))
                input_axes.append((axis,))
        counts = tuple(1 if reduction is None else reduction[1] for _, reduction in self._outputs)
        run = _Run(self._program, tuple(self._shape), tuple(input_axes), len(self._inputs), counts)
        dtypes = [_arrays.numpy_dtype(dtype) for (_, dtype, _, _), _ in self._outputs]
        adjusted = {} if self._reduced is None else {self._reduced: _single_chunk}
        layer = da.blockwise(
            run,
            axes,
            *(part for array, of in zip(inputs, input_axes) for part in (array, _labels(of, new_axes))),
            new_axes=new_axes,
            adjust_chunks=adjusted,
            align_arrays=False,
            token="indim",
            meta=np.empty((0,) * len(axes), dtypes[0]),
        )
        arrays = {}
        for position, (((number, *_), reduction), dtype) in enumerate(zip(self._outputs, dtypes)):
            array = layer
            if len(self._outputs) > 1:
                meta = np.empty((0,) * len(axes), dtype)
                array = da.blockwise(
                    operator.itemgetter(position), axes, layer, axes, token="indim-item", meta=meta
                )
            arrays[number] = array if self._reduced is None else self._reduction_tree(array, reduction)
        return arrays

    def _layers_with_lanes(self, values, chunks):
        """Like ``layers``, for a stage whose sums carry lanes."""
        cells = [
            (size,) if cut is None else chunks[cut] for size, cut in zip(self._shape, self._cuts)
        ]
        inputs = [(values[number], tuple(of)) for number, of in self._inputs]
        reductions = tuple(reduction for _, (reduction, _) in self._outputs)
        stage = _lane_tasks.Stage(self._program, self._reduced, reductions, tuple(of for _, of in inputs))
        layer = _lanes.layer(stage, [array for array, _ in inputs], cells, self._carries[1])
        kept = tuple(sizes for axis, sizes in enumerate(cells) if axis != self._reduced)
        arrays = {}
        for position, ((number, dtype, *_), _) in enumerate(self._outputs):
            graph, name = layer.output(position)
            meta = np.empty((0,) * len(kept), _arrays.numpy_dtype(dtype))
            arrays[number] = da.Array(graph, name, kept, meta=meta)
        return arrays

    def _reduction_tree(self, array, reduction):
        """The tree that combines the stage's partial results of all chunks."""
        axis = self._reduced
        return da.reduction(
            array,
            chunk=_plain_chunk,
            combine=functools.partial(_combine, *reduction),
            aggregate=functools.partial(_result, *reduction),
            axis=axis,
            concatenate=False,
            split_every={axis: TASK_FAN_IN},
            dtype=array.dtype,
            meta=np.empty((0,) * (array.ndim - 1), array.dtype),
            name="indim-combined",
        )


def _labels(axes, whole):
    """The labels of an operand's axes: those of the stage. An axis that is one chunk shares the label of a
    stage axis that is one chunk, as long as such labels remain: Dask fuses a layer with the layer it reads
    only if it has no labels besides those of its result."""
    free, labels = list(whole), []
    for position, axis in enumerate(axes):
        if axis is None and free:
            axis = position if position in free else free[0]
            free.remove(axis)
        labels.append(~position if axis is None else axis)
    return tuple(labels)


def _single_chunk(_):
    return 1


class _Run:
    """The task of a stage for one chunk of each input. Workers receive the graph as text, and compile it.

    It returns an array for each output; for a reduction with several partial results, a tuple of arrays.
    """

    def __init__(self, program, shape, input_axes, count, counts):
        self._parts = program, shape, input_axes, count, counts

    def __reduce__(self):
        return _Run, self._parts

    def __dask_tokenize__(self):
        return "indim", self._parts

    def __call__(self, *chunks):
        program, shape, input_axes, count, counts = self._parts
        outputs = run_stage(program, shape, input_axes, counts, list(map(_unwrap, chunks)), count)
        outputs = [arrays if len(arrays) > 1 else arrays[0] for arrays in outputs]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)


def _unwrap(chunk):
    """The chunk inside the lists in which Dask passes axes that are not cut."""
    while isinstance(chunk, list):
        (chunk,) = chunk
    return chunk


def _plain_chunk(chunk, axis, keepdims):
    return chunk


def _combine(reduction, count, chunks, axis, keepdims):
    """Combines the partial results of chunks, ``count`` arrays for each chunk, by pairs."""
    chunks = chunks if isinstance(chunks, list) else [chunks]
    arrays = chunks if count == 1 else [array for partials in chunks for array in partials]
    combined = combine(reduction, arrays)
    return combined[0] if count == 1 else combined


def _result(reduction, count, chunks, axis, keepdims):
    """The result of a reduction, from the partial results of all chunks."""
    combined = _combine(reduction, count, chunks, axis, keepdims)
    combined = combined if count == 1 else combined[0]
    return combined if keepdims else combined.squeeze(axis)


_ENGINE = ChunkEngine(da.Array, lazy_results, check)
call, evaluate, placeholders = _ENGINE.call, _ENGINE.evaluate, _ENGINE.placeholders
