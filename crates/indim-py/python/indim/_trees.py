"""Lists, tuples and dicts of arrays, also nested: arguments, states and results."""

from __future__ import annotations

import copy


def rebuilt(container, values):
    """A list, tuple or dict like ``container`` of these values."""
    if isinstance(container, dict):
        container = copy.copy(container)
        container.update(zip(container, values))
        return container
    return container._make(values) if hasattr(container, "_make") else type(container)(values)


def flatten(result):
    """The kind of container of a function's results, the keys if it is a dict, and its items."""
    if isinstance(result, dict):
        return "dict", list(result), list(result.values())
    if isinstance(result, tuple):
        return "tuple", [], list(result)
    if isinstance(result, list):
        return "list", [], result
    return "single", [], [result]


def in_container(kind, keys, values):
    """Reverses ``flatten``: these values in a container of a kind, or the single one."""
    if kind == "single":
        return values[0]
    if kind == "dict":
        return dict(zip(keys, values))
    return values if kind == "list" else tuple(values)


def items_of(value):
    """The items of a container."""
    return list(value.values() if isinstance(value, dict) else value)


def leaves_of(value):
    """The leaves of nested containers; None has none."""
    if isinstance(value, (list, tuple, dict)):
        for item in items_of(value):
            yield from leaves_of(item)
    elif value is not None:
        yield value


def mapped(value, function):
    """``value`` with ``function`` applied to each leaf."""
    if isinstance(value, (list, tuple, dict)):
        return rebuilt(value, [mapped(item, function) for item in items_of(value)])
    return None if value is None else function(value)


def filled(template, leaves):
    """Containers like the template, with these leaves in their order."""
    leaves = iter(leaves)
    return mapped(template, lambda _: next(leaves))


def paths_of(value, name):
    """The text of each leaf in messages: ``name`` with the keys that lead to it."""
    if isinstance(value, (list, tuple, dict)):
        keys = value if isinstance(value, dict) else range(len(value))
        for key, item in zip(keys, items_of(value)):
            yield from paths_of(item, f"{name}[{key!r}]")
    elif value is not None:
        yield name


def structure_of(value, leaf):
    """A hashable description of the containers of a value, and of each leaf by ``leaf(it)``."""
    if isinstance(value, dict):
        return type(value), tuple(value), tuple(structure_of(item, leaf) for item in value.values())
    if isinstance(value, (list, tuple)):
        return type(value), tuple(structure_of(item, leaf) for item in value)
    return None if value is None else leaf(value)


def leaves_like(template, value):
    """The leaves of ``value`` in the order of those of ``template``, or None if the containers differ; the
    order of keys in a dict has no meaning."""
    found = []
    return found if _collect_like(template, value, found) else None


def _collect_like(template, value, found):
    if not isinstance(template, (list, tuple, dict)):
        if isinstance(value, (list, tuple, dict)) or (template is None) != (value is None):
            return False
        if value is not None:
            found.append(value)
        return True
    if type(template) is not type(value) or len(template) != len(value):
        return False
    if not isinstance(template, dict):
        return all(_collect_like(*pair, found) for pair in zip(template, value))
    return all(key in value and _collect_like(item, value[key], found) for key, item in template.items())


def shown(value):
    """The containers of a value in words."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {shown(item)}" for key, item in value.items()) + "}"
    if not isinstance(value, (list, tuple)):
        return "None" if value is None else "an array"
    inside = ", ".join(map(shown, value))
    if isinstance(value, list):
        return f"[{inside}]"
    name = "" if type(value) is tuple else type(value).__name__
    return f"{name}({inside})" if len(value) != 1 or name else f"({inside},)"
