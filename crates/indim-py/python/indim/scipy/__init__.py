"""The names of ``jax.scipy`` that compose indim's operations: `special.py`, `stats.py`, `signal.py`,
`ndimage.py`.
"""

import indim as _package  # Waits for a thread that imports the package.

from . import ndimage as ndimage, signal as signal, special as special, stats as stats

__all__ = ["ndimage", "signal", "special", "stats"]

#: Other modules of ``jax.scipy``, with advice.
_REFUSED = {
    "cluster": "write np.argmin(np.sum((x[:, None] - centres) ** 2, axis=-1), axis=1) for vq",
    "fft": "write indim.fft; there is no dct",
    "integrate": "write np.trapezoid",
    "interpolate": "write scipy.ndimage.map_coordinates(x, places, order=1) of indim, or np.interp",
    "linalg": "write np.linalg, whose functions take traced values; np.linalg.solve for solve_triangular, "
    "cho_solve and lu_solve, and np.linalg.cholesky(a).T for cholesky",
    "optimize": "write indim.grad within indim.fori_loop, or pass it to scipy.optimize.minimize as `jac=`",
    "sparse": "write indim.while_loop for an iteration, or np.linalg.solve",
    "spatial": "write the distances as np.sqrt(np.sum((x[:, None] - y[None]) ** 2, axis=-1))",
}


def __getattr__(name):
    if name in _REFUSED:
        raise AttributeError(f"indim.scipy has no {name!r} of JAX: {_REFUSED[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
