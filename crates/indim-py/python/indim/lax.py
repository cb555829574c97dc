"""The names of ``jax.lax``: loops, branches, slices at data, and every operation under XLA's rule."""

from __future__ import annotations

import indim as _package  # Waits for a thread that imports the package.

import numpy as np

from . import xla
from ._associative import associative_scan, cumlogsumexp
from ._collectives import all_gather, all_to_all, axis_index, axis_size, pmax, pmean, pmin, ppermute, psum
from ._custom_derivatives import custom_jvp
from ._functions import asarray, broadcast_in_dim, convert_element_type, expand_dims, transpose
from ._jax_numpy import as_traced, full
from ._lax_functions import approx_max_k, approx_min_k, argmax, argmin, batch_matmul, broadcast
from ._lax_functions import broadcast_to_rank, broadcasted_iota, collapse, cummax, cummin, cumprod, cumsum
from ._lax_functions import dot, dot_general, full_like, index_in_dim, integer_pow, pad, pow, reduce_and
from ._lax_functions import reduce_max, reduce_min, reduce_or, reduce_prod, reduce_sum, reduce_xor
from ._lax_functions import bitcast_convert_type, reshape, rev, select_n, slice, slice_in_dim, sort
from ._lax_functions import sort_key_val, split, square, squeeze, tile
from ._loops import cond, fori_loop, scan, switch, while_loop
from ._sorting import top_k
from .xla import dynamic_slice, dynamic_update_slice
from ._trees import mapped
from .scipy.special import betainc, gammainc as igamma, gammaincc as igammac, polygamma
from ._windows import conv, conv_general_dilated, conv_transpose, reduce, reduce_window

__all__ = [
    *("all_gather", "all_to_all", "axis_index", "axis_size", "pmax", "pmean", "pmin", "ppermute", "psum"),
    *("approx_max_k", "approx_min_k", "broadcast_shapes", "broadcast_to_rank", "pow", "reduce_xor", "square"),
    "tile",
    *("betainc", "igamma", "igammac", "polygamma"),
    *("argmax", "argmin", "associative_scan", "batch_matmul", "bitcast_convert_type", "broadcast"),
    "broadcast_in_dim",
    *("Precision", "broadcasted_iota", "collapse", "concatenate", "cond", "conv", "conv_general_dilated"),
    *("conv_transpose", "convert_element_type"),
    *("cumlogsumexp", "cummax", "cummin", "cumprod", "cumsum", "dot", "dot_general", "dynamic_index_in_dim"),
    *("dynamic_slice", "dynamic_slice_in_dim", "dynamic_update_index_in_dim", "dynamic_update_slice"),
    *("dynamic_update_slice_in_dim", "expand_dims", "fori_loop", "full", "full_like", "index_in_dim"),
    *("integer_pow", "iota", "map", "optimization_barrier", "pad", "reduce", "reduce_and", "reduce_max"),
    *("reduce_min", "reduce_window"),
    *("reduce_or", "reduce_prod", "reduce_sum", "reshape", "rev", "scan", "select", "select_n", "slice"),
    "slice_in_dim",
    *("round", "RoundingMethod"),
    *("sort", "sort_key_val", "split", "squeeze", "stop_gradient", "switch", "top_k", "transpose"),
    "while_loop",
]


class RoundingMethod:
    """JAX's ways to round a number in the middle between two whole ones."""

    AWAY_FROM_ZERO, TO_NEAREST_EVEN = 0, 1


def round(x, rounding_method=RoundingMethod.AWAY_FROM_ZERO):
    """The nearest whole numbers; a number in the middle is rounded away from zero, as in ``jax.lax``."""
    if rounding_method not in (RoundingMethod.AWAY_FROM_ZERO, RoundingMethod.TO_NEAREST_EVEN):
        raise ValueError(f"the rounding method is one of lax.RoundingMethod, not {rounding_method!r}")
    is_away = rounding_method == RoundingMethod.AWAY_FROM_ZERO
    return xla.round_away(x) if is_away else xla.round_even(x)


class Precision:
    """JAX's hint for products, which has no effect: indim computes with all digits of the element type."""

    DEFAULT, HIGH, HIGHEST = "default", "high", "highest"


def map(f, xs, *, batch_size=None):
    """The results of ``f`` for each part of ``xs`` along axis 0, computed in a loop. JAX's hint
    ``batch_size`` has no effect."""
    return scan(lambda carry, x: (carry, f(x)), None, xs)[1]


