"""Sums over Dask's chunks of any sizes: the tasks of a stage that carries lanes from chunk to chunk.

A sum takes elements in blocks of 512. Element ``i`` of a block goes to lane ``i % 32``, and each lane takes
its elements in order. One task reduces as many neighbouring blocks as fit in ``SPAN_BYTES``, and a block that
several chunks share if its rows fit in ``TASK_BYTES``. Otherwise each task takes as many chunks as fit and
passes the lanes to the next task. Chunks of 1, 2, 4, 8 or 16 elements are read lane by lane instead, by
independent tasks.
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
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from ._indim import _ChunkedProgram
from ._stages import BLOCK, TASK_FAN_IN, chunk_program, combination

#: Accumulators of a block.
LANES = 32

#: Maximum bytes of the chunks of one task, unless a single chunk or a whole block has more.
TASK_BYTES = 64 << 20

#: Maximum bytes of the rows of several blocks that one task reduces: Dask takes about 0.2 ms for each
#: task, and a task holds all of its rows in memory.
SPAN_BYTES = 32 << 20

#: Bytes of rows of several chunks that are copied side by side at a time: half of L2.
COPY_BYTES = 512 << 10

#: Maximum number of ranges, each of up to ``LANES`` rows, that one run of a program adds to the lanes. Ranges
#: of several chunks may be twice as many.
MAX_RANGES_PER_RUN = 4

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


# Construction of the tasks, in the process that builds the graph.


class Layer:
    """The tasks of a stage. Each final task returns all outputs for one cell of the kept axes."""

    def __init__(self, name, tasks, arrays, cells, count):
        self._name, self._tasks, self._arrays, self._cells, self._count = name, tasks, arrays, cells, count

    def output(self, position):
        """The graph of an output, and the name of its chunks."""
        if self._count == 1:
            return HighLevelGraph.from_collections(self._name, self._tasks, self._arrays), self._name
        whole = HighLevelGraph.from_collections(self._name, self._tasks, self._arrays)
        name = f"{self._name}-{position}"
        items = {(name, *cell): (operator.itemgetter(position), (self._name, *cell)) for cell in self._cells}
        layers = {**whole.layers, name: items}
        return HighLevelGraph(layers, {**whole.dependencies, name: {self._name}}), name


def layer(stage, arrays, chunks, may_be_empty):
    """The tasks of a stage over these arrays; ``chunks`` has the chunk sizes along its axes."""
    name = "indim-sum-" + tokenize("indim", stage, [array.name for array in arrays], chunks)
    kept_axes = [axis for axis in range(len(chunks)) if axis != stage.axis]
    units = _units(chunks[stage.axis])
    group = _group(chunks[stage.axis]) if may_be_empty else None
    tasks, cells = {}, []
    for cell in itertools.product(*(range(len(chunks[axis])) for axis in kept_axes)):
        position = dict(zip(kept_axes, cell))
        sizes = [None if axis == stage.axis else chunks[axis][position[axis]] for axis in range(len(chunks))]
        _Cell(stage, arrays, position, sizes, name, cell, tasks).add(units, group)
        cells.append(cell)
    return Layer(name, tasks, arrays, cells, len(stage.reductions))


class _Node(NamedTuple):
    """A node of the tree: its first block, its height in levels of pairs, and the key of its task."""

    block: int
    level: int
    key: tuple


class _Part(NamedTuple):
    """Consecutive rows of a chunk of ``size`` rows. A row is one position along the reduced axis."""

    chunk: int
    start: int
    length: int
    size: int


@functools.lru_cache(maxsize=8)  # An entry for 100,000 chunks has 15 MB.
def _units(sizes):
    """The units of reduction, in order: whole blocks within one chunk, or one block that several chunks
    share. A unit consists of its first row and its parts."""
    ends = list(itertools.accumulate(sizes))
    total, row, chunk, units = ends[-1], 0, 0, []

    def part(start, end):
        first = ends[chunk] - sizes[chunk]
        return _Part(chunk, start - first, end - start, sizes[chunk])

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


def _join(parts):
    """These parts, with the neighbouring parts of each chunk joined."""
    joined = []
    for part in parts:
        if joined and joined[-1].chunk == part.chunk:
            joined[-1] = joined[-1]._replace(length=joined[-1].length + part.length)
        else:
            joined.append(part)
    return joined


def _group(sizes):
    """The number of lanes that one chunk covers, if chunks are short enough to be read lane by lane; else
    ``None``."""
    size = sizes[0]
    is_even = all(other == size for other in sizes[:-1]) and sizes[-1] <= size
    return size if is_even and size in (1, 2, 4, 8, 16) else None


class _Cell:
    """The tasks of one cell of the kept axes."""

    def __init__(self, stage, arrays, position, sizes, name, cell, tasks):
        self._stage, self._arrays, self._position, self._sizes = stage, arrays, position, sizes
        self._name, self._cell, self._tasks = name, cell, tasks
        self._row_bytes = sum(
            array.dtype.itemsize * math.prod(self._extents(array, axes))
            for array, axes in zip(arrays, stage.read)
            if stage.axis in axes
        )

    def _extents(self, array, axes):
        """The sizes of a row of an input."""
        extents = {**dict(enumerate(self._sizes)), self._stage.axis: 1}
        return [size if axis is None else extents[axis] for axis, size in zip(axes, array.shape)]

    def add(self, units, group):
        blocks = self._blocks_of_span(units)
        spans = itertools.groupby(units, lambda unit: unit[0] // (blocks * BLOCK))
        nodes = [self._add_span(list(span), blocks, group) for _, span in spans]
        width = TASK_FAN_IN
        while len(nodes) > TASK_FAN_IN:
            nodes = self._combine_level(nodes, width)
            width *= TASK_FAN_IN
        result = _Result(self._stage.axis, self._stage.reductions, tuple(node.level for node in nodes))
        self._tasks[(self._name, *self._cell)] = (result, [node.key for node in nodes])

    def _combine_level(self, nodes, width):
        """Combines nodes of fewer than ``width`` blocks into nodes of ``width`` blocks."""
        level, combined = width.bit_length() - 1, []
        for block, group in itertools.groupby(nodes, lambda node: node.block // width):
            group = list(group)
            if len(group) == 1:
                # A node without a neighbour moves up unchanged.
                combined.append(group[0]._replace(level=max(level, group[0].level)))
                continue
            combine = _Combine(self._stage.reductions, tuple(node.level for node in group))
            key = self._key("node", block, width)
            self._tasks[key] = (combine, [node.key for node in group])
            combined.append(_Node(block * width, level, key))
        return combined

    def _blocks_of_span(self, units):
        """The number of blocks that one task reduces: a power of two, so that they are a node of the tree."""
        last, parts = units[-1]
        count = math.ceil((last + sum(part.length for part in parts)) / BLOCK)
        fitting = SPAN_BYTES // max(BLOCK * self._row_bytes, 1)
        return _power_of_two(max(fitting, 1)) if fitting < count else 1 << (count - 1).bit_length()

    def _add_span(self, units, blocks, group):
        """Adds the tasks of neighbouring units, and returns their node."""
        block = units[0][0] // BLOCK
        parts = _join(part for _, parts in units for part in parts)
        length = sum(part.length for part in parts)
        level = max(length // BLOCK, blocks).bit_length() - 1
        key = self._key("block", block)
        if len(units) > 1 or len(parts) == 1 or length * self._row_bytes <= TASK_BYTES:
            self._tasks[key] = (_Reduce(self._stage, tuple(self._sizes)), self._chunks(parts))
        elif group is not None:
            self._lane_by_lane(key, block, parts, group)
        else:
            self._chain(key, block, parts)
        return _Node(block, level, key)

    def _add(self, is_last):
        return _AddRows(self._stage, tuple(self._sizes), is_last)

    def _chain(self, key, block, parts):
        """Adds a chain of tasks: each takes as many chunks as memory allows, and passes on the lanes."""
        lanes, row, batch, step = None, 0, [], 0
        for part in parts:
            batch_rows = sum(earlier.length for earlier in batch)
            if batch and (batch_rows + part.length) * self._row_bytes > TASK_BYTES:
                lanes_key = self._key("lanes", block, step)
                self._tasks[lanes_key] = (self._add(is_last=False), lanes, row, self._chunks(batch))
                row += batch_rows
                lanes, batch, step = lanes_key, [], step + 1
            batch.append(part)
        self._tasks[key] = (self._add(is_last=True), lanes, row, self._chunks(batch))

    def _lane_by_lane(self, key, block, parts, group):
        """Adds one chain of tasks for each group of lanes. The groups come in runs: one task combines the
        groups of a run by pairs, and the last task folds the runs in their order."""
        parts_by_group = {}
        for index, part in enumerate(parts):
            parts_by_group.setdefault(index * group % LANES, []).append(part)
        limit = max(TASK_BYTES // (group * self._row_bytes), 1)
        first_lanes = _ChunkedProgram.lane_groups(group)
        length = LANES // max(group, 4)
        runs = []
        for run in range(0, len(first_lanes), length):
            lanes = []
            for first in first_lanes[run : run + length]:
                group_parts, before = parts_by_group.get(first, []), None
                for step in range(0, len(group_parts), limit):
                    after = self._key("lanes", block, first, step)
                    chunks = self._chunks(group_parts[step : step + limit])
                    self._tasks[after] = (_AddParts(self._stage, tuple(self._sizes), group), before, chunks)
                    before = after
                lanes.append(before)
            if any(key is not None for key in lanes):
                after = self._key("run", block, run)
                self._tasks[after] = (_Pairs(self._stage.reductions), lanes)
                runs.append(after)
        self._tasks[key] = (_Fold(self._stage), runs)

    def _key(self, *parts):
        return (self._name + "-" + "-".join(map(str, parts)), *self._cell)

    def _chunks(self, parts):
        """For each input, the chunks of all parts, or the one chunk that they share."""
        inputs = []
        for array, axes in zip(self._arrays, self._stage.read):
            if self._stage.axis not in axes:
                inputs.append([self._chunk(array, axes, parts[0])])
            else:
                inputs.append([self._chunk(array, axes, part) for part in parts])
        return inputs

    def _chunk(self, array, axes, part):
        position = {**self._position, self._stage.axis: part.chunk}
        key = (array.name, *(0 if axis is None else position[axis] for axis in axes))
        if part.length == part.size or self._stage.axis not in axes:
            return key
        # Only the rows of the block are sent to the task.
        rows = slice(part.start, part.start + part.length)
        rows = tuple(rows if axis == self._stage.axis else slice(None) for axis in axes)
        rows_key = self._key("rows", array.name, "-".join(map(str, key[1:])), part.start)
        self._tasks[rows_key] = (operator.getitem, key, rows)
        return rows_key


# The functions that run on workers.


@dataclass(frozen=True)
class _Reduce:
    """Reduces neighbouring blocks to one node of the tree. The first block begins with the first row."""

    stage: Stage
    sizes: tuple

    def __call__(self, inputs):
        nodes, levels = [], []
        for _, parts in _units(tuple(_row_counts(self.stage, inputs))):
            length = sum(part.length for part in parts)
            sizes = _replace_size(self.sizes, self.stage.axis, length)
            ranges = [(part.chunk, part.start, part.length) for part in parts]
            if len(parts) == 1:
                chunks = _slice_chunks(self.stage, inputs, ranges)
                nodes.append(tuple(self.stage.chunk_program().run(chunks, sizes)))
            elif self._is_reduced_last():
                nodes.append(self._reduce_copies(inputs, ranges, sizes))
            else:
                rows = _slice_inputs(self.stage, inputs, ranges)
                nodes.append(_AddRows(self.stage, self.sizes, True)(None, 0, rows))
            levels.append(max(length // BLOCK, 1).bit_length() - 1)
        return _Combine(self.stage.reductions, tuple(levels))(nodes)

    def _is_reduced_last(self):
        """Whether the elements of a block are neighbours in memory. Then a copy of a block is reduced in half
        the time in which its rows are added to lanes; else it takes three times as long."""
        return all(axes[-1] == self.stage.axis for axes in self.stage.read if self.stage.axis in axes)

    def _reduce_copies(self, inputs, ranges, sizes):
        """Reduces ranges of several chunks, which are copied side by side. The copies stay in the cache: they
        are made for one tile of the first cut axis that is long enough at a time. An axis that is not cut has
        its whole size in the program of the stage, so it has no tiles."""
        stage, run = self.stage, self.stage.chunk_program().run
        rows = _slice_inputs(stage, inputs, ranges)
        count = math.ceil(sum(sum(array.nbytes for array in arrays) for arrays in rows) / COPY_BYTES)
        cut = {axis for axes in stage.read for axis in axes} - {None, stage.axis}
        cut = sorted(axis for axis in cut if sizes[axis] > 1)
        if count <= 1 or not cut:
            return tuple(run(_join_rows(stage, rows), sizes))
        along = next((axis for axis in cut if sizes[axis] >= count), None)
        along = max(cut, key=lambda axis: sizes[axis]) if along is None else along
        step = math.ceil(sizes[along] / count)
        tiles = []
        for start in range(0, sizes[along], step):
            size = min(step, sizes[along] - start)
            tile = [
                [_slice_axis(array, axes.index(along), start, size) for array in arrays]
                if along in axes
                else arrays
                for axes, arrays in zip(stage.read, rows)
            ]
            tiles.append(run(_join_rows(stage, tile), _replace_size(sizes, along, size)))
        return tuple(np.concatenate(arrays, axis=along) for arrays in zip(*tiles))


@dataclass(frozen=True)
class _AddRows:
    """Adds rows to the lanes of a block; after the last rows, folds the lanes."""

    stage: Stage
    sizes: tuple
    is_last: bool

    def __call__(self, lanes, row, inputs):
        program, axis = self.stage.chunk_program(), self.stage.axis
        lengths = _row_counts(self.stage, inputs)
        if lanes is None:
            lanes = program.new_lanes(_replace_size(self.sizes, axis, LANES))
        else:
            # A scheduler may repeat a task, so its arguments are not changed.
            lanes = [array.copy() for array in lanes]
        for lane, size, ranges in _ranges(row, lengths, sum(array.nbytes for array in lanes)):
            chunks = _slice_chunks(self.stage, inputs, ranges)
            lane_slices = [_slice_axis(array, axis, lane, size) for array in lanes]
            program.add_to_lanes(lane_slices, chunks, _replace_size(self.sizes, axis, size), len(ranges))
        row += sum(lengths)
        if not self.is_last:
            return tuple(lanes)
        # Lanes without elements are not folded.
        lanes = [_slice_axis(array, axis, 0, min(row, LANES)) for array in lanes]
        return tuple(program.fold_lanes([], lanes, list(lanes[0].shape)))


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
                size, count = LANES, _power_of_two(min(left // LANES, MAX_RANGES_PER_RUN))
            else:
                size, count = _power_of_two(min(left, LANES - lane)), 1
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
class _AddParts:
    """Adds chunks to one group of lanes, in order."""

    stage: Stage
    sizes: tuple
    group: int

    def __call__(self, lanes, inputs):
        program, axis = self.stage.chunk_program(), self.stage.axis
        if lanes is None:
            lanes = program.new_lanes(_replace_size(self.sizes, axis, self.group))
        else:
            lanes = [array.copy() for array in lanes]
        lengths, part = _row_counts(self.stage, inputs), 0
        while part < len(lengths):
            size = lengths[part]
            equal_count = sum(1 for _ in itertools.takewhile(lambda length: length == size, lengths[part:]))
            count = _power_of_two(min(equal_count, MAX_RANGES_PER_RUN))
            ranges = [(part + index, 0, size) for index in range(count)]
            lane_slices = [_slice_axis(array, axis, 0, size) for array in lanes]
            chunks = _slice_chunks(self.stage, inputs, ranges)
            program.add_to_lanes(lane_slices, chunks, _replace_size(self.sizes, axis, size), count)
            part += count
        return tuple(lanes)


@dataclass(frozen=True)
class _Pairs:
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
class _Fold:
    """Folds the lanes of the runs of a block, in order."""

    stage: Stage

    def __call__(self, runs):
        folded = []
        for lanes in runs:
            folded = self.stage.chunk_program().fold_lanes(folded, list(lanes), list(lanes[0].shape))
        return tuple(folded)


@dataclass(frozen=True)
class _Combine:
    """Combines neighbouring nodes of these heights by the summation tree."""

    reductions: tuple
    levels: tuple

    def __call__(self, nodes):
        stack = []
        for level, node in zip(self.levels, nodes):
            while stack and stack[-1][0] == level:
                node, level = _combine_pair(self.reductions, stack.pop()[1], node), level + 1
            stack.append((level, node))
        _, node = stack.pop()
        while stack:
            node = _combine_pair(self.reductions, stack.pop()[1], node)
        return node


@dataclass(frozen=True)
class _Result:
    """The outputs of a cell, from its last nodes; removes the reduced axis."""

    axis: int
    reductions: tuple
    levels: tuple

    def __call__(self, nodes):
        outputs = [array.squeeze(self.axis) for array in _Combine(self.reductions, self.levels)(nodes)]
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
            buffer = np.empty(max(nbytes, COPY_BYTES), np.uint8)
            if nbytes <= 2 * COPY_BYTES:
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


def _slice_axis(array, axis, start, size):
    if start == 0 and size == array.shape[axis]:
        return array
    return array[(slice(None),) * axis + (slice(start, start + size),)]


def _replace_size(sizes, axis, size):
    return [size if index == axis else other for index, other in enumerate(sizes)]


def _power_of_two(limit):
    return 1 << (limit.bit_length() - 1)
