"""Functions of ``jax.numpy`` with keywords that NumPy's functions lack: sizes of sets, the type of a sum, the
precision of products, and hints.
"""

from __future__ import annotations

import functools

import numpy as np

from ._functions import asarray
from ._shape_functions import weakly_promoted
from ._sizes_from_data import _differs_from_previous, _Places, unique

#: Keywords that say how JAX computes, and nothing about the result, by function.
HINTS = {
    **dict.fromkeys(("dot", "einsum", "inner", "matmul", "outer", "polyfit", "tensordot"), ("precision",)),
    **dict.fromkeys(("convolve", "correlate", "vdot", "vecdot"), ("precision",)),
    "delete": ("assume_unique_indices",),
    "digitize": ("method",),
    "isin": ("method",),
    "polyval": ("unroll",),
    "roots": ("strip_zeros",),
}

#: Those of functions of ``jax.numpy.linalg``.
_HINTS_OF_LINALG = {
    "eigh": ("symmetrize_input",),
    "lstsq": ("numpy_resid",),
    "multi_dot": ("precision",),
    "slogdet": ("method",),
}


def without_hints(own, hints):
    """A function that ignores these keywords."""

    def function(*args, **keywords):
        return own(*args, **{name: keywords[name] for name in keywords if name not in hints})

    function.__dict__.update(getattr(own, "__dict__", {}))
    return functools.update_wrapper(function, own)


def setdiff1d(ar1, ar2, assume_unique=False, *, size=None, fill_value=None):
    """NumPy's ``setdiff1d``; with ``size`` of this size, filled with ``fill_value`` or 0."""
    if size is None:
        return np.setdiff1d(ar1, ar2, assume_unique)
    x = np.ravel(asarray(ar1))
    x = x if assume_unique else np.sort(x)
    mask = ~np.isin(x, asarray(ar2))
    mask = mask if assume_unique else mask & _differs_from_previous(x, True)
    return _Places(mask, size).collect(x, x.dtype.type(0 if fill_value is None else fill_value))


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False, *, size=None, fill_value=None):
    """NumPy's ``intersect1d``; with ``size`` of this size, filled with ``fill_value`` or the least element.
    Indices are filled with the size of their array."""
    if size is None:
        return np.intersect1d(ar1, ar2, assume_unique, return_indices)
    dtype = weakly_promoted(ar1, ar2)
    x, y = (np.ravel(asarray(of)).astype(dtype) for of in (ar1, ar2))
    order, other_order = (np.argsort(of, kind="stable") for of in (x, y))
    x, y = x[order], y[other_order]
    mask = np.isin(x, y) & _differs_from_previous(x, True)
    found = _filled(x, mask, size, fill_value)
    if not return_indices:
        return found
    of_second = np.searchsorted(y, x)
    places = _Places(mask, size)
    of_second = np.take(other_order, of_second, mode="clip") if y.size else of_second
    sizes = (np.int64(of.size) for of in (x, y))
    return found, *(places.collect(*pair) for pair in zip((order, of_second), sizes))


def setxor1d(ar1, ar2, assume_unique=False, *, size=None, fill_value=None):
    """NumPy's ``setxor1d``; with ``size`` of this size, filled with ``fill_value`` or the least element."""
    if size is None:
        return np.setxor1d(ar1, ar2, assume_unique)
    dtype = weakly_promoted(ar1, ar2)
    x, y = (np.ravel(asarray(of)).astype(dtype) for of in (ar1, ar2))
    both = np.sort(np.concatenate([x, y]))
    mask = (np.isin(both, x) != np.isin(both, y)) & _differs_from_previous(both, True)
    return _filled(both, mask, size, fill_value)


def _filled(x, mask, size, fill_value):
    """The elements for which ``mask`` is true, in order, and then ``fill_value``, or the first of them."""
    places = _Places(mask, size)
    if fill_value is not None:
        return places.collect(x, x.dtype.type(fill_value))
    found = places.collect(x, x.dtype.type(0))
    return np.where(np.arange(places.size) < np.sum(mask), found, found[:1])


