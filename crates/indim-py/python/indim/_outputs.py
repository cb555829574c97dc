"""The arguments ``out=`` and ``where=`` of NumPy's ufuncs, on traced values.

``out`` may be an array that the function has made, as in
``np.divide(x, y, out=np.zeros_like(x), where=y != 0)``.
"""

from __future__ import annotations

import numpy as np

from . import _arrays
from ._advice import refused_argument
from ._tracing import Tracer, running_recording


#: Functions along axes whose results NumPy converts to the type of `out` in any case, unlike those of other
#: functions; so it does for the methods of ufuncs.
_ALWAYS_CONVERTED = {
    *("amax", "amin", "cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "max", "mean", "median"),
    *("min", "nancumprod", "nancumsum", "nanmax", "nanmedian", "nanmin", "nanprod", "nanquantile", "nansum"),
    *("prod", "sum", "trace", "var"),
}


def written(name, result, out, where=True, casting=None):
    """``result`` of NumPy's function ``name``, as a call with these arguments returns it."""
    if casting is None:
        casting = "unsafe" if name in _ALWAYS_CONVERTED or "." in name else "same_kind"
    out = _checked(name, out)
    if not isinstance(result, Tracer):
        result = out._recording.tracer(np.asarray(result), "constant")
    if not np.can_cast(result.dtype, out.dtype, casting):
        raise TypeError(
            f"Cannot cast ufunc '{name}' output from {result.dtype!r} to {out.dtype!r} with casting rule "
            f"'{casting}'"
        )
    dtype, shape = out.dtype, out._shape
    if where is not True:
        where = where if isinstance(where, Tracer) else np.asarray(where)
        if where.dtype != np.bool_:
            raise TypeError(f"`where` of numpy.{name} has elements of {where.dtype}, not truth values")
    if result.dtype != dtype:
        result = result.astype(dtype)
    if isinstance(where, Tracer) and result._shape == shape == where._shape:
        # Rule none has the program check that the shapes are equal, for arguments of all sizes.
        result = result._record("where", (where, result, out), rule="none")
    else:
        result = _broadcast(name, result, out, where)
    out._become(result)
    return out


def _checked(name, out):
    """``out`` as one traced value that the call may overwrite."""
    if isinstance(out, tuple):
        (out,) = out
    if not isinstance(out, Tracer):
        # Traced once more, the function makes the array as a traced value.
        running_recording().request_elements()
        raise TypeError(refused_argument(name, "out"))
    if not out._is_writable():
        raise TypeError(
            f"numpy.{name} cannot write into `{out._value_text}` while {out._recording.function} is traced: "
            "it is an argument, or comes from outside. `out=` takes an array that the function has made, "
            f"such as np.zeros_like(x); write y = np.{name}(...) without `out=`"
        )
    return out


def _broadcast(name, result, out, where):
    """The elements of ``out`` after the call, whose operands are broadcast to its shape."""
    shape = tuple(out.shape)
    masks = () if where is True else (tuple(where.shape),)
    broadcast = np.broadcast_shapes(tuple(result.shape), *masks)
    if np.broadcast_shapes(broadcast, shape) != shape:
        raise ValueError(
            f"non-broadcastable output operand with shape {shape} doesn't match the broadcast shape "
            f"{broadcast}"
        )
    if where is not True:
        return result._record("where", (where, result, out), rule="numpy")
    if tuple(result.shape) != shape:
        return result._call("broadcast_to", [(None, _arrays.integers(shape))])
    return Tracer(result._recording, (result._name, result._value_text, result._dtype, result._shape))
