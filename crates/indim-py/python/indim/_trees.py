"""Trees: nested lists, tuples, dicts, dataclasses and objects of registered classes, whose leaves are arrays.

Arguments, states and results are trees. ``None`` is a tree without leaves, as in JAX.
"""

from __future__ import annotations

import copy
import weakref

import numpy as np

from ._foreign import has_advice
from ._statics import key as static_key

#: Functions that take apart and rebuild the objects of registered classes, by class: see `tree.py`.
_REGISTERED = {}

#: ``(name, whether it is static)`` of each field, by dataclass; None for a class whose objects are leaves.
_FIELDS = weakref.WeakKeyDictionary()


def register(cls, flatten_object, rebuild_object):
    """Makes the objects of a class trees: ``flatten_object(value)`` gives items and a static object, and
    ``rebuild_object(static, items)`` the object."""
    if cls in _REGISTERED or issubclass(cls, (list, tuple, dict)):
        raise ValueError(f"{cls.__qualname__} is a tree already")
    _REGISTERED[cls] = flatten_object, rebuild_object


def is_node(value):
    """Whether a value is a container, which has items, and not a leaf or None."""
    return isinstance(value, (list, tuple, dict)) or _has_fields(value)


def holds_numbers(value):
    """Whether a list or tuple, but no named tuple, consists of numbers and lists or tuples of numbers."""
    if not isinstance(value, (list, tuple)) or hasattr(value, "_fields"):
        return False
    return all(isinstance(item, _NUMBERS) or holds_numbers(item) for item in value)


_NUMBERS = (int, float, complex, np.generic)


def _has_fields(value):
    """Whether a value is a dataclass or of a registered class; an array is not."""
    return type(value) in _REGISTERED or _fields(type(value)) is not None


def _fields(cls):
    """``(name, whether it is static)`` of each field of a dataclass; None for other classes."""
    if not hasattr(cls, "__dataclass_fields__"):
        return None
    try:
        return _FIELDS[cls]
    except KeyError:
        # `import indim` is faster without this module.
        import dataclasses

        # Groups of Zarr are dataclasses too.
        is_leaf = hasattr(cls, "__array__") or has_advice(cls)
        fields = [(field.name, bool(field.metadata.get("static"))) for field in dataclasses.fields(cls)]
        _FIELDS[cls] = fields = None if is_leaf else fields
        return fields


def forget_fields():
    """Reads the fields of dataclasses again, after they were changed."""
    _FIELDS.clear()


def fields_of(value):
    """``(name, whether it is static, item)`` of each field of a dataclass or of an object of a registered
    class; None for other values. Also called by the compiled part."""
    cls = type(value)
    if cls in _REGISTERED:
        items, static = _REGISTERED[cls][0](value)
        fields = [(str(index), False, item) for index, item in enumerate(items)]
        return [*fields, ("static", True, static)]
    fields = _fields(cls)
    return None if fields is None else [(name, is_static, getattr(value, name)) for name, is_static in fields]


def _keys_and_items(value):
    """The keys and items of a container, without those of static fields."""
    if isinstance(value, dict):
        return list(value), list(value.values())
    if isinstance(value, (list, tuple)):
        return list(range(len(value))), list(value)
    fields = [(name, item) for name, is_static, item in fields_of(value) if not is_static]
    return [name for name, _ in fields], [item for _, item in fields]


def items_of(value):
    """The items of a container."""
    if isinstance(value, (list, tuple)):
        return list(value)
    return _keys_and_items(value)[1]


def statics_of(value):
    """The static fields of a container: those that are no arrays."""
    if isinstance(value, (list, tuple, dict)):
        return []
    return [item for _, is_static, item in fields_of(value) if is_static]


def rebuilt(container, values):
    """A container like ``container`` of these values."""
    return rebuilt_with_statics(container, values, None)


def rebuilt_with_statics(container, values, statics):
    """A container like ``container`` of these values; ``statics`` replace its static fields."""
    if type(container) is dict:
        return dict(zip(container, values))
    if isinstance(container, dict):
        container = copy.copy(container)
        container.update(zip(container, values))
        return container
    if isinstance(container, tuple) and hasattr(container, "_make"):
        return container._make(values)
    if isinstance(container, (list, tuple)):
        return type(container)(values)
    if type(container) in _REGISTERED:
        (static,) = statics_of(container) if statics is None else statics
        return _REGISTERED[type(container)][1](static, list(values))
    # Neither `__init__` nor `__post_init__` runs, because they may expect arrays.
    made = object.__new__(type(container))
    values, statics = iter(values), iter(statics or ())
    for name, is_static, item in fields_of(container):
        object.__setattr__(made, name, next(statics, item) if is_static else next(values))
    return made


