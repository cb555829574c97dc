"""NumPy's reductions of tracing values: ``np.sum(x, axis=0)`` and ``x.sum(axis=0)``."""

from __future__ import annotations

import inspect
import operator

import numpy as np

from ._tracing import ARRAY_FUNCTIONS, Tracer

#: By name what stands for the elements that `where` leaves out, and what combines with `initial`.
_NEUTRAL = {"sum": 0, "prod": 1, "any": False, "all": True}
_COMBINE = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}


def _define(name, *functions):
    """Lets these functions of NumPy be traced, and gives tracing values the method."""
    signature = inspect.signature(functions[0])

    def handler(*args, **kwargs):
        (_, x), *given = signature.bind(*args, **kwargs).arguments.items()
        given = {key: value for key, value in given if value is not None and value is not np._NoValue}
        return _reduced(name, x, **given)

    handler.__name__ = name
    for function in functions:
        ARRAY_FUNCTIONS[function] = handler
    if hasattr(np.ndarray, name):
        setattr(Tracer, name, lambda self, *args, **kwargs: handler(self, *args, **kwargs))


def _reduced(name, x, axis=None, dtype=None, keepdims=False, where=True, initial=None, **others):
    """The reduction as NumPy defines it, of elements converted to `dtype` and into it."""
    if dtype is not None:
        x = x.astype(dtype)
    if where is not True:
        x = np.where(where, x, _stand_in(name, initial))
    attributes = [] if axis is None else [("axis", _axes(axis))]
    attributes += [("keepdims", True)] if keepdims else []
    result = x._call(name, attributes + _numbers(name, **others))
    if initial is not None:
        result = _COMBINE[name](initial, result)
    return result if dtype is None else result.astype(dtype)


def _axes(axis):
    return [operator.index(one) for one in axis] if isinstance(axis, tuple) else [operator.index(axis)]


def _stand_in(name, initial):
    if name in _NEUTRAL:
        return _NEUTRAL[name]
    if name not in _COMBINE:
        raise TypeError(
            f"numpy.{name} takes no `where` while a function is traced: write it by sums, as "
            "np.sum(np.where(w, x, 0)) / np.sum(w)"
        )
    if initial is None:
        raise ValueError(f"`where` leaves numpy.{name} without elements: give `initial` as well")
    return initial


def _numbers(name, ddof=0, correction=None, **others):
    """The divisor's correction of `var` and `std`; what else NumPy takes is refused."""
    for keyword in others:
        raise TypeError(f"numpy.{name} takes no `{keyword}` while a function is traced")
    correction = ddof if correction is None else correction
    return [("correction", correction)] if correction else []


for _name in ("sum", "prod", "mean", "var", "std", "any", "all", "argmax", "argmin", "ptp", "count_nonzero"):
    _define(_name, getattr(np, _name))
_define("max", np.max, np.amax)
_define("min", np.min, np.amin)
del _name
