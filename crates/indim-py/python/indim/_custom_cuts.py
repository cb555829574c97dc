"""Derivatives of recorded functions that call functions with derivatives of their own.

Such a call cuts the recorded function: the recording around computes the call's arguments, then its
results, which are parameters of the rest. A derivative of the whole is composed of derivatives of the parts,
and of the function's own derivative, at each cut (`_custom_derivatives.py`).
"""

from __future__ import annotations

import numpy as np

from ._advice import with_derivatives
from ._errors import ElementTypeError
from ._numbers import is_number
from ._recording import resumed
from ._traced_memory import OWNED
from ._tracing import Tracer
from ._trees import filled, leaves_like, leaves_of, mapped, shown


class Cut:
    """A call within a differentiated recording: of ``custom``, with the values ``inner`` there, which stand
    for ``arguments`` in the recording around."""

    def __init__(self, custom, inner, arguments):
        self.custom, self.inner, self.arguments = custom, inner, arguments
        #: The results in the recording around, and the residuals, which the derivative takes.
        self.results = self.residuals = None
        #: The positions of the results among the parameters of the recording.
        self.positions = []

    def leaves(self):
        """The arguments that have derivatives: in the recording, and in the one around."""
        if self.custom.is_flat:
            return []
        pairs = zip(leaves_of(self.inner), leaves_of(self.arguments))
        return [pair for pair in pairs if has_derivative(pair[0])]


def has_derivative(value):
    return isinstance(value, Tracer) and value.dtype.kind not in "biu"


def cut(recording, custom, inner):
    """The results of a call of ``custom`` with the values ``inner``, all of them positional arguments with
    derivatives, in a differentiated recording."""
    outer, name = recording.outer, custom.__qualname__
    inner = mapped(inner, lambda leaf: recording.lift(leaf)._snapshot() if isinstance(leaf, Tracer) else leaf)
    tracers = [leaf for leaf in leaves_of(inner) if isinstance(leaf, Tracer)]
    values = iter(evaluated(recording, tracers))
    arguments = mapped(inner, lambda leaf: next(values) if isinstance(leaf, Tracer) else leaf)
    made = Cut(custom, inner, arguments)
    with resumed(outer):
        results, made.residuals = custom.forward(recording.derivative_mode, arguments)
        made.results = mapped(results, lambda leaf: outer.tracer(leaf, name))
    made.positions = range(len(recording.sources), len(recording.sources) + len([*leaves_of(results)]))
    parameters = mapped(made.results, recording.parameter)
    recording.cuts.append(made)
    return parameters


def evaluated(recording, values):
    """Values of a recording, as values of the one around."""
    return _push_forward(recording, recording.function, values, [], [])[0]


def pull_back_cuts(recording, name, results, wrt, cotangents):
    """The results of a recorded function, and the gradients with respect to the parameters at the positions
    ``wrt``. Without ``cotangents`` the only result is one number."""
    outer, wrt = recording.outer, list(wrt)
    all_wrt = wrt + _continuous_positions(recording, recording.cuts)
    values, found = _derive(recording, name, results, all_wrt, cotangents)
    gradients = dict(zip(all_wrt, found))
    for index in reversed(range(len(recording.cuts))):
        made = recording.cuts[index]
        pairs = made.leaves()
        if not pairs:
            continue
        cotangent = filled(
            made.results,
            [
                gradients[position] if position in gradients else np.zeros(value.shape, value.dtype)
                for position, value in zip(made.positions, leaves_of(made.results))
            ],
        )
        with resumed(outer):
            by_argument = made.custom.pull_back(made.arguments, made.residuals, cotangent)
        before = wrt + _continuous_positions(recording, recording.cuts[:index])
        by_leaf = _by_leaf(made, by_argument, outer, name)
        _, found = _derive(recording, name, [inner for inner, _ in pairs], before, by_leaf)
        for position, gradient in zip(before, found):
            known = gradients.get(position)
            gradients[position] = gradient if known is None else known + gradient
    return values, [gradients[position] for position in wrt]