def _of_unique(name, *returned):
    """One of NumPy's functions ``unique_all``, ``unique_counts`` and the like, with ``size``."""

    def function(x, *, size=None, fill_value=None):
        own = getattr(np, name)
        if size is None:
            return own(x)
        results = unique(x, *returned, equal_nan=False, size=size, fill_value=fill_value)
        return type(own(np.zeros(1)))(*results) if any(returned) else results

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"NumPy's ``{name}``; ``size`` and ``fill_value`` are those of ``unique``."
    return function


def interp(x, xp, fp, left=None, right=None, period=None):
    """NumPy's ``interp``; with ``left`` or ``right`` as ``"extrapolate"`` the line at this end goes on."""
    ends = [None if isinstance(of, str) and of == "extrapolate" else of for of in (left, right)]
    found = np.interp(*(asarray(of) for of in (x, xp, fp)), *ends, period)
    xp, fp = asarray(xp), asarray(fp)
    if ends == [left, right] or period is not None or xp.shape[0] < 2:
        return found
    for given, end, next_to, is_outside in ((left, 0, 1, np.less), (right, -1, -2, np.greater)):
        if isinstance(given, str):
            slope = (fp[next_to] - fp[end]) / (xp[next_to] - xp[end])
            found = np.where(is_outside(x, xp[end]), fp[end] + (x - xp[end]) * slope, found)
    return found


def polymul(a1, a2, *, trim_leading_zeros=False):
    """The product of polynomials; unlike NumPy's, and as in JAX, it keeps leading zeros by default."""
    if trim_leading_zeros:
        return np.polymul(a1, a2)
    return np.convolve(*(np.atleast_1d(asarray(of)) for of in (a1, a2)))


def polydiv(u, v, *, trim_leading_zeros=True):
    """NumPy's ``polydiv``, whose remainder has no leading zeros."""
    if not trim_leading_zeros:
        raise TypeError("polydiv leaves leading zeros of the remainder out, as in NumPy: omit the keyword")
    return np.polydiv(u, v)


def mask_indices(n, mask_func, k=0, *, size=None):
    """NumPy's ``mask_indices``; with ``size`` of this size, filled with 0."""
    # The mask has ones, so that functions of zero elements tell what they keep.
    found = np.nonzero(mask_func(np.ones((n, n), int), k))
    if size is None:
        return found
    return tuple(np.pad(of[:size], (0, max(size - len(of), 0))) for of in found)


def with_type_of_elements(own):
    """A sum or product whose ``promote_integers=False`` keeps the type of integers, as in JAX."""

    def function(a, *args, promote_integers=True, **keywords):
        if not promote_integers and asarray(a).dtype.kind in "iu" and keywords.get("dtype") is None:
            keywords["dtype"] = asarray(a).dtype
        return own(a, *args, **keywords)

    function.__dict__.update(getattr(own, "__dict__", {}))
    return functools.update_wrapper(function, own)


def with_element_type(own):
    """A convolution whose result has the type ``preferred_element_type``, if it is given."""

    def function(*args, preferred_element_type=None, **keywords):
        found = own(*args, **keywords)
        return found if preferred_element_type is None else found.astype(np.dtype(preferred_element_type))

    return functools.update_wrapper(function, own)


class Linalg:
    """``numpy.linalg``, whose functions ignore JAX's hints."""

    def __getattr__(self, name):
        found = getattr(np.linalg, name)
        hints = _HINTS_OF_LINALG.get(name)
        return found if hints is None else without_hints(found, hints)

    def __dir__(self):
        return dir(np.linalg)


#: By name, what stands for functions of NumPy.
FUNCTIONS = {
    **{function.__name__: function for function in (interp, intersect1d, mask_indices, polydiv, polymul)},
    **{function.__name__: function for function in (setdiff1d, setxor1d)},
    "convolve": with_element_type(without_hints(np.convolve, HINTS["convolve"])),
    "correlate": with_element_type(without_hints(np.correlate, HINTS["correlate"])),
    "linalg": Linalg(),
    "unique_all": _of_unique("unique_all", True, True, True),
    "unique_counts": _of_unique("unique_counts", False, False, True),
    "unique_inverse": _of_unique("unique_inverse", False, True, False),
    "unique_values": _of_unique("unique_values", False, False, False),
}
