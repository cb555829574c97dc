"""Every operation under NumPy's rule (right-aligned axes, sizes of 1 expand, element types are promoted), and
the names of ``jax.numpy``: ``import indim.numpy as jnp`` runs programs written for JAX.
"""

import indim as _package  # Waits for a thread that imports the package.

from ._operations import export

export(globals(), "numpy")
del export

from . import _jax_numpy, fft as fft  # noqa: E402

_jax_numpy.complete(globals())


def __getattr__(name):
    return _jax_numpy.of_numpy(name)
