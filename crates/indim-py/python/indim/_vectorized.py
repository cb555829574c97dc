"""``vmap``: a function of one element, computed for every element of a batch.

The function is recorded for one element, within the recording around it; the compiled part adds its results
for all elements there as one step (`transformation.rs`).
"""

from __future__ import annotations

import operator

from ._foreign import is_labelled
from ._indim import Recorder
from ._numbers import Number
from ._tracing import Recording, Tracer, flatten, innermost, rebuilt, result_tracer, running
from ._transformed import TransformedFunction
from ._trees import items_of, leaves_of


def vmap(f, in_axes=0, out_axes=0):
    """The function that computes ``f`` for every element of a batch, like JAX's ``vmap``.

    ``f`` computes one element. ``in_axes`` is the position of the batch axis in each argument, or a tuple
    with a position for each argument; ``None`` is an argument that all elements share, as are numbers that
    are not arrays. An argument that is a list, tuple or dict may have positions in such a container. Keyword
    arguments have the batch axis 0. ``out_axes`` is the position of the batch axis in each result; ``None``
    is a result that is the same for all elements.

    The elements are computed at once, not in a loop, and each has the bits of ``f``. A loop whose condition
    differs between elements runs until it is false for all of them.

    >>> import indim, numpy as np
    >>> rows = np.array([[3.0, 4.0], [6.0, 8.0]])
    >>> indim.vmap(lambda x, scale: np.sqrt(np.sum(x**2)) / scale, in_axes=(0, None))(rows, 5.0)
    array([1., 2.])
    """
    in_axes, out_axes = _positions(in_axes), _positions(out_axes)

    def vectorised(*args, **kwargs):
        return vectorise(f, args, kwargs, in_axes, out_axes)

    return TransformedFunction(vectorised, vmap, f, (in_axes, out_axes))


def _positions(axes):
    """Positions as whole numbers, in their containers; lists become tuples, as in JAX."""
    if axes is None:
        return None
    if isinstance(axes, dict):
        return {key: _positions(item) for key, item in axes.items()}
    if isinstance(axes, (list, tuple)):
        return tuple(_positions(item) for item in axes)
    return operator.index(axes)


def vectorise(function, args, kwargs, in_axes, out_axes):
    """The results of ``function`` for every element; some arguments are traced values."""
    name = getattr(function, "__qualname__", repr(function))
    leaves = [leaf for leaf in leaves_of((*args, kwargs)) if isinstance(leaf, Tracer)]
    if is_labelled(list(leaves_of((*args, kwargs)))):
        raise TypeError(f"vmap of {name} takes arrays without labels, and an argument is one of xarray")
    if not leaves:
        raise TypeError(f"vmap of {name} needs an array among the arguments, whose axis is the batch")
    batch = _Batch(name, Recording(Recorder(), name, innermost(leaves)))
    inner = [batch.argument(*pair) for pair in zip(args, _axes_of_arguments(name, in_axes, args))]
    inner_by_name = {key: batch.argument(value, 0) for key, value in kwargs.items()}
    if batch.size is None:
        raise ValueError(f"vmap of {name} has no argument with a batch axis: in_axes is {in_axes}")
    with running(batch.recording):
        kind, keys, results = flatten(function(*inner, **inner_by_name))
        results = [result_tracer(batch.recording, result) for result in results]
    values = batch.values(results, _axes_of_results(name, out_axes, (kind, keys, len(results))))
    if kind == "dict":
        return dict(zip(keys, values))
    return values[0] if kind == "single" else tuple(values) if kind == "tuple" else values


class _Batch:
    """A recording of one element, and the batch axes of its arguments."""

    def __init__(self, name, recording):
        self.name = name
        self.recording = recording
        self.in_axes = []
        #: The number of elements, and the argument that has it.
        self.size = None
        self._sized = None

    def argument(self, value, axis):
        """What the function gets for an argument with this batch axis, or a container of axes."""
        if isinstance(value, (list, tuple, dict)):
            pairs = zip(items_of(value), _axes_of(axis, value, self.name))
            return rebuilt(value, [self.argument(*pair) for pair in pairs])
        if isinstance(value, Number) or not (isinstance(value, Tracer) or hasattr(value, "__array__")):
            return value
        outer = self.recording.outer
        value = outer.tracer(value, self.name)
        self.in_axes.append(axis)
        if axis is None:
            return self.recording.parameter(value)
        return self.recording.parameter(value, removed=self._checked_axis(value, axis))

    def _checked_axis(self, value, axis):
        """The batch axis of an array, counted from the front."""
        shown = f"`{value._value_text}` : {value._dtype}{list(value._shape)}"
        if not -value.ndim <= axis < value.ndim:
            raise ValueError(f"vmap of {self.name}: {shown} has no axis {axis}; in_axes=None shares it")
        size = value._shape[axis]
        if self.size is None:
            self.size, self._sized = size, shown
        elif size != self.size:
            raise ValueError(
                f"vmap of {self.name}: the batch has {self.size} elements in {self._sized}, and {size} in "
                f"{shown}"
            )
        return axis % value.ndim

    def values(self, results, out_axes):
        """The results for all elements, as values of the recording around."""
        sources = [source._name for source in self.recording.sources]
        # Values from outside the arguments are shared.
        in_axes = self.in_axes + [None] * (len(sources) - len(self.in_axes))
        outer = self.recording.outer
        descriptions = outer.recorder(self.name).vectorize(
            self.recording._recorder,
            [result._name for result in results],
            sources,
            in_axes,
            out_axes,
            f"vmap({self.name})(...)",
        )
        return [Tracer(outer, description) for description in descriptions]


def _axes_of_arguments(name, in_axes, args):
    """The batch axes of each argument."""
    if not isinstance(in_axes, tuple):
        return [in_axes] * len(args)
    if len(in_axes) > len(args) or any(hasattr(arg, "ndim") for arg in args[len(in_axes) :]):
        raise ValueError(f"vmap of {name}: in_axes has {len(in_axes)} positions for {len(args)} arguments")
    # Defaults that are numbers have no axes.
    return [*in_axes, *[None] * (len(args) - len(in_axes))]


def _axes_of(axes, value, name):
    """The batch axes of the items of a container."""
    if not isinstance(axes, (tuple, dict)):
        return [axes] * len(value)
    if isinstance(axes, dict) != isinstance(value, dict) or len(axes) != len(value):
        raise ValueError(f"vmap of {name}: in_axes has {axes} for a {type(value).__name__} of {len(value)}")
    return [axes[key] for key in value] if isinstance(value, dict) else list(axes)


def _axes_of_results(name, out_axes, results):
    """The batch axis of each result."""
    kind, keys, count = results
    if isinstance(out_axes, dict) and kind == "dict" and set(out_axes) == set(keys):
        return [out_axes[key] for key in keys]
    if isinstance(out_axes, tuple) and kind in ("tuple", "list") and len(out_axes) == count:
        return list(out_axes)
    if isinstance(out_axes, (tuple, dict)):
        raise ValueError(
            f"vmap of {name}: out_axes is {out_axes}, and the function returns a {kind} of {count}"
        )
    return [out_axes] * count
