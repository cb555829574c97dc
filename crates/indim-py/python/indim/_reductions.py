"""Functions along axes, of arrays and of traced values, and NumPy's functions of these names.

Each is one call, as the operations are. The compiled part has the table of their arguments.
"""

from __future__ import annotations

import functools
import inspect
import operator

import numpy as np

from . import _arrays, _frames, _functions
from ._advice import refuse_given, refused_argument
from ._handlers import ACCUMULATIONS, ARRAY_FUNCTIONS, REDUCTIONS, UFUNCS
from ._indim import _axis_functions
from ._numbers import is_number
from ._shape_functions import axis_indices
from ._tracing import Tracer

#: By name: operands, default axes, arguments with their defaults, documentation, other names.
_ROWS = {name: row for name, *row in _axis_functions()}

#: Functions that pair the elements of two operands, which broadcast.
_PAIRED = ("dot", "vecdot", "linear_recurrence")

_ANNOTATIONS = {
    "axis": "int | str | Sequence[int] | Sequence[str] | None",
    "dtype": "DTypeLike",
    "initial": "Operand | None",
    "where": "Operand | None",
    "broadcast_dimensions": "Integers | None",
    "out": "NDArray[Any] | None",
}


def define(rule, functions):
    """The functions of a rule set, by name. If ``functions`` has a function of two operands with the same
    name, one function does both: ``max(x, axis=0)`` and ``max(x, y)``."""
    defined = {}
    for name, (operands, _, _, doc, aliases) in _ROWS.items():
        for known in (name, *aliases):
            function = _along(rule, name)
            function.__doc__ = doc
            if known in functions:
                function = _of_one_or_two(function, functions[known])
            function.__name__ = function.__qualname__ = known
            defined[known] = function
    return defined


def _along(rule, name):
    """The function along axes of this name under a rule."""
    operands, default_axes, arguments, _, _ = _ROWS[name]
    signature = _signature(rule, name)

    def function(*args, **kwargs):
        if "ddof" in kwargs and "correction" in signature.parameters:
            raise TypeError(f"{name}() takes no `ddof`: write correction={kwargs['ddof']!r}")
        given = signature.bind(*args, **kwargs).arguments
        values = [given[operand] for operand in operands]
        attributes = _axis(given["axis"], default_axes, values) if "axis" in given else []
        for argument, _, _ in arguments:
            value = given.get(argument)
            if value is not None and value is not signature.parameters[argument].default:
                attributes.append((argument, _argument(name, argument, value)))
        attributes += _functions.attributes(name, given.get("broadcast_dimensions"), None)
        return _functions.apply(name, values, attributes, rule, given.get("out"))

    function.__signature__ = signature
    return function


def _signature(rule, name):
    operands, default_axes, arguments, _, _ = _ROWS[name]
    kinds = inspect.Parameter
    axis = None if default_axes is None else default_axes[0]
    parameters = [kinds(operand, kinds.POSITIONAL_OR_KEYWORD, annotation="Operand") for operand in operands]
    parameters.append(_parameter("axis", axis, kinds.POSITIONAL_OR_KEYWORD))
    for argument, expected, default in arguments:
        annotation = _ANNOTATIONS.get(argument, "bool" if expected == "True or False" else "float")
        parameters.append(_parameter(argument, _default(default), annotation=annotation))
    has_dims = len(operands) == 2 and name in _PAIRED and rule in ("as-written", "xla")
    for keyword in ["broadcast_dimensions"] * has_dims + ["out"]:
        parameters.append(_parameter(keyword, None))
    return inspect.Signature(parameters)


def _parameter(name, default, kind=inspect.Parameter.KEYWORD_ONLY, annotation=None):
    return inspect.Parameter(name, kind, default=default, annotation=annotation or _ANNOTATIONS[name])


def _default(text):
    """A default from its text in the table."""
    return (
        {"None": None, "False": False, "True": True}[text]
        if text in ("None", "False", "True")
        else float(text)
    )


