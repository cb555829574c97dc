"""Refuses functions of reductions and scans that are one operation that is not associative.

The readers of StableHLO and HLO refuse bodies by the same rule (``not_associative`` of ``indim-xla``).
"""

from __future__ import annotations

from ._tracing import Tracer

#: Operations whose result depends on the order: the operator, and the functions of NumPy and of ``lax``.
_NOT_ASSOCIATIVE = {
    "-": ("subtract", "sub"),
    "/": ("divide", "true_divide", "div"),
    "//": ("floor_divide",),
    "%": ("remainder", "mod", "fmod", "rem"),
    "**": ("power", "pow", "float_power"),
    "arctan2": ("arctan2", "atan2"),
}

_SYMBOLS = {name: symbol for symbol, names in _NOT_ASSOCIATIVE.items() for name in (symbol, *names)}

#: What to write instead, if the accumulator is the left operand.
_INSTEAD = {
    "-": "the difference from a sum, `init - operand.sum(axis)`",
    "/": "the quotient by a product, `init / operand.prod(axis)`",
}


class Probe:
    """What a recording of the function of a reduction or scan notes."""

    def __init__(self):
        #: The function and the operands of each operation, by the name of its value.
        self.operations = {}
        #: Whether the function calls one with a derivative of its own, which the recordings around need.
        self.has_custom_calls = False


def check(name, results, first, second):
    """Raises ``ValueError`` if a result of a function is one operation that is not associative, of a leaf of
    its first argument and the same leaf of the second."""
    for result, x, y in zip(results, first, second):
        found = _operation(result, x, y) if isinstance(result, Tracer) else None
        if found is not None:
            instead = None if name == "associative_scan" else _INSTEAD.get(found)
            raise ValueError(
                f"`{result._value_text}` is not associative, and {name} combines neighbours in any order, so "
                f"its result is not defined: write {instead or 'indim.scan, which combines them in order'}"
            )


def _operation(result, x, y):
    """The symbol of the operation that computes ``result``, as ``y - x`` if ``y`` is its left operand; None
    if another operation computes it."""
    if result._recording is not x._recording:
        return None
    function, operands = x._recording.probe.operations.get(result._name, (None, None))
    symbol = _SYMBOLS.get(function)
    if symbol is None or operands not in ([x._name, y._name], [y._name, x._name]):
        return None
    return symbol if operands[0] == x._name else f"y {symbol} x"