def select(pred, on_true, on_false):
    """``on_true`` where ``pred`` holds, else ``on_false``."""
    return xla.select(pred, on_true, on_false)


def concatenate(operands, dimension):
    """The arrays one after another along an axis."""
    return xla.concatenate(operands, axis=dimension)


def iota(dtype, size):
    """The numbers from 0 to ``size``, which is not included."""
    return as_traced(np.arange(size, dtype=np.dtype(dtype)))


def dynamic_slice_in_dim(operand, start_index, slice_size, axis=0):
    """The slice of ``slice_size`` parts along an axis, from ``start_index``, which may be a traced value."""
    sizes = list(np.shape(operand))
    sizes[axis] = slice_size
    return dynamic_slice(operand, _starts(operand, start_index, axis), sizes)


def dynamic_index_in_dim(operand, index, axis=0, keepdims=True):
    """The part at ``index``, which may be a traced value, along an axis."""
    part = dynamic_slice_in_dim(operand, index, 1, axis)
    return part if keepdims else np.squeeze(part, axis)


def dynamic_update_slice_in_dim(operand, update, start_index, axis):
    """``operand`` with the slice from ``start_index`` along an axis replaced by ``update``."""
    return dynamic_update_slice(operand, update, _starts(operand, start_index, axis))


def dynamic_update_index_in_dim(operand, update, index, axis):
    """``operand`` with the part at ``index`` along an axis replaced by ``update``."""
    update = asarray(update)
    update = np.expand_dims(update, axis) if update.ndim < np.ndim(operand) else update
    return dynamic_update_slice_in_dim(operand, update, index, axis)


def _starts(operand, start, axis):
    """The starts of a slice that is cut along one axis."""
    starts = [0] * np.ndim(operand)
    starts[axis] = start
    return starts


def broadcast_shapes(*shapes):
    """The shape to which arrays of these shapes broadcast under NumPy's rule."""
    return np.broadcast_shapes(*[tuple(shape) for shape in shapes])


@custom_jvp
def _without_derivative(x):
    return x


# No tangent, so that `x` may be the result of a loop that has no derivative.
_without_derivative.defjvps(None)


def _by_flat_operations(x):
    """The same values by operations whose derivative is zero: the function of a loop is differentiated from
    outside, where no rule of its own applies."""
    x = asarray(x)
    if x.dtype.kind == "c":
        return xla.complex(_by_flat_operations(x.real), _by_flat_operations(x.imag))
    if x.dtype.kind not in "fV":
        return x
    wide = x if x.dtype.kind == "f" else x.astype(np.float32)
    significand, exponent = np.frexp(wide)
    bits = np.finfo(wide.dtype).nmant + 1
    return np.ldexp(np.trunc(significand * 2.0**bits), exponent - bits).astype(x.dtype)


_without_derivative._in_loops = _by_flat_operations

# Messages name the public function.
_without_derivative.__qualname__ = "lax.stop_gradient"


def stop_gradient(x):
    """The same values, whose derivative is zero."""
    return mapped(x, lambda leaf: _without_derivative(leaf) if hasattr(leaf, "dtype") else leaf)


def optimization_barrier(operand):
    """``operand`` itself: JAX's hint has no effect here."""
    return operand


#: Functions of ``jax.lax`` that indim does not have, with advice.
_REFUSED = {
    "conv_with_general_padding": "write conv_general_dilated, which takes the same paddings",
    "custom_linear_solve": "write a while_loop, and custom_vjp for its derivative",
    "custom_root": "write a while_loop, and custom_vjp for its derivative",
    "fft": "write indim.fft",
    "gather": "write an index, x[i, j], or take_along_axis",
    "psum_scatter": "write psum, and an index at axis_index",
    "ragged_dot": "write a product for each group",
    "scatter": "write x.at[i].set(v)",
    "scatter_apply": "write x.at[i].apply(f)",
    "scatter_sub": "write x.at[i].subtract(v)",
}


def __getattr__(name):
    if name in _REFUSED:
        raise AttributeError(f"indim.lax has no {name!r}: {_REFUSED[name]}")
    if name.startswith("_") or not hasattr(xla, name):
        raise AttributeError(
            f"indim.lax has no {name!r}; the operations of indim.xla are here too. Compose it of these, or "
            "compute it before the call and pass it as an argument"
        )
    return getattr(xla, name)