def _axis(axis, default_axes, operands):
    if axis is None:
        # `None` means all axes. They must be listed if the default is one axis.
        ranks = [np.ndim(operand) for operand in operands]
        return [] if default_axes is None else [("axis", list(range(max(ranks))))]
    axes = axis if isinstance(axis, (tuple, list)) else [axis]
    _arrays.refuse_traced(axes)
    if axes and all(isinstance(index, str) for index in axes):
        return [("axis", list(axes))]
    return [("axis", [operator.index(index) for index in axes])]


def _argument(function, name, value):
    """An argument as the compiled part takes it."""
    if name == "dtype":
        return _arrays.indim_name(value)
    if name in ("where", "initial"):
        return value
    if name in ("keepdims", "last", "reverse", "exclusive"):
        return bool(value)
    return _functions.constant(function, name, value)


def _of_one_or_two(reduction, operation):
    """``max(x, axis=0)`` and ``max(x, y)``."""
    of_one, of_two = inspect.signature(reduction), inspect.signature(operation)

    def function(x, y=None, **kwargs):
        return reduction(x, **kwargs) if y is None else operation(x, y, **kwargs)

    kinds = inspect.Parameter
    x, *keywords = of_one.parameters.values()
    keywords = {keyword.name: keyword.replace(kind=kinds.KEYWORD_ONLY) for keyword in keywords}
    for parameter in of_two.parameters.values():
        if parameter.kind is kinds.KEYWORD_ONLY and parameter.name not in keywords:
            keywords[parameter.name] = parameter.replace(annotation=_ANNOTATIONS[parameter.name])
    y = kinds("y", kinds.POSITIONAL_OR_KEYWORD, default=None, annotation="Operand | None")
    function.__signature__ = inspect.Signature([x, y, *keywords.values()])
    function.__doc__ = f"{operation.__doc__}\n\nOf one operand: {reduction.__doc__}"
    return function


# `make_stubs.py` finds these functions by their code objects.
_functions.OPERATION_CODES |= {
    _along("numpy", "sum").__code__,
    _of_one_or_two(_along("numpy", "sum"), _functions.plain("add", 2, "", "numpy")).__code__,
}



def register(functions):
    """Lets NumPy's functions of the same names be traced, and gives traced values the methods of arrays."""
    for name, (operands, _, _, _, aliases) in _ROWS.items():
        for known in (name, *aliases):
            numpy_function = getattr(np, known, None)
            if isinstance(numpy_function, np.ufunc):
                UFUNCS[known] = functions[known]
            elif callable(numpy_function) and known not in ("average", "dot"):
                handler = _numpy_handler(numpy_function, functions[name], len(operands))
                ARRAY_FUNCTIONS[numpy_function] = handler
                if hasattr(np.ndarray, known):
                    setattr(Tracer, known, _method(known, handler))
    for ufunc, name in _REDUCED.items():
        REDUCTIONS[ufunc] = _reduce(ufunc, functions[name])
    for ufunc, name in _SCANS.items():
        ACCUMULATIONS[ufunc] = _accumulate(functions[name], ufunc in ("add", "multiply"))
    for name in ("cumulative_sum", "cumulative_prod"):
        # NumPy has them since version 2.1.
        if hasattr(np, name):
            ARRAY_FUNCTIONS[getattr(np, name)] = _cumulative(name, functions[name])


#: The function along axes of the method ``reduce`` of each ufunc.
_REDUCED = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "fmax": "nanmax",
    "fmin": "nanmin",
    "logical_and": "all",
    "logical_or": "any",
    "logaddexp": "logsumexp",
    "hypot": "norm",
}