def _by_leaf(made, by_argument, outer, name):
    """The gradients with respect to the arguments of a cut that have derivatives; None is zero."""
    by_argument = tuple(
        mapped(argument, zero_of) if gradient is None else gradient
        for argument, gradient in zip(made.arguments, by_argument)
    )
    found = leaves_like(made.arguments, by_argument)
    if found is None:
        raise TypeError(
            f"the derivative of {made.custom.__qualname__} gives {shown(by_argument)}, not "
            f"{shown(made.arguments)}: one gradient for each argument, in the same containers"
        )
    checked = []
    for argument, gradient in zip(leaves_of(made.arguments), found):
        if has_derivative(argument):
            checked.append(outer.tracer(of_type(gradient, argument, made.custom, "gradient"), name))
    return checked


def zero_of(value):
    """The gradient or tangent zero of an array or number."""
    return np.zeros(np.shape(value), getattr(value, "dtype", None))


def of_type(value, like, custom, what):
    """A gradient or tangent that the derivative of a function gave, in the type of its value."""
    if is_number(value):
        value = np.asarray(value, like.dtype)
    if value.dtype != like.dtype or tuple(value.shape) != tuple(like.shape):
        raise TypeError(
            f"the derivative of {custom.__qualname__} gives a {what} of {value.dtype}{list(value.shape)} for "
            f"{like.dtype}{list(like.shape)}; both have the same type"
        )
    return value


def push_forward_cuts(recording, name, results, wrt, tangents):
    """The results of a recorded function, and their tangents in the direction of ``tangents`` of the
    parameters at the positions ``wrt``."""
    outer, wrt, tangents = recording.outer, list(wrt), list(tangents)
    for made in recording.cuts:
        if made.custom.is_flat:
            continue
        pairs = made.leaves()
        _, found = _push_forward(recording, name, [inner for inner, _ in pairs], wrt, tangents)
        found = iter(found)
        by_leaf = [
            next(found) if has_derivative(inner) else zero_of(inner) for inner in leaves_of(made.inner)
        ]
        with resumed(outer):
            given = made.custom.push_forward(made.arguments, filled(made.arguments, by_leaf))
        given = leaves_like(made.results, given)
        if given is None:
            raise TypeError(f"the derivative of {made.custom.__qualname__} gives no tangent for each result")
        for position, result, tangent in zip(made.positions, leaves_of(made.results), given):
            if has_derivative(result):
                wrt.append(position)
                tangents.append(outer.tracer(of_type(tangent, result, made.custom, "tangent"), name))
    return _push_forward(recording, name, results, wrt, tangents)


def _continuous_positions(recording, cuts):
    """The positions of the results of cuts that have derivatives."""
    positions = [position for made in cuts if not made.custom.is_flat for position in made.positions]
    return [position for position in positions if has_derivative(recording.sources[position])]


def _derive(recording, name, results, wrt, cotangents):
    outer = recording.outer
    names = None if cotangents is None else [cotangent._name for cotangent in cotangents]
    parts = recording.as_function(results), wrt, names, f"{name}(...)"
    return _split(outer, _recorded(outer.recorder(name).derive, parts), len(results))


def _push_forward(recording, name, results, wrt, tangents):
    if not results:
        return [], []
    outer = recording.outer
    names = [tangent._name for tangent in tangents]
    parts = recording.as_function(results), wrt, names, f"{name}(...)"
    return _split(outer, _recorded(outer.recorder(name).push_forward, parts), len(results))


def _recorded(transform, parts):
    """The values that a derivative adds to a recording; an error says what to write in Python."""
    try:
        return transform(*parts)
    except ElementTypeError as error:
        if error.code != "not-differentiable":
            raise
        raise with_derivatives(error) from None


def _split(outer, descriptions, count):
    values = [Tracer(outer, description, OWNED) for description in descriptions]
    return values[:count], values[count:]
