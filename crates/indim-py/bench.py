"""The Python package against NumPy, numexpr and JAX: `cargo xtask bench-python` prints the README's table.

Every engine computes the same job on the same arrays, and the results are compared. Times are the best
of rounds in which the engines take turns, in microseconds. Engines that are not installed are left out.
"""

import functools
import math
import os
import time

import numpy as np

import indim


def best_of_each(calls, seconds=10):
    """The shortest time of each call in microseconds. Calls take turns, so other work on the machine affects
    all of them alike."""
    counts = {}
    for engine, call in calls.items():
        call()
        start = time.perf_counter()
        call()
        counts[engine] = max(1, min(20_000, int(0.02 / max(time.perf_counter() - start, 1e-7))))
    shortest = dict.fromkeys(calls, math.inf)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for engine, call in calls.items():
            # The previous engine left its threads awake and the caches full.
            for _ in range(3):
                call()
            start = time.perf_counter()
            for _ in range(counts[engine]):
                call()
            shortest[engine] = min(shortest[engine], (time.perf_counter() - start) / counts[engine] * 1e6)
    return shortest


def optional(name):
    """A module, or ``None``."""
    try:
        return __import__(name)
    except ImportError:
        return None


numexpr = optional("numexpr")
jax = optional("jax")
if jax is not None:
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")


def standardise(np, x, m, s, g, b):
    return (x - m) * s * g + b


def multiply_add(np, x, y):
    return x * y + 1


def waves(np, a, b):
    return np.sin(a) ** 2 + np.cos(b) ** 2


def outer(np, u, v, x):
    return np.exp(u) * np.tanh(v) + x


def points(np, p, t):
    return p * 1.5 + t


random = np.random.default_rng(0)


def floats(*shape):
    return random.standard_normal(shape, dtype=np.float32)


#: A job: its name, the function, its text, and its arrays by name.
JOBS = [
    ("x*y + 1, 64 f64", multiply_add, "x * y + 1", {"x": random.random(64), "y": random.random(64)}),
    ("x*y + 1, 64 KiB f32", multiply_add, "x * y + 1", {"x": floats(16384), "y": floats(16384)}),
    (
        "(x-m)*s*g+b, [4096, 4096] f32",
        standardise,
        "(x - m) * s * g + b",
        {"x": floats(4096, 4096), "m": floats(4096), "s": floats(4096), "g": floats(4096), "b": floats(4096)},
    ),
    (
        "sin(a)^2 + cos(b)^2, 4 M f64",
        waves,
        "sin(a)**2 + cos(b)**2",
        {"a": random.random(1 << 22), "b": random.random(1 << 22)},
    ),
    (
        "exp(u)*tanh(v) + X, [4096, 4096] f32",
        outer,
        "exp(u) * tanh(v) + x",
        {"u": floats(4096, 1), "v": floats(4096), "x": floats(4096, 4096)},
    ),
    ("p*1.5 + t, [4 M, 3] f32", points, "p * 1.5 + t", {"p": floats(1 << 22, 3), "t": floats(3)}),
]


def engines(function, text, arrays):
    """``(name, call)`` of every engine for a job."""
    values = list(arrays.values())
    compiled = indim.jit(functools.partial(function, np))
    out = np.empty_like(compiled(*values))
    yield "jit", lambda: compiled(*values)
    yield "jit, out=", lambda: compiled(*values, out=out)
    yield "evaluate", lambda: indim.evaluate(text, arrays, {})
    yield "NumPy", lambda: function(np, *values)
    if numexpr is not None:
        yield "numexpr", lambda: numexpr.evaluate(text, arrays, {})
    if jax is not None:
        on_device = [jax.numpy.asarray(value) for value in values]
        jitted = jax.jit(functools.partial(function, jax.numpy))
        yield "JAX", lambda: jitted(*on_device).block_until_ready()


def main():
    """Prints the table."""
    print(f"{os.cpu_count()} processors, {indim.get_num_threads()} threads; microseconds a call\n")
    columns = ["jit", "jit, out=", "evaluate", "NumPy", "numexpr", "JAX"]
    print("| job | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for name, function, text, arrays in JOBS:
        expected = function(np, *arrays.values())
        calls = dict(engines(function, text, arrays))
        for call in calls.values():
            np.testing.assert_allclose(np.asarray(call()), expected, rtol=2e-5, atol=1e-5)
        times = best_of_each(calls)
        print(f"| {name} | " + " | ".join(cell(times.get(column)) for column in columns) + " |", flush=True)


def cell(microseconds):
    """A time as the table shows it."""
    if microseconds is None:
        return ""
    return f"{microseconds:,.2f}" if microseconds < 100 else f"{microseconds:,.0f}"


if __name__ == "__main__":
    main()
