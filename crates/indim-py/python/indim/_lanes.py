"""Sums over Dask's chunks of any sizes: the tasks of a stage that carries lanes from chunk to chunk.

One task reduces as many neighbouring blocks as fit in ``SPAN_BYTES``, and a block that several chunks share
if its rows fit in ``TASK_BYTES`` or, if they are copied, ``COPIED_BLOCK_BYTES``. Otherwise each task takes as
many chunks as fit and passes the lanes to the next task. Short chunks whose lanes take much less memory than
they do are read one by one, by a chain of tasks. Chunks of 1, 2, 4, 8 or 16 elements of large rows are read
lane by lane, by independent tasks. `_lane_tasks.py` has the functions of the tasks.
"""

from __future__ import annotations

import itertools
import math
import operator
from typing import NamedTuple

from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from ._indim import _ChunkedProgram
from ._lane_tasks import (
    LANES,
    AddParts,
    AddRows,
    Combine,
    Continue,
    Fold,
    Pairs,
    Reduce,
    Result,
    find_units,
    finished,
    power_of_two,
)
from ._stages import BLOCK, TASK_FAN_IN

#: Maximum bytes of the chunks of one task, unless a single chunk or a whole block has more.
TASK_BYTES = 64 << 20

#: Maximum bytes of a block whose elements are neighbours in memory, if one task gets its rows: it copies them
#: side by side, in parts, which takes a fraction of the time in which a chain of tasks adds them to lanes.
COPIED_BLOCK_BYTES = 128 << 20

#: Maximum bytes of the rows of several blocks that one task reduces: Dask takes about 0.2 ms for each
#: task, and a task holds all of its rows in memory.
SPAN_BYTES = 32 << 20

#: Maximum bytes of the rows of the blocks that one chain of tasks reduces chunk by chunk. Chains run side by
#: side; the chunks at their ends are read by both.
CHAIN_BYTES = 256 << 20

#: Maximum bytes of the chunks of one task of such a chain, unless a single chunk has more.
STEP_BYTES = 8 << 20

#: Minimum bytes of the chunks of such a chain: smaller ones cost less to send than a task does.
MIN_CHAINED_BYTES = 4 << 20

#: Maximum number of rows of the chunks of such a chain. In longer chunks most blocks are whole.
MAX_CHAINED_ROWS = 4 * BLOCK


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
    units = find_units(chunks[stage.axis])
    group = _group(chunks[stage.axis]) if may_be_empty else None
    tasks, cells = {}, []
    for cell in itertools.product(*(range(len(chunks[axis])) for axis in kept_axes)):
        position = dict(zip(kept_axes, cell))
        sizes = [None if axis == stage.axis else chunks[axis][position[axis]] for axis in range(len(chunks))]
        _Cell(stage, arrays, position, sizes, max(chunks[stage.axis]), name, cell, tasks).add(units, group)
        cells.append(cell)
    return Layer(name, tasks, arrays, cells, len(stage.reductions))


class _Node(NamedTuple):
    """A node of the tree: its first block, its height in levels of pairs, and the key of its task."""

    block: int
    level: int
    key: tuple


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


def _share_chunks(stage, arrays):
    """Whether some of the arrays with the reduced axis are computed from the same chunks."""
    reduced = [array for array, axes in zip(arrays, stage.read) if stage.axis in axes]
    layers = [name for array in reduced for name in set(array.dask.layers)]
    return len(set(layers)) < len(layers)


