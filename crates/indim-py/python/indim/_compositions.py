"""Compositions as functions: operands, then numbers with their defaults. Called by `_operations.py`.

Each is one call, as the operations are.
"""

from __future__ import annotations

import ast
import inspect

import numpy as np

from . import _functions
from ._handlers import ARRAY_FUNCTIONS
from ._indim import _compositions

_ANNOTATIONS = {"a number": "float", "True or False": "bool"}


def define(rule, plain):
    """The functions under the rule set ``rule``, by name; ``plain`` makes those without numbers."""
    functions = {}
    for name, count, numbers, doc, aliases in _compositions():
        for alias in (name, *aliases):
            function = _with_numbers(rule, name, count, numbers) if numbers else plain(rule, name, count, doc)
            function.__name__ = function.__qualname__ = alias
            function.__doc__ = doc
            functions[alias] = function
    return functions


def _with_numbers(rule, name, count, numbers):
    """The function of ``count`` operands and the ``numbers`` behind them."""
    signature = _signature(rule, count, numbers)
    operand_names, number_names = list("xyz"[:count]), [number for number, _, _ in numbers]

    def operation(*args, **kwargs):
        axis = kwargs.pop("axis", None) if rule == "as-written" and count > 1 else None
        if axis is not None:
            _functions.warn_of_axis(name)
        bound = signature.bind(*args, **kwargs).arguments
        arguments = {number: bound[number] for number in number_names if bound.get(number) is not None}
        numbers = [(number, _functions.constant(name, number, value)) for number, value in arguments.items()]
        attributes = _functions.attributes(name, bound.get("broadcast_dimensions"), bound.get("axis", axis))
        operands = [bound[operand] for operand in operand_names]
        return _functions.apply(name, operands, numbers + attributes, rule, bound.get("out"))

    operation.__signature__ = signature
    return operation


def _signature(rule, count, numbers):
    kinds = inspect.Parameter
    parameters = [kinds(name, kinds.POSITIONAL_OR_KEYWORD) for name in "xyz"[:count]]
    for name, expected, default in numbers:
        default = kinds.empty if default is None else ast.literal_eval(default)
        annotation = _ANNOTATIONS.get(expected, "int")
        annotation = annotation if default is not None else f"{annotation} | None"
        parameters.append(kinds(name, kinds.POSITIONAL_OR_KEYWORD, default=default, annotation=annotation))
    keywords = {"as-written": ["broadcast_dimensions"], "xla": ["broadcast_dimensions"]}
    keywords |= {"pdpd": ["axis"], "onnx-legacy": ["axis"]}
    for name in [*(keywords.get(rule, []) if count > 1 else []), "out"]:
        parameters.append(kinds(name, kinds.KEYWORD_ONLY, default=None))
    return inspect.Signature(parameters)


def _numpy_handler(numpy_function, function, count):
    """NumPy's function of traced values, by our function of the same name."""
    signature = inspect.signature(numpy_function)

    def handler(*args, **kwargs):
        arguments = list(signature.bind(*args, **kwargs).arguments.items())
        operands = [value for _, value in arguments[:count]]
        numbers = dict(arguments[count:])
        copy = numbers.pop("copy", True)
        result = function(*operands, **numbers)
        if copy:
            return result
        # `np.nan_to_num(x, copy=False)` writes into `x`.
        operands[0][...] = result
        return operands[0]

    return handler


# `make_stubs.py` finds these functions by their code objects.
_functions.OPERATION_CODES.add(_with_numbers("numpy", "elu", 1, []).__code__)


def register(functions):
    """Registers handlers of NumPy's functions of the same names, except ufuncs, which are found by name."""
    for name, count, _, _, aliases in _compositions():
        for alias in (name, *aliases):
            numpy_function = getattr(np, alias, None)
            if callable(numpy_function) and not isinstance(numpy_function, np.ufunc):
                ARRAY_FUNCTIONS[numpy_function] = _numpy_handler(numpy_function, functions[alias], count)
