"""NumPy's protocols: its functions and ufuncs, called with traced values."""

from __future__ import annotations

import numpy as np

from . import _refused
from ._advice import refused_keyword
from ._errors import ExprError
from ._handlers import ACCUMULATIONS, ARRAY_FUNCTIONS, REDUCTIONS, UFUNCS
from ._indexable import note_write
from ._operands import are_columns, as_array, loop_operands, of_outer, operator_call
from ._recording import is_tracer

#: The versions of the array API standard that `array_api.py` has; each contains those before it.
_API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")

#: Ufuncs with another name in the language of expressions.
_UFUNC_NAMES = {"absolute": "abs", "equal": "eq"}


def is_of_numpy(ufunc):
    """Whether a ufunc is NumPy's of its name; other packages have ufuncs of the same names."""
    return getattr(np, ufunc.__name__, None) is ufunc


class NumpyProtocols:
    """The methods of a traced value that NumPy calls."""

    __slots__ = ()

    __array_priority__ = 1000

    # `series + x` calls `x.__radd__`.
    __pandas_priority__ = 10_000

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if self._is_for_labels(inputs) or are_columns(*inputs):
            return NotImplemented
        # `axis=None` of a reduction means all axes; other keywords are omitted by `None`.
        kept = ("axis",) if method in ("reduce", "accumulate") else ()
        kwargs = {key: value for key, value in kwargs.items() if value is not None or key in kept}
        # A tuple of indices is a key, and no array.
        lists = (list,) if method == "at" else (list, tuple)
        inputs = [as_array(value) if isinstance(value, lists) else value for value in inputs]
        if method == "__call__":
            return self._call_of_ufunc(ufunc, inputs, kwargs)
        if method == "outer":
            return ufunc(*of_outer(*inputs), **kwargs)
        if method == "at":
            from ._assignments import ufunc_at

            return ufunc_at(ufunc, *inputs)
        out = kwargs.pop("out", None)
        if out is not None:
            from ._outputs import write_whole_result

            result = getattr(ufunc, method)(*inputs, **kwargs)
            return write_whole_result(f"{ufunc.__name__}.{method}", inputs[0], result, out)
        if method == "reduceat":
            from ._reduceat import reduceat

            # NumPy passes indices that are given by keyword twice.
            return reduceat(ufunc, *inputs, **{key: kwargs[key] for key in kwargs if key != "indices"})
        handlers = {"accumulate": ACCUMULATIONS, "reduce": REDUCTIONS}[method]
        if ufunc.__name__ in handlers and is_of_numpy(ufunc):
            return handlers[ufunc.__name__](*inputs, **kwargs)
        from . import _ufunc_methods

        return getattr(_ufunc_methods, method)(ufunc, *inputs, **kwargs)

    def _call_of_ufunc(self, ufunc, inputs, kwargs):
        """A call of a ufunc whose omitted keywords are left out."""
        # These say how the result lies in memory, and whether it is of a subclass.
        kwargs = {key: value for key, value in kwargs.items() if key not in ("order", "subok")}
        if kwargs.get("where") is True:
            del kwargs["where"]
        out = kwargs.get("out", (None,))
        if is_tracer(out[0]) and ufunc.nout == 1:
            from ._outputs import write_result

            where, casting = kwargs.pop("where", True), kwargs.get("casting", "same_kind")
            del kwargs["out"]
            return write_result(ufunc.__name__, ufunc(*inputs, **kwargs), out, where, casting)
        if out[0] is not None:
            self._recording.request_elements()
            note_write(out[0])
            raise TypeError(refused_keyword(self._recording.function, ufunc, "out", kwargs))
        loop = {key: kwargs.pop(key) for key in ("dtype", "casting", "signature") if key in kwargs}
        if loop:
            inputs = loop_operands(ufunc, inputs, **loop)
        if not is_of_numpy(ufunc):
            from . import _other_ufuncs

            return _other_ufuncs.call(ufunc, inputs, kwargs)
        if ufunc.__name__ in UFUNCS:
            return UFUNCS[ufunc.__name__](*inputs, **kwargs)
        for keyword in kwargs:
            raise TypeError(refused_keyword(self._recording.function, ufunc, keyword, kwargs))
        return self._numpy_function(ufunc.__name__, inputs)

    def __array_namespace__(self, *, api_version=None):
        if self._recording.namespace is not None:
            return self._recording.namespace
        from . import array_api

        if api_version not in (None, *_API_VERSIONS):
            raise ValueError(f"api_version={api_version!r}: indim has {array_api.__array_api_version__!r}")
        return array_api

    def __array_function__(self, function, types, args, kwargs):
        if any(hasattr(of, "_takes_traced_values") for of in types):
            return NotImplemented
        handler = ARRAY_FUNCTIONS.get(function)
        if handler is None:
            raise TypeError(_refused.function_message(function))
        out = kwargs.get("out")
        if out is None or function is np.clip:
            return handler(*args, **kwargs)
        from ._outputs import write_whole_result

        result = handler(*args, **{key: kwargs[key] for key in kwargs if key != "out"})
        return write_whole_result(function.__name__, args[0] if args else kwargs.get("a"), result, out)

    def _numpy_function(self, name, operands):
        if name == "divmod":
            return operator_call("//", *operands), operator_call("%", *operands)
        if name == "power":
            return operator_call("**", *operands)
        if name in ("matmul", "matvec", "vecmat"):
            return self._record("@" if name == "matmul" else name, operands, rule="numpy")
        try:
            return self._record(_UFUNC_NAMES.get(name, name), operands)
        except ExprError as error:
            if error.code not in ("unknown-function", "not-element-wise"):
                raise
        raise TypeError(_refused.ufunc_message(name))
