"""Stages of compiled functions whose sizes depend on data.

How many elements ``x[mask]`` has is known when the mask is computed. So such a function runs in stages: each
computes a mask, and the next one takes the positions of its true elements as an argument, whose size is known
when it runs. The size of ``np.bincount(x)`` is a number: its stage computes that, and the next one takes the
positions below it. A call that NumPy computes (`_host_calls.py`) is a stage that computes its operands, and
the next one takes its results. The last stage computes the results. All stages run the function from its
beginning; what only an earlier mask needs is left out of their programs.
"""

from __future__ import annotations

import numpy as np

from ._custom_cuts import evaluated
from ._indim import CompiledFunction as _CompiledFunction
from ._recording import running_recording
from ._signatures import ADAPTED
from ._trace_function import trace as _trace

#: Maximum number of masks of a function. Each further one traces the function again.
MAX_MASKS = 32


#: Lengths that stand for errors of ``np.arange``.
STEP_OF_ZERO, FIRST_OUTSIDE = -(1 << 62), -(1 << 62) - 1


class SizeFromDataError(TypeError):
    """A size depends on data, where a function is traced without its arguments' data."""


# User code that catches errors should not catch these, so they are no ``Exception``. If it does, the
# recording still knows them: see `Recording.ended`.


class _NoData(BaseException):
    """Ends the run of a function that is traced without data."""


class _MaskFound(BaseException):
    """Ends the run of a function at a mask whose positions it needs, or at a length that it needs."""

    def __init__(self, kind, value):
        super().__init__(f"a {kind} is not known")
        self.kind, self.value = kind, value


class _Positions:
    """The positions that the earlier stages computed, in the order of the masks."""

    def __init__(self, given, stages):
        self._given, self._stages = iter(given.values()), stages
        #: By recording and name of a mask. The key holds the recording, so that its id is unique.
        self._known = {}

    def of(self, kind, value, recording):
        """The positions of a mask, or those below a length; ``recording`` is the outermost one."""
        key = kind, value._recording, value._name
        if key not in self._known:
            self._known[key] = next(self._given, None)
        if self._known[key] is None:
            raise recording.ended(_MaskFound(kind, _outermost(value)))
        return self._known[key]

    def result_of(self, call, operands, recording):
        """The result of a call that NumPy computed."""
        key = call.key(), recording, tuple(operand._name for operand in operands)
        if key not in self._known:
            self._known[key] = next(self._given, None)
        if self._known[key] is None:
            raise recording.ended(_MaskFound(self._stages.noted(call), operands))
        return self._known[key]


def positions_of(mask, subject, advice):
    """The positions, in ``mask.ravel()``, of the true elements of a traced mask. Where no stage can compute
    it, the error says that ``subject`` is not known, and ``advice``."""
    return _positions("mask", mask, subject, advice)


def positions_below(length, subject, advice):
    """The numbers from 0 to below a traced whole number, which is one size of a result. The other arguments
    are those of ``positions_of``."""
    return _positions("length", length, subject, advice)


def _positions(kind, value, subject, advice):
    recording = value._recording
    while recording.outer is not None:
        if recording.derivative_mode is None:
            raise TypeError(
                f"{subject} depends on data, and loops, branches, `vmap` and Jacobians have no stages: "
                f"{advice}"
            )
        recording = recording.outer
    if recording.positions is None:
        raise recording.ended(
            _NoData(
                f"{subject} depends on data, which types, exported programs and arrays of Dask, Cubed and "
                f"xarray do not have here: {advice}"
            )
        )
    return recording.positions.of(kind, value, recording)


def result_of_call(call, operands, recording):
    """The result of a call that NumPy computes, of values of the outermost recording."""
    if recording.positions is None:
        raise recording.ended(
            _NoData(
                f"{call.name} is computed by NumPy between two programs, which types, exported programs and "
                "arrays of Dask, Cubed and xarray do not have here: compute it before the call and pass it "
                "as an argument"
            )
        )
    return recording.positions.result_of(call, operands, recording)


def trace(function, recorder, arguments):
    """``trace`` of `_trace_function.py` of a function that has no stages."""
    try:
        return _trace(function, recorder, arguments)
    except _NoData as found:
        # The traceback ends at the line that needs the size.
        raise SizeFromDataError(str(found)).with_traceback(found.__traceback__) from None


