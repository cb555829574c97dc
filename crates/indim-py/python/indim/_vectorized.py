"""``vmap``: a function of one element, computed for every element of a batch.

The function is recorded for one element, within the recording around it; the compiled part adds its results
for all elements there as one step (`transformation.rs`).
"""

from __future__ import annotations

import operator

import numpy as np

from ._functions import asarray
from ._handlers import implements
from ._indim import Recorder
from ._numbers import Number
from ._recording import Recording, running_recording
from ._shape_functions import axis_index
from ._traced_memory import OWNED
from ._tracing import Tracer, recorded_results
from ._transformed import TransformedFunction, name_of
from ._trees import in_container, is_node, items_of, rebuilt, shown


def vmap(f, in_axes=0, out_axes=0, axis_name=None, axis_size=None):
    """The function that computes ``f`` for every element of a batch, like JAX's ``vmap``.

    ``f`` computes one element. ``in_axes`` is the position of the batch axis in each argument, or a tuple
    with a position for each argument; ``None`` is an argument that all elements share, as are numbers that
    are not arrays. An argument that is a list, tuple or dict may have positions in such a container.
    Keyword-only arguments have the batch axis 0. ``out_axes`` is the position of the batch axis in each
    result; ``None`` is a result that is the same for all elements. With ``axis_name`` the function may call
    the collectives of ``indim.lax``, such as ``psum(x, axis_name)``, the sum over all elements. ``axis_size``
    is the number of elements if no argument has a batch axis.

    The elements are computed at once, not in a loop, and each has the bits of ``f``. A loop whose condition
    differs between elements runs until it is false for all of them.

    >>> import indim, numpy as np
    >>> rows = np.array([[3.0, 4.0], [6.0, 8.0]])
    >>> indim.vmap(lambda x, scale: np.sqrt(np.sum(x**2)) / scale, in_axes=(0, None))(rows, 5.0)
    array([1., 2.])
    """
    in_axes, out_axes = _positions(in_axes), _positions(out_axes)

    def traced(function, *args, **kwargs):
        return vectorised(function, args, kwargs, in_axes, out_axes, axis_name, axis_size)

    def prepare(signature, args, kwargs):
        _check_call(name_of(f), signature, args, kwargs, in_axes)
        return args, kwargs

    return TransformedFunction(traced, vmap, f, (in_axes, out_axes, axis_name, axis_size), prepare)


def _positions(axes):
    """Positions as whole numbers, in their containers; lists become tuples, as in JAX."""
    if axes is None:
        return None
    if type(axes) in (list, tuple):
        return tuple(_positions(item) for item in axes)
    if is_node(axes):
        return rebuilt(axes, [_positions(item) for item in items_of(axes)])
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


def vectorised(function, args, kwargs, in_axes, out_axes, axis_name=None, axis_size=None):
    """The results of ``function`` for every element, in the recording that runs."""
    name = name_of(function)
    batch = _Batch(name, Recording(Recorder(), name, running_recording()), axis_name)
    inner = [batch.argument(*pair) for pair in zip(args, _axes_of_arguments(name, in_axes, args))]
    inner_by_name = {key: batch.argument(value, 0) for key, value in kwargs.items()}
    if axis_size is not None:
        batch.check_size(operator.index(axis_size))
    if batch.size is None:
        raise ValueError(f"vmap of {name} has no argument with a batch axis: in_axes is {in_axes}")
    kind, keys, results = recorded_results(batch.recording, function, inner, inner_by_name)
    template = in_container(kind, keys, [0] * len(results))
    values = batch.values(results, _axes_of_results(name, out_axes, template))
    return in_container(kind, keys, values)


