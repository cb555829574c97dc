"""Scans, sorts, gathers, random numbers, windows and loops by indim and by other libraries.

    python bench/python/programs.py [--threads N] [--job NAME] [--processor-time] [--seconds S]

prints a table: milliseconds of a call of each engine, the shortest of many, and the time of indim over that
of the fastest peer. Engines take turns, and their results must agree. The aims are for two threads. It needs
the package; peers that are not installed are left out (``requirements.txt`` has all of them). Whole models
have a program of their own, ``whole_models.py``.
"""

import numpy as np

import engines
import indim
from engines import by_indim, by_jax, by_models, by_numba, by_numpy, jax, jnp, loaded, prange
from scans_and_sorts import MANY, SOME, jobs, normal, positions, random


# Gathers and scatters.


def numba_gather(x, i):
    result = np.empty(i.size, x.dtype)
    for place in prange(i.size):
        result[place] = x[i[place]]
    return result


@jobs("x[i], 4 Mi of 1 Mi", 4)
def gather():
    x, i = normal(SOME), positions(MANY, SOME)
    return {
        "indim": by_indim(lambda x, i: x[i], x, i),
        "NumPy": by_numpy(lambda x, i: x[i], x, i),
        "JAX": by_jax(lambda x, i: x[i], x, i),
        "numba": by_numba(numba_gather, x, i),
        **by_models("Gather", [x, i]),
    }


@jobs("embedding, 4096 of [50000, 768]", 0.6)
def embedding():
    table, i = normal(50000, 768), positions(4096, 50000)
    return {
        "indim": by_indim(lambda table, i: table[i], table, i),
        "NumPy": by_numpy(lambda table, i: table[i], table, i),
        "JAX": by_jax(lambda table, i: table[i], table, i),
        **by_models("Gather", [table, i]),
    }


def numba_add_rows(total, i, rows):
    result = np.zeros_like(total)
    for row in range(i.size):
        for column in range(rows.shape[1]):
            result[i[row], column] += rows[row, column]
    return result


@jobs("gradient of the embedding")
def embedding_gradient():
    def numpy_function(table, i, rows):
        total = np.zeros_like(table)
        np.add.at(total, i, rows)
        return total

    table, i, rows = normal(50000, 768), positions(4096, 50000), normal(4096, 768)
    gradient = lambda table, i, rows: indim.grad(lambda table: np.sum(table[i] * rows))(table)
    jax_gradient = lambda table, i, rows: jax.grad(lambda table: jnp.sum(table[i] * rows))(table)
    return {
        "indim": by_indim(gradient, table, i, rows),
        "NumPy": by_numpy(numpy_function, table, i, rows),
        "JAX": by_jax(jax_gradient, table, i, rows),
        "numba": by_numba(numba_add_rows, table, i, rows, parallel=False),
    }


def numba_scatter_add(x, i, v):
    result = x.copy()
    for place in range(i.size):
        result[i[place]] += v[place]
    return result


@jobs("scatter-add, 4 Mi into 1 Mi", 8)
def scatter_add():
    def numpy_function(x, i, v):
        result = x.copy()
        np.add.at(result, i, v)
        return result

    x, i, v = normal(SOME), positions(MANY, SOME), normal(MANY)
    return {
        "indim": by_indim(lambda x, i, v: x.at[i].add(v), x, i, v),
        "NumPy": by_numpy(numpy_function, x, i, v),
        "JAX": by_jax(lambda x, i, v: x.at[i].add(v), x, i, v),
        "numba": by_numba(numba_scatter_add, x, i, v, parallel=False),
        **by_models("ScatterElements", [x, i, v], only=["ONNX Runtime"], opset=18, reduction="add"),
    }


@jobs("bincount, 4 Mi into 1,024", 2)
def bincount():
    i = positions(MANY, 1024)
    return {
        "indim": by_indim(lambda i: indim.bincount(i, length=1024), i),
        "NumPy": by_numpy(lambda i: np.bincount(i, minlength=1024), i),
        "JAX": by_jax(lambda i: jnp.bincount(i, length=1024), i),
    }


