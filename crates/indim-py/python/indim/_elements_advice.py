"""Advice for functions of libraries and of Python that ask for the elements of a traced value."""

from __future__ import annotations

import os

import numpy as np

from . import _captured, _library_calls
from ._library_advice import CONVERSIONS, instead_of
from ._scipy_advice import INSTEAD_OF_SCIPY, WITH_NAMESPACES

_BEFORE = "call it before the call and pass the result as an argument"


def of_function(frame):
    """The function of a library that asks for elements in ``frame`` and its advice; None for other code, and
    for functions that make arrays."""
    name = _library_calls.called(frame)
    if name is None or name.partition(".")[0] not in _library_calls.LIBRARIES or _is_conversion(name):
        return None
    return name, advice_of(name, _library_calls.library_frames(frame))


def _is_conversion(name):
    """Whether the name is that of a function that makes an array, or of an element type."""
    package, _, rest = name.partition(".")
    is_type = isinstance(getattr(np, rest, None), type) and issubclass(getattr(np, rest), np.generic)
    return package == "numpy" and (rest in CONVERSIONS or is_type)


def advice_of(name, frames=()):
    """The advice for a function of a library by its full name; ``frames`` are those within it, the innermost
    first."""
    package = name.partition(".")[0]
    if package == "scipy":
        return _of_scipy(name, frames)
    instead = instead_of(name)
    if instead is None:
        return _BEFORE
    written = instead if instead.startswith(("return ", "leave ")) else f"write {instead}"
    return f"{written}; or {_BEFORE}"


def _of_scipy(name, frames):
    """The advice for a function of SciPy."""
    instead = _instead_of_scipy(name, [frame for frame in frames if _module(frame)[0] == "scipy"])
    advice = f"{f'write {instead}, or ' if instead else ''}{_BEFORE}"
    if name in WITH_NAMESPACES and not os.environ.get("SCIPY_ARRAY_API"):
        advice += "; it takes traced values if the environment variable SCIPY_ARRAY_API is 1"
    return advice


def _instead_of_scipy(name, frames):
    """The code to write instead of a function of SciPy, or None."""
    found = instead_of_scipy(name)
    for frame in frames:
        found = found or instead_of_scipy(f"scipy.{(*_module(frame), '')[1]}.{frame.f_code.co_name}")
    return found


def instead_of_scipy(name):
    """The code to write instead of a function of SciPy by its full name, or None."""
    from . import scipy

    _, module, *parts = (*name.replace("()", "").split("."), "", "")
    parts = [part for part in parts if part]
    found = getattr(scipy, module, None) if module in scipy.__all__ else None
    for part in parts:
        found = getattr(found, part, None) if part in _names_of(found) else None
    if found is not None and parts:
        return ".".join(["indim.scipy", module, *parts])
    if module == "fft" and parts[:1] and parts[0] in np.fft.__all__:
        return f"np.fft.{parts[0]}"
    return INSTEAD_OF_SCIPY.get(f"{module}.{parts[-1] if parts else ''}")


def _names_of(found):
    """The public names of a module of indim, or of a distribution."""
    return getattr(found, "__all__", None) or vars(found) if found is not None else ()


def _module(frame):
    return (frame.f_globals.get("__name__") or "").split(".")


#: Names of the module ``math`` that NumPy spells differently, or indim has.
_OF_MATH = {
    **{name: f"indim.scipy.special.{name}" for name in ("erf", "erfc", "gamma")},
    "dist": "np.linalg.norm",
    "fsum": "np.sum",
    "lgamma": "indim.scipy.special.gammaln",
    **{name: f"np.{name.replace('a', 'arc', 1)}" for name in ("acos", "acosh", "asin", "asinh")},
    **{name: f"np.{name.replace('a', 'arc', 1)}" for name in ("atan", "atanh")},
    "atan2": "np.arctan2",
    "pow": "np.power",
    "remainder": "np.fmod",
}


def of_math(frame):
    """The advice for a function of ``math`` that the code of a frame calls; None for other code."""
    name = _library_calls.callee(frame, frame.f_lasti) or ""
    if not name.startswith("math."):
        return None
    name = name.removeprefix("math.")
    instead = _OF_MATH.get(name) or (f"np.{name}" if hasattr(np, name) else None)
    return instead and f"write {instead}(x) for math.{name}(x)"


def of_number(frame, kind):
    """The advice for ``float(x)``, ``int(x)`` or ``complex(x)``, of the type ``kind``, or the operator ``%``
    of a text, in the code of a frame; None for other code."""
    if _captured.is_remainder(frame):
        return "return the value, and format the result of the call"
    if kind not in frame.f_code.co_names:
        return None
    convert = "" if kind == "float" else f", or write x.astype({kind})"
    return f"leave {kind}() out, since operations take traced values{convert}; return x for a number outside"


#: The code to write instead of Python's functions, by name.
_INSTEAD = {
    "all": "np.all(x) for all(x)",
    "any": "np.any(x) for any(x)",
    "max": "np.max(x) for max(x), and np.maximum(x, y) for max(x, y)",
    "min": "np.min(x) for min(x), and np.minimum(x, y) for min(x, y)",
    "sorted": "np.sort(x) for sorted(x)",
}


def of_scikit_learn(frame):
    """The advice for a check of elements by scikit-learn; None for other code."""
    if _module(frame) != ["sklearn", "utils", "validation"]:
        return None
    return "write sklearn.set_config(assume_finite=True), without which scikit-learn checks all elements"


def of_metrics(frame):
    """The advice for a metric of scikit-learn that makes a number; None for other code."""
    if _module(frame)[0] != "sklearn":
        return None
    name = _library_calls.called(frame)
    advice = _BEFORE if name is None else advice_of(name)
    return f"{advice}; metrics of regression with multioutput='raw_values' return arrays"


def of_names(frame, names):
    """The advice for the function of these names that the code of a frame mentions, or None."""
    known = frame.f_code.co_names
    found = [name for name in names if name in known and not {"array", "asarray"} & set(known)]
    return "write " + "; ".join(_INSTEAD[name] for name in found) if found else None