def _outermost(value):
    """A value of a differentiated function, computed by the recording around all others."""
    recording, value = value._recording, value.reshape(-1)
    while recording.outer is not None:
        (value,) = evaluated(recording, [value])
        recording = recording.outer
    return value


class Stages:
    """The stages of a compiled function: the function ``body`` of its arguments by position."""

    def __init__(self, compiled, body):
        def stage(positions, *arguments):
            recording = running_recording()
            recording.positions, results = _Positions(positions, self), None
            try:
                results = body(*arguments)
            except _MaskFound:
                pass
            found, recording.end = recording.end, None
            return {"results": results} if found is None else {found.kind: found.value}

        stage.__qualname__ = name = _name_of(body)
        setattr(stage, ADAPTED, getattr(body, ADAPTED, body))
        rows = [("positions", "position", False, None), *map(_by_position, compiled._parameters)]
        self._name = name
        #: The calls that NumPy computes, by the keys of their operands among the results of a stage.
        self._calls = {}
        self._program = _CompiledFunction(stage, rows, lambda args, kwargs: args, _trace)

    def noted(self, call):
        """The key of the operands of a call. The first call of a function of NumPy gives a warning."""
        if all(known.name != call.name for known in self._calls.values()):
            call.warn()
        return self._calls.setdefault(call.key(), call).key()

    def run(self, arguments, order):
        """The results for ``arguments``, all of them by position."""
        return self._last_stage(arguments, order)[0]

    def explain(self, arguments):
        """The explanation of the last stage for ``arguments``, or, if that is None, for the last call."""
        if arguments is None:
            return self._program._explain()
        _, positions = self._last_stage(arguments, "K")
        return self._program._explain(positions, *arguments)

    def run_with_graphs(self, arguments, check):
        """The results in a dict with the key ``"results"``, whose graph is that of the last stage. ``check``
        gets the parts of the graph of each stage before it runs."""
        return {"results": self._last_stage(arguments, "K", check)[0]}

    def _last_stage(self, arguments, order, check=None):
        # An empty tuple would be an array without elements.
        positions = {}
        while len(positions) <= MAX_MASKS:
            if check is not None:
                check(self._program._graph((positions, *arguments)))
            found = self._program(positions, *arguments, order=order)
            if "results" in found:
                return found["results"], positions
            positions[str(len(positions))] = self._argument(*found.popitem())
        raise TypeError(
            f"{self._name} has more than {MAX_MASKS} sizes that depend on data, and each is a stage of its "
            "own: take sizes that are large enough, as in indim.extract(mask, x, size=k), or loop outside"
        )

    def _argument(self, kind, value):
        """What the next stage takes for the result of a stage."""
        if kind == "mask":
            return np.flatnonzero(value)
        return np.arange(_checked(value.item())) if kind == "length" else self._calls[kind](value)


def _checked(length):
    """A size that a stage computed; one beyond the memory of any machine is an error before its array."""
    if length == STEP_OF_ZERO:
        raise ValueError("np.arange with the step 0")
    if length == FIRST_OUTSIDE:
        raise OverflowError("a number of np.arange is out of bounds for its type")
    if not 0 <= length < 1 << 48:
        raise ValueError(f"a size that depends on data is {length}: it is negative, or beyond any memory")
    return length


def _name_of(function):
    return getattr(function, "__qualname__", None) or repr(function)


def _by_position(row):
    name, kind, is_static, default = row
    return name, "rest" if kind == "rest" else "position", is_static, default


def run(compiled, body, arguments, out, order):
    """The results of a compiled function for arguments by position. The compiled part calls it."""
    return _stages_of(compiled, body, out).run(arguments, order)


def _stages_of(compiled, body, out):
    if out is not None:
        raise TypeError(
            f"the sizes of {_name_of(body)} depend on data, so it takes no `out`: leave it out, and copy "
            "the results"
        )
    if compiled._stages is None:
        compiled._stages = Stages(compiled, body)
    return compiled._stages


def run_with_graphs(compiled, body, arguments, out, check):
    """``Stages.run_with_graphs`` of a compiled function whose sizes depend on data; None if they do not."""
    if compiled._stages is None:
        try:
            compiled._graph(arguments)
            return None
        except SizeFromDataError:
            pass
    return _stages_of(compiled, body, out).run_with_graphs(arguments, check)