@jobs("histogram, 4 Mi into 1,024", 4)
def histogram():
    x = normal(MANY)
    return {
        "indim": by_indim(lambda x: np.histogram(x, 1024, (-4, 4))[0], x),
        "NumPy": by_numpy(lambda x: np.histogram(x, 1024, (-4, 4))[0], x),
        "JAX": by_jax(lambda x: jnp.histogram(x, 1024, (-4, 4))[0], x),
    }


def numba_equalize(picture):
    counts = np.zeros(256, np.int64)
    for i in range(picture.size):
        counts[picture[i]] += 1
    levels = (np.cumsum(counts) * 255 // picture.size).astype(np.uint8)
    result = np.empty_like(picture)
    for i in prange(picture.size):
        result[i] = levels[picture[i]]
    return result


@jobs("equalisation of a u8 picture, 16 Mi")
def equalisation():
    def function(picture, module, counted):
        return (module.cumsum(counted(picture)) * 255 // picture.size).astype(np.uint8)[picture]

    picture = random().integers(0, 256, 16 << 20).astype(np.uint8)
    return {
        "indim": by_indim(lambda x: function(x, np, lambda x: indim.bincount(x, length=256)), picture),
        "NumPy": by_numpy(lambda x: function(x, np, lambda x: np.bincount(x, minlength=256)), picture),
        "JAX": by_jax(
            lambda x: function(x, jnp, lambda x: jnp.bincount(x, length=256)), picture, wide=True
        ),
        "numba": by_numba(numba_equalize, picture),
    }


@jobs("segment mean, 4 Mi edges to 256 Ki")
def segment_mean():
    def jax_function(v, i):
        total = lambda v: jax.ops.segment_sum(v, i, 1 << 18)
        return total(v) / total(jnp.ones_like(v))

    def numpy_function(v, i):
        return np.bincount(i, v, 1 << 18) / np.bincount(i, minlength=1 << 18)

    v, i = normal(MANY), positions(MANY, 1 << 18)
    mean = lambda v, i: indim.segment_sum(v, i, 1 << 18) / indim.bincount(i, length=1 << 18)
    return {
        "indim": by_indim(mean, v, i),
        "NumPy": by_numpy(numpy_function, v, i),
        "JAX": by_jax(jax_function, v, i),
    }


@jobs("x[mask], 4 Mi", 2)
def compress():
    x, mask = normal(MANY), random().random(MANY) < 0.5
    return {
        "indim": by_indim(lambda x, mask: x[mask], x, mask),
        "NumPy": by_numpy(lambda x, mask: x[mask], x, mask),
        **by_models("Compress", [x, mask], only=["ONNX Runtime"]),
    }


# Random numbers: those of NumPy are others, so only their means are compared.


def moments(result):
    values = np.asarray(result).astype(np.float64)
    return np.array([values.mean(), values.std()])


def drawn(name, by_numpy):
    """The engines that draw random numbers; ``name`` is the function of indim and JAX."""
    key, generator = indim.random.key(0), random()
    return {
        "indim": by_indim(lambda key: getattr(indim.random, name)(key, (MANY,)), key),
        "NumPy": lambda: by_numpy(generator),
        "JAX": by_jax(lambda key: getattr(jax.random, name)(key, (MANY,)), key),
    }


@jobs("random bits, 4 Mi u32", 4, moments, 1e-2)
def bits():
    return drawn("bits", lambda generator: generator.integers(0, 1 << 32, MANY, np.uint32))


@jobs("random uniform, 4 Mi f32", 5, moments, 1e-2)
def uniform():
    return drawn("uniform", lambda generator: generator.random(MANY, np.float32))


@jobs("random normal, 4 Mi f32", 12, moments, 1e-2)
def random_normal():
    return drawn("normal", lambda generator: generator.standard_normal(MANY, np.float32))


# Windows and loops.


@jobs("max pool 3x3/2 [8, 64, 112, 112]", 2)
def max_pool():
    x = normal(8, 64, 112, 112)
    pool = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4}
    window, strides, padding = (1, 1, 3, 3), (1, 1, 2, 2), ((0, 0), (0, 0), (1, 1), (1, 1))
    return {
        "indim": by_indim(
            lambda x: indim.lax.reduce_window(x, -np.inf, np.maximum, window, strides, padding), x
        ),
        "JAX": by_jax(
            lambda x: jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, window, strides, padding), x
        ),
        **by_models("MaxPool", [x], **pool),
    }


