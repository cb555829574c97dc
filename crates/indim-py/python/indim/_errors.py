"""The exceptions. Raised by the compiled part, from `error.rs`."""

from __future__ import annotations

import numpy as np


class IndimError(Exception):
    """An error that indim found before the computation.

    ``code`` is the stable name of the error, ``rule`` the label of the broken rule, ``operand`` the position
    of the operand, ``axis`` that of its axis. Attributes that do not apply are ``None``.
    """

    def __new__(cls, message="", code="", *details):
        return super().__new__(_CLASSES.get((cls, code), cls), message)

    def __init__(self, message, code="", rule=None, operand=None, axis=None, text=None, span=None):
        super().__init__(message)
        self.code = code
        self.rule = rule
        self.operand = operand
        self.axis = axis
        self.text = text
        self.span = span

    def __str__(self):
        return str(self.args[0])

    def __reduce__(self):
        details = (self.code, self.rule, self.operand, self.axis, self.text, self.span)
        return type(self), (self.args[0], *details)


class ShapeError(IndimError, ValueError):
    """Shapes that do not broadcast, or an impossible shape. The message draws them."""


class ElementTypeError(IndimError, TypeError):
    """Element types that an operation does not take, or different ones that no rule converts."""


class ExprError(IndimError, ValueError):
    """A text that is not an expression. The message marks the place, which ``text`` and ``span`` contain."""


class FormatError(IndimError, ValueError):
    """A file that is not a program that indim reads, or inputs that its program does not take. The message
    shows the line, the layer or the node."""


class UnknownNameError(ExprError, KeyError):
    """An expression uses a name without a value."""


class IndexRangeError(ShapeError, IndexError):
    """An index that names no element, or too many indices: a ``ShapeError`` that is an ``IndexError`` too."""


class AxisError(ShapeError, np.exceptions.AxisError):
    """An axis that does not exist: a ``ShapeError`` that is NumPy's ``AxisError``, an ``IndexError``, too."""


class UndefinedOperationError(ExprError, TypeError):
    """An operation that NumPy does not define on these types: an ``ExprError`` and a ``TypeError``."""


class NumberRangeError(ExprError, OverflowError):
    """A number that the element type does not have: an ``ExprError`` that is an ``OverflowError`` too."""


#: The class of an error by its general class and code, where NumPy raises one of another class.
_CLASSES = {
    (ShapeError, "index-out-of-range"): IndexRangeError,
    (ShapeError, "take-from-empty"): IndexRangeError,
    (ShapeError, "too-many-indices"): IndexRangeError,
    (ShapeError, "axis-out-of-range"): AxisError,
    (ExprError, "not-defined-in-numpy"): UndefinedOperationError,
    (ExprError, "literal-out-of-range"): NumberRangeError,
}


class InternalError(Exception):
    """A broken invariant: a bug of indim, not of its input. The message says how to report it."""

    code = "internal-error"


# Tracebacks name the classes as users import them.
for _class in (
    IndimError,
    ShapeError,
    ElementTypeError,
    ExprError,
    FormatError,
    UnknownNameError,
    IndexRangeError,
    AxisError,
    UndefinedOperationError,
    NumberRangeError,
    InternalError,
):
    _class.__module__ = "indim"
del _class
