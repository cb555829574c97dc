"""Random numbers from explicit keys, with the functions of ``jax.random``.

A key is an array of two ``uint32``. The same key makes the same numbers on every machine and for any number
of threads, so each key is used once: ``split`` makes several of one. Keys, bits, uniform numbers, integers
and permutations are those of JAX bit for bit; the distributions that take logarithms or ``erf_inv``, and
bounds of uniform numbers in 16 bits, are within rounding errors of JAX's, except ``poisson`` with means both
below 10 and from 10 on in one call: then numbers for the larger means may be others. All functions also work
inside of compiled functions. `_distributions.py` has those that transform other numbers, such as ``gamma``.

Unlike JAX, ``dtype=float`` is ``float64`` and ``dtype=int`` is ``int64``, as in NumPy; the defaults are
``float32`` and ``int32``, as in JAX.

>>> import indim
>>> key, other = indim.random.split(indim.random.key(42))
>>> indim.random.uniform(key, (2,))
array([0.5302608 , 0.31336212], dtype=float32)
"""

from __future__ import annotations

import indim as _package  # Waits for a thread that imports the package.

import math
import operator

import numpy as np

from . import _arrays, _functions
from ._functions import asarray
from ._jit import jit
from ._operands import has_tracer
from ._tracing import Tracer

__all__ = [
    *("PRNGKey", "ball", "bernoulli", "beta", "bits", "categorical", "cauchy", "chisquare", "choice"),
    *("dirichlet", "double_sided_maxwell", "exponential", "f", "fold_in", "gamma", "generalized_normal"),
    *("geometric", "gumbel", "key", "key_data", "laplace", "loggamma", "logistic", "lognormal"),
    *("maxwell", "normal", "pareto", "permutation", "poisson", "rademacher", "randint", "rayleigh", "split"),
    *("t", "triangular", "truncated_normal", "uniform", "wald", "weibull_min", "wrap_key_data"),
]


def key(seed):
    """The key of a seed, a whole number of up to 64 bits: its upper and lower 32 bits.

    From 2**32 on and below 0 it is JAX's key under ``jax_enable_x64``.
    """
    if isinstance(seed, Tracer):
        if seed.dtype.kind not in "iub" or seed.ndim:
            raise TypeError(f"a seed is one whole number, not {seed.dtype} of shape {seed.shape}")
        word = seed.astype(np.int64).astype(np.uint64)
        return np.stack([word >> np.uint64(32), word & np.uint64(0xFFFFFFFF)]).astype(np.uint32)
    seed = operator.index(seed)
    if not -(1 << 63) <= seed < 1 << 64:
        raise OverflowError(f"a seed has 64 bits, unlike {seed}")
    return np.array([seed >> 32 & 0xFFFFFFFF, seed & 0xFFFFFFFF], np.uint32)


PRNGKey = key


def key_data(keys):
    """The words of keys: the keys themselves, which are arrays here."""
    return _functions.asarray(keys)


def wrap_key_data(key_bits_array):
    """The keys of these words: the array itself."""
    return _functions.asarray(key_bits_array)


def split(key, num=2):
    """New keys, independent of each other: an array of the shape ``num`` with a last axis of 2."""
    return _functions.apply("random_split", (_key(key),), [("shape", _sizes(num))])


def fold_in(key, data):
    """A new key made of a key and a whole number of 32 bits, such as the number of a step."""
    if not isinstance(data, Tracer):
        data = operator.index(data)
        if not 0 <= data < 1 << 32:
            raise OverflowError(f"fold_in takes a whole number from 0 to below 2**32, not {data}")
        data = np.uint32(data)
    return _functions.apply("random_fold_in", (_key(key), data))


def bits(key, shape=(), dtype=None):
    """Random bits as unsigned integers."""
    dtype = _type(dtype, np.uint32)
    if dtype.kind != "u":
        raise TypeError(f"bits makes unsigned integers, not {dtype}")
    return _draw("random_bits", key, shape, dtype)


def uniform(key, shape=(), dtype=None, minval=0.0, maxval=1.0):
    """Numbers from ``minval`` to below ``maxval``."""
    dtype = _float_type("uniform", dtype)
    if _is_number(minval, 0.0) and _is_number(maxval, 1.0):
        return _draw("random_uniform", key, shape, dtype)
    bounds = _floats((minval, maxval), dtype)
    return _between(_key(key), *bounds, _shape_of("uniform", shape, *bounds), dtype)


def normal(key, shape=(), dtype=None):
    """Numbers of the standard normal distribution."""
    return _draw("random_normal", key, shape, _float_type("normal", dtype))


