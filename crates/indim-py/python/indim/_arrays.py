"""Array-like objects as NumPy arrays, and NumPy's casting rules. Called by the compiled part."""

from __future__ import annotations

import operator
import re

import numpy as np

from . import _foreign
from ._indim import _element_types
from ._trees import is_node, mapped

#: NumPy's names of the element types.
NUMPY_NAMES = dict(_element_types())

_INDIM_NAMES = {numpy: indim for indim, numpy in NUMPY_NAMES.items()}

_ARRAY_PROTOCOLS = ("__array__", "__array_interface__", "__array_struct__")


#: indim's names with another meaning in NumPy, which counts bytes while indim counts bits. Strings in Python
#: have NumPy's meaning, and indim has no type for NumPy's long double.
_NAMES_IN_BYTES = ("i4", "i8", "u4", "u8", "f16")


def numpy_dtype(name):
    """The NumPy dtype of an element type, given by indim's name."""
    try:
        return np.dtype(NUMPY_NAMES[name])
    except TypeError:
        # NumPy has no such type itself.
        import ml_dtypes

    return np.dtype(getattr(ml_dtypes, NUMPY_NAMES[name]))


#: For each kind of NumPy type that indim lacks, what to write instead of a conversion to it.
_ADVICE_OF_TYPES = {
    **dict.fromkeys("Mm", "compute with int64, the counts of a unit, and write .view('M8[s]') outside"),
    **dict.fromkeys("SU", "return numbers, and call .astype(str) on the result"),
    "O": "write a type of numbers; containers of arrays may be arguments and results",
    "V": "write an array for each field, and pass them in a dict",
    "c": "write 'c16', of two float64",
    "f": "write 'f8'",
}


def indim_name(dtype):
    """indim's name of an element type in any spelling of NumPy.

    A string has NumPy's meaning: ``"i8"`` is int64, of 8 bytes. Strings that NumPy lacks have indim's:
    ``"i32"``.
    """
    if isinstance(dtype, str):
        if dtype == "f16":
            raise TypeError(
                "'f16' is a long double to NumPy, which indim has not; half precision is 'float16' or 'f2'"
            )
        if dtype in NUMPY_NAMES and dtype not in _NAMES_IN_BYTES:
            return dtype
        if dtype in _INDIM_NAMES:
            return _INDIM_NAMES[dtype]
    name = np.dtype(dtype).name
    if name not in _INDIM_NAMES:
        advice = _ADVICE_OF_TYPES.get(np.dtype(dtype).kind)
        raise TypeError(f"indim has no element type {name}" + (f": {advice}" if advice else ""))
    return _INDIM_NAMES[name]


_OF_TEXTS = "pass {0}.astype(float) if they are numbers, or codes: np.unique({0}, return_inverse=True)[1]"
_OF_TIMES = "pass {0}.view('i8'), the counts of its unit, in which NaT is the least integer"

#: For each kind of NumPy type that indim lacks, what to pass instead of such an array.
_ADVICE_OF_KINDS = {
    "M": _OF_TIMES,
    "m": _OF_TIMES,
    "O": "pass {0}.astype(float), or of another type of numbers",
    "S": _OF_TEXTS,
    "U": _OF_TEXTS,
    "f": "pass {0}.astype('f8')",
    "c": "pass {0}.astype('c16')",
    "V": "pass its fields, as in {0}['field'], one by one",
}


def as_array(value, name):
    """``value`` as an array in native byte order, without a copy if its protocols allow it.

    Objects other than plain arrays in memory are refused: see ``_foreign.py``. The compiled part gives the
    columns of polars and pyarrow among them to an engine.
    """
    if _foreign.is_masked(value):
        raise TypeError(f"`{name}` is a masked array; compute on `{name}.data`, or on `{name}.filled(...)`")
    if isinstance(value, np.ndarray):
        return _native(value, value, name)
    _foreign.refuse(value, name)
    if hasattr(value, "__dlpack__") and not any(hasattr(value, p) for p in _ARRAY_PROTOCOLS):
        array = np.from_dlpack(value)
    else:
        array = np.asarray(value)
    return _native(array, value, name)


def array_of(value, name):
    """Like ``as_array``, where no engine computes: columns of polars and pyarrow are arrays."""
    return as_array(_foreign.without_package(value, name), name)


def _native(array, value, name):
    if array.dtype.name not in _INDIM_NAMES:
        kind = "an object" if array.dtype == object else f"an array of {array.dtype}"
        is_of_numpy = isinstance(value, (np.ndarray, np.generic))
        advice = _ADVICE_OF_KINDS.get(array.dtype.kind) if is_of_numpy else _advice_of_result(value, name)
        raise TypeError(
            f"`{name}` is {kind} ({type(value).__name__}); indim computes with numbers and bool"
            + (f": {advice.format(name)}" if advice else "")
        )
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array


