"""Writes `docs/numpy.md`, the list of NumPy's names: `python make_numpy_page.py`, with the package installed.

With `--check` it only reports whether the page is up to date. The names are those of NumPy 2.4.
"""

import sys
import textwrap
from pathlib import Path

import numpy as np
from indim import _host_calls, _refused
from indim._assignments import UPDATES
from indim._reduceat import SEGMENTS
from indim._handlers import ACCUMULATIONS, ARRAY_FUNCTIONS, REDUCTIONS
from indim._tracing import Tracer
from indim._ufunc_methods import MAX_SEGMENTS

PAGE = Path(__file__).parents[2] / "docs" / "numpy.md"

#: Functions of sizes, types and numbers. NumPy computes them while a function is traced.
WITHOUT_ARRAYS = (
    *("arange", "bartlett", "blackman", "broadcast_shapes", "diag_indices", "eye", "fromfunction"),
    *("hamming", "hanning", "identity", "indices", "isdtype", "isscalar", "issubdtype", "iterable"),
    *("kaiser", "mask_indices", "promote_types", "tri", "tril_indices", "triu_indices"),
)

#: Functions that make an array of numbers and traced values, and conversions to an element type.
MAKE_ARRAYS = (
    *("array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "c_", "empty"),
    *("float32(x)", "full", "ones", "r_", "require", "zeros"),
)

#: Functions and classes that convert their argument to an array of NumPy, and the code to write instead.
NEED_ARRAYS = {
    "asarray_chkfinite": "`indim.asarray(x)`, and return `np.isfinite(x).all()`",
    "isfortran": "leave it out: a traced value has no memory",
    "nditer": "operations on whole arrays",
    "poly1d": "its coefficients, in `np.polyval` and the like",
}

#: Functions of files, texts and settings.
OTHER = (
    *("asmatrix", "base_repr", "binary_repr", "bmat", "datetime_data", "format_float_positional"),
    *("format_float_scientific", "from_dlpack", "frombuffer", "fromfile", "fromiter", "frompyfunc"),
    *("fromregex", "fromstring", "genfromtxt", "get_include", "get_printoptions", "getbufsize", "geterr"),
    *("geterrcall", "info", "load", "loadtxt", "mintypecode", "nested_iters", "printoptions", "row_stack"),
    *("set_printoptions", "setbufsize", "seterr", "seterrcall", "show_config", "show_runtime", "test"),
    "typename",
)

BETWEEN = "[NumPy computes it between two programs](python.md#products-of-arrays)"

#: Differences of functions that work.
NOTES = {
    "apply_along_axis": "the function is recorded for one row, and runs for all rows at once",
    "average": "weights whose sum is 0 give NaN or an infinity, where NumPy raises an error",
    "bincount": "a `minlength` is the size of the result: an element that is not less is an `IndexError`",
    "choose": "an index out of range is an `IndexError`, where NumPy raises a `ValueError`",
    "cov": "the signs of traced weights, and whether `fweights` are integers, are not checked",
    "full_like": "`shape` is known while the function is traced",
    "geomspace": "real numbers; an end of 0 gives NaN, where NumPy raises an error",
    "histogram": "`bins` is a number, or edges; traced edges are not checked for their order; NaN among the "
    "elements gives edges of NaN, where NumPy raises an error",
    "histogram_bin_edges": "as for `histogram`",
    "histogram2d": "as for `histogram`",
    "histogramdd": "as for `histogram`",
    "insert": "the positions are known while the function is traced",
    "ix_": "no truth values that are traced",
    "linalg.lstsq": "NumPy computes it between two programs if `a` is traced; later writes to a known `a` "
    "have no effect",
    **dict.fromkeys(sorted(f"linalg.{name}" for name in _host_calls.NAMES), BETWEEN),
    "roots": BETWEEN,
    "linalg.matrix_norm": "as for `linalg.norm`",
    "linalg.cholesky": "a matrix that is not positive definite gives NaN, not `LinAlgError`",
    "linalg.det": "the result of loops, not of LAPACK: the last digits differ",
    "linalg.inv": "a singular matrix gives infinities or NaN, not `LinAlgError`",
    "linalg.slogdet": "as for `linalg.det`",
    "linalg.solve": "as for `linalg.inv`",
    "linalg.norm": "for `ord` of 2, -2 and `'nuc'` of a matrix, NumPy computes the singular values between "
    "two programs",
    "pad": "`mode` is no function",
    "poly": "up to 64 real roots",
    "polydiv": "up to 64 steps",
    "ravel": "`order` is `'C'` or `'F'`",
    "reshape": "`order` is `'C'` or `'F'`",
    "trim_zeros": "arrays of one axis",
    "unique": "slices along an axis have up to 256 elements",
    "nanquantile": "`method` is `'linear'`",
    "nanpercentile": "`method` is `'linear'`",
    "polyfit": "traced `x` or `w` have a degree up to 5, and no warning of a low rank; known ones are read "
    "while the function is traced, so later writes to them have no effect; no `full`, no `cov`",
    "piecewise": "each function is called on all of `x`, so it must be element-wise",
    "quantile": "`q` is known while the function is traced; traced `weights` that are negative, not finite "
    "or all 0 give NaN, or an `IndexError` for integers, where NumPy raises a `ValueError`",
    "ravel_multi_index": "an index out of range is an `IndexError`, where NumPy raises a `ValueError`",
    "unravel_index": "an index out of range is an `IndexError`, where NumPy raises a `ValueError`",
    "percentile": "as for `quantile`",
}

HEAD = """# NumPy's names

This page is made by `crates/indim-py/make_numpy_page.py`. It lists the functions of `numpy`,
`numpy.fft` and `numpy.linalg` in NumPy 2.4, its ufuncs, and the methods of arrays, in a [compiled
function](python.md#compiled-functions). Outside of compiled functions NumPy itself computes them.

Ufuncs and `np.clip` take `out=`, with `where=` or without, if it is an array that the function has
made, as in `np.divide(x, y, out=np.zeros_like(x), where=y != 0)`. All elements are computed, then
the mask chooses; so a gradient is NaN at masked elements whose derivative is infinite or NaN. Every
other function that has the keyword `out=` writes into such an array too, and so do methods along
axes, as in `x.sum(axis=0, out=y)`; the array then has the shape of the result. Ufuncs of two
results and the methods `round`, `dot`, `take`, `choose`, `compress` and `trace` take no `out=`.
`order=` and `subok=` of ufuncs have no effect, and ufuncs take no `axes=`: the message says what to
write instead. [python.md](python.md#differences-from-numpy) and
[numpy-differences.md](numpy-differences.md) list differences in values. A test compares each name
that works with NumPy, on random arrays of nine element types.
"""


def functions():
    """NumPy's functions that are passed to traced values, by name without `numpy`."""
    passed = type(np.sum)
    found = {name: getattr(np, name) for name in np.__all__}
    for module in ("fft", "linalg"):
        of_module = getattr(np, module)
        found |= {f"{module}.{name}": getattr(of_module, name) for name in of_module.__all__}
    return {name: function for name, function in sorted(found.items()) if isinstance(function, passed)}


def ufuncs():
    """The names of NumPy's ufuncs."""
    return sorted(name for name in np.__all__ if isinstance(getattr(np, name), np.ufunc))


def working_functions():
    working = [name for name, function in functions().items() if function in ARRAY_FUNCTIONS]
    return [name for name in working if name not in _refused.REFUSED]


def refused_functions():
    return [name for name in functions() if name in _refused.REFUSED]


def working_ufuncs():
    return [name for name in ufuncs() if name not in _refused.REFUSED_UFUNCS]


def methods():
    """The names of the methods and attributes of arrays."""
    return [name for name in dir(np.ndarray) if not name.startswith("_")]


def working_methods():
    return [name for name in methods() if hasattr(Tracer, name) and name not in _refused.REFUSED_METHODS]


def unclassified():
    """Names that no part of the page has, or several."""
    listed = [
        *working_functions(), *refused_functions(), *_refused.NOT_FOR_INDIM, *working_methods(),
        *_refused.REFUSED_METHODS, *WITHOUT_ARRAYS, *MAKE_ARRAYS, *NEED_ARRAYS, *OTHER,
    ]  # fmt: skip
    others = [
        name
        for name in np.__all__
        if callable(getattr(np, name)) and not isinstance(getattr(np, name), (type, np.ufunc))
    ]
    wanted = {*functions(), *methods(), *others}
    return sorted(name for name in wanted if name not in listed)


def names(listed):
    """Names in one paragraph."""
    return textwrap.fill(", ".join(f"`{name}`" for name in listed), 100, break_on_hyphens=False) + "\n"


def table(head, rows):
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, ["---"] * len(head), *rows))


