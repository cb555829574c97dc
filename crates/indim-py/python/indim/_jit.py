"""``jit``: Python functions compiled for the types and ranks that they are called with."""

from __future__ import annotations

import functools
import sys
import types

from . import _arrays
from ._explain import of_program
from ._indim import CompiledFunction as _CompiledFunction
from ._signatures import binder, names_of_static
from ._data_stages import SizeFromDataError, trace
from ._written import WrittenModel


#: Methods of JAX's compiled functions, with what to write instead.
_REFUSED = {
    "clear_cache": "programs are freed with the function, and the oldest ones when there are many; delete "
    "the line",
    "eval_shape": "write indim.eval_shape(f, x)",
    "lower": "write f.explain(x) for the program with its loops and memory, and f.export('stablehlo', x) for "
    "its text; the first call compiles it",
    "trace": "write f.explain(x), or indim.eval_shape(f, x) for the types of results",
}


class CompiledFunction(_CompiledFunction):
    """A Python function that runs as one fused program.

    It is run once on traced values for each combination of element types and ranks. After two shapes, one
    program serves all shapes whose sizes meet its guards. Calls take ``out=``, ``order=`` and ``casting=`` in
    addition to the function's own arguments; a parameter of such a name takes its place. Python numbers adapt
    to the arrays they meet. A number that changes compiles nothing, unless the program needs its value, as an
    exponent or an axis. NumPy's scalars are arrays of rank 0.
    """

    def __new__(cls, function, static=(), *, static_argnums=()):
        name = getattr(function, "__qualname__", repr(function))
        parameters, bind, call, static = binder(function, name, static, static_argnums)
        self = super().__new__(cls, call, parameters, bind, trace)
        functools.update_wrapper(self, function)
        self.static = static
        self._parameters, self._bind = parameters, bind
        #: Programs for labelled arrays, which `_xarray.py` fills. `update_wrapper` may have copied those of
        #: another compiled function with its attributes, so they are cleared here.
        self._labelled = {}
        #: Whether the function reads columns of DataFrames by name: see `_pandas.py`. None if it may not.
        self._by_columns = False
        #: Whether a warning says that the function cannot be traced: see `_plain_xarray.py`.
        self._has_warned = False
        #: The stages of a function whose sizes depend on data: see `_data_stages.py`.
        self._stages = None
        return self

    def __init__(self, function, static=(), *, static_argnums=()):
        pass

    def __getattr__(self, name):
        advice = _REFUSED.get(name)
        advice = "" if advice is None else f": {advice}"
        raise AttributeError(f"a compiled function has no {name!r}{advice}", name=name, obj=self)

    def __repr__(self):
        return f"<indim.jit of {getattr(self.__wrapped__, '__qualname__', self.__wrapped__)!r}>"

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def _remade(self, function):
        """Another function compiled like this one."""
        return CompiledFunction(function, self.static)

    @property
    def __code__(self):
        """The code of the function: frameworks such as Beam name a function by its file and line."""
        return self.__wrapped__.__code__

    def explain(self, *args, **kwargs):
        """The program for these arguments, or for those of the last call: text, ``.json``, ``.svg``.

        An argument may be a type such as ``"f32[2, 3]"`` instead of an array. If sizes depend on data, the
        program is that of the last stage, which takes the positions of the true elements of masks.
        """
        explained = self._explained(args, kwargs)
        if explained is None:
            raise ValueError("the function was not called yet; give arguments or types such as 'f32[2, 3]'")
        return of_program(*explained)

    def _explained(self, args, kwargs):
        if self._stages is None:
            values = [_arrays.placeholder(value) for value in args]
            values_by_name = {key: _arrays.placeholder(value) for key, value in kwargs.items()}
            try:
                return self._explain(*values, **values_by_name)
            except SizeFromDataError:
                if any(isinstance(value, str) for value in (*args, *kwargs.values())):
                    raise
            # A call makes the stages.
            self(*args, **kwargs)
        elif any(isinstance(value, str) for value in (*args, *kwargs.values())):
            raise SizeFromDataError(f"the sizes of {self!r} depend on data: give arrays instead of types")
        return self._stages.explain(self._bind(args, kwargs) if args or kwargs else None)

    def export(self, format, *args, path=None, exact=False, opset=None, **kwargs):
        """The program for these arguments in the format of another system: ``"stablehlo"``, ``"hlo"``,
        ``"openvino"`` or ``"onnx"``.

        An argument may be a type such as ``"f32[2, 3]"`` instead of an array. Operations that the format
        lacks are composed from others and listed in ``composed`` of the result; ``exact=True`` refuses them.
        ``opset`` is the version of the operation set. With ``path`` the file is written there, and its
        companion file into the same folder.
        """
        args = tuple(_arrays.placeholder(value) for value in args)
        kwargs = {key: _arrays.placeholder(value) for key, value in kwargs.items()}
        return WrittenModel(*self._export((format, path, exact, opset), args, kwargs))

    def _repr_svg_(self):
        explained = self._explained((), {})
        return None if explained is None else of_program(*explained).svg

    def __reduce__(self):
        function = self.__wrapped__
        module = sys.modules.get(getattr(function, "__module__", None))
        found = module
        for part in getattr(function, "__qualname__", "").split("."):
            found = getattr(found, part, None)
        if found is self and not function.__qualname__.endswith(".__wrapped__"):
            # The function's name refers to this object, so the pickled function needs another name.
            function.__qualname__ += ".__wrapped__"
        return _restore, (function, self.static)


def _restore(function, static):
    """The compiled function of a pickle: the module's own, if it has one."""
    found = sys.modules.get(function.__module__)
    for part in function.__qualname__.split("."):
        if part == "__wrapped__" and isinstance(found, CompiledFunction) and found.__wrapped__ is function:
            return found
        found = getattr(found, part, None)
    return CompiledFunction(function, static)


#: Arguments of JAX's `jit` that have no effect here.
_HINTS = {"donate_argnames", "donate_argnums", "inline", "keep_unused"}


def jit(function=None, *, static=(), static_argnames=(), static_argnums=(), **hints):
    """Compiles a function of arrays: its operations become one fused program.

    The function may use operators, element-wise functions, reductions along axes, slices and indices, of
    NumPy and of indim, and gradients. indim runs it once for each combination of element types and ranks, on
    traced values, which record operations.

    ``static`` names the arguments that are not arrays, such as ``self`` or a string: they are passed to the
    function unchanged, and each value has its own program. A default that is not an array, such as ``None``,
    needs no ``static``. ``static_argnames`` is the same, and ``static_argnums`` takes positions, as in JAX.
    JAX's hints ``donate_argnums``, ``donate_argnames``, ``inline`` and ``keep_unused`` have no effect.

    >>> import indim, numpy as np
    >>> @indim.jit
    ... def standardise(x, mean, deviation):
    ...     return (x - mean) / deviation
    >>> standardise(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([2.0, 3.0]), np.array([1.0, 1.0]))
    array([[-1., -1.],
           [ 1.,  1.]])
    """
    if not hints.keys() <= _HINTS:
        raise TypeError(f"jit() takes no {', '.join(sorted(hints.keys() - _HINTS))}")
    if function is None:
        return functools.partial(
            jit, static=static, static_argnames=static_argnames, static_argnums=static_argnums
        )
    names = names_of_static(static) + names_of_static(static_argnames)
    return CompiledFunction(function, names, static_argnums=static_argnums)
