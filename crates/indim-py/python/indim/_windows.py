"""Reductions of windows and convolutions with JAX's arguments, by windows of each axis."""

from __future__ import annotations

import operator

import numpy as np

from . import xla
from ._functions import asarray
from ._lax_functions import pad as pad_between
from ._loops import record_or_run
from ._numbers import is_number
from ._pair_reductions import recorded_along, recorded_in_windows
from ._shape_functions import axis_index
from ._statics import key as static_key
from ._trees import is_node, leaves_of

#: NumPy's reduction of the function of two numbers with this name.
_REDUCTIONS = {
    "add": np.sum,
    "max": np.max,
    "maximum": np.max,
    "min": np.min,
    "minimum": np.min,
    "mul": np.prod,
    "multiply": np.prod,
}


def reduce(operands, init_values, computation, dimensions):
    """The elements along axes combined by ``computation(x, y)``, which begins with ``init_values``.

    ``operands`` is an array, or a tree of arrays of one shape that are reduced together; ``computation`` then
    takes two such trees of numbers, an accumulator and an element, and returns one. It is associative.
    Elements are combined by pairs of neighbours.

    >>> import indim, numpy as np
    >>> lax = indim.lax
    >>> lax.reduce(np.array([[1.0, 5.0], [3.0, 2.0]]), -np.inf, lax.max, (1,))
    array([5., 3.])
    >>> complex_product = lambda x, y: (x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0])
    >>> parts = np.array([1.0, 2.0]), np.array([1.0, 0.0])
    >>> [float(part) for part in lax.reduce(parts, (1.0, 0.0), complex_product, (0,))]
    [2.0, 2.0]
    """
    rank = _rank(operands)
    axes = tuple(axis_index(operator.index(axis), rank) for axis in dimensions)
    if len(set(axes)) != len(axes):
        raise ValueError(f"dimensions {axes} has an axis twice")
    found = None if is_node(operands) else _known(computation)
    if found is None:
        return record_or_run("reduce", recorded_along, (computation,), (axes,), (operands, init_values))
    known, arguments = _with_known(operands, init_values)
    return record_or_run("reduce", _recorded_reduction, (computation,), (axes, known), arguments)


def _with_known(operand, init_value):
    """The options and the arguments of a program. A number of Python as the initial value is an option, with
    its key, because 0.0 and -0.0 are equal."""
    if is_number(init_value):
        return (init_value, static_key(init_value)), (operand,)
    return None, (operand, init_value)


def _recorded_reduction(functions, axes, known, recording, arguments):
    (computation,), (operand, *initial) = functions, arguments
    (init_value,) = initial or known[:1]
    return _reduced(_known(computation), asarray(operand), init_value, computation, axes)


def _reduced(found, operand, init_value, computation, axes):
    """The reduction by a function of NumPy, from an initial value."""
    options = {"dtype": operand.dtype} if found in (np.sum, np.prod) else {}
    identity = _identity(found, operand.dtype)
    reduced = found(operand, axis=axes, initial=identity, **options)
    is_extreme = found in (np.max, np.min)
    return _with_initial(reduced, init_value, computation, identity if is_extreme else None)


def _with_initial(reduced, init_value, computation, identity):
    """The reduction from an initial value; the ``identity`` changes nothing."""
    is_value = is_number(init_value)
    if is_value and identity is not None and init_value == identity:
        return reduced
    initial = np.full((), init_value, reduced.dtype) if is_value else asarray(init_value)
    return computation(reduced, initial.astype(reduced.dtype))


def _rank(operands):
    """The number of axes of the first operand."""
    first = next(leaves_of(operands), None)
    if first is None:
        raise ValueError("a reduction takes at least one array")
    return asarray(first if is_node(operands) else operands).ndim


def _known(computation):
    """The reduction of a function of NumPy or of indim; None for any other function."""
    name = getattr(computation, "__name__", "")
    module = getattr(computation, "__module__", None) or "numpy"
    is_library = isinstance(computation, np.ufunc) or module.partition(".")[0] in ("indim", "numpy")
    return _REDUCTIONS.get(name) if is_library else None


