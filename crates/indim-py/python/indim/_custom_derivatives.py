"""``custom_jvp`` and ``custom_vjp``: functions with derivatives of their own, with JAX's interface.

Without a derivative around it, a call is a call of the function. `_custom_cuts.py` differentiates recorded
functions that call one.
"""

from __future__ import annotations

import functools
import operator
import sys

import numpy as np

from ._custom_cuts import cut, has_derivative, zero_of
from ._gradients import traced_pullback
from ._numbers import Number
from ._operands import has_tracer
from ._recording import resumed, running_recording
from ._signatures import signature_of
from ._tracing import Tracer
from ._transformed import name_of
from ._trees import leaves_of, mapped, shown
from ._vectorized import vectorised


class _CustomFunction:
    """A function with a derivative of its own."""

    #: Whether the derivative is zero: nothing is then differentiated for the function, or for its arguments.
    is_flat = False

    def __init__(self, fun, nondiff_argnums=()):
        functools.update_wrapper(self, fun)
        self.__qualname__ = name_of(fun).removesuffix(".__wrapped__")
        self._signature = signature_of(fun, self.__qualname__)
        positions = (nondiff_argnums,) if isinstance(nondiff_argnums, int) else tuple(nondiff_argnums)
        self.nondiff_argnums = tuple(sorted(map(operator.index, positions)))
        #: The functions of the derivative. The search for captured objects finds them here, and copies get
        #: other ones: see `_captured.py` and `_indexable.py`.
        self._rules = ()
        #: The same function without calls of functions with derivatives of their own, or None. Its operations
        #: are differentiated in the functions of loops and branches, which cannot use the rules.
        self._in_loops = None

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def _remade(self, fun):
        """Another function with this derivative."""
        made = type(self)(fun, self.nondiff_argnums)
        made._rules, made._in_loops = self._rules, self._in_loops
        return made

    def __repr__(self):
        return f"<indim.{type(self).__name__} of {self.__qualname__!r}>"

    def __reduce__(self):
        function = self.__wrapped__
        if _found(function.__module__, self.__qualname__) is self:
            if function.__module__ != "__main__":
                return self.__qualname__
            if not function.__qualname__.endswith(".__wrapped__"):
                # The function's name refers to this object, so the pickled function needs another name.
                function.__qualname__ += ".__wrapped__"
        # The rules may call this function, so they are no part of the call that makes it.
        return _restored, (type(self), function, self.nondiff_argnums), {"_rules": self._rules}

    def __setstate__(self, state):
        self._rules = state["_rules"]

    def __call__(self, *args, **kwargs):
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        args = bound.args
        if bound.kwargs:
            raise TypeError(f"{self.__qualname__} has keyword-only arguments, which {self!r} cannot take")
        if not self._rules:
            raise AttributeError(f"{self!r} has no derivative yet: call {self._setter} on it")
        recording = running_recording()
        if recording is None or not has_tracer(args):
            return self.__wrapped__(*args)
        return self._recorded(recording, args)

    def _recorded(self, recording, args):
        """The results in the recording that runs."""
        if recording.derivative_mode is None and recording.batch is None:
            return self._usable(recording)(*args)
        own = [leaf for leaf in leaves_of(args) if isinstance(leaf, Tracer) and leaf._recording is recording]
        if not own:
            with resumed(recording.outer):
                return self(*args)
        for position in self.nondiff_argnums:
            if position < len(args) and has_tracer(args[position]):
                raise TypeError(
                    f"argument {position} of {self.__qualname__} is in nondiff_argnums, and a traced value: "
                    "an array has a derivative, so take it out, and return None or zeros for its gradient"
                )
        bound = _Bound(self, args)
        inner = tuple(arg for position, arg in enumerate(args) if position not in self.nondiff_argnums)
        return _called(recording, bound, inner, lambda: self._usable(recording)(*args))

    def _usable(self, recording):
        """The function whose operations are recorded, where the rules are not used.

        The function of a loop or branch that is differentiated from outside needs one without rules. A
        reduction by such a function is recorded again, operation by operation.
        """
        if not _is_differentiated(recording):
            return self.__wrapped__
        if recording.probe is not None:
            recording.probe.has_custom_calls = True
            return self.__wrapped__
        if self._in_loops is None:
            while recording.batch is not None:
                # The function of the loop or branch computes the batch.
                recording = recording.outer
            raise TypeError(
                f"{self.__qualname__} has a derivative of its own, which {recording.function} cannot use if "
                "it is differentiated from outside: call it outside the loop or branch, or give a function "
                "around the loop or branch its derivative"
            )
        return self._in_loops


