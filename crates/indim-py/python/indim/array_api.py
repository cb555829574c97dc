"""The namespace of the Python array API standard, version 2024.12, for arrays and traced values.

Functions have the standard's names and parameters, and NumPy's promotion, which contains the standard's. Some
accept more than the standard: lists and numbers as operands, and mixed kinds of types.
``x.__array_namespace__()`` of a traced value is this module, so libraries that support the standard can be
called in compiled functions.

>>> import indim, numpy as np
>>> from indim import array_api as xp
>>> indim.jit(lambda x: xp.sort(xp.clip(x, min=0.0), descending=True))(np.array([1.0, -2.0, 3.0]))
array([3., 1., 0.])

NumPy computes the functions of ``linalg`` for eigenvalues, singular values and orthogonal factors, between
two programs of a compiled function.
"""

from __future__ import annotations

import indim as _package  # Waits for a thread that imports the package.

import functools
from types import SimpleNamespace

import numpy as np

from . import fft, numpy
from ._arrays import numpy_dtype, indim_name
from ._tracing import Tracer

linalg = np.linalg

__array_api_version__ = "2024.12"

_CONSTANTS = ("e", "inf", "nan", "newaxis", "pi")

_TYPES = (
    *("bool", "complex64", "complex128", "float32", "float64"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
)

_FUNCTIONS = """
    abs acos acosh add all any arange argmax argmin asarray asin asinh astype atan atan2 atanh bitwise_and
    bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor broadcast_arrays broadcast_to
    ceil concat conj copysign cos cosh count_nonzero diff divide empty empty_like equal exp expm1 eye flip
    floor floor_divide full full_like greater greater_equal hypot iinfo imag isfinite isinf isnan less
    less_equal linspace log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor matmul
    matrix_transpose max maximum mean meshgrid min minimum moveaxis multiply negative nextafter nonzero
    not_equal ones ones_like permute_dims positive pow prod real reciprocal remainder repeat reshape
    result_type roll round sign signbit sin sinh sqrt square squeeze stack std subtract sum take
    take_along_axis tan tanh tensordot tile tril triu trunc unique_all unique_counts unique_inverse
    unique_values unstack var vecdot where zeros zeros_like
""".split()


#: Functions that make arrays, which programs may write into.
_MAKERS = {
    *("arange", "empty", "empty_like", "eye", "full", "full_like", "linspace", "ones", "ones_like", "zeros"),
    "zeros_like",
}


def _writable(function):
    @functools.wraps(function)
    def made(*args, **kwargs):
        result = function(*args, **kwargs)
        return result._made_by_numpy() if isinstance(result, Tracer) else result

    return made


def can_cast(from_, to, /):
    """Whether values of a type, or of an array's type, may be converted to the type ``to``."""
    return np.can_cast(_dtype(from_), _dtype(to))


def _dtype(of):
    # A class such as `np.int8` has an attribute `dtype` for its instances.
    return numpy_dtype(indim_name(of if isinstance(of, type) else getattr(of, "dtype", of)))


def isdtype(dtype, kind):
    """Whether an element type is of a kind: a type, the name of a kind, or a tuple of these."""
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return np.isdtype(_dtype(dtype), tuple(it if isinstance(it, str) else _dtype(it) for it in kinds))


def finfo(type, /):
    """The limits of a type of floats, or of an array's type, as Python's numbers."""
    limits = np.finfo(_dtype(type))
    names = ("eps", "max", "min", "smallest_normal")
    numbers = {name: float(getattr(limits, name)) for name in names}
    return SimpleNamespace(bits=limits.bits, **numbers, dtype=limits.dtype)


def clip(x, /, min=None, max=None):
    """``x`` with elements below ``min`` and above ``max`` replaced by these; its type stays."""
    clipped = numpy.clip(x, min=min, max=max)
    dtype = getattr(x, "dtype", clipped.dtype)
    return clipped if clipped.dtype == dtype else clipped.astype(dtype)


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    """The sums of all elements up to each; ``include_initial`` begins with 0."""
    return numpy.cumulative_sum(x, axis=axis, dtype=dtype, include_initial=include_initial)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    """The products of all elements up to each; ``include_initial`` begins with 1."""
    return numpy.cumulative_prod(x, axis=axis, dtype=dtype, include_initial=include_initial)


def sort(x, /, *, axis=-1, descending=False, stable=True):
    """``x`` sorted along ``axis``. Sorts are always stable."""
    return numpy.sort(x, axis=axis, descending=descending)


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    """The positions that sort ``x`` along ``axis``. Sorts are always stable."""
    return numpy.argsort(x, axis=axis, descending=descending)


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    """The positions at which the elements of ``x2`` keep ``x1`` sorted; ``sorter`` sorts ``x1``."""
    return numpy.searchsorted(x1, x2, side=side, sorter=sorter)


def expand_dims(x, /, axis=0):
    """``x`` with new axes of size 1 at the positions ``axis`` of the result."""
    return numpy.expand_dims(x, axis)


def from_dlpack(x, /, *, device=None, copy=None):
    """The array of another library, by DLPack, without a copy if possible."""
    return x if isinstance(x, Tracer) else np.from_dlpack(x, device=device, copy=copy)


def __array_namespace_info__():
    """The devices and element types of this namespace."""
    return np.__array_namespace_info__()


__all__ = sorted(
    {*_CONSTANTS, *_TYPES, *_FUNCTIONS, "argsort", "can_cast", "clip", "cumulative_prod", "cumulative_sum"}
    | {"expand_dims", "fft", "finfo", "from_dlpack", "isdtype", "linalg", "searchsorted", "sort"}
    | {"__array_api_version__", "__array_namespace_info__"}
)


def __getattr__(name):
    # Names are looked up at their first use, because the import takes longer.
    if name in _CONSTANTS:
        found = getattr(np, name)
    elif name in _MAKERS:
        found = _writable(getattr(numpy, name))
    elif name == "special":
        from ._other_ufuncs import SpecialFunctions

        # SciPy looks for this extension, which the standard proposes.
        found = SpecialFunctions()
    elif name in _FUNCTIONS or name in _TYPES:
        found = getattr(numpy, "bool_" if name == "bool" else name)
    else:
        # Programs that ask a traced value for its namespace may use other functions of indim.
        import indim

        if name.startswith("_") or not hasattr(indim, name):
            raise AttributeError(f"the array API has no {name!r}, and neither has indim")
        found = getattr(indim, name)
    return globals().setdefault(name, found)


def __dir__():
    return __all__
