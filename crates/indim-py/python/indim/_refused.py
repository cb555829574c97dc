"""NumPy's functions, ufuncs and methods that cannot be traced: the reason, and the code to write instead.

`make_numpy_page.py` lists them in `docs/numpy.md`.
"""

from __future__ import annotations

import sys

_SIZE = "the size of its result depends on data"
_ELEMENTS = "it needs elements, which are not known while a function is traced"
_MEMORY = "a traced value has no memory"
_IS_ARRAY = "leave it out, because a Series is an array while the function is traced"
_AFTER = "return x from the compiled function, and call it on the result"
_BEFORE = "compute it before the call and pass it as an argument"

#: By name: the reason, and the advice.
REFUSED = {
    "array2string": (_ELEMENTS, _AFTER),
    "array_repr": (_ELEMENTS, _AFTER),
    "array_str": (_ELEMENTS, _AFTER),
    "can_cast": ("it takes types", "write `np.can_cast(x.dtype, dtype)`"),
    "in1d": (_SIZE, "write `np.isin(x, values)`"),
    "may_share_memory": (_MEMORY, "leave it out: operations return new arrays"),
    "min_scalar_type": (_ELEMENTS, "write `x.dtype`"),
    "real_if_close": ("the type of its result depends on data", "write `x.real`"),
    "save": (_ELEMENTS, _AFTER),
    "savetxt": (_ELEMENTS, _AFTER),
    "savez": (_ELEMENTS, _AFTER),
    "savez_compressed": (_ELEMENTS, _AFTER),
    "shares_memory": (_MEMORY, "leave it out: operations return new arrays"),
}

#: Ufuncs by name: the reason, and the advice.
REFUSED_UFUNCS = {
    "isnat": ("indim does not compute with dates", _BEFORE),
}

_DATES = "it computes with dates"

#: Functions whose subject is not that of indim, by module and name: the reason.
NOT_FOR_INDIM = {
    **dict.fromkeys(("busday_count", "busday_offset", "datetime_as_string", "is_busday"), _DATES),
}

#: Methods and attributes of arrays: the code to write instead.
REFUSED_METHODS = {
    "base": "leave it out: a traced value is not a view of memory",
    "byteswap": "call it before the call: indim computes in the byte order of the machine",
    "ctypes": "pass the result of the compiled function to C",
    "data": "leave it out: a traced value has no memory",
    "dump": _AFTER,
    "dumps": _AFTER,
    "flags": "leave it out: a traced value has no memory",
    "getfield": "call it before the call",
    "item": "write `x[i]` and compute with the array of rank 0, or return it",
    "resize": "write `y = np.resize(x, shape)`",
    "setfield": "call it before the call",
    "setflags": "leave it out: a traced value has no memory",
    "strides": "leave it out: a traced value has no memory",
    "tobytes": _AFTER,
    "to_numpy": _IS_ARRAY,
    "tofile": _AFTER,
    "tolist": "iterate over a short axis by `for row in x`, or return x and call it on the result",
    "values": _IS_ARRAY,
    "view": "write `x.astype(dtype)` to convert elements; for the same bits call it before the call",
}

#: Methods of Series of pandas: the code to write instead.
_OF_SERIES = {
    "abs": "np.abs(x)",
    "apply": "f(x) of the whole array",
    "between": "(low <= x) & (x <= high)",
    "corr": "np.corrcoef(x, y)[0, 1]",
    "cov": "np.cov(x, y)[0, 1]",
    "diff": "np.diff(x), which has one element less",
    "ewm": "indim.scan(lambda m, v: (m + alpha * (v - m),) * 2, x[0], x)[1]",
    "expanding": "np.cumsum(x) / np.arange(1, x.size + 1) for means",
    "fillna": "np.where(np.isnan(x), value, x)",
    "groupby": "indim.segment_sum(x, codes, n) of integers from 0, such as pd.factorize gives",
    "iloc": "x[i]",
    "isna": "np.isnan(x)",
    "isnull": "np.isnan(x)",
    "map": "f(x) of the whole array",
    "mask": "np.where(mask, other, x)",
    "median": "np.median(x)",
    "nlargest": "indim.top_k(x, n)[0]",
    "notna": "~np.isnan(x)",
    "nunique": "np.unique(x).size",
    "pct_change": "x[1:] / x[:-1] - 1, which has one element less",
    "quantile": "np.quantile(x, q)",
    "rank": "np.argsort(np.argsort(x)) + 1 for elements that differ",
    "rolling": "np.lib.stride_tricks.sliding_window_view(x, n).mean(axis=-1) for means",
    "sem": "np.std(x, ddof=1) / np.sqrt(x.size)",
    "shift": "np.concatenate([[np.nan], x[:-1]])",
    "sort_values": "np.sort(x)",
    "unique": "np.unique(x), whose elements are sorted",
    "value_counts": "np.unique(x, return_counts=True)",
    "where": "np.where(mask, x, other)",
}


def function_message(function):
    """The message for a function of NumPy that cannot be traced."""
    module = function.__module__.removeprefix("numpy").lstrip(".")
    name = f"{module}.{function.__name__}".lstrip(".")
    if name in REFUSED:
        reason, advice = REFUSED[name]
        return f"numpy.{name} cannot be traced, because {reason}: {advice}"
    reason = NOT_FOR_INDIM.get(name)
    if reason is not None:
        return f"numpy.{name} cannot be traced, because {reason}, which indim does not do: {_BEFORE}"
    return (
        f"numpy.{name} is none of the functions that can be traced: write it by operators, np.where, "
        "reductions and slices, or compute it before the call and pass it as an argument"
    )


def ufunc_message(name):
    """The message for a ufunc that cannot be traced."""
    reason, advice = REFUSED_UFUNCS.get(name, ("indim has no operation of this name", _BEFORE))
    return f"numpy.{name} cannot be traced, because {reason}: {advice}"


def method_message(value, name):
    """The message for a method or attribute that the traced value called ``value`` lacks."""
    if name == "__dlpack__":
        advice = "leave `from_dlpack` out, because it is an array already"
        return f"`{value}` is traced, and a traced value has no `{name}`: {advice}"
    if name in REFUSED_METHODS:
        return f"`{value}` is traced, and a traced value has no `{name}`: {REFUSED_METHODS[name]}"
    if name in _OF_SERIES:
        instead = _OF_SERIES[name]
        return f"`{value}` is traced as an array, which has no `{name}` of pandas: write {instead}"
    if "pandas" in sys.modules:
        column = f", and the column of a DataFrame too, f({value}[{name!r}])"
    else:
        column = ""
    return (
        f"an array has no `{name}` while the function is traced: indim computes element by element and "
        f"reduces along axes; compute it before the call and pass it as an argument{column}"
    )
