"""The stages of programs over chunks, for the engines that run them: Dask and Cubed.

The summation tree has blocks of 512 elements. Partial results of chunks are combined by pairs of neighbours,
so a chunk of 512·2^k elements is a node of the tree.
"""

from __future__ import annotations

import functools
import itertools

import numpy as np

from ._engines import chunked_program
from ._indim import _Combination, _graph_of_expression
from ._trees import in_container

#: Elements of a block of the summation tree.
BLOCK = 512

#: Partial results that one task combines: a power of two, so that a task covers whole levels of the tree.
TASK_FAN_IN = 16


class ChunkEngine:
    """An engine that computes arrays of the class ``array_class`` chunk by chunk.

    ``lazy_results((text, operands), sources)`` gives the results of a graph as such arrays, and
    ``check(array, name)`` refuses arrays that the engine does not compute.
    """

    def __init__(self, array_class, lazy_results, check):
        self._array_class, self._lazy_results, self._check = array_class, lazy_results, check

    def call(self, compiled, function, arguments, out):
        """A compiled function called with lazy arrays."""
        sources, leaves = self.placeholders(arguments.leaves, arguments.names)
        text, operands, kind, keys = compiled._graph(arguments.with_leaves(leaves))
        return in_container(kind, keys, self._lazy_results((text, operands), sources))

    def evaluate(self, text, objects, rule, results, out):
        """An expression of lazy arrays."""
        sources, leaves = self.placeholders(objects.values(), objects)
        text, operands, kind, keys = _graph_of_expression(text, dict(zip(objects, leaves)), rule, results)
        return in_container(kind, keys, self._lazy_results((text, operands), sources))

    def placeholders(self, leaves, names):
        """The lazy arrays by the ids of their placeholders, and the leaves with placeholders for these
        arrays. A placeholder takes no memory."""
        sources, replaced = {}, []
        for leaf, name in zip(leaves, names):
            if isinstance(leaf, self._array_class):
                self._check(leaf, name)
                array = leaf
                leaf = np.broadcast_to(np.zeros((), array.dtype.newbyteorder("=")), array.shape)
                # Holding the placeholder keeps its id unique.
                sources[id(leaf)] = (leaf, array, name)
            replaced.append(leaf)
        return sources, replaced


def with_sources(operands, sources):
    """The operands of a graph, with the lazy arrays in place of their placeholders. A placeholder that was
    converted to another array would be read as zeros, so that is an error."""
    found = {id(operand) for operand in operands}
    for key, (_, array, name) in sources.items():
        if key not in found:
            package = type(array).__module__.partition(".")[0].capitalize()
            raise TypeError(
                f"`{name}` is an array of {package}, and the object that holds it has another array in its "
                "place when it is rebuilt from its items: have its class keep arrays as they are, without "
                "`np.array(...)`, or pass the array as an argument of its own"
            )
    return [sources[id(operand)][1] if id(operand) in sources else operand for operand in operands]


def with_slices(text, operands, array_class):
    """The operands, followed by slices of them if the program then reads fewer chunks of the lazy arrays, or
    need not merge chunks; and whether slices follow."""
    slices = chunked_program(text, False, True).slices()
    is_shorter = [
        isinstance(operands[number], array_class)
        and operands[number].numblocks[axis] > 1
        and size < operands[number].shape[axis]
        for number, part in slices
        for axis, (_, size) in enumerate(part)
    ]
    if not any(is_shorter):
        return operands, False
    index = [(number, tuple(slice(start, start + size) for start, size in part)) for number, part in slices]
    return [*operands, *(operands[number][part] for number, part in index)], True


@functools.lru_cache(maxsize=64)
def chunk_program(text, is_counted, is_sliced, is_cut, number):
    """The program of a stage, for chunks of any sizes."""
    return chunked_program(text, is_counted, is_sliced).stage(list(is_cut), number)


@functools.lru_cache(maxsize=64)
def combination(reduction):
    """The program that combines the partial results of chunks."""
    return _Combination(reduction)


def aligned_length(largest):
    """The size of chunks that are nodes of the summation tree, near the size ``largest``: a block times a
    power of two."""
    length = BLOCK
    while 2 * length <= largest:
        length *= 2
    return length


def run_stage(program, shape, input_axes, counts, chunks, inputs=None):
    """The outputs of a stage for one chunk of each input, each output as a tuple of ``counts`` arrays. An
    axis of the stage has the size of the chunks along it. The program takes the first ``inputs`` chunks; the
    others only give sizes."""
    sizes = list(shape)
    for chunk, axes in zip(chunks, input_axes):
        for axis, size in zip(axes, chunk.shape):
            if axis is not None:
                sizes[axis] = size
    results = iter(chunk_program(*program).run(list(chunks[:inputs]), sizes))
    return [tuple(itertools.islice(results, count)) for count in counts]


def combine(reduction, partials):
    """Combines the partial results of chunks by pairs; ``partials`` are the arrays of one chunk after
    another. Returns the arrays of one chunk."""
    return tuple(combination(reduction).run(partials))