def _found(module, name):
    """The object of this name in a module; None if it has none."""
    found = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _restored(kind, function, nondiff_argnums):
    """The function of a pickle: the module's own, if it has one."""
    found = _found(function.__module__, function.__qualname__.removesuffix(".__wrapped__"))
    is_own = isinstance(found, _CustomFunction) and found.__wrapped__ is function
    return found if is_own else kind(function, nondiff_argnums)


def _called(recording, custom, arguments, otherwise):
    """The results of a call that something may differentiate; without a rule those of ``otherwise()``."""
    if recording.derivative_mode is not None:
        return cut(recording, custom, arguments)
    if recording.batch is not None and _takes_cuts(recording.outer):
        return _called_by_element(recording.batch, custom, arguments)
    return otherwise()


def _takes_cuts(recording):
    """Whether a recording, or the one around its batch, is differentiated."""
    while recording is not None and recording.derivative_mode is None and recording.batch is not None:
        recording = recording.outer
    return recording is not None and recording.derivative_mode is not None


def _is_differentiated(recording):
    while recording is not None and recording.derivative_mode is None:
        recording = recording.outer
    return recording is not None


def _called_by_element(batch, custom, inner):
    """The results of a call for one element of a batch. The recording around computes them for all elements,
    so that it can differentiate the call."""
    recording, name = batch.recording, custom.__qualname__
    # Arrays from outside get a batch axis too.
    arrays = [recording.tracer(leaf, name) for leaf in leaves_of(inner) if _is_array(leaf)]
    values = iter(batch.values(arrays, [0] * len(arrays)))
    arguments = mapped(inner, lambda leaf: next(values) if _is_array(leaf) else leaf)
    with resumed(recording.outer):
        results = Batched(custom)(*arguments)
    return mapped(results, lambda leaf: batch.parameter(leaf, 0))


def _is_array(leaf):
    return isinstance(leaf, Tracer) or (hasattr(leaf, "__array__") and not isinstance(leaf, Number))


class _Bound:
    """A call of a function with a derivative of its own; it takes the arguments that have derivatives."""

    def __init__(self, custom, args):
        self._custom, self._args = custom, args
        self.__qualname__, self.is_flat = custom.__qualname__, custom.is_flat
        self.nondiff = tuple(args[position] for position in custom.nondiff_argnums if position < len(args))

    def all_arguments(self, arguments):
        """The arguments with the others in their places."""
        arguments = iter(arguments)
        nondiff = self._custom.nondiff_argnums
        return [arg if position in nondiff else next(arguments) for position, arg in enumerate(self._args)]

    def __call__(self, *arguments):
        return self._custom(*self.all_arguments(arguments))

    def forward(self, mode, arguments):
        """The results, and the residuals, which ``pull_back`` takes."""
        return self._custom._forward(self, mode, arguments)

    def pull_back(self, arguments, residuals, cotangent):
        """The gradient with respect to each argument; None is zero."""
        return self._custom._pull_back(self, arguments, residuals, cotangent)

    def push_forward(self, arguments, tangents):
        """The tangents of the results."""
        return self._custom._push_forward(self, arguments, tangents)


class Batched:
    """The call of a function with a derivative of its own for every element of a batch. All arguments have
    the batch axis 0."""

    def __init__(self, bound):
        self._bound = bound
        self.__qualname__, self.is_flat = bound.__qualname__, bound.is_flat

    def __call__(self, *arguments):
        every = functools.partial(self._vectorised, self._bound, arguments)
        return _called(running_recording(), self, arguments, every)

    def _vectorised(self, function, arguments):
        def of_element(*arguments):
            return function(*arguments)

        of_element.__qualname__ = self.__qualname__
        return vectorised(of_element, arguments, {}, 0, 0)

    def forward(self, mode, arguments):
        def of_element(*arguments):
            results, residuals = self._bound.forward(mode, arguments)
            return results, residuals

        return self._vectorised(of_element, arguments)

    def pull_back(self, arguments, residuals, cotangent):
        return self._vectorised(self._bound.pull_back, (arguments, residuals, cotangent))

    def push_forward(self, arguments, tangents):
        return self._vectorised(self._bound.push_forward, (arguments, tangents))


