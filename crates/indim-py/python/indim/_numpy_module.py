"""NumPy for functions that pass traced values where NumPy asks for elements: ``np.array([x[0], 2.0])``,
``np.float32(x)``, ``y = np.zeros(3); y[0] = x[0]``.

NumPy's protocols do not cover these calls. A function that makes one is traced once more as a copy of itself
(`_indexable.py`), in which the module of this file stands for ``numpy``. Its functions give NumPy's results,
but take traced values; those that make arrays give arrays that traced values can be assigned to.
"""

from __future__ import annotations

import functools
import types

import numpy as np

from . import _traced_sizes
from ._functions import asarray, takes_lists
from ._indexable import indexable, made_in_function
from ._jax_numpy import ScalarType, as_traced, ndarray
from ._joined import Joined, bmat
from ._operands import as_array, has_tracer, tracer_of
from ._tracing import Tracer
from ._trees import leaves_of
from ._vectorize import vectorize


def _made(function):
    """A function that makes an array of numbers and traced values, such as ``np.array``."""

    @functools.wraps(function)
    def made(a, *args, **kwargs):
        if not has_tracer(a):
            return made_in_function(function(a, *args, **kwargs), (a,))
        kwargs.pop("like", None)
        return function(a, *args, like=tracer_of(leaves_of(a)), **kwargs)

    return made


def _filled(function):
    """A function that fills an array, such as ``np.zeros``: the array takes traced values."""

    @functools.wraps(function)
    def filled(shape, *args, **kwargs):
        kwargs.pop("like", None)
        if has_tracer(shape):
            dtype = args[0] if args else kwargs.get("dtype")
            return _traced_sizes.filled(shape, int(function is np.ones), dtype or np.float64)
        made = function(shape, *args, **kwargs)
        result = as_traced(made)._made_by_numpy()
        result._is_row_major = made.flags.c_contiguous
        return result

    return filled


def _full(shape, fill_value, dtype=None, order="C", *, device=None, like=None):
    """NumPy's ``full``."""
    if isinstance(fill_value, (list, tuple)) and has_tracer(fill_value):
        fill_value = as_array(fill_value)
    if has_tracer(shape):
        return _traced_sizes.filled(shape, fill_value, asarray(fill_value).dtype if dtype is None else dtype)
    if isinstance(fill_value, Tracer):
        fill_value = fill_value if dtype is None else fill_value.astype(dtype)
        return np.broadcast_to(fill_value, shape)._made_by_numpy()
    return as_traced(np.full(shape, fill_value, dtype))._made_by_numpy()


def _range(*args, **kwargs):
    """NumPy's ``arange``, whose numbers may be traced."""
    if has_tracer((args, kwargs)):
        return _traced_sizes.arange(*args, **kwargs)
    return made_in_function(np.arange(*args, **kwargs))


def _laid_out(function):
    """A function whose result has one layout in memory, such as ``np.asfortranarray``."""

    @functools.wraps(function)
    def laid_out(a, dtype=None, *args, **kwargs):
        if not has_tracer(a):
            return made_in_function(function(a, dtype, *args, **kwargs), (a,))
        result = np.asarray(a, dtype, like=tracer_of(leaves_of(a)))
        return result._shared_or_copied() if result is a and a.ndim > 1 else result

    return laid_out


def _constant(function):
    """A function whose array may be indexed by traced values and written into, such as ``np.eye``."""

    @functools.wraps(function)
    def constant(*args, **kwargs):
        return _indexable_result(function(*args, **kwargs), args)

    return constant


def _indexable_result(result, args):
    """The result of a function of NumPy of these arguments, whose arrays may be indexed by traced values."""
    if type(result) in (list, tuple):
        return type(result)(_indexable_result(part, args) for part in result)
    if type(result) is not np.ndarray:
        return result
    return made_in_function(result, [of for value in args for of in _members(value)])


class _Joined(Joined):
    """``np.r_`` and ``np.c_``, whose arrays may be indexed by traced values."""

    def __getitem__(self, key):
        return _indexable_result(super().__getitem__(key), key if isinstance(key, tuple) else (key,))


def _members(value):
    return value if isinstance(value, (list, tuple)) else (value,)


def _from_function(function, shape, **kwargs):
    """NumPy's ``fromfunction``, whose result may have the memory of any array."""
    return indexable(np.fromfunction(function, shape, **kwargs))


class _Ufunc:
    """A ufunc whose methods take lists with traced values: ``np.maximum.reduce([x, y])``."""

    def __init__(self, ufunc):
        self._ufunc = ufunc
        functools.update_wrapper(self, ufunc, updated=())

    def __call__(self, *args, **kwargs):
        return _indexable_result(self._ufunc(*args, **kwargs), args)

    def __getattr__(self, name):
        found = getattr(self._ufunc, name)
        if name in ("accumulate", "outer", "reduce", "reduceat"):
            return _constant(found if name == "outer" else takes_lists(found))
        return found


class _Type(ScalarType):
    """An element type that also converts traced values: ``np.float32(x)``."""

    def __call__(self, x=0, *args):
        if isinstance(x, Tracer):
            return np.asarray(x, self.dtype, like=x)
        return _indexable_result(self.dtype.type(x, *args), (x,))