def _program(*static):
    """A function of arrays and these static arguments as one program: compiled, or recorded inside of a
    compiled function."""

    def decorate(function):
        compiled = jit(function, static=static)

        def call(*arguments):
            # Within a compiled function, a call without traced values is computed while the function is
            # traced.
            return function(*arguments) if has_tracer(arguments) else compiled(*arguments)

        return call

    return decorate


def multivariate_normal(key, mean, cov, shape=None, dtype=None, method="cholesky"):
    """Vectors with this mean and covariance matrix: ``mean`` plus the Cholesky factor of ``cov`` times
    standard normal numbers. ``shape`` is that of the array of vectors, by default the batch axes of both."""
    if method != "cholesky":
        raise ValueError(f"the method of multivariate_normal is 'cholesky', not {method!r}")
    shape = shape if shape is None else tuple(shape)
    return _multivariate_normal(key, mean, cov, shape, _float_type("multivariate_normal", dtype))


@_program("shape", "dtype")
def _multivariate_normal(key, mean, cov, shape, dtype):
    mean, cov = asarray(mean).astype(dtype), asarray(cov).astype(dtype)
    if mean.ndim < 1 or cov.ndim < 2 or cov.shape[-2:] != (mean.shape[-1],) * 2:
        raise ValueError(
            f"multivariate_normal takes a mean [..., n] and a covariance [..., n, n], not {list(mean.shape)} "
            f"and {list(cov.shape)}"
        )
    batch = np.broadcast_shapes(mean.shape[:-1], cov.shape[:-2])
    shape = batch if shape is None else shape
    if np.broadcast_shapes(shape, batch) != shape:
        raise ValueError(f"the shape {list(shape)} lacks axes of the batch {list(batch)} of mean and cov")
    numbers = normal(key, (*shape, mean.shape[-1]), dtype)
    return mean + np.matmul(np.linalg.cholesky(cov), numbers[..., None])[..., 0]


@_program("shape", "dtype")
def _between(key, minval, maxval, shape, dtype):
    # Product and sum are rounded once, as XLA compiles them.
    numbers = _functions.apply("fma", (uniform(key, shape, dtype), maxval - minval, minval), rule="numpy")
    return np.maximum(minval, numbers)


def bernoulli(key, p=0.5, shape=None):
    """``True`` with the probability ``p``. Without a shape the result has that of ``p``."""
    (p,) = _floats((p,), _float_of(p))
    shape = p.shape if shape is None else _shape_of("bernoulli", shape, p)
    return _bernoulli(_key(key), p, shape, p.dtype)


@_program("shape", "dtype")
def _bernoulli(key, p, shape, dtype):
    return uniform(key, shape, dtype) < p


def rademacher(key, shape=(), dtype=None):
    """-1 or 1, with equal probabilities."""
    return _rademacher(_key(key), tuple(_sizes(shape)), _type(dtype, np.int32))


@_program("shape", "dtype")
def _rademacher(key, shape, dtype):
    return (2 * (uniform(key, shape) < np.float32(0.5)).astype(np.int32) - 1).astype(dtype)


def randint(key, shape, minval, maxval, dtype=None):
    """Whole numbers from ``minval`` to below ``maxval``; ``minval`` if there are none.

    They are the remainders of twice as many random bits as the type has, so their probabilities differ by
    2**-32 at most in 32 bits for ranges of up to 2**16.
    """
    dtype = _type(dtype, np.int32)
    if dtype.kind not in "iu":
        raise TypeError(f"randint makes integers, not {dtype}")
    bounds = [_integers(bound, dtype) for bound in (minval, maxval)]
    return _randint(_key(key), *bounds, _shape_of("randint", shape, *bounds), dtype)


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
    """The remainder of unsigned numbers; for ``y`` = 0 it is ``x``, as in XLA."""
    return _functions.apply("rem", (x, y), rule="numpy")


def permutation(key, x, axis=0, independent=False):
    """The parts of an array along an axis in random order, or the numbers below a whole number.

    With ``independent`` the elements of each line along the axis have their own order.
    """
    if isinstance(x, Tracer) or np.ndim(x):
        x = x if isinstance(x, Tracer) else _arrays.array_of(x, "x")
        axis = _axis(axis, x.ndim)
        if independent or x.ndim == 1:
            return _shuffled(_key(key), x, axis)
        return np.take(x, _shuffled(_key(key), np.arange(x.shape[axis]), 0), axis)
    return _shuffled(_key(key), np.arange(operator.index(x)), 0)


