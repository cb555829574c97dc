"""Fourier transforms: the functions of ``numpy.fft``, and their names in ``jax.numpy.fft``.

They work on arrays and inside of compiled functions, where ``np.fft`` gives the same results. The transform
is computed in 64 bits and rounded once to ``complex64`` or ``float32`` for elements of at most 32 bits.
Results have the same bits on every machine and for any number of threads.

>>> import indim
>>> indim.fft.rfft([1.0, 2.0, 3.0, 4.0])
array([10.+0.j, -2.+2.j, -2.+0.j])
"""

from __future__ import annotations

import indim as _package  # Waits for a thread that imports the package.

from ._fourier import fft, fft2, fftfreq, fftn, fftshift, hfft, ifft, ifft2, ifftn, ifftshift, ihfft
from ._fourier import irfft, irfft2, irfftn, rfft, rfft2, rfftfreq, rfftn

__all__ = [
    *("fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft"),
    *("irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn"),
]