#: Functions whose first argument is a list of arrays, or that take lists already.
_OF_LISTS = {
    *("block", "broadcast_arrays", "choose", "column_stack", "concat", "concatenate"),
    *("dstack", "einsum", "hstack", "ix_", "lexsort", "meshgrid", "piecewise", "select", "stack"),
    *("unravel_index", "ravel_multi_index", "vstack"),
}

_FILLED = {"empty", "ones", "zeros"}
_MADE = {"array", "asarray", "asanyarray", "ascontiguousarray"}
#: Functions that give an array of one memory layout, which a traced value does not have.
_LAID_OUT = {"asfortranarray", "require"}
_CONSTANT = {
    *("arange", "bartlett", "blackman", "diag", "diag_indices", "eye", "fromfunction", "fromiter"),
    *("geomspace", "hamming", "hanning", "identity", "indices", "kaiser", "linspace", "logspace", "tri"),
    *("tril_indices", "triu_indices", "vander"),
}


#: Functions that join a list of arrays, or of lists.
_JOINS = {"column_stack", "concat", "concatenate", "dstack", "hstack", "stack", "vstack"}


#: Functions that write values into an array, which lists with traced values may be.
_WRITERS = {"fill_diagonal", "place", "put", "putmask"}


def _writer(function):
    """A function that writes values into its first argument, for lists with traced values among them."""

    @functools.wraps(function)
    def writer(a, *args, **kwargs):
        args = [as_array(value) if isinstance(value, (list, tuple)) else value for value in args]
        kwargs = {name: as_array(of) if isinstance(of, list) else of for name, of in kwargs.items()}
        return function(a, *args, **kwargs)

    return writer


def _joined(function):
    """A function that joins arrays, for lists with traced values among them."""

    @functools.wraps(function)
    def joined(arrays, *args, **kwargs):
        if isinstance(arrays, (list, tuple)):
            arrays = [as_array(of) if isinstance(of, (list, tuple)) else of for of in arrays]
        return function(arrays, *args, **kwargs)

    return joined


def _counted(function):
    """A function whose second argument is traced for an array of numbers: ``np.repeat``, ``np.roll``."""

    @functools.wraps(function)
    def counted(a, counts, *args, **kwargs):
        if has_tracer(counts) and not isinstance(a, Tracer):
            a = as_traced(np.asarray(a))
        return function(a, counts, *args, **kwargs)

    return counted


def _replacement(name):
    """What stands for the name of NumPy."""
    found = getattr(np, name)
    if name == "full":
        return _full
    if name == "arange":
        return _range
    if name == "fromfunction":
        return _from_function
    if name == "bmat":
        return bmat
    if name == "ndarray":
        return ndarray
    if name == "vectorize":
        return vectorize
    if name in _LAID_OUT:
        return _laid_out(found)
    if name in _JOINS:
        return _constant(_joined(found))
    if name in _WRITERS:
        return _writer(found)
    if name in ("repeat", "roll"):
        return _counted(found)
    if name in ("r_", "c_"):
        return _Joined(found)
    for names, make in ((_FILLED, _filled), (_MADE, _made), (_CONSTANT, _constant)):
        if name in names:
            return make(found)
    if isinstance(found, np.ufunc):
        return _Ufunc(found)
    if isinstance(found, type) and issubclass(found, (np.number, np.bool_)) and found in _CONCRETE:
        return _Type(np.dtype(found).name)
    is_function = callable(found) and not isinstance(found, type) and hasattr(found, "__array_function__")
    is_function = is_function or type(found).__name__ == "_ArrayFunctionDispatcher"
    if not is_function:
        return found
    return _constant(found if name in _OF_LISTS else takes_lists(found))


#: Element types that convert.
_CONCRETE = {np.dtype(code).type for code in "?bhilqBHILQefdFD"}


class _Fourier(types.ModuleType):
    """``numpy.fft``, whose frequencies may be indexed by traced values."""

    fftfreq, rfftfreq = (staticmethod(_constant(of)) for of in (np.fft.fftfreq, np.fft.rfftfreq))

    def __getattr__(self, name):
        return getattr(np.fft, name)


class _Module(types.ModuleType):
    """``numpy``, with replacements that are made when they are read."""

    fft = _Fourier("numpy.fft")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = _replacement(name)
        setattr(self, name, found)
        return found

    def __dir__(self):
        return dir(np)


MODULE = _Module("numpy", np.__doc__)


def replacement(value):
    """What stands for a value that a function reads from outside: NumPy itself, or one of its names that
    makes arrays; otherwise None."""
    if value is np:
        return MODULE
    if value is np.fft:
        return MODULE.fft
    if type(value) is np.vectorize:
        options = value.otypes, None, value.excluded, False, value.signature
        return vectorize(value.pyfunc, *options)
    try:
        name = _NAMES.get(value)
    except TypeError:
        # Some values have no hash.
        return None
    return None if name is None else getattr(MODULE.fft if name in _FREQUENCIES else MODULE, name)


_FREQUENCIES = ("fftfreq", "rfftfreq")
_OTHERS = ("bmat", "full", "vectorize")
_NAMES = {getattr(np, name): name for name in (*_FILLED, *_MADE, *_CONSTANT, *_LAID_OUT, *_OTHERS)}
_NAMES |= {getattr(np.fft, name): name for name in _FREQUENCIES}
