"""numexpr's compiled expressions: `NumExpr`, which calls `evaluate`."""

from __future__ import annotations

import indim as _package  # Waits for a thread that imports the package.

import numpy as np

from .. import _arrays
from .._indim import _names_of, evaluate, re_evaluate, validate
from .expressions import ExpressionNode

__all__ = ["NumExpr", "disassemble", "evaluate", "getExprNames", "re_evaluate", "validate"]

#: numexpr's keywords with their values; they have no effect.
_CONTEXT = {"optimization": ("none", "moderate", "aggressive"), "truediv": (False, True, "auto")}


class NumExpr:
    """An expression as a function of the arrays that its names are bound to, in order.

    ``ex`` is a text, or an expression of ``E``. ``signature`` gives the order of the names and their element
    types in pairs: ``[("a", np.float64)]``. The default is alphabetical order and float64. Arguments are cast
    to these types, if ``casting`` allows it. As in numexpr, ``float`` means float32.
    """

    def __init__(self, ex, signature=(), sanitize=True, **context):
        for name, value in context.items():
            if value not in _CONTEXT.get(name, ()):
                raise ValueError(f"{name}={value!r} is not an option of NumExpr")
        self.expression = ex.text if isinstance(ex, ExpressionNode) else ex
        names, constants = (ex.names, ()) if isinstance(ex, ExpressionNode) else _names_of(self.expression)
        types = dict(signature)
        # The signature may also bind constants such as `pi`.
        if types and set(types) - set(constants) != set(names):
            raise ValueError(f"the signature has {sorted(types)}, the expression {sorted(names)}")
        #: The names in the order of the arguments.
        self.input_names = tuple(types or sorted(names))
        self._dtypes = [_dtype(types.get(name, np.float64)) for name in self.input_names]

    def __repr__(self):
        return f"NumExpr({self.expression!r}, {list(zip(self.input_names, map(str, self._dtypes)))})"

    def run(self, *args, out=None, order="K", casting="safe", ex_uses_vml=False):
        """The value for these arrays; a new one, or ``out``."""
        if len(args) != len(self.input_names):
            raise ValueError(
                f"the expression takes {len(self.input_names)} arrays {self.input_names}, not {len(args)}"
            )
        operands = {
            name: _cast(name, array, dtype, casting)
            for name, array, dtype in zip(self.input_names, args, self._dtypes)
        }
        return evaluate(self.expression, operands, {}, out=out, order=order, casting=casting)

    __call__ = run


def _dtype(given):
    return np.dtype(np.float32) if given is float else _arrays.numpy_dtype(_arrays.indim_name(given))


def _cast(name, array, dtype, casting):
    array = _arrays.as_array(array, name)
    if not np.can_cast(array.dtype, dtype, casting=casting):
        raise TypeError(f"cannot cast `{name}` from {array.dtype} to {dtype} with casting={casting!r}")
    return array.astype(dtype, copy=False)


def disassemble(nex):
    """numexpr's list of the virtual machine's instructions; an error, because indim has no such machine."""
    operands = ", ".join(f'{name}="f64[1000]"' for name in nex.input_names)
    raise NotImplementedError(
        "indim has no virtual machine to disassemble; what it does with arrays of a type and shape is "
        f"shown by indim.explain({nex.expression!r}{', ' if operands else ''}{operands})"
    )


def getExprNames(text, context=None, sanitize=True):  # numexpr's name
    """The names of an expression in alphabetical order, and whether it uses VML, which it never does."""
    return sorted(_names_of(text)[0]), False
