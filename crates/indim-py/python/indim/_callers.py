"""The code that calls a method of a traced value: the user's, or that of a library, of xarray, or for JAX."""

from __future__ import annotations

import sys

from . import _captured


def is_library(frame):
    """Whether the code of a frame is indim's own, or of a library that computes with plain sizes."""
    return _captured.is_library(frame.f_globals.get("__name__"))


def is_of_xarray(frame):
    return frame.f_globals.get("__name__", "").startswith("xarray.")


def is_of_jax(frame):
    """Whether the code of a frame has `indim.numpy` among its global names: it expects that ``y += v`` binds
    a name to a new array, as in JAX."""
    jax_numpy = sys.modules.get("indim.numpy")
    return jax_numpy is not None and any(value is jax_numpy for value in frame.f_globals.values())