def _identity(reduction, dtype):
    """The number that a reduction of this type begins with."""
    if reduction in (np.sum, np.prod):
        return int(reduction is np.prod)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return limits.min if reduction is np.max else limits.max
    if dtype.kind == "b":
        return reduction is np.min
    return -np.inf if reduction is np.max else np.inf


def reduce_window(
    operand, init_value, computation, window_dimensions, window_strides=None, padding="VALID",
    base_dilation=None, window_dilation=None,
):
    """The elements of each window combined by ``computation(x, y)``; the padding is ``init_value``.

    ``operand`` is an array, or a tree of arrays, as for ``lax.reduce``.

    >>> import indim, numpy as np
    >>> lax = indim.lax
    >>> lax.reduce_window(np.array([1.0, 5.0, 2.0, 4.0]), -np.inf, lax.max, (2,), (2,), "VALID")
    array([5., 4.])
    """
    rank = _rank(operand)
    sizes = _one_for_each("window_dimensions", window_dimensions, rank)
    strides = _one_for_each("window_strides", window_strides, rank)
    between, steps = (
        _one_for_each(name, given, rank)
        for name, given in (("base_dilation", base_dilation), ("window_dilation", window_dilation))
    )
    found = None if is_node(operand) else _known(computation)
    if found is None:
        shape = asarray(next(leaves_of(operand)) if is_node(operand) else operand).shape
        spans = [(size - 1) * step + 1 for size, step in zip(sizes, steps)]
        widths = _widths(padding, shape, spans, strides)
        widths = tuple((low, high, gap - 1) for (low, high), gap in zip(widths, between))
        options = sizes, strides, steps, widths
        arguments = operand, init_value
        return record_or_run("reduce_window", recorded_in_windows, (computation,), options, arguments)
    known, arguments = _with_known(operand, init_value)
    options = sizes, strides, steps, between, _hashable(padding), known
    return record_or_run("reduce_window", _recorded_windows, (computation,), options, arguments)


def _recorded_windows(functions, sizes, strides, steps, between, padding, known, recording, arguments):
    (computation,), (operand, *initial) = functions, arguments
    (init_value,), found, rank = initial or known[:1], _known(computation), len(sizes)
    operand = _padded(asarray(operand), sizes, strides, steps, between, padding, init_value)
    if found in (np.max, np.min):
        # Axis by axis: windows that overlap share what earlier axes have reduced. The order has no effect on
        # the result; the last axis takes the most time, so it comes when fewer elements are left.
        for axis, size, stride, step in zip(range(rank), sizes, strides, steps):
            if (size, stride) != (1, 1):
                windows = xla.sliding_window_view(operand, size, axis, stride=stride, dilation=step)
                operand = found(windows, axis=-1)
        return _with_initial(operand, init_value, computation, _identity(found, operand.dtype))
    windows = _windows(operand, range(rank), sizes, strides, steps)
    return _reduced(found, windows, init_value, computation, tuple(range(rank, 2 * rank)))


def _one_for_each(name, given, rank):
    """A whole number for each axis, by default 1."""
    if given is None:
        return (1,) * rank
    given = (given,) * rank if is_number(given) else tuple(map(operator.index, given))
    if len(given) != rank or any(number < 1 for number in given):
        raise ValueError(f"{name} is a positive number for each of the {rank} axes, not {given}")
    return given


def _padded(x, sizes, strides, steps, between, padding, value):
    """An array with ``value`` between its elements and around them."""
    spans = [(size - 1) * step + 1 for size, step in zip(sizes, steps)]
    # As in JAX, the widths of "SAME" ignore the gaps of `between`.
    widths = _widths(padding, x.shape, spans, strides)
    if max(between, default=1) == 1 and not any(map(any, widths)):
        return x
    return pad_between(x, value, [(low, high, gap - 1) for (low, high), gap in zip(widths, between)])


