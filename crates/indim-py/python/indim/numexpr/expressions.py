"""numexpr's expressions made by operators: `E.a + 2 * E.b` is the text `(a + (2 * b))`, which `NumExpr`
compiles."""

from __future__ import annotations

import indim as _package  # Waits for a thread that imports the package.

import math

import numpy as np

from .. import _arrays
from .._operations import names as _operation_names
from .._operators import define_operators


class ExpressionNode:
    """An expression: a text in the language of `evaluate`, and the names in it."""

    __slots__ = ("text", "names")

    def __init__(self, text, names=()):
        self.text = text
        self.names = frozenset(names)

    def __repr__(self):
        return self.text

    def __bool__(self):
        raise TypeError(
            "an expression has no truth value: write &, |, ~ for and, or, not, and parentheses around "
            "comparisons"
        )

    @property
    def real(self):
        """The real part."""
        return _call("real", self)

    @property
    def imag(self):
        """The imaginary part."""
        return _call("imag", self)

    def __neg__(self):
        return ExpressionNode(f"(-{self.text})", self.names)

    def __pos__(self):
        return self

    def __invert__(self):
        return ExpressionNode(f"(~{self.text})", self.names)

    def __abs__(self):
        return _call("abs", self)

    __hash__ = None


class VariableNode(ExpressionNode):
    """A name that an array is bound to."""

    __slots__ = ()

    def __init__(self, name):
        if not name.isidentifier():
            raise ValueError(f"{name!r} is not a name")
        super().__init__(name, [name])


class ConstantNode(ExpressionNode):
    """A number. NumPy's numbers keep their element type; Python's adapt to other operands."""

    __slots__ = ("value",)

    def __init__(self, value):
        super().__init__(_constant_text(value))
        self.value = value

    @property
    def astKind(self):  # numexpr's name
        """numexpr's name of the element type: `bool`, `int`, `long`, `float`, `double` or `complex`."""
        if isinstance(self.value, float):
            return "double"
        dtype = np.asarray(self.value).dtype
        if dtype.kind in "iu":
            return "int" if dtype.itemsize < 8 and not isinstance(self.value, int) else "long"
        return {"b": "bool", "c": "complex"}.get(dtype.kind, "float" if dtype.itemsize < 8 else "double")


def _number_text(number):
    """A number in the language of expressions; a negative one in parentheses."""
    number = float(number) if isinstance(number, float) else number
    if isinstance(number, float) and number != number:
        return "(1e999 - 1e999)"
    if isinstance(number, float) and number in (float("inf"), float("-inf")):
        return "1e999" if number > 0 else "(-1e999)"
    text = repr(number)
    return f"({text})" if text.startswith("-") else text


def _complex_text(real, imag):
    """A complex number in the language of expressions, which adapts to other operands."""
    is_minus_zero = [part == 0 and math.copysign(1, part) < 0 for part in (real, imag)]
    if imag != imag or is_minus_zero[1] or (is_minus_zero[0] and imag >= 0):
        # No sum has these parts, so the number has an element type.
        return f"complex({_number_text(real)}, {_number_text(imag)})"
    if real == 0 and math.copysign(1, real) > 0 and imag >= 0:
        return f"{_number_text(imag)}j"
    return f"({_number_text(real)} {'-' if imag < 0 else '+'} {_number_text(abs(imag))}j)"


def _constant_text(value):
    if isinstance(value, np.generic):
        name = _arrays.indim_name(value.dtype)
        return f"{name}({_constant_text(value.item())})"
    if isinstance(value, complex):
        return _complex_text(value.real, value.imag)
    if isinstance(value, (bool, int, float)):
        return _number_text(value)
    raise TypeError(f"{value!r} is neither a number nor an expression")


def _node(value):
    return value if isinstance(value, ExpressionNode) else ConstantNode(value)


def _call(function, *operands):
    nodes = [_node(operand) for operand in operands]
    names = frozenset().union(*(node.names for node in nodes))
    return ExpressionNode(f"{function}({', '.join(node.text for node in nodes)})", names)


def _operation(_, symbol, x, y):
    x, y = _node(x), _node(y)
    return ExpressionNode(f"({x.text} {symbol} {y.text})", x.names | y.names)


define_operators(ExpressionNode, _operation)


class _Names:
    """`E`: its attributes are the names of an expression."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return VariableNode(name)


E = _Names()


def _function(name):
    def function(*operands):
        return _call(name, *operands)

    function.__name__ = function.__qualname__ = name
    return function


#: The functions of expressions by name.
functions = {
    text: _function(text)
    for text in sorted({text for _, text, _, _ in _operation_names()} | {"copy", "ones_like"})
}