class _Batch:
    """A recording of one element, and the batch axes of its arguments."""

    def __init__(self, name, recording, axis_name):
        self.name, self.axis_name = name, axis_name
        self.recording = recording
        recording.batch = self
        #: The batch axis of each argument, by its position among the parameters of the recording.
        self._axes = {}
        #: The number of elements, the argument that has it, and its text in messages.
        self.size = self.sized = None
        self._sized_text = None

    def argument(self, value, axis):
        """What the function gets for an argument with this batch axis, or a container of axes."""
        if is_node(value):
            pairs = zip(items_of(value), _axes_of(axis, value, self.name))
            return rebuilt(value, [self.argument(*pair) for pair in pairs])
        if isinstance(value, Number) or not (isinstance(value, Tracer) or hasattr(value, "__array__")):
            return value
        value = self.recording.outer.tracer(value, self.name)
        removed = None if axis is None else self._checked_axis(value, axis)
        return self.parameter(value, removed)

    def parameter(self, value, axis):
        """A parameter for one element of ``value`` along the axis; None shares the value."""
        self._axes[len(self.recording.sources)] = axis
        return self.recording.parameter(value, removed=axis)

    def _checked_axis(self, value, axis):
        """The batch axis of an array, counted from the front."""
        shown = f"`{value._value_text}` : {value._dtype}{list(value._shape)}"
        if is_node(axis):
            raise ValueError(f"vmap of {self.name}: in_axes has {axis} for the array {shown}")
        if not -value.ndim <= axis < value.ndim:
            raise ValueError(f"vmap of {self.name}: {shown} has no axis {axis}; in_axes=None shares it")
        size = value._shape[axis]
        if self.size is None:
            self.size, self.sized, self._sized_text = size, value, shown
        elif size != self.size:
            raise ValueError(
                f"vmap of {self.name}: the batch has {self.size} elements in {self._sized_text}, and {size} "
                f"in {shown}"
            )
        return axis % value.ndim

    def check_size(self, size):
        """Checks the number of elements that the caller states; without a batch axis it is that number."""
        if self.sized is None:
            # The parameter gives the recorded function its batch axis.
            self.size = size
            positions = np.arange(size, dtype=np.int32)
            self.parameter(self.recording.outer.tracer(positions, "axis_size"), 0)
            return
        self.sized._used_shape()
        if size != self.size:
            raise ValueError(
                f"vmap of {self.name}: axis_size is {size}, and the batch has {self.size} elements in "
                f"{self._sized_text}"
            )

    def values(self, results, out_axes):
        """The results for all elements, as values of the recording around."""
        # Values from outside the arguments are shared.
        in_axes = [self._axes.get(position) for position in range(len(self.recording.sources))]
        function, outer = self.recording.as_function(results), self.recording.outer
        text = f"vmap({self.name})(...)"
        descriptions = outer.recorder(self.name).vectorize(function, in_axes, out_axes, text)
        return [Tracer(outer, description, OWNED) for description in descriptions]


def _axes_of_arguments(name, in_axes, args):
    """The batch axes of each argument. Defaults that are numbers have none."""
    if not isinstance(in_axes, tuple):
        return [in_axes] * len(args)
    rest = args[len(in_axes) :]
    if len(in_axes) > len(args) or any(_may_hold_arrays(arg) for arg in rest):
        raise ValueError(f"vmap of {name}: in_axes has {len(in_axes)} positions for {len(args)} arguments")
    return [*in_axes, *[None] * len(rest)]


def _may_hold_arrays(value):
    return is_node(value) or isinstance(value, Tracer) or hasattr(value, "__array__")


def _axes_of(axes, value, name):
    """The batch axes of the items of a container."""
    found = _matched(axes, value)
    if found is not None:
        return found
    of_value = f"the keys {list(value)}" if isinstance(value, dict) else f"{len(items_of(value))} items"
    raise ValueError(f"vmap of {name}: in_axes has {axes} for a {type(value).__name__} with {of_value}")


def _matched(axes, container):
    """The positions of the items of a container: those in a container like it, or one for all; None if the
    containers differ."""
    count = len(items_of(container))
    if not is_node(axes):
        return [axes] * count
    if isinstance(axes, dict) and isinstance(container, dict):
        return [axes[key] for key in container] if axes.keys() == container.keys() else None
    if type(axes) is tuple and isinstance(container, (tuple, list)):
        return list(axes) if len(axes) == count else None
    return items_of(axes) if type(axes) is type(container) else None


def _axes_of_results(name, out_axes, results):
    """The batch axis of each leaf of the results."""
    if not is_node(results):
        if is_node(out_axes):
            raise ValueError(f"vmap of {name}: out_axes is {out_axes}, and the function returns one array")
        return [] if results is None else [out_axes]
    axes = _matched(out_axes, results)
    if axes is None:
        raise ValueError(
            f"vmap of {name}: out_axes is {out_axes}, and the function returns {shown(results)}"
        )
    pairs = zip(axes, items_of(results))
    return [axis for pair in pairs for axis in _axes_of_results(name, *pair)]


@implements(np.apply_along_axis)
def _apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """``func1d`` is recorded for one row, and computed for all at once."""
    arr = asarray(arr)
    axis = axis_index(operator.index(axis), arr.ndim)
    rows = np.moveaxis(arr, axis, -1)
    others = tuple(rows.shape[:-1])
    if 0 in others:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")

    def of_row(row):
        result = func1d(row, *args, **kwargs)
        return np.stack([asarray(item) for item in result]) if isinstance(result, (list, tuple)) else result

    results = vmap(of_row)(rows.reshape(int(np.prod(others, dtype=object)), rows.shape[-1]))
    results = results.reshape(*others, *results.shape[1:])
    own = range(len(others), results.ndim)
    return np.moveaxis(results, tuple(own), tuple(range(axis, axis + len(own))))
