"""Distances between all pairs of points, without the temporaries of rank 3."""

import numpy as np

import indim


@indim.jit
def distances(ax, ay, az, bx, by, bz):
    def squared(a, b):
        difference = indim.sub(a[:, None], b[None, :])
        return difference * difference

    return np.sqrt(squared(ax, bx) + squared(ay, by) + squared(az, bz))


random = np.random.default_rng(0)
a, b = random.standard_normal((1000, 3)), random.standard_normal((800, 3))
# The columns of the tables are views with a stride; nothing is copied.
result = distances(*a.T, *b.T)

assert np.allclose(result, np.linalg.norm(a[:, None] - b[None], axis=2), rtol=1e-14)
print(f"{result.shape}: the nearest pair is {result.min():.5f} apart")
