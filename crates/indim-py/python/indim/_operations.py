"""The operations as functions, one set for each rule. Called by the modules that hold them."""

from __future__ import annotations

import builtins

import numpy as np

from . import _compositions, _functions, _products, _reductions, _sorting, _view_functions
from ._indim import _operations

#: Names that are keywords of Python get an underscore.
_PYTHON_WORDS = {"and": "and_", "or": "or_", "not": "not_"}

#: Names in the language of expressions, if they differ.
_IN_TEXT = {"and": "bitwise_and", "or": "bitwise_or", "not": "invert", "bitwise_invert": "invert"}


def names():
    """``(name in Python, name in the text, arity, documentation)`` of every operation and alias."""
    for name, arity, doc, aliases in _operations():
        for known in (name, *aliases):
            yield _PYTHON_WORDS.get(known, known), _IN_TEXT.get(known, known), arity, doc


def define(rule):
    """The functions under the rule set ``rule``, by name."""
    functions = {}
    for name, text, arity, doc in names():
        if rule == "onnx-legacy" and arity == 3:
            continue
        if text in ("mod", "remainder") and rule not in ("numpy", "as-written"):
            # Under NumPy's rule this is `py_mod`; XLA and OpenVINO mean `rem` by it.
            text = "rem"
        functions[name] = _function(rule, text, arity, doc)
        functions[name].__name__ = functions[name].__qualname__ = name
        if rule == "numpy" and isinstance(getattr(np, name, None), np.ufunc):
            _functions.add_ufunc(functions[name], getattr(np, name))
    functions |= _compositions.define(rule, _function)
    functions |= _reductions.define(rule, functions)
    functions |= _products.define(rule, functions)
    return functions | _view_functions.define(rule) | _sorting.define(rule)


def _function(rule, text, arity, doc):
    if rule == "numpy" and arity < 3:
        return _functions.of_ufunc(text, arity, doc)
    if arity == 1:
        return _functions.unary(text, doc, rule)
    if rule == "as-written":
        return _functions.by_attributes(text, arity, doc)
    if rule == "xla" and arity == 2:
        return _functions.xla(text, doc)
    if rule in ("pdpd", "onnx-legacy"):
        return _functions.pdpd(text, arity, doc, rule)
    return _functions.plain(text, arity, doc, rule)


def export(namespace, rule):
    """Puts the functions of a rule into the namespace of a module."""
    functions = define(rule)
    for function in functions.values():
        function.__module__ = namespace["__name__"]
    namespace.update(functions)
    namespace["__all__"] = exported(functions)


def exported(names):
    """The names for `import *`, without those of Python's builtins, such as `abs` and `round`."""
    return sorted(name for name in names if not hasattr(builtins, name))
