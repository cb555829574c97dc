"""The names of ``jax.scipy.signal`` for sums of products: convolutions along all axes."""

from __future__ import annotations

import indim as _package  # Waits for a thread that imports the package.

import numpy as np

from .._absent import absent
from .._functions import asarray
from .._loops import record_or_run

__all__ = ["convolve", "convolve2d", "correlate", "correlate2d", "fftconvolve"]


def convolve(in1, in2, mode="full", method="auto", precision=None):
    """The convolution of two arrays of one rank, by sums of products."""
    in1, in2 = asarray(in1), asarray(in2)
    return _windowed(in1, np.flip(in2), mode)


def correlate(in1, in2, mode="full", method="auto", precision=None):
    """The cross-correlation of two arrays of one rank, by sums of products."""
    in1, in2 = asarray(in1), asarray(in2)
    return _windowed(in1, np.conj(in2) if in2.dtype.kind == "c" else in2, mode)


def fftconvolve(in1, in2, mode="full", axes=None):
    """The convolution of two arrays over all axes, by sums of products."""
    if axes is not None:
        raise NotImplementedError("fftconvolve convolves over all axes: write indim.vmap for the others")
    return convolve(in1, in2, mode)


def convolve2d(in1, in2, mode="full", boundary="fill", fillvalue=0, precision=None):
    """The convolution of two matrices."""
    _check_matrices(in1, in2, boundary, fillvalue)
    return convolve(in1, in2, mode)


def correlate2d(in1, in2, mode="full", boundary="fill", fillvalue=0, precision=None):
    """The cross-correlation of two matrices."""
    _check_matrices(in1, in2, boundary, fillvalue)
    in1, in2 = asarray(in1), asarray(in2)
    if mode == "same":
        # SciPy's middle of an even number of sums is the later one here, and the earlier one elsewhere.
        in1, mode = np.pad(in1, [(size - 1 - size // 2, size // 2) for size in in2.shape]), "valid"
    return correlate(in1, in2, mode)


def _check_matrices(in1, in2, boundary, fillvalue):
    if boundary != "fill" or fillvalue != 0:
        raise NotImplementedError("the boundary is 'fill' with fillvalue=0: write np.pad, then mode='valid'")
    if np.ndim(in1) != 2 or np.ndim(in2) != 2:
        raise ValueError("convolve2d and correlate2d take two matrices")


def _windowed(x, kernel, mode):
    """The sums of products of a kernel with the windows of an array, with the same bits everywhere."""
    return record_or_run("convolve", _recorded_windowed, (_sums,), (mode,), (x, kernel))


def _recorded_windowed(functions, mode, recording, arguments):
    return _sums(*map(asarray, arguments), mode)


def _sums(x, kernel, mode):
    if x.ndim != kernel.ndim or x.ndim == 0:
        raise ValueError(f"the arrays have {x.ndim} and {kernel.ndim} axes, and need one number, at least 1")
    sizes = tuple(kernel.shape)
    if 0 in sizes or 0 in tuple(x.shape):
        raise ValueError("the arrays of a convolution have elements")
    if mode == "full":
        widths = [(size - 1, size - 1) for size in sizes]
    elif mode == "same":
        # The part of the full result around its middle.
        widths = [(size - 1 - (size - 1) // 2, (size - 1) // 2) for size in sizes]
    elif mode == "valid":
        widths = [(0, 0)] * x.ndim
        if any(size > of for size, of in zip(sizes, x.shape)):
            if any(size < of for size, of in zip(sizes, x.shape)):
                raise ValueError("mode='valid' takes an array that is the larger one along each axis")
            return np.flip(_sums(kernel, x, mode))
    else:
        raise ValueError(f"the mode is 'full', 'same' or 'valid', not {mode!r}")
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, widths), sizes)
    return np.tensordot(windows, kernel, x.ndim)


def __getattr__(name):
    raise absent(__name__, name)
