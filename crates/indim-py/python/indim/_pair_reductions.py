"""Reductions by any associative function, also of several arrays together: along axes and in windows.

The compiled part combines the elements (`VariadicReduction` of `indim-transforms`), from a recording of the
function on an accumulator and an element. If the function calls one with a derivative of its own, and a
derivative is taken, `_pair_trees.py` records each step of the reduction instead.
"""

from __future__ import annotations

from . import _associativity, _pair_trees
from ._functions import asarray, recorded
from ._recording import running
from ._regions import Body
from ._traced_memory import OWNED
from ._tracing import Tracer
from ._trees import filled, leaves_like, leaves_of, shown


def recorded_along(functions, axes, recording, arguments):
    """Records the reduction of a tree of operands along axes, from a tree of initial values."""
    reduction = _Reduction("reduce", functions, recording, arguments)
    if reduction.is_recorded_by_steps:
        values = _pair_trees.reduced_along(reduction.combine, reduction.arrays, reduction.starts, axes)
        return filled(arguments[0], values)
    values = recording.recorder("reduce").reduction(*reduction.parts(), list(axes), "reduce(...)")
    return filled(arguments[0], [Tracer(recording, value, OWNED) for value in values])


def recorded_in_windows(functions, sizes, strides, steps, widths, recording, arguments):
    """Records the reduction of the windows of a tree of operands, from a tree of initial values; ``widths``
    are those of ``lax.pad`` for each axis."""
    reduction = _Reduction("reduce_window", functions, recording, arguments)
    if reduction.is_recorded_by_steps:
        windows = list(zip(sizes, strides, steps))
        values = _pair_trees.reduced_in_windows(
            reduction.combine, reduction.arrays, reduction.starts, windows, widths
        )
        return filled(arguments[0], values)
    windows = [
        (size, stride, step, gap + 1, low, high)
        for size, stride, step, (low, high, gap) in zip(sizes, strides, steps, widths)
    ]
    recorder = recording.recorder("reduce_window")
    values = recorder.window_reduction(*reduction.parts(), windows, "reduce_window(...)")
    return filled(arguments[0], [Tracer(recording, value, OWNED) for value in values])


class _Reduction:
    """The recorded function of a reduction, its operands, and their initial values."""

    def __init__(self, name, functions, recording, arguments):
        (self._computation,) = functions
        self._operands, initial = arguments
        self.arrays = [recording.tracer(recorded(leaf), "operands") for leaf in leaves_of(self._operands)]
        starts = leaves_like(self._operands, initial)
        if starts is None:
            raise ValueError(
                f"a reduction takes an initial value for each operand, in the same containers: the operands "
                f"are {shown(self._operands)}, the initial values {shown(initial)}"
            )
        starts = [recorded(leaf) for leaf in starts]
        first = self.arrays[0]
        if any(array.shape != first.shape for array in self.arrays):
            shapes = " and ".join(str(array.shape) for array in self.arrays)
            raise ValueError(f"a reduction takes operands of one shape, not {shapes}")
        if any(start.ndim for start in starts):
            raise ValueError("a reduction begins with one number for each operand, not with an array")
        pairs = zip(starts, self.arrays)
        self.starts = [recording.tracer(of.astype(array.dtype), "initial") for of, array in pairs]
        self._probe = _associativity.Probe()
        self._body = self._recorded(name, recording)
        self.is_recorded_by_steps = self._probe.has_custom_calls

    def parts(self):
        """The recorded function, and the names of the operands and of their initial values."""
        return self._body, [value._name for value in (*self.arrays, *self.starts)]

    def combine(self, x, y):
        """The results of the function for accumulators and elements, numbers or arrays of one shape."""
        results = self._computation(filled(self._operands, x), filled(self._operands, y))
        leaves = leaves_like(self._operands, results)
        if leaves is None:
            raise TypeError(
                f"`computation` returns {shown(results)}, not the containers of the operands, "
                f"{shown(self._operands)}"
            )
        return leaves

    def _recorded(self, name, recording):
        """The recording of the function on numbers of the types of the initial values."""
        body, count = Body(recording, f"the function of {name}"), len(self.starts)
        body.recording.probe = self._probe
        with running(body.recording):
            states = [body.state(at, self.starts[at % count], "xy"[at >= count]) for at in range(2 * count)]
            x, y = states[:count], states[count:]
            leaves = self.combine(x, y)
            _associativity.check(name, leaves, x, y)
            results = [body.recording.tracer(asarray(leaf), "result") for leaf in leaves]
            if any(result.ndim for result in results):
                raise TypeError(
                    "`computation` returns results of the shape of its arguments, which are numbers"
                )
            found, dtypes = ([value.dtype for value in values] for values in (results, self.starts))
            if found != dtypes:
                raise TypeError(
                    f"`computation` returns {_names(found)} for {_names(dtypes)}: it returns a result for "
                    "each operand, in its type; write `.astype`"
                )
            return body.finish(results)


def _names(dtypes):
    return ", ".join(map(str, dtypes)) or "nothing"
