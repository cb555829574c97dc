"""``grad``, ``value_and_grad``, ``vjp`` and ``jvp``: derivatives of Python functions.

A function is recorded by itself, within the recording around it; the compiled part adds its results and
their gradients there as one step (`transformation.rs`). So gradients are compiled, called by other compiled
functions and differentiated again like any other operation.
"""

from __future__ import annotations

import functools
import operator

import numpy as np

from ._custom_cuts import evaluated, pull_back_cuts, push_forward_cuts
from ._foreign import is_column, is_labelled, is_table, package_of, without_package
from ._indim import Recorder
from ._jit import CompiledFunction
from ._numbers import is_number
from ._recording import Recording, running_recording
from ._signatures import signature_of
from ._tracing import Tracer, recorded_results
from ._transformed import name_of
from ._trees import (
    filled,
    holds_numbers,
    in_container,
    is_node,
    items_of,
    leaves_like,
    leaves_of,
    mapped,
    rebuilt,
    shown,
)


class Gradient:
    """A function that gives the gradients of another one, with its value or without.

    It is compiled as by ``jit``, for the types and ranks that it is called with.
    """

    def __init__(self, function, argnums, has_value, has_aux=False):
        functools.update_wrapper(self, function)
        self.argnums = argnums
        self.has_value = has_value
        self.has_aux = has_aux
        self._name = name_of(function)
        self._signature = signature_of(function, self._name)

        @functools.wraps(function)
        def flat(*args, **kwargs):
            value, gradients, aux = self._traced(args, kwargs)
            # A tuple without nested containers is the fastest to return.
            return (value, aux, gradients) if has_aux else (value, *leaves_of(gradients))

        flat.__signature__ = self._signature
        self._flat = CompiledFunction(flat, getattr(function, "static", ()))

    def __call__(self, *args, **kwargs):
        args, kwargs = self._bound(args, kwargs)
        args = argument_arrays(args, self.argnums, self._name)
        wrt_positions = _wrt_positions(args, self.argnums, self._name)
        if running_recording() is not None:
            value, gradients, aux = self._traced(args, kwargs)
        elif self.has_aux:
            value, aux, gradients = self._flat(*args, **kwargs)
        else:
            value, *leaves = self._flat(*args, **kwargs)
            wrt = [args[position] for position in wrt_positions]
            if self._flat._by_columns:
                from ._pandas import frames_of_columns

                gradients = frames_of_columns(wrt, leaves)
            elif any(map(is_table, leaves_of(wrt))):
                from ._tables import frames_of_columns

                gradients = frames_of_columns(wrt, leaves)
            else:
                gradients = filled(wrt, leaves)
            if any(map(package_of, leaves_of(wrt))) or any(map(package_of, leaves_of(gradients))):
                # The engine names all results alike, and a gradient by positions has no labels.
                pairs = zip(leaves_of(wrt), leaves_of(gradients))
                gradients = filled(wrt, [_like_argument(*pair) for pair in pairs])
        gradients = tuple(gradients) if isinstance(self.argnums, tuple) else gradients[0]
        if not self.has_value:
            return (gradients, aux) if self.has_aux else gradients
        return ((value, aux), gradients) if self.has_aux else (value, gradients)

    def _bound(self, args, kwargs):
        """The arguments with defaults: by position, and keyword-only arguments by name."""
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.args, bound.kwargs

    def _traced(self, args, kwargs):
        """The value, the gradients and the auxiliary results, in the recording that runs."""
        wrt_positions = _wrt_positions(args, self.argnums, self._name)
        function = self.__wrapped__
        if not self.has_aux:
            values, gradients = _derive(function, self._name, args, kwargs, wrt_positions)
            return values[0], gradients, None
        auxiliary = Auxiliary(function, self._name)
        values, gradients = _derive(auxiliary, self._name, args, kwargs, wrt_positions, with_aux=True)
        return values[0], gradients, filled(auxiliary.template, values[1:])

    def explain(self, *args, **kwargs):
        """The program for these arguments, or for those of the last call: text, ``.json``, ``.svg``.

        An argument may be a type such as ``"f32[2, 3]"`` instead of an array.
        """
        return self._flat.explain(*args, **kwargs)

    def __repr__(self):
        return f"<indim.{'value_and_grad' if self.has_value else 'grad'} of {self._name!r}>"

    def __reduce__(self):
        return Gradient, (self.__wrapped__, *self._options())

    def _remade(self, function):
        """The same gradient of another function."""
        return Gradient(function, *self._options())

    def _options(self):
        return self.argnums, self.has_value, self.has_aux


