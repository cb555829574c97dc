"""Random numbers from explicit keys, with the functions of ``jax.random``.

A key is an array of two ``uint32``. The same key makes the same numbers on every machine and for any number
of threads, so each key is used once: ``split`` makes several of one. Keys, bits, uniform numbers, integers
and permutations are those of JAX bit for bit; the distributions that take logarithms or ``erf_inv``, and
bounds of uniform numbers in 16 bits, are within rounding errors of JAX's. All functions also work inside of
compiled functions.

Unlike JAX, ``dtype=float`` is ``float64`` and ``dtype=int`` is ``int64``, as in NumPy; the defaults are
``float32`` and ``int32``, as in JAX.

>>> import indim
>>> key, other = indim.random.split(indim.random.key(42))
>>> indim.random.uniform(key, (2,))
array([0.5302608 , 0.31336212], dtype=float32)
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays, _functions
from ._jit import jit
from ._tracing import Tracer, has_tracer, running_recording

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike

    from ._types import Operand

__all__ = [
    "PRNGKey",
    "bernoulli",
    "bits",
    "categorical",
    "cauchy",
    "choice",
    "exponential",
    "fold_in",
    "gumbel",
    "key",
    "laplace",
    "logistic",
    "normal",
    "permutation",
    "rademacher",
    "randint",
    "split",
    "truncated_normal",
    "uniform",
]


def key(seed: int) -> Any:
    """The key of a seed, a whole number of up to 64 bits: its upper and lower 32 bits.

    From 2**32 on and below 0 it is JAX's key under ``jax_enable_x64``.
    """
    if isinstance(seed, Tracer):
        word = seed.astype(np.int64).astype(np.uint64)
        return np.stack([word >> np.uint64(32), word & np.uint64(0xFFFFFFFF)]).astype(np.uint32)
    seed = operator.index(seed)
    if not -(1 << 63) <= seed < 1 << 64:
        raise OverflowError(f"a seed has 64 bits, unlike {seed}")
    return np.array([seed >> 32 & 0xFFFFFFFF, seed & 0xFFFFFFFF], np.uint32)


PRNGKey = key


def split(key: Operand, num: int | Sequence[int] = 2) -> Any:
    """New keys, independent of each other: an array of the shape ``num`` with a last axis of 2."""
    return _functions.apply("random_split", (_key(key),), [("shape", _sizes(num))])


def fold_in(key: Operand, data: Operand) -> Any:
    """A new key made of a key and a whole number, such as the number of a step."""
    if not isinstance(data, Tracer):
        data = np.uint32(operator.index(data) & 0xFFFFFFFF)
    return _functions.apply("random_fold_in", (_key(key), data))


def bits(key: Operand, shape: int | Sequence[int] = (), dtype: DTypeLike = np.uint32) -> Any:
    """Random bits as unsigned integers."""
    return _of_kind("u", "random_bits", key, shape, dtype)


def uniform(
    key: Operand,
    shape: int | Sequence[int] = (),
    dtype: DTypeLike = np.float32,
    minval: Operand = 0.0,
    maxval: Operand = 1.0,
) -> Any:
    """Numbers from ``minval`` to below ``maxval``."""
    if _is_number(minval, 0.0) and _is_number(maxval, 1.0):
        return _of_kind("f", "random_uniform", key, shape, dtype)
    return _between(_key(key), *_floats((minval, maxval), dtype), tuple(_sizes(shape)), np.dtype(dtype))


def normal(key: Operand, shape: int | Sequence[int] = (), dtype: DTypeLike = np.float32) -> Any:
    """Numbers of the standard normal distribution."""
    return _of_kind("f", "random_normal", key, shape, dtype)


def _program(*static):
    """A function of arrays and these static arguments as one program: compiled, or recorded inside of a
    compiled function."""

    def decorate(function):
        compiled = jit(function, static=static)

        def call(*arguments):
            is_traced = running_recording() is not None or has_tracer(arguments)
            return function(*arguments) if is_traced else compiled(*arguments)

        return call

    return decorate


@_program("shape", "dtype")
def _between(key, minval, maxval, shape, dtype):
    # Product and sum are rounded once, as XLA compiles them.
    numbers = _functions.apply("fma", (uniform(key, shape, dtype), maxval - minval, minval), rule="numpy")
    return np.maximum(minval, numbers)


def bernoulli(key: Operand, p: Operand = 0.5, shape: int | Sequence[int] | None = None) -> Any:
    """``True`` with the probability ``p``. Without a shape the result has that of ``p``."""
    (p,) = _floats((p,), p.dtype if getattr(p, "dtype", np.dtype(bool)).kind == "f" else np.float32)
    shape = p.shape if shape is None else tuple(_sizes(shape))
    return _bernoulli(_key(key), p, shape, p.dtype)


@_program("shape", "dtype")
def _bernoulli(key, p, shape, dtype):
    return uniform(key, shape, dtype) < p


def rademacher(key: Operand, shape: int | Sequence[int] = (), dtype: DTypeLike = np.int32) -> Any:
    """-1 or 1, with equal probabilities."""
    return _rademacher(_key(key), tuple(_sizes(shape)), np.dtype(dtype))


@_program("shape", "dtype")
def _rademacher(key, shape, dtype):
    return (2 * (uniform(key, shape) < np.float32(0.5)).astype(np.int32) - 1).astype(dtype)


def randint(
    key: Operand,
    shape: int | Sequence[int],
    minval: Operand,
    maxval: Operand,
    dtype: DTypeLike = np.int32,
) -> Any:
    """Whole numbers from ``minval`` to below ``maxval``; ``minval`` if there are none.

    They are the remainders of twice as many random bits as the type has, so their probabilities differ by
    2**-32 at most in 32 bits for ranges of up to 2**16.
    """
    dtype = np.dtype(dtype)
    if dtype.kind not in "iu":
        raise TypeError(f"randint makes integers, not {dtype}")
    minval, maxval = (_integers(bound, dtype) for bound in (minval, maxval))
    return _randint(_key(key), minval, maxval, tuple(_sizes(shape)), dtype)


@_program("shape", "dtype")
@np.errstate(over="ignore")
def _randint(key, minval, maxval, shape, dtype):
    # Narrow types have numbers of 32 bits, so that remainders are nearly equally frequent.
    unsigned = np.dtype(np.uint64 if dtype.itemsize == 8 else np.uint32)
    keys = split(key)
    high, low = bits(keys[0], shape, unsigned), bits(keys[1], shape, unsigned)
    info = np.iinfo(dtype)
    lowest, highest = (_clipped(bound, info.min, info.max) for bound in (minval, maxval))
    span = highest.astype(dtype).astype(unsigned) - lowest.astype(dtype).astype(unsigned)
    # One more if the upper bound is above the type: 0 then stands for all numbers of the type.
    span = np.where(maxval > maxval.dtype.type(info.max), span + unsigned.type(1), span)
    span = np.where(highest > lowest, span, unsigned.type(1))
    # 2**(bits of the type) modulo the span, whose square does not overflow.
    half = _remainder(unsigned.type(1 << (4 * unsigned.itemsize)), span)
    multiplier = _remainder(half * half, span)
    offset = _remainder(_remainder(high, span) * multiplier + _remainder(low, span), span)
    return lowest.astype(dtype) + offset.astype(dtype)


def _clipped(bound, lowest, highest):
    """A bound of randint within its type, in 64 bits."""
    if bound.dtype == np.uint64:
        return np.minimum(bound, np.uint64(highest))
    return np.maximum(np.minimum(bound, np.int64(min(highest, (1 << 63) - 1))), np.int64(lowest))


def _remainder(x, y):
    """The remainder of unsigned numbers; of 0 it is ``x``, as in XLA."""
    return _functions.apply("rem", (x, y), rule="numpy")


def permutation(key: Operand, x: Operand, axis: int = 0, independent: bool = False) -> Any:
    """The parts of an array along an axis in random order, or the numbers below a whole number.

    With ``independent`` the elements of each line along the axis have their own order.
    """
    if isinstance(x, Tracer) or np.ndim(x):
        x = x if isinstance(x, Tracer) else _arrays.as_array(x, "x")
        axis = operator.index(axis) % x.ndim
        if independent or x.ndim == 1:
            return _shuffled(_key(key), x, axis)
        return np.take(x, _shuffled(_key(key), np.arange(x.shape[axis]), 0), axis)
    return _shuffled(_key(key), np.arange(operator.index(x)), 0)


@_program("axis")
def _shuffled(key, x, axis):
    """Sorts by random numbers, so often that equal ones of all rounds are improbable, as JAX does."""
    rounds = math.ceil(3 * math.log(max(1, math.prod(x.shape))) / math.log(0xFFFFFFFF))
    for _ in range(rounds):
        keys = split(key)
        key = keys[0]
        order = np.argsort(bits(keys[1], x.shape), axis=axis, kind="stable")
        x = np.take_along_axis(x, order, axis)
    return x


def choice(
    key: Operand,
    a: Operand,
    shape: int | Sequence[int] = (),
    replace: bool = True,
    p: Operand | None = None,
    axis: int = 0,
) -> Any:
    """Random parts of an array along an axis, or numbers below a whole number ``a``.

    ``p`` are their probabilities. Without ``replace`` no part occurs twice.
    """
    is_array = isinstance(a, Tracer) or np.ndim(a) > 0
    count = a.shape[axis] if is_array else operator.index(a)
    sizes = tuple(_sizes(shape))
    wanted = math.prod(sizes)
    if wanted and count <= 0:
        raise ValueError("a choice from nothing: `a` has no parts")
    if not replace and wanted > count:
        raise ValueError(f"{wanted} different parts of {count} do not exist; see `replace`")
    if p is not None:
        (p,) = _floats((p,), getattr(p, "dtype", np.float32))
        if p.shape != (count,):
            raise ValueError(f"`p` has the shape {p.shape}, and there are {count} parts")
    if p is not None:
        indices = _chosen(_key(key), p, sizes, bool(replace))
    elif replace:
        indices = randint(key, sizes, 0, count)
    else:
        indices = permutation(key, count)[:wanted].reshape(sizes)
    return np.take(a, indices, axis) if is_array else indices


@_program("shape", "replace")
def _chosen(key, p, shape, replace):
    if replace:
        sums = np.cumsum(p)
        return np.searchsorted(sums, sums[-1] * (1 - uniform(key, shape, p.dtype)))
    order = np.argsort(-(gumbel(key, p.shape, p.dtype) + np.log(p)), kind="stable")
    return order[: math.prod(shape)].reshape(shape)


def exponential(key: Operand, shape: int | Sequence[int] = (), dtype: DTypeLike = np.float32) -> Any:
    """Numbers of the exponential distribution with mean 1."""
    return _exponential(_key(key), tuple(_sizes(shape)), np.dtype(dtype))


@_program("shape", "dtype")
def _exponential(key, shape, dtype):
    return -np.log1p(-uniform(key, shape, dtype))


def gumbel(key: Operand, shape: int | Sequence[int] = (), dtype: DTypeLike = np.float32) -> Any:
    """Numbers of the Gumbel distribution, ``-log(-log(u))``."""
    return _gumbel(_key(key), tuple(_sizes(shape)), np.dtype(dtype))


@_program("shape", "dtype")
def _gumbel(key, shape, dtype):
    return -np.log(-np.log(uniform(key, shape, dtype, np.finfo(dtype).tiny, 1.0)))


def laplace(key: Operand, shape: int | Sequence[int] = (), dtype: DTypeLike = np.float32) -> Any:
    """Numbers of the Laplace distribution."""
    return _laplace(_key(key), tuple(_sizes(shape)), np.dtype(dtype))


@_program("shape", "dtype")
def _laplace(key, shape, dtype):
    numbers = uniform(key, shape, dtype, np.finfo(dtype).epsneg - 1.0, 1.0)
    return np.sign(numbers) * np.log1p(-np.abs(numbers))


def logistic(key: Operand, shape: int | Sequence[int] = (), dtype: DTypeLike = np.float32) -> Any:
    """Numbers of the logistic distribution."""
    return _logistic(_key(key), tuple(_sizes(shape)), np.dtype(dtype))


@_program("shape", "dtype")
def _logistic(key, shape, dtype):
    numbers = uniform(key, shape, dtype, np.finfo(dtype).tiny, 1.0)
    return np.log(numbers) - np.log1p(-numbers)


def cauchy(key: Operand, shape: int | Sequence[int] = (), dtype: DTypeLike = np.float32) -> Any:
    """Numbers of the Cauchy distribution."""
    return _cauchy(_key(key), tuple(_sizes(shape)), np.dtype(dtype))


@_program("shape", "dtype")
def _cauchy(key, shape, dtype):
    numbers = uniform(key, shape, dtype, np.finfo(dtype).eps, 1.0)
    return np.tan(dtype.type(np.pi) * (numbers - dtype.type(0.5)))


def truncated_normal(
    key: Operand,
    lower: Operand,
    upper: Operand,
    shape: int | Sequence[int] | None = None,
    dtype: DTypeLike = np.float32,
) -> Any:
    """Numbers of the normal distribution between two bounds."""
    lower, upper = _floats((lower, upper), dtype)
    shape = np.broadcast_shapes(lower.shape, upper.shape) if shape is None else tuple(_sizes(shape))
    return _truncated_normal(_key(key), lower, upper, shape, np.dtype(dtype))


@_program("shape", "dtype")
def _truncated_normal(key, lower, upper, shape, dtype):
    root, infinity = dtype.type(np.sqrt(2)), dtype.type(np.inf)
    low, high = (_functions.apply("erf", (bound / root,)) for bound in (lower, upper))
    numbers = root * _functions.apply("erf_inv", (_between(key, low, high, shape, dtype),))
    return np.clip(numbers, np.nextafter(lower, infinity), np.nextafter(upper, -infinity))


def categorical(
    key: Operand, logits: Operand, axis: int = -1, shape: int | Sequence[int] | None = None
) -> Any:
    """The number of a category along an axis, by unnormalised logarithms of the probabilities.

    ``shape`` is that of ``logits`` without the axis, after axes of further samples.
    """
    (logits,) = _floats((logits,), getattr(logits, "dtype", np.float32))
    axis = operator.index(axis) % logits.ndim - logits.ndim
    others = tuple(size for place, size in enumerate(logits.shape) if place != axis + logits.ndim)
    shape = others if shape is None else tuple(_sizes(shape))
    before = len(shape) - len(others)
    if before < 0 or shape[before:] != others:
        raise ValueError(f"`shape` ends like the logits without axis {axis}, {others}, unlike {shape}")
    return _categorical(_key(key), logits, axis, shape[:before])


@_program("axis", "shape")
def _categorical(key, logits, axis, shape):
    return np.argmax(gumbel(key, (*shape, *logits.shape), logits.dtype) + logits, axis=axis)


def _of_kind(kind, function, key, shape, dtype):
    """The numbers of a function of the expression language, of a type of this kind."""
    name = _arrays.indim_name(dtype)
    if not name.startswith(kind) and not (kind == "f" and name == "bf16"):
        kinds = {"u": "unsigned integers", "f": "floats"}
        raise TypeError(f"{function.removeprefix('random_')} makes {kinds[kind]}, not {np.dtype(dtype)}")
    return _functions.apply(function, (_key(key),), [("shape", _sizes(shape)), ("dtype", name)])


def _key(key):
    """A key as an array: two ``uint32``."""
    if isinstance(key, Tracer):
        return key
    array = np.asarray(key)
    if array.dtype != np.uint32 or array.shape != (2,):
        raise TypeError(
            f"a key is two uint32, as indim.random.key(42) makes, not {array.dtype} of shape {array.shape}"
        )
    return array


def _sizes(shape):
    """A shape as a list; a number is that of one axis."""
    try:
        return [operator.index(shape)]
    except TypeError:
        return [operator.index(size) for size in shape]


def _is_number(value, number):
    return isinstance(value, (int, float)) and value == number


def _floats(values, dtype):
    """The values as arrays of a type."""
    return tuple(
        value.astype(dtype) if isinstance(value, Tracer) else np.asarray(value, dtype) for value in values
    )


def _integers(bound, dtype):
    """A bound of randint as an array of ``int64`` or ``uint64``."""
    bound = bound if isinstance(bound, Tracer) else np.asarray(bound)
    if bound.dtype.kind not in "iu":
        raise TypeError(f"the bounds of randint are integers, not {bound.dtype}")
    if bound.dtype != np.uint64:
        return bound.astype(np.int64) if dtype != np.uint64 else np.maximum(bound, 0).astype(np.uint64)
    return bound