def _widths(padding, shape, spans, strides):
    """The numbers of elements before and after each axis."""
    if not isinstance(padding, str):
        found = [tuple(map(operator.index, pair)) for pair in padding]
        if len(found) != len(shape) or any(len(pair) != 2 for pair in found):
            raise ValueError(f"padding is a pair for each of the {len(shape)} axes, not {padding}")
        return found
    name = padding.upper()
    if name == "VALID":
        return [(0, 0)] * len(shape)
    if name not in ("SAME", "SAME_LOWER"):
        raise ValueError(f"padding is 'SAME', 'SAME_LOWER', 'VALID' or pairs, not {padding!r}")
    totals = [
        max((-(-size // stride) - 1) * stride + span - size, 0)
        for size, span, stride in zip(shape, spans, strides)
    ]
    lows = [total // 2 if name == "SAME" else total - total // 2 for total in totals]
    return [(low, total - low) for low, total in zip(lows, totals)]


def _windows(x, axes, sizes, strides, steps):
    """The windows along axes, each a new last axis."""
    for axis, size, stride, step in zip(axes, sizes, strides, steps):
        if size == stride == 1:
            # The axis may be empty, which a window of one element is too large for.
            x = np.expand_dims(x, -1)
        else:
            x = xla.sliding_window_view(x, size, axis, stride=stride, dilation=step)
    return x


def conv_general_dilated(
    lhs, rhs, window_strides, padding, lhs_dilation=None, rhs_dilation=None, dimension_numbers=None,
    feature_group_count=1, batch_group_count=1, precision=None, preferred_element_type=None,
):
    """The convolution of neural networks: sums of products of ``rhs`` with the windows of ``lhs``.

    ``dimension_numbers`` has the orders of axes of both operands and of the result, as in
    ``("NCHW", "OIHW", "NCHW")``, which is the default. ``precision`` has no effect.
    """
    if batch_group_count != 1:
        raise NotImplementedError("batch_group_count: write indim.vmap of the convolution of each group")
    options = (
        *map(_hashable, (window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers)),
        operator.index(feature_group_count),
        None if preferred_element_type is None else np.dtype(preferred_element_type),
    )
    functions = (conv_general_dilated,)
    return record_or_run("conv_general_dilated", _recorded_convolution, functions, options, (lhs, rhs))


def _hashable(value):
    """A list of options, which may contain lists, as tuples."""
    return tuple(map(_hashable, value)) if isinstance(value, list) or type(value) is tuple else value


def _recorded_convolution(
    _, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, groups, dtype, recording,
    arguments,
):
    lhs, rhs = map(asarray, arguments)
    rank = lhs.ndim - 2
    of_lhs, of_rhs, of_result = _orders(dimension_numbers, lhs.ndim)
    x, kernel = np.transpose(lhs, of_lhs), np.transpose(rhs, of_rhs)
    (batch, channels), (outputs, inputs) = x.shape[:2], kernel.shape[:2]
    if channels != inputs * groups or outputs % groups:
        raise ValueError(
            f"a convolution of {channels} channels in {groups} groups takes a kernel of {channels // groups} "
            f"channels and of outputs in {groups} groups, not {inputs} and {outputs}"
        )
    sizes = tuple(kernel.shape[2:])
    strides, between, steps = (
        _one_for_each(name, given, rank)
        for name, given in (
            ("window_strides", window_strides), ("lhs_dilation", lhs_dilation), ("rhs_dilation", rhs_dilation)
        )
    )
    if isinstance(padding, str) and max(between, default=1) > 1:
        raise NotImplementedError(f"lhs_dilation takes no {padding!r}: write a pair of widths for each axis")
    pairs = padding if isinstance(padding, str) else [(0, 0), (0, 0), *padding]
    ones = (1, 1)
    x = _padded(x, ones + sizes, ones + strides, ones + steps, ones + between, pairs, 0)
    windows = _windows(x, range(2, rank + 2), sizes, strides, steps)
    places = tuple(windows.shape[2 : rank + 2])
    windows = windows.reshape((batch, groups, inputs, *places, *sizes))
    kernel = kernel.reshape((groups, outputs // groups, inputs, *sizes))
    # Axes: 0 batch, 1 groups, 2 channels, 3 outputs, then places, then the axes of the kernel.
    of_places = list(range(4, 4 + rank))
    of_kernel = list(range(4 + rank, 4 + 2 * rank))
    result = np.einsum(
        windows, [0, 1, 2, *of_places, *of_kernel], kernel, [1, 3, 2, *of_kernel], [0, 1, 3, *of_places]
    )
    result = result.reshape((batch, outputs, *places))
    result = result if dtype is None else result.astype(dtype)
    return np.transpose(result, np.argsort(of_result))


def _orders(dimension_numbers, rank):
    """The positions of batch, channels and the other axes in both operands and the result; of outputs, inputs
    and the others in the kernel."""
    if dimension_numbers is None:
        return (tuple(range(rank)),) * 3
    names = [tuple(order) for order in dimension_numbers]
    if len(names) != 3 or any(len(order) != rank for order in names):
        raise ValueError(f"dimension_numbers has an order of {rank} axes for each operand and the result")
    spatial = [name for name in names[0] if name not in "NC"]
    expected = [sorted(("N", "C", *spatial)), sorted(("O", "I", *spatial)), sorted(("N", "C", *spatial))]
    if [sorted(order) for order in names] != expected:
        raise ValueError(
            f"dimension_numbers {dimension_numbers} has other axes than N, C, O, I and {spatial}"
        )
    firsts = (("N", "C"), ("O", "I"), ("N", "C"))
    return tuple(
        tuple(order.index(name) for name in (*first, *spatial)) for order, first in zip(names, firsts)
    )


def conv(lhs, rhs, window_strides, padding, precision=None, preferred_element_type=None):
    """``conv_general_dilated`` of axes in the order NCHW."""
    return conv_general_dilated(
        lhs, rhs, window_strides, padding, preferred_element_type=preferred_element_type
    )


#: The orders of axes of transposed convolutions by the number of axes, as in JAX.
_TRANSPOSED_ORDERS = {
    2: ("NC", "IO", "NC"),
    3: ("NHC", "HIO", "NHC"),
    4: ("NHWC", "HWIO", "NHWC"),
    5: ("NHWDC", "HWDIO", "NHWDC"),
}


def conv_transpose(
    lhs, rhs, strides, padding, rhs_dilation=None, dimension_numbers=None, transpose_kernel=False,
    precision=None, preferred_element_type=None, use_consistent_padding=False,
):
    """The transposed convolution: ``conv_general_dilated`` of ``lhs`` with zeros between its elements.

    ``strides`` are the distances of elements of ``lhs`` in the result. A text as the padding, or pairs with
    ``use_consistent_padding``, is that of the convolution whose transpose this is; other pairs pad the
    result of the zeros. The axes are in the order NHWC, and HWIO of the kernel, by default.
    ``transpose_kernel`` reverses the kernel and exchanges its channels. ``precision`` has no effect.
    """
    lhs, rhs = asarray(lhs), asarray(rhs)
    rank = lhs.ndim - 2
    if dimension_numbers is None and lhs.ndim not in _TRANSPOSED_ORDERS:
        raise ValueError(f"conv_transpose of {lhs.ndim} axes: name their order in `dimension_numbers`")
    dimension_numbers = _TRANSPOSED_ORDERS[lhs.ndim] if dimension_numbers is None else dimension_numbers
    outputs, inputs, *spatial = _orders(dimension_numbers, lhs.ndim)[1]
    strides = _one_for_each("strides", strides, rank)
    steps = _one_for_each("rhs_dilation", rhs_dilation, rank)
    if use_consistent_padding or isinstance(padding, str):
        paddings = [padding] * rank if isinstance(padding, str) else padding
        sizes = [(rhs.shape[axis] - 1) * step + 1 for axis, step in zip(spatial, steps)]
        padding = [_transposed_padding(*given) for given in zip(sizes, strides, paddings)]
    if transpose_kernel:
        rhs = np.swapaxes(np.flip(rhs, tuple(spatial)), outputs, inputs)
    return conv_general_dilated(
        lhs, rhs, (1,) * rank, padding, strides, steps, dimension_numbers,
        preferred_element_type=preferred_element_type,
    )


def _transposed_padding(size, stride, padding):
    """The numbers of zeros before and after an axis, for a kernel of a size, and the padding of the
    convolution whose transpose is computed."""
    if padding == "SAME":
        both = size + stride - 2
        before = size - 1 if stride > size - 1 else (both + 1) // 2
    elif padding == "VALID":
        both, before = size + stride - 2 + max(size - stride, 0), size - 1
    elif isinstance(padding, str):
        raise ValueError(f"conv_transpose takes the padding 'SAME', 'VALID' or pairs, not {padding!r}")
    else:
        before = size - 1 - padding[0]
        both = before + size - 1 - padding[1]
    return before, both - before
