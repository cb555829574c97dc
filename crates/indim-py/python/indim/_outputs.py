"""The arguments ``out=`` and ``where=`` of NumPy's ufuncs, on traced values.

``out`` may be an array that the function has made, as in
``np.divide(x, y, out=np.zeros_like(x), where=y != 0)``.
"""

from __future__ import annotations

import numpy as np

from . import _arrays, _functions
from ._advice import refused_argument
from ._indexable import note_write
from ._recording import running_recording
from ._traced_memory import IMMUTABLE
from ._tracing import Tracer


#: Functions that broadcast their results to the shape of `out`, as ufuncs do; others need its shape.
_BROADCAST = {
    *("fix", "isneginf", "isposinf", "nanmedian", "nanpercentile", "nanquantile", "outer", "percentile"),
    "quantile",
}

#: Functions of positions: NumPy converts to any type whose elements all are positions.
_POSITIONS = ("argmax", "argmin", "nanargmax", "nanargmin")

#: Functions along axes whose results NumPy converts to the type of `out` in any case, unlike those of other
#: functions; so it does for the methods of ufuncs.
_ALWAYS_CONVERTED = {
    *("amax", "amin", "cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "max", "mean", "median"),
    *("min", "nancumprod", "nancumsum", "nanmax", "nanmedian", "nanmin", "nanpercentile", "nanprod"),
    *("nanquantile", "nansum", "prod", "sum", "trace", "var"),
}


def write_whole_result(name, operand, result, out):
    """``result`` of NumPy's function or method ``name`` of ``operand``, as a call with ``out`` returns it."""
    out = _checked(name, out)
    shape, expected = tuple(out.shape), tuple(np.shape(result))
    if shape != expected and name not in _BROADCAST:
        raise ValueError(f"`out` of numpy.{name} has the shape {shape}, but the result has {expected}")
    return write_result(name, result, out, casting=_casting(name, operand, out.dtype))


def _casting(name, operand, dtype):
    """The rule by which NumPy converts the result to the type of ``out``."""
    if name in _POSITIONS:
        if not np.can_cast(dtype, np.int64, "safe"):
            raise TypeError(f"`out` of numpy.{name} has elements of {dtype}, which are no positions")
        return "unsafe"
    if name in ("nanmean", "nanvar"):
        is_inexact = np.issubdtype(_functions.asarray(operand).dtype, np.inexact)
        return "same_kind" if is_inexact else "unsafe"
    return "unsafe" if name in _ALWAYS_CONVERTED or "." in name else "same_kind"


def write_result(name, result, out, where=True, casting="same_kind"):
    """``result`` of NumPy's function ``name``, broadcast to ``out``, as a call with these arguments returns
    it."""
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
        note_write(out)
        raise TypeError(refused_argument(name, "out"))
    if out._storage is IMMUTABLE:
        raise TypeError(
            f"numpy.{name} cannot write into an array that indim.numpy has made, as in JAX: write y = "
            f"np.{name}(...) without `out=`, or make `out` by numpy, such as np.zeros"
        )
    if not out._is_writable():
        raise TypeError(
            f"numpy.{name} cannot write into `{out._value_text}` while {out._recording.function} is traced: "
            "it is an argument, or comes from outside. `out=` takes an array of the shape of the result that "
            f"the function has made, such as np.zeros_like(x); write y = np.{name}(...) without `out=`"
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
