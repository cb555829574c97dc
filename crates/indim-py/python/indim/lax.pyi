from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from numpy.typing import DTypeLike, NDArray

from . import (
    broadcast_in_dim as broadcast_in_dim,
    cond as cond,
    convert_element_type as convert_element_type,
    expand_dims as expand_dims,
    fori_loop as fori_loop,
    scan as scan,
    switch as switch,
    top_k as top_k,
    transpose as transpose,
    while_loop as while_loop,
)
from ._types import Integers, Operand

_T = TypeVar("_T")

def associative_scan(
    fn: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0
) -> Any: ...
def cumlogsumexp(operand: Operand, axis: int = 0, reverse: bool = False) -> NDArray[Any]: ...
def pow(
    x: Operand,
    y: Operand,
    *,
    broadcast_dimensions: Integers | None = None,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]: ...
def square(x: Operand, *, out: NDArray[Any] | None = None) -> NDArray[Any]: ...
def reduce_xor(operand: Operand, axes: Sequence[int]) -> NDArray[Any]: ...
def approx_max_k(
    operand: Operand, k: int, reduction_dimension: int = -1, **hints: Any
) -> tuple[NDArray[Any], NDArray[Any]]: ...
def approx_min_k(
    operand: Operand, k: int, reduction_dimension: int = -1, **hints: Any
) -> tuple[NDArray[Any], NDArray[Any]]: ...
def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]: ...
def broadcast_to_rank(x: Operand, rank: int) -> NDArray[Any]: ...
def tile(operand: Operand, reps: Sequence[int]) -> NDArray[Any]: ...
def psum(x: Any, axis_name: Any, *, axis_index_groups: None = None) -> Any: ...
def pmean(x: Any, axis_name: Any, *, axis_index_groups: None = None) -> Any: ...
def pmax(x: Any, axis_name: Any, *, axis_index_groups: None = None) -> Any: ...
def pmin(x: Any, axis_name: Any, *, axis_index_groups: None = None) -> Any: ...
def all_gather(
    x: Any, axis_name: Any, *, axis_index_groups: None = None, axis: int = 0, tiled: bool = False
) -> Any: ...
def all_to_all(
    x: Any,
    axis_name: Any,
    split_axis: int,
    concat_axis: int,
    *,
    axis_index_groups: None = None,
    tiled: bool = False,
) -> Any: ...
def ppermute(x: Any, axis_name: Any, perm: Sequence[tuple[int, int]]) -> Any: ...
def axis_index(axis_name: Any) -> Any: ...
def axis_size(axis_name: Any) -> int: ...
class RoundingMethod:
    AWAY_FROM_ZERO: int
    TO_NEAREST_EVEN: int

def round(x: Operand, rounding_method: int = ...) -> NDArray[Any]: ...

class Precision:
    DEFAULT: str
    HIGH: str
    HIGHEST: str

def conv(
    lhs: Operand,
    rhs: Operand,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    precision: Any = None,
    preferred_element_type: Any = None,
) -> NDArray[Any]: ...
def bitcast_convert_type(operand: Operand, new_dtype: Any) -> NDArray[Any]: ...
def betainc(a: Operand, b: Operand, x: Operand) -> NDArray[Any]: ...
def igamma(a: Operand, x: Operand) -> NDArray[Any]: ...
def igammac(a: Operand, x: Operand) -> NDArray[Any]: ...
def polygamma(n: int, x: Operand) -> NDArray[Any]: ...
def reshape(
    operand: Operand,
    new_sizes: Integers,
    dimensions: Sequence[int] | None = None,
    *,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]: ...
def conv_transpose(
    lhs: Operand,
    rhs: Operand,
    strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Sequence[str] | None = None,
    transpose_kernel: bool = False,
    precision: Any = None,
    preferred_element_type: Any = None,
    use_consistent_padding: bool = False,
) -> NDArray[Any]: ...
def conv_general_dilated(
    lhs: Operand,
    rhs: Operand,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Sequence[str] | None = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> NDArray[Any]: ...
def reduce(
    operands: Any, init_values: Any, computation: Callable[[Any, Any], Any], dimensions: Sequence[int]
) -> Any: ...
def reduce_window(
    operand: Any,
    init_value: Any,
    computation: Callable[[Any, Any], Any],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: str | Sequence[tuple[int, int]] = "VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Any: ...
def map(f: Callable[[Any], Any], xs: Any, *, batch_size: int | None = None) -> Any: ...
def optimization_barrier(operand: _T) -> _T: ...
def select(pred: Operand, on_true: Operand, on_false: Operand) -> NDArray[Any]: ...
def concatenate(operands: Any, dimension: int) -> NDArray[Any]: ...
def iota(dtype: DTypeLike, size: int) -> NDArray[Any]: ...
def full(
    shape: Integers, fill_value: Operand, dtype: DTypeLike | None = None, *, device: Any = None
) -> NDArray[Any]: ...
def dynamic_slice(
    operand: Operand, start_indices: Any, slice_sizes: Sequence[int], *, out: NDArray[Any] | None = None
) -> NDArray[Any]: ...
def dynamic_slice_in_dim(
    operand: Operand, start_index: Operand, slice_size: int, axis: int = 0
) -> NDArray[Any]: ...
def dynamic_index_in_dim(
    operand: Operand, index: Operand, axis: int = 0, keepdims: bool = True
) -> NDArray[Any]: ...
def dynamic_update_slice(
    operand: Operand, update: Operand, start_indices: Any, *, out: NDArray[Any] | None = None
) -> NDArray[Any]: ...
def dynamic_update_slice_in_dim(
    operand: Operand, update: Operand, start_index: Operand, axis: int
) -> NDArray[Any]: ...
def dynamic_update_index_in_dim(
    operand: Operand, update: Operand, index: Operand, axis: int
) -> NDArray[Any]: ...
def stop_gradient(x: Any) -> Any: ...
def __getattr__(name: str) -> Any: ...