def _reduce(ufunc, function):
    taken = inspect.signature(function).parameters

    def handler(array, axis=0, keepdims=False, **given):
        given = {key: value for key, value in given.items() if not _is_omitted(value)}
        if given.get("where") is True:
            del given["where"]
        if ufunc in ("logaddexp", "hypot"):
            # NumPy's loops of small integers compute in short floats.
            array = array.astype(getattr(np, ufunc).resolve_dtypes((array.dtype, array.dtype, None))[0])
        for keyword in given:
            if keyword not in taken:
                raise TypeError(refused_argument(f"{ufunc}.reduce", keyword))
        if ufunc in ("maximum", "minimum"):
            given = _with_initial_truth(array, given)
        reduced = function(array, axis=axis, keepdims=keepdims, **given)
        if ufunc == "hypot":
            # The hypotenuse of an infinity and NaN is infinite.
            is_infinite = np.any(np.isinf(array), axis=axis, keepdims=keepdims)
            reduced = np.where(is_infinite, np.full((), np.inf, reduced.dtype), reduced)
        return reduced

    return handler


def _reduce_bits(ufunc):
    def handler(array, axis=0, dtype=None, keepdims=False, initial=np._NoValue, where=True):
        if array.dtype.kind not in "biu":
            raise TypeError(f"numpy.{ufunc.__name__}.reduce takes integers and truth values")
        array = array if dtype is None else array.astype(dtype)
        if where is not True and where is not np._NoValue:
            array = np.where(where, array, np.full((), ufunc.identity).astype(array.dtype))
        axes = tuple(range(array.ndim)) if axis is None else axis_indices(axis, array.ndim)
        shape = array.shape
        kept = [index for index in range(array.ndim) if index not in axes]
        count = int(np.prod([shape[index] for index in axes], dtype=object))
        x = array.transpose(*axes, *kept).reshape(count, *(shape[index] for index in kept))
        rest = []
        if count == 0 or initial is not np._NoValue:
            start = ufunc.identity if initial is np._NoValue else initial
            rest = [np.full(x.shape[1:], start).astype(x.dtype)]
        # Halves are combined until one row is left.
        while count > 1:
            half = count // 2
            rest += [x[count - 1]] if count % 2 else []
            x, count = ufunc(x[:half], x[half : 2 * half]), half
        reduced = functools.reduce(ufunc, rest, x[0]) if count else rest[0]
        if not keepdims:
            return reduced
        return reduced.reshape([1 if index in axes else size for index, size in enumerate(shape)])

    return handler


for _ufunc in (np.bitwise_and, np.bitwise_or, np.bitwise_xor):
    REDUCTIONS[_ufunc.__name__] = _reduce_bits(_ufunc)
del _ufunc


#: The scan of the method ``accumulate`` of each ufunc.
_SCANS = {
    "add": "cumsum",
    "multiply": "cumprod",
    "maximum": "cummax",
    "minimum": "cummin",
    "logical_and": "cumall",
    "logical_or": "cumany",
}


def _accumulate(scan, is_sum_or_product):
    def handler(array, axis=0, dtype=None):
        if array.ndim == 0:
            raise TypeError("cannot accumulate on a scalar")
        axes = axis_indices(axis, array.ndim)
        if len(axes) != 1:
            raise ValueError("accumulate does not allow multiple axes")
        (axis,) = axes
        if dtype is None:
            return scan(array, axis=axis)
        # A sum or product without `dtype` would convert narrow elements to a wider type.
        return scan(array.astype(dtype), axis=axis, **({"dtype": dtype} if is_sum_or_product else {}))

    return handler


