"""Compiled functions that a transformation made from others."""

from __future__ import annotations

import functools

from ._foreign import is_labelled
from ._jit import CompiledFunction
from ._recording import running_recording
from ._signatures import signature_of
from ._trees import leaves_of


class TransformedFunction(CompiledFunction):
    """The compiled form of ``transformation(function, *options)``.

    ``traced(function, *args, **kwargs)`` computes it on traced values. ``prepare``, if given, returns the
    arguments of a call as the function takes them, or refuses them. A pickle holds the call that made the
    function.
    """

    def __new__(cls, traced, transformation, function, options, prepare=None):
        name = name_of(function)
        signature = signature_of(function, name)

        # The closure refers to `function`, where the search for captured objects finds it.
        def call(*args, **kwargs):
            return traced(function, *args, **kwargs)

        call.__name__, call.__qualname__ = name.rpartition(".")[2], name
        functools.update_wrapper(call, function)
        call.__signature__ = signature
        self = super().__new__(cls, call, getattr(function, "static", ()))
        self.__wrapped__ = function
        self._traced = call
        self._signature = signature
        self._prepare = prepare
        self._made_by = transformation, (function, *options)
        return self

    def __init__(self, traced, transformation, function, options, prepare=None):
        pass

    def __call__(self, *args, **kwargs):
        if is_labelled(leaves_of((*args, kwargs))):
            raise TypeError(
                f"{self!r} takes arrays without labels, and an argument is one of xarray: pass `x.values`, "
                "and label what comes of it, `x.copy(data=result)`"
            )
        if self._prepare is not None:
            args, kwargs = self._prepare(self._signature, args, kwargs)
        if running_recording() is None:
            return super().__call__(*args, **kwargs)
        # The function may use traced values of its closure, so it is recorded also for arrays.
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return self._traced(*bound.args, **bound.kwargs)

    def _remade(self, function):
        transformation, (_, *options) = self._made_by
        return transformation(function, *options)

    def __repr__(self):
        transformation, (function, *_) = self._made_by
        return f"<indim.{transformation.__name__} of {name_of(function)!r}>"

    def __reduce__(self):
        # If the name of the function refers to this object, the function gets another name.
        super().__reduce__()
        return self._made_by


def name_of(function):
    """The name of a function in messages."""
    return getattr(function, "__qualname__", None) or type(function).__qualname__
