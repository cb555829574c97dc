"""Reductions by any associative function, also of several arrays together: along axes and in windows.

The compiled part combines the elements (`VariadicReduction` of `indim-transforms`), from a recording of the
function on an accumulator and an element.
"""

from __future__ import annotations

from . import _associativity
from ._functions import asarray, recorded
from ._regions import Body
from ._tracing import Tracer, running
from ._trees import filled, leaves_like, leaves_of, shown


def recorded_along(functions, axes, recording, arguments):
    """Records the reduction of a tree of operands along axes, from a tree of initial values."""
    body, names = _recorded("reduce", functions, recording, arguments)
    values = recording.recorder("reduce").reduction(body, names, list(axes), "reduce(...)")
    return filled(arguments[0], [Tracer(recording, value) for value in values])


def recorded_in_windows(functions, sizes, strides, steps, widths, recording, arguments):
    """Records the reduction of the windows of a tree of operands, from a tree of initial values; ``widths``
    are those of ``lax.pad`` for each axis."""
    body, names = _recorded("reduce_window", functions, recording, arguments)
    windows = [
        (size, stride, step, gap + 1, low, high)
        for size, stride, step, (low, high, gap) in zip(sizes, strides, steps, widths)
    ]
    recorder = recording.recorder("reduce_window")
    values = recorder.window_reduction(body, names, windows, "reduce_window(...)")
    return filled(arguments[0], [Tracer(recording, value) for value in values])


def _recorded(name, functions, recording, arguments):
    """The recorded function, and the names of the operands and of their initial values."""
    (computation,) = functions
    operands, initial = arguments
    arrays = [recording.tracer(recorded(leaf), "operands") for leaf in leaves_of(operands)]
    starts = leaves_like(operands, initial)
    if starts is None:
        raise ValueError(
            f"a reduction takes an initial value for each operand, in the same containers: the operands are "
            f"{shown(operands)}, the initial values {shown(initial)}"
        )
    starts = [recorded(leaf) for leaf in starts]
    if any(array.shape != arrays[0].shape for array in arrays):
        shapes = " and ".join(str(array.shape) for array in arrays)
        raise ValueError(f"a reduction takes operands of one shape, not {shapes}")
    if any(start.ndim for start in starts):
        raise ValueError("a reduction begins with one number for each operand, not with an array")
    starts = [recording.tracer(of.astype(array.dtype), "initial") for of, array in zip(starts, arrays)]
    body = _body(name, computation, recording, operands, starts)
    return body, [value._name for value in (*arrays, *starts)]


def _body(name, computation, recording, operands, starts):
    """The recording of ``computation`` on numbers of the types of ``starts``."""
    body, count = Body(recording, f"the function of {name}"), len(starts)
    with running(body.recording):
        states = [body.state(at, starts[at % count], "xy"[at >= count]) for at in range(2 * count)]
        x, y = states[:count], states[count:]
        results = computation(filled(operands, x), filled(operands, y))
        leaves = leaves_like(operands, results)
        if leaves is None:
            raise TypeError(
                f"`computation` returns {shown(results)}, not the containers of the operands, "
                f"{shown(operands)}"
            )
        _associativity.check(name, leaves, x, y)
        results = [body.recording.tracer(asarray(leaf), "result") for leaf in leaves]
        if any(result.ndim for result in results):
            raise TypeError("`computation` returns results of the shape of its arguments, which are numbers")
        found, dtypes = ([value.dtype for value in values] for values in (results, starts))
        if found != dtypes:
            raise TypeError(
                f"`computation` returns {_names(found)} for {_names(dtypes)}: it returns a result for each "
                "operand, in its type; write `.astype`"
            )
        return body.finish(results)


def _names(dtypes):
    return ", ".join(map(str, dtypes)) or "nothing"
