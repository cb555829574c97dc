"""The jobs of ``programs.py`` that gather, scatter and count elements."""

import numpy as np

import indim
from engines import by_indim, by_jax, by_models, by_numba, by_numpy
from engines import jax, jnp, model_of, onnx, prange, run_model
from scans_and_sorts import MANY, SOME, jobs, normal, positions, random


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
        **embedding_gradient_models(table, i, rows),
    }


def embedding_gradient_models(table, i, rows):
    """The gradient by the operator that adds rows."""
    if not onnx:
        return {}
    names = ["zeros", "i", "rows"]
    node = onnx.helper.make_node("ScatterND", names, ["result"], reduction="add")
    inputs = {"rows": rows, "i": i.astype(np.int64)[:, None]}
    content = model_of([node], inputs, {"zeros": np.zeros_like(table)}, opset=18)
    return run_model(content, *inputs.values())


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


def numba_bincount(i):
    counts = np.zeros(1024, np.int64)
    for place in range(i.size):
        counts[i[place]] += 1
    return counts


@jobs("bincount, 4 Mi into 1,024", 2)
def bincount():
    i = positions(MANY, 1024)
    return {
        "indim": by_indim(lambda i: indim.bincount(i, length=1024), i),
        "NumPy": by_numpy(lambda i: np.bincount(i, minlength=1024), i),
        "JAX": by_jax(lambda i: jnp.bincount(i, length=1024), i),
        "numba": by_numba(numba_bincount, i, parallel=False),
    }


def numba_histogram(x):
    return np.histogram(x, 1024, (-4.0, 4.0))[0]


# An element at the edge of two bins may be counted in either.
@jobs("histogram, 4 Mi into 1,024", 4)
def histogram():
    x = normal(MANY)
    return {
        "indim": by_indim(lambda x: np.histogram(x, 1024, (-4, 4))[0], x),
        "NumPy": by_numpy(lambda x: np.histogram(x, 1024, (-4, 4))[0], x),
        "JAX": by_jax(lambda x: jnp.histogram(x, 1024, (-4, 4))[0], x),
        "numba": by_numba(numba_histogram, x, parallel=False),
    }


def picture():
    return random().integers(0, 256, 16 << 20).astype(np.uint8)


def numba_count_bytes(picture):
    counts = np.zeros(256, np.int64)
    for i in range(picture.size):
        counts[picture[i]] += 1
    return counts


@jobs("histogram of a u8 picture, 16 Mi")
def picture_histogram():
    x = picture()
    return {
        "indim": by_indim(lambda x: indim.bincount(x, length=256), x),
        "NumPy": by_numpy(lambda x: np.bincount(x, minlength=256), x),
        "JAX": by_jax(lambda x: jnp.bincount(x, length=256), x),
        "numba": by_numba(numba_count_bytes, x, parallel=False),
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

    x = picture()
    return {
        "indim": by_indim(lambda x: function(x, np, lambda x: indim.bincount(x, length=256)), x),
        "NumPy": by_numpy(lambda x: function(x, np, lambda x: np.bincount(x, minlength=256)), x),
        "JAX": by_jax(lambda x: function(x, jnp, lambda x: jnp.bincount(x, length=256)), x, wide=True),
        "numba": by_numba(numba_equalize, x),
    }


def numba_segment_mean(v, i):
    totals, counts = np.zeros(1 << 18), np.zeros(1 << 18)
    for edge in range(i.size):
        totals[i[edge]] += v[edge]
        counts[i[edge]] += 1
    return (totals / counts).astype(np.float32)


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
        "numba": by_numba(numba_segment_mean, v, i, parallel=False),
    }


def numba_compress(x, mask):
    return x[mask]


@jobs("x[mask], 4 Mi", 2)
def compress():
    x, mask = normal(MANY), random().random(MANY) < 0.5
    return {
        "indim": by_indim(lambda x, mask: x[mask], x, mask),
        "NumPy": by_numpy(lambda x, mask: x[mask], x, mask),
        "numba": by_numba(numba_compress, x, mask, parallel=False),
        **by_models("Compress", [x, mask], only=["ONNX Runtime"]),
    }
