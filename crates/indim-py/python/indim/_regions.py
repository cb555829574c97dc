"""Recordings of the functions of loops and branches, as steps of the recording around them (`regions.rs`)."""

from __future__ import annotations

import numpy as np

from . import _foreign, _functions, _scatters
from ._indim import Recorder
from ._numbers import Number, is_number, plain_value
from ._recording import Recording, as_identifier, running
from ._traced_memory import OWNED
from ._tracing import Tracer
from ._trees import filled, leaves_like, leaves_of, mapped, paths_of, shown

#: The limit of counted loops, which end anyway.
_NO_LIMIT = (1 << 63) - 1


def while_loop(functions, limit, outer, init):
    """The final state of ``indim.while_loop``."""
    condition_of, body_of = functions
    # One of the states may be the counter.
    initial = [_value(outer, _known(outer, leaf)) for leaf in leaves_of(init)]
    names = _names(init, "state")
    condition = _condition(
        outer, "while_loop", initial, names, lambda *states: condition_of(filled(init, states))
    )
    body = Body(outer, "the body of while_loop")
    with running(body.recording):
        states = body.states(initial, names)
        results = body.results(init, body_of(filled(init, states)), "state", initial)
        recorded_body = body.finish(results)
    return filled(init, _loop(outer, "while_loop", initial, condition, recorded_body, limit))


def fori_loop(functions, outer, arguments):
    """The final state of ``indim.fori_loop``."""
    (body_of,) = functions
    lower, upper, init = arguments
    lower, upper = _loop_bound(outer, lower), _loop_bound(outer, upper)
    initial = [_value(outer, lower), *_values(outer, init)]
    names = ["i", *_names(init, "state")]
    condition = _condition(outer, "fori_loop", initial, names, lambda i, *_: i < upper)
    body = Body(outer, "the body of fori_loop")
    with running(body.recording):
        i, *states = body.states(initial, names)
        results = body.results(init, body_of(i, filled(init, states)), "state", initial[1:])
        recorded_body = body.finish([i + 1, *results])
    return filled(init, _loop(outer, "fori_loop", initial, condition, recorded_body, _NO_LIMIT)[1:])


def scan(functions, steps, reverse, outer, arguments):
    """The last carry and the stacked results of ``indim.scan``."""
    (function,) = functions
    init, xs = arguments
    initial = [_value(outer, 0), *_values(outer, init)]
    arrays = [_not_empty(array) for array in _values(outer, xs)]
    body = Body(outer, "the function of scan")
    with running(body.recording):
        names = ["i", *_names(init, "carry")]
        step, *states = body.states(initial, names)
        i = steps - 1 - step if reverse else step
        at = [("axis", 0), ("mode", "clip")]
        parts = [_functions.apply("take", (array, i), at, "numpy") for array in arrays]
        carry, ys = _carry_and_result(function(filled(init, states), filled(xs, parts)))
        results = [step + 1, *body.results(init, carry, "carry", initial[1:])]
        for y in [_result(body.recording, leaf) for leaf in leaves_of(ys)]:
            initial.append(_functions.broadcast_to(_zero(outer, y), (steps, *y._shape)))
            names.append("y")
            stack = body.state(len(initial) - 1, initial[-1], "y")
            results.append(_scatters.scatter("scatter_set", stack, i, y, "drop"))
        recorded_body = body.finish(results)
    condition = _condition(outer, "scan", initial, names, lambda i, *_: i < steps)
    finals = _loop(outer, "scan", initial, condition, recorded_body, _NO_LIMIT)
    count = len(states) + 1
    return filled(init, finals[1:count]), filled(ys, finals[count:])


def cond(functions, outer, arguments):
    """The results of ``indim.cond``."""
    pred, operands = arguments
    pred = _value(outer, pred)
    if pred._shape:
        raise TypeError(
            f"the predicate of cond is one bool, not {_type(pred)}: choose element by element by np.where, "
            "or reduce it by np.any or np.all"
        )
    index = pred if pred._dtype == "bool" else pred != 0
    return _record_branch(outer, "cond", index, functions[::-1], operands)


def switch(functions, outer, arguments):
    """The results of ``indim.switch``."""
    index, operands = arguments
    index = _value(outer, index)
    if index._shape or not np.issubdtype(index.dtype, np.integer):
        raise TypeError(f"the index of switch is one integer, not {_type(index)}")
    index = np.clip(index, 0, min(len(functions) - 1, np.iinfo(index.dtype).max))
    return _record_branch(outer, "switch", index, functions, operands)


def _record_branch(outer, name, index, functions, operands):
    """The results of the function at the index; the operands that are numbers stay numbers."""
    operands = mapped(operands, lambda leaf: leaf if is_number(leaf) else _value(outer, leaf))
    bodies, first, types = [], None, None
    for function in functions:
        body = Body(outer, f"a branch of {name}", is_branch=True)
        with running(body.recording):
            returned = function(*mapped(operands, body.lift))
            if first is None:
                first = returned
            results = body.results(first, returned, "result", types)
            bodies.append(body.finish(results))
        types = results if types is None else types
    descriptions = outer.recorder(name).regions(bodies, [index._name], None, f"{name}(...)")
    return filled(first, [Tracer(outer, value, OWNED) for value in descriptions])


