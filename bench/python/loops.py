"""The jobs of ``programs.py`` that are loops of many steps."""

import numpy as np

import indim
from engines import by_indim, by_jax, by_numba, by_numpy, jax, jnp, model, onnx, prange, run_model
from scans_and_sorts import SOME, jobs, normal, random


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


def numba_scan(start):
    x = start.copy()
    for _ in range(10000):
        for i in range(x.size):
            x[i] = x[i] * np.float32(0.999) + np.float32(0.001)
    return x


@jobs("scan, 10,000 steps of 64", 0.6)
def scan():
    x = normal(64)
    step = lambda state, _: (state * np.float32(0.999) + np.float32(0.001), None)
    return {
        "indim": by_indim(lambda x: indim.scan(step, x, None, 10000)[0], x),
        "NumPy": by_numpy(lambda x: numpy_steps(lambda s: step(s, None)[0], 10000, x), x),
        "JAX": by_jax(lambda x: jax.lax.scan(step, x, None, 10000)[0], x),
        "numba": by_numba(numba_scan, x, parallel=False),
    }


def numba_ode(start, rates):
    state = start.copy()
    half, whole, two, sixth = np.float32(0.0005), np.float32(0.001), np.float32(2), np.float32(0.001 / 6)
    one = np.float32(1)
    for _ in range(10000):
        for i in range(state.size):
            s, rate = state[i], rates[i]
            a = rate * s * (one - s)
            at = s + half * a
            b = rate * at * (one - at)
            at = s + half * b
            c = rate * at * (one - at)
            at = s + whole * c
            d = rate * at * (one - at)
            state[i] = s + (a + two * (b + c) + d) * sixth
    return state


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
    rates = np.float32(1) + start
    calls = loops(step, step, 10000, start, rates)
    return {**calls, "numba": by_numba(numba_ode, start, rates, parallel=False)}


def numba_heat(start):
    x, following = start.copy(), np.empty_like(start)
    last = x.size - 1
    for _ in range(1000):
        for i in prange(x.size):
            around = x[i - 1 if i else last] + x[i + 1 if i < last else 0]
            following[i] = x[i] + np.float32(0.1) * (around - np.float32(2) * x[i])
        x, following = following, x
    return x


@jobs("heat equation, 1,000 steps of 1 Mi")
def heat():
    def function(roll):
        return lambda x: x + np.float32(0.1) * (roll(x, 1) + roll(x, -1) - np.float32(2) * x)

    x = normal(SOME)
    calls = loops(function(np.roll), function(jnp.roll if jnp else None), 1000, x)
    return {**calls, "numba": by_numba(numba_heat, x)}


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
        **lstm_models(*arguments),
    }


def lstm_models(xs, w, u):
    """The layer by its operator, whose weights are constants with the gates in the order i o f c."""
    if not onnx:
        return {}

    def weights(matrix):
        i, f, g, o = np.split(matrix.T, 4)
        return np.concatenate([i, o, f, g])[None]

    constants = [weights(w), weights(u)]
    content = model("LSTM", [xs[:, None]], constants, hidden_size=u.shape[0])
    return run_model(content, xs[:, None])