@_program("axis")
def _shuffled(key, x, axis):
    """Sorts by random numbers in several rounds, as JAX does: two elements hardly have equal numbers in
    all rounds."""
    rounds = math.ceil(3 * math.log(max(1, math.prod(x.shape))) / math.log(0xFFFFFFFF))
    for _ in range(rounds):
        keys = split(key)
        key = keys[0]
        order = np.argsort(bits(keys[1], x.shape), axis=axis, kind="stable")
        x = np.take_along_axis(x, order, axis)
    return x


def choice(key, a, shape=(), replace=True, p=None, axis=0):
    """Random parts of an array along an axis, or numbers below a whole number ``a``.

    ``p`` are their probabilities. Without ``replace`` no part occurs twice.
    """
    is_array = isinstance(a, Tracer) or np.ndim(a) > 0
    if is_array:
        a = a if isinstance(a, Tracer) else _arrays.array_of(a, "a")
        axis = _axis(axis, a.ndim)
    count = a.shape[axis] if is_array else operator.index(a)
    sizes = tuple(_sizes(shape))
    requested = math.prod(sizes)
    if requested and count <= 0:
        raise ValueError("a choice from nothing: `a` has no parts")
    if not replace and requested > count:
        raise ValueError(f"{requested} different parts of {count} do not exist; see `replace`")
    if p is not None:
        (p,) = _floats((p,), _float_of(p))
        if p.shape != (count,):
            raise ValueError(f"`p` has the shape {p.shape}, and there are {count} parts")
    if p is not None:
        indices = _choose(_key(key), p, sizes, bool(replace))
    elif replace:
        indices = randint(key, sizes, 0, count, np.int32 if count < 1 << 31 else np.int64).astype(np.int64)
    else:
        indices = permutation(key, count)[:requested].reshape(sizes)
    return np.take(a, indices, axis) if is_array else indices


@_program("shape", "replace")
def _choose(key, p, shape, replace):
    if replace:
        sums = np.cumsum(p)
        return np.searchsorted(sums, sums[-1] * (1 - uniform(key, shape, p.dtype)))
    order = np.argsort(-(gumbel(key, p.shape, p.dtype) + np.log(p)), kind="stable")
    return order[: math.prod(shape)].reshape(shape)


def exponential(key, shape=(), dtype=None):
    """Numbers of the exponential distribution with mean 1."""
    return _exponential(_key(key), tuple(_sizes(shape)), _float_type("exponential", dtype))


@_program("shape", "dtype")
def _exponential(key, shape, dtype):
    return -np.log1p(-uniform(key, shape, dtype))


def gumbel(key, shape=(), dtype=None):
    """Numbers of the Gumbel distribution, ``-log(-log(u))``."""
    return _gumbel(_key(key), tuple(_sizes(shape)), _float_type("gumbel", dtype))


@_program("shape", "dtype")
def _gumbel(key, shape, dtype):
    return -np.log(-np.log(uniform(key, shape, dtype, _limits(dtype).tiny, 1.0)))


def laplace(key, shape=(), dtype=None):
    """Numbers of the Laplace distribution."""
    return _laplace(_key(key), tuple(_sizes(shape)), _float_type("laplace", dtype))


@_program("shape", "dtype")
def _laplace(key, shape, dtype):
    numbers = uniform(key, shape, dtype, _limits(dtype).epsneg - 1.0, 1.0)
    return np.sign(numbers) * np.log1p(-np.abs(numbers))


def logistic(key, shape=(), dtype=None):
    """Numbers of the logistic distribution."""
    return _logistic(_key(key), tuple(_sizes(shape)), _float_type("logistic", dtype))


@_program("shape", "dtype")
def _logistic(key, shape, dtype):
    numbers = uniform(key, shape, dtype, _limits(dtype).tiny, 1.0)
    return np.log(numbers) - np.log1p(-numbers)


def cauchy(key, shape=(), dtype=None):
    """Numbers of the Cauchy distribution."""
    return _cauchy(_key(key), tuple(_sizes(shape)), _float_type("cauchy", dtype))


@_program("shape", "dtype")
def _cauchy(key, shape, dtype):
    numbers = uniform(key, shape, dtype, _limits(dtype).eps, 1.0)
    return np.tan(dtype.type(np.pi) * (numbers - dtype.type(0.5)))


def truncated_normal(key, lower, upper, shape=None, dtype=None):
    """Numbers of the normal distribution between two bounds."""
    dtype = _float_type("truncated_normal", dtype)
    bounds = _floats((lower, upper), dtype)
    if shape is None:
        shape = np.broadcast_shapes(*(bound.shape for bound in bounds))
    return _truncated_normal(_key(key), *bounds, _shape_of("truncated_normal", shape, *bounds), dtype)


