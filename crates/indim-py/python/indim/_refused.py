"""NumPy's functions, ufuncs and methods that cannot be traced: the reason, and the code to write instead.

`make_numpy_page.py` lists them in `docs/numpy.md`.
"""

from __future__ import annotations

import difflib

from ._member_advice import instead_of_member

_SIZE = "the size of its result depends on data"
_ELEMENTS = "it needs elements, which are not known while a function is traced"
_MEMORY = "a traced value has no memory"
_IS_ARRAY = "leave it out, because a Series is an array while the function is traced"
_AFTER = "return x from the compiled function, and call it on the result"
_BEFORE = "compute it before the call and pass it as an argument"

#: Functions of `numpy.emath`, and the code to write.
_OF_COMPLEX = {
    **{name: f"np.{name}(x.astype(complex))" for name in ("arccos", "arcsin", "arctanh", "log", "log10")},
    **{name: f"np.{name}(x.astype(complex))" for name in ("log2", "sqrt")},
    "logn": "np.log(x.astype(complex)) / np.log(n)",
    "power": "x.astype(complex) ** p",
}

#: By name: the reason, and the advice.
REFUSED = {
    **{
        f"lib.scimath.{name}": ("the type of its result depends on data", f"write `{code}`")
        for name, code in _OF_COMPLEX.items()
    },
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

_DATES, _TEXTS = "it computes with dates", "it computes with texts"

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

def function_message(function):
    """The message for a function of NumPy that cannot be traced."""
    module = function.__module__.removeprefix("numpy").lstrip(".")
    name = f"{module}.{function.__name__}".lstrip(".")
    if name in REFUSED:
        reason, advice = REFUSED[name]
        return f"numpy.{name} cannot be traced, because {reason}: {advice}"
    reason = _TEXTS if module in ("char", "strings") else NOT_FOR_INDIM.get(name)
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


def method_message(value, name, type_=object, is_frame=False):
    """The message for a method or attribute that the traced value called ``value`` of the class ``type_``
    lacks. ``is_frame`` says that it stands for a DataFrame."""
    if name == "__dlpack__":
        advice = "leave `from_dlpack` out, because it is an array already"
        return f"`{value}` is traced, and a traced value has no `{name}`: {advice}"
    if name in REFUSED_METHODS:
        return f"`{value}` is traced, and a traced value has no `{name}`: {REFUSED_METHODS[name]}"
    member = instead_of_member(name)
    if member is not None:
        library, instead = member
        return f"`{value}` is traced as an array, which has no `{name}` {library}: write {instead}"
    if is_frame:
        return (
            f"`{value}` is traced as an array, which has no `{name}`: pass the column as an argument, "
            f"f({value}[{name!r}])"
        )
    close = difflib.get_close_matches(name, [*dir(type_), *REFUSED_METHODS], 1, 0.7)
    meant = f"; did you mean `{close[0]}`?" if close else ""
    return (
        f"`{value}` is traced as an array, which has no `{name}`{meant}; write a function of NumPy or of "
        f"indim for it, or {_BEFORE}"
    )