class Body:
    """A function recorded within the recording ``outer``; some parameters stand for states."""

    def __init__(self, outer, name, is_branch=False):
        self.recording = Recording(Recorder(), name, outer)
        self.recording.is_branch = is_branch
        self._states = {}

    def state(self, number, initial, name):
        """The parameter for a state, of the type of its initial value."""
        parameter = self.recording.parameter(initial, name)
        self._states[len(self.recording.sources) - 1] = number
        return parameter

    def states(self, initial, names):
        return [self.state(number, *of) for number, of in enumerate(zip(initial, names))]

    def lift(self, leaf):
        return self.recording.lift(leaf) if isinstance(leaf, Tracer) else leaf

    def results(self, expected, returned, what, types):
        """The values that the function returned, in containers like ``expected`` and of these types."""
        name = self.recording.function
        leaves = leaves_like(expected, returned)
        if leaves is None:
            raise TypeError(
                f"{name} returns {shown(returned)}, not {shown(expected)}: return the same containers"
            )
        results = [_result(self.recording, leaf) for leaf in leaves]
        for path, first, result in zip(paths_of(expected, what), types or (), results):
            if _type(first) != _type(result):
                raise TypeError(_changed_type(name, path, first, result))
        return results

    def finish(self, results):
        """The parts of the recorded function, with these results."""
        sources = self.recording.sources
        states = [self._states.get(position, -1) for position in range(len(sources))]
        names = [result._name for result in results]
        return self.recording._recorder, names, [source._name for source in sources], states


def _changed_type(name, path, first, result):
    """The message for a result of another type than the state, or than the first branch's."""
    before = "another branch returns" if path.startswith("result") else "it begins as"
    if first._shape == result._shape:
        advice = f"convert it, as x.astype({first.dtype.name!r})"
        if before == "it begins as":
            advice += f", or begin with {result.dtype.name}"
    else:
        advice = "broadcast or reduce it to that shape"
        if before == "it begins as":
            advice += f", or begin with an array of shape {list(result._shape)}"
    return f"{name} returns {_type(result)} for `{path}`, and {before} {_type(first)}; {advice}"


def _condition(outer, name, initial, names, function):
    """The recorded condition of a loop over these states."""
    body = Body(outer, f"the condition of {name}")
    with running(body.recording):
        result = _result(body.recording, function(*body.states(initial, names)))
        if result._shape:
            raise TypeError(
                f"the condition of {name} is one bool, not {_type(result)}: reduce it by np.any or np.all"
            )
        if result._dtype != "bool":
            raise TypeError(
                f"the condition of {name} is one bool, not {_type(result)}: compare it, as x > 0 or x != 0"
            )
        return body.finish([result])


def _loop(outer, name, initial, condition, body, limit):
    """The values of the final states."""
    states = [state._name for state in initial]
    descriptions = outer.recorder(name).regions([condition, body], states, limit, f"{name}(...)")
    return [Tracer(outer, value, OWNED) for value in descriptions]


def _loop_bound(outer, bound):
    """A bound of a counted loop: a number, or a value of 64 bits."""
    bound = _known(outer, bound)
    if is_number(bound) and type(bound) is int:
        return bound
    bound = _value(outer, bound)
    if bound._shape or not np.issubdtype(bound.dtype, np.integer):
        raise TypeError(f"the bounds of fori_loop are integers, not {_type(bound)}")
    return bound if bound._dtype == "i64" else bound.astype(np.int64)


def _not_empty(array):
    """The array, or an array with one part if it has none: the body is recorded on a part of it."""
    if array._shape[0]:
        return array
    return _functions.broadcast_to(_zero(array._recording, array), (1, *array._shape[1:]))


def _zero(recording, like):
    """A zero of the type of another value."""
    number = Tracer(recording, recording.recorder("0").record("copy", [0], [], "numpy"))
    return number.astype(like.dtype)


def _carry_and_result(returned):
    if not isinstance(returned, (tuple, list)) or len(returned) != 2:
        raise TypeError(
            f"the function of scan returns {shown(returned)}, not (carry, y): the next carry, and a result "
            "of the step or None"
        )
    return returned


def _names(value, what):
    """The names of the leaves in messages about operations of a body."""
    return [as_identifier(path) for path in paths_of(value, what)]


def _values(recording, value):
    """The leaves of ``value`` as values of the recording."""
    return [_value(recording, leaf) for leaf in leaves_of(value)]


def _value(recording, leaf):
    if type(leaf) is Number and not leaf._recording.is_over:
        # It stays a number whose value may differ at the next call.
        recorder = leaf._recording.recorder(leaf._name)
        number = Tracer(leaf._recording, recorder.record("copy", [leaf._name], [], "numpy"))
        return recording.lift(number)
    if is_number(leaf):
        return Tracer(recording, recording.recorder("number").record("copy", [leaf], [], "numpy"))
    return recording.tracer(leaf, "state")


def _known(recording, number):
    """A whole number as a part of the program, if a gradient needs the number of steps of loops."""
    while recording is not None and recording.derivative_mode in (None, "forward"):
        recording = recording.outer
    return plain_value(number) if recording is not None and isinstance(number, int) else number


def _result(recording, leaf):
    """A value that a function returned."""
    if _foreign.is_labelled([leaf]):
        raise TypeError(
            f"{recording.function} returns a {type(leaf).__name__} of xarray, and the states and results of "
            "loops and branches are arrays without labels: return `x.data`"
        )
    return _value(recording, leaf)


def _type(value):
    return f"{value._dtype}{list(value._shape)}"
