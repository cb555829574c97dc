# Written by make_stubs.py; do not edit.
from collections.abc import Sequence
from typing import Any

from numpy.typing import DTypeLike, NDArray

from ._types import Integers, Operand

__all__ = [
    "absolute",
    "acos",
    "acosh",
    "add",
    "amax",
    "amin",
    "and_",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "argmax",
    "argmin",
    "argsort",
    "around",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "average",
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "cbrt",
    "ceil",
    "ceiling",
    "clamp",
    "clip",
    "clz",
    "concat",
    "concatenate",
    "conj",
    "conjugate",
    "copy_sign",
    "copysign",
    "cos",
    "cosh",
    "cosine",
    "count_leading_zeros",
    "count_nonzero",
    "cumall",
    "cumany",
    "cumlogsumexp",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "cumulative_prod",
    "cumulative_sum",
    "deg2rad",
    "degrees",
    "diff",
    "digamma",
    "div",
    "divide",
    "dot",
    "dynamic_slice",
    "dynamic_update_slice",
    "elu",
    "eq",
    "equal",
    "erf",
    "erf_inv",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "expit",
    "expm1",
    "exponential",
    "exponential_minus_one",
    "fabs",
    "flip",
    "float_power",
    "floor",
    "floor_div",
    "floor_divide",
    "floor_mod",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "gammaln",
    "ge",
    "gelu",
    "gelu_tanh",
    "greater",
    "greater_equal",
    "gt",
    "hard_sigmoid",
    "hard_swish",
    "heaviside",
    "hypot",
    "imag",
    "invert",
    "is_finite",
    "is_inf",
    "is_nan",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "layer_norm",
    "le",
    "left_shift",
    "less",
    "less_equal",
    "lexsort",
    "lgamma",
    "linear_recurrence",
    "ln",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_add_exp",
    "log_plus_one",
    "log_softmax",
    "logaddexp",
    "logcumsumexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logistic",
    "logsumexp",
    "lt",
    "maximum",
    "mean",
    "minimum",
    "mish",
    "mod",
    "mul",
    "mul_high",
    "mulhi",
    "multiply",
    "nan_to_num",
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
    "ne",
    "neg",
    "negate",
    "negative",
    "next_after",
    "nextafter",
    "norm",
    "not_",
    "not_equal",
    "or_",
    "pad",
    "parametric_relu",
    "popcnt",
    "population_count",
    "positive",
    "power",
    "prelu",
    "prod",
    "product",
    "psi",
    "ptp",
    "py_mod",
    "rad2deg",
    "radians",
    "real",
    "reciprocal",
    "reciprocal_sqrt",
    "reduce_precision",
    "relu",
    "rem",
    "remainder",
    "right_shift",
    "rint",
    "rms_norm",
    "roll",
    "round_away",
    "round_even",
    "round_nearest_afz",
    "round_nearest_even",
    "rsqrt",
    "scatter_add",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_set",
    "search_sorted",
    "searchsorted",
    "select",
    "selu",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "shl",
    "shr_arithmetic",
    "shr_logical",
    "sigmoid",
    "sign",
    "silu",
    "sin",
    "sinc",
    "sine",
    "sinh",
    "sliding_window_view",
    "softmax",
    "softplus",
    "softsign",
    "sort",
    "sqrt",
    "square",
    "squared_difference",
    "stack",
    "std",
    "sub",
    "subtract",
    "swish",
    "take",
    "take_along_axis",
    "tan",
    "tanh",
    "total_eq",
    "total_ge",
    "total_gt",
    "total_le",
    "total_lt",
    "total_ne",
    "trigamma",
    "true_divide",
    "trunc",
    "var",
    "variance",
    "vecdot",
    "where",
    "xor",
]

