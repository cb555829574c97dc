"""The names of ``jax.image``: arrays resized along axes, by weights of neighbours."""

from __future__ import annotations

import indim as _package  # Waits for a thread that imports the package.

import numpy as np

from ._functions import asarray, recorded
from ._products import tensordot

__all__ = ["ResizeMethod", "resize"]


class ResizeMethod:
    """JAX's names of the methods of ``resize``."""

    NEAREST, LINEAR, LANCZOS3, LANCZOS5, CUBIC = "nearest", "linear", "lanczos3", "lanczos5", "cubic"


def _triangle(x):
    return np.maximum(0, 1 - x)


def _cubic(x):
    """The kernel of Keys, with the parameter -0.5."""
    near = ((1.5 * x - 2.5) * x) * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x >= 2, 0, np.where(x >= 1, far, near))


def _lanczos(radius):
    def kernel(x):
        square = np.where(x != 0, np.pi**2 * x**2, 1)
        window = radius * np.sin(np.pi * x) * np.sin(np.pi * x / radius) / square
        return np.where(x > radius, 0, np.where(x > 1e-3, window, 1))

    return kernel


#: Weights of neighbours by their distance, by method.
_KERNELS = {
    **dict.fromkeys(("bilinear", "linear", "triangle", "trilinear"), _triangle),
    **dict.fromkeys(("bicubic", "cubic", "tricubic"), _cubic),
    "lanczos3": _lanczos(3),
    "lanczos5": _lanczos(5),
}


def resize(image, shape, method, antialias=True, precision=None):
    """An array of this shape whose elements are weighted means of neighbours, like JAX's ``resize``.

    ``method`` is ``nearest``, ``linear``, ``cubic``, ``lanczos3`` or ``lanczos5``. A smaller image takes the
    means of more neighbours with ``antialias``. Integers become ``float64``, except by ``nearest``.

    >>> import indim, numpy as np
    >>> indim.image.resize(np.array([0.0, 4.0]), (4,), "linear")
    array([0., 1., 3., 4.])
    """
    image, shape = recorded(image), tuple(int(size) for size in shape)
    sizes = tuple(image._used_shape() if hasattr(image, "_used_shape") else image.shape)
    if len(shape) != len(sizes):
        raise ValueError(f"resize takes one size for each of {len(sizes)} axes, not {len(shape)}")
    if method != "nearest" and method not in _KERNELS:
        names = ", ".join(map(repr, ("nearest", "linear", "cubic", "lanczos3", "lanczos5")))
        raise ValueError(f"resize has no method {method!r}: write one of {names}")
    if method != "nearest" and image.dtype.kind in "biu":
        image = image.astype(np.float64)
    for axis, (size, new) in enumerate(zip(sizes, shape)):
        if size == new:
            continue
        if method == "nearest":
            places = np.floor((np.arange(new, dtype=np.float32) + 0.5) * size / new).astype(np.int64)
            image = np.take(image, places, axis=axis)
        else:
            weights = _weights(size, new, _KERNELS[method], antialias).astype(image.dtype)
            image = np.moveaxis(tensordot(image, weights, axes=((axis,), (0,))), -1, axis)
    return image


def _weights(size, new, kernel, antialias):
    """The weight of each element of an axis in each of the new elements; 0 outside of the axis."""
    step = size / new if new else 1.0
    places = (np.arange(new) + 0.5) * step - 0.5
    distances = np.abs(places - np.arange(size)[:, None]) / (max(step, 1.0) if antialias else 1.0)
    weights = kernel(distances)
    total = weights.sum(axis=0, keepdims=True)
    is_some = np.abs(total) > 1000 * np.finfo(np.float32).eps
    weights = np.where(is_some, weights / np.where(total != 0, total, 1), 0)
    return np.where((places >= -0.5) & (places <= size - 0.5), weights, 0)


def __getattr__(name):
    if name == "scale_and_translate":
        raise AttributeError(
            f"indim.image has no {name!r}: write resize for a scale, and "
            "indim.scipy.ndimage.map_coordinates for other places"
        )
    raise AttributeError(f"indim.image has no {name!r}")
