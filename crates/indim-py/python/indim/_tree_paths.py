"""Trees with the path of each leaf: the keys of ``jax.tree_util``, and functions that take or give paths."""

from __future__ import annotations

import dataclasses
from typing import Any

from ._trees import (
    _REGISTERED,
    _keys_and_items,
    filled,
    is_node,
    items_of,
    leaves_like,
    mapped,
    rebuilt,
    register,
    shown,
)

#: Functions that give the items of the objects of registered classes with their keys, by class.
_WITH_KEYS = {}


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """The position of an item of a list or tuple."""

    idx: int

    def __str__(self):
        return f"[{self.idx!r}]"


@dataclasses.dataclass(frozen=True)
class DictKey:
    """The key of an item of a dict."""

    key: Any

    def __str__(self):
        return f"[{self.key!r}]"


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """The name of a field of a dataclass or of a named tuple."""

    name: str

    def __str__(self):
        return f".{self.name}"


@dataclasses.dataclass(frozen=True)
class FlattenedIndexKey:
    """The position of an item of an object of a registered class."""

    key: int

    def __str__(self):
        return f"[<flat index {self.key}>]"


#: The attribute of each class of keys that has the key.
_FIELDS = {SequenceKey: "idx", DictKey: "key", GetAttrKey: "name", FlattenedIndexKey: "key"}


def keystr(keys, *, simple=False, separator=""):
    """The text of a path; with ``simple`` the keys alone, with a separator between them.

    >>> import indim
    >>> [indim.tree_util.keystr(path) for path, _ in indim.tree.leaves_with_path({"a": [1, 2]})]
    ["['a'][0]", "['a'][1]"]
    """
    if not simple:
        return separator.join(map(str, keys))
    return separator.join(map(_simple, keys))


def _simple(key):
    """The text of the key alone; a key of a class of the caller has its own text."""
    field = _FIELDS.get(type(key))
    return str(key if field is None else getattr(key, field))


def register_with_keys(cls, flatten_with_keys, unflatten_func, flatten_func=None):
    """Makes the objects of a class trees whose items have keys: ``flatten_with_keys(value)`` gives pairs of a
    key and an item, and a static object."""

    def flatten(value):
        pairs, static = flatten_with_keys(value)
        return [item for _, item in pairs], static

    register(cls, flatten_func or flatten, unflatten_func)
    _WITH_KEYS[cls] = lambda value: [key for key, _ in flatten_with_keys(value)[0]]


def _keys(value):
    """The key of each item of a container."""
    if type(value) in _WITH_KEYS:
        return _WITH_KEYS[type(value)](value)
    keys = _keys_and_items(value)[0]
    if isinstance(value, dict):
        return [DictKey(key) for key in keys]
    if isinstance(value, (list, tuple)):
        names = getattr(value, "_fields", None)
        return [SequenceKey(key) for key in keys] if names is None else [GetAttrKey(name) for name in names]
    if type(value) in _REGISTERED:
        return [FlattenedIndexKey(place) for place in range(len(keys))]
    return [GetAttrKey(key) for key in keys]


def leaves_with_path(tree, is_leaf=None, is_leaf_takes_path=False):
    """The leaves of a tree with their paths, as pairs in a list."""
    return _visited(tree, is_leaf, is_leaf_takes_path)[1]


def flatten_with_path(tree, is_leaf=None, is_leaf_takes_path=False):
    """The leaves of a tree with their paths, as pairs in a list, and the ``TreeDef`` of the tree."""
    from .tree import TreeDef

    template, found = _visited(tree, is_leaf, is_leaf_takes_path)
    return found, TreeDef(mapped(template, lambda leaf: 0))


def map_with_path(f, tree, *rest, is_leaf=None, is_leaf_takes_path=False):
    """The tree of the results of ``f(path, leaf)`` for each leaf of ``tree``, with the leaves of ``rest`` at
    the same places."""
    template, found = _visited(tree, is_leaf, is_leaf_takes_path)
    columns = [[path for path, _ in found], [leaf for _, leaf in found]]
    for other in rest:
        columns.append(leaves_like(template, other, is_prefix=True))
        if columns[-1] is None:
            raise ValueError(
                f"tree.map_with_path takes trees of the same containers, not {shown(tree)} and {shown(other)}"
            )
    return filled(template, [f(*row) for row in zip(*columns)])


def _visited(tree, is_leaf, takes_path):
    """The tree with each subtree that ``is_leaf`` chooses as one leaf, and these subtrees with paths."""
    found = []

    def is_end(path, value):
        if is_leaf is not None and (is_leaf(path, value) if takes_path else is_leaf(value)):
            return True
        return value is not None and not is_node(value)

    def visit(path, value):
        if is_end(path, value):
            found.append((path, value))
            return 0
        if value is None:
            return None
        pairs = zip(_keys(value), items_of(value))
        return rebuilt(value, [visit((*path, key), item) for key, item in pairs])

    return visit((), tree), found
