"""``vmap``: a function of one element, computed for every element of a batch.

The function is recorded for one element, within the recording around it; the compiled part adds its results
for all elements there as one step (`transformation.rs`).
"""

from __future__ import annotations

import operator

from ._indim import Recorder
from ._numbers import Number
from ._tracing import Recording, Tracer, recorded_results, running_recording
from ._transformed import TransformedFunction, name_of
from ._trees import in_container, items_of, rebuilt


def vmap(f, in_axes=0, out_axes=0):
    """The function that computes ``f`` for every element of a batch, like JAX's ``vmap``.

    ``f`` computes one element. ``in_axes`` is the position of the batch axis in each argument, or a tuple
    with a position for each argument; ``None`` is an argument that all elements share, as are numbers that
    are not arrays. An argument that is a list, tuple or dict may have positions in such a container.
    Keyword-only arguments have the batch axis 0. ``out_axes`` is the position of the batch axis in each
    result; ``None`` is a result that is the same for all elements.

    The elements are computed at once, not in a loop, and each has the bits of ``f``. A loop whose condition
    differs between elements runs until it is false for all of them.

    >>> import indim, numpy as np
    >>> rows = np.array([[3.0, 4.0], [6.0, 8.0]])
    >>> indim.vmap(lambda x, scale: np.sqrt(np.sum(x**2)) / scale, in_axes=(0, None))(rows, 5.0)
    array([1., 2.])
    """
    in_axes, out_axes = _positions(in_axes), _positions(out_axes)

    def traced(function, *args, **kwargs):
        return vectorised(function, args, kwargs, in_axes, out_axes)

    def prepare(signature, args, kwargs):
        _check_call(name_of(f), signature, args, kwargs, in_axes)
        return args, kwargs

    return TransformedFunction(traced, vmap, f, (in_axes, out_axes), prepare)


def _positions(axes):
    """Positions as whole numbers, in their containers; lists become tuples, as in JAX."""
    if axes is None:
        return None
    if isinstance(axes, dict):
        return {key: _positions(item) for key, item in axes.items()}
    if isinstance(axes, (list, tuple)):
        return tuple(_positions(item) for item in axes)
    return operator.index(axes)


def _check_call(name, signature, args, kwargs, in_axes):
    """Refuses arguments for which the binding of names would choose another axis than JAX."""
    parameters = signature.parameters
    by_name = [key for key in kwargs if key in parameters]
    by_name = [key for key in by_name if parameters[key].kind is not parameters[key].KEYWORD_ONLY]
    if by_name and in_axes != 0:
        raise TypeError(
            f"vmap of {name}: pass `{by_name[0]}` by position, because in_axes has the axes of arguments by "
            "position; JAX gives arguments by name the axis 0"
        )
    arrays = [key for key, parameter in parameters.items() if getattr(parameter.default, "ndim", 0)]
    if arrays:
        given = signature.bind(*args, **kwargs).arguments
        for missing in (key for key in arrays if key not in given):
            raise TypeError(
                f"vmap of {name}: the default of `{missing}` is an array; pass it, with None in in_axes if "
                "all elements share it"
            )


def vectorised(function, args, kwargs, in_axes, out_axes):
    """The results of ``function`` for every element, in the recording that runs."""
    name = name_of(function)
    batch = _Batch(name, Recording(Recorder(), name, running_recording()))
    inner = [batch.argument(*pair) for pair in zip(args, _axes_of_arguments(name, in_axes, args))]
    inner_by_name = {key: batch.argument(value, 0) for key, value in kwargs.items()}
    if batch.size is None:
        raise ValueError(f"vmap of {name} has no argument with a batch axis: in_axes is {in_axes}")
    kind, keys, results = recorded_results(batch.recording, function, inner, inner_by_name)
    values = batch.values(results, _axes_of_results(name, out_axes, kind, keys, len(results)))
    return in_container(kind, keys, values)


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
        value = self.recording.outer.tracer(value, self.name)
        removed = None if axis is None else self._checked_axis(value, axis)
        self.in_axes.append(removed)
        return self.recording.parameter(value, removed=removed)

    def _checked_axis(self, value, axis):
        """The batch axis of an array, counted from the front."""
        shown = f"`{value._value_text}` : {value._dtype}{list(value._shape)}"
        if isinstance(axis, (tuple, dict)):
            raise ValueError(f"vmap of {self.name}: in_axes has {axis} for the array {shown}")
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
        # Values from outside the arguments are shared.
        in_axes = self.in_axes + [None] * (len(self.recording.sources) - len(self.in_axes))
        function, outer = self.recording.as_function(results), self.recording.outer
        text = f"vmap({self.name})(...)"
        descriptions = outer.recorder(self.name).vectorize(function, in_axes, out_axes, text)
        return [Tracer(outer, description) for description in descriptions]


def _axes_of_arguments(name, in_axes, args):
    """The batch axes of each argument. Defaults that are numbers have none."""
    if not isinstance(in_axes, tuple):
        return [in_axes] * len(args)
    rest = args[len(in_axes) :]
    if len(in_axes) > len(args) or any(_may_hold_arrays(arg) for arg in rest):
        raise ValueError(f"vmap of {name}: in_axes has {len(in_axes)} positions for {len(args)} arguments")
    return [*in_axes, *[None] * len(rest)]


def _may_hold_arrays(value):
    return isinstance(value, (list, tuple, dict, Tracer)) or hasattr(value, "__array__")


def _axes_of(axes, value, name):
    """The batch axes of the items of a container."""
    if not isinstance(axes, (tuple, dict)):
        return [axes] * len(value)
    if isinstance(axes, dict) and isinstance(value, dict) and axes.keys() == value.keys():
        return [axes[key] for key in value]
    if isinstance(axes, tuple) and not isinstance(value, dict) and len(axes) == len(value):
        return list(axes)
    of_value = f"the keys {list(value)}" if isinstance(value, dict) else f"{len(value)} items"
    raise ValueError(f"vmap of {name}: in_axes has {axes} for a {type(value).__name__} with {of_value}")


def _axes_of_results(name, out_axes, kind, keys, count):
    """The batch axis of each result."""
    if isinstance(out_axes, dict) and kind == "dict" and set(out_axes) == set(keys):
        return [out_axes[key] for key in keys]
    if isinstance(out_axes, tuple) and kind in ("tuple", "list") and len(out_axes) == count:
        return list(out_axes)
    if isinstance(out_axes, (tuple, dict)):
        raise ValueError(
            f"vmap of {name}: out_axes is {out_axes}, and the function returns a {kind} of {count}"
        )
    return [out_axes] * count
