"""Refuses functions of reductions and scans that are one operation that is not associative.

The readers of StableHLO and HLO refuse bodies by the same rule (``not_associative`` of ``indim-xla``).
"""

from __future__ import annotations

from ._regions import _Body
from ._tracing import Tracer, running
from ._trees import filled, leaves_like

#: Operations whose result depends on the order: the operator, and the functions of NumPy and of ``lax``.
_NOT_ASSOCIATIVE = {
    "-": ("subtract", "sub"),
    "/": ("divide", "true_divide", "div"),
    "//": ("floor_divide",),
    "%": ("remainder", "mod", "fmod", "rem"),
    "**": ("power", "pow", "float_power"),
    "arctan2": ("arctan2", "atan2"),
}

#: What to write instead, if the accumulator is the left operand.
_INSTEAD = {
    "-": "the difference from a sum, `init - operand.sum(axis)`",
    "/": "the quotient by a product, `init / operand.prod(axis)`",
}


def check(name, function, outer, tree, arrays):
    """Raises ``ValueError`` if a result of ``function`` is one operation that is not associative, of a leaf
    of one argument and the same leaf of the other. Both are like ``tree``, of the types of ``arrays``."""
    body = _Body(outer, f"the function of {name}")
    with running(body.recording):
        first, second = ([body.recording.parameter(array, letter) for array in arrays] for letter in "xy")
        results = leaves_like(tree, function(filled(tree, first), filled(tree, second)))
    # The caller refuses other containers.
    for result, x, y in zip(results or (), first, second):
        found = _operation(result, x, y) if isinstance(result, Tracer) else None
        if found is not None:
            instead = None if name == "associative_scan" else _INSTEAD.get(found)
            raise ValueError(
                f"`{result._value_text}` is not associative, and {name} combines neighbours in any order, so "
                f"its result is not defined: write {instead or 'indim.scan, which combines them in order'}"
            )


def _operation(result, x, y):
    """The symbol of the operation of which ``result`` is the value, as ``y - x`` if ``y`` is its left
    operand; None for any other value."""
    text = result._value_text
    for symbol, functions in _NOT_ASSOCIATIVE.items():
        for left, right in ((x, y), (y, x)):
            operands = left._value_text, right._value_text
            texts = [f"{function}({', '.join(operands)})" for function in functions]
            if text in texts or text == f" {symbol} ".join(operands):
                return symbol if left is x else f"y {symbol} x"
    return None