def _advice_of_result(value, name):
    """What to return instead of an object of Python from a compiled function; None for arguments, which have
    advice of their own."""
    if name != "result":
        return None
    if isinstance(value, (str, bytes)):
        return "return numbers, and make the text of the result of the call"
    if hasattr(value, "dist") and hasattr(value, "args"):
        return "return what it computes, as by indim.scipy.stats, or its parameters, and make it outside"
    if callable(value):
        called = getattr(value, "__name__", "f")
        return f"return its results, {called}(...), and not the function" if called != "<lambda>" else (
            "return its results, and not the function"
        )
    if isinstance(value, (set, frozenset)):
        return "return a tuple or list, whose order is known"
    return "return arrays, or tuples, lists and dicts of arrays; indim.tree_util registers other classes"


def not_an_array_error(error, value, name):
    """The error of an argument that is not an array, with advice."""
    is_array = isinstance(value, np.ndarray) or _foreign.has_advice(type(value))
    if is_array or type(error) is not TypeError:
        return error
    parameter, is_field = re.split(r"[\[.]", name)[0].lstrip("*"), "." in name
    field = ", or give its field the metadata {'static': True}" if is_field else ""
    return TypeError(
        f"{error}. Name an argument that is not an array in `static=`, as in "
        f"indim.jit(f, static={parameter!r}), or as in JAX in `static_argnames=`{field}"
    )


def check_cast(from_name, to_name, casting):
    """Raises NumPy's error of a result that may not be cast."""
    source, target = numpy_dtype(from_name), numpy_dtype(to_name)
    if not np.can_cast(source, target, casting=casting):
        raise TypeError(f"cannot cast the result from {source} to {target} of `out` with casting={casting!r}")


_TYPE = re.compile(r"\s*(?P<dtype>\w+)?\s*\[(?P<sizes>[\d\s,]*)\]\s*")


_TYPE_WITH_NAMES = re.compile(r"\s*\w*\s*\[[^\]]*[^\W\d][^\]]*\]\s*")


def is_type_with_names(value):
    """Whether the text is a type with names of sizes or axes: ``"f32[n, 3]"``."""
    return isinstance(value, str) and _TYPE_WITH_NAMES.fullmatch(value) is not None


def placeholder(value):
    """A type such as ``"f32[2, 3]"`` as an array of this type without memory, also in containers; anything
    else as it is.

    Types are written as in messages, so ``"i8[3]"`` has elements of 8 bits. A name that counts bytes
    (``"i4[3]"``) is refused.
    """
    if is_node(value):
        return mapped(value, placeholder)
    if not isinstance(value, str):
        return foreign_placeholder(value, "an argument")
    match = _TYPE.fullmatch(value)
    if match is None:
        if is_type_with_names(value):
            raise ValueError(f"{value!r} has names, which types in `indim.explain(expression, ...)` may have")
        raise ValueError(f"{value!r} is not a type; write 'f32[2, 3]'")
    name = match["dtype"] or "f32"
    name = _INDIM_NAMES.get(name, name)
    if name not in NUMPY_NAMES:
        raise ValueError(f"{value!r} has no element type of indim; write one of {', '.join(NUMPY_NAMES)}")
    sizes = [int(size) for size in match["sizes"].split(",") if size.strip()]
    return np.broadcast_to(np.zeros((), numpy_dtype(name)), sizes)


def foreign_placeholder(value, description):
    """An array of another package as an array of its type, whose elements are not read; anything else
    as it is.

    DataArrays are excluded, because their axes meet by name.
    """
    package = _foreign.package_of(value)
    if package in ("dask", "cubed") and hasattr(value, "shape"):
        return np.broadcast_to(np.zeros((), value.dtype), value.shape)
    if package == "pandas":
        _foreign.refuse_nulls(value, description)
        return value.to_numpy()
    if package in ("polars", "pyarrow"):
        return _foreign.without_package(value, description)
    if package == "xarray":
        raise TypeError(
            f"{description} is a {type(value).__name__} of xarray, whose dimensions meet by name: "
            'DataArrays are explained with rule="named" by `indim.explain(expression, ...)`; '
            "`.values` meets by position"
        )
    return value


def integers(values):
    """Axes or sizes as a list; a single one may be a number."""
    refuse_traced((values,))
    values = [values] if isinstance(values, int) else values
    return [operator.index(value) for value in values]


def refuse_traced_fractions(q):
    """Refuses traced fractions or percentages of a quantile."""
    if getattr(type(q), "_is_tracer", False):
        raise TypeError(
            f"`{q._value_text}` says which quantiles are taken, and is known while a function is traced: "
            f"name it in `static=`, as in indim.jit(f, static={q._value_text!r}); for traced fractions q of "
            "an array of one axis write np.interp(q * (x.size - 1), np.arange(x.size), np.sort(x))"
        )


def refuse_traced(values):
    """Refuses a traced array among axes or sizes, which are known while a function is traced."""
    for value in values:
        if getattr(type(value), "_is_tracer", False):
            name = value._value_text
            if name == "constant":
                # The name of arrays that `indim.numpy` makes.
                advice = "write a tuple, or an array of NumPy, for an array that indim.numpy makes"
            else:
                advice = f"name it in `static=`, as in indim.jit(f, static={name!r})"
            raise TypeError(
                f"`{name}` says axes or sizes, which are known while a function is traced: {advice}"
            )
