"""View functions and concatenations, eager on arrays and recorded on traced values."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays, _functions
from ._indim import _view_functions
from ._padding import is_composed, widths
from ._tracing import Tracer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ._types import Integers, Operand

_TAKE_MODES = ("raise", "clip", "wrap")
_SCATTER_MODES = (*_TAKE_MODES, "drop")
_SCATTERS = tuple(f"scatter_{name}" for name in ("set", "add", "mul", "min", "max"))
_PAD_MODES = ("constant", "edge", "wrap", "reflect", "symmetric")
NO_MASK = (
    "to choose between elements write np.where(mask, x, other), and for at most k elements "
    "indim.extract(mask, x, size=k)"
)


def define(rule):
    """The functions under the rule set ``rule``, by name."""

    def concatenate(arrays: Sequence[Operand], axis: int | None = 0, *, out: NDArray[Any] | None = None):
        arrays = _listed("concatenate", arrays)
        if axis is None:
            arrays, axis = [np.ravel(array) for array in arrays], 0
        return _functions.apply("concatenate", arrays, [("axis", operator.index(axis))], rule, out)

    def stack(arrays: Sequence[Operand], axis: int = 0, *, out: NDArray[Any] | None = None):
        arrays = _listed("stack", arrays)
        return _functions.apply("stack", arrays, [("axis", operator.index(axis))], rule, out)

    def flip(x: Operand, axis: Integers | None = None, *, out: NDArray[Any] | None = None):
        return _functions.apply("flip", (x,), _axes(axis), rule, out)

    def roll(x: Operand, shift: Integers, axis: Integers | None = None, *, out: NDArray[Any] | None = None):
        attributes = [("shift", _integers(shift)), *_axes(axis)]
        return _functions.apply("roll", (x,), attributes, rule, out)

    def pad(
        x: Operand,
        pad_width: int | Sequence[int] | Sequence[Sequence[int]],
        mode: str = "constant",
        *,
        constant_values: float = 0,
        out: NDArray[Any] | None = None,
    ):
        x = _array(x, "x")
        if rule == "numpy" and out is None and x.ndim and is_composed(mode, constant_values):
            keywords = {} if np.ndim(constant_values) == 0 else {"constant_values": constant_values}
            return np.pad(x, pad_width, mode, **keywords)
        attributes = _padding(x, pad_width, mode, constant_values)
        # An array of rank 0 has no axes to pad.
        function, attributes = ("pad", attributes) if x.ndim else ("copy", [])
        return _functions.apply(function, (x,), attributes, rule, out)

    def sliding_window_view(
        x: Operand,
        window_shape: int | Sequence[int],
        axis: Integers | None = None,
        *,
        stride: int = 1,
        dilation: int = 1,
        out: NDArray[Any] | None = None,
    ):
        sizes = [operator.index(window_shape)] if np.ndim(window_shape) == 0 else list(window_shape)
        steps = [("stride", operator.index(stride)), ("dilation", operator.index(dilation))]
        attributes = [("window_shape", [operator.index(size) for size in sizes]), *_axes(axis), *steps]
        return _functions.apply("sliding_window_view", (_array(x, "x"),), attributes, rule, out)

    def take(
        x: Operand,
        indices: Operand,
        axis: int | None = None,
        *,
        mode: str = "raise",
        out: NDArray[Any] | None = None,
    ):
        attributes = [] if axis is None else [("axis", operator.index(axis))]
        operands = (_array(x, "x"), positions("x", indices))
        return _functions.apply("take", operands, [*attributes, _take_mode(mode)], rule, out)

    def take_along_axis(
        x: Operand,
        indices: Operand,
        axis: int | None = -1,
        *,
        mode: str = "raise",
        out: NDArray[Any] | None = None,
    ):
        x, indices = _array(x, "x"), elements("x", indices)
        if axis is None:
            x, axis = np.ravel(x), 0
        attributes = [("axis", operator.index(axis)), _take_mode(mode)]
        return _functions.apply("take_along_axis", (x, indices), attributes, rule, out)

    def dynamic_slice(
        operand: Operand,
        start_indices: Operand | Sequence[Operand],
        slice_sizes: Sequence[int],
        *,
        out: NDArray[Any] | None = None,
    ):
        operands = (_array(operand, "operand"), _starts(start_indices))
        sizes = [("sizes", [operator.index(size) for size in slice_sizes])]
        return _functions.apply("dynamic_slice", operands, sizes, rule, out)

    def dynamic_update_slice(
        operand: Operand,
        update: Operand,
        start_indices: Operand | Sequence[Operand],
        *,
        out: NDArray[Any] | None = None,
    ):
        operands = (_array(operand, "operand"), _array(update, "update"), _starts(start_indices))
        return _functions.apply("dynamic_update_slice", operands, (), rule, out)

    def scatter(name):
        def function(
            x: Operand,
            indices: Operand,
            updates: Operand,
            axis: int = 0,
            *,
            mode: str = "raise",
            out: NDArray[Any] | None = None,
        ):
            if mode not in _SCATTER_MODES:
                raise ValueError(f"the mode of {name} is one of {', '.join(_SCATTER_MODES)}, not {mode!r}")
            operands = (_array(x, "x"), elements("x", indices), updates)
            attributes = [("axis", operator.index(axis)), ("mode", mode)]
            return _functions.apply(name, operands, attributes, rule, out)

        function.__name__ = name
        return function

    def diff(
        x: Operand,
        n: int = 1,
        axis: int = -1,
        *,
        prepend: Operand | None = None,
        append: Operand | None = None,
        out: NDArray[Any] | None = None,
    ):
        if n != 0 and (prepend is not None or append is not None):
            x = _array(x, "x")
            parts = [_as_part(x, prepend, axis), x, _as_part(x, append, axis)]
            x = concatenate([part for part in parts if part is not None], axis)
        attributes = [("n", operator.index(n)), ("axis", operator.index(axis))]
        return _functions.apply("diff", (x,), attributes, rule, out)

    defined = (concatenate, stack, flip, roll, pad, sliding_window_view, take, take_along_axis, diff)
    defined = (*defined, dynamic_slice, dynamic_update_slice)
    functions_by_name = {function.__name__: function for function in (*defined, *map(scatter, _SCATTERS))}
    functions = {}
    for name, doc, aliases in _view_functions():
        if name in functions_by_name:
            function = functions_by_name[name]
            function.__doc__, function.__qualname__ = doc, name
            functions |= dict.fromkeys((name, *aliases), function)
    return functions


def _take_mode(mode):
    if mode not in _TAKE_MODES:
        raise ValueError(f"the mode of take is one of {', '.join(_TAKE_MODES)}, not {mode!r}")
    return "mode", mode


def _array(value, name):
    return value if isinstance(value, Tracer) else _arrays.array_of(value, name)


def _listed(function, arrays):
    """Several arrays; numbers are arrays here, as in NumPy."""
    if isinstance(arrays, (np.generic, np.ndarray, Tracer)) and arrays.ndim == 0:
        raise TypeError(f"{function}() takes several arrays: write {function}([x, y])")
    return [_array(array, f"arrays[{index}]") for index, array in enumerate(arrays)]


def _integers(values):
    return [operator.index(values)] if np.ndim(values) == 0 else _arrays.integers(values)


def _axes(axis):
    return [] if axis is None else [("axis", _integers(axis))]


def elements(name, indices):
    """Indices as an array; messages call the indexed array ``name``."""
    if not isinstance(indices, Tracer):
        indices = _arrays.array_of(indices, "indices")
        if indices.size == 0 and indices.dtype == np.float64:
            # An empty list.
            indices = indices.astype(np.intp)
    if indices.dtype == np.bool_:
        raise TypeError(
            f"how many elements of `{name}` a mask keeps is not known before it is computed; {NO_MASK}"
        )
    return indices


def positions(name, indices):
    """``elements`` for functions that take truth values as the positions 0 and 1, as in NumPy."""
    indices = _array(indices, "indices")
    return indices.astype(np.intp) if indices.dtype == np.bool_ else elements(name, indices)


def _starts(starts):
    """A start for each axis, as an array with one axis."""
    if isinstance(starts, (list, tuple)) and any(isinstance(start, Tracer) for start in starts):
        return np.stack([start if isinstance(start, Tracer) else np.asarray(start) for start in starts])
    return elements("operand", starts)


def _padding(x, pad_width, mode, constant_values):
    """The attributes of `pad`."""
    if mode not in _PAD_MODES:
        raise TypeError(f"pad takes no mode={mode!r}: take one of {', '.join(_PAD_MODES)}")
    attributes = [("pad_width", widths(pad_width, x.ndim)), ("mode", mode)]
    if mode == "constant":
        attributes.append(("constant_values", _number_of(x.dtype, constant_values)))
    return attributes


def _number_of(dtype, value):
    """The Python number that NumPy stores for ``value`` in an array of this type."""
    if isinstance(value, Tracer) or np.ndim(value) != 0:
        raise TypeError("`constant_values` is one number; write several by `concatenate`")
    number = np.zeros((), dtype)
    number[...] = value
    return number.item()


def _as_part(x, part, axis):
    """The part before or after an array; a number is one element along the axis."""
    if part is None:
        return None
    part = _array(part, "part")
    if part.ndim == 0 and x.ndim == 1:
        return part.reshape(1)
    if part.ndim == 0:
        shape = list(x.shape)
        shape[axis] = 1
        part = np.broadcast_to(part, tuple(shape))
    return part


# `make_stubs.py` finds these functions by their code objects.
_functions.OPERATION_CODES |= {function.__code__ for function in define("numpy").values()}
