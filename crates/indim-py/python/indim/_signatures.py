"""Signatures of compiled functions: parameters, and the binding of arguments to them."""

from __future__ import annotations

import inspect
import numbers
import operator

import numpy as np

#: The attribute of an adapter by position that holds the function it calls.
ADAPTED = "_indim_adapted"

#: The options of a call, which a parameter of the same name replaces.
OPTIONS = ("out", "order", "casting")

_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "position",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "either",
    inspect.Parameter.VAR_POSITIONAL: "rest",
    inspect.Parameter.KEYWORD_ONLY: "keyword",
}


def names_of_static(static):
    """Names of static arguments, given as one string or as a sequence of strings."""
    return (static,) if isinstance(static, str) else tuple(static)


def binder(function, name, static, static_argnums=()):
    """The parameters for the compiled part, the function that binds arguments to them, the function to call
    with arguments by position, and the names of the static parameters."""
    signature = signature_of(function, name)
    parameters = list(signature.parameters.values())
    names = [parameter.name for parameter in parameters]
    static = (*names_of_static(static), *_names_at(parameters, static_argnums, name))
    unknown = [given for given in static if given not in names]
    if unknown:
        raise TypeError(f"{name}: static={unknown[0]!r} is none of the parameters {names}")
    kinds = {parameter.kind for parameter in parameters}
    has_rest, by_keyword = inspect.Parameter.VAR_POSITIONAL in kinds, inspect.Parameter.VAR_KEYWORD in kinds
    if by_keyword or (has_rest and inspect.Parameter.KEYWORD_ONLY in kinds):
        return *_collected(function, name, signature, static), static
    keyword_only = [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]

    def bind(args, kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return (*bound.args, *(bound.kwargs[name] for name in keyword_only))

    def call(*values):
        count = len(values) - len(keyword_only)
        return function(*values[:count], **dict(zip(keyword_only, values[count:])))

    call.__qualname__ = name
    setattr(call, ADAPTED, function)
    rows = [_row(parameter, parameter.name in static) for parameter in parameters]
    return rows, bind, call if keyword_only else function, static


def _collected(function, name, signature, static):
    """``binder`` of a function with ``**arguments``, or with ``*arguments`` and keyword-only ones: the
    compiled part gets each of these as one dict. It binds calls without such arguments itself, by the default
    of an empty dict."""
    parameters = list(signature.parameters.values())
    rests = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD

    def bind(args, kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values = [bound.arguments[parameter.name] for parameter in parameters]
        # A tuple without items would be an array.
        return tuple(
            dict(enumerate(value)) if parameter.kind is rests[0] else value
            for parameter, value in zip(parameters, values)
        )

    def call(*values):
        args, kwargs = [], {}
        for parameter, value in zip(parameters, values):
            if parameter.kind is rests[0]:
                args += value.values()
            elif parameter.kind is rests[1]:
                kwargs |= value
            elif parameter.kind is parameter.KEYWORD_ONLY:
                kwargs[parameter.name] = value
            else:
                args.append(value)
        return function(*args, **kwargs)

    call.__qualname__ = name
    setattr(call, ADAPTED, function)
    rows = []
    for parameter in parameters:
        is_static = parameter.name in static
        if parameter.kind in rests:
            # No call names the dict itself.
            stars = "*" if parameter.kind is rests[0] else "**"
            rows.append((stars + parameter.name, "keyword", is_static, ({}, False)))
        else:
            rows.append(_row(parameter, is_static))
    return rows, bind, call


def _names_at(parameters, positions, name):
    """The names of the parameters at these positions; negative ones count from the last, as in JAX."""
    names = [parameter.name for parameter in parameters if parameter.kind is not parameter.KEYWORD_ONLY]
    found = []
    for position in [positions] if isinstance(positions, int) else positions:
        if not -len(names) <= operator.index(position) < len(names):
            raise TypeError(f"{name}: static_argnums={position} is not a position of the parameters {names}")
        found.append(names[position])
    return found


def _row(parameter, is_static):
    """A parameter as a tuple: name, kind, whether it is static, and the default with whether the function
    receives it unchanged."""
    default = parameter.default
    default = None if default is parameter.empty else (default, _is_as_is(default))
    return parameter.name, _KINDS.get(parameter.kind, "keyword"), is_static, default


def _is_as_is(default):
    """Whether a default holds neither arrays nor numbers: ``None``, a string, an object."""
    if default is None or isinstance(default, (str, bytes, type)):
        return True
    protocols = ("__array__", "__array_interface__", "__array_struct__", "__dlpack__", "__len__")
    is_array = any(hasattr(default, protocol) for protocol in protocols)
    return not isinstance(default, numbers.Number) and not is_array


def is_static_argument(rows, position, argument):
    """Whether a function with these parameters receives the argument at a position unchanged."""
    _, _, is_static, default = rows[min(position, len(rows) - 1)]
    return is_static or (default is not None and default[1] and argument is default[0])


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
    package = (getattr(function, "__module__", None) or "").partition(".")[0]
    if package == "indim" and not isinstance(function, type):
        # indim's own operations: attributes of the rule keep their defaults, and `out` is the option.
        kept = [p for p in signature.parameters.values() if p.kind is not p.KEYWORD_ONLY]
        signature = signature.replace(parameters=kept)
    elif package == "numpy":
        signature = signature.replace(parameters=_without_options(signature.parameters.values()))
    return signature


def _without_options(parameters):
    """The parameters of a NumPy function without the options of compiled functions. A parameter after one of
    these becomes keyword-only."""
    kept, is_behind = [], False
    for parameter in parameters:
        if parameter.name in OPTIONS or parameter.kind is parameter.VAR_KEYWORD:
            is_behind = True
        elif is_behind and parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            kept.append(parameter.replace(kind=parameter.KEYWORD_ONLY))
        else:
            kept.append(parameter)
    return kept
