"""Python's operators, with their symbols in expressions."""

from __future__ import annotations

import numpy as np

_ARITHMETIC = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "and": "&",
    "or": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
}

_COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}

#: The ufuncs behind Python's operators.
UFUNCS_OF_SYMBOLS = {
    **{"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.true_divide, "//": np.floor_divide},
    **{"%": np.remainder, "**": np.power, "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor},
    "@": np.matmul,
    **{"<<": np.left_shift, ">>": np.right_shift, "==": np.equal, "!=": np.not_equal},
    **{"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal},
}


def _refuse_modulus():
    raise TypeError("pow takes no modulus for arrays: write x**y % m")


def define_operators(kind, apply):
    """Gives the class ``kind`` the operators of two operands.

    ``apply(self, symbol, x, y)`` computes ``x symbol y``; one operand is ``self``.
    """
    for name, symbol in {**_ARITHMETIC, **_COMPARISONS}.items():
        setattr(kind, f"__{name}__", lambda x, y, s=symbol: apply(x, s, x, y))
    kind.__pow__ = lambda x, y, modulus=None: apply(x, "**", x, y) if modulus is None else _refuse_modulus()
    # Python mirrors comparisons itself.
    for name, symbol in _ARITHMETIC.items():
        setattr(kind, f"__r{name}__", lambda y, x, s=symbol: apply(y, s, x, y))


def define_assignments(kind, apply):
    """Gives the class ``kind`` the operators that assign: ``apply(self, symbol, other)`` computes
    ``self symbol= other``."""
    for name, symbol in _ARITHMETIC.items():
        setattr(kind, f"__i{name}__", lambda x, y, s=symbol: apply(x, s, y))
