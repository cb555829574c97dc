"""Distances between all pairs of points, without the temporaries of rank 3."""

import numpy as np

import indim


@indim.jit
def distances(a, b):
    return np.sqrt(np.sum((a[:, None] - b[None]) ** 2, axis=-1))


random = np.random.default_rng(0)
a, b = random.standard_normal((1000, 3)), random.standard_normal((800, 3))
result = distances(a, b)

assert np.allclose(result, np.linalg.norm(a[:, None] - b[None], axis=2), rtol=1e-14)
print(f"{result.shape}: the nearest pair is {result.min():.5f} apart")