class custom_jvp(_CustomFunction):
    """A function whose derivative is given by a rule for tangents, like JAX's ``custom_jvp``.

    The rule ``jvp(primals, tangents)`` returns the results and their tangents, and is linear in the tangents.
    Arguments at ``nondiff_argnums`` have no derivatives: the rule gets them first.

    >>> import indim, numpy as np
    >>> @indim.custom_jvp
    ... def root(x):
    ...     return np.sqrt(x)
    >>> @root.defjvp
    ... def root_jvp(primals, tangents):
    ...     (x,), (t,) = primals, tangents
    ...     return root(x), np.where(x > 0, t / (2 * np.sqrt(np.where(x > 0, x, 1))), 0)
    >>> indim.grad(lambda x: np.sum(root(x)))(np.array([0.0, 4.0]))
    array([0.  , 0.25])
    """

    _setter = ".defjvp(rule)"

    def defjvp(self, jvp, symbolic_zeros=False):
        """Sets the rule, which it returns."""
        if symbolic_zeros:
            raise TypeError("symbolic_zeros: indim gives tangents of zeros as arrays")
        self._rules = (jvp,)
        return jvp

    def defjvps(self, *jvps):
        """Sets a rule for each argument, ``jvp(tangent, result, *primals)``; None if it has no tangent."""
        if self.nondiff_argnums:
            raise TypeError("defjvps takes no nondiff_argnums: use defjvp")

        self._rules = None, *jvps

    @property
    def is_flat(self):
        jvp, *jvps = self._rules
        return jvp is None and all(rule is None for rule in jvps)

    def _rule(self, call, primals, tangents):
        jvp, *jvps = self._rules
        if jvp is None:
            result = self(*primals)
            terms = [rule(t, result, *primals) for rule, t in zip(jvps, tangents) if rule is not None]
            return result, sum(terms[1:], terms[0]) if terms else mapped(result, np.zeros_like)
        pair = jvp(*call.nondiff, tuple(primals), tuple(tangents))
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(
                f"the rule of {self.__qualname__} returns {shown(pair)}, not (results, tangents)"
            )
        return pair

    def _forward(self, call, mode, arguments):
        return call(*arguments), None

    def _push_forward(self, call, arguments, tangents):
        return self._rule(call, arguments, tangents)[1]

    def _pull_back(self, call, arguments, residuals, cotangent):
        # The tangents are linear in those of the arguments, so their gradients at zero transpose the rule.
        zeros = [mapped(argument, zero_of) for argument in arguments]
        are_given = [any(map(has_derivative, leaves_of(argument))) for argument in arguments]

        def tangents_of(*tangents):
            tangents = iter(tangents)
            given = tuple(next(tangents) if is_given else zero for is_given, zero in zip(are_given, zeros))
            return self._rule(call, arguments, given)[1]

        tangents_of.__qualname__ = self.__qualname__
        given = [zero for is_given, zero in zip(are_given, zeros) if is_given]
        found = iter(traced_pullback(tangents_of, given, cotangent))
        return tuple(next(found) if is_given else None for is_given in are_given)


class custom_vjp(_CustomFunction):
    """A function whose derivative is given by a rule for cotangents, like JAX's ``custom_vjp``.

    ``fwd(*args)`` returns the results and residuals, and ``bwd(residuals, cotangents)`` a tuple with the
    gradient for each argument, or None for zeros. Arguments at ``nondiff_argnums`` have no gradients: ``bwd``
    gets them first.

    >>> import indim, numpy as np
    >>> @indim.custom_vjp
    ... def clipped(x):
    ...     return x
    >>> clipped.defvjp(lambda x: (x, None), lambda _, g: (np.clip(g, -1, 1),))
    >>> indim.grad(lambda x: np.sum(5 * clipped(x)))(np.array([1.0, 2.0]))
    array([1., 1.])
    """

    _setter = ".defvjp(fwd, bwd)"

    def defvjp(self, fwd, bwd, symbolic_zeros=False, optimize_remat=False):
        """Sets the rules."""
        if symbolic_zeros:
            raise TypeError("symbolic_zeros: indim gives cotangents of zeros as arrays")
        self._rules = fwd, bwd

    def _forward(self, call, mode, arguments):
        if mode == "forward":
            raise TypeError(
                f"{self.__qualname__} has a derivative by custom_vjp, which has no tangents: use grad, vjp "
                "or jacrev, or define its derivative by custom_jvp"
            )
        pair = self._rules[0](*call.all_arguments(arguments))
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(
                f"fwd of {self.__qualname__} returns {shown(pair)}, not (results, residuals)"
            )
        return pair

    def _pull_back(self, call, arguments, residuals, cotangent):
        gradients = self._rules[1](*call.nondiff, residuals, cotangent)
        if not isinstance(gradients, (tuple, list)) or len(gradients) != len(arguments):
            raise TypeError(
                f"bwd of {self.__qualname__} returns {shown(gradients)}, not a tuple of {len(arguments)}, "
                "one gradient for each argument"
            )
        return tuple(gradients)