def page():
    """The text of the page."""
    refused = [(f"`{name}`", *_refused.REFUSED[name]) for name in refused_functions()]
    refused += [(f"`{name}`", *_refused.REFUSED_UFUNCS[name]) for name in sorted(_refused.REFUSED_UFUNCS)]
    reasons = {}
    for name, reason in _refused.NOT_FOR_INDIM.items():
        reasons.setdefault(reason, []).append(f"`{name}`")
    reduced, accumulated = sorted(REDUCTIONS), sorted(ACCUMULATIONS)
    return "\n".join(
        [
            HEAD,
            "## Works\n",
            "Functions:\n",
            names(working_functions()),
            "Ufuncs:\n",
            names(working_ufuncs()),
            "Every ufunc of two operands has `outer`, `reduce`, `accumulate`, `reduceat` and `at`. They\n"
            "compute at once `reduce` of\n"
            f"{names(reduced).rstrip()},\n"
            f"`accumulate` of\n{names(accumulated).rstrip()},\n`reduceat` of\n"
            f"{names(sorted(SEGMENTS)).rstrip()},\nand `at` of\n{names(sorted(UPDATES)).rstrip()}.\n"
            "Other ufuncs combine one element after another, in NumPy's order; their `reduceat` takes\n"
            f"up to {MAX_SEGMENTS} segments.\n",
            "Methods and attributes of arrays:\n",
            names(working_methods()),
            "NumPy itself computes functions of sizes, types and numbers while a function is traced, so\n"
            "these work, and `mgrid`, `ogrid` and `r_` of numbers:\n",
            names(WITHOUT_ARRAYS),
            "These make arrays of numbers and traced values; `float32(x)` stands for every element type\n"
            "([python.md](python.md#assignments-and-new-arrays)):\n",
            names(MAKE_ARRAYS),
            "`at` of ufuncs, and the functions and methods that write into an array, write into arrays that\n"
            "the function has made, not into its arguments.\n",
            "Some functions differ from NumPy's:\n",
            table(("function", "difference"), [(f"`{name}`", note) for name, note in sorted(NOTES.items())]),
            "## Refused\n",
            "The message of each has the reason and the replacement.\n",
            table(("function", "reason", "instead"), refused),
            "These functions and classes need a NumPy array, which a traced value is not:\n",
            table(("function", "instead"), [(f"`{name}`", text) for name, text in NEED_ARRAYS.items()]),
            "Methods and attributes of arrays:\n",
            table(
                ("method", "instead"),
                [(f"`{name}`", text) for name, text in sorted(_refused.REFUSED_METHODS.items())],
            ),
            "## Not for indim\n",
            "Compute these before the call, and pass the results as arguments.\n",
            table(("reason", "functions"), [(reason, ", ".join(of)) for reason, of in reasons.items()]),
            "Functions of files, texts and settings take no traced values:\n",
            names(OTHER).rstrip(),
            "",
        ]
    )


def main():
    """Writes or checks."""
    missing = unclassified()
    if missing:
        print(f"no part of the page has {', '.join(missing)}")
        return 1
    if "--check" in sys.argv:
        is_stale = not PAGE.exists() or PAGE.read_text() != page()
        if is_stale:
            print("docs/numpy.md is not up to date; run make_numpy_page.py")
        return int(is_stale)
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
