"""Functions that move elements along dimensions of xarray, whose labels would stay where they were."""

from __future__ import annotations

import re

#: Functions that keep the number of axes.
_MOVING = (
    *("concatenate", "concat", "dynamic_slice", "flip", "pad", "permute_dims", "reshape", "roll"),
    *("sort", "take", "take_along_axis", "transpose"),
)

_CALL = re.compile(rf"\b({'|'.join(_MOVING)})\s*\(")

#: An index of a name or of a result.
_INDEX = re.compile(r"(\b[^\W\d]\w*|\))\s*\[([^\]]*)")

_NAME = re.compile(r"[^\W\d]\w*")


def refuse(function):
    """Raises ``TypeError`` for an operation on labelled arrays that moves elements."""
    if function in _MOVING:
        raise _error(function)


def refuse_in_expression(text, labelled, names_axes):
    """Raises ``TypeError`` if an expression moves elements of the arrays with the names ``labelled``. An
    expression that names axes may transpose them."""
    text = re.sub("#.*", "", text)
    for call in _CALL.finditer(text):
        if names_axes and call[1] in ("permute_dims", "transpose"):
            continue
        if labelled.intersection(_NAME.findall(_arguments(text, call.end()))):
            raise _error(call[1])
    for index in _INDEX.finditer(text):
        # Sizes and names show other indices where names are known.
        may_move = not names_axes or re.search(r":\s*-", index[2])
        if may_move and (index[1] in labelled or index[1] == ")"):
            raise _error("an index")


def _arguments(text, start):
    """The text from ``start`` up to the parenthesis that closes."""
    depth = 1
    for end in range(start, len(text)):
        depth += (text[end] == "(") - (text[end] == ")")
        if not depth:
            return text[start:end]
    return text[start:]


def _error(function):
    return TypeError(
        f"{function} moves elements of an array with named dimensions, and labels would stay where they "
        "are: within a function of indim.jit write xarray's own operation, such as x[::-1], x.isel(t=...), "
        "x.roll(t=1), x.transpose('t', 'x') or x.sortby('t'), or pass `x.data`"
    )
