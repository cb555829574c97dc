"""The code that calls a method of a traced value: the user's, or that of a library, of xarray, or for JAX."""

from __future__ import annotations

import sys

from . import _captured


def is_library(frame):
    """Whether the code of a frame is indim's own, or of a library that computes with plain sizes."""
    return _captured.is_library(frame.f_globals.get("__name__"))


def is_of_xarray(frame):
    return frame.f_globals.get("__name__", "").startswith("xarray.")


def check_series(frame):
    """Refuses functions of numpy.polynomial whose results have other shapes if the places are no array of
    NumPy: ``polyvalfromroots``, and series whose coefficients have several axes."""
    if not frame.f_globals.get("__name__", "").startswith("numpy.polynomial."):
        return
    name = frame.f_code.co_name
    if name == "polyvalfromroots":
        raise TypeError(
            "numpy.polynomial.polynomial.polyvalfromroots takes no traced places: write "
            "np.prod(x - roots.reshape(-1, *(1,) * x.ndim), axis=0)"
        )
    if getattr(frame.f_locals.get("c"), "ndim", 1) > 1:
        raise TypeError(
            f"{frame.f_globals['__name__']}.{name} takes coefficients along one axis while a function is "
            f"traced: write np.stack([{name}(x, row) for row in coefficients.T])"
        )


def is_of_jax(frame):
    """Whether the code of a frame has `indim.numpy` among its global names: it expects that ``y += v`` binds
    a name to a new array, as in JAX."""
    jax_numpy = sys.modules.get("indim.numpy")
    return jax_numpy is not None and any(value is jax_numpy for value in frame.f_globals.values())