def _cumulative(name, scan):
    def handler(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
        refuse_given(name, out=out)
        x = np.atleast_1d(x)
        if axis is None:
            if x.ndim > 1:
                raise ValueError(f"numpy.{name} of more than one axis needs `axis`")
            axis = 0
        results = scan(x, axis=axis, dtype=dtype)
        if not include_initial:
            return results
        axis = axis % x.ndim
        shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
        first = np.full(shape, int(name == "cumulative_prod"), results.dtype)
        return np.concatenate([first, results], axis=axis)

    return handler


def _method(name, handler):
    def method(self, *args, **kwargs):
        if self._is_frame():
            args, kwargs = _frames.arguments_of_method(self, name, args, kwargs)
        if name in ("std", "var"):
            _frames.check_divisor(self, name, args, kwargs)
        return handler(self, *args, **kwargs)

    return method


def _numpy_handler(numpy_function, function, operand_count):
    signature = inspect.signature(numpy_function)
    parameters = inspect.signature(function).parameters

    def handler(*args, **kwargs):
        given = list(signature.bind(*args, **kwargs).arguments.items())
        operands = [value for _, value in given[:operand_count]]
        given = {key: value for key, value in given[operand_count:] if not _is_omitted(value)}
        out = given.pop("out", None)
        if out is not None:
            from ._outputs import write_whole_result

            by_name = {key: value for key, value in kwargs.items() if key != "out"}
            bound = signature.bind(*args, **by_name).arguments
            result = handler(**{**bound, "out": None})
            return write_whole_result(numpy_function.__name__, operands[0], result, out)
        if "axis" in given and isinstance(operands[0], Tracer):
            given["axis"] = _frames.axis_of(operands[0], given["axis"])
            operands[0] = _with_axes(numpy_function.__name__, operands[0], given["axis"])
        if "ddof" in given:
            given.setdefault("correction", given.pop("ddof"))
        if given.get("where", None) is True:
            del given["where"]
        if "mean" in given and numpy_function.__name__ in _SPREADS:
            return _SPREADS[numpy_function.__name__](*operands, **given)
        for keyword in given:
            if keyword not in parameters or keyword == "out":
                raise TypeError(refused_argument(numpy_function.__name__, keyword))
        if numpy_function in _EXTREMES:
            given = _with_initial_truth(operands[0], given)
        return function(*operands, **given)

    return handler


def _with_axes(name, x, axis):
    """The operand of NumPy's function ``name`` along these axes. A scan of a number takes the axes 0 and -1;
    reductions of a number other than means ignore the axis."""
    if x.ndim:
        return x
    if name in ("cumsum", "cumprod", "nancumsum", "nancumprod"):
        operator.index(axis)
        return x.reshape(1)
    if isinstance(axis, tuple) or name in ("mean", "std", "var"):
        # NumPy's error.
        axis_indices(axis, 0)
    return x


_EXTREMES = (np.max, np.min, np.amax, np.amin)


def _with_initial_truth(array, given):
    """The keywords of an extreme: for truth values NumPy converts the number ``initial`` to one."""
    initial = given.get("initial")
    is_truth = getattr(array, "dtype", None) == np.bool_ and is_number(initial)
    return {**given, "initial": bool(initial)} if is_truth else given


def _spread(is_deviation, skips_nan):
    """The variance, or the standard deviation, about a ``mean`` that the caller gives."""

    def spread(x, axis=None, *, mean, dtype=None, correction=0, keepdims=False, where=True):
        x = _functions.asarray(x)
        if dtype is None:
            dtype = np.float64 if x.dtype.kind in "biu" else x.dtype
        where = ~np.isnan(x) & where if skips_nan and x.dtype.kind in "fc" else where
        difference = (x - mean).astype(dtype)
        squares = np.square(difference.real)
        if difference.dtype.kind == "c":
            squares = squares + np.square(difference.imag)
        count = np.sum(np.broadcast_to(where, x.shape), axis=axis, keepdims=keepdims)
        taken = {} if where is True else {"where": where}
        total = np.sum(squares, axis=axis, keepdims=keepdims, **taken)
        left = (np.maximum(count - correction, 0)).astype(total.dtype)
        # NumPy's nanvar is NaN where no degree of freedom is left.
        variance = np.where(count > correction, total / left, np.nan) if skips_nan else total / left
        variance = variance.astype(total.dtype)
        return np.sqrt(variance) if is_deviation else variance

    return spread


#: The functions that take ``mean``, by name.
_SPREADS = {
    "std": _spread(True, False),
    "var": _spread(False, False),
    "nanstd": _spread(True, True),
    "nanvar": _spread(False, True),
}


def _is_omitted(value):
    return value is None or value is np._NoValue
