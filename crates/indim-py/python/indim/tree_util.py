"""The names of ``jax.tree_util``; `tree.py` and `_tree_paths.py` define the functions."""

import indim as _package  # Waits for a thread that imports the package.

from ._tree_paths import DictKey, FlattenedIndexKey, GetAttrKey, SequenceKey, keystr
from .tree import (
    Partial,
    TreeDef as PyTreeDef,
    all as tree_all,
    broadcast as tree_broadcast,
    flatten as tree_flatten,
    flatten_with_path as tree_flatten_with_path,
    leaves as tree_leaves,
    leaves_with_path as tree_leaves_with_path,
    map as tree_map,
    map_with_path as tree_map_with_path,
    reduce as tree_reduce,
    reduce_associative as tree_reduce_associative,
    register_dataclass,
    register_pytree_node,
    register_pytree_node_class,
    register_pytree_with_keys,
    register_pytree_with_keys_class,
    register_static,
    structure as tree_structure,
    transpose as tree_transpose,
    unflatten as tree_unflatten,
)

__all__ = [
    *("DictKey", "FlattenedIndexKey", "GetAttrKey", "Partial", "PyTreeDef", "SequenceKey", "keystr"),
    *("register_dataclass", "register_pytree_node", "register_pytree_node_class"),
    *("register_pytree_with_keys", "register_pytree_with_keys_class", "register_static", "tree_all"),
    *("tree_broadcast", "tree_flatten", "tree_flatten_with_path", "tree_leaves", "tree_leaves_with_path"),
    *("tree_map", "tree_map_with_path", "tree_reduce", "tree_reduce_associative", "tree_structure"),
    *("tree_transpose", "tree_unflatten"),
]


def __getattr__(name):
    raise AttributeError(
        f"indim.tree_util has no {name!r}: "
        "compose it of tree_flatten, tree_map and tree_unflatten"
    )