class Auxiliary:
    """A function that returns ``(value, auxiliary)``, as one that returns the value and the leaves of the
    other in a list; ``template`` has the containers of the last call."""

    def __init__(self, function, name):
        self._function, self._name = function, name
        self.template = None

    def __call__(self, *args, **kwargs):
        value, auxiliary = self.pair(self._function(*args, **kwargs), self._name)
        self.template = mapped(auxiliary, lambda leaf: 0)
        return [value, *leaves_of(auxiliary)]

    @staticmethod
    def pair(result, name):
        """The value and the auxiliary result."""
        if not isinstance(result, tuple) or len(result) != 2:
            raise TypeError(
                f"has_aux=True: {name} returns a pair (value, auxiliary), and it returned {shown(result)}"
            )
        return result


def grad(f, argnums=0, has_aux=False, holomorphic=False, allow_int=False):
    """The function that gives the gradient of ``f``, which returns one real number.

    The gradient is with respect to the argument at the position ``argnums``, or a tuple of gradients for a
    tuple of positions; each has the type and shape of its argument, and of a list, tuple or dict of arrays
    it is one of gradients. For complex numbers it points in the direction of growth, as in PyTorch.

    With ``has_aux`` the function returns ``(value, auxiliary)``, and the result is ``(gradient, auxiliary)``.

    >>> import indim, numpy as np
    >>> indim.grad(lambda x: np.sum(x**2))(np.array([1.0, -2.0, 3.0]))
    array([ 2., -4.,  6.])
    """
    refuse_complex_and_integers(holomorphic, allow_int)
    return Gradient(f, argument_positions(argnums), False, bool(has_aux))


def value_and_grad(f, argnums=0, has_aux=False, holomorphic=False, allow_int=False):
    """Like ``grad``, but the function returns the value of ``f`` and the gradient; with ``has_aux``,
    ``((value, auxiliary), gradient)``.

    >>> import indim, numpy as np
    >>> value, gradient = indim.value_and_grad(lambda x: np.sum(x**2))(np.array([1.0, -2.0, 3.0]))
    >>> float(value), gradient
    (14.0, array([ 2., -4.,  6.]))
    """
    refuse_complex_and_integers(holomorphic, allow_int)
    return Gradient(f, argument_positions(argnums), True, bool(has_aux))


def refuse_complex_and_integers(holomorphic, allow_int):
    """JAX's arguments that change what a gradient is."""
    if holomorphic:
        raise TypeError(
            "holomorphic=True: write indim.jvp(f, (z,), (np.ones_like(z),))[1], the complex derivative of an "
            "element-wise function"
        )
    if allow_int:
        raise TypeError("allow_int=True: a whole number has no gradient; leave it out of argnums")


def vjp(f, *primals, has_aux=False):
    """The results of ``f`` for these arguments, and the function that pulls cotangents back: it takes one for
    each result, in the same container, and returns a tuple of gradients, one for each argument.

    The pullback reads the arguments again when it is called, so they must not have changed by then. With
    ``has_aux`` the function returns ``(results, auxiliary)``, and the auxiliary results come third.

    >>> import indim, numpy as np
    >>> outputs, pullback = indim.vjp(lambda x: x**2, np.array([1.0, -2.0, 3.0]))
    >>> pullback(np.array([1.0, 10.0, 100.0]))
    (array([  2., -40., 600.]),)
    """
    if has_aux:
        outputs, pullback = vjp(_first_of(f), *primals)
        return outputs, pullback, f(*primals)[1]
    primals = [_as_arrays(primal, name_of(f)) for primal in primals]
    outputs = f(*primals) if running_recording() is not None else _compiled(f)(*primals)
    return outputs, functools.partial(_pull_back, f, primals)


def _like_argument(argument, gradient):
    """The gradient with respect to an object of pandas, or a column of polars or pyarrow, with the name and
    of the class of the argument."""
    if package_of(argument) == "pandas":
        from ._pandas import like

        return like(argument, gradient)
    if not (is_column(argument) or is_column(gradient)):
        return gradient
    from ._tables import like

    array = without_package(gradient, "gradient")
    return like(argument, array) if is_column(argument) else array


def jvp(f, primals, tangents, has_aux=False):
    """The results of ``f`` for the arguments ``primals``, and their derivatives in the direction of
    ``tangents``, in the same container. There is one tangent of the same type for each argument. With
    ``has_aux`` the function returns ``(results, auxiliary)``, and the auxiliary results come third.

    >>> import indim, numpy as np
    >>> indim.jvp(lambda x: x**2, (np.array([1.0, -2.0]),), (np.array([1.0, 10.0]),))
    (array([1., 4.]), array([  2., -40.]))
    """
    if has_aux:
        return *jvp(_first_of(f), primals, tangents), f(*primals)[1]
    name = name_of(f)
    primals = tuple(_as_arrays(primal, name) for primal in primals)
    given = leaves_like(primals, _in_containers_of(primals, tuple(tangents)))
    if given is None:
        raise TypeError(f"jvp of {name} takes one tangent for each argument, in the same containers")
    tangents = filled(primals, map(_as_tangent, leaves_of(primals), given))
    if running_recording() is not None:
        return tuple(_push_forward(f, primals, tangents))
    return _compiled(f)(*primals), _compiled_tangent(f)(primals, tangents)


