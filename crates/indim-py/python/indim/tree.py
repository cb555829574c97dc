"""Functions of trees, with the names of ``jax.tree``, and the registration of classes as trees.

A tree is an array or a nest of lists, tuples, dicts, dataclasses and objects of registered classes. ``None``
has no leaves.
"""

from __future__ import annotations

import indim as _package  # Waits for a thread that imports the package.

import copy
import functools

from ._tree_paths import flatten_with_path, leaves_with_path, map_with_path, register_with_keys
from ._trees import (
    filled,
    forget_fields,
    is_node,
    items_of,
    leaves_like,
    leaves_of,
    mapped,
    rebuilt,
    register,
    shown,
)


class TreeDef:
    """The containers of a tree, without its leaves."""

    __slots__ = ("_template",)

    def __init__(self, template):
        self._template = template

    @property
    def num_leaves(self):
        return len(leaves(self._template))

    def unflatten(self, leaves):
        """The tree with these leaves."""
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(f"{shown(self._template)} has {self.num_leaves} leaves, not {len(leaves)}")
        return filled(self._template, leaves)

    def __eq__(self, other):
        return isinstance(other, TreeDef) and leaves_like(self._template, other._template) is not None

    __hash__ = None

    def __repr__(self):
        return f"TreeDef({shown(self._template)})"


def _as_tree(tree, is_leaf):
    """The tree with each subtree that ``is_leaf`` chooses as one leaf, and these subtrees in order."""
    if is_leaf is None:
        return tree, list(leaves_of(tree))
    found = []

    def visit(value):
        if is_leaf(value) or (value is not None and not is_node(value)):
            found.append(value)
            return 0
        return None if value is None else rebuilt(value, [visit(item) for item in items_of(value)])

    return visit(tree), found


def leaves(tree, is_leaf=None):
    """The leaves of a tree in a list."""
    return _as_tree(tree, is_leaf)[1]


def map(f, tree, *rest, is_leaf=None):
    """The tree of the results of ``f`` for each leaf of ``tree``, with the leaves of ``rest`` at the same
    places.

    >>> import indim
    >>> indim.tree.map(lambda x, y: x + y, {"a": 1, "b": (2, None)}, {"a": 10, "b": (20, None)})
    {'a': 11, 'b': (22, None)}
    """
    template, first = _as_tree(tree, is_leaf)
    columns = [first]
    for other in rest:
        columns.append(leaves_like(template, other, is_prefix=True))
        if columns[-1] is None:
            raise ValueError(
                f"tree.map takes trees of the same containers, not {shown(tree)} and {shown(other)}"
            )
    return filled(template, [f(*row) for row in zip(*columns)])


def flatten(tree, is_leaf=None):
    """The leaves of a tree, and its ``TreeDef``, which rebuilds it from leaves."""
    template, found = _as_tree(tree, is_leaf)
    return found, TreeDef(mapped(template, lambda leaf: 0))


def unflatten(treedef, leaves):
    """The tree with these leaves."""
    return treedef.unflatten(leaves)


def structure(tree, is_leaf=None):
    """The ``TreeDef`` of a tree."""
    return flatten(tree, is_leaf)[1]


def reduce(function, tree, *initial, is_leaf=None):
    """The leaves of a tree combined by ``function(so_far, leaf)``, as by ``functools.reduce``."""
    return functools.reduce(function, leaves(tree, is_leaf), *initial)


def reduce_associative(operation, tree, *, identity=None, is_leaf=None):
    """The leaves of a tree combined by an associative operation, pair by pair."""
    found = leaves(tree, is_leaf)
    if not found:
        if identity is None:
            raise TypeError("a tree without leaves needs an `identity`")
        return identity
    while len(found) > 1:
        pairs = [operation(*found[at : at + 2]) for at in range(0, len(found) - 1, 2)]
        found = pairs + found[2 * len(pairs) :]
    return found[0]


