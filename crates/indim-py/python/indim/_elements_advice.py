"""Advice for functions of SciPy and NumPy that ask for the elements of a traced value."""

from __future__ import annotations

import numpy as np

from ._scipy_advice import INSTEAD_OF_SCIPY

#: Maximum number of frames between a call of a function and its request for elements.
MAX_FRAMES = 16

_BEFORE = "call it before the call and pass the result as an argument"
_SERIES = "write np.polynomial.polynomial.polyval(x, coefficients) or np.polyval(coefficients, x) for powers"

#: The advice for functions and classes of NumPy, by name.
_OF_NUMPY = {
    **dict.fromkeys(("chebval", "hermval", "hermeval", "lagval", "legval", "polyval"), _SERIES),
    **dict.fromkeys(("ABCPolyBase", "Polynomial", "Chebyshev", "Legendre"), _SERIES),
    **dict.fromkeys(
        ("masked_where", "masked_invalid", "masked_array", "MaskedArray", "array"),
        "write np.where(mask, other, x), and np.sum(x, where=~mask) for reductions",
    ),
    "as_strided": "write np.lib.stride_tricks.sliding_window_view(x, shape), slices or reshape",
    "assert_allclose": "return the value, and check the result of the call",
    "assert_array_equal": "return the value, and check the result of the call",
    "assert_array_almost_equal": "return the value, and check the result of the call",
    "ndenumerate": "write `for index in np.ndindex(x.shape)` and x[index], or operations on whole arrays",
}


def of_function(frame):
    """The kind of function that asks for elements in ``frame`` and its advice; None for other functions."""
    frames = list(_library_frames(frame))
    scipy = [frame for frame in frames if _module(frame)[0] == "scipy"]
    if scipy:
        return "a function of SciPy", _of_scipy(scipy)
    for frame in reversed(frames):
        owner = type(frame.f_locals.get("self")).__name__
        for name in (frame.f_code.co_name, owner):
            is_masked = name not in ("array", "MaskedArray") or _module(frame)[:2] == ["numpy", "ma"]
            if name in _OF_NUMPY and is_masked:
                return f"numpy's {name}", f"{_OF_NUMPY[name]}; or {_BEFORE}"
    return None


def _library_frames(frame):
    """The frames of NumPy and SciPy from ``frame`` outwards, the innermost first."""
    for _ in range(MAX_FRAMES):
        if frame is None or _module(frame)[0] not in ("numpy", "scipy", "functools"):
            return
        yield frame
        frame = frame.f_back


def _module(frame):
    return (frame.f_globals.get("__name__") or "").split(".")


def _of_scipy(frames):
    """The advice for a call of SciPy with these frames, the outermost last."""
    instead = None
    for frame in frames:
        instead = _instead_of_scipy(frame) or instead
    return (
        f"{f'write {instead}, or ' if instead else ''}{_BEFORE}; functions of SciPy that take arrays of any "
        "library work with the environment variable SCIPY_ARRAY_API=1"
    )


def _instead_of_scipy(frame):
    """The code to write instead of the function of a frame, or None."""
    from . import scipy

    module, name = (*_module(frame), "")[1], frame.f_code.co_name
    found = getattr(scipy, module, None)
    distribution = type(frame.f_locals.get("self")).__name__.removesuffix("_gen")
    if module == "stats" and hasattr(getattr(found, distribution, None), name):
        return f"indim.scipy.stats.{distribution}.{name}"
    if name in getattr(found, "__all__", ()):
        return f"indim.scipy.{module}.{name}"
    if module == "fft" and name in np.fft.__all__:
        return f"np.fft.{name}"
    # A class of SciPy asks for elements when an object is made.
    places = [(module, name), (module, type(frame.f_locals.get("self")).__name__)]
    # Decorators of SciPy call the function that they decorate by a local name.
    for of in ("hypotest_fun_in", "func", "fun", "f"):
        decorated = frame.f_locals.get(of)
        own_module = [*(getattr(decorated, "__module__", None) or "").split("."), ""][1]
        places += [(of_module, getattr(decorated, "__name__", "")) for of_module in (module, own_module)]
    found = (INSTEAD_OF_SCIPY.get(f"{of_module}.{of}") for of_module, of in places)
    return next(filter(None, found), None)


#: The code to write instead of methods of NumPy's random generators and of Python's functions, by name.
_INSTEAD = {
    "choice": "indim.random.choice(key, x), or x[order] with rng.integers(len(x), size=n) as argument",
    "max": "np.max(x) for max(x), and np.maximum(x, y) for max(x, y)",
    "min": "np.min(x) for min(x), and np.minimum(x, y) for min(x, y)",
    "permutation": "indim.random.permutation(key, x), or x[order] with rng.permutation(len(x)) as argument",
    "sorted": "np.sort(x) for sorted(x)",
}


def of_scikit_learn(frame):
    """The advice for a frame of scikit-learn; None for others."""
    if _module(frame)[0] != "sklearn":
        return None
    if _module(frame)[1:] == ["utils", "validation"]:
        return "write sklearn.set_config(assume_finite=True), without which scikit-learn checks all elements"
    return f"{_BEFORE}; metrics of regression with multioutput='raw_values' return arrays"


def of_names(frame, names):
    """The advice for the function of these names that the code of a frame mentions, or None."""
    known = frame.f_code.co_names
    found = [name for name in names if name in known and not {"array", "asarray"} & set(known)]
    return "write " + "; ".join(_INSTEAD[name] for name in found) if found else None