def flatten(result):
    """The kind of container of a function's results, the keys if it is a dict, and its leaves. The kind
    ``"tree"`` has a template of all containers in the place of keys, with a 0 for each leaf."""
    if result is None:
        return "tree", [None], []
    if not is_node(result):
        return "single", [], [result]
    items = items_of(result)
    if type(result) not in (dict, tuple, list) or any(item is None or is_node(item) for item in items):
        return "tree", [mapped(result, lambda leaf: 0)], list(leaves_of(result))
    return type(result).__name__, list(result) if type(result) is dict else [], items


def in_container(kind, keys, values):
    """Reverses ``flatten``: these values in a container of a kind, or the single one."""
    if kind == "single":
        return values[0]
    if kind == "tree":
        return filled(keys[0], values)
    if kind == "dict":
        return dict(zip(keys, values))
    return values if kind == "list" else tuple(values)


def leaves_of(value):
    """The leaves of nested containers; None has none."""
    if is_node(value):
        for item in items_of(value):
            yield from leaves_of(item)
    elif value is not None:
        yield value


def mapped(value, function):
    """``value`` with ``function`` applied to each leaf."""
    if is_node(value):
        return rebuilt(value, [mapped(item, function) for item in items_of(value)])
    return None if value is None else function(value)


def filled(template, leaves):
    """Containers like the template, with these leaves in their order. Also called by the compiled part."""
    leaves = iter(leaves)
    return mapped(template, lambda _: next(leaves))


def outputs_like(template, out):
    """The arrays of ``out`` for the leaves of the template; None for a new array. Called by the compiled
    part."""
    if out is None:
        return [None for _ in leaves_of(template)]
    if template is None:
        raise TypeError(f"`out` has the containers of the results: None, not {shown(out)}")
    if not is_node(template):
        return [out]
    keys, items = _keys_and_items(template)
    if not is_node(out) or (set(_keys_and_items(out)[0]) != set(keys)):
        raise TypeError(f"`out` has the containers of the results: {shown(template)}, not {shown(out)}")
    found = dict(zip(*_keys_and_items(out)))
    return [array for key, item in zip(keys, items) for array in outputs_like(item, found[key])]


def item_paths(value):
    """The text of each item of a container in messages: ``['key']``, ``[0]`` or ``.field``."""
    is_object = not isinstance(value, (list, tuple, dict))
    return [f".{key}" if is_object else f"[{key!r}]" for key in _keys_and_items(value)[0]]


def paths_of(value, name):
    """The text of each leaf in messages: ``name`` with the keys that lead to it."""
    if is_node(value):
        for path, item in zip(item_paths(value), items_of(value)):
            yield from paths_of(item, name + path)
    elif value is not None:
        yield name


def structure_of(value, leaf):
    """A hashable description of the containers of a value, and of each leaf by ``leaf(it)``."""
    if not is_node(value):
        return None if value is None else leaf(value)
    items = tuple(structure_of(item, leaf) for item in items_of(value))
    if isinstance(value, dict):
        return type(value), tuple(value), items
    return type(value), items, tuple(map(static_key, statics_of(value)))


def leaves_like(template, value, is_prefix=False):
    """The leaves of ``value`` in the order of those of ``template``, or None if the containers differ; the
    order of keys in a dict has no meaning. If the template ``is_prefix``, a leaf of it stands for any
    subtree."""
    found = []
    return found if _collect_like(template, value, is_prefix, found) else None


def _collect_like(template, value, is_prefix, found):
    if template is None:
        return value is None
    if not is_node(template):
        found.append(value)
        return is_prefix or not (value is None or is_node(value))
    if type(template) is not type(value):
        return False
    (keys, items), (own_keys, own_items) = _keys_and_items(template), _keys_and_items(value)
    if len(items) != len(own_items) or not _are_same(statics_of(template), statics_of(value)):
        return False
    own = dict(zip(own_keys, own_items))
    pairs = zip(keys, items)
    return all(key in own and _collect_like(item, own[key], is_prefix, found) for key, item in pairs)


def _are_same(statics, others):
    return all(x is y or static_key(x) == static_key(y) for x, y in zip(statics, others))


def shown(value):
    """The containers of a value in words."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {shown(item)}" for key, item in value.items()) + "}"
    if not is_node(value):
        return "None" if value is None else "an array"
    inside = ", ".join(map(shown, items_of(value)))
    if isinstance(value, list):
        return f"[{inside}]"
    name = "" if type(value) is tuple else type(value).__name__
    return f"{name}({inside})" if len(items_of(value)) != 1 or name else f"({inside},)"
