"""The jobs of ``programs.py`` that draw random numbers, or reduce windows."""

import numpy as np

import indim
from engines import by_indim, by_jax, by_models, jax, jnp, loaded
from scans_and_sorts import MANY, jobs, normal, random


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


# Windows.


@jobs("max pool 3x3/2 [8, 64, 112, 112]", 2)
def max_pool():
    x = normal(8, 64, 112, 112)
    pool = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4}
    window, strides, padding = (1, 1, 3, 3), (1, 1, 2, 2), ((0, 0), (0, 0), (1, 1), (1, 1))
    return {
        "indim": by_indim(
            lambda x: indim.lax.reduce_window(x, -np.inf, np.maximum, window, strides, padding), x
        ),
        "JAX": by_jax(lambda x: jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, window, strides, padding), x),
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
