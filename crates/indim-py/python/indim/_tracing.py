"""Tracing: a Python function run on values that record what is done to them.

A :class:`Tracer` stands for an array. Every operation on it becomes a step of the program that the
recorder holds, and is checked at once.
"""

from __future__ import annotations

import inspect
import operator

import numpy as np

from . import _arrays
from ._errors import ExprError

#: Functions of NumPy on tracing values, by the names of the expression language.
_ARRAY_FUNCTIONS = {}


class Tracer:
    """Stands for an array while a function is traced."""

    __slots__ = ("_recorder", "_name", "_dtype", "_shape")

    def __init__(self, recorder, described):
        self._recorder = recorder
        self._name, self._dtype, self._shape = described

    # What an array says of itself.

    @property
    def dtype(self):
        return _arrays.numpy_dtype(self._dtype)

    @property
    def ndim(self):
        return len(self._shape)

    @property
    def shape(self):
        self._recorder.use_sizes()
        return self._shape

    @property
    def size(self):
        self._recorder.use_sizes()
        return int(np.prod(self._shape, dtype=object))

    def __len__(self):
        if not self._shape:
            raise TypeError("an array of rank 0 has no length")
        return self.shape[0]

    def __repr__(self):
        return f"Tracer({self._name} : {self._dtype}{list(self._shape)})"

    # What a tracing value cannot do.

    def _refuse(self, what):
        raise TypeError(
            f"{what} needs the elements of `{self._name}`, which are not known while the function is traced; "
            "use indim.where for choices, and name arguments that are no arrays in `static=`"
        )

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(
            f"an array has no `{name}` while the function is traced: indim computes element by element, without "
            "reductions; compute it before the call and pass it as an argument"
        )

    def __bool__(self):
        self._refuse("a truth value")

    def __int__(self):
        self._refuse("int()")

    def __float__(self):
        self._refuse("float()")

    def __complex__(self):
        self._refuse("complex()")

    def __index__(self):
        self._refuse("an index")

    def __array__(self, dtype=None, copy=None):
        self._refuse("a NumPy array")

    def __iter__(self):
        self._refuse("iteration")

    def __getitem__(self, key):
        """New axes alone: ``x[:, None]``, ``x[None]``, ``x[..., None]``."""
        keys = key if isinstance(key, tuple) else (key,)
        if sum(key is Ellipsis for key in keys) > 1 or any(
            not (key is None or key is Ellipsis or key == slice(None)) for key in keys
        ):
            raise TypeError(
                "only new axes can be indexed with (x[:, None]): indim computes element by element; "
                "slice arrays before the call, which costs nothing"
            )
        kept = sum(isinstance(key, slice) for key in keys)
        rest = [slice(None)] * (self.ndim - kept)
        if self.ndim < kept:
            raise IndexError(f"{kept} axes are indexed of `{self._name}`, which has {self.ndim}")
        if Ellipsis in keys:
            at = keys.index(Ellipsis)
            keys = [*keys[:at], *rest, *keys[at + 1 :]]
        else:
            keys = [*keys, *rest]
        if None not in keys:
            return self
        sizes = iter(self.shape)
        return self._call("reshape", f", {_integers(1 if key is None else next(sizes) for key in keys)}")

    # Steps.

    def _call(self, function, attributes="", rule="numpy"):
        return self._step(function, (self,), attributes, rule)

    def _step(self, function, operands, attributes="", rule="numpy"):
        texts = [self._text(operand) for operand in operands]
        return self._record(f"{function}({', '.join(texts)}{attributes})", rule)

    def _record(self, text, rule="numpy"):
        return Tracer(self._recorder, self._recorder.step(text, rule))

    def _text(self, operand):
        """How an operand is written in the text of a step."""
        if isinstance(operand, Tracer):
            if operand._recorder is not self._recorder:
                raise ValueError(f"`{operand._name}` belongs to another call of a compiled function")
            return operand._name
        if isinstance(operand, (bool, int, float)) and not isinstance(operand, np.generic):
            return _number_text(operand)
        return Tracer(self._recorder, self._recorder.capture("captured", _arrays.as_array(operand, "operand")))._name

    def _operator(self, symbol, x, y):
        if not _is_operand(x) or not _is_operand(y):
            return NotImplemented
        return self._record(f"{self._text(x)} {symbol} {self._text(y)}")

    def __neg__(self):
        return self._record(f"-{self._name}")

    def __pos__(self):
        return self._record(f"+{self._name}")

    def __invert__(self):
        return self._record(f"~{self._name}")

    def __abs__(self):
        return self._call("abs")

    def __round__(self, digits=None):
        if digits:
            raise TypeError("only rounding to whole numbers is element-wise here")
        return self._call("round")

    def __divmod__(self, other):
        return self // other, self % other

    __hash__ = None

    # NumPy's protocols.

    __array_priority__ = 1000

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        kwargs = {key: value for key, value in kwargs.items() if value is not None}
        if method != "__call__" or kwargs:
            what = f"numpy.{ufunc.__name__}.{method}" if method != "__call__" else "keyword arguments of a ufunc"
            raise TypeError(f"{what} cannot be traced; indim computes element by element")
        return self._numpy_function(ufunc.__name__, inputs)

    def __array_namespace__(self, api_version=None):
        import indim

        return indim

    def __array_function__(self, function, types, args, kwargs):
        handler = _ARRAY_FUNCTIONS.get(function)
        if handler is None:
            name = f"{function.__module__}.{function.__name__}"
            raise TypeError(f"{name} cannot be traced; indim computes element by element")
        return handler(*args, **kwargs)

    def _numpy_function(self, name, operands):
        if name == "positive":
            return +operands[0]
        if name == "float_power":
            return convert(operands[0], "f64") ** operands[1]
        if name == "power":
            return operator_step("**", *operands)
        if name in _ANGLES:
            x = operands[0]
            return x.astype(np.result_type(x.dtype, np.float16)) * _ANGLES[name]
        try:
            return self._step(_UFUNC_NAMES.get(name, name), operands)
        except ExprError as error:
            if error.code not in ("unknown-function", "not-element-wise"):
                raise
        raise TypeError(f"numpy.{name} cannot be traced; indim has no operation of this name")

    # The methods of arrays that are element-wise.

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        target = _arrays.indim_name(dtype)
        if not np.can_cast(self.dtype, _arrays.numpy_dtype(target), casting=casting):
            raise TypeError(f"cannot cast `{self._name}` from {self.dtype} to {target} with casting={casting!r}")
        return self._call(target)

    def conj(self):
        return self._call("conj")

    conjugate = conj

    @property
    def real(self):
        return self._call("real")

    @property
    def imag(self):
        return self._call("imag")

    @property
    def T(self):
        return self._call("transpose")

    def round(self, decimals=0):
        return self.__round__(decimals)

    def clip(self, min=None, max=None):
        return clip(self, min, max)

    def reshape(self, *shape, order="C"):
        if order != "C":
            raise TypeError("reshape is in row-major order here")
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return self._call("reshape", f", {_integers(shape)}")

    def transpose(self, *axes):
        axes = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return self._call("transpose", f", {_integers(axes)}" if axes else "")


