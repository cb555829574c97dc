"""The name of ``jax.flatten_util``: trees as arrays with one axis."""

import indim as _package  # Waits for a thread that imports the package.

import numpy as np

from ._functions import asarray
from .tree import flatten

__all__ = ["ravel_pytree"]


def ravel_pytree(pytree):
    """The elements of all leaves in one array with one axis, and the function that makes the tree again.

    >>> import indim, numpy as np
    >>> flat, tree_of = indim.flatten_util.ravel_pytree({"w": np.ones((2, 2)), "b": np.zeros(1)})
    >>> flat
    array([1., 1., 1., 1., 0.])
    >>> tree_of(flat)["b"]
    array([0.])
    """
    leaves, structure = flatten(pytree)
    leaves = [asarray(leaf) for leaf in leaves]
    sizes = [int(np.prod(leaf.shape, dtype=object)) for leaf in leaves]
    ends = np.cumsum(sizes, dtype=int)
    kinds = [(tuple(leaf.shape), leaf.dtype) for leaf in leaves]

    def unravel(flat):
        flat = asarray(flat)
        if tuple(flat.shape) != (sum(sizes),):
            shape = tuple(flat.shape)
            raise ValueError(f"the tree has {sum(sizes)} elements, and the array the shape {shape}")
        parts = [flat[int(end) - size : int(end)] for end, size in zip(ends, sizes)]
        return structure.unflatten(
            [part.reshape(shape).astype(dtype) for part, (shape, dtype) in zip(parts, kinds)]
        )

    flat = np.concatenate([leaf.reshape(-1) for leaf in leaves]) if leaves else np.zeros(0)
    return flat, unravel
