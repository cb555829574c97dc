"""Handlers of NumPy's functions and ufuncs on traced values, which the modules of NumPy's names fill."""

from __future__ import annotations

#: Handlers of NumPy's functions on traced values. The modules of NumPy's names fill it, mostly by
#: `implements`.
ARRAY_FUNCTIONS = {}


def implements(*functions):
    """Makes the decorated function the handler of these functions of NumPy."""

    def register(handler):
        for function in functions:
            ARRAY_FUNCTIONS[function] = handler
        return handler

    return register


#: Handlers of the method ``accumulate`` of ufuncs, by the ufunc's name; filled by `_reductions.py`.
ACCUMULATIONS = {}

#: Handlers of the method ``reduce`` of ufuncs, by the ufunc's name; filled by `_reductions.py`.
REDUCTIONS = {}

#: Handlers of ufuncs that are not operations, by name; filled by `_elementwise_functions.py`,
#: `_reductions.py` and `_products.py`.
UFUNCS = {}