def _first_of(function):
    """A function that returns a pair of results and auxiliary ones, without the latter."""

    @functools.wraps(function)
    def first(*args):
        return Auxiliary.pair(function(*args), name_of(function))[0]

    return first


def _in_containers_of(primal, tangent):
    """``tangent`` with each list of numbers as one array, where ``primal`` has an array."""
    if isinstance(primal, dict) and type(primal) is type(tangent) and primal.keys() == tangent.keys():
        return rebuilt(primal, [_in_containers_of(item, tangent[key]) for key, item in primal.items()])
    if isinstance(primal, (list, tuple)) and type(primal) is type(tangent) and len(primal) == len(tangent):
        return rebuilt(primal, [_in_containers_of(*pair) for pair in zip(primal, tangent)])
    return np.asarray(tangent) if isinstance(tangent, list) and hasattr(primal, "dtype") else tangent


def _as_tangent(primal, tangent):
    """The tangent of an array; a number has the type of the array."""
    if isinstance(tangent, np.generic):
        return np.asarray(tangent)
    return np.asarray(tangent, primal.dtype) if is_number(tangent) else tangent


@functools.lru_cache(maxsize=64)
def _compiled_tangent(function):
    def tangent(primals, tangents):
        return _push_forward(function, primals, tangents)[1]

    # Captured objects are searched as if the function were compiled itself.
    tangent.__module__ = getattr(function, "__module__", None)
    tangent.__qualname__ = f"the tangent of {name_of(function)}"
    return _of_whole_frames(tangent)


def _pull_back(function, primals, cotangents):
    if running_recording() is not None:
        return tuple(traced_pullback(function, primals, cotangents))
    return tuple(filled(primals, _compiled_pullback(function)(cotangents, *primals)))


def traced_pullback(function, primals, cotangents):
    """The gradients with respect to all arguments, in the recording that runs."""
    every = range(len(primals))
    return _derive(function, name_of(function), primals, {}, every, cotangents)[1]


def recorded_types(function, name, primals):
    """The container of a function's results, its keys, and values of their types, which are over."""
    recorded = _Recorded(function, name, primals, {}, range(len(primals)), "reverse")
    return *recorded.structure, recorded.results


@functools.lru_cache(maxsize=64)
def _compiled(function):
    return function if isinstance(function, CompiledFunction) else CompiledFunction(function)


@functools.lru_cache(maxsize=64)
def _compiled_pullback(function):
    def pullback(cotangents, *primals):
        return list(leaves_of(traced_pullback(function, primals, cotangents)))

    # Captured objects are searched as if the function were compiled itself.
    pullback.__module__ = getattr(function, "__module__", None)
    pullback.__qualname__ = f"the pullback of {name_of(function)}"
    return _of_whole_frames(pullback)


def _of_whole_frames(function):
    """The compiled function of leaves, whose caller counts a DataFrame as one."""
    compiled = CompiledFunction(function)
    compiled._by_columns = None
    return compiled


def _derive(function, name, args, kwargs, wrt_positions, cotangents=None, with_aux=False):
    """The results of a function of traced values, in a list, and the gradients with respect to the arguments
    at the positions ``wrt_positions``.

    Without ``cotangents`` the function gives one number, ``with_aux`` as the first of a list.
    """
    recorded = _Recorded(function, name, args, kwargs, wrt_positions, "reverse")
    outer, (kind, _) = recorded.outer, recorded.structure
    results, aux = (recorded.results[:1], recorded.results[1:]) if with_aux else (recorded.results, [])
    if cotangents is not None:
        cotangents = _cotangents(outer, name, results, cotangents, recorded.structure)
    elif kind != "single" and not with_aux:
        raise TypeError(
            f"{name} returns {shown(in_container(*recorded.structure, recorded.results))}, but a gradient is "
            "that of one number; return that alone, or (value, auxiliary) with has_aux=True, or use indim.vjp"
        )
    values, gradients = pull_back_cuts(recorded.recording, name, results, recorded.wrt, cotangents)
    values += evaluated(recorded.recording, aux)
    return values, filled([args[position] for position in wrt_positions], gradients)