def broadcast(prefix_tree, full_tree, is_leaf=None):
    """The tree ``full_tree`` with the leaf of ``prefix_tree`` that stands for each of its leaves.

    >>> import indim
    >>> indim.tree.broadcast({"a": 0, "b": 1}, {"a": [5, 6], "b": 7})
    {'a': [0, 0], 'b': 1}
    """
    template, given = _as_tree(prefix_tree, is_leaf)
    subtrees = leaves_like(template, full_tree, is_prefix=True)
    if subtrees is None:
        raise ValueError(f"{shown(prefix_tree)} is no prefix of {shown(full_tree)}")
    return filled(template, [mapped(tree, lambda _, leaf=leaf: leaf) for leaf, tree in zip(given, subtrees)])


def transpose(outer_treedef, inner_treedef, pytree_to_transpose):
    """The tree of the form ``inner_treedef`` of trees of the form ``outer_treedef``, from a tree that nests
    them the other way round.

    >>> import indim
    >>> structure = indim.tree.structure
    >>> indim.tree.transpose(structure([0, 0]), structure((0, 0)), [(1, 2), (3, 4)])
    ([1, 3], [2, 4])
    """
    found = leaves(pytree_to_transpose)
    count = inner_treedef.num_leaves
    if len(found) != outer_treedef.num_leaves * count:
        raise TypeError(f"the tree has {len(found)} leaves, not {outer_treedef.num_leaves} times {count}")
    columns = [outer_treedef.unflatten(found[first::count]) for first in range(count)]
    return inner_treedef.unflatten(columns)


def all(tree, *, is_leaf=None):
    """Whether every leaf of a tree is true."""
    return reduce(lambda so_far, leaf: so_far and bool(leaf), tree, True, is_leaf=is_leaf)


def register_pytree_node(cls, flatten_func, unflatten_func):
    """Makes the objects of a class trees: ``flatten_func(value)`` gives the items and a static object, and
    ``unflatten_func(static, items)`` the object. The static object is part of the program."""
    register(cls, flatten_func, unflatten_func)


def register_pytree_node_class(cls):
    """Makes the objects of a class trees by its methods ``tree_flatten`` and ``tree_unflatten``."""
    register(cls, cls.tree_flatten, cls.tree_unflatten)
    return cls


def register_pytree_with_keys(cls, flatten_with_keys, unflatten_func, flatten_func=None):
    """``register_pytree_node``, where ``flatten_with_keys(value)`` gives pairs of a key and an item."""
    register_with_keys(cls, flatten_with_keys, unflatten_func, flatten_func)


def register_pytree_with_keys_class(cls):
    """Makes the objects of a class trees by its methods ``tree_flatten_with_keys`` and ``tree_unflatten``."""
    plain = getattr(cls, "tree_flatten", None)
    register_with_keys(cls, cls.tree_flatten_with_keys, cls.tree_unflatten, plain)
    return cls


def register_static(cls):
    """Makes the objects of a class trees without leaves: each is part of the program."""
    register(cls, lambda value: ((), value), lambda static, items: static)
    return cls


class Partial(functools.partial):
    """``functools.partial`` as a tree, whose leaves are those of the arguments."""


register(
    Partial,
    lambda partial: ((partial.args, partial.keywords), partial.func),
    lambda function, items: Partial(function, *items[0], **items[1]),
)


def register_dataclass(cls, data_fields=None, meta_fields=()):
    """Every dataclass is a tree already. ``meta_fields`` are static, and so are fields with the metadata
    ``{"static": True}``."""
    import dataclasses

    if not dataclasses.is_dataclass(cls):
        raise TypeError(f"{cls!r} is no dataclass; register_pytree_node takes any class")
    fields = [field.name for field in dataclasses.fields(cls) if field.name not in meta_fields]
    if data_fields is not None and set(data_fields) != set(fields):
        raise ValueError(
            f"the fields of {cls.__qualname__} but meta_fields are {fields}, not {list(data_fields)}"
        )
    # Classes share the fields that they inherit.
    fields = dict(cls.__dataclass_fields__)
    for name in meta_fields:
        fields[name] = copy.copy(fields[name])
        fields[name].metadata = {**fields[name].metadata, "static": True}
    cls.__dataclass_fields__ = fields
    forget_fields()
    return cls


def __getattr__(name):
    raise AttributeError(
        f"indim.tree has no {name!r}: "
        "compose it of tree.flatten, tree.map and tree.unflatten"
    )
