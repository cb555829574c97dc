"""The stages of programs over chunks, for the engines that run them: Dask and Cubed.

The summation tree has blocks of 512 elements. Partial results of chunks are combined by pairs of neighbours,
so a chunk of 512·2^k elements is a node of the tree.
"""

from __future__ import annotations

import functools
import itertools

from ._engines import chunked_program
from ._indim import _Combination

#: Elements of a block of the summation tree.
BLOCK = 512

#: Partial results that one task combines: a power of two, so that a task covers whole levels of the tree.
TASK_FAN_IN = 16


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