@_program("shape", "dtype")
def _truncated_normal(key, lower, upper, shape, dtype):
    root, infinity = dtype.type(np.sqrt(2)), dtype.type(np.inf)
    low, high = (_functions.apply("erf", (bound / root,)) for bound in (lower, upper))
    numbers = root * _functions.apply("erf_inv", (_between(key, low, high, shape, dtype),))
    return np.clip(numbers, np.nextafter(lower, infinity), np.nextafter(upper, -infinity))


def categorical(key, logits, axis=-1, shape=None):
    """The number of a category along an axis, by unnormalised logarithms of the probabilities.

    ``shape`` is that of ``logits`` without the axis, after axes of further samples.
    """
    (logits,) = _floats((logits,), _float_of(logits))
    axis = _axis(axis, logits.ndim) - logits.ndim
    others = tuple(size for position, size in enumerate(logits.shape, -logits.ndim) if position != axis)
    shape = others if shape is None else tuple(_sizes(shape))
    before = len(shape) - len(others)
    if before < 0 or shape[before:] != others:
        raise ValueError(f"`shape` ends like the logits without axis {axis}, {others}, unlike {shape}")
    return _categorical(_key(key), logits, axis, shape[:before])


@_program("axis", "shape")
def _categorical(key, logits, axis, shape):
    return np.argmax(gumbel(key, (*shape, *logits.shape), logits.dtype) + logits, axis=axis)


def _draw(function, key, shape, dtype):
    """The numbers of a function of the expression language."""
    attributes = [("shape", _sizes(shape)), ("dtype", _arrays.indim_name(dtype))]
    return _functions.apply(function, (_key(key),), attributes)


def _type(dtype, default):
    return np.dtype(default if dtype is None else dtype)


def _is_float(dtype):
    # The package `ml_dtypes` has `bfloat16`; to NumPy it is no float.
    return dtype.kind == "f" or dtype.name == "bfloat16"


def _float_type(name, dtype):
    dtype = _type(dtype, np.float32)
    if not _is_float(dtype):
        raise TypeError(f"{name} makes floats, not {dtype}")
    return dtype


def _float_of(value):
    """The element type of a parameter if it is a float, or else ``float32``."""
    dtype = np.dtype(getattr(value, "dtype", np.float32))
    return dtype if _is_float(dtype) else np.dtype(np.float32)


class _Bfloat16:
    """The limits of ``bfloat16``, which `np.finfo` does not know."""

    tiny, eps, epsneg = 2.0**-126, 2.0**-7, 2.0**-8


def _limits(dtype):
    return _Bfloat16 if dtype.name == "bfloat16" else np.finfo(dtype)


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


def _shape_of(name, shape, *parameters):
    """The shape of a result; each parameter broadcasts to it."""
    shape, shapes = tuple(_sizes(shape)), [of.shape for of in parameters]
    try:
        fits = np.broadcast_shapes(shape, *shapes) == shape
    except ValueError:
        fits = False
    if not fits:
        given = ", ".join(map(str, shapes))
        raise ValueError(f"{name}: parameters of shapes {given} do not broadcast to {shape}")
    return shape


def _axis(axis, rank):
    """An axis counted from the front."""
    axis = operator.index(axis)
    if not -rank <= axis < rank:
        raise np.exceptions.AxisError(axis, rank)
    return axis % rank


def _is_number(value, number):
    return isinstance(value, (int, float)) and value == number


def _floats(values, dtype):
    """The values as arrays of a type."""
    if any(value is None for value in values):
        raise TypeError("a parameter of a distribution is a number or an array, not None")
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


#: Functions of ``jax.random`` that indim does not have, with advice.
_REFUSED = {
    "binomial": "write np.sum(bernoulli(key, p, (n, *shape)), axis=0) for a known n",
    "clone": "a key is an array, so it needs no copy",
    "multinomial": "write np.bincount(choice(key, len(p), (n,), p=p), minlength=len(p))",
    "orthogonal": "it factorises a matrix: write np.linalg.qr(normal(key, (n, n)))[0]",
}

# Its functions need those above.
from . import _distributions  # noqa: E402

globals().update({name: getattr(_distributions, name) for name in _distributions.NAMES})
for _name in _distributions.NAMES:
    globals()[_name].__module__ = __name__
del _name


def __getattr__(name):
    if name in _REFUSED:
        raise AttributeError(f"indim.random has no {name!r}: {_REFUSED[name]}")
    raise AttributeError(f"indim.random has no {name!r}; docs/python.md lists the functions that it has")
