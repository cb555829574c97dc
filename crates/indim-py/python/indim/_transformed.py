"""Compiled functions that a transformation made from others."""

from __future__ import annotations

import functools

from ._jit import CompiledFunction
from ._signatures import signature_of


class TransformedFunction(CompiledFunction):
    """The compiled form of ``transformation(function, *options)``.

    ``traced`` computes it on traced values. A pickle holds the call that made it.
    """

    def __new__(cls, traced, transformation, function, options):
        name = getattr(function, "__qualname__", repr(function))

        @functools.wraps(function)
        def call(*args, **kwargs):
            return traced(*args, **kwargs)

        call.__signature__ = signature_of(function, name)
        self = super().__new__(cls, call, getattr(function, "static", ()))
        self._made_by = transformation, (function, *options)
        return self

    def __init__(self, traced, transformation, function, options):
        pass

    def __repr__(self):
        transformation, (function, *_) = self._made_by
        name = getattr(function, "__qualname__", repr(function))
        return f"<indim.{transformation.__name__} of {name!r}>"

    def __reduce__(self):
        return self._made_by
