"""Writes the programs of this folder with JAX: `NAME.mlir` in StableHLO, `NAME.hlo` in HLO, and `NAME.npz`,
inputs and what XLA computes of them."""

import os
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

HERE = Path(__file__).parent
RANDOM = np.random.default_rng(7)
F32, I32 = np.float32, np.int32


def floats(*shape):
    return RANDOM.normal(size=shape).astype(F32)


def counts(*shape):
    return np.arange(np.prod(shape), dtype=I32).reshape(shape)


def argmax_last(a, b):
    wins = b[0] >= a[0]
    return jnp.where(wins, b[0], a[0]), jnp.where(wins, b[1], a[1])


def welford(a, b):
    count, step = a[2] + b[2], b[0] - a[0]
    part = jnp.where(count > 0, b[2] / count, 0)
    return a[0] + step * part, a[1] + b[1] + step * step * a[2] * part, count


def softmax_pair(a, b):
    most = jnp.maximum(a[0], b[0])
    return most, a[1] * jnp.exp(a[0] - most) + b[1] * jnp.exp(b[0] - most)


def matrices(a, b):
    return (
        a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
        a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3],
    )  # fmt: skip


def probability(a, b):
    return a[0] + b[0] - a[0] * b[0]


def pool(x, operation, start, size, step):
    return lax.reduce_window(x, start, operation, (1, size, size, 1), (1, step, step, 1), "SAME")


def tangent_of_a_pool(x, t):
    return jax.jvp(lambda x: pool(x, lax.max, -jnp.inf, 3, 2), (x,), (t,))[1]


def second_derivative_of_a_pool(x, t):
    gradient = jax.grad(lambda x: (pool(x, lax.min, jnp.inf, 2, 1) ** 3).sum())
    return jax.jvp(gradient, (x,), (t,))[1]


def within_a_loop(x):
    start = F32(-9), F32(0)
    step = lambda i, c: c + lax.reduce((c, c * 2), start, argmax_last, (0,))[1] / 100
    return lax.fori_loop(0, 3, step, x)


def along(body, start, *axes):
    return lambda *operands: lax.reduce(operands, start, body, axes)


def in_windows(body, start, sizes, strides, padding, spread, steps):
    return lambda *x: lax.reduce_window(x, start, body, sizes, strides, padding, spread, steps)


ONES, ZEROS = np.ones((7, 5), F32), np.zeros((7, 5), F32)
IDENTITY = F32(1), F32(0), F32(0), F32(1)
LEAST = F32(-np.inf), I32(-1)
PROGRAMS = {
    "argmax_last": (along(argmax_last, LEAST, 0, 2), np.round(floats(3, 2, 5)), counts(3, 2, 5)),
    "welford": (along(welford, (F32(0),) * 3, 0), floats(7, 5), ZEROS, ONES),
    "softmax_pair": (along(softmax_pair, (F32(-1e30), F32(0)), 1, 0), floats(7, 5), ONES),
    "matrices": (along(matrices, IDENTITY, 1), *(floats(3, 11) for _ in range(4))),
    "probability": (along(probability, (F32(0),), 0), RANDOM.random(1).astype(F32)),
    "windows": (
        in_windows(argmax_last, LEAST, (3, 5), (2, 1), ((1, 2), (0, 3)), (2, 1), (1, 2)),
        np.round(floats(4, 9)), counts(4, 9),
    ),  # fmt: skip
    "long_windows": (
        in_windows(matrices, IDENTITY, (1, 11), (1, 1), ((0, 0), (10, 0)), (1, 1), (1, 1)),
        *(floats(2, 11) for _ in range(4)),
    ),
    "tangent_of_a_pool": (tangent_of_a_pool, floats(1, 5, 6, 2), floats(1, 5, 6, 2)),
    "second_derivative_of_a_pool": (second_derivative_of_a_pool, floats(1, 4, 5, 1), floats(1, 4, 5, 1)),
    "within_a_loop": (within_a_loop, floats(6)),
}

for name, (function, *inputs) in PROGRAMS.items():
    lowered = jax.jit(function).lower(*inputs)
    (HERE / f"{name}.mlir").write_text(lowered.as_text() + "\n")
    (HERE / f"{name}.hlo").write_text(lowered.as_text("hlo").rstrip() + "\n")
    outputs = jax.tree.leaves(lowered.compile()(*inputs))
    arrays = {f"input{number}": value for number, value in enumerate(inputs)}
    arrays |= {f"output{number}": np.asarray(value) for number, value in enumerate(outputs)}
    np.savez(HERE / f"{name}.npz", **arrays)