def _push_forward(function, primals, tangents):
    """The results of a function of traced values, and the tangent of each."""
    name = name_of(function)
    recorded = _Recorded(function, name, primals, {}, range(len(primals)), "forward")
    for result in recorded.results:
        if result.dtype.kind in "biu":
            raise TypeError(
                f"jvp: {name} returns `{result._value_text}` : {result._dtype}, and only floats and complex "
                "numbers have tangents; return (results, auxiliary) with has_aux=True"
            )
    outer = recorded.outer
    tangents = [_tangent(outer, name, *pair) for pair in zip(leaves_of(primals), leaves_of(tangents))]
    parts = push_forward_cuts(recorded.recording, name, recorded.results, recorded.wrt, tangents)
    return [in_container(*recorded.structure, part) for part in parts]


class _Recorded:
    """A function recorded on parameters of its own, within the recording that runs."""

    def __init__(self, function, name, args, kwargs, wrt_positions, mode):
        leaves = list(leaves_of((*args, kwargs)))
        if is_labelled(leaves):
            raise TypeError(
                f"gradients of {name} are those of arrays without labels, and an argument is one of xarray: "
                "pass `x.values`, and label what comes of it, `x.copy(data=gradient)`"
            )
        self.outer = outer = running_recording()
        self.recording = recording = Recording(Recorder(), name, outer)
        recording.derivative_mode = mode
        inner, source_ranges = [], []
        for position, arg in enumerate(args):
            first = len(recording.sources)
            if position in wrt_positions:
                arg = mapped(arg, lambda leaf: outer.tracer(leaf, name))
            inner.append(mapped(arg, recording.argument))
            source_ranges.append(range(first, len(recording.sources)))
        inner_by_name = mapped(kwargs, recording.argument)
        #: The kind of the container of the results, the keys of a dict, and the results.
        *self.structure, self.results = recorded_results(recording, function, inner, inner_by_name)
        #: The positions of the arguments that are differentiated.
        self.wrt = [source for position in wrt_positions for source in source_ranges[position]]


def _cotangents(outer, name, results, cotangent_container, structure):
    """The cotangents; each has the type of its result."""
    container = in_container(*structure, results)
    cotangents = leaves_like(container, cotangent_container)
    if cotangents is None:
        raise TypeError(
            f"{name} returns {shown(container)}, but the cotangents are {shown(cotangent_container)}"
        )
    return [_cotangent(outer, name, *pair) for pair in zip(results, cotangents)]


def _cotangent(outer, name, result, cotangent):
    if is_number(cotangent):
        cotangent = np.asarray(cotangent, result.dtype)
    cotangent = outer.tracer(cotangent, "cotangent")
    if cotangent._dtype != result._dtype or cotangent._shape != result._shape:
        raise TypeError(
            f"a cotangent has the type of its result: {name} gives {result._dtype}{list(result._shape)}, the "
            f"cotangent `{cotangent._value_text}` is {cotangent._dtype}{list(cotangent._shape)}"
        )
    return cotangent


def _tangent(outer, name, primal, tangent):
    """A tangent, which has the type of its argument."""
    primal, tangent = outer.tracer(primal, name), outer.tracer(tangent, "tangent")
    if tangent._dtype != primal._dtype or tangent._shape != primal._shape:
        raise TypeError(
            f"a tangent has the type of its argument: `{primal._value_text}` of {name} is "
            f"{primal._dtype}{list(primal._shape)}, the tangent `{tangent._value_text}` is "
            f"{tangent._dtype}{list(tangent._shape)}"
        )
    return tangent


def _wrt_positions(args, argnums, name):
    """The positions, from 0, of the arguments at ``argnums``."""
    positions = argnums if isinstance(argnums, tuple) else (argnums,)
    for position in positions:
        if not -len(args) <= position < len(args):
            raise TypeError(f"argnums={position} is not a position of the {len(args)} arguments of {name}")
    return [position % len(args) for position in positions]


def argument_arrays(args, argnums, name):
    """The arguments of a function; numbers among those at ``argnums`` become arrays."""
    wrt_positions = _wrt_positions(args, argnums, name)
    return [_as_arrays(arg, name) if i in wrt_positions else arg for i, arg in enumerate(args)]


def argument_positions(argnums):
    """``argnums`` as one whole number or a tuple of them."""
    if isinstance(argnums, (tuple, list)):
        return tuple(operator.index(position) for position in argnums)
    return operator.index(argnums)


def _as_arrays(value, name):
    """An argument to differentiate: a number becomes an array of rank 0, a list of numbers an array, as in
    all calls."""
    if is_node(value):
        if value and isinstance(value, list) and holds_numbers(value):
            return np.asarray(value)
        return rebuilt(value, [_as_arrays(item, name) for item in items_of(value)])
    if isinstance(value, (bool, int)) and not isinstance(value, np.generic):
        raise TypeError(
            f"a gradient of {name} is asked for with respect to the whole number {value!r}, which moves in "
            f"steps; pass {float(value)!r}"
        )
    # A list of NumPy's scalars would be one array for a compiled function.
    return np.asarray(value) if is_number(value) or isinstance(value, np.generic) else value