def abs(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def absolute(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def acos(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def acosh(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def add(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def all(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def amax(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    initial: Operand | None = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def amin(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    initial: Operand | None = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def and_(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def any(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def arccos(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def arccosh(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def arcsin(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def arcsinh(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def arctan(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def arctan2(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def arctanh(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def argmax(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    last: bool = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def argmin(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    last: bool = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def argsort(
    x: Operand,
    axis: int | None = ...,
    *,
    descending: bool = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def around(x: Operand, decimals: int = ..., *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def asin(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def asinh(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def atan(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def atan2(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def atanh(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def average(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def bitwise_and(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def bitwise_count(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def bitwise_invert(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def bitwise_left_shift(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def bitwise_not(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def bitwise_or(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def bitwise_right_shift(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def bitwise_xor(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def cbrt(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def ceil(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def ceiling(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def clamp(x: Operand, y: Operand, z: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def clip(x: Operand, y: Operand, z: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def clz(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def complex(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def concat(
    arrays: Sequence[Operand],
    axis: int | None = ...,
    *,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def concatenate(
    arrays: Sequence[Operand],
    axis: int | None = ...,
    *,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def conj(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def conjugate(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def copy_sign(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def copysign(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def cos(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def cosh(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def cosine(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def count_leading_zeros(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def count_nonzero(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def cumall(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    reverse: bool = ...,
    exclusive: bool = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def cumany(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    reverse: bool = ...,
    exclusive: bool = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def cumlogsumexp(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    reverse: bool = ...,
    exclusive: bool = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def cummax(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    reverse: bool = ...,
    exclusive: bool = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def cummin(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    reverse: bool = ...,
    exclusive: bool = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def cumprod(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    reverse: bool = ...,
    exclusive: bool = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def cumsum(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    reverse: bool = ...,
    exclusive: bool = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def cumulative_prod(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    reverse: bool = ...,
    exclusive: bool = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def cumulative_sum(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    reverse: bool = ...,
    exclusive: bool = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def deg2rad(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def degrees(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def diff(
    x: Operand,
    n: int = ...,
    axis: int = ...,
    *,
    prepend: Operand | None = ...,
    append: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def digamma(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def div(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def divide(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def dot(
    x: Operand,
    y: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def dynamic_slice(
    operand: Operand,
    start_indices: Operand | Sequence[Operand],
    slice_sizes: Sequence[int],
    *,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def dynamic_update_slice(
    operand: Operand,
    update: Operand,
    start_indices: Operand | Sequence[Operand],
    *,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def elu(x: Operand, alpha: float = ..., *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def eq(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def equal(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def erf(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def erf_inv(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def erfc(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def erfinv(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def exp(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def exp2(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def expit(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def expm1(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def exponential(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def exponential_minus_one(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def fabs(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def flip(x: Operand, axis: Integers | None = ..., *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def float_power(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def floor(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def floor_div(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def floor_divide(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def floor_mod(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def fma(x: Operand, y: Operand, z: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def fmax(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def fmin(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def fmod(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def gammaln(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def ge(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def gelu(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def gelu_tanh(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def greater(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def greater_equal(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def gt(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def hard_sigmoid(
    x: Operand,
    alpha: float = ...,
    beta: float = ...,
    *,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def hard_swish(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def heaviside(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def hypot(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def imag(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def invert(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def is_finite(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def is_inf(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def is_nan(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def isclose(
    x: Operand,
    y: Operand,
    rtol: float = ...,
    atol: float = ...,
    equal_nan: bool = ...,
    *,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def isfinite(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def isinf(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def isnan(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def layer_norm(
    x: Operand,
    gain: Operand,
    bias: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    epsilon: float = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def le(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def left_shift(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def less(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def less_equal(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def lexsort(keys: Sequence[Operand], axis: int = ..., *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def lgamma(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def linear_recurrence(
    a: Operand,
    b: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    reverse: bool = ...,
    initial: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def ln(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def log(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def log10(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def log1p(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def log2(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def log_add_exp(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def log_plus_one(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def log_softmax(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def logaddexp(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def logcumsumexp(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    reverse: bool = ...,
    exclusive: bool = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def logical_and(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def logical_not(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def logical_or(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def logical_xor(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def logistic(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def logsumexp(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def lt(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def max(
    x: Operand,
    y: Operand | None = ...,
    *,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    keepdims: bool = ...,
    initial: Operand | None = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def maximum(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def mean(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def min(
    x: Operand,
    y: Operand | None = ...,
    *,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    keepdims: bool = ...,
    initial: Operand | None = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def minimum(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def mish(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def mod(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def mul(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def mul_high(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def mulhi(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def multiply(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def nan_to_num(
    x: Operand,
    nan: float = ...,
    posinf: float | None = ...,
    neginf: float | None = ...,
    *,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def nanargmax(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def nanargmin(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def nancumprod(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    reverse: bool = ...,
    exclusive: bool = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def nancumsum(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    reverse: bool = ...,
    exclusive: bool = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def nanmax(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    initial: Operand | None = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def nanmean(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def nanmin(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    initial: Operand | None = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def nanprod(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    dtype: DTypeLike = ...,
    initial: Operand | None = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def nanstd(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    correction: float = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def nansum(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    dtype: DTypeLike = ...,
    initial: Operand | None = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def nanvar(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    correction: float = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def ne(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def neg(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def negate(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def negative(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def next_after(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def nextafter(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def norm(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def not_(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def not_equal(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def or_(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def pad(
    x: Operand,
    pad_width: int | Sequence[int] | Sequence[Sequence[int]],
    mode: str = ...,
    *,
    constant_values: float = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def parametric_relu(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def popcnt(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def population_count(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def positive(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def pow(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def power(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def prelu(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def prod(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    dtype: DTypeLike = ...,
    initial: Operand | None = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def product(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    dtype: DTypeLike = ...,
    initial: Operand | None = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def psi(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def ptp(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def py_mod(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def rad2deg(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def radians(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def real(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def reciprocal(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def reciprocal_sqrt(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def reduce_precision(
    x: Operand,
    exponent_bits: int,
    mantissa_bits: int,
    *,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def relu(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def rem(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def remainder(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def right_shift(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def rint(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def rms_norm(
    x: Operand,
    gain: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    epsilon: float = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def roll(
    x: Operand,
    shift: Integers,
    axis: Integers | None = ...,
    *,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def round(x: Operand, decimals: int = ..., *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def round_away(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def round_even(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def round_nearest_afz(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def round_nearest_even(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def rsqrt(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def scatter_add(
    x: Operand,
    indices: Operand,
    updates: Operand,
    axis: int = ...,
    *,
    mode: str = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def scatter_max(
    x: Operand,
    indices: Operand,
    updates: Operand,
    axis: int = ...,
    *,
    mode: str = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def scatter_min(
    x: Operand,
    indices: Operand,
    updates: Operand,
    axis: int = ...,
    *,
    mode: str = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def scatter_mul(
    x: Operand,
    indices: Operand,
    updates: Operand,
    axis: int = ...,
    *,
    mode: str = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def scatter_set(
    x: Operand,
    indices: Operand,
    updates: Operand,
    axis: int = ...,
    *,
    mode: str = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def search_sorted(
    table: Operand,
    x: Operand,
    side: str = ...,
    *,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def searchsorted(
    table: Operand,
    x: Operand,
    side: str = ...,
    *,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def select(x: Operand, y: Operand, z: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def selu(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def shift_left(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def shift_right_arithmetic(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def shift_right_logical(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def shl(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def shr_arithmetic(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def shr_logical(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def sigmoid(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def sign(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def silu(x: Operand, beta: float = ..., *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def sin(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def sinc(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def sine(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def sinh(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def sliding_window_view(
    x: Operand,
    window_shape: int | Sequence[int],
    axis: Integers | None = ...,
    *,
    stride: int = ...,
    dilation: int = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def softmax(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def softplus(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def softsign(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def sort(
    x: Operand,
    axis: int | None = ...,
    *,
    descending: bool = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def sqrt(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def square(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def squared_difference(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def stack(arrays: Sequence[Operand], axis: int = ..., *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def std(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    correction: float = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def sub(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def subtract(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def sum(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    exact: bool = ...,
    partial: bool = ...,
    dtype: DTypeLike = ...,
    initial: Operand | None = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def swish(x: Operand, beta: float = ..., *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def take(
    x: Operand,
    indices: Operand,
    axis: int | None = ...,
    *,
    mode: str = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def take_along_axis(
    x: Operand,
    indices: Operand,
    axis: int | None = ...,
    *,
    mode: str = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def tan(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def tanh(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def total_eq(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def total_ge(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def total_gt(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def total_le(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def total_lt(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def total_ne(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def trigamma(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def true_divide(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def trunc(x: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def var(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    correction: float = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def variance(
    x: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    correction: float = ...,
    dtype: DTypeLike = ...,
    where: Operand | None = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def vecdot(
    x: Operand,
    y: Operand,
    axis: int | str | Sequence[int] | Sequence[str] | None = ...,
    *,
    keepdims: bool = ...,
    out: NDArray[Any] | None = ...,
) -> NDArray[Any]: ...
def where(x: Operand, y: Operand, z: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
def xor(x: Operand, y: Operand, *, out: NDArray[Any] | None = ...) -> NDArray[Any]: ...
