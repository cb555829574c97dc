"""NumPy's factorisations of traced matrices. A stage computes the operands of the call, NumPy computes the
call, and the next stage takes the results as arguments: see `_data_stages.py`.

So the bits of these results are LAPACK's, which differ between machines, and the results have no derivative.
"""

from __future__ import annotations

import warnings

import numpy as np

from . import _captured, _data_stages
from ._handlers import implements
from ._linear_algebra import known_least_squares
from ._numbers import plain_value
from ._operands import has_tracer, tracer_of
from ._recording import running_recording
from ._tracing import Tracer
from ._trees import leaves_of, mapped

#: Functions of `numpy.linalg` that NumPy computes.
NAMES = (
    *("cond", "eig", "eigh", "eigvals", "eigvalsh", "matrix_rank", "pinv", "qr", "svd", "svdvals"),
    *("tensorinv", "tensorsolve"),
)

#: Stands for an operand in the arguments of a call.
_OPERAND = object()


class HostCall:
    """A call of a function of NumPy, whose operands a stage computes."""

    def __init__(self, function, arguments):
        self._function, self._arguments = function, arguments
        self.name = f"{function.__module__}.{function.__name__}"

    def __call__(self, operands):
        """The result for these arrays: an array, or a tuple of arrays."""
        operands = iter(operands)
        args, kwargs = mapped(self._arguments, lambda leaf: next(operands) if leaf is _OPERAND else leaf)
        result = self._function(*args, **kwargs)
        return mapped(result, np.asarray)

    def key(self):
        """A text that equal calls of the program have in common."""
        return f"{self.name}{mapped(self._arguments, lambda leaf: '_' if leaf is _OPERAND else leaf)!r}"

    def warn(self):
        """Says, at the line of the call, that NumPy computes it."""
        frame = _captured.innermost_user_frame()
        warnings.warn_explicit(
            f"{running_recording().function} is compiled around a call of {self.name}: NumPy computes it "
            "between two programs, so its bits are those of LAPACK on this machine, and it has no "
            "derivative. Each program computes what it needs from the arguments",
            RuntimeWarning,
            frame.f_code.co_filename,
            frame.f_lineno,
        )


def _called(function, args, kwargs):
    """The traced result of a call with traced operands."""
    arguments = mapped((args, kwargs), plain_value)
    operands = [leaf for leaf in leaves_of(arguments) if _is_operand(leaf)]
    call = HostCall(function, mapped(arguments, lambda leaf: _OPERAND if _is_operand(leaf) else leaf))
    recording = tracer_of(operands)._recording.outermost()
    for operand in operands:
        if isinstance(operand, Tracer) and operand._recording is not recording:
            raise TypeError(
                f"{call.name} is computed by NumPy between two programs, which loops, branches, `vmap` and "
                "derivatives do not have: call it before them, on values that they take as arguments"
            )
    operands = [recording.tracer(operand, "operand") for operand in operands]
    result = _data_stages.result_of_call(call, operands, recording)
    return mapped(result, lambda leaf: leaf._made_by_numpy())


def _is_operand(leaf):
    return isinstance(leaf, (Tracer, np.ndarray))


def _handle(function):
    @implements(function)
    def handler(*args, **kwargs):
        return _called(function, args, kwargs)


for _name in NAMES:
    # NumPy has `svdvals` since version 2.0.
    if hasattr(np.linalg, _name):
        _handle(getattr(np.linalg, _name))
_handle(np.roots)
del _name


@implements(np.linalg.lstsq)
def _lstsq(a, b, rcond=None):
    if has_tracer((a, rcond)):
        return _called(np.linalg.lstsq, (a, b, rcond), {})
    return known_least_squares(a, b, rcond)
