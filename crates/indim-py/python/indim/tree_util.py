"""The names of ``jax.tree_util``; `tree.py` defines the functions."""

from .tree import (
    TreeDef as PyTreeDef,
    all as tree_all,
    flatten as tree_flatten,
    leaves as tree_leaves,
    map as tree_map,
    reduce as tree_reduce,
    register_dataclass,
    register_pytree_node,
    register_pytree_node_class,
    structure as tree_structure,
    transpose as tree_transpose,
    unflatten as tree_unflatten,
)

__all__ = [
    *("PyTreeDef", "register_dataclass", "register_pytree_node", "register_pytree_node_class", "tree_all"),
    *("tree_flatten", "tree_leaves", "tree_map", "tree_reduce", "tree_structure", "tree_transpose"),
    "tree_unflatten",
]