class _Cell:
    """The tasks of one cell of the kept axes."""

    def __init__(self, stage, arrays, position, sizes, rows, name, cell, tasks):
        """``rows`` is the largest number of rows of a chunk."""
        self._stage, self._arrays, self._position, self._sizes = stage, arrays, position, sizes
        self._name, self._cell, self._tasks = name, cell, tasks
        self._row_bytes = sum(
            array.dtype.itemsize * math.prod(self._extents(array, axes))
            for array, axes in zip(arrays, stage.read)
            if stage.axis in axes
        )
        self._is_chained = self._pays_for_chain(rows)
        self._is_shared = _share_chunks(stage, arrays)

    def _pays_for_chain(self, rows):
        """Whether chunks of this many rows are reduced one by one: they are short, each has enough bytes for
        a task of its own, and the lanes that a task passes on take at most half of their memory. A block
        that is faster copied is not reduced so if its rows fit in a task."""
        kept = math.prod(size for size in self._sizes if size is not None)
        lanes_bytes = LANES * 8 * kept * len(self._stage.reductions)
        chunk_bytes = rows * self._row_bytes
        if self._stage.is_reduced_last() and BLOCK * self._row_bytes <= SPAN_BYTES:
            return False
        return rows <= MAX_CHAINED_ROWS and max(MIN_CHAINED_BYTES, 2 * lanes_bytes) <= chunk_bytes

    def _block_bytes(self):
        """Maximum bytes of a block of several chunks that one task reduces."""
        return COPIED_BLOCK_BYTES if self._stage.is_reduced_last() else TASK_BYTES

    def _extents(self, array, axes):
        """The sizes of a row of an input."""
        extents = {**dict(enumerate(self._sizes)), self._stage.axis: 1}
        return [size if axis is None else extents[axis] for axis, size in zip(axes, array.shape)]

    def add(self, units, group):
        blocks = self._blocks_of_span(units, CHAIN_BYTES if self._is_chained else SPAN_BYTES)
        spans = itertools.groupby(units, lambda unit: unit[0] // (blocks * BLOCK))
        nodes = [self._add_span(list(span), blocks, group) for _, span in spans]
        width = TASK_FAN_IN
        while len(nodes) > TASK_FAN_IN:
            nodes = self._combine_level(nodes, width)
            width *= TASK_FAN_IN
        result = Result(self._stage.axis, self._stage.reductions, tuple(node.level for node in nodes))
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
            combine = Combine(self._stage.reductions, tuple(node.level for node in group))
            key = self._key("node", block, width)
            self._tasks[key] = (combine, [node.key for node in group])
            combined.append(_Node(block * width, level, key))
        return combined

    def _blocks_of_span(self, units, span_bytes):
        """The number of blocks that one task reduces: a power of two, so that they are a node of the tree."""
        last, parts = units[-1]
        count = math.ceil((last + sum(part.length for part in parts)) / BLOCK)
        fitting = span_bytes // max(BLOCK * self._row_bytes, 1)
        return power_of_two(max(fitting, 1)) if fitting < count else 1 << (count - 1).bit_length()

    def _add_span(self, units, blocks, group):
        """Adds the tasks of neighbouring units, and returns their node."""
        block = units[0][0] // BLOCK
        parts = _join(part for _, parts in units for part in parts)
        length = sum(part.length for part in parts)
        level = max(length // BLOCK, blocks).bit_length() - 1
        key = self._key("block", block)
        if self._is_chained and len(parts) > 1 and length * self._row_bytes > STEP_BYTES:
            self._chunk_by_chunk(key, units[0][0], parts)
        elif len(units) > 1 or len(parts) == 1 or length * self._row_bytes <= self._block_bytes():
            self._tasks[key] = (Reduce(self._stage, tuple(self._sizes)), self._chunks(parts))
        elif group is not None:
            self._lane_by_lane(key, block, parts, group)
        else:
            self._chain(key, block, parts)
        return _Node(block, level, key)

    def _batches(self, parts, nbytes):
        """Yields batches of parts, and the number of rows before each batch. A batch has at most ``nbytes``
        bytes, or a single part."""
        batch, rows, before = [], 0, 0
        for part in parts:
            if batch and (rows + part.length) * self._row_bytes > nbytes:
                yield before, batch
                batch, rows, before = [], 0, before + rows
            batch.append(part)
            rows += part.length
        yield before, batch

    def _chain(self, key, block, parts):
        """Adds a chain of tasks: each takes as many chunks as memory allows, and passes on the lanes."""
        lanes, batches = None, list(self._batches(parts, TASK_BYTES))
        for step, (row, batch) in enumerate(batches):
            is_last = step == len(batches) - 1
            after = key if is_last else self._key("lanes", block, step)
            add = AddRows(self._stage, tuple(self._sizes), is_last)
            self._tasks[after] = (add, lanes, row, self._chunks(batch))
            lanes = after

    def _chunk_by_chunk(self, key, first_row, parts):
        """Adds a chain of tasks: each takes the next chunks, and passes on the lanes and the nodes before."""
        state, batches = None, list(self._batches(parts, STEP_BYTES))
        for step, (row, batch) in enumerate(batches):
            is_last = step == len(batches) - 1
            after = key if is_last else self._key("state", first_row // BLOCK, step)
            proceed = Continue(self._stage, tuple(self._sizes), first_row + row, is_last)
            self._tasks[after] = (proceed, state, self._chunks(batch))
            state = after

    def _lane_by_lane(self, key, block, parts, group):
        """Adds one chain of tasks for each group of lanes. The groups come in runs: one task combines the
        groups of a run by pairs, and the last task folds the runs in their order.

        If inputs share chunks, as `x[1:] - x[:-1]` does, neighbouring groups read the same chunks. Then a
        group begins after the one before it: otherwise Dask would hold most chunks of the block in memory.
        """
        parts_by_group = {}
        for index, part in enumerate(parts):
            parts_by_group.setdefault(index * group % LANES, []).append(part)
        lanes, previous = {}, None
        for first, group_parts in parts_by_group.items():
            lanes[first] = self._add_parts(block, first, group_parts, group, previous)
            if self._is_shared:
                previous = self._key("after", block, first)
                self._tasks[previous] = (finished, lanes[first])
        first_lanes = _ChunkedProgram.lane_groups(group)
        length, runs = LANES // max(group, 4), []
        for run in range(0, len(first_lanes), length):
            run_lanes = [lanes.get(first) for first in first_lanes[run : run + length]]
            if any(key is not None for key in run_lanes):
                after = self._key("run", block, run)
                self._tasks[after] = (Pairs(self._stage.reductions), run_lanes)
                runs.append(after)
        self._tasks[key] = (Fold(self._stage), runs)

    def _add_parts(self, block, first, parts, group, previous):
        """Adds the chain of tasks of the group that begins with lane ``first``, and returns its last key. The
        chain begins after the task ``previous``, if there is one."""
        limit = max(TASK_BYTES // (group * self._row_bytes), 1)
        before = None
        for step in range(0, len(parts), limit):
            after = self._key("lanes", block, first, step)
            add = AddParts(self._stage, tuple(self._sizes), group)
            self._tasks[after] = (add, before, self._chunks(parts[step : step + limit]), previous)
            before, previous = after, None
        return before

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