#: Ufuncs that the expression language knows under another name.
_UFUNC_NAMES = {"absolute": "abs", "equal": "eq"}

_ANGLES = {"deg2rad": np.pi / 180, "radians": np.pi / 180, "rad2deg": 180 / np.pi, "degrees": 180 / np.pi}


def _is_operand(value):
    return isinstance(value, (Tracer, bool, int, float, complex, np.ndarray, np.generic)) or hasattr(value, "__array__")


def _number_text(number):
    """A number as the text of expressions writes it; parenthesised, for a sign in front."""
    number = float(number) if isinstance(number, float) else number
    if isinstance(number, float) and number != number:
        return "(1e999 - 1e999)"
    if isinstance(number, float) and number in (float("inf"), float("-inf")):
        return "1e999" if number > 0 else "(-1e999)"
    text = repr(number)
    return f"({text})" if text.startswith("-") else text


def _integers(values):
    values = [values] if isinstance(values, int) else values
    return "[" + ", ".join(str(operator.index(value)) for value in values) + "]"


def _tracer_of(operands):
    for operand in operands:
        if isinstance(operand, Tracer):
            return operand
    raise TypeError("none of the operands is a tracing value")


def operator_step(symbol, x, y):
    """``x symbol y``, one of which is a tracing value."""
    return _tracer_of((x, y))._operator(symbol, x, y)


def _add_operators():
    symbols = {
        "add": "+",
        "sub": "-",
        "mul": "*",
        "truediv": "/",
        "floordiv": "//",
        "mod": "%",
        "pow": "**",
        "and": "&",
        "or": "|",
        "xor": "^",
        "lshift": "<<",
        "rshift": ">>",
    }
    comparisons = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
    for name, symbol in {**symbols, **comparisons}.items():
        setattr(Tracer, f"__{name}__", lambda x, y, s=symbol: x._operator(s, x, y))
    for name, symbol in symbols.items():
        setattr(Tracer, f"__r{name}__", lambda y, x, s=symbol: y._operator(s, x, y))


_add_operators()


def convert(x, dtype):
    """``x`` with every element converted to ``dtype``."""
    return x._call(_arrays.indim_name(dtype))


def clip(x, low=None, high=None):
    """``x`` held between bounds, either of which may be ``None``."""
    operands = [operand for operand in (x, low, high) if operand is not None]
    tracer = _tracer_of(operands)
    if low is None and high is None:
        return +x
    if low is None:
        return tracer._step("minimum", operands)
    if high is None:
        return tracer._step("maximum", operands)
    return tracer._step("clip", operands)


