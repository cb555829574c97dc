"""How a function is called: its parameters, and their arguments by position."""

from __future__ import annotations

import inspect

import numpy as np

#: Where a function that was made for calls by position keeps the one that it calls.
ADAPTED = "_indim_adapted"


def binder(function, name):
    """The names of the parameters, whether arguments always have to be bound, how, and what to call then."""
    signature = signature_of(function, name)
    parameters = list(signature.parameters.values())
    for parameter in parameters:
        if parameter.kind is parameter.VAR_KEYWORD:
            raise TypeError(f"{name}: a compiled function cannot take **{parameter.name}")
        if parameter.name in ("out", "order", "casting"):
            raise TypeError(
                f"{name}: `{parameter.name}` is an argument of every compiled function; rename it, or "
                "compile a lambda without it"
            )
    has_rest = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)
    keyword_only = [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]
    if has_rest and keyword_only:
        raise TypeError(f"{name}: *arguments and keyword-only arguments cannot be together")

    def bind(args, kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return (*bound.args, *(bound.kwargs[name] for name in keyword_only))

    def call(*values):
        count = len(values) - len(keyword_only)
        return function(*values[:count], **dict(zip(keyword_only, values[count:])))

    call.__qualname__ = name
    setattr(call, ADAPTED, function)
    names = [parameter.name for parameter in parameters]
    return names, has_rest or bool(keyword_only), bind, call if keyword_only else function


def signature_of(function, name):
    """The parameters that a call can give."""
    if isinstance(function, np.ufunc):
        kind = inspect.Parameter.POSITIONAL_ONLY
        return inspect.Signature(
            [inspect.Parameter(f"x{position + 1}", kind) for position in range(function.nin)]
        )
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        message = f"{name} does not say which arguments it takes; compile `lambda x: {name}(x)` instead"
        raise TypeError(message) from None
    if (getattr(function, "__module__", None) or "").partition(".")[0] == "indim" and not isinstance(
        function, type
    ):
        # Our own operations: what says the rule stays as it is, and `out` is every compiled function's.
        kept = [p for p in signature.parameters.values() if p.kind is not p.KEYWORD_ONLY]
        signature = signature.replace(parameters=kept)
    return signature
