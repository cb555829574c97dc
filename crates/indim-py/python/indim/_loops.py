"""``while_loop``, ``fori_loop``, ``scan``, ``cond`` and ``switch``: loops and branches with JAX's signatures.

Their functions are recorded by themselves, within the recording around them (`_regions.py`). Outside of
compiled functions they are compiled for the types of their arguments.
"""

from __future__ import annotations

import functools
import operator

import numpy as np

from . import _regions
from ._foreign import package_of
from ._jit import CompiledFunction
from ._operands import has_tracer
from ._recording import innermost, running_recording
from ._tracing import Tracer
from ._trees import filled, leaves_of, mapped, structure_of

#: The limit on the steps of a loop, unless the caller sets another.
STEP_LIMIT = 1 << 32


def while_loop(cond_fun, body_fun, init_val, *, limit=None):
    """The final state of a loop: while ``cond_fun(state)`` is true, ``body_fun(state)`` is the next state.

    The state is an array, a number, or lists, tuples and dicts of them. A step keeps its element types and
    shapes; a Python number begins as an array of rank 0. Both functions run once, on traced values, and so
    do their side effects. More than ``limit`` steps, 2**32 by default, are an error.

    >>> import indim, numpy as np
    >>> float(indim.while_loop(lambda x: x >= 2.0, lambda x: x * 0.5, 10.0))
    1.25
    """
    limit = STEP_LIMIT if limit is None else operator.index(limit)
    if not 0 <= limit < 1 << 63:
        raise ValueError(f"the limit of a loop is a number of steps, not {limit}")
    return record_or_run("while_loop", _regions.while_loop, (cond_fun, body_fun), (limit,), init_val)


def fori_loop(lower, upper, body_fun, init_val, *, unroll=None):
    """The final state of a counted loop: ``body_fun(i, state)`` is the next state, for each ``i`` from
    ``lower`` to ``upper``, which is not included.

    The counter is an ``int64``. See ``while_loop`` for the state. JAX's hint ``unroll`` has no effect.

    >>> import indim, numpy as np
    >>> int(indim.fori_loop(1, 5, lambda i, total: total + i, 0))
    10
    """
    return record_or_run("fori_loop", _regions.fori_loop, (body_fun,), (), (lower, upper, init_val))


def scan(f, init, xs=None, length=None, reverse=False, unroll=1):
    """A loop over the parts of arrays along axis 0: ``carry, y = f(carry, x)``. Returns the last carry, and
    the ``y`` of all steps, stacked along a new axis 0.

    ``xs`` is an array, or lists, tuples and dicts of arrays; without it, ``length`` is the number of steps.
    ``reverse`` begins at the last part. The carry is like the state of ``while_loop``. JAX's hint ``unroll``
    has no effect.

    >>> import indim, numpy as np
    >>> last, sums = indim.scan(lambda total, x: (total + x, total + x), 0, np.array([1, 2, 3]))
    >>> int(last), sums
    (6, array([1, 3, 6]))
    """
    _check_unlabelled("scan", leaves_of((init, xs)))
    steps = _length(xs, length)
    return record_or_run("scan", _regions.scan, (f,), (steps, bool(reverse)), (init, xs))


def cond(pred, true_fun, false_fun, *operands):
    """``true_fun(*operands)`` if ``pred``, one bool or number, is true, or else ``false_fun(*operands)``.

    Only the chosen function's operations run. Both return the same types.

    >>> import indim, numpy as np
    >>> float(indim.cond(True, lambda x: x + 1.0, lambda x: -x, np.float64(3.0)))
    4.0
    """
    return record_or_run("cond", _regions.cond, (true_fun, false_fun), (), (pred, operands))


def switch(index, branches, *operands):
    """``branches[index](*operands)``, with the index clipped to the branches.

    Only the chosen function's operations run. All return the same types.

    >>> import indim, numpy as np
    >>> float(indim.switch(7, [lambda x: x, lambda x: -x], np.float64(3.0)))
    -3.0
    """
    branches = tuple(branches)
    if not branches:
        raise ValueError("switch takes at least one branch")
    return record_or_run("switch", _regions.switch, branches, (), (index, operands))


def record_or_run(name, record, functions, options, arguments):
    """The result of ``record(functions, *options, recording, arguments)``, in the recording around, or
    compiled for the types of the arguments."""
    for function in functions:
        if not callable(function):
            raise TypeError(f"{name} takes functions, not {type(function).__name__}")
    leaves = list(leaves_of(arguments))
    _check_unlabelled(name, leaves)
    outer = running_recording()
    if outer is None and has_tracer(leaves):
        outer = innermost(leaves)
    if outer is not None:
        return record(functions, *options, outer, arguments)
    key = name, record, functions, options, structure_of(arguments, _kind)
    try:
        hash(key)
    except TypeError:
        compiled = _Compiled(name, record, functions, options, arguments)
    else:
        compiled = _compiled(*key, _Template(arguments))
    return compiled(leaves)


def _check_unlabelled(name, leaves):
    for leaf in leaves:
        package = package_of(leaf)
        if package in ("xarray", "pandas"):
            values = "`x.data`" if package == "xarray" else "`x.to_numpy()`"
            again = ", and label what comes of it, `x.copy(data=result)`" if package == "xarray" else ""
            raise TypeError(
                f"{name} takes arrays without labels, and one is a {type(leaf).__name__} of {package}: pass "
                f"{values}{again}"
            )


def _kind(leaf):
    """The types by which the programs of a loop differ."""
    dtype = getattr(leaf, "dtype", None)
    return type(leaf) if dtype is None else (str(dtype), np.ndim(leaf))


class _Template:
    """Arguments as a template of their structure; all templates are equal, so that a cache ignores them."""

    def __init__(self, arguments):
        self.arguments = mapped(arguments, lambda leaf: 0)

    def __eq__(self, other):
        return isinstance(other, _Template)

    def __hash__(self):
        return 0


@functools.lru_cache(maxsize=64)
def _compiled(name, record, functions, options, structure, template):
    return _Compiled(name, record, functions, options, template.arguments)


class _Compiled:
    """A loop or branch compiled for arguments of one structure."""

    def __init__(self, name, record, functions, options, arguments):
        template = mapped(arguments, lambda leaf: 0)
        results = []

        def flat(*operand):
            # `functions` is a free variable of `flat`, by which the search for captured values reaches the
            # captured values of these functions.
            result = record(functions, *options, running_recording(), filled(template, operand))
            results[:] = [mapped(result, lambda leaf: 0)]
            return list(leaves_of(result))

        flat.__module__ = getattr(functions[0], "__module__", None)
        flat.__qualname__ = flat.__name__ = name
        self._flat, self._results = CompiledFunction(flat), results

    def __call__(self, leaves):
        results = self._flat(*leaves)
        return filled(self._results[0], results)


def _length(xs, length):
    """The number of steps of a scan."""
    sizes = set() if length is None else {operator.index(length)}
    for leaf in leaves_of(xs):
        shape = leaf._shape if isinstance(leaf, Tracer) else np.shape(leaf)
        if not shape:
            raise ValueError("scan takes parts along axis 0, and an array of `xs` has no axes")
        # The sizes of a traced value are part of the program once they are read.
        sizes.add(leaf.shape[0] if isinstance(leaf, Tracer) else shape[0])
    if len(sizes) != 1 or min(sizes) < 0:
        problem = "none is given" if not sizes else f"there are {sorted(sizes)}"
        raise ValueError(f"scan needs one length, that of axis 0 of `xs` or `length`, and {problem}")
    return sizes.pop()