def _implements(*functions):
    def register(handler):
        for function in functions:
            _ARRAY_FUNCTIONS[function] = handler
        return handler

    return register


@_implements(np.where)
def _where(condition, *choices):
    if len(choices) != 2:
        raise TypeError("numpy.where with a condition alone is not element-wise")
    operands = (condition, *choices)
    return _tracer_of(operands)._step("where", operands)


@_implements(np.clip)
def _clip(a, a_min=None, a_max=None, *, min=None, max=None):
    return clip(a, a_min if min is None else min, a_max if max is None else max)


@_implements(np.round, np.around)
def _round(a, decimals=0):
    return a.round(decimals)


@_implements(np.reshape)
def _reshape(a, shape, order="C"):
    return a.reshape(shape, order=order)


@_implements(np.transpose)
def _transpose(a, axes=None):
    return a.transpose(axes) if axes is not None else a.transpose()


@_implements(np.broadcast_to)
def _broadcast_to(array, shape):
    return array._call("broadcast_to", f", {_integers(shape)}")


@_implements(np.expand_dims)
def _expand_dims(a, axis):
    axes = [axis] if isinstance(axis, int) else list(axis)
    rank = a.ndim + len(axes)
    new = {axis % rank for axis in axes if -rank <= axis < rank}
    if len(new) != len(axes):
        raise ValueError(f"axes {axes} are not distinct axes of rank {rank}")
    return a[tuple(None if axis in new else slice(None) for axis in range(rank))]


@_implements(np.real)
def _real(val):
    return val.real


@_implements(np.imag)
def _imag(val):
    return val.imag


@_implements(np.copy)
def _copy(a, order="K", subok=False):
    return a


@_implements(np.full_like, np.ones_like, np.zeros_like)
def _like(*_, **__):
    raise TypeError("write the number itself: it takes the shape of what it meets")


@_implements(np.ndim)
def _ndim(a):
    return a.ndim


@_implements(np.shape)
def _shape(a):
    return a.shape


@_implements(np.nan_to_num)
def _nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    limits = np.finfo(x.dtype)
    posinf = float(limits.max) if posinf is None else posinf
    neginf = float(limits.min) if neginf is None else neginf
    x = _where(x == float("inf"), posinf, _where(x == float("-inf"), neginf, x))
    return _where(x != x, nan, x)


def trace(function, recorder, arguments):
    """Runs ``function``; returns how it returns, its keys if that is a dict, and the names of the results.

    Called by the compiled part with ``(name, is_array, object)`` for each argument.
    """
    values = [
        Tracer(recorder, recorder.parameter(name, value)) if is_array else value
        for name, is_array, value in arguments
    ]
    result = function(*values)
    kind, keys, results = _flatten(result)
    return kind, keys, [_result_name(recorder, value) for value in results]


def _flatten(result):
    if isinstance(result, dict):
        return "dict", list(result), list(result.values())
    if isinstance(result, tuple):
        return "tuple", [], list(result)
    if isinstance(result, list):
        return "list", [], result
    return "single", [], [result]


def _result_name(recorder, value):
    if value is None:
        raise TypeError("the function returns None; a compiled function returns arrays")
    if isinstance(value, (tuple, list, dict)):
        raise TypeError("the results of a compiled function are arrays in one tuple, list or dict, not in nested ones")
    if isinstance(value, Tracer):
        if value._recorder is not recorder:
            raise ValueError(f"`{value._name}` belongs to another call of a compiled function")
        return value._name
    if isinstance(value, (bool, int, float)) and not isinstance(value, np.generic):
        return recorder.step(_number_text(value), "numpy")[0]
    return recorder.capture("captured", _arrays.as_array(value, "result"))[0]


def binder(function, name):
    """The names of the parameters, whether arguments always have to be bound, how, and what to call then."""
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    for parameter in parameters:
        if parameter.kind is parameter.VAR_KEYWORD:
            raise TypeError(f"{name}: a compiled function cannot take **{parameter.name}")
        if parameter.name in ("out", "order", "casting"):
            raise TypeError(f"{name}: `{parameter.name}` is an argument of every compiled function; rename it")
    has_rest = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)
    keyword_only = [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]
    if has_rest and keyword_only:
        raise TypeError(f"{name}: *arguments and keyword-only arguments cannot be together")

    def bind(args, kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return (*bound.args, *(bound.kwargs[name] for name in keyword_only))

    def call(*values):
        count = len(values) - len(keyword_only)
        return function(*values[:count], **dict(zip(keyword_only, values[count:])))

    names = [parameter.name for parameter in parameters]
    return names, has_rest or bool(keyword_only), bind, call if keyword_only else function
