"""The jobs of ``programs.py`` that are scans, sorts and searches."""

import numpy as np

import indim
import tables
from engines import by_bottleneck, by_indim, by_jax, by_models, by_numba, by_numpy, jax, jnp, prange

MANY, SOME = 4 << 20, 1 << 20
jobs = tables.Jobs()


def random():
    return np.random.default_rng(0)


def normal(*shape):
    return random().standard_normal(shape, np.float32)


def positions(count, below):
    return random().integers(0, below, count).astype(np.int32)


# Scans.


def numba_cumsum(x):
    result = np.empty_like(x)
    total = 0.0
    for i in range(x.size):
        total += x[i]
        result[i] = total
    return result


def numba_cummax(x):
    result = np.empty_like(x)
    most = x[0]
    for i in range(x.size):
        most = max(most, x[i])
        result[i] = most
    return result


@jobs("cumsum, 4 Mi", 1.2)
def cumsum():
    x = normal(MANY)
    return {
        "indim": by_indim(lambda x: np.cumsum(x), x),
        "NumPy": by_numpy(np.cumsum, x),
        "JAX": by_jax(lambda x: jnp.cumsum(x), x),
        "numba": by_numba(numba_cumsum, x, parallel=False),
        **by_models("CumSum", [x], [np.int64(0)]),
    }


def cumsum_along(axis):
    x = normal(2048, 2048)
    return {
        "indim": by_indim(lambda x: np.cumsum(x, axis), x),
        "NumPy": by_numpy(np.cumsum, x, axis),
        "JAX": by_jax(lambda x: jnp.cumsum(x, axis), x),
        **by_models("CumSum", [x], [np.int64(axis)]),
    }


jobs("cumsum [2048, 2048], axis 0", 1.0)(lambda: cumsum_along(0))
jobs("cumsum [2048, 2048], axis 1", 1.2)(lambda: cumsum_along(1))


@jobs("cummax, 4 Mi", 1.0)
def cummax():
    x = normal(MANY)
    return {
        "indim": by_indim(lambda x: np.maximum.accumulate(x), x),
        "NumPy": by_numpy(np.maximum.accumulate, x),
        "JAX": by_jax(lambda x: jax.lax.cummax(x), x),
        "numba": by_numba(numba_cummax, x, parallel=False),
    }


def scan_of(function, dtype, rows, axis):
    jax_function = getattr(jnp, function) if jnp else None
    x = (1 + 0.001 * normal(rows, rows)).astype(dtype)
    return {
        "indim": by_indim(lambda x: getattr(np, function)(x, axis, dtype), x),
        "NumPy": by_numpy(getattr(np, function), x, axis, dtype),
        "JAX": by_jax(lambda x: jax_function(x, axis, dtype), x, wide=dtype == "f8"),
        **(by_models("CumSum", [x], [np.int64(axis)], only=SCANNING[dtype]) if function == "cumsum" else {}),
    }


#: The engines of models that add the elements of a type.
SCANNING = {"f4": ("ONNX Runtime", "OpenVINO"), "f8": ("ONNX Runtime",), "u1": ()}


for function in ("cumsum", "cumprod"):
    for dtype, of in (("f4", "f32"), ("f8", "f64"), ("u1", "u8")):
        for size, count in (("64 KiB", 1 << 16), ("1 MiB", 1 << 20), ("64 MiB", 1 << 26)):
            rows = int((count / np.dtype(dtype).itemsize) ** 0.5)
            for axis in (0, 1):
                made = lambda f=function, d=dtype, r=rows, a=axis: scan_of(f, d, r, a)
                jobs(f"{function} {of}, {size}, axis {axis}")(made)


def numba_drawdown(x):
    result = np.empty_like(x)
    most = x[0]
    for i in range(x.size):
        most = max(most, x[i])
        result[i] = x[i] / most - np.float32(1)
    return result


@jobs("drawdown x / cummax(x) - 1, 64 MiB")
def drawdown():
    x = np.abs(normal(16 << 20)) + 1
    return {
        "indim": by_indim(lambda x: x / np.maximum.accumulate(x) - 1, x),
        "NumPy": by_numpy(lambda x: x / np.maximum.accumulate(x) - 1, x),
        "JAX": by_jax(lambda x: x / jax.lax.cummax(x) - 1, x),
        "numba": by_numba(numba_drawdown, x, parallel=False),
    }


@jobs("moving mean of 100, 4 Mi f64")
def moving_mean():
    def function(x, numpy=np):
        sums = numpy.cumsum(x)
        return (sums[100:] - sums[:-100]) / 100

    x = random().standard_normal(MANY)
    return {
        "indim": by_indim(function, x),
        "NumPy": by_numpy(function, x),
        "JAX": by_jax(lambda x: function(x, jnp), x, wide=True),
        "bottleneck": by_bottleneck(lambda module, x: module.move_mean(x, 100)[100:], x),
    }


# Sorts. JAX sorts 64 MiB in twenty seconds, so it is left out there.


def sorts(x, axis=-1, kind=None):
    return {
        "indim": by_indim(lambda x: np.sort(x, axis, kind=kind), x),
        "NumPy": by_numpy(lambda x: np.sort(x, axis, kind=kind), x),
        "JAX": by_jax(lambda x: jnp.sort(x, axis), x) if x.size <= SOME else None,
    }