@jobs("bilinear x2 [1, 64, 112, 112]", 1.5)
def bilinear():
    x, scales = normal(1, 64, 112, 112), np.array([1, 1, 2, 2], np.float32)
    constants = [None, scales]
    return {
        "indim": loaded("Resize", [x], constants, mode="linear"),
        "JAX": by_jax(lambda x: jax.image.resize(x, (1, 64, 224, 224), "bilinear"), x),
        **by_models("Resize", [x], constants, mode="linear"),
    }


def loops(step, jax_step, steps, start, *arguments):
    """``steps`` steps from a state, by each engine."""
    loop = lambda s, *a: indim.fori_loop(0, steps, lambda i, s: step(s, *a), s)
    jax_loop = lambda s, *a: jax.lax.fori_loop(0, steps, lambda i, s: jax_step(s, *a), s)
    return {
        "indim": by_indim(loop, start, *arguments),
        "NumPy": by_numpy(lambda s, *a: numpy_steps(step, steps, s, *a), start, *arguments),
        "JAX": by_jax(jax_loop, start, *arguments),
    }


def numpy_steps(step, steps, state, *arguments):
    for _ in range(steps):
        state = step(state, *arguments)
    return state


@jobs("scan, 10,000 steps of 64", 0.6)
def scan():
    x = normal(64)
    step = lambda state, _: (state * np.float32(0.999) + np.float32(0.001), None)
    return {
        "indim": by_indim(lambda x: indim.scan(step, x, None, 10000)[0], x),
        "NumPy": by_numpy(lambda x: numpy_steps(lambda s: step(s, None)[0], 10000, x), x),
        "JAX": by_jax(lambda x: jax.lax.scan(step, x, None, 10000)[0], x),
    }


@jobs("ODE by Runge-Kutta, 10,000 steps of 64")
def ode():
    def step(state, rate):
        slope = lambda s: rate * s * (np.float32(1) - s)
        half = np.float32(0.0005)
        a = slope(state)
        b = slope(state + half * a)
        c = slope(state + half * b)
        d = slope(state + np.float32(0.001) * c)
        return state + (a + np.float32(2) * (b + c) + d) * np.float32(0.001 / 6)

    start = random().random(64, np.float32)
    return loops(step, step, 10000, start, np.float32(1) + random().random(64, np.float32))


@jobs("heat equation, 1,000 steps of 1 Mi")
def heat():
    def function(roll):
        return lambda x: x + np.float32(0.1) * (roll(x, 1) + roll(x, -1) - np.float32(2) * x)

    return loops(function(np.roll), function(jnp.roll if jnp else None), 1000, normal(SOME))


@jobs("LSTM, 128 steps of 512")
def lstm():
    def loop(scan, module):
        def step(state, x, w, u):
            h, c = state
            i, f, g, o = (part for part in module.split(x @ w + h @ u, 4))
            gate = lambda v: 1 / (1 + module.exp(-v))
            c = gate(f) * c + gate(i) * module.tanh(g)
            h = gate(o) * module.tanh(c)
            return (h, c), h

        def function(xs, w, u):
            start = (xs[0] * 0, xs[0] * 0)
            return scan(lambda state, x: step(state, x, w, u), start, xs)[1]

        return function

    def python_scan(step, state, xs):
        results = []
        for x in xs:
            state, result = step(state, x)
            results.append(result)
        return state, np.stack(results)

    arguments = (normal(128, 512), 0.04 * normal(512, 2048), 0.04 * normal(512, 2048)[:, ::-1].copy())
    return {
        "indim": by_indim(loop(indim.scan, np), *arguments),
        "NumPy": by_numpy(loop(python_scan, np), *arguments),
        "JAX": by_jax(loop(jax and jax.lax.scan, jnp), *arguments),
    }


if __name__ == "__main__":
    engines.main(jobs, __doc__)
