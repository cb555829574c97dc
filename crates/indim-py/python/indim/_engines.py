"""Calls with arrays of other packages, and the choice of the engine that computes them.

The compiled part calls this module when it meets such an array. xarray takes precedence, then pandas, then
Dask or Cubed, because the elements of a labelled array may be an array of theirs. If one of these computes,
columns of polars and pyarrow are plain arrays.
"""

from __future__ import annotations

import copy
import functools

from ._foreign import package_of, without_package
from ._indim import _ChunkedProgram
from ._signatures import is_static_argument
from ._statics import frozen
from ._statics import key as static_key
from ._trees import holds_numbers, is_node, item_paths, items_of, rebuilt, statics_of


def call(compiled, function, arguments, out):
    """A compiled function called with ``arguments``, all of them by position."""
    arguments = _Arguments(arguments, compiled._parameters)
    engine = _engine(arguments.names, arguments.leaves, out)
    if engine.__name__ != _TABLES:
        arguments.leaves = list(map(without_package, arguments.leaves, arguments.names))
    return engine.call(compiled, function, arguments, out)


def evaluate(text, objects, rule, results, out):
    """An expression whose names stand for ``objects``."""
    engine = _engine(objects, objects.values(), out)
    if engine.__name__ != _TABLES:
        objects = {name: without_package(value, name) for name, value in objects.items()}
    return engine.evaluate(text, objects, rule, results, out)


#: The name of the engine of polars and pyarrow.
_TABLES = "indim._tables"


def _engine(names, objects, out):
    """The engine for these values, a module."""
    packages = {package_of(value) for value in objects}
    refuse_mixture(names, objects)
    if packages & {"dask", "cubed", "xarray"}:
        refuse_out(out)
    if "xarray" in packages:
        from . import _xarray as engine
    elif "pandas" in packages:
        from . import _pandas as engine
    elif "cubed" in packages:
        from . import _cubed as engine
    elif "dask" in packages:
        from . import _dask as engine
    else:
        from . import _tables as engine
    return engine


def refuse_mixture(names, objects):
    """Refuses arrays that do not meet: pandas objects and other arrays, whose axes would be matched by
    position, and arrays of Dask and of Cubed."""
    packages = {package_of(value) for value in objects}
    if {"dask", "cubed"} <= packages:
        name = next(name for name, value in zip(names, objects) if package_of(value) == "cubed")
        raise TypeError(
            f"`{name}` is an array of Cubed mixed with arrays of Dask, and one engine computes a program: "
            f"write it to a file, `cubed.to_zarr({name}, path)`, and read it, `dask.array.from_zarr(path)`"
        )
    other, advice = "Cubed" if "cubed" in packages else "Dask", ""
    if "xarray" in packages:
        other, advice = "xarray", "`{name}.to_xarray()` meets them by name, "
    elif not packages & {"dask", "cubed"}:
        return
    for name, value in zip(names, objects):
        if package_of(value) == "pandas" and hasattr(value, "axes"):
            raise TypeError(
                f"`{name}` is a {type(value).__name__} of pandas mixed with arrays of {other}, which do not "
                f"know its labels: {advice.format(name=name)}`{name}.to_numpy()` by position"
            )


@functools.lru_cache(maxsize=64)
def chunked_program(text, counted=False, sliced=False):
    """The program of a graph in text form, over arrays in chunks or with labels. With ``counted``, its last
    parameters are counters; with ``sliced``, slices of inputs are parameters after the inputs."""
    return _ChunkedProgram(text, counted, sliced)


def run(compiled, arguments, out):
    """The results of a compiled function for arguments in the order of its parameters."""
    positional, keywords = [], {}
    parameters = compiled._parameters
    for position, value in enumerate(arguments):
        name, kind, *_ = parameters[min(position, len(parameters) - 1)]
        # Collected arguments are dicts: see `_signatures.py`.
        if name.startswith("**"):
            keywords |= value
        elif name.startswith("*"):
            positional += value.values()
        elif kind == "keyword":
            keywords[name] = value
        else:
            positional.append(value)
    # A function that transforms another takes no option `out`.
    return compiled(*positional, **keywords, **({} if out is None else {"out": out}))


def refuse_out(out):
    if out is not None:
        raise TypeError(
            "`out` is a NumPy array, and results of arrays of Dask, Cubed and xarray are new ones of theirs"
        )


class _Arguments:
    """The arguments of a call: the leaves of their containers, and the structure to rebuild them."""

    def __init__(self, arguments, parameters):
        self._arguments = arguments
        names = [name for name, *_ in parameters]
        self._is_static = [
            is_static_argument(parameters, position, argument) for position, argument in enumerate(arguments)
        ]
        #: The leaves of containers, with their names in messages; the static objects; the structure of the
        #: containers.
        self.leaves, self.names = [], []
        self.static = [argument for argument, static in zip(arguments, self._is_static) if static]
        self.structure = tuple(
            None if static else self._collect(argument, names[min(position, len(names) - 1)])
            for position, (argument, static) in enumerate(zip(arguments, self._is_static))
        )

    def _collect(self, value, name):
        if value is None:
            return "None"
        if _is_leaf(value):
            self.leaves.append(value)
            self.names.append(name)
            return None
        names = [f"{name}{path}" for path in item_paths(value)]
        keys = tuple((type(key), key) for key in value) if isinstance(value, dict) else None
        items = tuple([self._collect(*pair) for pair in zip(items_of(value), names)])
        return type(value), keys, items, tuple(map(static_key, statics_of(value)))

    def without_leaves(self):
        """The same arguments without leaves, as a template for other leaves."""
        other = copy.copy(self)
        other._arguments = self.with_leaves([_NO_LEAF] * len(self.leaves))
        other.static = [argument for argument, static in zip(other._arguments, self._is_static) if static]
        other.leaves = []
        return other

    def with_leaves(self, leaves):
        """The arguments with other leaves."""
        leaves = iter(leaves)
        return tuple(
            frozen(argument) if static else _replace_leaves(argument, leaves)
            for argument, static in zip(self._arguments, self._is_static)
        )


def _is_leaf(value):
    """Whether a value is not a container of arrays; a list of numbers is an array, a tuple is a container."""
    return holds_numbers(value) if isinstance(value, list) else not is_node(value)


#: Stands for each leaf in a template.
_NO_LEAF = object()


def _replace_leaves(value, leaves):
    if value is None:
        return None
    if _is_leaf(value):
        return next(leaves)
    return rebuilt(value, [_replace_leaves(item, leaves) for item in items_of(value)])


def name_of(compiled):
    """The name of a compiled function in messages."""
    return getattr(compiled, "__name__", "the function")