def argsorts(x, axis=-1, kind=None):
    return {
        "indim": by_indim(lambda x: np.argsort(x, axis, kind=kind), x),
        "NumPy": by_numpy(lambda x: np.argsort(x, axis, kind=kind), x),
        "JAX": by_jax(lambda x: jnp.argsort(x, axis), x) if x.size <= SOME else None,
    }


def sorted_by(make, axis=-1):
    """Positions of an unstable sort differ, but not what they sort."""
    return lambda found: np.take_along_axis(make(), np.asarray(found), axis)


jobs("sort, 1 Mi", 12)(lambda: sorts(normal(SOME)))
jobs("stable sort, 1 Mi", 12)(lambda: sorts(normal(SOME), kind="stable"))
jobs("argsort, 1 Mi", 20, sorted_by(lambda: normal(SOME)))(lambda: argsorts(normal(SOME)))
jobs("stable argsort, 1 Mi", 20)(lambda: argsorts(normal(SOME), kind="stable"))
jobs("sort [1024, 1024], axis 1", 5)(lambda: sorts(normal(1024, 1024), 1))
jobs("sort [1024, 1024], axis 0", 8)(lambda: sorts(normal(1024, 1024), 0))
jobs("argsort [10000, 10], axis 1", None, sorted_by(lambda: normal(10000, 10)))(
    lambda: argsorts(normal(10000, 10))
)

DATA = {
    "random": lambda count: normal(count),
    "sorted": lambda count: np.sort(normal(count)),
    "few values": lambda count: positions(count, 16).astype(np.float32),
    "a tenth NaN": lambda count: np.where(positions(count, 10) == 0, np.float32(np.nan), normal(count)),
}

for size, count in (("64 KiB", 1 << 14), ("1 MiB", 1 << 18), ("64 MiB", 1 << 24)):
    for of, make in DATA.items():
        data = lambda make=make, count=count: make(count)
        jobs(f"sort, {of}, {size}")(lambda data=data: sorts(data()))
        jobs(f"argsort, {of}, {size}", None, sorted_by(data))(lambda data=data: argsorts(data()))


@jobs("median [1024, 1024], axis 1", 4)
def median():
    x = normal(1024, 1024)
    return {
        "indim": by_indim(lambda x: np.median(x, 1), x),
        "NumPy": by_numpy(np.median, x, 1),
        "JAX": by_jax(lambda x: jnp.median(x, 1), x),
        "bottleneck": by_bottleneck(lambda module, x: module.median(x, 1), x),
    }


# JAX sorts the stack in half a minute, so it is left out.
@jobs("median of u16 [32, 2048, 2048], axis 0")
def median_stack():
    x = random().integers(0, 1 << 16, (32, 2048, 2048), np.uint16)
    return {
        "indim": by_indim(lambda x: np.median(x, 0), x),
        "NumPy": by_numpy(np.median, x, 0),
        "bottleneck": by_bottleneck(lambda module, x: module.median(x, 0), x),
    }


def top_k(k, *shape):
    x = normal(*shape)
    places = lambda x: np.argpartition(x, -k, 1)[:, -k:]
    return {
        "indim": by_indim(lambda x: indim.top_k(x, k)[0], x),
        "NumPy": by_numpy(lambda x: -np.sort(-np.take_along_axis(x, places(x), 1), 1), x),
        "JAX": by_jax(lambda x: jax.lax.top_k(x, k)[0], x),
        **by_models("TopK", [x], [np.array([k])], axis=1),
    }


jobs("top_k, 10 of [2, 65536]", 0.06)(lambda: top_k(10, 2, 65536))
jobs("top_k, 50 of [64, 50257]")(lambda: top_k(50, 64, 50257))


@jobs("top-p sampling of [64, 50257]")
def top_p():
    def function(logits, noise, module=np):
        falling = -module.sort(-logits, 1)
        weights = module.exp(falling - falling[:, :1])
        weights = weights / weights.sum(1, keepdims=True)
        kept = module.where(module.cumsum(weights, 1) - weights < 0.9, falling, np.inf)
        least = kept.min(1, keepdims=True)
        return module.argmax(module.where(logits < least, -np.inf, logits + noise), 1)

    logits, noise = 3 * normal(64, 50257), random().gumbel(size=(64, 50257)).astype(np.float32)
    return {
        "indim": by_indim(function, logits, noise),
        "NumPy": by_numpy(function, logits, noise),
        "JAX": by_jax(lambda logits, noise: function(logits, noise, jnp), logits, noise),
    }


def numba_searchsorted(table, x):
    result = np.empty(x.size, np.int64)
    for i in prange(x.size):
        result[i] = np.searchsorted(table, x[i])
    return result


@jobs("searchsorted, 1 Mi in 65,536", 25)
def searchsorted():
    table, x = np.sort(normal(65536)), normal(2 * SOME)[SOME:]
    return {
        "indim": by_indim(lambda table, x: np.searchsorted(table, x), table, x),
        "NumPy": by_numpy(np.searchsorted, table, x),
        "JAX": by_jax(lambda table, x: jnp.searchsorted(table, x), table, x),
        "numba": by_numba(numba_searchsorted, table, x),
    }
