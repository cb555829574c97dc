"""The functions that run on workers for sums over chunks of any sizes: whole blocks, lanes and nodes.

A sum takes elements in blocks of 512. Element ``i`` of a block goes to lane ``i % 32``, and each lane takes
its elements in order. `_lanes.py` makes the tasks that call these functions.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
import threading
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ._indim import _ChunkedProgram
from ._stages import BLOCK, chunk_program, combination

#: Accumulators of a block.
LANES = 32

#: Bytes of the copied rows or the lanes of a tile: half of L2.
TILE_BYTES = 512 << 10

#: Maximum number of ranges, each of up to ``LANES`` rows, that one run of a program adds to the lanes. Ranges
#: of several chunks may be twice as many.
MAX_RANGES_PER_RUN = 8

#: Minimum bytes of the lanes to which a run adds ranges of several chunks: with less, calls take longer than
#: reading the lanes.
MIN_LANES_BYTES = 64 << 10


class Stage(NamedTuple):
    """A reducing stage, as it is sent to workers: its program, the reduced axis, the reductions, and for each
    input the stage axis of each of its axes."""

    program: tuple
    axis: int
    reductions: tuple
    read: tuple

    def chunk_program(self):
        return chunk_program(*self.program)

    def has_reduced_axis(self):
        """For each input, whether one of its axes is the reduced axis."""
        return [self.axis in axes for axes in self.read]

    def is_reduced_last(self):
        """Whether the elements of a block are neighbours in memory. Then a copy of a block is reduced in half
        the time in which its rows are added to lanes; else it takes three times as long."""
        return all(axes[-1] == self.axis for axes in self.read if self.axis in axes)


class Part(NamedTuple):
    """Consecutive rows of a chunk of ``size`` rows. A row is one position along the reduced axis."""

    chunk: int
    start: int
    length: int
    size: int


@functools.lru_cache(maxsize=8)  # An entry for 100,000 chunks has 15 MB.
def find_units(sizes):
    """The units of reduction, in order: whole blocks within one chunk, or one block that several chunks
    share. A unit consists of its first row and its parts."""
    ends = list(itertools.accumulate(sizes))
    total, row, chunk, units = ends[-1], 0, 0, []

    def part(start, end):
        first = ends[chunk] - sizes[chunk]
        return Part(chunk, start - first, end - start, sizes[chunk])

    while row < total:
        while ends[chunk] <= row:
            chunk += 1
        length = _ChunkedProgram.whole_blocks(row, ends[chunk])
        if length is None and row % BLOCK == 0 and ends[chunk] == total:
            length = total - row
        if length is not None:
            units.append((row, [part(row, row + length)]))
            row += length
            continue
        end, start, parts = min(total, (row // BLOCK + 1) * BLOCK), row, []
        while row < end:
            while ends[chunk] <= row:
                chunk += 1
            stop = min(end, ends[chunk])
            parts.append(part(row, stop))
            row = stop
        units.append((start, parts))
    return units


@dataclass(frozen=True)
class Reduce:
    """Reduces neighbouring blocks to one node of the tree. The first block begins with the first row."""

    stage: Stage
    sizes: tuple

    def __call__(self, inputs):
        nodes, levels = [], []
        for _, parts in find_units(tuple(_row_counts(self.stage, inputs))):
            length = sum(part.length for part in parts)
            sizes = _replace_size(self.sizes, self.stage.axis, length)
            ranges = [(part.chunk, part.start, part.length) for part in parts]
            if len(parts) == 1:
                chunks = _slice_chunks(self.stage, inputs, ranges)
                nodes.append(tuple(self.stage.chunk_program().run(chunks, sizes)))
            elif self.stage.is_reduced_last():
                nodes.append(self._reduce_copies(inputs, ranges, sizes))
            else:
                rows = _slice_inputs(self.stage, inputs, ranges)
                nodes.append(AddRows(self.stage, self.sizes, True)(None, 0, rows))
            levels.append(max(length // BLOCK, 1).bit_length() - 1)
        return Combine(self.stage.reductions, tuple(levels))(nodes)

    def _reduce_copies(self, inputs, ranges, sizes):
        """Reduces ranges of several chunks, which are copied side by side. The copies stay in the cache: they
        are made for one tile at a time."""
        stage, run = self.stage, self.stage.chunk_program().run
        rows = _slice_inputs(stage, inputs, ranges)
        tiles = _tiles(stage, sizes, sum(sum(array.nbytes for array in arrays) for arrays in rows))
        results = [
            run(_join_rows(stage, tile.slice_inputs(stage, rows)), tile.replace_size(sizes)) for tile in tiles
        ]
        if len(tiles) == 1:
            return tuple(results[0])
        return tuple(np.concatenate(arrays, axis=tiles[0].axis) for arrays in zip(*results))


@dataclass(frozen=True)
class AddRows:
    """Adds rows to the lanes of a block; after the last rows, folds the lanes."""

    stage: Stage
    sizes: tuple
    is_last: bool

    def __call__(self, lanes, row, inputs):
        # A scheduler may repeat a task, so its arguments are not changed.
        lanes = None if lanes is None else [array.copy() for array in lanes]
        lanes = _add_rows(self.stage, self.sizes, lanes, row, inputs)
        row += sum(_row_counts(self.stage, inputs))
        return _fold(self.stage, lanes, row) if self.is_last else tuple(lanes)


def _add_rows(stage, sizes, lanes, row, inputs):
    """Adds the parts of the inputs to the lanes of a block, in place; the first of their rows is row ``row``
    of the block. Lanes that are ``None`` are new."""
    if lanes is None:
        lanes = stage.chunk_program().new_lanes(_replace_size(sizes, stage.axis, LANES))
    if not stage.is_reduced_last():
        _add_to_lanes(stage, sizes, lanes, row, inputs)
        return lanes
    for tile in _tiles(stage, sizes, sum(array.nbytes for array in lanes)):
        joined = [[array] for array in _join_rows(stage, tile.slice_inputs(stage, inputs))]
        _add_to_lanes(stage, tile.replace_size(sizes), tile.slice_lanes(lanes), row, joined)
    return lanes


def _add_to_lanes(stage, sizes, lanes, row, inputs):
    lengths = _row_counts(stage, inputs)
    for lane, size, ranges in _ranges(row, lengths, sum(array.nbytes for array in lanes)):
        chunks = _slice_chunks(stage, inputs, ranges)
        lane_slices = [_slice_axis(array, stage.axis, lane, size) for array in lanes]
        sizes = _replace_size(sizes, stage.axis, size)
        stage.chunk_program().add_to_lanes(lane_slices, chunks, sizes, len(ranges))


def _fold(stage, lanes, row):
    """The sum of a block of ``row`` rows. Lanes without elements are not folded."""
    lanes = [_slice_axis(array, stage.axis, 0, min(row, LANES)) for array in lanes]
    return tuple(stage.chunk_program().fold_lanes([], lanes, list(lanes[0].shape)))


@dataclass(frozen=True)
class Continue:
    """Reduces consecutive chunks. The first of them begins at row ``row`` of the axis. A task gets the nodes
    of the blocks before it and the lanes of the block that the chunks before it began, and passes on its own;
    the last task returns the node of all."""

    stage: Stage
    sizes: tuple
    row: int
    is_last: bool

    def __call__(self, state, inputs):
        stack, lanes = ([], None) if state is None else (list(state[0]), state[1])
        if lanes is not None:
            # A scheduler may repeat a task, so its arguments are not changed.
            lanes = [array.copy() for array in lanes]
        row, lengths = self.row, _row_counts(self.stage, inputs)
        for part, length in enumerate(lengths):
            start, is_end = 0, self.is_last and part == len(lengths) - 1
            while start < length:
                left = length - start
                size = _ChunkedProgram.whole_blocks(row, row + left)
                if size is None:
                    size = min(left, BLOCK - row % BLOCK)
                is_block_end = (row + size) % BLOCK == 0 or (is_end and size == left)
                if row % BLOCK == 0 and is_block_end:
                    node = self._reduce(inputs, (part, start, size), size)
                    _push(self.stage.reductions, stack, max(size // BLOCK, 1).bit_length() - 1, node)
                else:
                    rows = _slice_inputs(self.stage, inputs, [(part, start, size)])
                    lanes = _add_rows(self.stage, self.sizes, lanes, row % BLOCK, rows)
                    if is_block_end:
                        node, lanes = _fold(self.stage, lanes, row % BLOCK + size), None
                        _push(self.stage.reductions, stack, 0, node)
                start, row = start + size, row + size
        return _join_nodes(self.stage.reductions, stack) if self.is_last else (stack, lanes)

    def _reduce(self, inputs, rows, size):
        chunks = _slice_chunks(self.stage, inputs, [rows])
        sizes = _replace_size(self.sizes, self.stage.axis, size)
        return tuple(self.stage.chunk_program().run(chunks, sizes))


def _ranges(row, lengths, nbytes):
    """The runs that add rows of these parts to lanes of ``nbytes`` bytes: for each the first lane, the number
    of lanes and the ranges. Each lane takes its rows in order."""
    ends = list(itertools.accumulate(lengths, initial=row))
    # The largest number of lanes, a power of two, such that no part begins or ends between them.
    common = functools.reduce(operator.or_, ends, LANES)
    size = common & -common
    is_short = max(lengths) < LANES * MAX_RANGES_PER_RUN
    if not is_short or nbytes * size < MIN_LANES_BYTES * LANES:
        return _ranges_in_order(row, lengths)
    return _ranges_by_lane(ends, lengths, size)


def _ranges_in_order(row, lengths):
    for part, length in enumerate(lengths):
        start = 0
        while start < length:
            lane, left = row % LANES, length - start
            if lane == 0 and left >= LANES:
                size, count = LANES, power_of_two(min(left // LANES, MAX_RANGES_PER_RUN))
            else:
                size, count = power_of_two(min(left, LANES - lane)), 1
            yield lane, size, [(part, start + index * LANES, size) for index in range(count)]
            start, row = start + size * count, row + size * count


def _ranges_by_lane(starts, lengths, size):
    """Ranges of several parts go to the same lanes, so that a run reads and writes these once."""
    for lane in range(0, LANES, size):
        ranges = [
            (part, start, size)
            for part, (row, length) in enumerate(zip(starts, lengths))
            for start in range((lane - row) % LANES, length, LANES)
        ]
        for first in range(0, len(ranges), 2 * MAX_RANGES_PER_RUN):
            yield lane, size, ranges[first : first + 2 * MAX_RANGES_PER_RUN]


@dataclass(frozen=True)
class AddParts:
    """Adds chunks to one group of lanes, in order, after the task ``previous`` if there is one."""

    stage: Stage
    sizes: tuple
    group: int

    def __call__(self, lanes, inputs, previous):
        program, axis = self.stage.chunk_program(), self.stage.axis
        if lanes is None:
            lanes = program.new_lanes(_replace_size(self.sizes, axis, self.group))
        else:
            lanes = [array.copy() for array in lanes]
        lengths, part = _row_counts(self.stage, inputs), 0
        while part < len(lengths):
            size = lengths[part]
            equal_count = sum(1 for _ in itertools.takewhile(lambda length: length == size, lengths[part:]))
            count = power_of_two(min(equal_count, MAX_RANGES_PER_RUN))
            ranges = [(part + index, 0, size) for index in range(count)]
            lane_slices = [_slice_axis(array, axis, 0, size) for array in lanes]
            chunks = _slice_chunks(self.stage, inputs, ranges)
            program.add_to_lanes(lane_slices, chunks, _replace_size(self.sizes, axis, size), count)
            part += count
        return tuple(lanes)


def finished(lanes):
    """The result of a task that only waits for another one."""
    return None


@dataclass(frozen=True)
class Pairs:
    """Combines groups of lanes by pairs; ``None`` stands for empty lanes."""

    reductions: tuple

    def __call__(self, lanes):
        lanes = list(lanes)
        while len(lanes) > 1:
            lanes = [
                _combine_pair(self.reductions, *lanes[position : position + 2])
                for position in range(0, len(lanes), 2)
            ]
        return lanes[0]


@dataclass(frozen=True)
class Fold:
    """Folds the lanes of the runs of a block, in order."""

    stage: Stage

    def __call__(self, runs):
        folded = []
        for lanes in runs:
            folded = self.stage.chunk_program().fold_lanes(folded, list(lanes), list(lanes[0].shape))
        return tuple(folded)


@dataclass(frozen=True)
class Combine:
    """Combines neighbouring nodes of these heights by the summation tree."""

    reductions: tuple
    levels: tuple

    def __call__(self, nodes):
        stack = []
        for level, node in zip(self.levels, nodes):
            _push(self.reductions, stack, level, node)
        return _join_nodes(self.reductions, stack)


def _push(reductions, stack, level, node):
    """Adds the next node of the tree to the stack of those before it, each with its level."""
    while stack and stack[-1][0] == level:
        node, level = _combine_pair(reductions, stack.pop()[1], node), level + 1
    stack.append((level, node))


def _join_nodes(reductions, stack):
    """The node of all nodes of the stack."""
    _, node = stack.pop()
    while stack:
        node = _combine_pair(reductions, stack.pop()[1], node)
    return node


@dataclass(frozen=True)
class Result:
    """The outputs of a cell, from its last nodes; removes the reduced axis."""

    axis: int
    reductions: tuple
    levels: tuple

    def __call__(self, nodes):
        outputs = [array.squeeze(self.axis) for array in Combine(self.reductions, self.levels)(nodes)]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)


def _combine_pair(reductions, before, after=None):
    """Combines two neighbours; either may be ``None``. Returns one result for each reduction."""
    if before is None or after is None:
        return after if before is None else before
    arrays = zip(reductions, before, after)
    return tuple(combination(reduction).run([left, right])[0] for reduction, left, right in arrays)


def _row_counts(stage, inputs):
    """The number of rows of each part."""
    reduced = stage.has_reduced_axis().index(True)
    axis = stage.read[reduced].index(stage.axis)
    return [chunk.shape[axis] for chunk in inputs[reduced]]


def _slice_chunks(stage, inputs, ranges):
    """Slices of the inputs' chunks: these ranges of rows, each ``(part, start, size)``. An input without the
    reduced axis is passed once."""
    chunks = []
    for is_reduced, axes, parts in zip(stage.has_reduced_axis(), stage.read, inputs):
        if is_reduced:
            axis = axes.index(stage.axis)
            chunks.extend(_slice_axis(parts[part], axis, start, size) for part, start, size in ranges)
        else:
            chunks.append(parts[0])
    return chunks


def _slice_inputs(stage, inputs, ranges):
    """These ranges of rows of each input; an input without the reduced axis is passed once."""
    return [
        [_slice_axis(parts[part], axes.index(stage.axis), start, size) for part, start, size in ranges]
        if stage.axis in axes
        else parts[:1]
        for axes, parts in zip(stage.read, inputs)
    ]


class _Copies(threading.local):
    """Memory of a thread for copies of rows, a buffer for each input. New memory would cost several times as
    much as the copies, because the system clears it page by page."""

    def __init__(self):
        self._buffers = {}

    def join(self, number, arrays, axis):
        """The arrays of input ``number``, copied one after another along an axis."""
        shape, dtype = list(arrays[0].shape), arrays[0].dtype
        shape[axis] = sum(array.shape[axis] for array in arrays)
        nbytes = math.prod(shape) * dtype.itemsize
        buffer = self._buffers.get(number)
        if buffer is None or buffer.nbytes < nbytes:
            buffer = np.empty(max(nbytes, TILE_BYTES), np.uint8)
            if nbytes <= 2 * TILE_BYTES:
                self._buffers[number] = buffer
        joined = buffer[:nbytes].view(dtype).reshape(shape)
        return np.concatenate(arrays, axis=axis, out=joined, casting="equiv")


_copies = _Copies()


def _join_rows(stage, rows):
    """One array for each input. The rows of several chunks are copied; the next call overwrites them."""
    return [
        arrays[0] if len(arrays) == 1 else _copies.join(number, arrays, axes.index(stage.axis))
        for number, (axes, arrays) in enumerate(zip(stage.read, rows))
    ]


class _Tile(NamedTuple):
    """A part of a cell: positions ``start`` to ``start + size`` of the kept axis ``axis``; or the whole cell,
    if that is ``None``."""

    axis: int | None
    start: int = 0
    size: int = 0

    def replace_size(self, sizes):
        return sizes if self.axis is None else _replace_size(sizes, self.axis, self.size)

    def slice_lanes(self, lanes):
        if self.axis is None:
            return lanes
        return [_slice_axis(array, self.axis, self.start, self.size) for array in lanes]

    def slice_inputs(self, stage, inputs):
        """The tile of each part of each input; an input without the axis is passed whole."""
        if self.axis is None:
            return inputs
        return [
            [_slice_axis(array, axes.index(self.axis), self.start, self.size) for array in arrays]
            if self.axis in axes
            else arrays
            for axes, arrays in zip(stage.read, inputs)
        ]


def _tiles(stage, sizes, nbytes):
    """Cuts a cell with arrays of ``nbytes`` bytes into tiles of about ``TILE_BYTES``, along the first axis
    that is long enough. An axis that is not cut has its whole size in the program of the stage, so it has no
    tiles."""
    count = math.ceil(nbytes / TILE_BYTES)
    cut = {axis for axes in stage.read for axis in axes} - {None, stage.axis}
    cut = sorted(axis for axis in cut if sizes[axis] > 1)
    if count <= 1 or not cut:
        return [_Tile(None)]
    axis = next((axis for axis in cut if sizes[axis] >= count), None)
    axis = max(cut, key=lambda axis: sizes[axis]) if axis is None else axis
    step = math.ceil(sizes[axis] / count)
    return [_Tile(axis, start, min(step, sizes[axis] - start)) for start in range(0, sizes[axis], step)]


def _slice_axis(array, axis, start, size):
    if start == 0 and size == array.shape[axis]:
        return array
    return array[(slice(None),) * axis + (slice(start, start + size),)]


def _replace_size(sizes, axis, size):
    return [size if index == axis else other for index, other in enumerate(sizes)]


def power_of_two(limit):
    return 1 << (limit.bit_length() - 1)
