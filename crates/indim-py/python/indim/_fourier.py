"""Fourier transforms, also NumPy's of traced values; `fft.py` has the public names."""

from __future__ import annotations

import operator

import numpy as np

from . import _functions
from ._advice import refuse_given
from ._functions import asarray
from ._handlers import implements
from ._shape_functions import axis_index

_NORMS = ("backward", "ortho", "forward")

#: The transforms of real numbers, and those of complex numbers.
_OF_REAL_NUMBERS = {"rfft": "fft", "rfft2": "fft2", "rfftn": "fftn", "ihfft": "ifft"}


def _transform(name, a, sizes, axes, norm):
    """The transform ``name`` of expressions."""
    norm = "backward" if norm is None else norm
    if norm not in _NORMS:
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    attributes = [("axis", [axis_index(axis, a.ndim) for axis in axes])]
    if sizes is not None:
        attributes.insert(0, ("n", sizes))
    if norm != "backward":
        attributes.append(("norm", norm))
    return _functions.apply(name, (a,), attributes)


def _along(name, doc):
    """The function ``name`` along one axis, which also handles NumPy's for traced values."""

    def function(a, n=None, axis=-1, norm=None, out=None):
        refuse_given(name, out=out)
        sizes = None if n is None else [operator.index(n)]
        a = _checked(name, asarray(a))
        return _transform(name, a, sizes, (operator.index(axis),), norm)

    return _named(function, name, doc)


def _along_several(name, several, default, doc):
    """The function ``name`` along several axes; ``several`` is its name in expressions."""

    def function(a, s=None, axes=default, norm=None, out=None):
        refuse_given(name, out=out)
        a = _checked(name, asarray(a))
        if axes is None:
            axes = range(a.ndim) if s is None else range(-len(s), 0)
        axes = [operator.index(axis) for axis in axes]
        if s is not None:
            # -1 is the size of the axis.
            pairs = zip(s, axes, strict=True)
            s = [a.shape[axis] if size == -1 else operator.index(size) for size, axis in pairs]
        if not axes and not name.startswith(("r", "ir")):
            return a
        if several == "irfftn" and len(axes) > 1 and a.dtype == np.float16:
            # The first transform of NumPy gives complex64.
            a = a.astype(np.float32)
        return _transform(several, a, s, axes, norm)

    return _named(function, name, doc)


def _checked(name, a):
    if name in _OF_REAL_NUMBERS and a.dtype.kind == "c":
        raise TypeError(
            f"{name} takes real numbers, and its operand is {a.dtype}: write {_OF_REAL_NUMBERS[name]} for "
            "complex ones"
        )
    return a


def _named(function, name, doc):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return implements(getattr(np.fft, name))(function)


fft = _along("fft", "The transform along an axis, cropped or padded with zeros to ``n`` elements.")
ifft = _along("ifft", "The inverse of ``fft``.")
rfft = _along("rfft", "The first ``n // 2 + 1`` elements of the ``fft`` of real numbers.")
irfft = _along("irfft", "The inverse of ``rfft``: ``n`` real numbers, by default ``2 * (size - 1)``.")
hfft = _along("hfft", "The ``fft`` of ``n`` elements with conjugate symmetry, given by their first half.")
ihfft = _along("ihfft", "The inverse of ``hfft``.")
fft2 = _along_several("fft2", "fftn", (-2, -1), "The transform along two axes.")
ifft2 = _along_several("ifft2", "ifftn", (-2, -1), "The inverse of ``fft2``.")
rfft2 = _along_several("rfft2", "rfftn", (-2, -1), "The ``fft2`` of real numbers; half of the last axis.")
irfft2 = _along_several("irfft2", "irfftn", (-2, -1), "The inverse of ``rfft2``.")
fftn = _along_several("fftn", "fftn", None, "The transform along several axes, by default all.")
ifftn = _along_several("ifftn", "ifftn", None, "The inverse of ``fftn``.")
rfftn = _along_several("rfftn", "rfftn", None, "The ``fftn`` of real numbers; half of the last axis.")
irfftn = _along_several("irfftn", "irfftn", None, "The inverse of ``rfftn``.")


@implements(np.fft.fftshift)
def fftshift(x, axes=None):
    """``x`` with the frequency 0 moved from the begin of each axis to its middle."""
    return _shifted(x, axes, lambda size: size // 2)


@implements(np.fft.ifftshift)
def ifftshift(x, axes=None):
    """The inverse of ``fftshift``."""
    return _shifted(x, axes, lambda size: -(size // 2))


def _shifted(x, axes, shift):
    x = asarray(x)
    if axes is None:
        axes = range(x.ndim)
    axes = tuple(axes) if hasattr(axes, "__iter__") else (axes,)
    return np.roll(x, tuple(shift(x.shape[axis]) for axis in axes), axes)


def fftfreq(n, d=1.0, *, dtype=None, device=None):
    """The frequency of each element of an ``fft``: ``d`` is the distance of samples."""
    return np.fft.fftfreq(n, d).astype(dtype or np.float64)


def rfftfreq(n, d=1.0, *, dtype=None, device=None):
    """The frequency of each element of an ``rfft``: ``d`` is the distance of samples."""
    return np.fft.rfftfreq(n, d).astype(dtype or np.float64)
